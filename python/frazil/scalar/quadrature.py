"""Integrals over a half line, by a loop of one step a node.

The integrand falls off from 0 on, over a length of about ``scale``. With ``u = scale * exp(t -
exp(-t))`` and the trapezoidal rule in ``t``, whose nodes are the same for all integrands, the error
falls exponentially with the number of nodes (Takahasi and Mori, 1974), whatever power of ``u`` the
integrand begins with. The result is a smooth function of the parameters, so its derivatives are
those of the integral.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from frazil._core import TensorType, Variable, elemwise
from frazil.graph.op import Variables
from frazil.scalar.exponential import exp
from frazil.scalar.logic import disconnected_grad, where
from frazil.scalar.loop import ScalarLoop

STEP, FIRST, NODES = 0.125, -4.6, 73
"""The distance of nodes, where they begin, and how many reach to where ``exp(-u)`` vanishes."""


def integral(
    name: str,
    integrand: Callable[..., Variable],
    parameters: Sequence[Variable],
    scale: Variable,
    wanted: Variable,
) -> Variable:
    """Return the integral of ``integrand(u, *parameters)`` over u > 0; 0 where it is not wanted.

    Everything is of float64.
    """
    number = TensorType("float64", ())
    t, total = Variable(number, "t"), Variable(number, "total")
    unit = Variable(number, "unit")
    own: Variables = [Variable(number, f"p{k}") for k in range(len(parameters))]
    decay = elemwise(exp, -t)
    length = elemwise(exp, t - decay) * unit
    term = integrand(length, *own) * (length * (1 + decay))
    loop = ScalarLoop([t, total], [t + STEP, total + term], [unit, *own], name=name)
    # The scale decides where the nodes lie, and has no part in the value.
    unit_given = elemwise(disconnected_grad, scale)
    steps = elemwise(where, wanted, NODES, 0)
    found: Variable
    _, found = loop(steps, FIRST, 0.0, unit_given, *parameters)
    return found * STEP
