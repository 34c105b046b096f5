"""Bad input raises the class that NumPy or SciPy raises, before a call or by it."""

import numpy as np
import pytest
import scipy.linalg

import frazil as fz
import frazil.tensor as ft

X = np.arange(6.0)
M = X.reshape(2, 3)
K = np.array([0, 5])
NONE = np.zeros(0)
I3 = np.eye(3)
SINGULAR = np.zeros((3, 3))
INDEFINITE = -np.eye(3)
NOT_NUMBERS = np.full((3, 3), np.nan)
CUBE = np.zeros((2, 2, 2))
MASK = np.array([True, False])
TWO = np.zeros(2)

along_axes = (
    *("sum", "prod", "max", "min", "mean", "var", "std", "all", "any", "argmax", "argmin"),
    *("cumsum", "cumprod", "sort", "argsort", "median", "ptp", "count_nonzero", "nansum"),
    *("nanmax", "nanmean", "flip"),
)

CALLS = {
    **{f"{f} along 5": (lambda n, x, f=f: getattr(n, f)(x, axis=5), M) for f in along_axes},
    **{f"{f} along 1.5": (lambda n, x, f=f: getattr(n, f)(x, axis=1.5), M) for f in along_axes},
    **{
        f"{f} of none": (lambda n, x, f=f: getattr(n, f)(x), NONE) for f in ("max", "argmin", "ptp")
    },
    "sum along twice": (lambda n, x: n.sum(x, axis=(0, 0)), M),
    "max of no rows": (lambda n, x: n.max(x, axis=0), np.zeros((0, 3))),
    "reshape": (lambda n, x: n.reshape(x, (4,)), X),
    "reshape with two unknown": (lambda n, x: n.reshape(x, (-1, -1)), X),
    "reshape with one unknown": (lambda n, x: n.reshape(x, (-1, 4)), X),
    "concatenate lengths": (lambda n, x, y: n.concatenate([x, y]), M, np.zeros((2, 2))),
    "concatenate ranks": (lambda n, x, y: n.concatenate([x, y]), M, X),
    "concatenate numbers": (lambda n, x: n.concatenate([x, x]), np.array(1.0)),
    "stack": (lambda n, x, y: n.stack([x, y]), X, TWO),
    "split": (lambda n, x: n.array_split(x, 0), X),
    "item": (lambda n, x: x[10], X),
    "items": (lambda n, x, k: x[k], TWO, K),
    "too many items": (lambda n, x: x[0, 0], X),
    "a float as item": (lambda n, x: x[1.5], X),
    "text as item": (lambda n, x: x["a"], X),
    "floats as items": (lambda n, x, y: x[y], X, TWO),
    "a mask of another length": (lambda n, x, y: x[y], X, MASK),
    "two ellipses": (lambda n, x: x[..., ...], M),
    "a step of zero": (lambda n, x: x[::0], X),
    "rows and columns": (lambda n, x, k: x[k[:1], k[[0, 0, 0]][1:]][[5]], M, K),
    "take": (lambda n, x: n.take(x, [10]), X),
    "take of none": (lambda n, x: n.take(x, [0]), NONE),
    "take mode": (lambda n, x: n.take(x, [0], mode="x"), X),
    "take along": (lambda n, x, k: n.take_along_axis(x, k, 0), TWO, K),
    "repeat": (lambda n, x: n.repeat(x, -1), X),
    "repeats": (lambda n, x, k: n.repeat(x, k), X, K),
    "roll": (lambda n, x: n.roll(x, 1, axis=3), X),
    "transpose": (lambda n, x: n.transpose(x, (0, 0)), M),
    "moveaxis": (lambda n, x: n.moveaxis(x, 0, 5), M),
    "expand_dims": (lambda n, x: n.expand_dims(x, 7), M),
    "squeeze": (lambda n, x: n.squeeze(x, 0), M),
    "broadcast_to": (lambda n, x: n.broadcast_to(x, (3,)), X),
    "add": (lambda n, x, y: x + y, X, np.ones(4)),
    "matmul": (lambda n, x: n.matmul(x, x), M),
    "matmul of a number": (lambda n, x, y: n.matmul(x, y), M, np.array(2.0)),
    "dot": (lambda n, x: n.dot(x, x), M),
    "tensordot": (lambda n, x: n.tensordot(x, x, 1), M),
    "einsum": (lambda n, x: n.einsum("ij,jk", x, x), M),
    "einsum of a diagonal": (lambda n, x: n.einsum("ii", x), M),
    "einsum of a diagonal in front": (lambda n, x: n.einsum("iij->j", x), np.zeros((1, 3, 2))),
    "einsum letters": (lambda n, x: n.einsum("ij->ik", x), M),
    "linspace": (lambda n, x: n.linspace(0, x[0], -1), X),
    "geomspace": (lambda n, x: n.geomspace(0, x[1], 3), X),
    "eye": (lambda n, x: n.eye(-1) + x, X),
    "full": (lambda n, x: n.full((2,), x), X),
    "pad": (lambda n, x: n.pad(x, (-1, 0)), X),
    **{
        f"pad {mode} {name}": (
            lambda n, x, m=mode, k=name, v=value: n.pad(x, 1, mode=m, **{k: v}),
            X,
        )
        for mode, name, value in (
            ("constant", "stat_length", 2),
            ("edge", "constant_values", 3),
            ("wrap", "reflect_type", "odd"),
            ("mean", "end_values", 1),
            ("linear_ramp", "constant_values", 1),
            ("reflect", "stat_length", 1),
            ("mean", "stat_length", -1),
        )
    },
    "pad mode": (lambda n, x: n.pad(x, 1, mode="zz"), X),
    "interp": (lambda n, x, y: n.interp(1.0, x, y), X, TWO),
    "searchsorted side": (lambda n, x: n.searchsorted(x, 1.0, side="mid"), X),
    "searchsorted sorter": (lambda n, x, k: n.searchsorted(x, 1.0, sorter=k), X, K),
    "unravel_index": (lambda n, k: n.unravel_index(k, (2, 2)), K),
    "ravel_multi_index": (lambda n, k: n.ravel_multi_index((k, k), (2, 3)), K),
    "quantile": (lambda n, x: n.quantile(x, 1.5), X),
    "quantile method": (lambda n, x: n.quantile(x, 0.5, method="x"), X),
    "quantile of none": (lambda n, x: n.quantile(x, 0.5), NONE),
    "bincount": (lambda n, k: n.bincount(-k), K),
    "bincount of floats": (lambda n, x: n.bincount(x), X),
    "bincount of a matrix": (lambda n, x: n.bincount(x), np.array([[1]])),
    "bincount minlength": (lambda n, k: n.bincount(k, minlength=-1), K),
    "bincount weights": (lambda n, k, x: n.bincount(k, weights=x), K, X),
    "histogram": (lambda n, x: n.histogram(x, bins=0), X),
    "histogram ends": (lambda n, x, y: n.histogram(x, bins=y), X, X[::-1].copy()),
    "histogram range": (lambda n, x: n.histogram(x, range=(2, 1)), X),
    "histogram of NaN": (lambda n, x: n.histogram(x), np.array([1.0, np.nan])),
    "digitize": (lambda n, x, y: n.digitize(x, y), X, np.array([1.0, 3.0, 2.0])),
    "average": (lambda n, x, y: n.average(x, weights=y), M, X),
    **{
        f"{f} of {which}": (lambda n, x, y, f=f: getattr(n, f)(x, y), *arrays)
        for f in ("convolve", "correlate")
        for which, arrays in {"nothing": (NONE, X), "something by nothing": (X, NONE)}.items()
    },
    "sliding_window_view": (lambda n, x: np.lib.stride_tricks.sliding_window_view(x, 7), X),
    "convolve": (lambda n, x: n.convolve(x, x, mode="zz"), X),
    "diff": (lambda n, x: n.diff(x, n=-1), X),
    "diag": (lambda n, x: n.diag(x), CUBE),
    "diagonal": (lambda n, x: n.diagonal(x), X),
    "choose": (lambda n, k, x: n.choose(k, [x, x + 1]), K, TWO),
    "partition": (lambda n, x: n.partition(x, 10), X),
    "gradient": (lambda n, x: n.gradient(x), X[:1]),
    "vander": (lambda n, x: n.vander(x), M),
    "integers to negative powers": (lambda n, k: n.power(k, -1), K),
    "invert": (lambda n, x: n.invert(x), X),
    "left_shift": (lambda n, x: n.left_shift(x, 1), X),
    **{
        f"{f} of complex numbers": (lambda n, x, f=f: getattr(n, f)(x), TWO + 1j)
        for f in ("isneginf", "isposinf", "deg2rad", "radians", "rad2deg", "degrees", "fabs")
    },
    **{
        f"{f} in integers": (lambda n, x, f=f: getattr(n, f)(x, dtype="int64"), X)
        for f in ("nanmean", "nanvar", "nanstd")
    },
    "difference of bools": (lambda n, b: n.subtract(b, b), MASK),
    "a number that does not fit": (lambda n, k: n.add(k, 300), K.astype("int8")),
    "fft length": (lambda n, x: n.fft.fft(x, n=0), X),
    "fft axis": (lambda n, x: n.fft.rfft(x, axis=5), X),
    "fft norm": (lambda n, x: n.fft.ifft(x, norm="x"), X),
    "rfft of complex": (lambda n, x: n.fft.rfft(x), X + 1j),
    **{
        f"{f} of {kind}": (lambda n, a, f=f: getattr(n.linalg, f)(a), a)
        for f in ("cholesky", "inv", "det", "slogdet", "eigh", "eigvalsh", "eig", "eigvals")
        for kind, a in (("no square", M), ("a vector", X), ("a number", np.array(1.0)))
    },
    **{
        f"{f} of {kind}": (lambda n, a, f=f: getattr(n.linalg, f)(a), a)
        for f in ("qr", "svd", "pinv", "svdvals")
        for kind, a in (("a vector", X), ("a number", np.array(1.0)))
    },
    **{
        f"matrix_power of {kind}": (lambda n, a: n.linalg.matrix_power(a, 2), a)
        for kind, a in (("no square", M), ("a vector", X))
    },
    "cholesky of no positive definite": (lambda n, a: n.linalg.cholesky(a), INDEFINITE),
    "inv of a singular matrix": (lambda n, a: n.linalg.inv(a), SINGULAR),
    "solve with a singular matrix": (lambda n, a: n.linalg.solve(a, a[0]), SINGULAR),
    "solve with no square": (lambda n, a: n.linalg.solve(a, a[:, 0]), M),
    "solve of other rows": (lambda n, a, b: n.linalg.solve(a, b), I3, np.ones(4)),
    "svd of NaN": (lambda n, a: n.linalg.svd(a), NOT_NUMBERS),
    "eigh of NaN": (lambda n, a: n.linalg.eig(a), NOT_NUMBERS),
    "matrix_power by a float": (lambda n, a: n.linalg.matrix_power(a, 1.5), I3),
    "norm ord": (lambda n, a: n.linalg.norm(a, 3), I3),
    "norm name": (lambda n, a: n.linalg.norm(a, "x"), I3),
    "norm axis": (lambda n, a: n.linalg.norm(a, axis=5), I3),
    "qr mode": (lambda n, a: n.linalg.qr(a, mode="x"), I3),
    "multi_dot of one": (lambda n, a: n.linalg.multi_dot([a]), I3),
    "eigh triangle": (lambda n, a: n.linalg.eigh(a, UPLO="X"), I3),
    "tensorinv": (lambda n, a: n.linalg.tensorinv(a), M),
}
"""What is called with frazil.tensor, or with NumPy, and the arrays it is called on."""

