"""The rules that differentiate ops.

An op's own ``L_op`` and ``R_op`` come first. If a rule must differentiate a graph, it is in this
package, as ops do not know how graphs are differentiated.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from frazil.graph.dispatch import singledispatch
from frazil.graph.op import Gradients, Op, Variables
from frazil.tensor.docstrings import described

Pullback: TypeAlias = Callable[[Variables, Variables, Variables], Gradients]
"""``(inputs, outputs, output_gradients)`` to the gradients of the inputs."""

Pushforward: TypeAlias = Callable[[Variables, Variables], Gradients]
"""``(inputs, tangents)`` to the tangents of the outputs."""


@described
def pullback_of(op: Op) -> Pullback:
    """Return an op's vector-Jacobian product: its own ``L_op``, else the rule for its class.

    op (Op): The op of a node: ``x.owner.op``.
    returns (callable): ``(inputs, outputs, output_gradients)`` to a gradient for each input, or
        None. Gradients broadcast to their inputs. It raises NotImplementedError if the op has no
        gradient.

    >>> import frazil as fz, frazil.tensor as ft
    >>> x, g = ft.vector("x"), ft.vector("g")
    >>> node = ft.sqr(x).owner
    >>> [gradient] = fz.gradient.pullback_of(node.op)(node.inputs, node.outputs, [g])
    >>> fz.pp(gradient)
    'g * (x * 2.0)'
    """
    return op.L_op if has_own_pullback(op) else pullback_rule(op)


def pushforward_of(op: Op) -> Pushforward | None:
    """Return the Jacobian-vector product of an op: its own ``R_op``, else the rule for its class.

    None if there is neither; then the tangents come from the vector-Jacobian product.
    """
    own: Pushforward | None = getattr(op, "R_op", None)
    return pushforward_rule(op) if own is None else own


def has_own_pullback(op: Op) -> bool:
    """Return whether the class of an op defines ``L_op`` itself."""
    return type(op).L_op is not Op.L_op


@singledispatch
def pullback_rule(op: Op) -> Pullback:
    """Return the rule for ops of a class that has no ``L_op`` of its own."""
    return op.L_op


@singledispatch
def pushforward_rule(op: Op) -> Pushforward | None:
    """Return the rule for ops of a class that has no ``R_op`` of its own."""
    return None
