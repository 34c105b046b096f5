"""Cancellation of factors that overflow or vanish where their product does not.

The gradient of ``log(1 + exp(x))`` is ``1 / (1 + exp(x)) * exp(x)``, which is 0 * inf for large
``x``. Such factors - exponentials, logistic functions, sums of exponentials - may stand far apart
in a product, and in all terms of a sum. :func:`cancelled` finds two factors with a law for their
product, and replaces them in their places. Other factors are multiplied as the user wrote them, so
finite values stay finite.

A pattern of a rule matches nodes at a fixed depth. So the rules of
:mod:`frazil.rewrite.rules.normalization` match one factor, and this module searches for the other.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import frazil.scalar as scalar
from frazil._core import Constant, FrozenApply, Variable, elemwise
from frazil.graph.dataclass import dataclass
from frazil.rewrite.shift import is_shifted, shift
from frazil.scalar import ScalarOp
from frazil.scalar.constants import constant
from frazil.scalar.elemwise import Elemwise
from frazil.tensor.dims import ExpandDims
from frazil.tensor.reductions import Sum

MAX_NODES = 64
"""The highest number of nodes of one expression that the search visits."""

Power = tuple[Variable, int]
"""A factor, and 1 if it multiplies the product, -1 if it divides it."""

Powers = dict[Power, int]
"""The number of occurrences of each power."""


@dataclass(frozen=True, slots=True)
class Edit:
    """The replacement of one occurrence of a power: another power, or nothing."""

    old: Power
    new: Power | None


ONE = constant(1.0)
"""The product without any factor."""


def cancelled(x: Variable) -> Variable | None:
    """Return the product or quotient ``x`` without two factors that cancel; None if none do.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> from frazil import pp
    >>> from frazil.rewrite.factors import cancelled
    >>> x, y = ft.vector("x"), ft.vector("y")
    >>> pp(cancelled((y * ft.sigmoid(-x)) * ft.exp(x)))
    'y * sigmoid(x)'
    """
    kept: _Kept | None = getattr(_keeping, "kept", None)
    if kept is None:
        return _cancelled(x, _Kept())
    if x in kept.without:
        return None
    found = _cancelled(x, kept)
    if found is None:
        kept.without.add(x)
    return found


class _Kept:
    """The expressions that were searched for nothing, and the factors that were found."""

    def __init__(self) -> None:
        self.without: set[Variable] = set()
        self.powers: dict[Variable, Powers] = {}


_keeping = threading.local()


@contextmanager
def searches_kept() -> Iterator[None]:
    """Keep, until this ends, what this thread's searches find.

    Several rules of a phase, and those of several phases, search one expression, and others that
    it is a part of.
    """
    before: _Kept | None = getattr(_keeping, "kept", None)
    _keeping.kept = _Kept() if before is None else before
    try:
        yield
    finally:
        _keeping.kept = before


def _cancelled(x: Variable, kept: _Kept) -> Variable | None:
    search = _Search(kept.powers)
    cancellations = list(_cancellations(search.powers(x)))
    for in_place in (True, False):
        for edits in cancellations:
            result: Variable | None = x
            for edit in edits:
                result = None if result is None else search.edited(result, edit, in_place)
            if result is not None and result.type == x.type:
                return result
    return _multiplied_out(search, x)


_PRODUCTS = frozenset(("mul", "truediv", "neg", "reciprocal", "sqr", "add", "sub"))
"""The ops that a search goes through: products, and sums, whose terms may share factors."""


class _Search:
    """Finds the factors of expressions, as far as these are products, and replaces them."""

    def __init__(self, whole: dict[Variable, Powers]) -> None:
        self.left = MAX_NODES
        self.known: dict[Variable, Powers] = {}
        self.whole = whole
        """The results of searches that visited all nodes of an expression."""

    def powers(self, x: Variable) -> Powers:
        """The factors of ``x``; for a sum, the factors that all terms have."""
        known = self.whole.get(x)
        if known is None:
            known = self.known.get(x)
        if known is None:
            known = self.known[x] = self._powers(x)
            if self.left > 0:
                self.whole[x] = known
        return known

    def _powers(self, x: Variable) -> Powers:
        if _is_factor(x):
            return {(x, 1): 1}
        node = x.owner
        self.left -= 1
        if node is None or self.left <= 0:
            return {}
        op = node.op
        if isinstance(op, Elemwise):
            return self._of_elementwise(op.scalar_op.table_name, node)
        if isinstance(op, (ExpandDims, Sum)):
            inner = self.powers(node.inputs[0])
            seen = {_factor_of_result(node, power): n for power, n in inner.items()}
            return {power: n for power, n in seen.items() if power is not None}
        return {}

    def _of_elementwise(self, name: str | None, node: FrozenApply) -> Powers:
        if name not in _PRODUCTS:
            return {}
        inputs, dtype = node.inputs, node.outputs[0].dtype
        if inputs[0].dtype != dtype or inputs[-1].dtype != dtype:
            return {}
        a = self.powers(inputs[0])
        match name:
            case "neg":
                return a
            case "reciprocal":
                return _inverse(a)
            case "sqr":
                return {power: 2 * n for power, n in a.items()}
        b = self.powers(inputs[1])
        match name:
            case "mul":
                return _merged(a, b)
            case "truediv":
                return _merged(a, _inverse(b))
        return {power: min(n, b[power]) for power, n in a.items() if power in b}

    def edited(self, x: Variable, edit: Edit, in_place: bool, sign: int = 1) -> Variable | None:
        """``x`` with one occurrence of a power edited; None if it has none.

        ``sign`` is -1 if ``x`` stands in a denominator. With ``in_place`` a factor of a numerator
        replaces only one of a numerator, and likewise in denominators.
        """
        powers = self.powers(x)
        if edit.old not in (powers if sign > 0 else _inverse(powers)):
            return None
        if _is_factor(x):
            if edit.new is None:
                return ONE
            new, own = edit.new
            if own == sign:
                return new
            return None if in_place else elemwise(scalar.reciprocal, new)
        node = x.owner
        assert node is not None
        if isinstance(node.op, Elemwise):
            return self._edited_elementwise(node.op.scalar_op, node, edit, in_place, sign)
        (inner,) = node.inputs
        within = _edit_of_operand(node, self.powers(inner), edit)
        result = None if within is None else self.edited(inner, within, in_place, sign)
        return None if result is None or result.type != inner.type else node.op(result)

    def _edited_elementwise(
        self, op: ScalarOp, node: FrozenApply, edit: Edit, in_place: bool, sign: int
    ) -> Variable | None:
        inputs = node.inputs
        match op.table_name:
            case "add" | "sub":
                terms = [self.edited(y, edit, in_place, sign) for y in inputs]
                if any(term is None for term in terms):
                    return None
                return elemwise(op, *map(_as_operand, terms, inputs))
            case "truediv":
                signs = [sign, -sign]
            case "reciprocal":
                signs = [-sign]
            case _:
                signs = [sign] * len(inputs)
        for at, operand in enumerate(inputs):
            result = self.edited(operand, edit, in_place, signs[at])
            if result is not None:
                return _applied(op, inputs, at, result)
        return None


def _applied(op: ScalarOp, inputs: tuple[Variable, ...], at: int, operand: Variable) -> Variable:
    """``op`` applied to ``inputs``, with ``operand``, which lost a factor, in one place."""
    above = _argument(operand, scalar.reciprocal)
    if op is scalar.truediv and at == 1 and above is not None:
        return elemwise(scalar.mul, inputs[0], above)
    if op.table_name == "sqr":  # one of the two equal factors lost it
        return inputs[0] if operand is ONE else elemwise(scalar.mul, inputs[0], operand)
    if operand is not ONE:
        return elemwise(op, *inputs[:at], operand, *inputs[at + 1 :])
    match op.table_name:
        case "mul":
            return inputs[1 - at]
        case "truediv":
            return inputs[0] if at else elemwise(scalar.reciprocal, inputs[1])
        case "reciprocal":
            return ONE
    return elemwise(op, _as_operand(operand, inputs[at]))


def _as_operand(x: Variable | None, like: Variable) -> Variable:
    """``x``; for :data:`ONE` the number 1 in the dtype of ``like``."""
    assert x is not None
    return constant(1.0, like.dtype) if x is ONE else x


def _merged(a: Powers, b: Powers) -> Powers:
    if not a or not b:  # most often neither has any
        return a or b
    return {power: a.get(power, 0) + b.get(power, 0) for power in (*a, *b)}


def _inverse(powers: Powers) -> Powers:
    return powers and {_normal(f, -sign): n for (f, sign), n in powers.items()}


def _normal(f: Variable, sign: int) -> Power:
    """1 / exp(x) is exp(-x), 1 / (1 + exp(x)) is sigmoid(-x)."""
    if sign < 0 and (x := _argument(f, scalar.exp)) is not None:
        return elemwise(scalar.exp, negated(x)), 1
    if sign < 0 and (x := _exponent_beside_one(f)) is not None:
        return elemwise(scalar.sigmoid, negated(x)), 1
    return f, sign


def _is_factor(x: Variable) -> bool:
    """Whether ``x`` is a factor that may overflow or vanish."""
    node = x.owner
    if node is None or not x.dtype.startswith("float"):
        return False
    if isinstance(node.op, Elemwise):
        name = node.op.scalar_op.table_name
        if name == "add":
            return _exponent_beside_one(x) is not None or _pair(x) is not None
        return name in _FUNCTION_NAMES
    summed = _summed(x)
    # Leading dimensions broadcast by themselves, so there is one form for both.
    return summed is not None and not (summed.kept and _is_leading(summed.axes))


def _is_leading(axes: tuple[int, ...]) -> bool:
    return axes == tuple(range(len(axes)))


def _factor_of_result(node: FrozenApply, power: Power) -> Power | None:
    """A factor of the operand of a view or a sum as one of its result; None if it is not one."""
    f, sign = power
    if isinstance(node.op, ExpandDims):
        seen = _expanded(node.op, f, node.inputs[0].ndim)
    else:
        seen = _dropped(node.op.axes, f, node.outputs[0].ndim)
    return None if seen is None else (seen, sign)


def _edit_of_operand(node: FrozenApply, inner: Powers, edit: Edit) -> Edit | None:
    """An edit of the result of a view or a sum as an edit of its operand."""
    old = next((power for power in inner if _factor_of_result(node, power) == edit.old), None)
    if old is None or edit.new is None:
        return None if old is None else Edit(old, None)
    f, sign = edit.new
    if isinstance(node.op, ExpandDims):
        within = _dropped(node.op.axes, f, node.inputs[0].ndim)
    else:
        within = _expanded(ExpandDims(node.op.axes), f, node.outputs[0].ndim)
    return None if within is None else Edit(old, (within, sign))


_FUNCTIONS = (scalar.exp, scalar.sigmoid, scalar.erfc)
_FUNCTION_NAMES = frozenset(op.table_name for op in _FUNCTIONS)


def _expanded(op: ExpandDims, f: Variable, ndim: int) -> Variable | None:
    """``f``, a factor of a tensor of rank ``ndim``, as one of that tensor with more dimensions."""
    if f.ndim == 0:
        return f
    if f.ndim != ndim:
        return None
    if _is_leading(op.axes):
        return f
    for function in _FUNCTIONS:
        if (x := _argument(f, function)) is not None:
            return elemwise(function, op(x))
    if (x := _exponent_beside_one(f)) is not None:
        return elemwise(scalar.add, constant(1.0, f.dtype), elemwise(scalar.exp, op(x)))
    result: Variable = op(f)
    return result


def _dropped(axes: tuple[int, ...], f: Variable, ndim: int) -> Variable | None:
    """The factor ``f`` without dimensions along which it has length 1."""
    if f.ndim == 0 or (_is_leading(axes) and f.ndim == ndim):
        return f
    for function in _FUNCTIONS:
        if (x := _argument(f, function)) is not None:
            inner = _unexpanded(axes, x)
            return None if inner is None else elemwise(function, inner)
    return _unexpanded(axes, f)


def _unexpanded(axes: tuple[int, ...], x: Variable) -> Variable | None:
    node = x.owner
    if node is None or node.op is not ExpandDims(axes):
        return None
    inner: Variable = node.inputs[0]
    return inner


def _cancellations(powers: Powers) -> Iterator[list[Edit]]:
    """For each two factors with a law for their product: the edits of both."""
    for f, sign in powers:
        if (x := _argument(f, scalar.exp)) is not None:
            yield from _laws_of_exp(f, x, powers)
        elif (x := _argument(f, scalar.sigmoid)) is not None:
            low = elemwise(scalar.minimum, x, constant(0.0, x.dtype))
            yield from _law_of_quotient_by_itself(f, sign, low, powers)
        elif (x := _argument(f, scalar.erfc)) is not None:
            high = elemwise(scalar.maximum, x, constant(0.0, x.dtype))
            yield from _law_of_quotient_by_itself(f, sign, high, powers)
            yield from _laws_of_erfc(f, x, powers)
        elif (x := _exponent_beside_one(f)) is not None:
            # (1 + exp(x)) sigmoid(-x) == 1
            mirrored = (elemwise(scalar.sigmoid, negated(x)), 1)
            if mirrored in powers:
                high = elemwise(scalar.maximum, x, constant(0.0, x.dtype))
                yield _cancel_both((f, sign), mirrored, high, powers)
        elif (pair := _pair(f)) is not None:
            yield from _law_of_quotient_by_itself(f, sign, elemwise(scalar.maximum, *pair), powers)
        elif (summed := _summed(f)) is not None and (f, -sign) in powers:
            total = summed.shifted()[1]
            yield [Edit((f, sign), (total, sign)), Edit((f, -sign), (total, -sign))]


def _cancel_both(a: Power, b: Power, x: Variable, powers: Powers) -> list[Edit]:
    """The edits without ``a`` and ``b``, whose product is 1, but NaN where ``x`` is not finite."""
    for power, count in powers.items():
        if (power not in (a, b) or count > 1) and _arguments(power[0]) & _arguments(a[0]):
            return [Edit(a, None), Edit(b, None)]  # another factor is NaN where ``x`` is
    nothing = elemwise(scalar.sub, x, x)
    one = elemwise(scalar.add, constant(1.0, x.dtype), nothing)
    return [Edit(a, (one, 1)), Edit(b, None)]


def _arguments(f: Variable) -> set[Variable]:
    """The arguments of a factor, without their signs."""
    pair = _pair(f)
    if pair is not None:
        return {_without_sign(x) for x in pair}
    x = _exponent_beside_one(f)
    for function in _FUNCTIONS:
        x = _argument(f, function) if x is None else x
    return set() if x is None else {_without_sign(x)}


def _without_sign(x: Variable) -> Variable:
    inner = _argument(x, scalar.neg)
    return x if inner is None else inner


def _law_of_quotient_by_itself(
    f: Variable, sign: int, x: Variable, powers: Powers
) -> Iterator[list[Edit]]:
    if sign > 0 and (f, -1) in powers:
        yield _cancel_both((f, 1), (f, -1), x, powers)


def _laws_of_exp(f: Variable, x: Variable, powers: Powers) -> Iterator[list[Edit]]:
    # exp(x) exp(-x) == 1
    inverse = (elemwise(scalar.exp, negated(x)), 1)
    if inverse in powers:
        yield _cancel_both((f, 1), inverse, x, powers)
    # exp(x) sigmoid(-x) == sigmoid(x)
    mirrored = (elemwise(scalar.sigmoid, negated(x)), 1)
    if mirrored in powers:
        sigmoid = elemwise(scalar.sigmoid, x)
        yield [Edit((f, 1), (sigmoid, 1)), Edit(mirrored, None)]
        yield [Edit(mirrored, (sigmoid, 1)), Edit((f, 1), None)]
    for total, sign in powers:
        if sign > 0:
            continue
        # exp(x) / (exp(x) + exp(y)) == sigmoid(x - y)
        pair = _pair(total)
        if pair is not None and x in pair:
            y = pair[1] if pair[0] is x else pair[0]
            sigmoid = elemwise(scalar.sigmoid, elemwise(scalar.sub, x, y))
            yield [Edit((f, 1), (sigmoid, 1)), Edit((total, -1), None)]
        # exp(x) / sum(exp(x)), with the largest x taken from each
        summed = _summed(total)
        if summed is not None and summed.aligned and summed.exponent is x:
            small, less = summed.shifted()
            yield [Edit((f, 1), (small, 1)), Edit((total, -1), (less, -1))]


def _laws_of_erfc(f: Variable, x: Variable, powers: Powers) -> Iterator[list[Edit]]:
    # exp(-x**2) / erfc(x) == 1 / erfcx(x)
    bell = (elemwise(scalar.exp, negated(elemwise(scalar.sqr, _without_sign(x)))), 1)
    if bell in powers and (f, -1) in powers:
        yield [Edit((f, -1), (elemwise(scalar.erfcx, x), -1)), Edit(bell, None)]


def _multiplied_out(search: _Search, x: Variable) -> Variable | None:
    """A sum times a factor as the sum of the products, if the factor cancels in some terms."""
    node = x.owner
    assert node is not None
    if not isinstance(node.op, Elemwise) or len(node.inputs) != 2:
        return None
    op = node.op.scalar_op
    orders = [(0, 1), (1, 0)] if op is scalar.mul else [(0, 1)] if op is scalar.truediv else []
    for at, other in orders:
        terms, f = node.inputs[at], node.inputs[other]
        if all(_argument(f, function) is None for function in (scalar.exp, scalar.sigmoid)):
            continue
        wanted = _normal(f, -1 if op is scalar.mul else 1)

        def times(term: Variable, f: Variable = f) -> Variable:
            return elemwise(op, term, f)

        result = _multiplied_into_terms(search, terms, wanted, times)
        if result is not None and result.type == x.type:
            return result
    return None


def _multiplied_into_terms(
    search: _Search, x: Variable, wanted: Power, times: Callable[[Variable], Variable]
) -> Variable | None:
    """``x`` times the factor that cancels ``wanted`` in some terms of a sum; None if in none."""
    node = x.owner
    search.left -= 1
    if node is None or not isinstance(node.op, Elemwise) or search.left <= 0 or _is_factor(x):
        return None
    op, inputs = node.op.scalar_op, node.inputs
    match op.table_name:
        case "add" | "sub":
            terms = []
            for y in inputs:
                term = search.edited(y, Edit(wanted, None), True)
                terms.append(
                    _multiplied_into_terms(search, y, wanted, times) if term is None else term
                )
            if all(term is None for term in terms):
                return None
            whole = [times(y) if t is None else t for t, y in zip(terms, inputs, strict=True)]
            return elemwise(op, *map(_as_operand, whole, inputs))
        case "mul" | "truediv" | "neg":
            for at in range(1 if op is scalar.truediv else len(inputs)):
                result = _multiplied_into_terms(search, inputs[at], wanted, times)
                if result is not None:
                    return _applied(op, inputs, at, result)
    return None


def negated(x: Variable) -> Variable:
    """Return ``-x``; for ``-y`` return ``y``."""
    inner = _argument(x, scalar.neg)
    return elemwise(scalar.neg, x) if inner is None else inner


def _argument(x: Variable, op: ScalarOp) -> Variable | None:
    """The first operand of ``x``, if ``x`` is an application of ``op``."""
    node = x.owner
    if node is None or not isinstance(node.op, Elemwise) or node.op.scalar_op is not op:
        return None
    argument: Variable = node.inputs[0]
    return argument


def _exponent_beside_one(f: Variable) -> Variable | None:
    """``x`` where ``f`` is ``1 + exp(x)``."""
    node = f.owner
    if node is None or not isinstance(node.op, Elemwise) or node.op.scalar_op is not scalar.add:
        return None
    for one, other in (node.inputs, node.inputs[::-1]):
        if isinstance(one, Constant) and one.ndim == 0 and one.data == 1:
            return _argument(other, scalar.exp)
    return None


def _pair(f: Variable) -> tuple[Variable, Variable] | None:
    """``x`` and ``y`` where ``f`` is ``exp(x) + exp(y)``."""
    node = f.owner
    if node is None or not isinstance(node.op, Elemwise) or node.op.scalar_op is not scalar.add:
        return None
    x, y = (_argument(z, scalar.exp) for z in node.inputs)
    return None if x is None or y is None or x.dtype != y.dtype else (x, y)


@dataclass(frozen=True, slots=True)
class _SumOfExponentials:
    """``sum(weights * exp(exponent), axes)``, with or without the axes summed over.

    ``aligned``: it broadcasts so that each exponential stands beside its own sum.
    """

    exponent: Variable
    weights: Variable | None
    axes: tuple[int, ...]
    kept: bool
    aligned: bool

    def shifted(self) -> tuple[Variable, Variable]:
        """The exponential and the sum, both divided by the largest exponential."""
        top = shift(self.exponent, self.axes, self.weights)
        kept = ExpandDims(self.axes)
        # Leading axes broadcast by themselves, but all must share one exponential.
        small = elemwise(scalar.exp, elemwise(scalar.sub, self.exponent, kept(top)))
        terms = small if self.weights is None else elemwise(scalar.mul, self.weights, small)
        total = Sum(self.axes)(terms)
        return small, kept(total) if self.kept else total


def _summed(f: Variable) -> _SumOfExponentials | None:
    node = f.owner
    kept = node is not None and isinstance(node.op, ExpandDims)
    total = node.inputs[0].owner if node is not None and kept else node
    if total is None or not isinstance(total.op, Sum):
        return None
    axes = total.op.axes
    if kept:
        assert node is not None
        aligned = node.op.axes == axes
    else:
        aligned = _is_leading(axes)
    (x,) = total.inputs
    weights, exponent = weighted(x)
    if exponent is None or is_shifted(exponent, axes):
        return None
    return _SumOfExponentials(exponent, weights, axes, kept, aligned)


def weighted(x: Variable) -> tuple[Variable | None, Variable | None]:
    """Return ``w`` (None for 1) and ``y`` if ``x`` is ``w * exp(y)``, else None twice.

    ``y`` has all dimensions of ``x``.
    """
    exponent = _argument(x, scalar.exp)
    if exponent is not None:
        return None, exponent
    node = x.owner
    if node is not None and isinstance(node.op, Elemwise) and node.op.scalar_op is scalar.mul:
        for weights, other in (node.inputs, node.inputs[::-1]):
            exponent = _argument(other, scalar.exp)
            whole = other.ndim == x.ndim and other.broadcastable == x.broadcastable
            if exponent is not None and whole and other.dtype == x.dtype == weights.dtype:
                return weights, exponent
    return None, None
