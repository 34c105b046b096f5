"""Ops that hold graphs, and checks."""

import numpy as np
from drawn_operands import Operand, chosen, finite, positive
from op_case import FLOATS, STEPS, case

import frazil as fz
import frazil.tensor as ft
from frazil.optimize import minimize, minimize_scalar, root, root_scalar
from frazil.tensor.blas import Gemm, Gemv, Ger

CONDITION = Operand("", dtype="bool")
FACTOR = Operand("", chosen(0.0, 1.0, -1.0, 0.5))
MATRIX = Operand("mn", finite)
VECTOR = Operand("m", finite)
OF_DOUBLES = ("float64",)


def _refusing(x):
    return ft.check_parameters(x, x >= 0, msg="negative") * 2


def _checked(x):
    if not np.all(x >= 0):
        raise ValueError("negative")
    return x * 2


def _either(condition, x, y):
    return fz.ifelse(condition, x + 1, y * 2)


def _either_by_numpy(condition, x, y):
    return x + 1 if condition else y * 2


def _decayed(x):
    """Rows, each added to half of what came before."""
    return fz.scan(
        lambda row, before: before * 0.5 + row,
        sequences=x,
        outputs_info=ft.zeros(x.shape[1], x.dtype),
        return_updates=False,
    )


def _decayed_by_numpy(x):
    made, before = np.zeros_like(x), np.zeros(x.shape[1], x.dtype)
    for k, row in enumerate(x):
        made[k] = before = before * x.dtype.type(0.5) + row
    return made


def _squashed(x):
    return fz.scan(
        lambda element, before: ft.tanh(before + element),
        sequences=x,
        outputs_info=ft.zeros((), x.dtype),
        return_updates=False,
    )


def _squashed_by_numpy(x):
    made, before = np.zeros_like(x), x.dtype.type(0)
    for k, element in enumerate(x):
        made[k] = before = np.tanh(before + element)
    return made


def _apart(function):
    """A function of two matrices, as one op."""

    def applied(x, y):
        a, b = x.type(), y.type()
        return fz.OpFromGraph(fz.FrozenFunctionGraph([a, b], function(a, b)))(x, y)

    return applied


def _least(a):
    unknown = ft.vector()
    found, _ = minimize(ft.sum((unknown - a) ** 2), unknown)
    return fz.graph_replace([found], [(unknown, ft.zeros(a.shape[0]))])[0]


def _least_of_one(a):
    unknown = ft.scalar()
    found, _ = minimize_scalar((unknown - a) ** 2, unknown)
    return fz.graph_replace([found], [(unknown, ft.zeros(()))])[0]


def _roots(a):
    unknown = ft.vector()
    found, _ = root(unknown**2 - a, unknown)
    return fz.graph_replace([found], [(unknown, ft.ones(a.shape[0]))])[0]


def _root_of_one(a):
    unknown = ft.scalar()
    found, _ = root_scalar(unknown**2 - a, unknown)
    return fz.graph_replace([found], [(unknown, ft.ones(()))])[0]


def _accumulated(z, alpha, product, beta):
    return alpha * product + (beta * z if beta else 0 * z)


INNER = [
    case(
        "check",
        _refusing,
        _checked,
        Operand("m", positive),
    ),
    case(
        "a check that fails",
        _refusing,
        _checked,
        "m",
    ),
    case(
        "ifelse",
        lambda c, x, y: fz.ifelse(c, x + 1, y * 2),
        lambda c, x, y: x + 1 if c else y * 2,
        CONDITION,
        "mn",
        "kn",
    ),
    case("scan of rows", _decayed, _decayed_by_numpy, "mn", dtypes=FLOATS),
    case("scan of elements", _squashed, _squashed_by_numpy, "m", dtypes=FLOATS, same_bits=STEPS),
    case(
        "graph",
        _apart(lambda a, b: [a * b + 1, a.sum(0)]),
        lambda x, y: [x * y + 1, x.sum(0)],
        "mn",
        "mn",
    ),
    case(
        "minimize",
        _least,
        np.copy,
        VECTOR,
        dtypes=OF_DOUBLES,
        tolerance=1e-4,
        lengths=(2, 1, 3),
    ),
    case(
        "minimize_scalar",
        _least_of_one,
        np.copy,
        Operand("", finite),
        dtypes=OF_DOUBLES,
        tolerance=1e-4,
    ),
    case(
        "root",
        _roots,
        np.sqrt,
        Operand("m", positive),
        dtypes=OF_DOUBLES,
        tolerance=1e-4,
        lengths=(2, 1, 3),
    ),
    case(
        "root_scalar",
        _root_of_one,
        np.sqrt,
        Operand("", positive),
        dtypes=OF_DOUBLES,
        tolerance=1e-4,
    ),
]

PRODUCT = (Operand("mk", finite), Operand("kn", finite))
ACCUMULATED = [
    case(
        "gemm",
        Gemm(),
        lambda z, a, x, y, b: _accumulated(z, a, x @ y, b),
        *(MATRIX, FACTOR, *PRODUCT, FACTOR),
        dtypes=FLOATS,
    ),
    case(
        "gemv",
        Gemv(),
        lambda z, a, x, y, b: _accumulated(z, a, x @ y, b),
        *(VECTOR, FACTOR, PRODUCT[0], Operand("k", finite), FACTOR),
        dtypes=FLOATS,
    ),
    case(
        "ger",
        Ger(),
        lambda z, a, x, y: _accumulated(z, a, np.outer(x, y), 1),
        *(MATRIX, FACTOR, VECTOR, Operand("n", finite)),
        dtypes=FLOATS,
    ),
]
