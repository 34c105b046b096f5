"""Linear algebra: factors are multiplied, since their signs and order may differ."""

import numpy as np
from drawn_operands import (
    Operand,
    dominant,
    finite,
    mostly_definite,
    mostly_regular,
    symmetric,
)  # fmt: skip
from op_case import FLOATS, FUNCTIONS, case

import frazil.tensor as ft

SIZES = (2, 1, 0, 3, 4, 8, 9, 20)


def square(fill, dims="mm"):
    return Operand(dims, fill, free=False)


def both(name, function, *operands, **options):
    """A case of a function of :mod:`frazil.tensor.linalg` or :mod:`numpy.linalg`."""
    options = {"dtypes": FLOATS, "tolerance": 1e-9, "lengths": SIZES} | options
    return case(
        name,
        lambda *x: function(ft.linalg, *x),
        lambda *x: function(np.linalg, *x),
        *operands,
        **options,
    )


def _turned(x):
    return ft.matrix_transpose(x) if not isinstance(x, np.ndarray) else np.swapaxes(x, -1, -2)


def _svd(n, x):
    u, s, vt = n.svd(x, full_matrices=False)
    return s, (u * s[..., None, :]) @ vt


def _eigh(n, x):
    w, v = n.eigh(x)
    return w, (v * w[..., None, :]) @ _turned(v)


def _eig(n, x):
    w, v = n.eig(x)
    return ft.abs(v * w[..., None, :] - x @ v) + ft.abs(w).sum(-1)[..., None, None]


def _abs_eig(x):
    return np.zeros(x.shape) + np.abs(np.linalg.eigvals(x)).sum(-1)[..., None, None]


def _qr(n, x):
    q, r = n.qr(x)
    return q @ r, _turned(q) @ q


MATRICES = [
    both("cholesky", lambda n, x: n.cholesky(x), square(mostly_definite)),
    both("cholesky of stacks", lambda n, x: n.cholesky(x), square(mostly_definite, "bmm")),
    both("cholesky of threes", lambda n, x: n.cholesky(x), square(mostly_definite, "b33")),
    both(
        "solve",
        lambda n, x, y: n.solve(x, y),
        square(mostly_regular),
        Operand("mn", finite),  # the order of LAPACK's sums decides what is made of infinities
    ),
    both("inv", lambda n, x: n.inv(x), square(mostly_regular)),
    both("inv of stacks", lambda n, x: n.inv(x), square(mostly_regular, "bmm")),
    both("det", lambda n, x: n.det(x), square(mostly_regular)),
    both(
        "slogdet",
        lambda n, x: n.slogdet(x),
        square(mostly_regular, "bmm"),
        same_bits=FUNCTIONS,
    ),
    both("qr", _qr, Operand("mn", finite)),
    both("svd", _svd, Operand("mn", finite)),
    both("singular values", lambda n, x: n.svd(x, compute_uv=False), Operand("bmn", finite)),
    both("eigh", _eigh, square(symmetric)),
    both("eigvalsh", lambda n, x: n.eigvalsh(x), square(symmetric, "bmm")),
    both("pinv", lambda n, x: n.pinv(x), square(dominant, "mn")),
    both("matrix_power", lambda n, x: n.matrix_power(x, 3), square(dominant)),
    both("norm", lambda n, x: n.norm(x), Operand("mn")),
    case(
        "eig",
        lambda x: _eig(ft.linalg, x),
        _abs_eig,
        square(dominant),
        dtypes=("float64",),
        tolerance=1e-9,
        lengths=SIZES,
    ),
]
