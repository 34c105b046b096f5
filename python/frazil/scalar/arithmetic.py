"""Arithmetic: what NumPy does with ``+ - * / // % **``, and its near relatives.

Integers wrap around. Dividing an integer by zero gives 0, and the sign of ``//`` and ``%`` is
Python's.
"""

from __future__ import annotations

import numpy as np

from frazil._core import Constant, Variable, elemwise
from frazil.graph.op import Array, Variables
from frazil.scalar.complex import conjugate
from frazil.scalar.elementary import Elementary, define, function
from frazil.scalar.exponential import log
from frazil.scalar.logic import cast, eq, ge, gt, le, lt, second, where
from frazil.scalar.op import Partial


def _pow_gradient(inputs: Variables, output: Variable, g: Variable) -> list[Partial]:
    x, y = inputs
    return [lambda: _gradient_of_base(x, y, g), lambda: g * _derivative_by_exponent(x, output)]


def _gradient_of_base(x: Variable, y: Variable, g: Variable) -> Variable:
    """``y * x ** (y - 1)``, and zero where ``y`` is, though the power be infinite or NaN."""
    if not isinstance(y, Constant) or y.ndim:
        return g * elemwise(where, elemwise(eq, y, 0), 0, y * elemwise(pow, x, y - 1))
    match y.number:
        case 0:
            return elemwise(second, g, 0)
        case 1:
            return g
        case 2:
            return g * (x * y)
    return g * (elemwise(pow, x, y.data[()] - 1) * y)


def _derivative_by_exponent(x: Variable, output: Variable) -> Variable:
    """``log(x) * output``, and zero where ``x`` is, though the logarithm is infinite."""
    if output.type.numpy_dtype.kind == "c":
        x = elemwise(cast(output.dtype), x)
    zero = elemwise(eq, x, 0)
    return elemwise(where, zero, 0, elemwise(log, elemwise(where, zero, 1, x)) * output)


def _first_wins(inputs: Variables, output: Variable, g: Variable) -> list[Partial]:
    """The gradient goes to the operand that is the output; to the first of two equal ones."""
    wins = elemwise(eq, output, inputs[0])
    return [lambda: elemwise(where, wins, g, 0), lambda: elemwise(where, wins, 0, g)]


def _clip_gradient(inputs: Variables, output: Variable, g: Variable) -> list[Partial]:
    x, low, high = inputs
    # Where the ends are in the wrong order, the result is the upper one.
    return [
        lambda: elemwise(where, elemwise(ge, x, low) & elemwise(le, x, high), g, 0),
        lambda: elemwise(where, elemwise(lt, x, low) & elemwise(le, low, high), g, 0),
        lambda: elemwise(where, elemwise(gt, elemwise(maximum, x, low), high), g, 0),
    ]


def _zeros(inputs: Variables, output: Variable, g: Variable) -> list[Partial]:
    return [elemwise(second, g, 0) for _ in inputs]


def _sign_gradient(inputs: Variables, output: Variable, g: Variable) -> list[Partial]:
    """Zero; of complex numbers the sign is ``z / abs(z)``, which turns with them."""
    if output.type.numpy_dtype.kind != "c":
        return _zeros(inputs, output, g)
    size = elemwise(abs, inputs[0])
    size = elemwise(where, elemwise(eq, size, 0), 1, size)
    back = conjugate(output)
    return [lambda: (g - conjugate(g) * back * back) / (size * 2) * elemwise(abs, output)]


def _clip(x: Array, low: Array, high: Array) -> Array:
    clipped: Array = np.minimum(np.maximum(x, low), high)
    return clipped


def _rounding(name: str, ufunc: np.ufunc) -> Elementary:
    """The op of a row that rounds; integers stay integers, which NumPy makes floats."""

    def rounded(x: Array) -> Array:
        whole: Array = ufunc(x) if np.asarray(x).dtype.kind == "f" else x
        return whole

    text = {"f": f"{{{name}}}({{0}})", "iub": "{0}"}
    return define(name, "arithmetic", rounded, c=text, gradient=_zeros)


def _extremum(name: str, ufunc: np.ufunc, sign: str, of_bools: str, *, nan: int = 0) -> Elementary:
    """The op of a row that chooses the operand for which ``{0} sign {1}`` holds.

    The first one is chosen, too, where operand ``nan`` is NaN.
    """
    wins, nan_wins = f"{{0}} {sign} {{1}}", f"({{0}} {sign} {{1}}) | ({{{nan}}} != {{{nan}}})"
    bools = f"{{0}} {of_bools} {{1}}"
    return define(
        name,
        "arithmetic",
        ufunc,
        nin=2,
        commutative=True,
        c={"f": f"{nan_wins} ? {{0}} : {{1}}", "iu": f"{wins} ? {{0}} : {{1}}", "b": bools},
        numba={
            "f": f"{{select}}({nan_wins}, {{0}}, {{1}})",
            "iu": f"{{select}}({wins}, {{0}}, {{1}})",
            "b": bools,
        },
        gradient=_first_wins,
    )


