"""Functions of the C library go through blocks of elements whatever is made of their results."""

import numpy as np
import pytest
from vector_registers import scalar_calls

import frazil as fz
import frazil.tensor as ft
from frazil.link.c.compiler import CCompiler
from frazil.link.c.functions import vector_functions

FORMS = {
    "less": lambda x, y, m, k: ft.lt(0.0, ft.tanh(x)),
    "equal": lambda x, y, m, k: ft.eq(ft.tanh(x), ft.tanh(y)),
    "between": lambda x, y, m, k: (ft.tanh(x) > 0) & (ft.sin(y) < 0.5) | m,
    "not": lambda x, y, m, k: ~(ft.tanh(x) > 0),
    "exclusive or": lambda x, y, m, k: (ft.tanh(x) > 0) ^ (ft.sin(y) > 0),
    "isnan": lambda x, y, m, k: ft.isnan(ft.tan(x)) | ft.isinf(ft.sinh(y)),
    "mask": lambda x, y, m, k: ft.where(m, ft.tanh(x), -1.0),
    "masks": lambda x, y, m, k: ft.where(m & (x > 0), ft.tanh(x), ft.sin(y)),
    "nested": lambda x, y, m, k: ft.where(m, ft.where(x > 0, ft.tanh(x), y), ft.cos(y)),
    "chosen mask": lambda x, y, m, k: ft.where(m, ft.tanh(x) > 0, ft.sin(y) > 0),
    "checked": lambda x, y, m, k: ft.where(ft.all(ft.tanh(y) > -2), ft.tanh(x), -np.inf),
    "checked by element": lambda x, y, m, k: ft.where(
        (x > 0) & (y > 0) & m, ft.sin(x) * ft.tanh(y) - ft.erf(x), -np.inf
    ),
    "to bool": lambda x, y, m, k: ft.cast(ft.tanh(x), "bool"),
    "to int8": lambda x, y, m, k: ft.cast(ft.tanh(x) * 100, "int8"),
    "comparison to int8": lambda x, y, m, k: ft.cast(ft.tanh(x) > 0, "int8") + k,
    "to int64": lambda x, y, m, k: ft.cast(ft.tanh(x) > 0, "int64") * 3,
    "from bool": lambda x, y, m, k: m * ft.tanh(x) + (ft.sin(y) > 0),
    "from int8": lambda x, y, m, k: k * ft.tanh(x) + ft.cast(k + 1, x.dtype),
    "function of bool": lambda x, y, m, k: ft.tanh(ft.cast(m, x.dtype)) * ft.sin(x),
    "function of int8": lambda x, y, m, k: ft.tanh(ft.cast(k * k, x.dtype)) + ft.sin(x),
    "sign": lambda x, y, m, k: ft.sgn(ft.tanh(x)),
    "any": lambda x, y, m, k: ft.any(ft.tanh(x) > 0.9999),
    "all of rows": lambda x, y, m, k: ft.all(ft.tanh(x) > -2, axis=1),
    "any of columns": lambda x, y, m, k: ft.any((ft.tanh(x) > 0.5) & m, axis=0),
    "count": lambda x, y, m, k: ft.sum(ft.tanh(x) > 0, axis=1),
    "masked sum": lambda x, y, m, k: ft.sum(ft.where(m, ft.tanh(x), 0), axis=0),
    "largest int8": lambda x, y, m, k: ft.max(ft.cast(ft.tanh(x) * 9, "int8"), axis=1),
    "rows": lambda x, y, m, k: ft.softmax(ft.where(m, ft.tanh(x), -1), axis=1),
    "rows with a mask kept": lambda x, y, m, k: ft.where(
        ft.tanh(x) > 0, ft.softmax(ft.sin(y), axis=1), 0
    ),
    "rows that are checked": lambda x, y, m, k: ft.where(
        ft.all(m, axis=1), ft.log(ft.sum(ft.tanh(x) ** 2, axis=1)), -1.0
    ),
    "composed functions": lambda x, y, m, k: ft.where(
        m, ft.sigmoid(x), ft.where(y > 0, ft.softplus(x), ft.log1mexp(-ft.abs(x) - 1))
    ),
    "composed and compared": lambda x, y, m, k: (ft.sigmoid(x) > 0.5) | (ft.logaddexp(x, y) > 0),
    "bools compared": lambda x, y, m, k: ft.eq(m, ft.tanh(x) > 0) | ft.lt(m, ft.sin(y) > 0),
    "bools in order": lambda x, y, m, k: ft.maximum(m, ft.minimum(ft.tanh(x) > 0, ft.sin(y) > 0)),
    "bools added": lambda x, y, m, k: (m + (ft.tanh(x) > 0)) * (ft.sin(y) > 0),
    "one for each row": lambda x, y, m, k: ft.where(
        ft.expand_dims(m[:, 0], 1), ft.tanh(x), ft.sin(y)
    ),
    "one for all": lambda x, y, m, k: ft.where(m.any(), ft.tanh(x), ft.sin(y) > 0),
    "several results": lambda x, y, m, k: [ft.tanh(x), ft.tanh(x) > 0, ft.where(m, y, ft.tanh(x))],
    "beside a scalar function": lambda x, y, m, k: ft.where(
        m & (ft.gammaln(ft.exp(y)) > 0), ft.tanh(x), ft.sin(y)
    ),
    "rounded": lambda x, y, m, k: ft.where(ft.floor(ft.tanh(x) * 3) == 1, 1, ft.sin(y)),
    "put in order": lambda x, y, m, k: ft.maximum(ft.tanh(x), ft.where(m, 0, ft.sin(y))),
}


def arguments(dtype, shape):
    """Two arrays of floats, one of bools, one of int8."""
    rng = np.random.default_rng(11)
    floats = [rng.normal(size=shape).astype(dtype) for _ in range(2)]
    floats[0].flat[::7] = (np.nan, np.inf, -np.inf, 0.0, -0.0)[shape[1] % 5]
    return *floats, rng.random(shape) < 0.6, rng.integers(-100, 100, shape).astype("int8")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_functions_are_vectorised_in_every_form(form, dtype, monkeypatch):
    """No kernel calls the function that takes one element; the values are those of NumPy."""
    images = set()
    make = CCompiler.compile

    def compile(own, kernels):
        found = make(own, kernels)
        images.update(own.symbol(native.keepalive).image for native in found)
        return found

    monkeypatch.setattr(CCompiler, "compile", compile)
    monkeypatch.setenv("FRAZIL_CACHE", "off")
    x, y = ft.matrix("x", dtype=dtype), ft.matrix("y", dtype=dtype)
    m, k = ft.matrix("m", dtype="bool"), ft.matrix("k", dtype="int8")
    built = FORMS[form](x, y, m, k)
    graphs = built if isinstance(built, list) else [built]
    function = fz.function([x, y, m, k], graphs, mode="c", on_unused_input="ignore")
    suffix = "f" if dtype == "float32" else ""
    called = {f"{name}{suffix}" for name in vector_functions()}
    assert images
    assert not [found for image in images if (found := scalar_calls(image.code, called))]

    expected = fz.function([x, y, m, k], graphs, mode="py", on_unused_input="ignore")
    rtol = 1e-12 if dtype == "float64" else 1e-5
    for shape in ((3, 37), (40, 8), (5, 131), (0, 3), (1, 1)):
        drawn = arguments(dtype, shape)
        with np.errstate(all="ignore"):
            wanted = expected(*drawn)
        for got, want in zip(function(*drawn), wanted, strict=True):
            assert got.dtype == want.dtype
            np.testing.assert_allclose(got, want, rtol=rtol, atol=rtol)
