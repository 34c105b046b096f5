"""Lengths of every variable in a graph, as expressions in what exists at run time.

A *canonical* length is a constant, the length of a graph input (or of an output whose shape only
its value tells), another 0-d integer variable, or integer arithmetic on such.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from frazil import _core
from frazil._core import Constant, FrozenApply, Variable
from frazil.answers import lengths_of
from frazil.elemwise import Elemwise
from frazil.link.alignment import can_loop, element_operands, pattern, whole_operands
from frazil.link.views import REPEATED
from frazil.tensor.lengths import Lengths, Shape_i, literal

SIZE_ARITHMETIC = frozenset(
    ("add", "sub", "mul", "floordiv", "mod", "minimum", "maximum", "where", "lt", "le", "eq")
)
"""Scalar ops that the runtime evaluates on sizes."""


def is_size_arithmetic(variable: Variable) -> bool:
    """Whether the runtime can compute this length from its operands' lengths."""
    node = variable.owner
    return (
        node is not None
        and isinstance(node.op, Elemwise)
        and node.op.scalar_op.table_name in SIZE_ARITHMETIC
        and variable.ndim == 0
        and all(x.dtype in ("int64", "bool") for x in node.inputs)
    )


class Shapes:
    """The canonical lengths of the variables that a graph computes.

    Lengths that must be equal because an elementwise op meets them (the run checks it) have one
    *representative*: two spaces of equal representatives can share a loop.
    """

    def __init__(self, order: Sequence[FrozenApply]) -> None:
        self._lengths: dict[Variable, Lengths] = {}
        self._canonical: dict[Variable, Variable] = {}
        self._parent: dict[Variable, Variable] = {}
        self._spaces: dict[Variable, Lengths] = {}  # asked for when all is known that must be equal
        self._leaves: dict[Variable, tuple[Variable, ...]] = {}
        for node in order:
            self._infer(node)

    def lengths(self, x: Variable) -> Lengths:
        """The canonical lengths of ``x``."""
        known = self._lengths.get(x)
        if known is None:
            known = self._lengths[x] = tuple(
                _own_length(x, axis, static) for axis, static in enumerate(x.type.shape)
            )
        return known

    def space(self, x: Variable) -> Lengths:
        """The representatives of the lengths of ``x`` that are not known to be 1."""
        known = self._spaces.get(x)
        if known is None:
            known = self._spaces[x] = tuple(
                self.representative(length)
                for length, static in zip(self.lengths(x), x.type.shape, strict=True)
                if static != 1
            )
        return known

    def leaves(self, x: Variable) -> tuple[Variable, ...]:
        """The variables that the lengths of ``x`` read: shapes of some, values of others."""
        return self.leaves_of(self.lengths(x))

    def leaves_of(self, lengths: Iterable[Variable]) -> tuple[Variable, ...]:
        """The variables that canonical ``lengths`` read: shapes of some, values of others."""
        found: dict[Variable, None] = {}
        for length in lengths:
            found.update(dict.fromkeys(self._leaves_of_one(length)))
        return tuple(found)

    def _leaves_of_one(self, length: Variable) -> tuple[Variable, ...]:
        # Found once for each expression: the lengths of one node are parts of those of the next.
        pending = [length]
        while pending:
            current = pending[-1]
            if current in self._leaves:
                pending.pop()
                continue
            node = current.owner
            if node is not None and isinstance(node.op, Shape_i):
                self._leaves[current] = (node.inputs[0],)
            elif node is not None and is_size_arithmetic(current):
                missing = [x for x in node.inputs if x not in self._leaves]
                if missing:
                    pending += missing
                    continue
                parts = [own for x in node.inputs if (own := self._leaves[x])]
                # Most often they read the same, which need not be kept again.
                merged = dict.fromkeys(leaf for own in parts for leaf in own)
                same = next((own for own in parts if len(own) == len(merged)), None)
                self._leaves[current] = tuple(merged) if same is None else same
            else:
                self._leaves[current] = () if isinstance(current, Constant) else (current,)
        return self._leaves[length]

    def representative(self, length: Variable) -> Variable:
        """The one length that stands for all that must equal ``length``."""
        root = length
        while (parent := self._parent.get(root)) is not None:
            root = parent
        while (parent := self._parent.get(length)) is not None:
            self._parent[length] = root
            length = parent
        return root

    def canonical(self, length: Variable) -> Variable:
        """``length`` in terms of what exists at run time."""
        known = self._canonical.get(length)
        if known is not None:
            return known
        pending = [length]
        while pending:
            current = pending[-1]
            if current in self._canonical:
                pending.pop()
                continue
            node = current.owner
            if node is not None and isinstance(node.op, Shape_i):
                self._canonical[current] = self.lengths(node.inputs[0])[node.op.axis]
            elif node is not None and is_size_arithmetic(current):
                missing = [x for x in node.inputs if x not in self._canonical]
                if missing:
                    pending += missing
                    continue
                operands = [self._canonical[x] for x in node.inputs]
                self._canonical[current] = (
                    current
                    if all(a is b for a, b in zip(operands, node.inputs, strict=True))
                    else _core.elemwise(node.op, *operands)
                )
            else:
                self._canonical[current] = current
        return self._canonical[length]

    def _infer(self, node: FrozenApply) -> None:
        known = node.lengths
        if known is None:
            shapes = lengths_of(node, [self.lengths(x) for x in node.inputs])
            known = tuple(
                None if shape is None else self._known(output, shape)
                for output, shape in zip(node.outputs, shapes, strict=True)
            )
            # What they are made of is what the node is made of: another graph with it has it, too.
            node.remember_lengths(known)
        for output, lengths in zip(node.outputs, known, strict=True):
            if lengths is not None:
                self._lengths[output] = lengths
        if can_loop(node) and node.outputs:
            over = pattern(node)
            if over not in self._lengths and over.owner is not None and over is not node.outputs[0]:
                self._infer(over.owner)
            self._unify(node, over)

    def _known(self, output: Variable, shape: Lengths) -> Lengths:
        return tuple(
            self.canonical(length) if static is None else literal(static)
            for length, static in zip(shape, output.type.shape, strict=True)
        )

    def _unify(self, node: FrozenApply, over: Variable) -> None:
        whole = self.lengths(over)
        if isinstance(node.op, Elemwise) and all(
            not x.ndim or self.lengths(x) == whole for x in node.inputs
        ):
            return  # as it is most often: the same lengths all over
        operands = element_operands(node)
        for dim in range(over.ndim):
            met = [
                self.representative(self.lengths(x)[axes[dim]])
                for x, axes in operands
                if axes[dim] != REPEATED and not x.broadcastable[axes[dim]]
            ]
            if whole_operands(node) and not over.broadcastable[dim]:
                met.append(self.representative(self.lengths(over)[dim]))
            if not met:
                continue
            # A constant is the best to know, else the first: any choice groups the same lengths.
            chosen = next((length for length in met if isinstance(length, Constant)), met[0])
            for length in met:
                if length is not chosen:
                    self._parent[length] = chosen


def _own_length(x: Variable, axis: int, static: int | None) -> Variable:
    length: Variable = Shape_i(axis)(x) if static is None else literal(static)
    return length
