"""Lengths and positions in PyTensor's graphs, as numbers if they are known before any call."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import reduce
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from pytensor.compile.ops import DeepCopyOp, ViewOp
from pytensor.graph.basic import Constant
from pytensor.graph.traversal import graph_inputs, toposort
from pytensor.scalar import basic as ps
from pytensor.tensor import basic as ptb
from pytensor.tensor.elemwise import DimShuffle, Elemwise
from pytensor.tensor.shape import Shape, Shape_i
from pytensor.tensor.subtensor import Subtensor, indices_from_subtensor

import frazil.tensor as ft
from frazil._core import Constant as OwnConstant
from frazil._core import FrozenApply, Variable
from frazil.interop.pytensor.translation import NoRule, Translation
from frazil.tensor.lengths import Shape_i as OwnShape_i
from frazil.tensor.shapes import Shapes, is_size_arithmetic

if TYPE_CHECKING:
    from pytensor.graph.basic import Apply

Length: TypeAlias = int | Variable

_ARITHMETIC: dict[type, Callable[[int, int], int]] = {
    ps.Add: operator.add,
    ps.Sub: operator.sub,
    ps.Mul: operator.mul,
}

_MOST_NODES = 20
"""The highest number of nodes from which a value is computed before the call."""


def known(x: Any) -> Length:
    """An int for a constant."""
    if isinstance(x, OwnConstant):
        return int(x.data)
    return x if isinstance(x, Variable) else int(x)


def constant_value_of(x: object) -> Any:
    """The value of a variable that is computed from few constants; None if it is not."""
    if isinstance(x, Constant):
        return x.data
    order = list(islice(toposort([x]), _MOST_NODES + 1))
    if len(order) > _MOST_NODES or not all(isinstance(y, Constant) for y in graph_inputs([x])):
        return None
    values: dict[Any, Any] = {}
    for node in order:
        storage: list[list[Any]] = [[None] for _ in node.outputs]
        given = [y.data if isinstance(y, Constant) else values[y] for y in node.inputs]
        node.op.prepare_node(node, None, None, "py")
        node.op.perform(node, given, storage)
        values.update(zip(node.outputs, (cell[0] for cell in storage), strict=True))
    return values[x]


def integer(x: Any, t: Translation, deepest: int = 8) -> Length:
    """A 0-d integer of PyTensor's: an int where it is known, else a variable.

    ``deepest`` is how many sums above each other are looked at.
    """
    if isinstance(x, Constant):
        return int(x.data)
    node = x.owner
    if node is not None and x not in t.made:
        return known(t[x])
    if node is not None:
        op = node.op
        if isinstance(op, ptb.ScalarFromTensor | ptb.TensorFromScalar | ViewOp | DeepCopyOp):
            return integer(node.inputs[0], t)
        if _keeps_integers(node):
            return integer(node.inputs[0], t)
        if deepest and isinstance(op, Elemwise) and type(op.scalar_op) in _ARITHMETIC:
            terms = [integer(y, t, deepest - 1) for y in node.inputs]
            numbers = [n for n in terms if isinstance(n, int)]
            if len(numbers) == len(terms) and "int" in x.dtype:
                value = reduce(_ARITHMETIC[type(op.scalar_op)], numbers)
                if np.iinfo(x.dtype).min <= value <= np.iinfo(x.dtype).max:
                    return value
        if isinstance(op, Shape_i):
            return known(ft.shape(t[node.inputs[0]])[op.i])
        if isinstance(op, Subtensor) and node.inputs[0].type.ndim == 1:
            (at,) = indices_from_subtensor(node.inputs[1:], op.idx_list)
            place = None if isinstance(at, slice) else constant_value_of(at)
            if place is not None:
                lengths = elements(node.inputs[0], t)
                if lengths is not None:
                    return lengths[int(place)]
    return known(t[x])


def elements(x: Any, t: Translation) -> list[Length] | None:
    """The elements of a vector, each as by :func:`integer`; None if it may have any number."""
    if isinstance(x, Constant):
        return [int(n) for n in x.data]
    found = None if x.owner is None else _elements_of_node(x.owner, t)
    if found is not None:
        return found
    if x.type.shape[0] is None:
        return None
    ours = t[x]
    return [known(ours[i]) for i in range(x.type.shape[0])]


def required_elements(x: object, t: Translation) -> list[Length]:
    """The elements of an integer vector that says a shape."""
    found = elements(x, t)
    if found is None:
        raise NoRule(f"{x} says a shape, and the number of its lengths is not known")
    return found


def are_one_length(a: Variable, b: Variable) -> bool:
    """Whether two of frazil's lengths are the same in every call, as the shapes of ops say."""
    shapes = Shapes(())
    inferred: set[FrozenApply] = set()
    pending: list[FrozenApply | None] = [a.owner, b.owner]
    while pending:
        node = pending[-1]
        if node is None or node in inferred:
            pending.pop()
            continue
        missing = []
        # A node remembers its lengths; only nodes that compute lengths stand for lengths of others.
        (first, *_) = node.outputs
        says = isinstance(node.op, OwnShape_i) or is_size_arithmetic(first)
        if says or node.lengths is None:
            missing = [y for x in node.inputs if (y := x.owner) and y not in inferred]
        if missing:
            pending += missing
            continue
        shapes.infer(node)
        inferred.add(node)
    return shapes.canonical(a) is shapes.canonical(b)


def _elements_of_node(node: Apply, t: Translation) -> list[Length] | None:
    op = node.op
    if isinstance(op, ptb.MakeVector):
        return [integer(n, t) for n in node.inputs]
    if isinstance(op, Shape):
        return [known(n) for n in ft.shape(t[node.inputs[0]])]
    if isinstance(op, ptb.Join):
        parts = [elements(part, t) for part in node.inputs if part.type.ndim == 1]
        whole: list[Length] = []
        for part in parts:
            if part is None:
                return None
            whole += part
        return whole
    if isinstance(op, Subtensor) and node.inputs[0].type.ndim == 1:
        (index,) = indices_from_subtensor(node.inputs[1:], op.idx_list)
        if not isinstance(index, slice):
            return None
        bounds = [index.start, index.stop, index.step]
        if any(b is not None and not isinstance(b, Constant) for b in bounds):
            return None
        of = elements(node.inputs[0], t)
        ends = (None if b is None else int(b.data) for b in bounds)
        return None if of is None else of[slice(*ends)]
    if _keeps_integers(node):
        return elements(node.inputs[0], t)
    if isinstance(op, DimShuffle) and node.inputs[0].type.ndim == 0:
        return [integer(node.inputs[0], t)]
    return None


def _keeps_integers(node: Apply) -> bool:
    if not isinstance(node.op, Elemwise) or not isinstance(
        node.op.scalar_op, ps.Cast | ps.Identity
    ):
        return False
    return all("int" in x.type.dtype for x in (node.inputs[0], node.outputs[0]))
