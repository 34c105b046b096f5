"""Every scalar op, for every dtype it takes, against NumPy: bit for bit, or within 4 ulp."""

from itertools import product

import numpy as np
import pytest
from native import DTYPES, kernel, result_dtype, run, same, samples, ulps
from scipy import special

from frazil.link.c import CCompiler
from frazil.link.cranelift import CraneliftCompiler
from frazil.link.numba import NumbaCompiler
from frazil.scalar import TABLE, Elementary, cast
from frazil.scalar.scipy_functions import ARITIES

OPS = [Elementary(name) for name in TABLE if name != "cast"] + [cast(dtype) for dtype in DTYPES]
COMPILERS = {"c": CCompiler, "cranelift": CraneliftCompiler, "numba": NumbaCompiler}
SAME_DTYPES = dict.fromkeys(COMPILERS, DTYPES)
SAME_DTYPES["numba"] = ("bool", "int8", "int64", "uint64", "float32", "float64")
MIXED = [
    ("int64", "uint64"),
    ("uint64", "int8"),
    ("int8", "float32"),
    ("bool", "float64"),
    ("uint8", "int16"),
    ("float64", "float32"),
    ("int64", "float32"),
    ("bool", "int32"),
]
LONG_DOUBLE = {
    name: getattr(np, name)
    for name in (
        *("exp", "exp2", "expm1", "log", "log10", "log1p", "log2", "sin", "cos", "tan", "tanh"),
        *("sinh", "cosh", "arcsin", "arccos", "arctan", "arcsinh", "arccosh", "arctanh"),
        *("arctan2", "sqrt", "cbrt", "hypot"),
    )
} | {
    "pow": np.power,
    "log1mexp": lambda x: np.where(x > -0.69, np.log(-np.expm1(x)), np.log1p(-np.exp(x))),
    "sigmoid": lambda x: np.where(x < 0, np.exp(x), 1) / (1 + np.exp(-np.abs(x))),
    "softplus": lambda x: np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x))),
    "log_sigmoid": lambda x: -(np.maximum(-x, 0) + np.log1p(np.exp(-np.abs(x)))),
}
"""What a wider type tells to more digits than are compared."""

CLOSE = {"logaddexp": np.logaddexp, "erf": special.erf, "erfc": special.erfc}
CLOSE |= {"gammaln": special.gammaln}
CLOSE |= {
    name: TABLE[name].ufunc
    for name in ("log1mexp", "psi", "tri_gamma", "polygamma", "zeta", *ARITIES)
}
"""What can only be compared to a reference that is itself some ulp off."""


@pytest.fixture(scope="module", params=COMPILERS)
def compiled(request):
    """For every tuple of operand dtypes, a kernel of all ops that take them, in native code."""
    compiler = COMPILERS[request.param]()
    same_dtypes = SAME_DTYPES[request.param]
    combinations = [
        *((dtype,) for dtype in same_dtypes),
        *((dtype, dtype) for dtype in same_dtypes),
        *MIXED,
        *(("bool", dtype, dtype) for dtype in same_dtypes),
        *((dtype,) * 3 for dtype in same_dtypes if dtype != "bool"),
        ("bool", "int32", "float64"),
    ]
    kernels = {}
    for dtypes in combinations:
        ops = [op for op in OPS if op.nin == len(dtypes) and result_dtype(op, *dtypes)]
        positions = range(len(dtypes))
        made = kernel(
            dtypes,
            [(op, positions) for op in ops],
            [len(dtypes) + k for k in range(len(ops))],
        )
        kernels[dtypes] = made
    return dict(
        zip(
            kernels,
            zip(kernels.values(), compiler.compile(list(kernels.values())), strict=True),
            strict=True,
        )
    )


def operands(op, dtypes):
    """Operands for an op: all pairs of the special values too."""
    lists = [samples(dtype, 1500, seed) for seed, dtype in enumerate(dtypes)]
    if len(dtypes) == 2:
        pairs = list(product(*(values[:60] for values in lists)))
        lists = [
            np.concatenate([values[:1500], np.array([pair[k] for pair in pairs], dtype=dtype)])
            for k, (values, dtype) in enumerate(zip(lists, dtypes, strict=True))
        ]
    n = min(map(len, lists))
    return [np.ascontiguousarray(values[:n]) for values in lists]


def test_agrees_with_the_reference(compiled):
    wrong = []
    for dtypes, (made, native) in compiled.items():
        values = operands(None, dtypes)
        if len(dtypes) == 2 and any(statement.op.name == "pow" for statement in made.statements):
            exponents = values[1]
            if result_dtype(Elementary("pow"), *dtypes).startswith("int"):
                exponents[exponents < 0] = 3
        outs = run(native, made, values)
        for statement, got in zip(made.statements, outs, strict=True):
            bad = disagreements(statement.op, values, got)
            wrong += [
                f"{statement.op}{tuple(v[k] for v in values)}: {got[k]!r}, not {want!r}"
                for k, want in bad[:3]
            ]
    assert not wrong, "\n".join(wrong)


def disagreements(op, values, got):
    """The positions where a result is wrong, with what is right."""
    with np.errstate(all="ignore"):
        if got.dtype.kind == "f" and op.name in LONG_DOUBLE:
            exact = [v.astype(got.dtype).astype(np.longdouble) for v in values]
            want = LONG_DOUBLE[op.name](*exact)
            wrong = ulps(got, want) > 4
        elif op.name in CLOSE:
            want = CLOSE[op.name](*(v.astype(got.dtype).astype("f8") for v in values))
            want = want.astype(got.dtype)
            off = np.abs(got - want) <= 32 * np.finfo(got.dtype).eps * np.maximum(np.abs(want), 0.1)
            wrong = ~(same(got, want) | off)
        else:
            want = op.compute(got.dtype.name, *values)
            wrong = ~same(got, want)
            if op.name in ("maximum", "minimum", "fmax", "fmin", "clip"):
                # Of two zeros NumPy takes either, as the vector instructions happen to.
                wrong &= (got != want) | (want != 0)
            if op.dtype is not None and got.dtype.kind in "iu" and values[0].dtype.kind == "f":
                # What an integer cannot hold is anything: NumPy's own loops do not agree on it.
                limits = np.iinfo(got.dtype)
                whole = np.trunc(values[0].astype(np.longdouble))
                wrong &= (whole >= limits.min) & (whole <= limits.max)
    return [(k, want[k]) for k in np.flatnonzero(wrong)]
