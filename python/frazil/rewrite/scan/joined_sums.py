"""One sum in place of several over the same elements, which a step adds up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import reduce
from typing import TypeAlias

import frazil._core as _core
import frazil.scalar as scalar
from frazil._core import FrozenApply, Variable, elemwise
from frazil.rewrite.matched import application
from frazil.scalar.elemwise import Elemwise
from frazil.scan.body import ScanBody
from frazil.tensor.reductions import Sum

Term: TypeAlias = tuple[Variable, bool]
"""A variable that is added, or with False subtracted."""

SIGNS: Mapping[str, tuple[bool, ...]] = {"add": (True, True), "sub": (True, False), "neg": (False,)}
"""By scalar op: whether each operand is added."""


def join_sums(body: ScanBody) -> None:
    """Let a step sum once what it adds up of several sums over the same elements.

    sum(x) + sum(y) - sum(z) is sum(x + y - z), in another order of the terms. The gradient by a
    parameter that each of many elements uses several times is of this form. A loop over these
    elements then keeps one partial sum, and a step folds one.
    """
    order = _core.toposort(body.outputs)
    if sum(isinstance(node.op, Sum) for node in order) < 2:
        return
    lengths = _Lengths(order)
    uses = Counter(x for node in order for x in node.inputs)
    uses.update(body.outputs)
    inside = {x for node in order if _signs(node) for x in node.inputs if uses[x] == 1}
    joined: dict[Variable, Variable] = {}
    for node in order:
        y = node.outputs[0]
        if _signs(node) and y not in inside:
            made = _joined(_terms(y, uses), uses, lengths)
            if made is not None and made.type == y.type:
                joined[y] = made
    body.substitute(joined)


def _signs(node: FrozenApply | None) -> tuple[bool, ...]:
    """Whether a node that adds floats adds each operand; nothing for other nodes."""
    if node is None or not isinstance(node.op, Elemwise):
        return ()
    y = node.outputs[0]
    # Partial sums of float16 would be rounded to it.
    if y.dtype not in ("float32", "float64") or any(x.type != y.type for x in node.inputs):
        return ()
    return SIGNS.get(node.op.scalar_op.table_name or "", ())


def _terms(y: Variable, uses: Mapping[Variable, int]) -> list[Term]:
    """The terms that ``y`` is made of by additions whose results nothing else reads, in order."""
    terms: list[Term] = []
    pending = [(y, True)]
    while pending:
        x, added = pending.pop()
        node = x.owner
        signs = _signs(node) if x is y or uses[x] == 1 else ()
        if node is None or not signs:
            terms.append((x, added))
            continue
        operands = zip(node.inputs, signs, strict=True)
        pending += reversed([(own, sign is added) for own, sign in operands])
    return terms


def _joined(
    terms: Sequence[Term], uses: Mapping[Variable, int], lengths: _Lengths
) -> Variable | None:
    """The terms added up, of sums over the same elements one; None if there are no such."""
    groups: dict[object, list[Term]] = {}
    for at, term in enumerate(terms):
        node = term[0].owner
        key: object = at
        if node is not None and isinstance(node.op, Sum) and uses[term[0]] == 1:
            of = node.inputs[0]
            key = node.op, of.type, lengths.of(of)
        groups.setdefault(key, []).append(term)
    if len(groups) == len(terms):
        return None
    return _added_up([_one_term(group) for group in groups.values()])


def _one_term(terms: Sequence[Term]) -> Term:
    """One term for several that are sums over the same elements."""
    if len(terms) == 1:
        return terms[0]
    first, sign = application(terms[0][0]), any(added for _, added in terms)
    total: Variable = first.op(
        _added_up([(application(x).inputs[0], own is sign) for x, own in terms])
    )
    return total, sign


def _added_up(terms: Sequence[Term]) -> Variable:
    # Terms that are added come first, so that as little as possible is negated.
    (first, is_positive), *others = sorted(terms, key=lambda term: not term[1])

    def gone_on(total: Variable, term: Term) -> Variable:
        x, added = term
        return elemwise(scalar.add if added else scalar.sub, total, x)

    start = first if is_positive else elemwise(scalar.neg, first)
    return reduce(gone_on, others, start)


class _Lengths:
    """Dimensions of the values of a step that have the same length in each run that does not fail.

    An elementwise node takes operands of the same lengths, but where a type says 1.
    """

    def __init__(self, order: Sequence[FrozenApply]) -> None:
        self._above: dict[tuple[Variable, int], tuple[Variable, int]] = {}
        for node in order:
            if not isinstance(node.op, Elemwise):
                continue
            y = node.outputs[0]
            for x in (*node.inputs, *node.outputs[1:]):
                for axis in range(-x.ndim, 0):
                    if not x.broadcastable[axis]:
                        self._unite((x, axis), (y, axis))

    def of(self, x: Variable) -> object:
        """A key that is equal for variables whose dimensions have the same lengths."""
        return tuple(
            self._first((x, axis)) if static is None else static
            for axis, static in zip(range(-x.ndim, 0), x.type.shape, strict=True)
        )

    def _first(self, dim: tuple[Variable, int]) -> tuple[Variable, int]:
        path = [dim]
        while (above := self._above.get(path[-1])) is not None:
            path.append(above)
        for below in path[:-1]:
            self._above[below] = path[-1]
        return path[-1]

    def _unite(self, a: tuple[Variable, int], b: tuple[Variable, int]) -> None:
        first, second = self._first(a), self._first(b)
        if first != second:
            self._above[first] = second
