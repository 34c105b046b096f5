"""Functions that work element by element.

Each applies one scalar op. Operands of unequal rank align at their last dimensions, as in NumPy; a
dimension broadcasts where the type says that its length is 1.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from frazil import scalar
from frazil._core import Variable, elemwise
from frazil.scalar import ScalarOp
from frazil.tensor.constants import TensorLike, as_operand, as_tensor


class Unary(Protocol):
    """A function of one tensor."""

    def __call__(self, x: TensorLike, /) -> Variable: ...


class Binary(Protocol):
    """A function of two tensors."""

    def __call__(self, x1: TensorLike, x2: TensorLike, /) -> Variable: ...


_RESULT_DTYPE = {
    "arithmetic": "the dtype that the operands promote to by NumPy's rules",
    "arithmetic_no_bool": "the dtype that the operands promote to by NumPy's rules",
    "floor": "the dtype that the operands promote to by NumPy's rules; int8 for bool",
    "float": "floating operands keep their dtype; bool and integers of 8 and 16 bits give float32, "
    "wider ones float64",
    "division": "floating operands keep their dtype, bool and integers give float64",
    "comparison": "bool",
    "predicate": "bool",
    "bitwise": "the dtype that the operands, bool or integers, promote to; floating ones raise "
    "TypeError",
}

_DOCSTRING = """Return {summary}.

Parameters
----------
{parameters} : tensor_like
    {operands}

Returns
-------
Variable
    {shape} Data type: {dtype}.

See Also
--------
{follows} : the function that this one follows.