add = define(
    "add",
    "arithmetic",
    np.add,
    takes_complex=True,
    nin=2,
    commutative=True,
    c={"fiu": "{0} + {1}", "b": "{0} | {1}"},
    numba={"f": "{0} + {1}", "iu": "{add}({0}, {1})", "b": "{0} | {1}"},
    gradient=lambda inputs, output, g: [g, g],
)
sub = define(
    "sub",
    "arithmetic_no_bool",
    np.subtract,
    takes_complex=True,
    nin=2,
    c="{0} - {1}",
    numba={"f": "{0} - {1}", "iu": "{sub}({0}, {1})"},
    gradient=lambda inputs, output, g: [g, lambda: -g],
)
mul = define(
    "mul",
    "arithmetic",
    np.multiply,
    takes_complex=True,
    nin=2,
    commutative=True,
    c={"fiu": "{0} * {1}", "b": "{0} & {1}"},
    numba={"f": "{0} * {1}", "iu": "{mul}({0}, {1})", "b": "{0} & {1}"},
    gradient=lambda inputs, output, g: [lambda: g * inputs[1], lambda: g * inputs[0]],
)
truediv = define(
    "truediv",
    "division",
    np.true_divide,
    takes_complex=True,
    nin=2,
    c="{0} / {1}",
    gradient=lambda inputs, output, g: [g / inputs[1], lambda: -(g / inputs[1]) * output],
)
floordiv = define(
    "floordiv",
    "floor",
    np.floor_divide,
    nin=2,
    c="{floordiv}({0}, {1})",
    gradient=_zeros,
)
fmod = define(
    "fmod",
    "floor",
    np.fmod,
    nin=2,
    c={"f": "{fmod}({0}, {1})", "i": "{truncmod}({0}, {1})", "u": "{floormod}({0}, {1})"},
    gradient=lambda inputs, output, g: [
        g,
        lambda: -elemwise(rint, (inputs[0] - output) / inputs[1]) * g,
    ],
)
mod = define(
    "mod",
    "floor",
    np.remainder,
    nin=2,
    c="{floormod}({0}, {1})",
    gradient=lambda inputs, output, g: [g, lambda: -elemwise(floordiv, *inputs) * g],
)
neg = define(
    "neg",
    "arithmetic_no_bool",
    np.negative,
    takes_complex=True,
    c="-{0}",
    gradient=lambda inputs, output, g: [-g],
)
reciprocal = define(
    "reciprocal",
    "division",
    np.reciprocal,
    takes_complex=True,
    c="1 / {0}",
    numba="{T}(1) / {0}",
    gradient=lambda inputs, output, g: [-g * output * output],
)
sqr = define(
    "sqr",
    "floor",
    np.square,
    takes_complex=True,
    c="{0} * {0}",
    numba={"f": "{0} * {0}", "iu": "{mul}({0}, {0})"},
    gradient=lambda inputs, output, g: [g * (inputs[0] * 2)],
)
pow = define(
    "pow",
    "floor",
    np.power,
    takes_complex=True,
    nin=2,
    c={"f": "{pow}({0}, {1})", "u": "{upow}({0}, {1})", "i": "{ipow}({0}, {1}, &status)"},
    numba={"f": "{pow}({0}, {1})", "u": "{upow}({0}, {1})", "i": "{ipow}({0}, {1})"},
    gradient=_pow_gradient,
)
abs = define(
    "abs",
    "part",
    np.absolute,
    takes_complex=True,
    c={"f": "{fabs}({0})", "i": "{0} < 0 ? -{0} : {0}", "ub": "{0}"},
    numba={"f": "{fabs}({0})", "i": "{select}({0} < 0, {T}(-{0}), {0})", "ub": "{0}"},
    gradient=lambda inputs, output, g: [g * conjugate(elemwise(sign, inputs[0]))],
)
sign: Elementary = define(
    "sign",
    "arithmetic_no_bool",
    np.sign,
    takes_complex=True,
    c={
        "f": "{0} > 0 ? 1 : {0} < 0 ? -1 : {0} == 0 ? 0 : {0}",
        "i": "({0} > 0) - ({0} < 0)",
        "u": "{0} > 0",
    },
    numba={
        "f": "{select}({0} == 0, {T}(0), {select}({0} != {0}, {0}, {copysign}({T}(1), {0})))",
        "i": "{T}({0} > 0) - {T}({0} < 0)",
        "u": "{0} != 0",
    },
    gradient=_sign_gradient,
)
minimum = _extremum("minimum", np.minimum, "<", "&")
maximum = _extremum("maximum", np.maximum, ">", "|")
fmin = _extremum("fmin", np.fmin, "<", "&", nan=1)
fmax = _extremum("fmax", np.fmax, ">", "|", nan=1)
clip = define(
    "clip",
    "arithmetic",
    _clip,
    nin=3,
    c={"fiu": "{clip}({0}, {1}, {2})", "b": "({0} | {1}) & {2}"},
    gradient=_clip_gradient,
)
floor = _rounding("floor", np.floor)
ceil = _rounding("ceil", np.ceil)
trunc = _rounding("trunc", np.trunc)
rint: Elementary = function("rint", np.rint, _zeros, takes_complex=True)