SCIPYS = {
    "expm of no square": (lambda n, a: n.expm(a), M),
    "lu of NaN's kin": (lambda n, a: n.solve(a, a[0], assume_a="xx"), I3),
    "solve_triangular of a singular matrix": (lambda n, a: n.solve_triangular(a, a[0]), SINGULAR),
    "solve_triangular of other rows": (
        lambda n, a, b: n.solve_triangular(a, b),
        I3,
        np.ones(4),
    ),
    "solve of kinds": (lambda n, a: n.solve(a, a[0], assume_a="pos"), INDEFINITE),
    "solve_banded": (lambda n, a, b: n.solve_banded((1, 1), a, b), I3, np.ones(4)),
    "solve_sylvester": (lambda n, a, b: n.solve_sylvester(a, b, b), M, I3),
    "solve_continuous_lyapunov": (lambda n, a, b: n.solve_continuous_lyapunov(a, b), M, I3),
}

ALL = {
    **{name: (call, np, ft, arrays) for name, (call, *arrays) in CALLS.items()},
    **{name: (call, scipy.linalg, ft.linalg, arrays) for name, (call, *arrays) in SCIPYS.items()},
}

LENGTHS_OF_A_RUN = ("matrix_power of no square",)
"""Lengths that are found to differ in a run are a ValueError, as where operands broadcast."""


@pytest.mark.parametrize("known", [True, False], ids=["known lengths", "open lengths"])
@pytest.mark.parametrize("name", ALL)
@pytest.mark.filterwarnings("ignore")
def test_the_class_is_that_of_numpy(name, known):
    call, theirs, ours, arrays = ALL[name]
    with pytest.raises(Exception) as expected:  # noqa: PT011  (which one is what this finds out)
        call(theirs, *arrays)
    inputs = [
        ft.tensor(dtype=x.dtype, shape=x.shape if known else (None,) * x.ndim) for x in arrays
    ]

    def run(mode):
        result = call(ours, *inputs)
        outputs = [*result] if isinstance(result, list | tuple) else [result]
        fz.function(inputs, outputs, mode=mode)(*arrays)

    by_run = not known and name in LENGTHS_OF_A_RUN
    for mode in ("py", "cranelift"):
        with pytest.raises(ValueError if by_run else expected.type):
            run(mode)
