"""Comparisons, predicates, bitwise ops and shifts, and the ops that choose between values."""

from __future__ import annotations

import numpy as np

from frazil._core import Variable, elemwise
from frazil.graph.op import Array, Variables
from frazil.scalar.elementary import Elementary, define, define_cast, operator
from frazil.scalar.op import GradientFunction, Partial


def _where_gradient(inputs: Variables, output: Variable, g: Variable) -> list[Partial]:
    condition = inputs[0]
    return [
        None,
        lambda: elemwise(where, condition, g, 0),
        lambda: elemwise(where, condition, 0, g),
    ]


def _second(x: Array, y: Array) -> Array:
    return np.broadcast_arrays(x, y)[1].copy()


def _predicate(name: str, ufunc: np.ufunc, text: str, *, of_integers: bool) -> Elementary:
    """The op of a row that tests floating numbers; integers and bools all get one answer."""
    return define(
        name,
        "predicate",
        ufunc,
        c={"f": text, "iub": str(int(of_integers))},
        numba={"f": text, "iub": str(of_integers)},
        takes_complex=True,
    )


def _copy(name: str, gradient: GradientFunction) -> Elementary:
    """The op of a row that gives its operand, and has a gradient of its own."""
    return define(name, "arithmetic", np.array, c="{0}", gradient=gradient, takes_complex=True)


eq = operator("eq", "comparison", np.equal, "==", commutative=True, takes_complex=True)
neq = operator("neq", "comparison", np.not_equal, "!=", commutative=True, takes_complex=True)
lt = operator("lt", "comparison", np.less, "<")
le = operator("le", "comparison", np.less_equal, "<=")
gt = operator("gt", "comparison", np.greater, ">")
ge = operator("ge", "comparison", np.greater_equal, ">=")
and_ = operator("and_", "bitwise", np.bitwise_and, "&", commutative=True)
or_ = operator("or_", "bitwise", np.bitwise_or, "|", commutative=True)
xor = operator("xor", "bitwise", np.bitwise_xor, "^", commutative=True)
invert = define(
    "invert",
    "bitwise",
    np.invert,
    c={"iu": "~{0}", "b": "!{0}"},
    numba={"iu": "~{0}", "b": "not {0}"},
)
left_shift = define("left_shift", "shift", np.left_shift, c="{left_shift}({0}, {1})", nin=2)
right_shift = define("right_shift", "shift", np.right_shift, c="{right_shift}({0}, {1})", nin=2)
isnan = _predicate("isnan", np.isnan, "{0} != {0}", of_integers=False)
isinf = _predicate("isinf", np.isinf, "{fabs}({0}) == {inf}", of_integers=False)
isfinite = _predicate("isfinite", np.isfinite, "{fabs}({0}) < {inf}", of_integers=True)
where = define(
    "where",
    "select",
    np.where,
    takes_complex=True,
    nin=3,
    c={"fiu": "{0} ? {1} : {2}", "b": "({0} & {1}) | (!{0} & {2})"},
    numba="{select}({0}, {1}, {2})",
    gradient=_where_gradient,
)
second = define(
    "second",
    "arithmetic",
    _second,
    takes_complex=True,
    nin=2,
    c="{1}",
    gradient=lambda inputs, output, g: [None, g],
)
identity = _copy("identity", lambda inputs, output, g: [g])
disconnected_grad = _copy("disconnected_grad", lambda inputs, output, g: [None])
zero_grad = _copy("zero_grad", lambda inputs, output, g: [elemwise(second, g, 0)])
cast = define_cast(lambda inputs, output, g: [g])
