"""An order on terms that every rule of the phases lowers, so that no rewriting goes on for ever.

A term has a weight: a number, worked out from those of its operands by a function that grows with
each of them. So whatever stands around a part, the whole weighs less when the part does. Where two
terms weigh the same a second number decides, worked out in the same way. Weights are natural
numbers, so none can be lowered without end.

For a rule that is written as a law both sides are polynomials in the weights of its parameters,
and :func:`lowers` shows that the left one is the larger whatever these are. For one whose right
side is a function, and for what rules make of one another, terms are weighed at some points.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from operator import mul

from frazil import Constant, _core, scalar
from frazil.rewrite import Wildcard
from frazil.scalar.elemwise import Elemwise
from frazil.tensor.advanced_indexing import AdvancedSubtensor
from frazil.tensor.blas import Gemm, Gemv
from frazil.tensor.creation import Full
from frazil.tensor.dims import DropDims, ExpandDims
from frazil.tensor.lengths import Shape_i
from frazil.tensor.linalg.determinants import LogAbsDet
from frazil.tensor.products import BatchedDot, Dot
from frazil.tensor.reductions import Max, Prod, Reduce, Sum
from frazil.tensor.transposition import Transpose

LEAST = 3
"""What a constant weighs at least, and a variable."""


class Polynomial:
    """A polynomial with integer coefficients, by the powers of its variables."""

    def __init__(self, size, terms):
        self.size, self.terms = size, Counter()
        for powers, coefficient in terms:
            self.terms[powers] += coefficient

    @classmethod
    def variable(cls, at, size):
        return cls(size, [(tuple(int(i == at) for i in range(size)), 1)])

    def _of(self, other):
        if isinstance(other, Polynomial):
            return other
        return Polynomial(self.size, [((0,) * self.size, other)])

    def __add__(self, other):
        return Polynomial(self.size, [*self.terms.items(), *self._of(other).terms.items()])

    def __mul__(self, other):
        return Polynomial(
            self.size,
            [
                (tuple(map(sum, zip(p, q, strict=True))), c * d)
                for p, c in self.terms.items()
                for q, d in self._of(other).terms.items()
            ],
        )

    def __pow__(self, exponent):
        return reduce(mul, [self] * exponent)

    def __sub__(self, other):
        return self + -1 * self._of(other)

    def __rsub__(self, other):
        return other + -1 * self

    __radd__, __rmul__ = __add__, __mul__

    def is_positive(self):
        """Whether it is above 0 wherever no variable is below 0, as its coefficients show."""
        return self.is_never_negative() and self.terms[(0,) * self.size] > 0

    def is_never_negative(self):
        return all(coefficient >= 0 for coefficient in self.terms.values())


BINARY: dict[str, Callable] = {
    "mul": lambda x, y: x * y,
    "truediv": lambda x, y: x * y**3,
    "pow": lambda x, y: x**17 * y,
    "gt": lambda x, y: 2 * x + 2 * y + 2,
    "ge": lambda x, y: 2 * x + 2 * y + 2,
    "lt": lambda x, y: 2 * x + 2 * y + 1,
    "le": lambda x, y: 2 * x + 2 * y + 1,
    "eq": lambda x, y: 2 * x + 2 * y + 1,
    "neq": lambda x, y: 2 * x + 2 * y + 1,
    "and": lambda x, y: x + y + 2,
    "or": lambda x, y: x + y + 2,
    "xor": lambda x, y: x + y + 2,
    "second": lambda x, y: x + y + -1,
}
UNARY: dict[str, Callable] = {
    "neg": lambda x: x + 1,
    "invert": lambda x: x + 1,
    "identity": lambda x: x + 1,
    "expm1": lambda x: x + 20,
    "sigmoid": lambda x: x + 20,
    "softplus": lambda x: x + 2,
    "abs": lambda x: x + 1,
    "sign": lambda x: 8 * x + 2,
    "sqr": lambda x: x * x + -1,
    "reciprocal": lambda x: x**3,
    "log": lambda x: x**3,
    "erf": lambda x: 40 * x + 40,
    "erfc": lambda x: 40 * x,
    "isnan": lambda x: 3 * x + 3,
    "isinf": lambda x: 3 * x + 3,
    "isfinite": lambda x: 3 * x + 3,
}


def of_elementwise(op, weights):
    """The weight of an elementwise application."""
    name = op.table_name or op.name
    if name.startswith("cast"):
        return weights[0] + 1
    if len(weights) == 1:
        return UNARY.get(name, lambda x: 2 * x + 2)(*weights)
    if len(weights) == 2 and name in BINARY:
        return BINARY[name](*weights)
    return sum(weights[1:], weights[0]) + 1


def takes_a_maximum(x):
    """Whether ``x`` is something less what its maximum says.

    Then the second is made of the first, and is not weighed: as parts are rewritten before what
    they are parts of, it does not change any more. An exponential of that weighs less than others.
    """
    node = x.owner
    if node is None or not isinstance(node.op, Elemwise) or node.op.scalar_op is not scalar.sub:
        return False
    whole, pending = node.inputs[0], [node.inputs[1]]
    while pending:
        y = pending.pop()
        match y.owner and y.owner.op:
            case Max():
                return y is not whole and base(y) is base(whole)
            case ExpandDims():
                pending += y.owner.inputs
            case Elemwise(op) if op in IN_SHIFTS:
                pending += y.owner.inputs
    return False


IN_SHIFTS = (scalar.where, scalar.isinf, scalar.isfinite, scalar.sub)
IN_SHIFTS = (*IN_SHIFTS, scalar.minimum, scalar.maximum)
"""Of what a shift is made of a maximum."""


def base(x):
    """What ``x`` is a view, a maximum or some elements of."""
    while x.owner is not None:
        match x.owner.op:
            case ExpandDims() | DropDims() | Transpose() | Max():
                (x,) = x.owner.inputs
            case Elemwise(op) if op is scalar.where:
                x = x.owner.inputs[1]
            case _:
                break
    return x


def of_other(node, weights):
    """The weight of an application of any other op."""
    match node.op:
        case Sum():
            return weights[0] ** 6
        case Prod():
            return 2 * weights[0] ** 7
        case Reduce():
            return 2 * weights[0] + 1
        case ExpandDims(axes) | DropDims(axes):
            return weights[0] + len(axes)
        case Transpose() | Shape_i():
            return weights[0] + 1
        case Dot() | BatchedDot():
            return (weights[0] + 3) * (weights[1] + 3)
        case Gemm() | Gemv():
            return sum(weights[1:], weights[0]) + 1
        case Full():
            return 2 * product((w + 2) ** 8 for w in weights)
        case LogAbsDet():
            return product((w + 2) ** 160 for w in weights)
        case AdvancedSubtensor():
            picked, *indices = weights
            return picked ** picked.bit_length() * product(w + 1 for w in indices)
    return product((w + 2) ** 8 for w in weights) if weights else LEAST


def product(weights):
    return reduce(mul, weights)


def is_small(x):
    """Whether constant folding makes a constant of ``x``."""
    return all(n is not None and n < 32 for n in x.type.shape)


def least(x):
    """What a constant weighs: a number in dimensions of length 1 more than the number itself."""
    return LEAST + (x.ndim if all(n == 1 for n in x.type.shape) else 0)


def second_of(node, weights):
    """The second number: how many operations there are, fewer below added dimensions."""
    if isinstance(node.op, ExpandDims):
        return weights[0] + 1
    return 2 * sum(weights) + 3


class Scale:
    """Weighs terms over inputs that weigh what ``leaves`` says.

    ``choice`` says which ops wildcards stand for. ``known`` inputs stand for constants.
    """

    def __init__(self, leaves, choice, known=()):
        self.leaves, self.choice = leaves, choice
        self.weights = {}
        self.constants = set(known)

    def weigh(self, x):
        """Both numbers of ``x``."""
        pending = [x]
        while pending:
            node = pending[-1].owner
            missing = [] if node is None else [y for y in node.inputs if self._lacks(y)]
            if node is not None and not missing and self._lacks(node.outputs[0]):
                self.weights.update(dict.fromkeys(node.outputs, self._of(node)))
            if missing:
                pending += missing
            else:
                pending.pop()
        return self._operand(x)

    def _lacks(self, x):
        return x.owner is not None and x not in self.weights

    def _operand(self, x):
        if x.owner is not None:
            return self.weights[x]
        return (least(x), 1) if self._is_constant(x) else self.leaves[x]

    def _is_constant(self, x):
        return isinstance(x, Constant) or x in self.constants

    def _of(self, node):
        if all(map(self._is_constant, node.inputs)) and is_small(node.outputs[0]):
            # It is folded, so it weighs no more than what it becomes, but counts.
            self.constants.update(node.outputs)
            return least(node.outputs[0]), 2
        op = node.op
        if isinstance(op, Wildcard):
            op = op.stands_for[self.choice.get(op, 0)]
        weights = [self._operand(y) for y in node.inputs]
        firsts, seconds = [w[0] for w in weights], [w[1] for w in weights]
        if takes_a_maximum(node.outputs[0]):
            return firsts[0], second_of(node, seconds)
        if isinstance(op, Elemwise) and op.scalar_op is scalar.exp:
            more = 19 if takes_a_maximum(node.inputs[0]) else 20
            return firsts[0] + more, second_of(node, seconds)
        if isinstance(op, Elemwise):
            return of_elementwise(op.scalar_op, firsts), second_of(node, seconds)
        return of_other(node, firsts), second_of(node, seconds)


class AtPoints:
    """Weighs terms over inputs that weigh this and that."""

    def __init__(self):
        self.inputs = {}
        points = (lambda at: 3, lambda at: 3 + at % 7, lambda at: 12)
        self.scales = [Scale(Leaves(self.inputs, point), {}) for point in points]

    def lowers(self, before, after):
        """Whether ``after`` weighs less than ``before`` at each of the points."""
        return all(scale.weigh(after) < scale.weigh(before) for scale in self.scales)


@dataclass
class Leaves:
    """Weights of inputs by their numbers."""

    numbers: dict
    point: Callable[[int], int]

    def __getitem__(self, x):
        at = self.numbers.setdefault(x, len(self.numbers))
        return self.point(at), self.point(at)


def is_lowered_everywhere(before, after, choice, known):
    """Whether ``after`` weighs less than ``before`` whatever their variables weigh."""
    inputs = list(_core.root_inputs([before, after]))
    variables = [Polynomial.variable(at, len(inputs)) for at in range(len(inputs))]
    leaves = {x: (v + LEAST, v + 1) for x, v in zip(inputs, variables, strict=True)}
    scale = Scale(leaves, choice, known)
    zero = Polynomial(len(inputs), [])
    (a, a2), (b, b2) = scale.weigh(before), scale.weigh(after)
    first, second = zero + a - b, zero + a2 - b2
    return first.is_positive() or (first.is_never_negative() and second.is_positive())
