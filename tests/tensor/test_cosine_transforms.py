"""Cosine and sine transforms, and others of SciPy's: results, gradients, lengths and batches."""

import numpy as np
import pytest
import scipy.fft
from hypothesis import given, settings
from hypothesis import strategies as st
from test_fft import close, numbers

import frazil as fz
import frazil.tensor as ft
from frazil.testing import verify_grad

OF_ONE = ["dct", "idct", "dst", "idst"]
OF_SEVERAL = ["dctn", "idctn", "dstn", "idstn"]
HERMITIAN = ["hfft2", "ihfft2", "hfftn", "ihfftn"]
norms = st.sampled_from([None, "backward", "ortho", "forward"])
types = st.integers(1, 4)
orthogonal = st.sampled_from([None, True, False])


@pytest.mark.parametrize("name", OF_ONE)
@settings(max_examples=20, deadline=None)
@given(data=st.data(), norm=norms, type=types, orthogonalize=orthogonal)
def test_transforms_of_one_dimension_are_scipys(name, data, norm, type, orthogonalize):
    dtype = data.draw(st.sampled_from(["float32", "float64", "int64", "complex64", "complex128"]))
    shape = data.draw(st.sampled_from([(5,), (2, 4), (3, 2, 2), (2, 3, 4), (0, 3)]))
    axis = -1 if 0 in shape else data.draw(st.integers(-len(shape), len(shape) - 1))
    n = data.draw(st.none() | st.integers(2, 7))
    a = numbers(shape, dtype)[..., ::-1]
    known = data.draw(st.booleans())
    x = ft.tensor("x", dtype=dtype, shape=shape if known else (None,) * len(shape))
    result = getattr(ft.fft, name)(x, type, n, axis, norm, orthogonalize=orthogonalize)
    expected = getattr(scipy.fft, name)(a, type, n, axis, norm, orthogonalize=orthogonalize)
    if not a.size:  # SciPy forgets the length then
        expected = np.empty((*shape[:-1], n or shape[-1]), result.dtype)
    linker = data.draw(st.sampled_from(["py", "cranelift"]))
    close(fz.function([x], result, mode=linker)(a), expected)


@pytest.mark.parametrize("name", OF_SEVERAL)
@pytest.mark.parametrize(
    ("s", "axes"), [(None, None), (4, 1), ((3, 5), (0, 2)), ((2, -1), (1, 2)), ((4, 2), None)]
)
@pytest.mark.parametrize("type", [1, 2, 3, 4])
def test_transforms_of_several_dimensions_are_scipys(name, s, axes, type):
    a = numbers((3, 4, 5), "float64")
    x = ft.tensor3("x")
    result = getattr(ft.fft, name)(x, type, s, axes, "ortho")
    close(result.eval({x: a}), getattr(scipy.fft, name)(a, type, s, axes, "ortho"))
    assert getattr(ft.fft, name)(5).eval() == getattr(scipy.fft, name)(5)


@pytest.mark.parametrize("name", HERMITIAN)
@pytest.mark.parametrize(("s", "axes"), [(None, (-2, -1)), ((3, 5), (0, 2)), ((4, 2), (-1, 0))])
@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
def test_hermitian_transforms_are_scipys(name, s, axes, norm):
    a = numbers((3, 4, 5), "float64" if name.startswith("i") else "complex128")
    x = ft.tensor3("x", dtype=a.dtype)
    result = getattr(ft.fft, name)(x, s, axes, norm)
    close(result.eval({x: a}), getattr(scipy.fft, name)(a, s, axes, norm))