Examples
--------
>>> import frazil.tensor as ft
>>> ft.{name}({example}).eval()
{gives}
"""


def _unary(
    name: str, op: ScalarOp, summary: str, *, follows: str, example: str, gives: str
) -> Unary:
    def function(x: TensorLike, /) -> Variable:
        return elemwise(op, as_operand(x))

    function.__doc__ = _DOCSTRING.format(
        summary=summary,
        parameters="x",
        operands="Any tensor.",
        shape="Of the shape of ``x``.",
        dtype=_RESULT_DTYPE[op.rule],
        follows=follows,
        name=name,
        example=example,
        gives=gives,
    )
    function.__name__ = function.__qualname__ = name
    return function


def _binary(
    name: str, op: ScalarOp, summary: str, *, follows: str, example: str, gives: str
) -> Binary:
    def function(x1: TensorLike, x2: TensorLike, /) -> Variable:
        return elemwise(op, as_operand(x1), as_operand(x2))

    function.__doc__ = _DOCSTRING.format(
        summary=summary,
        parameters="x1, x2",
        operands="Tensors whose shapes broadcast. Python numbers take the dtype of the other.",
        shape="Of the shape that the operands broadcast to.",
        dtype=_RESULT_DTYPE[op.rule],
        follows=follows,
        name=name,
        example=example,
        gives=gives,
    )
    function.__name__ = function.__qualname__ = name
    return function


# NumPy's and the Array API's names come first, PyTensor's are their aliases.

# Arithmetic

add = _binary(
    "add",
    scalar.add,
    "the sum ``x1 + x2``",
    follows="numpy.add",
    example="[1.0, 2.0], [3.0, 4.0]",
    gives="array([4., 6.])",
)
subtract = _binary(
    "subtract",
    scalar.sub,
    "the difference ``x1 - x2``; bool raises TypeError",
    follows="numpy.subtract",
    example="[1.0, 2.0], [3.0, 5.0]",
    gives="array([-2., -3.])",
)
multiply = _binary(
    "multiply",
    scalar.mul,
    "the product ``x1 * x2``",
    follows="numpy.multiply",
    example="[1.0, 2.0], [3.0, 4.0]",
    gives="array([3., 8.])",
)
divide = _binary(
    "divide",
    scalar.truediv,
    "the quotient ``x1 / x2``",
    follows="numpy.divide",
    example="[1.0, 2.0], [2.0, 4.0]",
    gives="array([0.5, 0.5])",
)
floor_divide = _binary(
    "floor_divide",
    scalar.floordiv,
    "the quotient rounded down, ``x1 // x2``; its gradient is zero",
    follows="numpy.floor_divide",
    example="[7.0, -7.0], [2.0, 2.0]",
    gives="array([ 3., -4.])",
)
remainder = _binary(
    "remainder",
    scalar.mod,
    "the remainder ``x1 % x2``, which has the sign of ``x2``",
    follows="numpy.remainder",
    example="[7.0, -7.0], [3.0, 3.0]",
    gives="array([1., 2.])",
)
power = _binary(
    "power",
    scalar.pow,
    "the power ``x1 ** x2``",
    follows="numpy.power",
    example="[2.0, 3.0], [3.0, 2.0]",
    gives="array([8., 9.])",
)
negative = _unary(
    "negative",
    scalar.neg,
    "the negative ``-x``; bool raises TypeError",
    follows="numpy.negative",
    example="[1.0, -2.0]",
    gives="array([-1.,  2.])",
)
reciprocal = _unary(
    "reciprocal",
    scalar.reciprocal,
    "``1 / x``, a floating-point number for integers too",
    follows="numpy.reciprocal",
    example="[2.0, 4.0]",
    gives="array([0.5 , 0.25])",
)
square = _unary(
    "square",
    scalar.sqr,
    "the square ``x * x``",
    follows="numpy.square",
    example="[2.0, 3.0]",
    gives="array([4., 9.])",
)
sqrt = _unary(
    "sqrt",
    scalar.sqrt,
    "the square root",
    follows="numpy.sqrt",
    example="[4.0, 9.0]",
    gives="array([2., 3.])",
)
absolute = _unary(
    "absolute",
    scalar.abs,
    "the absolute value",
    follows="numpy.absolute",
    example="[1.0, -2.0]",
    gives="array([1., 2.])",
)
sign = _unary(
    "sign",
    scalar.sign,
    "-1, 0 or 1, as the number is negative, zero or positive; its gradient is zero",
    follows="numpy.sign",
    example="[3.0, -2.0, 0.0]",
    gives="array([ 1., -1.,  0.])",
)
minimum = _binary(
    "minimum",
    scalar.minimum,
    "the smaller of two numbers; NaN if either is",
    follows="numpy.minimum",
    example="[1.0, 4.0], [3.0, 2.0]",
    gives="array([1., 2.])",
)
maximum = _binary(
    "maximum",
    scalar.maximum,
    "the larger of two numbers; NaN if either is",
    follows="numpy.maximum",
    example="[1.0, 4.0], [3.0, 2.0]",
    gives="array([3., 4.])",
)
floor = _unary(
    "floor",
    scalar.floor,
    "the largest integer that is not larger; its gradient is zero",
    follows="numpy.floor",
    example="[1.5, -1.5]",
    gives="array([ 1., -2.])",
)
ceil = _unary(
    "ceil",
    scalar.ceil,
    "the smallest integer that is not smaller; its gradient is zero",
    follows="numpy.ceil",
    example="[1.5, -1.5]",
    gives="array([ 2., -1.])",
)
trunc = _unary(
    "trunc",
    scalar.trunc,
    "the number without its fraction; its gradient is zero",
    follows="numpy.trunc",
    example="[1.5, -1.5]",
    gives="array([ 1., -1.])",
)
rint = _unary(
    "rint",
    scalar.rint,
    "the nearest integer, the even one of two; its gradient is zero",
    follows="numpy.rint",
    example="[1.4, 2.5]",
    gives="array([1., 2.])",
)
sub = subtract
mul = multiply
true_divide = divide
true_div = divide
floor_div = floor_divide
int_div = floor_divide
mod = remainder
pow = power
neg = negative
sqr = square
abs = absolute
sgn = sign
round = rint

# Exponentials and logarithms

exp = _unary(
    "exp",
    scalar.exp,
    "e to the power of each element",
    follows="numpy.exp",
    example="[0.0, 1.0]",
    gives="array([1.        , 2.71828183])",
)
exp2 = _unary(
    "exp2",
    scalar.exp2,
    "2 to the power of each element",
    follows="numpy.exp2",
    example="[0.0, 3.0]",
    gives="array([1., 8.])",
)
expm1 = _unary(
    "expm1",
    scalar.expm1,
    "``exp(x) - 1``, precise near 0",
    follows="numpy.expm1",
    example="[0.0, 1.0]",
    gives="array([0.        , 1.71828183])",
)
log = _unary(
    "log",
    scalar.log,
    "the natural logarithm",
    follows="numpy.log",
    example="[1.0, 2.0]",
    gives="array([0.        , 0.69314718])",
)
log2 = _unary(
    "log2",
    scalar.log2,
    "the logarithm to base 2",
    follows="numpy.log2",
    example="[1.0, 8.0]",
    gives="array([0., 3.])",
)
log10 = _unary(
    "log10",
    scalar.log10,
    "the logarithm to base 10",
    follows="numpy.log10",
    example="[1.0, 100.0]",
    gives="array([0., 2.])",
)
log1p = _unary(
    "log1p",
    scalar.log1p,
    "``log(1 + x)``, precise near 0",
    follows="numpy.log1p",
    example="[0.0, 1.0]",
    gives="array([0.        , 0.69314718])",
)
logaddexp = _binary(
    "logaddexp",
    scalar.logaddexp,
    "``log(exp(x1) + exp(x2))``, without overflow",
    follows="numpy.logaddexp",
    example="[0.0, 1.0], [0.0, 1.0]",
    gives="array([0.69314718, 1.69314718])",
)

# Circular and hyperbolic functions

sin = _unary(
    "sin",
    scalar.sin,
    "the sine",
    follows="numpy.sin",
    example="[0.0, 1.0]",
    gives="array([0.        , 0.84147098])",
)
cos = _unary(
    "cos",
    scalar.cos,
    "the cosine",
    follows="numpy.cos",
    example="[0.0, 1.0]",
    gives="array([1.        , 0.54030231])",
)
tan = _unary(
    "tan",
    scalar.tan,
    "the tangent",
    follows="numpy.tan",
    example="[0.0, 1.0]",
    gives="array([0.        , 1.55740772])",
)
arcsin = _unary(
    "arcsin",
    scalar.arcsin,
    "the inverse sine",
    follows="numpy.arcsin",
    example="[0.0, 1.0]",
    gives="array([0.        , 1.57079633])",
)
arccos = _unary(
    "arccos",
    scalar.arccos,
    "the inverse cosine",
    follows="numpy.arccos",
    example="[0.5, 1.0]",
    gives="array([1.04719755, 0.        ])",
)
arctan = _unary(
    "arctan",
    scalar.arctan,
    "the inverse tangent",
    follows="numpy.arctan",
    example="[0.0, 1.0]",
    gives="array([0.        , 0.78539816])",
)
arctan2 = _binary(
    "arctan2",
    scalar.arctan2,
    "the angle of the point ``(x2, x1)``",
    follows="numpy.arctan2",
    example="[0.0, 1.0], [1.0, 1.0]",
    gives="array([0.        , 0.78539816])",
)
sinh = _unary(
    "sinh",
    scalar.sinh,
    "the hyperbolic sine",
    follows="numpy.sinh",
    example="[0.0, 1.0]",
    gives="array([0.        , 1.17520119])",
)
cosh = _unary(
    "cosh",
    scalar.cosh,
    "the hyperbolic cosine",
    follows="numpy.cosh",
    example="[0.0, 1.0]",
    gives="array([1.        , 1.54308063])",
)
tanh = _unary(
    "tanh",
    scalar.tanh,
    "the hyperbolic tangent",
    follows="numpy.tanh",
    example="[0.0, 1.0]",
    gives="array([0.        , 0.76159416])",
)
arcsinh = _unary(
    "arcsinh",
    scalar.arcsinh,
    "the inverse hyperbolic sine",
    follows="numpy.arcsinh",
    example="[0.0, 1.0]",
    gives="array([0.        , 0.88137359])",
)
arccosh = _unary(
    "arccosh",
    scalar.arccosh,
    "the inverse hyperbolic cosine",
    follows="numpy.arccosh",
    example="[1.0, 2.0]",
    gives="array([0.       , 1.3169579])",
)
arctanh = _unary(
    "arctanh",
    scalar.arctanh,
    "the inverse hyperbolic tangent",
    follows="numpy.arctanh",
    example="[0.0, 0.5]",
    gives="array([0.        , 0.54930614])",
)
asin = arcsin
acos = arccos
atan = arctan
atan2 = arctan2
asinh = arcsinh
acosh = arccosh
atanh = arctanh

# Special functions

sigmoid = _unary(
    "sigmoid",
    scalar.sigmoid,
    "the logistic function ``1 / (1 + exp(-x))``",
    follows="scipy.special.expit",
    example="[0.0, 2.0]",
    gives="array([0.5       , 0.88079708])",
)
softplus = _unary(
    "softplus",
    scalar.softplus,
    "``log(1 + exp(x))``, without overflow",
    follows="numpy.logaddexp",
    example="[0.0, 2.0]",
    gives="array([0.69314718, 2.12692801])",
)
log_sigmoid = _unary(
    "log_sigmoid",
    scalar.log_sigmoid,
    "the logarithm of the logistic function",
    follows="scipy.special.log_expit",
    example="[0.0, 2.0]",
    gives="array([-0.69314718, -0.12692801])",
)
erf = _unary(
    "erf",
    scalar.erf,
    "the error function",
    follows="scipy.special.erf",
    example="[0.0, 1.0]",
    gives="array([0.        , 0.84270079])",
)
erfc = _unary(
    "erfc",
    scalar.erfc,
    "``1 - erf(x)``, precise where that is near 0",
    follows="scipy.special.erfc",
    example="[0.0, 1.0]",
    gives="array([1.        , 0.15729921])",
)
gammaln = _unary(
    "gammaln",
    scalar.gammaln,
    "the logarithm of the absolute value of the gamma function",
    follows="scipy.special.gammaln",
    example="[1.0, 5.0]",
    gives="array([0.        , 3.17805383])",
)
psi = _unary(
    "psi",
    scalar.psi,
    "the derivative of :func:`gammaln`",
    follows="scipy.special.psi",
    example="[1.0, 2.0]",
    gives="array([-0.57721566,  0.42278434])",
)
tri_gamma = _unary(
    "tri_gamma",
    scalar.tri_gamma,
    "the derivative of :func:`psi`",
    follows="scipy.special.polygamma",
    example="[1.0, 2.0]",
    gives="array([1.64493407, 0.64493407])",
)


def polygamma(n: TensorLike, x: TensorLike) -> Variable:
    """Return the derivative of order ``n`` of :func:`digamma`, elementwise.

    Parameters
    ----------
    n : tensor_like
        The order: integers, 0 for digamma itself. Where it is negative, the result is NaN. It has
        no gradient.
    x : tensor_like
        A tensor whose shape broadcasts with that of ``n``.

    Returns
    -------
    Variable
        Of the shape that the operands broadcast to, and the float dtype that holds their common
        dtype. At a pole it is infinite, with the sign that it has right of the pole.

    See Also
    --------
    scipy.special.polygamma : The same for arrays.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.polygamma([1, 2], 1.0).eval()
    array([ 1.64493407, -2.40411381])
    """
    if as_tensor(n).dtype.startswith("float"):
        raise TypeError(
            f"the order of a polygamma function must be of integers, given {n!r}; "
            "use ft.cast(n, 'int64')"
        )
    return elemwise(scalar.polygamma, as_operand(n), as_tensor(x))


expit = sigmoid
log_expit = log_sigmoid
loggamma = gammaln
digamma = psi

# Comparisons and predicates

equal = _binary(
    "equal",
    scalar.eq,
    "whether ``x1`` is equal to ``x2``. (``x1 == x2`` is whether they are one variable)",
    follows="numpy.equal",
    example="[1, 2], [1, 3]",
    gives="array([ True, False])",
)
not_equal = _binary(
    "not_equal",
    scalar.neq,
    "whether ``x1`` differs from ``x2``",
    follows="numpy.not_equal",
    example="[1, 2], [1, 3]",
    gives="array([False,  True])",
)
less = _binary(
    "less",
    scalar.lt,
    "whether ``x1 < x2``",
    follows="numpy.less",
    example="[1, 2], [2, 2]",
    gives="array([ True, False])",
)
less_equal = _binary(
    "less_equal",
    scalar.le,
    "whether ``x1 <= x2``",
    follows="numpy.less_equal",
    example="[1, 3], [2, 2]",
    gives="array([ True, False])",
)
greater = _binary(
    "greater",
    scalar.gt,
    "whether ``x1 > x2``",
    follows="numpy.greater",
    example="[1, 3], [2, 2]",
    gives="array([False,  True])",
)
greater_equal = _binary(
    "greater_equal",
    scalar.ge,
    "whether ``x1 >= x2``",
    follows="numpy.greater_equal",
    example="[1, 2], [2, 2]",
    gives="array([False,  True])",
)
isnan = _unary(
    "isnan",
    scalar.isnan,
    "whether the number is NaN",
    follows="numpy.isnan",
    example="[1.0, float('nan')]",
    gives="array([False,  True])",
)
isinf = _unary(
    "isinf",
    scalar.isinf,
    "whether the number is infinite",
    follows="numpy.isinf",
    example="[1.0, float('inf')]",
    gives="array([False,  True])",
)
isfinite = _unary(
    "isfinite",
    scalar.isfinite,
    "whether the number is neither NaN nor infinite",
    follows="numpy.isfinite",
    example="[1.0, float('inf')]",
    gives="array([ True, False])",
)
eq = equal
neq = not_equal
lt = less
le = less_equal
gt = greater
ge = greater_equal

# Bits

bitwise_and = _binary(
    "bitwise_and",
    scalar.and_,
    "``x1 & x2``, bit by bit",
    follows="numpy.bitwise_and",
    example="[5, 6], [3, 3]",
    gives="array([1, 2])",
)
bitwise_or = _binary(
    "bitwise_or",
    scalar.or_,
    "``x1 | x2``, bit by bit",
    follows="numpy.bitwise_or",
    example="[5, 6], [3, 3]",
    gives="array([7, 7])",
)
bitwise_xor = _binary(
    "bitwise_xor",
    scalar.xor,
    "``x1 ^ x2``, bit by bit",
    follows="numpy.bitwise_xor",
    example="[5, 6], [3, 3]",
    gives="array([6, 5])",
)
bitwise_invert = _unary(
    "bitwise_invert",
    scalar.invert,
    "``~x``, bit by bit; the negation of a bool",
    follows="numpy.bitwise_invert",
    example="[0, 5]",
    gives="array([-1, -6])",
)
and_ = bitwise_and
or_ = bitwise_or
xor = bitwise_xor
bitwise_not = bitwise_invert
invert = bitwise_invert
# Functions that are more than one op, or take other arguments


def clip(x: TensorLike, min: TensorLike | None = None, max: TensorLike | None = None) -> Variable:
    """Return ``x`` limited to the interval from ``min`` to ``max``.

    Parameters
    ----------
    x : tensor_like
        Any tensor.
    min, max : tensor_like, optional
        The limits, which broadcast against ``x``; None: no limit. Where they cross, ``max`` wins.

    Returns
    -------
    Variable
        As :func:`numpy.clip` gives. NaN stays NaN. The gradient is zero outside the interval.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.clip([0.0, 1.0, 2.0], 0.5, 1.5).eval()
    array([0.5, 1. , 1.5])
    """
    if min is None:
        return as_tensor(x) if max is None else minimum(x, max)
    if max is None:
        return maximum(x, min)
    return elemwise(scalar.clip, as_operand(x), as_operand(min), as_operand(max))


def where(condition: TensorLike, x1: TensorLike, x2: TensorLike, /) -> Variable:
    """Return the elements of ``x1`` where ``condition`` is true, else those of ``x2``.

    Both are computed; a gradient flows only into the one that is chosen.

    Parameters
    ----------
    condition : tensor_like
        Of bool; numbers are true where they are not zero.
    x1, x2 : tensor_like
        Tensors whose shapes broadcast against that of ``condition``.

    Returns
    -------
    Variable
        As :func:`numpy.where` gives, of the dtype that ``x1`` and ``x2`` promote to.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.where([True, False], [1.0, 2.0], 0.0).eval()
    array([1., 0.])
    """
    chosen = as_tensor(condition, "bool")
    return elemwise(scalar.where, chosen, as_operand(x1), as_operand(x2))


switch = where


def cast(x: TensorLike, dtype: npt.DTypeLike) -> Variable:
    """Return ``x`` converted to another data type, as :meth:`numpy.ndarray.astype` does.

    Parameters
    ----------
    x : tensor_like
        Any tensor.
    dtype : dtype_like
        The data type wanted; a tensor that has it already is returned as it is.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.cast([1.5, -1.5], "int64").eval()
    array([ 1, -1])
    """
    x = as_tensor(x)
    name = np.dtype(dtype).name
    return x if x.dtype == name else elemwise(scalar.cast(name), x)


astype = cast


def logical_and(x1: TensorLike, x2: TensorLike, /) -> Variable:
    """Return whether both elements are true (not zero), as :func:`numpy.logical_and`.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.logical_and([0.0, 1.0], [1.0, 2.0]).eval()
    array([False,  True])
    """
    return elemwise(scalar.and_, as_tensor(x1, "bool"), as_tensor(x2, "bool"))


def logical_or(x1: TensorLike, x2: TensorLike, /) -> Variable:
    """Return whether either element is true (not zero), as :func:`numpy.logical_or`.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.logical_or([0.0, 0.0], [0.0, 2.0]).eval()
    array([False,  True])
    """
    return elemwise(scalar.or_, as_tensor(x1, "bool"), as_tensor(x2, "bool"))


def logical_xor(x1: TensorLike, x2: TensorLike, /) -> Variable:
    """Return whether just one element is true (not zero), as :func:`numpy.logical_xor`.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.logical_xor([1.0, 0.0], [1.0, 2.0]).eval()
    array([False,  True])
    """
    return elemwise(scalar.xor, as_tensor(x1, "bool"), as_tensor(x2, "bool"))


def logical_not(x: TensorLike, /) -> Variable:
    """Return whether the element is false (zero), as :func:`numpy.logical_not`.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.logical_not([0.0, 2.0]).eval()
    array([ True, False])
    """
    return elemwise(scalar.invert, as_tensor(x, "bool"))
