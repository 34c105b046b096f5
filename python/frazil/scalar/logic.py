"""Comparisons, predicates, bitwise ops, and the ops that choose between values."""

from __future__ import annotations

from typing import Any

import numpy as np

from frazil._core import elemwise
from frazil.scalar.elementary import define, define_cast


def _where_gradient(inputs: Any, output: Any, g: Any) -> list[Any]:
    condition = inputs[0]
    return [
        None,
        lambda: elemwise(where, condition, g, 0),
        lambda: elemwise(where, condition, 0, g),
    ]


def _first(x: Any) -> Any:
    return np.array(x)


def _second(x: Any, y: Any) -> Any:
    return np.broadcast_arrays(x, y)[1].copy()


eq = define(
    "eq",
    "comparison",
    np.equal,
    nin=2,
    commutative=True,
    c="{0} == {1}",
    numba="{0} == {1}",
    gradient=None,
)
neq = define(
    "neq",
    "comparison",
    np.not_equal,
    nin=2,
    commutative=True,
    c="{0} != {1}",
    numba="{0} != {1}",
    gradient=None,
)
lt = define("lt", "comparison", np.less, nin=2, c="{0} < {1}", numba="{0} < {1}", gradient=None)
le = define(
    "le", "comparison", np.less_equal, nin=2, c="{0} <= {1}", numba="{0} <= {1}", gradient=None
)
gt = define("gt", "comparison", np.greater, nin=2, c="{0} > {1}", numba="{0} > {1}", gradient=None)
ge = define(
    "ge", "comparison", np.greater_equal, nin=2, c="{0} >= {1}", numba="{0} >= {1}", gradient=None
)
and_ = define(
    "and_",
    "bitwise",
    np.bitwise_and,
    nin=2,
    commutative=True,
    c="{0} & {1}",
    numba="{0} & {1}",
    gradient=None,
)
or_ = define(
    "or_",
    "bitwise",
    np.bitwise_or,
    nin=2,
    commutative=True,
    c="{0} | {1}",
    numba="{0} | {1}",
    gradient=None,
)
xor = define(
    "xor",
    "bitwise",
    np.bitwise_xor,
    nin=2,
    commutative=True,
    c="{0} ^ {1}",
    numba="{0} ^ {1}",
    gradient=None,
)
invert = define(
    "invert",
    "bitwise",
    np.invert,
    c={"iu": "~{0}", "b": "!{0}"},
    numba={"iu": "~{0}", "b": "not {0}"},
    gradient=None,
)
isnan = define(
    "isnan",
    "predicate",
    np.isnan,
    c={"f": "{0} != {0}", "iub": "0"},
    numba={"f": "{0} != {0}", "iub": "False"},
    gradient=None,
)
isinf = define(
    "isinf",
    "predicate",
    np.isinf,
    c={"f": "{fabs}({0}) == {inf}", "iub": "0"},
    numba={"f": "{fabs}({0}) == {inf}", "iub": "False"},
    gradient=None,
)
isfinite = define(
    "isfinite",
    "predicate",
    np.isfinite,
    c={"f": "{fabs}({0}) < {inf}", "iub": "1"},
    numba={"f": "{fabs}({0}) < {inf}", "iub": "True"},
    gradient=None,
)
where = define(
    "where",
    "select",
    np.where,
    nin=3,
    c={"fiu": "{0} ? {1} : {2}", "b": "({0} & {1}) | (!{0} & {2})"},
    numba="{select}({0}, {1}, {2})",
    gradient=_where_gradient,
)
second = define(
    "second",
    "arithmetic",
    _second,
    nin=2,
    c="{1}",
    numba="{1}",
    gradient=lambda inputs, output, g: [None, g],
)
identity = define(
    "identity",
    "arithmetic",
    _first,
    c="{0}",
    numba="{0}",
    gradient=lambda inputs, output, g: [g],
)
disconnected_grad = define(
    "disconnected_grad",
    "arithmetic",
    _first,
    c="{0}",
    numba="{0}",
    gradient=lambda inputs, output, g: [None],
)
zero_grad = define(
    "zero_grad",
    "arithmetic",
    _first,
    c="{0}",
    numba="{0}",
    gradient=lambda inputs, output, g: [elemwise(second, g, 0)],
)
cast = define_cast(
    c="{0}",
    numba="{0}",
    gradient=lambda inputs, output, g: [g],
)