@pytest.mark.parametrize("orthogonalize", [None, True, False])
@pytest.mark.parametrize("norm", ["backward", "ortho", "forward"])
@pytest.mark.parametrize("type", [1, 2, 3, 4])
@pytest.mark.parametrize("name", OF_ONE)
def test_gradients_are_transposes(name, type, norm, orthogonalize):
    """Of a linear function, the gradient is its matrix, transposed; so is that of the gradient."""
    x, g = ft.dmatrix("x"), ft.dmatrix("g")
    made = getattr(ft.fft, name)(x, type, axis=0, norm=norm, orthogonalize=orthogonalize)
    back = fz.grad(ft.sum(made * g), x)
    again = fz.grad(ft.sum(back * x), g)
    a, b = numbers((4, 2), "float64", 1), numbers((4, 2), "float64", 2)
    f = fz.function([x, g], [made, back, again], mode="py")
    forward, backward, twice = f(a, b)
    np.testing.assert_allclose((forward * b).sum(), (a * backward).sum(), rtol=1e-12)
    np.testing.assert_allclose(twice, forward, rtol=1e-12, atol=1e-12)
    columns = [f(a, e)[1] for e in np.eye(4)[:, :, None] * np.ones(2)]
    matrix = getattr(scipy.fft, name)(
        np.eye(4), type, axis=0, norm=norm, orthogonalize=orthogonalize
    )
    np.testing.assert_allclose(np.array(columns)[:, :, 0], matrix, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dtype", ["float32", "complex64", "complex128"])
def test_gradients_keep_the_dtype(dtype):
    x = ft.tensor("x", dtype=dtype, shape=(None,))
    for type in (1, 2, 3, 4):
        made = ft.fft.dct(x, type, 5)
        cost = ft.sum(ft.real(made * ft.conj(made)))
        assert fz.grad(cost, x).dtype == dtype


def test_the_gradient_of_transforms_of_several_dimensions():
    def of_parts(x, y):
        made = ft.fft.hfft2(ft.fft.ihfftn(ft.fft.dctn(x) * ft.fft.idstn(y, 3)) * (1 + 2j))
        return made**2

    points = [numbers((2, 4), "float64", 1), numbers((2, 4), "float64", 2)]
    verify_grad(of_parts, points, n_tests=1, mode="py")


def test_batches_are_as_loops():
    x, xs = ft.vector("x"), ft.matrix("xs")
    result = ft.fft.dct(x, 1) * ft.fft.idst(ft.fft.dct(x, n=4), norm="ortho")
    values = numbers((3, 4), "float64")
    one = fz.function([x], result, mode="py")
    close(fz.vectorize(result, {x: xs}).eval({xs: values}), np.array([one(v) for v in values]))


def test_lengths_may_be_known_to_calls_only():
    x, n = ft.vector("x"), ft.lscalar("n")
    f = fz.function([x, n], [ft.fft.dct(x, n=n), ft.fft.dctn(x, s=n)], mode="c")
    a = np.arange(4.0)
    for count in (1, 3, 4, 6):
        for own in f(a, count):
            close(own, scipy.fft.dct(a, n=count))
    steps = ft.lscalar("steps")
    rows = fz.scan(lambda s: ft.fft.dct(s) * 0.5, outputs_info=x, n_steps=steps)[0]
    assert rows.eval({x: a, steps: 0}).shape == (0, 4)


def test_fast_lengths_are_scipys():
    for n in range(200):
        for real in (False, True):
            assert ft.fft.next_fast_len(n, real) == scipy.fft.next_fast_len(n, real)
    with pytest.raises(TypeError):
        ft.fft.next_fast_len(ft.lscalar("n"))


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda x: ft.fft.dct(x, n=0), ValueError, "Invalid number of FFT data points"),
        (lambda x: ft.fft.dct(x, 5), ValueError, "invalid DCT type"),
        (lambda x: ft.fft.idst(x, 0), ValueError, "invalid DST type"),
        (lambda x: ft.fft.dct(x, norm="none"), ValueError, "Invalid norm value"),
        (lambda x: ft.fft.dct(x, axis=2), np.exceptions.AxisError, "out of bounds"),
        (lambda x: ft.fft.dctn(x, s=(2, 3), axes=(0,)), ValueError, "different lengths"),
        (lambda x: ft.fft.dct(x).eval({x: []}), ValueError, "Invalid number of FFT data points"),
        (lambda x: ft.fft.dct(x, 1).eval({x: [1.0]}), RuntimeError, "zero-length FFT"),
    ],
)
def test_mistakes_are_told(call, error, says):
    with pytest.raises(error, match=says):
        call(ft.vector("x"))
