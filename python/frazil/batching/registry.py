"""The batch rules of ops; an op without a rule runs for one element after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias, TypeVar

from frazil._core import Constant, FrozenApply, FrozenFunctionGraph, TensorType, Variable
from frazil.graph.answers import listed, note_place
from frazil.graph.dataclass import dataclass
from frazil.graph.dispatch import singledispatch
from frazil.graph.op import Op
from frazil.scan.op import Scan
from frazil.tensor.broadcasting import broadcast_to
from frazil.tensor.dims import expand_dims
from frazil.tensor.lengths import Lengths, length, lengths


@dataclass(frozen=True)
class Operand:
    """The replacement of a variable: a batch of values along axis 0, or one value for all.

    Attributes
    ----------
    value : Variable
        The batch, or the one value.
    batched : bool
        Whether axis 0 of ``value`` is the axis of the batch.
    """

    value: Variable
    batched: bool

    @property
    def ndim(self) -> int:
        """The number of dimensions of one element."""
        return self.value.ndim - self.batched

    @property
    def element_lengths(self) -> Lengths:
        """The lengths of one element."""
        return lengths(self.value)[self.batched :]

    def of_rank(self, ndim: int) -> Variable:
        """``value`` with dimensions of length 1 in front of those of an element: ``ndim`` of them.

        The axis of the batch stays the first.
        """
        missing = ndim - self.ndim
        if not self.batched or missing == 0:
            return self.value
        return expand_dims(self.value, tuple(range(1, 1 + missing)))

    def spread(self, size: Variable) -> Variable:
        """A batch of ``size``: ``value`` itself, or repeated without a copy."""
        if self.batched:
            return self.value
        return broadcast_to(expand_dims(self.value, 0), (size, *lengths(self.value)))


Operands: TypeAlias = Sequence[Operand]

BatchRule: TypeAlias = Callable[[FrozenApply, Operands], "list[Operand] | None"]
"""``(node, operands)`` to the node's outputs; None where the rule does not know."""


@singledispatch
def batch_rule(op: Op) -> BatchRule | None:
    """Return the batch rule of an op: how a node of it is computed for a batch at once.

    Register a rule for the class of an op of yours with ``@batch_rule.register``. Without one, or
    where it returns None, the op runs for one element of the batch after the other, in a scan.

    Parameters
    ----------
    op : Op
        The op of a node: ``x.owner.op``.

    Returns
    -------
    callable or None
        ``(node, operands)`` to an :class:`Operand` for each output of the node. One operand at
        least is batched; all batches have one length.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> import frazil as fz, frazil.tensor as ft
    >>> @dataclass(frozen=True, eq=False)
    ... class Reverse(fz.Op):
    ...     axis: int
    ...
    ...     def make_node(self, x):
    ...         return fz.FrozenApply(self, [x], [x.type])
    ...
    ...     def perform(self, node, inputs):
    ...         return (np.flip(inputs[0], self.axis).copy(),)
    >>> @fz.batching.batch_rule.register
    ... def _(op: Reverse):
    ...     def rule(node, operands):
    ...         return [fz.batching.Operand(Reverse(op.axis + 1)(operands[0].value), True)]
    ...
    ...     return rule
    >>> x, X = ft.vector("x"), ft.matrix("X")
    >>> fz.vectorize(Reverse(0)(x), {x: X}).eval({X: [[1.0, 2.0], [3.0, 4.0]]})
    array([[2., 1.],
           [4., 3.]])
    """
    return None


Rule = TypeVar("Rule", bound=BatchRule)


def rule_of(*kinds: type[Op]) -> Callable[[Rule], Rule]:
    """Register a rule for all ops of some classes, whatever their parameters are."""

    def registered(rule: Rule) -> Rule:
        for kind in kinds:
            batch_rule.register(kind, lambda op: rule)
        return rule

    return registered


def batched(*values: Variable) -> list[Operand]:
    """Return the outputs of a rule that are all batches."""
    return [Operand(value, True) for value in values]


def batch_size(operands: Operands) -> Variable:
    """Return the length of the batch, static where the type of any operand knows it."""
    own = [length(x.value, 0) for x in operands if x.batched]
    return next((n for n in own if isinstance(n, Constant)), own[0])


def apply_batched(node: FrozenApply, operands: Operands) -> list[Operand]:
    """Return the outputs of a node over ``operands``; at least one operand is batched.

    Raises
    ------
    TypeError
        If the rule of the node's op gives anything but an operand of the output's rank for each
        output.
    """
    outputs = _by_rule(node, operands)
    return one_by_one(node, operands) if outputs is None else _checked(node, outputs)


def _by_rule(node: FrozenApply, operands: Operands) -> object:
    try:
        rule = batch_rule(node.op)
        if rule is None:
            return None
        if callable(rule):
            return rule(node, operands)
    except Exception as error:
        note_place(error, "the batch rule of", node)
        raise
    raise TypeError(
        f"batch_rule of {node.op} must return a function of a node and its operands, or None; it "
        f"returned {rule!r}"
    )


def _checked(node: FrozenApply, given: object) -> list[Operand]:
    what = f"the batch rule of {node.op}"
    outputs = listed(given, len(node.output_types), what, "an Operand", "outputs")
    for at, (output, wanted) in enumerate(zip(outputs, node.output_types, strict=True)):
        if not isinstance(output, Operand) or not isinstance(output.value, Variable):
            raise TypeError(f"{what} must give an Operand as output {at}; given {output!r}")
        if output.ndim != wanted.ndim or output.value.dtype != wanted.dtype:
            form = "batches" if output.batched else "one value"
            raise TypeError(
                f"{what} gave output {at} as {form} of type {output.value.type}; each element has "
                f"type {wanted}"
            )
    return outputs


def one_by_one(node: FrozenApply, operands: Operands, n_states: int = 0) -> list[Operand]:
    """Return the outputs of a node for one element of the batch after the other, in a scan.

    The first ``n_states`` operands and outputs are states: the same for all elements before the
    first, and each element takes those that the one before it left. A run raises where the
    elements' results differ in shape.
    """
    name = f"batch of {type(node.op).__name__}"
    return in_steps(lambda inner: node.op.make_node(*inner).outputs, operands, name, n_states)


def in_steps(
    results: Callable[[Sequence[Variable]], Sequence[Variable]],
    operands: Operands,
    name: str,
    n_states: int = 0,
) -> list[Operand]:
    """Return what ``results`` gives of one element of the operands after the other, in a scan."""
    inner: list[Variable] = []
    rows: list[tuple[Variable, Variable]] = []
    fixed: list[tuple[Variable, Variable]] = []
    for at, x in enumerate(operands):
        if isinstance(x.value, Constant) and at >= n_states:
            inner.append(x.value)
            continue
        shape = x.value.type.shape[x.batched :]
        inner.append(TensorType(x.value.dtype, shape)(None))
        (rows if x.batched else fixed).append((inner[-1], x.value))
    entries = [*rows, *fixed]  # the states are first among what is not batched
    graph = FrozenFunctionGraph([x for x, _ in entries], results(inner))
    scan = Scan(graph, len(rows), n_states, name=name)
    made = scan.make_node(batch_size(operands), *(outer for _, outer in entries))
    lasts, stacks = made.outputs[:n_states], made.outputs[n_states:]
    return [*(Operand(y, False) for y in lasts), *batched(*stacks)]
