"""Lengths of every variable in a graph, as expressions in what exists at run time.

A *canonical* length is a constant, the length of a graph input (or of an output whose shape only
its value tells), another 0-d integer variable, or integer arithmetic on such.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import frazil._core as _core
from frazil._core import Constant, FrozenApply, Variable
from frazil.graph.answers import listed, note_place
from frazil.graph.op import Op
from frazil.scalar.elemwise import Elemwise
from frazil.tensor.lengths import Lengths, Shape_i, as_length, literal

Found = TypeVar("Found")

SIZE_ARITHMETIC = frozenset(
    ("add", "sub", "mul", "floordiv", "mod", "minimum", "maximum", "where", "lt", "le", "eq")
)
"""Scalar ops that the runtime evaluates on sizes."""


def is_size_arithmetic(variable: Variable) -> bool:
    """Whether the runtime can compute this length from its operands' lengths."""
    return bool(_size_operands(variable))


def _size_operands(variable: Variable) -> Lengths:
    """The operands of a length that the runtime can compute from theirs; none of any other."""
    node = variable.owner
    if node is None or variable.ndim or not isinstance(node.op, Elemwise):
        return ()
    if node.op.scalar_op.table_name not in SIZE_ARITHMETIC:
        return ()
    operands: Lengths = node.inputs
    return operands if _SIZES.issuperset([x.dtype for x in operands]) else ()


_SIZES = frozenset(("int64", "bool"))


def find_after_operands(
    length: Variable, known: dict[Variable, Found], find: Callable[[Variable, Lengths], Found]
) -> Found:
    """Return what ``find`` finds for a length and its operands, and keep it in ``known``.

    Only integer arithmetic has operands here, and ``known`` has the results for them when ``find``
    is called. Nothing recurses, and nothing is found twice.
    """
    if length in known:
        return known[length]
    pending = [length]
    while pending:
        current = pending[-1]
        if current not in known:
            operands = _size_operands(current)
            missing = [x for x in operands if x not in known]
            if missing:
                pending += missing
                continue
            known[current] = find(current, operands)
        pending.pop()
    return known[length]


class Shapes:
    """The canonical lengths of the variables that a graph computes."""

    def __init__(self, order: Sequence[FrozenApply]) -> None:
        self._lengths: dict[Variable, Lengths] = {}
        self._canonical: dict[Variable, Variable] = {}
        self._leaves: dict[Variable, tuple[Variable, ...]] = {}
        self._leaves_of_shapes: dict[Lengths, tuple[Variable, ...]] = {}
        self._leaves_of_variables: dict[Variable, tuple[Variable, ...]] = {}
        for node in order:
            self.infer(node)

    def lengths(self, x: Variable) -> Lengths:
        """The canonical lengths of ``x``."""
        known = self._lengths.get(x)
        if known is None:
            known = self._lengths[x] = tuple(
                _own_length(x, axis, static) for axis, static in enumerate(x.type.shape)
            )
        return known

    def leaves(self, x: Variable) -> tuple[Variable, ...]:
        """The variables that the lengths of ``x`` read: shapes of some, values of others."""
        known = self._leaves_of_variables.get(x)
        if known is None:
            lengths = self.lengths(x)
            known = self._leaves_of_shapes.get(lengths)
            if known is None:
                known = self._leaves_of_shapes[lengths] = self.leaves_of(lengths)
            self._leaves_of_variables[x] = known
        return known

    def leaves_of(self, lengths: Iterable[Variable]) -> tuple[Variable, ...]:
        """The variables that canonical ``lengths`` read: shapes of some, values of others."""
        found: dict[Variable, None] = {}
        for length in lengths:
            found.update(dict.fromkeys(self._leaves_of_one(length)))
        return tuple(found)

    def _leaves_of_one(self, length: Variable) -> tuple[Variable, ...]:
        # Found once for each expression: one node's lengths are parts of the next one's.
        def found(current: Variable, operands: Lengths) -> tuple[Variable, ...]:
            if not operands:
                node = current.owner
                if node is not None and isinstance(node.op, Shape_i):
                    return (node.inputs[0],)
                return () if isinstance(current, Constant) else (current,)
            parts = [own for x in operands if (own := self._leaves[x])]
            # Most often they read the same, which need not be kept again.
            merged = dict.fromkeys(leaf for own in parts for leaf in own)
            return next((own for own in parts if len(own) == len(merged)), tuple(merged))

        return find_after_operands(length, self._leaves, found)

    def canonical(self, length: Variable) -> Variable:
        """``length`` in terms of variables that exist at run time."""
        if isinstance(length, Constant):
            return length
        known = self._canonical.get(length)
        if known is not None:
            return known

        def found(current: Variable, operands: Lengths) -> Variable:
            node = current.owner
            if node is None:
                return current
            if not operands:
                is_length = isinstance(node.op, Shape_i)
                return self.lengths(node.inputs[0])[node.op.axis] if is_length else current
            own = [self._canonical[x] for x in operands]
            same = all(a is b for a, b in zip(own, operands, strict=True))
            return current if same else _core.elemwise(node.op, *own)

        return find_after_operands(length, self._canonical, found)

    def infer(self, node: FrozenApply) -> None:
        """Find the lengths of a node's outputs, given the lengths of its inputs."""
        known, outputs, found = node.lengths, node.outputs, self._lengths
        if known is None:
            given = [found[x] if x in found else self.lengths(x) for x in node.inputs]
            op = node.op
            if type(op) is Elemwise and len(outputs) == 1:  # most nodes
                (shape,) = op.infer_shape(node, given)
                known = (self._known(outputs[0], shape, given),)
            else:
                known = tuple(
                    [
                        None if shape is None else self._known(output, shape, given)
                        for output, shape in zip(outputs, lengths_of(node, given), strict=True)
                    ]
                )
            # They depend only on what the node depends on: they hold in every graph that has it.
            node.remember_lengths(known)
        for output, lengths in zip(outputs, known, strict=True):
            if lengths is not None:
                found[output] = lengths

    def _known(self, output: Variable, shape: Lengths, given: Sequence[Lengths]) -> Lengths:
        """The canonical lengths of an output; ``given`` are the lengths of the operands."""
        if not shape:
            return shape
        static_shape = output.type.shape
        if static_shape.count(None) == len(shape):
            for own in given:
                if shape is own:  # most often
                    return own
        return tuple(
            self.canonical(length) if static is None else literal(static)
            for length, static in zip(shape, static_shape, strict=True)
        )


