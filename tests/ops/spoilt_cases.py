"""Linear algebra of matrices in which an element is NaN or infinite.

Where such an element goes depends on the order in which LAPACK computes, which differs between
libraries and processors. That the result has one does not, nor what is made of matrices without.
"""

import numpy as np
import scipy.linalg
from drawn_operands import Operand, definite, dominant, finite, positive
from equation_cases import FINITE, VECTOR, scipys
from matrix_cases import both, square

import frazil.tensor as ft

LinAlgError = np.linalg.LinAlgError


def spoilt(fill, mirrored=False):
    """Arrays of ``fill`` in which, most often, an element is NaN or infinite."""

    def filled(rng, shape, dtype):
        made = fill(rng, shape, dtype)
        if made.size and rng.random() < 0.9:
            place = tuple(rng.integers(n) for n in shape)
            made[place] = rng.choice([np.nan, np.inf, -np.inf])
            if mirrored:
                made[*place[:-2], place[-1], place[-2]] = made[place]
        return made

    return filled


def of_stacks(found, expected, tolerance):
    """Check results of stacks of matrices, one after the other."""
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    for one, other in zip(found, expected, strict=True):
        as_a_whole(one, other, tolerance)


def as_a_whole(found, expected, tolerance):
    """Check that a result has elements that are no finite numbers if, and only if, NumPy's has.

    What is finite in both is equal.
    """
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    fine, other = np.isfinite(found), np.isfinite(expected)
    assert fine.all() == other.all(), (found, expected)
    if fine.all():
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


OPTIONS = {
    "dtypes": ("float64",),
    "tolerance": 1e-8,
    "agreement": as_a_whole,
}


def refusing(function):
    """A function of matrices that takes finite ones only."""

    def refused(x):
        if not np.isfinite(x).all():
            raise LinAlgError
        return function(x)

    return refused


def _solved(x, y):
    """By factors alone: SciPy's ``solve`` goes on with other ones."""
    factors = scipy.linalg.cho_factor(x, lower=True, check_finite=False)
    return scipy.linalg.cho_solve(factors, y, check_finite=False)


def _numpys(name, function, *operands, **options):
    options = OPTIONS | options
    return both(name, function, *operands, **options)


def _scipys(name, ours, theirs, *operands, **options):
    options = OPTIONS | options
    return scipys(name, ours, theirs, *operands, **options)


MATRIX = square(spoilt(dominant))
STACK = square(spoilt(dominant), "bmm")
MIRRORED = square(spoilt(definite, mirrored=True))
RIGHT = Operand("mn", spoilt(finite))

SPOILT = [
    _numpys("det", lambda n, x: n.det(x), MATRIX),
    _numpys("slogdet", lambda n, x: n.slogdet(x)[1], MATRIX),
    _numpys("inv", lambda n, x: n.inv(x), MATRIX),
    _numpys("inv of stacks", lambda n, x: n.inv(x), STACK, agreement=of_stacks),
    _numpys("solve", lambda n, x, y: n.solve(x, y), MATRIX, FINITE),
    _numpys("solve for", lambda n, x, y: n.solve(x, y), square(dominant), RIGHT),
    _numpys("cholesky", lambda n, x: n.cholesky(x), MIRRORED),
    _numpys("qr", lambda n, x: n.qr(x)[1], RIGHT),
    _scipys(
        "eigh", lambda x: ft.linalg.eigh(x)[0], refusing(lambda x: np.linalg.eigh(x)[0]), MIRRORED
    ),
    _scipys("eigvalsh", ft.linalg.eigvalsh, refusing(np.linalg.eigvalsh), MIRRORED),
    _numpys("matrix_power", lambda n, x: n.matrix_power(x, 3), MATRIX),
    _numpys("norm", lambda n, x: n.norm(x), RIGHT),
    _scipys("svd", lambda x: ft.linalg.svd(x)[1], refusing(lambda x: np.linalg.svd(x)[1]), RIGHT),
    _scipys("pinv", ft.linalg.pinv, refusing(np.linalg.pinv), RIGHT),
    _scipys(
        "norm by singular values",
        lambda x: ft.linalg.norm(x, 2),
        refusing(lambda x: np.linalg.norm(x, 2)),
        RIGHT,
    ),
    _scipys("eigvals", lambda x: ft.linalg.eigvals(x), lambda x: np.linalg.eigvals(x) + 0j, MATRIX),
    _scipys(
        "lu",
        lambda x: ft.linalg.lu(x, permute_l=True)[0] @ ft.linalg.lu(x, permute_l=True)[1],
        lambda x: np.matmul(*scipy.linalg.lu(x, permute_l=True, check_finite=False)),
        MATRIX,
    ),
    _scipys(
        "solve_triangular",
        lambda x, y: ft.linalg.solve_triangular(x, y, lower=True),
        lambda x, y: scipy.linalg.solve_triangular(x, y, lower=True, check_finite=False),
        MATRIX,
        FINITE,
    ),
    _scipys(
        "solve_triangular for",
        ft.linalg.solve_triangular,
        lambda x, y: scipy.linalg.solve_triangular(x, y, check_finite=False),
        square(dominant),
        RIGHT,
    ),
    _scipys(
        "solve of definite",
        lambda x, y: ft.linalg.solve(x, y, assume_a="pos"),
        _solved,
        MIRRORED,
        FINITE,
    ),
    _scipys(
        "cho_solve",
        lambda x, y: ft.linalg.cho_solve((x, True), y),
        lambda x, y: scipy.linalg.cho_solve((x, True), y, check_finite=False),
        MATRIX,
        FINITE,
    ),
    _scipys(
        "solve_banded",
        lambda x, y: ft.linalg.solve_banded((1, 1), x, y),
        lambda x, y: scipy.linalg.solve_banded((1, 1), x, y, check_finite=False),
        Operand("3m", spoilt(positive)),
        VECTOR,
    ),
    _scipys("expm", ft.linalg.expm, scipy.linalg.expm, MATRIX),
]
