"""Ops as graphs of other ops, for linkers that make kernels."""

from __future__ import annotations

from collections.abc import Sequence

from frazil._core import (
    FrozenApply,
    FrozenFunctionGraph,
    MissingInputError,
    TensorType,
    Variable,
)
from frazil.graph.answers import note_place, strangers
from frazil.graph.dispatch import check_classes, singledispatch
from frazil.graph.op import Op
from frazil.inner.ops import ops_of
from frazil.inner.rebuild import replace_ops
from frazil.scalar.op import ScalarOp


@singledispatch
def native_form(op: Op, *inputs: object) -> Variable | Sequence[Variable] | None:
    """Return what computes as ``op`` does, by ops that native linkers have kernels for.

    Register a function for a class of ops, by ``native_form.register``; scalar ops have texts in
    place of a form, and TypeError is raised for a class of them. It is called when a
    function is compiled in a mode other than ``py`` and ``debug``, after rules have rewritten the
    graph. Without one, native programs call ``perform``, as Python.

    Parameters
    ----------
    op : Op
        The op.
    *inputs : Variable
        The inputs of one of its nodes.

    Returns
    -------
    Variable, sequence of Variable, or None
        The outputs, of the types that the node has; None to call ``perform`` after all.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> import frazil as fz, frazil.tensor as ft
    >>> from frazil.link import native_form
    >>> @dataclass(frozen=True, eq=False)
    ... class Rotate(fz.Op):
    ...     shift: int
    ...
    ...     def make_node(self, x):
    ...         return fz.FrozenApply(self, [x], [x.type])
    ...
    ...     def perform(self, node, inputs):
    ...         return (np.roll(inputs[0], self.shift),)
    >>> @native_form.register
    ... def _(op: Rotate, x):
    ...     return ft.roll(x, op.shift)
    >>> x = ft.vector("x")
    >>> f = fz.function([x], Rotate(1)(x) * 10, mode="c")
    >>> f([1.0, 2.0, 3.0]), "Rotate" in fz.dprint(f, file="str")
    (array([30., 10., 20.]), False)
    """
    return None


def _refuse_scalar_op(kind: type[object]) -> None:
    if issubclass(kind, ScalarOp):
        raise TypeError(
            f"{kind.__qualname__} is a scalar op, of which no native form is asked: it joins "
            "native loops by its texts c and numba. Derive from fz.Op to register a form"
        )


check_classes(native_form, _refuse_scalar_op)


def with_native_forms(graph: FrozenFunctionGraph) -> FrozenFunctionGraph:
    """``graph`` with the native forms of its ops, and of the ops that these are made of."""
    for _ in range(_DEEPEST):
        formed = _formed_once(graph)
        if formed is graph:
            return graph
        graph = formed
    ops = sorted({str(op) for op in ops_of(graph) if has_form(op)})
    raise RuntimeError(
        f"native forms lead to native forms without end, among those of {', '.join(ops)}; a form "
        "must not hold the op itself"
    )


def _formed_once(graph: FrozenFunctionGraph) -> FrozenFunctionGraph:
    made: list[tuple[FrozenApply, Sequence[Variable], Sequence[Variable]]] = []

    def replacement(node: FrozenApply, inputs: list[Variable]) -> Sequence[Variable]:
        outputs = _formed(node, inputs)
        made.append((node, inputs, outputs))
        return outputs

    try:
        return replace_ops(graph, has_form, replacement)
    except MissingInputError as error:
        for node, inputs, outputs in made:
            if others := strangers(outputs, inputs):
                error.add_note(
                    f"the native form of {node!r} needs {', '.join(map(str, others))}; a form is "
                    "made of the inputs that it is given"
                )
        raise


def has_form(op: Op) -> bool:
    """Whether a native form of ops of this class is registered."""
    return native_form.dispatch(type(op)) is not _NO_FORM


def _formed(node: FrozenApply, inputs: list[Variable]) -> Sequence[Variable]:
    try:
        made = native_form(node.op, *inputs)
    except Exception as error:
        note_place(error, "the native form of", node)
        raise
    if made is None:
        return node.clone_with_new_inputs(inputs).outputs
    outputs: list[Variable] = []
    for y in made if isinstance(made, list | tuple) else [made]:
        if not isinstance(y, Variable):
            raise TypeError(
                f"the native form of {node.op} must be a variable, a list of variables or None; "
                f"given {y!r}"
            )
        outputs.append(y)
    types = [y.type for y in outputs]
    wanted = [y.type for y in node.outputs]
    if len(types) != len(wanted) or not all(map(TensorType.accepts, wanted, types)):
        raise TypeError(f"the native form of {node.op} must have the types {wanted}, given {types}")
    return outputs


_NO_FORM = native_form.dispatch(object)
_DEEPEST = 32
"""Forms within forms, at most."""