def lengths_of(
    node: FrozenApply, input_shapes: Sequence[tuple[Variable, ...]]
) -> list[tuple[Variable, ...] | None]:
    """Return the lengths of a node's outputs, as ``infer_shape`` of its op says.

    Raises
    ------
    TypeError, ValueError
        If it does not give a length for each dimension of each output, or one that the type
        contradicts.
    """
    op = node.op
    try:
        given = op.infer_shape(node, input_shapes)
        # Most nodes are elementwise; the answers of all others are checked.
        return list(given) if type(op) is Elemwise else _checked(node, given)
    except Exception as error:
        note_place(error, "infer_shape of", node)
        raise


def _checked(node: FrozenApply, given: object) -> list[tuple[Variable, ...] | None]:
    op, outputs = node.op, node.outputs
    if type(given) is not tuple or len(given) != len(outputs):
        wanted = "a tuple of lengths, or None,"
        given = listed(given, len(outputs), f"infer_shape of {op}", wanted, "outputs")
    return [
        None if shape is None else _checked_shape(op, at, y, shape)
        for at, (shape, y) in enumerate(zip(given, outputs, strict=True))
    ]


def _checked_shape(op: Op, at: int, y: Variable, shape: object) -> tuple[Variable, ...]:
    if not isinstance(shape, tuple | list) or len(shape) != y.ndim:
        hint = " in a tuple for each output" if isinstance(shape, Variable | int) else ""
        raise TypeError(
            f"infer_shape of {op}, output {at}: {y.ndim} lengths{hint} are needed, since it has "
            f"type {y.type}; given {shape}"
        )
    lengths = []
    for axis, (length, static) in enumerate(zip(shape, y.type.shape, strict=True)):
        try:
            made = as_length(length)
        except TypeError as error:
            raise TypeError(f"infer_shape of {op}, output {at}, axis {axis}: {error}") from None
        if isinstance(made, Constant) and static not in (None, int(made.data)):
            raise ValueError(
                f"infer_shape of {op}, output {at}, axis {axis}: the length is said to be "
                f"{made.data}, and {static} by the type {y.type} that make_node gave"
            )
        lengths.append(made)
    return tuple(lengths)


def _own_length(x: Variable, axis: int, static: int | None) -> Variable:
    length: Variable = Shape_i(axis)(x) if static is None else literal(static)
    return length
