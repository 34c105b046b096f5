"""PyTensor's variables as frazil's variables, for further use in frazil."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Constant
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.traversal import graph_inputs

import frazil.tensor as ft
from frazil._core import Variable
from frazil.graph.collection import is_sequence
from frazil.interop.pytensor.translation import NoRule, Translation, own_type


def from_pytensor(
    outputs: Any, inputs: Mapping[object, Variable] | None = None
) -> tuple[Any, dict[Any, Variable]]:
    """Return frazil's variables for PyTensor's.

    Parameters
    ----------
    outputs : PyTensor variable, sequence of them, or FunctionGraph
        The variables to take over, with all that they are computed from.
    inputs : dict of PyTensor variable to Variable, optional
        Substitutes for some variables. All other inputs of the graph get new variables with their
        names, types and static shapes; so do shared variables, whose values stay PyTensor's.

    Returns
    -------
    variables : Variable or list of Variable
        What ``outputs`` are.
    inputs : dict of PyTensor variable to Variable
        The graph's inputs, in the order in which the graph meets them.

    Raises
    ------
    NoRule
        If a part of the graph has no counterpart, and no ``perform`` to run instead.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> import frazil as fz
    >>> from frazil.interop.pytensor import from_pytensor
    >>> x = pt.dvector("x")
    >>> cost, inputs = from_pytensor(pt.sqr(x).sum())
    >>> fz.function([inputs[x]], fz.grad(cost, inputs[x]))([1.0, 2.0])
    array([2., 4.])
    """
    given = outputs.outputs if isinstance(outputs, FunctionGraph) else outputs
    single = not is_sequence(given)
    wanted = [given] if single else list(given)
    known: dict[Any, Variable] = dict(inputs or {})
    for x in graph_inputs(wanted, blockers=list(known)):
        if isinstance(x, Constant) or x in known:
            continue
        kind = own_type(x.type)
        if kind is None:
            what = "shared variable" if isinstance(x, SharedVariable) else "input"
            raise NoRule(f"the {what} {x} has PyTensor's type {x.type}, which frazil lacks")
        known[x] = ft.tensor(x.name, dtype=kind.dtype, shape=kind.shape)
    found = Translation(local=True).graph(list(known), wanted, list(known.values()))
    return (found[0] if single else found), known
