"""Factors of products that overflow or vanish where the product does not, and how they cancel.

The gradient of ``log(1 + exp(x))`` is ``1 / (1 + exp(x)) * exp(x)``, which is 0 * inf for large
``x``. Such factors - exponentials, logistic functions, sums of exponentials - may stand far apart
in a product, and in all terms of a sum. :func:`cancelled` gathers them and cancels what does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from frazil import scalar
from frazil._core import Constant, FrozenApply, Variable, elemwise
from frazil.elemwise import Elemwise
from frazil.rewrite.shift import is_shifted, shift
from frazil.scalar import ScalarOp
from frazil.tensor.constants import constant
from frazil.tensor.dims import ExpandDims
from frazil.tensor.reductions import Sum

MAX_NODES = 64
"""Operations of one expression that are looked at."""

Powers = dict[Variable, int]
"""Factors that may overflow or vanish, and how often each occurs; below zero: in a denominator."""


@dataclass(slots=True)
class Product:
    """``rest`` (1 if it is None) times powers of factors."""

    powers: Powers = field(default_factory=dict)
    rest: Variable | None = None


def cancelled(x: Variable) -> Variable | None:
    """Return ``x``, a product or quotient, without factors that cancel; None if there are none.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> from frazil.printing import pp
    >>> from frazil.rewrite.factors import cancelled
    >>> x, y = ft.vector("x"), ft.vector("y")
    >>> pp(cancelled(y / (1 + ft.exp(x)) * ft.exp(x)))
    'y * sigmoid(x)'
    """
    search = _Search(x)
    product = search.product(x)
    powers = _met(product.powers)
    if powers is None and not search.met:
        return None
    result = _built(Product(product.powers if powers is None else powers, product.rest))
    if result is None:
        result = _constant_like(1.0, x)
    return _in_shape_of(x, result)


def _in_shape_of(x: Variable, value: Variable) -> Variable | None:
    """``value``, which broadcasts to the shape of ``x``, in it; None if no argument has it."""
    if value.type == x.type:
        return value
    assert x.owner is not None
    # The argument of what cancels is needed anyhow, or is cheaper at least.
    operands = sorted(x.owner.inputs, key=lambda y: _as_factor(y) is None)
    arguments = [y for x in operands if x.owner is not None for y in x.owner.inputs]
    for like in (*arguments, *operands):
        if like.type == x.type:
            return elemwise(scalar.second, like, value)
    return None


class _Search:
    """Takes expressions apart.

    ``met`` says whether factors met their reciprocals, ``sought`` what the operands of the root
    would meet. A sum gives what is sought in any of its terms, else what is in all.
    """

    def __init__(self, root: Variable) -> None:
        self.left = MAX_NODES
        self.met = False
        self.sought: Powers = {}
        assert root.owner is not None
        for x in root.owner.inputs:
            if (exponent := _argument(x, scalar.exp)) is not None:
                self.sought[elemwise(scalar.exp, negated(exponent))] = 1
            elif _argument(x, scalar.sigmoid) is not None:
                self.sought[x] = -1

    def product(self, x: Variable) -> Product:
        """``x`` as a product, as far as it is one."""
        powers = _as_factor(x)
        if powers is not None:
            return Product(powers)
        node = x.owner
        self.left -= 1
        if node is not None and self.left > 0:
            before, self.met = self.met, False
            found = self._of_node(node)
            known = found is not None and (found.powers or self.met)
            self.met |= before
            if found is not None and known:
                return found
        return Product({}, x)

    def _of_node(self, node: FrozenApply) -> Product | None:
        match node.op:
            case Elemwise(op):
                return self._of_elementwise(op, node)
            case ExpandDims() as op:
                inner = self.product(node.inputs[0])
                ndim = node.inputs[0].ndim
                if any(f.ndim not in (0, ndim) for f in inner.powers):
                    return None
                powers = {
                    f if not f.ndim or _is_leading(op.axes) else op(f): n
                    for f, n in inner.powers.items()
                }
                return Product(powers, None if inner.rest is None else op(inner.rest))
            case Sum(axes):
                inner = self.product(node.inputs[0])
                out: Powers = {}
                within: Powers = {}
                for f, n in inner.powers.items():
                    if f.ndim == 0:
                        out[f] = n
                    elif f.owner is not None and f.owner.op is ExpandDims(axes):
                        out[f.owner.inputs[0]] = n
                    elif _is_leading(axes) and f.ndim == node.outputs[0].ndim:
                        out[f] = n
                    else:
                        within[f] = n
                rest = _built(Product(within, inner.rest))
                if not out or rest is None or rest.ndim != node.inputs[0].ndim:
                    return None
                return Product(out, node.op(rest))
        return None

    def _of_elementwise(self, op: ScalarOp, node: FrozenApply) -> Product | None:
        dtype = node.outputs[0].dtype
        if any(x.dtype != dtype for x in node.inputs):
            return None
        inputs = node.inputs
        match op.table_name:
            case "mul":
                a, b = map(self.product, inputs)
                return Product(self._merged(a.powers, b.powers, 1), _times(a.rest, b.rest))
            case "truediv":
                a, b = map(self.product, inputs)
                return Product(self._merged(a.powers, b.powers, -1), _over(a.rest, b.rest))
            case "neg":
                inner = self.product(inputs[0])
                sign = _constant_like(1.0, inputs[0]) if inner.rest is None else inner.rest
                return Product(inner.powers, elemwise(scalar.neg, sign))
            case "reciprocal":
                inner = self.product(inputs[0])
                below = inner.rest
                rest = None if below is None else elemwise(scalar.reciprocal, below)
                return Product(_normal({f: -n for f, n in inner.powers.items()}), rest)
            case "sqr":
                inner = self.product(inputs[0])
                rest = None if inner.rest is None else elemwise(scalar.sqr, inner.rest)
                return Product({f: 2 * n for f, n in inner.powers.items()}, rest)
            case "add" | "sub":
                a, b = map(self.product, inputs)
                common = {
                    f: min(n, b.powers[f], key=abs)
                    for f, n in a.powers.items()
                    if n * b.powers.get(f, 0) > 0
                }
                for f, n in self.sought.items():
                    if f not in common and (
                        a.powers.get(f, 0) * n > 0 or b.powers.get(f, 0) * n > 0
                    ):
                        common[f] = n
                if not common:
                    return None
                terms = [_built(_without(term, common)) for term in (a, b)]
                one = _constant_like(1.0, inputs[0])
                first, second = (one if term is None else term for term in terms)
                return Product(common, elemwise(op, first, second))
        return None

    def _merged(self, a: Powers, b: Powers, sign: int) -> Powers:
        merged = dict(a)
        for f, n in _normal({f: sign * n for f, n in b.items()}).items():
            before = merged.pop(f, 0)
            self.met |= before * n < 0
            if before + n:
                merged[f] = before + n
        return merged


def _as_factor(x: Variable) -> Powers | None:
    """``x`` as a power of a factor that may overflow or vanish, if it is one."""
    if x.type.numpy_dtype.kind != "f":
        return None
    if any(_argument(x, op) is not None for op in (scalar.exp, scalar.sigmoid, scalar.erfc)):
        return {x: 1}
    if _exponent_beside_one(x) is not None or _pair(x) is not None:
        return {x: 1}
    if _summed(x) is not None:
        node = x.owner
        # In front, dimensions come by themselves: one form for both.
        kept = node is not None and isinstance(node.op, ExpandDims) and _is_leading(node.op.axes)
        return {node.inputs[0]: 1} if node is not None and kept else {x: 1}
    return None


def _is_leading(axes: tuple[int, ...]) -> bool:
    return axes == tuple(range(len(axes)))


def _normal(powers: Powers) -> Powers:
    """1 / exp(x) is exp(-x), 1 / (1 + exp(x)) is sigmoid(-x)."""
    normal: Powers = {}
    for f, n in powers.items():
        if n < 0 and (x := _argument(f, scalar.exp)) is not None:
            f, n = elemwise(scalar.exp, negated(x)), -n
        elif n < 0 and (x := _exponent_beside_one(f)) is not None:
            f, n = elemwise(scalar.sigmoid, negated(x)), -n
        normal[f] = normal.get(f, 0) + n
    return normal


def _met(powers: Mapping[Variable, int]) -> Powers | None:
    """What is left after factors that belong together have met; None if none have."""
    left = dict(powers)
    done = False

    def move(f: Variable, count: int) -> None:
        after = left.get(f, 0) + count
        if after:
            left[f] = after
        else:
            left.pop(f, None)

    for f in powers:
        x = _argument(f, scalar.exp)
        if x is None or left.get(f, 0) <= 0:
            continue
        # exp(x) exp(-x) == 1
        inverse = elemwise(scalar.exp, negated(x))
        count = min(left[f], left.get(inverse, 0))
        if count > 0:
            move(f, -count)
            move(inverse, -count)
            done = True
        # exp(x) sigmoid(-x) == sigmoid(x)
        mirrored = elemwise(scalar.sigmoid, negated(x))
        count = min(left.get(f, 0), left.get(mirrored, 0))
        if count > 0:
            move(f, -count)
            move(mirrored, -count)
            move(elemwise(scalar.sigmoid, x), count)
            done = True
        # exp(x) / (exp(x) + exp(y)) == sigmoid(x - y)
        for pair in powers:
            others = _pair(pair)
            if others is None or x not in others:
                continue
            count = min(left.get(f, 0), -left.get(pair, 0))
            if count > 0:
                y = others[1] if others[0] is x else others[0]
                move(f, -count)
                move(pair, count)
                move(elemwise(scalar.sigmoid, elemwise(scalar.sub, x, y)), count)
                done = True
        # exp(x) / sum(exp(x)), with the largest x taken from each
        for total in powers:
            summed = _summed(total)
            if summed is None or not summed.aligned or summed.exponent is not x:
                continue
            count = min(left.get(f, 0), -left.get(total, 0))
            if count > 0:
                move(f, -count)
                move(total, count)
                numerator, denominator = summed.shifted()
                move(numerator, count)
                move(denominator, -count)
                done = True
    for f in powers:
        # exp(-x**2) / erfc(x) == 1 / erfcx(x)
        x = _argument(f, scalar.erfc)
        if x is not None:
            inner = _argument(x, scalar.neg)
            square = elemwise(scalar.sqr, x if inner is None else inner)
            bell = elemwise(scalar.exp, negated(square))
            count = min(left.get(bell, 0), -left.get(f, 0))
            if count > 0:
                move(bell, -count)
                move(f, count)
                move(elemwise(scalar.erfcx, x), -count)
                done = True
    for f in powers:
        # (1 + exp(x)) sigmoid(-x) == 1
        x = _exponent_beside_one(f)
        if x is not None:
            mirrored = elemwise(scalar.sigmoid, negated(x))
            count = min(left.get(f, 0), left.get(mirrored, 0))
            if count > 0:
                move(f, -count)
                move(mirrored, -count)
                done = True
    return left if done else None


def negated(x: Variable) -> Variable:
    """Return ``-x``, without a sign before a sign."""
    inner = _argument(x, scalar.neg)
    return elemwise(scalar.neg, x) if inner is None else inner


def _argument(x: Variable, op: ScalarOp) -> Variable | None:
    """What ``op`` is applied to in ``x``, if it is."""
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

    ``aligned``: it broadcasts so that each exponential meets the sum that it is in.
    """

    exponent: Variable
    weights: Variable | None
    axes: tuple[int, ...]
    kept: bool
    aligned: bool

    def shifted(self) -> tuple[Variable, Variable]:
        """The exponential and the sum, both divided by the largest exponential."""
        top = shift(self.exponent, self.axes)
        kept = ExpandDims(self.axes)
        # Leading axes that are gone align by themselves, and all must share one exponential.
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
    """Return ``w`` (None for 1) and ``y`` of ``x`` where it is ``w * exp(y)``, else None twice.

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


def _without(term: Product, common: Mapping[Variable, int]) -> Product:
    powers = dict(term.powers)
    for f, n in common.items():
        powers[f] = powers.get(f, 0) - n
    return Product(_normal({f: n for f, n in powers.items() if n}), term.rest)


def _built(product: Product) -> Variable | None:
    """The variable that ``product`` says; None for 1."""
    above, below = product.rest, None
    for f, n in product.powers.items():
        power = f
        for _ in range(abs(n) - 1):
            power = elemwise(scalar.mul, power, f)
        if n > 0:
            above = _times(above, power)
        else:
            below = _times(below, power)
    return _over(above, below)


def _times(a: Variable | None, b: Variable | None) -> Variable | None:
    if a is None or b is None:
        return b if a is None else a
    return elemwise(scalar.mul, a, b)


def _over(a: Variable | None, b: Variable | None) -> Variable | None:
    if b is None:
        return a
    return elemwise(scalar.reciprocal, b) if a is None else elemwise(scalar.truediv, a, b)


def _constant_like(value: float, like: Variable) -> Variable:
    return constant(value, like.dtype)
