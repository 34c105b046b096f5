"""The functions that apply one scalar op each, by topic; other names of them follow each topic."""

from __future__ import annotations

import frazil.scalar as scalar
from frazil.tensor.elementwise.definition import binary, unary

# Sums, products, powers, signs and rounding
add = binary(scalar.add, "the sum ``x1 + x2``", "[1.0, 2.0], [3.0, 4.0] -> [4., 6.]")
subtract = binary(
    scalar.sub,
    "the difference ``x1 - x2``; bool raises TypeError",
    "[1.0, 2.0], [3.0, 5.0] -> [-2., -3.]",
)
multiply = binary(scalar.mul, "the product ``x1 * x2``", "[1.0, 2.0], [3.0, 4.0] -> [3., 8.]")
divide = binary(scalar.truediv, "the quotient ``x1 / x2``", "[1.0, 2.0], [2.0, 4.0] -> [0.5, 0.5]")
floor_divide = binary(
    scalar.floordiv,
    "the quotient rounded down, ``x1 // x2``; its gradient is zero",
    "[7.0, -7.0], [2.0, 2.0] -> [ 3., -4.]",
)
remainder = binary(
    scalar.mod,
    "the remainder ``x1 % x2``, which has the sign of ``x2``",
    "[7.0, -7.0], [3.0, 3.0] -> [1., 2.]",
)
fmod = binary(
    scalar.fmod,
    "the remainder of a division rounded towards zero, which has the sign of ``x1``",
    "[7.0, -7.0], [3.0, 3.0] -> [ 1., -1.]",
)
power = binary(scalar.pow, "the power ``x1 ** x2``", "[2.0, 3.0], [3.0, 2.0] -> [8., 9.]")
negative = unary(
    scalar.neg, "the negative ``-x``; bool raises TypeError", "[1.0, -2.0] -> [-1.,  2.]"
)
reciprocal = unary(
    scalar.reciprocal,
    "``1 / x``, a floating-point number for integers too",
    "[2.0, 4.0] -> [0.5 , 0.25]",
)
square = unary(scalar.sqr, "the square ``x * x``", "[2.0, 3.0] -> [4., 9.]")
sqrt = unary(scalar.sqrt, "the square root", "[4.0, 9.0] -> [2., 3.]")
absolute = unary(scalar.abs, "the absolute value", "[1.0, -2.0] -> [1., 2.]")
sign = unary(
    scalar.sign,
    "-1, 0 or 1, as the number is negative, zero or positive; its gradient is zero",
    "[3.0, -2.0, 0.0] -> [ 1., -1.,  0.]",
)
minimum = binary(
    scalar.minimum,
    "the smaller of two numbers; NaN if either is",
    "[1.0, 4.0], [3.0, 2.0] -> [1., 2.]",
)
maximum = binary(
    scalar.maximum,
    "the larger of two numbers; NaN if either is",
    "[1.0, 4.0], [3.0, 2.0] -> [3., 4.]",
)
fmin = binary(
    scalar.fmin,
    "the smaller of two numbers; where one is NaN, the other. Of equal ones the gradient goes to "
    "``x1``",
    "[1.0, ft.nan], [3.0, 2.0] -> [1., 2.]",
)
fmax = binary(
    scalar.fmax,
    "the larger of two numbers; where one is NaN, the other. Of equal ones the gradient goes to "
    "``x1``",
    "[1.0, ft.nan], [3.0, 2.0] -> [3., 2.]",
)
copysign = binary(
    scalar.copysign,
    "``x1`` with the sign of ``x2``",
    "[1.0, -2.0], [-3.0, 0.0] -> [-1.,  2.]",
)
signbit = unary(
    scalar.signbit,
    "whether the number has a sign, which -0.0 has",
    "[1.0, -2.0, -0.0] -> [False,  True,  True]",
)
nextafter = binary(
    scalar.nextafter,
    "the number next to ``x1`` towards ``x2``; its gradient goes to ``x1``",
    "[1.0], [2.0] -> [1.]",
)
floor = unary(
    scalar.floor,
    "the largest integer that is not larger; its gradient is zero",
    "[1.5, -1.5] -> [ 1., -2.]",
)
ceil = unary(
    scalar.ceil,
    "the smallest integer that is not smaller; its gradient is zero",
    "[1.5, -1.5] -> [ 2., -1.]",
)
trunc = unary(
    scalar.trunc,
    "the number without its fraction; its gradient is zero",
    "[1.5, -1.5] -> [ 1., -1.]",
)
rint = unary(
    scalar.rint,
    "the nearest integer, the even one of two; its gradient is zero",
    "[1.4, 2.5] -> [1., 2.]",
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

# Comparisons, and predicates of numbers
equal = binary(
    scalar.eq,
    "whether ``x1`` is equal to ``x2``. (``x1 == x2`` is whether they are one variable)",
    "[1, 2], [1, 3] -> [ True, False]",
)
not_equal = binary(
    scalar.neq, "whether ``x1`` differs from ``x2``", "[1, 2], [1, 3] -> [False,  True]"
)
less = binary(scalar.lt, "whether ``x1 < x2``", "[1, 2], [2, 2] -> [ True, False]")
less_equal = binary(scalar.le, "whether ``x1 <= x2``", "[1, 3], [2, 2] -> [ True, False]")
greater = binary(scalar.gt, "whether ``x1 > x2``", "[1, 3], [2, 2] -> [False,  True]")
greater_equal = binary(scalar.ge, "whether ``x1 >= x2``", "[1, 2], [2, 2] -> [False,  True]")
isnan = unary(scalar.isnan, "whether the number is NaN", "[1.0, float('nan')] -> [False,  True]")
isinf = unary(
    scalar.isinf, "whether the number is infinite", "[1.0, float('inf')] -> [False,  True]"
)
isfinite = unary(
    scalar.isfinite,
    "whether the number is neither NaN nor infinite",
    "[1.0, float('inf')] -> [ True, False]",
)
eq = equal
neq = not_equal
lt = less
le = less_equal
gt = greater
ge = greater_equal

# Logic, of bits and of truth values
bitwise_and = binary(scalar.and_, "``x1 & x2``, bit by bit", "[5, 6], [3, 3] -> [1, 2]")
bitwise_or = binary(scalar.or_, "``x1 | x2``, bit by bit", "[5, 6], [3, 3] -> [7, 7]")
bitwise_xor = binary(scalar.xor, "``x1 ^ x2``, bit by bit", "[5, 6], [3, 3] -> [6, 5]")
bitwise_invert = unary(
    scalar.invert,
    "``~x``, bit by bit; the negation of a bool",
    "[0, 5] -> [-1, -6]",
    name="bitwise_invert",
)
bitwise_left_shift = binary(
    scalar.left_shift,
    "``x1`` shifted left by ``x2`` bits; 0 where ``x2`` is negative or beyond the width",
    "[1, 3], [2, 4] -> [ 4, 48]",
    name="bitwise_left_shift",
)
bitwise_right_shift = binary(
    scalar.right_shift,
    "``x1`` shifted right by ``x2`` bits; 0, or -1 if ``x1`` is negative, where ``x2`` is negative "
    "or beyond the width",
    "[8, -8], [2, 2] -> [ 2, -2]",
    name="bitwise_right_shift",
)
left_shift = bitwise_left_shift
right_shift = bitwise_right_shift
and_ = bitwise_and
or_ = bitwise_or
xor = bitwise_xor
bitwise_not = bitwise_invert
invert = bitwise_invert

logical_and = binary(
    scalar.and_,
    "whether both elements are true (not zero)",
    "[0.0, 1.0], [1.0, 2.0] -> [False,  True]",
    name="logical_and",
    logical=True,
)
logical_or = binary(
    scalar.or_,
    "whether either element is true (not zero)",
    "[0.0, 0.0], [0.0, 2.0] -> [False,  True]",
    name="logical_or",
    logical=True,
)
logical_xor = binary(
    scalar.xor,
    "whether just one element is true (not zero)",
    "[1.0, 0.0], [1.0, 2.0] -> [False,  True]",
    name="logical_xor",
    logical=True,
)
logical_not = unary(
    scalar.invert,
    "whether the element is false (zero)",
    "[0.0, 2.0] -> [ True, False]",
    name="logical_not",
    logical=True,
)

# Exponentials and logarithms
exp = unary(scalar.exp, "e to the power of each element", "[0.0, 1.0] -> [1.        , 2.71828183]")
exp2 = unary(scalar.exp2, "2 to the power of each element", "[0.0, 3.0] -> [1., 8.]")
expm1 = unary(
    scalar.expm1, "``exp(x) - 1``, precise near 0", "[0.0, 1.0] -> [0.        , 1.71828183]"
)
cbrt = unary(scalar.cbrt, "the cube root", "[8.0, -27.0] -> [ 2., -3.]")
hypot = binary(
    scalar.hypot,
    "lengths of hypotenuses, ``sqrt(x1**2 + x2**2)``, whose squares may overflow; the gradient at "
    "the origin is 0",
    "[3.0, 3e200], [4.0, 4e200] -> [5.e+000, 5.e+200]",
)
log = unary(scalar.log, "the natural logarithm", "[1.0, 2.0] -> [0.        , 0.69314718]")
log2 = unary(scalar.log2, "the logarithm to base 2", "[1.0, 8.0] -> [0., 3.]")
log10 = unary(scalar.log10, "the logarithm to base 10", "[1.0, 100.0] -> [0., 2.]")
log1p = unary(
    scalar.log1p, "``log(1 + x)``, precise near 0", "[0.0, 1.0] -> [0.        , 0.69314718]"
)
logaddexp = binary(
    scalar.logaddexp,
    "``log(exp(x1) + exp(x2))``, without overflow",
    "[0.0, 1.0], [0.0, 1.0] -> [0.69314718, 1.69314718]",
)

# Circular and hyperbolic functions
sin = unary(scalar.sin, "the sine", "[0.0, 1.0] -> [0.        , 0.84147098]")
cos = unary(scalar.cos, "the cosine", "[0.0, 1.0] -> [1.        , 0.54030231]")
tan = unary(scalar.tan, "the tangent", "[0.0, 1.0] -> [0.        , 1.55740772]")
arcsin = unary(scalar.arcsin, "the inverse sine", "[0.0, 1.0] -> [0.        , 1.57079633]")
arccos = unary(scalar.arccos, "the inverse cosine", "[0.5, 1.0] -> [1.04719755, 0.        ]")
arctan = unary(scalar.arctan, "the inverse tangent", "[0.0, 1.0] -> [0.        , 0.78539816]")
arctan2 = binary(
    scalar.arctan2,
    "the angle of the point ``(x2, x1)``",
    "[0.0, 1.0], [1.0, 1.0] -> [0.        , 0.78539816]",
)
sinh = unary(scalar.sinh, "the hyperbolic sine", "[0.0, 1.0] -> [0.        , 1.17520119]")
cosh = unary(scalar.cosh, "the hyperbolic cosine", "[0.0, 1.0] -> [1.        , 1.54308063]")
tanh = unary(scalar.tanh, "the hyperbolic tangent", "[0.0, 1.0] -> [0.        , 0.76159416]")
arcsinh = unary(
    scalar.arcsinh, "the inverse hyperbolic sine", "[0.0, 1.0] -> [0.        , 0.88137359]"
)
arccosh = unary(
    scalar.arccosh, "the inverse hyperbolic cosine", "[1.0, 2.0] -> [0.       , 1.3169579]"
)
arctanh = unary(
    scalar.arctanh, "the inverse hyperbolic tangent", "[0.0, 0.5] -> [0.        , 0.54930614]"
)
asin = arcsin
acos = arccos
atan = arctan
atan2 = arctan2
asinh = arcsinh
acosh = arccosh
atanh = arctanh

# Logistic functions, error functions, and the normal distribution
sigmoid = unary(
    scalar.sigmoid,
    "the logistic function ``1 / (1 + exp(-x))``",
    "[0.0, 2.0] -> [0.5       , 0.88079708]",
    follows="scipy.special.expit",
)
softplus = unary(
    scalar.softplus,
    "``log(1 + exp(x))``, without overflow",
    "[0.0, 2.0] -> [0.69314718, 2.12692801]",
    follows="numpy.logaddexp : the same, where its first argument is 0.",
)
log_sigmoid = unary(
    scalar.log_sigmoid,
    "the logarithm of the logistic function",
    "[0.0, 2.0] -> [-0.69314718, -0.12692801]",
    follows="scipy.special.log_expit",
)
erf = unary(scalar.erf, "the error function", "[0.0, 1.0] -> [0.        , 0.84270079]")
erfc = unary(
    scalar.erfc,
    "``1 - erf(x)``, precise where that is near 0",
    "[0.0, 1.0] -> [1.        , 0.15729921]",
)
erfcx = unary(
    scalar.erfcx,
    "``exp(x**2) * erfc(x)``, which does not vanish for large ``x``",
    "[0.0, 100.0] -> [1.        , 0.00564161]",
)
ndtr = unary(
    scalar.ndtr,
    "the distribution function of the normal distribution",
    "[0.0, 1.0] -> [0.5       , 0.84134475]",
)
log_ndtr = unary(
    scalar.log_ndtr,
    "the logarithm of :func:`ndtr`, precise far below zero, too",
    "[0.0, -100.0] -> [-6.93147181e-01, -5.00552421e+03]",
)
ndtri = unary(
    scalar.ndtri,
    "where :func:`ndtr` is ``x``, the quantiles of the normal distribution",
    "[0.5, 0.975] -> [0.        , 1.95996398]",
)
erfinv = unary(
    scalar.erfinv, "where :func:`erf` is ``x``", "[0.0, 0.5] -> [0.        , 0.47693628]"
)
erfcinv = unary(
    scalar.erfcinv, "where :func:`erfc` is ``x``", "[0.5, 1e-20] -> [0.47693628, 6.60158062]"
)
owens_t = binary(
    scalar.owens_t,
    "Owen's T function: how probable it is that one normal number is above ``x1``, and another, "
    "independent one between 0 and ``x2`` times the first",
    "[0.0, 1.0], [1.0, 0.5] -> [0.125     , 0.04306469]",
)
expit = sigmoid
log1pexp = softplus
log_expit = log_sigmoid

# The gamma and beta functions
gamma = unary(scalar.gamma, "the gamma function", "[0.5, 5.0] -> [ 1.77245385, 24.        ]")
beta = binary(
    scalar.beta,
    "the beta function ``gamma(x1) * gamma(x2) / gamma(x1 + x2)``",
    "[1.0, 2.0], [3.0, 0.5] -> [0.33333333, 1.33333333]",
)
betaln = binary(
    scalar.betaln,
    "the logarithm of the absolute value of the beta function",
    "[1.0, 200.0], [3.0, 300.0] -> [  -1.09861229, -337.98011307]",
)
gammainc = binary(
    scalar.gammainc,
    "the lower incomplete gamma function of shape ``x1`` up to ``x2``, divided by the whole",
    "[1.0, 2.0], [1.0, 3.0] -> [0.63212056, 0.80085173]",
)
gammaincc = binary(
    scalar.gammaincc,
    "the upper incomplete gamma function of shape ``x1`` from ``x2`` on, divided by the whole",
    "[1.0, 2.0], [1.0, 3.0] -> [0.36787944, 0.19914827]",
)
gammaincinv = binary(
    scalar.gammaincinv,
    "where :func:`gammainc` of shape ``x1`` is ``x2``",
    "[1.0, 2.0], [0.5, 0.5] -> [0.69314718, 1.67834699]",
)
gammainccinv = binary(
    scalar.gammainccinv,
    "where :func:`gammaincc` of shape ``x1`` is ``x2``",
    "[1.0, 2.0], [0.25, 0.25] -> [1.38629436, 2.69263453]",
)
poch = binary(
    scalar.poch,
    "Pochhammer's symbol ``gamma(x1 + x2) / gamma(x1)``",
    "[1.0, 0.5], [3.0, 2.0] -> [6.  , 0.75]",
)
binom = binary(
    scalar.binom,
    "the binomial coefficient of any numbers, ``x1`` over ``x2``",
    "[5.0, 2.5], [2.0, 1.5] -> [10.  ,  2.5]",
)
gammaln = unary(
    scalar.gammaln,
    "the logarithm of the absolute value of the gamma function",
    "[1.0, 5.0] -> [0.        , 3.17805383]",
)
psi = unary(
    scalar.psi, "the derivative of :func:`gammaln`", "[1.0, 2.0] -> [-0.57721566,  0.42278434]"
)
tri_gamma = unary(
    scalar.tri_gamma,
    "the derivative of :func:`psi`",
    "[1.0, 2.0] -> [1.64493407, 0.64493407]",
    follows="scipy.special.polygamma : the same, where its first argument is 1.",
)
digamma = psi
trigamma = tri_gamma

# Bessel functions
jv = binary(
    scalar.jv,
    "the Bessel function of the first kind, of order ``x1``, which has no gradient, at ``x2``",
    "[0.5, 2.0], [1.0, 3.0] -> [0.67139671, 0.48609126]",
)
yv = binary(
    scalar.yv,
    "the Bessel function of the second kind, of order ``x1``, which has no gradient, at ``x2``",
    "[0.5, 2.0], [1.0, 3.0] -> [-0.43109887, -0.16040039]",
)
iv = binary(
    scalar.iv,
    "the modified Bessel function of the first kind, of order ``x1``, which has no gradient, at "
    "``x2``",
    "[0.5, 2.0], [1.0, 3.0] -> [0.93767489, 2.24521244]",
)
ive = binary(
    scalar.ive,
    "``iv(x1, x2) * exp(-abs(x2))``, which does not overflow; no gradient in the order ``x1``",
    "[0.5, 2.0], [1.0, 1000.0] -> [0.34495131, 0.01259202]",
)
kv = binary(
    scalar.kv,
    "the modified Bessel function of the second kind, of order ``x1``, which has no gradient, at "
    "``x2``",
    "[0.5, 2.0], [1.0, 3.0] -> [0.4610685 , 0.06151046]",
)
kve = binary(
    scalar.kve,
    "``kv(x1, x2) * exp(x2)``, which does not vanish; no gradient in the order ``x1``",
    "[0.5, 2.0], [1.0, 1000.0] -> [1.25331414, 0.03970762]",
)
j0 = unary(
    scalar.j0,
    "the Bessel function of the first kind of order 0",
    "[0.0, 1.0] -> [1.        , 0.76519769]",
)
j1 = unary(
    scalar.j1,
    "the Bessel function of the first kind of order 1",
    "[0.0, 1.0] -> [0.        , 0.44005059]",
)
y0 = unary(
    scalar.y0,
    "the Bessel function of the second kind of order 0",
    "[0.5, 1.0] -> [-0.44451873,  0.08825696]",
)
y1 = unary(
    scalar.y1,
    "the Bessel function of the second kind of order 1",
    "[0.5, 1.0] -> [-1.47147239, -0.78121282]",
)
i0 = unary(
    scalar.i0,
    "the modified Bessel function of the first kind of order 0",
    "[0.0, 1.0] -> [1.        , 1.26606588]",
    follows="scipy.special.i0",
)
i1 = unary(
    scalar.i1,
    "the modified Bessel function of the first kind of order 1",
    "[0.0, 1.0] -> [0.       , 0.5651591]",
)
i0e = unary(
    scalar.i0e,
    "``i0(x) * exp(-abs(x))``, which does not overflow",
    "[0.0, 1000.0] -> [1.        , 0.01261724]",
)
i1e = unary(
    scalar.i1e,
    "``i1(x) * exp(-abs(x))``, which does not overflow",
    "[0.0, 1000.0] -> [0.        , 0.01261093]",
)
k0 = unary(
    scalar.k0,
    "the modified Bessel function of the second kind of order 0",
    "[0.5, 1.0] -> [0.92441907, 0.42102444]",
)
k1 = unary(
    scalar.k1,
    "the modified Bessel function of the second kind of order 1",
    "[0.5, 1.0] -> [1.65644112, 0.60190723]",
)
k0e = unary(
    scalar.k0e,
    "``k0(x) * exp(x)``, which does not vanish",
    "[1.0, 1000.0] -> [1.14446308, 0.03962832]",
)
k1e = unary(
    scalar.k1e,
    "``k1(x) * exp(x)``, which does not vanish",
    "[1.0, 1000.0] -> [1.63615349, 0.03964813]",
)
