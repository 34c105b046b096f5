"""Systems of equations, factors of them and functions of matrices, as SciPy has them."""

import numpy as np
import scipy.linalg
from drawn_operands import Operand, definite, dominant, finite, positive, rising
from matrix_cases import square
from op_case import FLOATS, case

import frazil as fz
import frazil.tensor as ft

SIZES = (2, 1, 3, 4, 8, 9, 20)
FINITE = Operand("mn", finite)
VECTOR = Operand("m", finite)
OF_DOUBLES = ("float64",)


def scipys(name, ours, theirs, *operands, **options):
    """A case of SciPy's functions, which make of matrices without rows what they like."""
    options = {"dtypes": FLOATS, "tolerance": 1e-9, "lengths": SIZES} | options
    return case(name, ours, theirs, *operands, **options)


def _both(name, function, *operands, **options):
    """A case of a function of :mod:`frazil.tensor.linalg` or :mod:`scipy.linalg`."""
    return scipys(
        name,
        lambda *x: function(ft.linalg, *x),
        lambda *x: function(scipy.linalg, *x),
        *operands,
        **options,
    )


def _gradient_of_cholesky(x, w):
    """Of symmetric matrices only the symmetric part of the gradient counts."""
    slope = fz.grad((ft.linalg.cholesky(x) * w).sum(), x)
    return slope + slope.T


def _pulled_back(x, w):
    factor = np.linalg.cholesky(x)
    inner = np.tril(factor.T @ np.tril(w))
    inner[np.diag_indices_from(inner)] /= 2
    inverse = np.linalg.inv(factor)
    slope = inverse.T @ inner @ inverse
    return slope + slope.T


EQUATIONS = [
    # Of dependent rows, roundings choose the pivots.
    _both("lu", lambda n, x: n.lu(x), Operand("mn", positive)),
    _both("lu_solve", lambda n, x, y: n.lu_solve(n.lu_factor(x), y), square(dominant), FINITE),
    _both(
        "cho_solve",
        lambda n, x, y: n.cho_solve((n.cholesky(x, lower=True), True), y),
        square(definite),
        FINITE,
    ),
    _both(
        "solve_triangular",
        lambda n, x, y: n.solve_triangular(x, y, lower=True),
        square(dominant),
        FINITE,
    ),
    _both(
        "solve_triangular above",
        lambda n, x, y: n.solve_triangular(x, y),
        square(dominant),
        VECTOR,
    ),
    _both(
        "solve_triangular turned",
        lambda n, x, y: n.solve_triangular(x, y, trans=1, unit_diagonal=True),
        square(dominant),
        FINITE,
    ),
    _both(
        "solve of definite",
        lambda n, x, y: n.solve(x, y, assume_a="pos"),
        square(definite),
        FINITE,
    ),
    _both(
        "solve_banded",
        lambda n, x, y: n.solve_banded((1, 1), x, y),
        Operand("3m", positive),
        VECTOR,
        dtypes=OF_DOUBLES,
        tolerance=1e-6,
    ),
    _both("expm", lambda n, x: n.expm(x), square(dominant)),
    _both(
        "solve_sylvester",
        lambda n, x, y, z: n.solve_sylvester(x, y, z),
        square(definite),
        square(definite, "nn"),
        FINITE,
        dtypes=OF_DOUBLES,
    ),
    _both(
        "solve_continuous_are",
        lambda n, x, y, z, w: n.solve_continuous_are(x, y, z, w),
        square(dominant),
        Operand("mn", positive),
        square(definite),
        square(definite, "nn"),
        dtypes=OF_DOUBLES,
        tolerance=1e-6,
        lengths=(2, 1, 3, 4),
    ),
    scipys(
        "gradient of cholesky",
        _gradient_of_cholesky,
        _pulled_back,
        square(definite),
        square(finite),
        dtypes=OF_DOUBLES,
        tolerance=1e-8,
    ),
    scipys("polyval", ft.polyval, np.polyval, Operand("4", finite), "mn", tolerance=1e-12),
    scipys(
        "polyval of unknown degree",
        ft.polyval,
        np.polyval,
        Operand("k", finite),
        Operand("mn", positive),
        lengths=(2, 1, 0, 3, 9),
        tolerance=1e-7,
    ),
    scipys(
        "interp",
        ft.interp,
        np.interp,
        FINITE,
        Operand("k", rising),
        Operand("k", finite),
        dtypes=OF_DOUBLES,
    ),
]
