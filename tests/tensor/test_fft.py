"""Fourier transforms: NumPy's results, gradients, lengths and batches."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft
from frazil.testing import verify_grad

OF_ONE = ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"]
OF_SEVERAL = ["fftn", "ifftn", "rfftn", "irfftn", "fft2", "ifft2", "rfft2", "irfft2"]
OF_REAL = {"rfft", "ihfft", "rfftn", "rfft2"}
NORMS = [None, "backward", "ortho", "forward"]


def numbers(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=shape)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * rng.normal(size=shape)
    return values.astype(dtype)


def close(own, numpys):
    assert own.dtype == numpys.dtype
    assert own.shape == numpys.shape
    eps = np.finfo(own.dtype).eps
    size = np.abs(numpys).max(initial=1)
    np.testing.assert_allclose(own, numpys, rtol=0, atol=size * eps * (4 + np.log2(own.size + 1)))


@pytest.mark.parametrize("name", OF_ONE)
@settings(max_examples=10, deadline=None)
@given(st.data())
def test_transforms_of_one_dimension_are_numpys(name, data):
    kinds = ["float32", "float64", "int64"] + (["complex64", "complex128"] * (name not in OF_REAL))
    dtype = data.draw(st.sampled_from(kinds))
    shape = data.draw(st.sampled_from([(5,), (2, 4), (3, 1, 2), (2, 3, 4), (0, 3)]))
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    if not shape[axis]:
        axis = -1
    least = 2 if shape[axis] == 1 and name in ("irfft", "hfft") else 1
    n = data.draw(st.one_of(st.integers(least, 7), st.none()) if least == 1 else st.just(3))
    norm = data.draw(st.sampled_from(NORMS))
    a = numbers(shape, dtype)[..., ::-1]
    known = data.draw(st.booleans())
    x = ft.tensor("x", dtype=dtype, shape=shape if known else (None,) * len(shape))
    if not a.size:
        n = 4
    result = getattr(ft.fft, name)(x, n, axis, norm)
    numpys = getattr(np.fft, name)(a.astype("float64") if a.dtype.kind == "i" else a, n, axis, norm)
    close(result.eval({x: a}), numpys)


@pytest.mark.parametrize("name", OF_SEVERAL)
@pytest.mark.parametrize(
    ("s", "axes"), [(None, (-2, -1)), ((3, 5), (0, 2)), ((2, -1), (1, 2)), ((4, 2), (-1, 0))]
)
def test_transforms_of_several_dimensions_are_numpys(name, s, axes):
    dtype = "float64" if name in OF_REAL else "complex128"
    a = numbers((3, 4, 5), dtype)
    x = ft.tensor3("x", dtype=dtype)
    result = getattr(ft.fft, name)(x, s, axes, "ortho")
    close(result.eval({x: a}), getattr(np.fft, name)(a, s, axes, "ortho"))


@pytest.mark.parametrize("linker", ["py", "c", "cranelift", "numba", "debug"])
def test_all_linkers_transform(linker):
    x = ft.vector("x")
    back = ft.fft.irfft(ft.fft.rfft(x * 2) * 0.5, x.shape[0])
    found = fz.function([x], [back, ft.abs(ft.fft.fft(x)) ** 2], mode=linker)(np.arange(5.0))
    close(found[0], np.arange(5.0))
    close(found[1], np.abs(np.fft.fft(np.arange(5.0))) ** 2)


def test_lengths_may_be_known_to_calls_only():
    x, n = ft.vector("x"), ft.lscalar("n")
    f = fz.function([x, n], [ft.fft.fft(x, n), ft.fft.rfft(x, n), ft.fft.irfft(x, n)], mode="c")
    a = np.arange(4.0)
    for count in (1, 3, 4, 6):
        wanted = [np.fft.fft(a, count), np.fft.rfft(a, count), np.fft.irfft(a, count)]
        for own, numpys in zip(f(a, count), wanted, strict=True):
            close(own, numpys)


@pytest.mark.parametrize("norm", ["backward", "ortho", "forward"])
@pytest.mark.parametrize("n", [None, 3, 4, 7])
@pytest.mark.parametrize("name", OF_ONE)
def test_gradients_are_those_of_finite_differences(name, n, norm):
    def of_parts(x, y):
        result = getattr(ft.fft, name)(x if name in OF_REAL else x + 1j * y, n, 0, norm)
        return ft.real(result) + 2 * ft.imag(result) + ft.real(result * result)

    points = [numbers((4, 2), "float64", 1), numbers((4, 2), "float64", 2)]
    verify_grad(of_parts, points, n_tests=1, mode="py")


def test_the_gradient_of_a_transform_of_several_dimensions():
    def of_parts(x, y):
        made = ft.fft.irfftn(ft.fft.fft2(ft.fft.rfftn(x) * ft.complex(y[:, :2], 1.0)), (3, 3))
        return ft.real(made) ** 2

    points = [numbers((2, 3), "float64", 1), numbers((2, 3), "float64", 2)]
    verify_grad(of_parts, points, n_tests=1, mode="py")


def test_batches_are_as_loops():
    x, xs = ft.vector("x"), ft.matrix("xs")
    result = ft.fft.irfft(ft.fft.rfft(x) * 1j) + ft.real(ft.fft.fft(x))[:4]
    values = numbers((3, 4), "float64")
    one = fz.function([x], result, mode="py")
    close(fz.vectorize(result, {x: xs}).eval({xs: values}), np.array([one(v) for v in values]))


@pytest.mark.parametrize("n", [1, 2, 5, 6])
def test_frequencies_and_shifts_are_numpys(n):
    k = ft.lscalar("k")
    for name in ("fftfreq", "rfftfreq"):
        own, numpys = getattr(ft.fft, name), getattr(np.fft, name)
        np.testing.assert_array_equal(own(n, 0.3).eval(), numpys(n, 0.3))
        np.testing.assert_array_equal(own(k).eval({k: n}), numpys(n))
    a = np.arange(3 * n).reshape(3, n)
    x = ft.matrix("x", dtype="int64")
    for name in ("fftshift", "ifftshift"):
        for axes in (None, 0, (1,), (0, 1)):
            own, numpys = getattr(ft.fft, name)(x, axes), getattr(np.fft, name)(a, axes)
            np.testing.assert_array_equal(own.eval({x: a}), numpys)


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda x: ft.fft.fft(x, 0), ValueError, "Invalid number of FFT data points"),
        (lambda x: ft.fft.fft(x, norm="none"), ValueError, "Invalid norm value"),
        (lambda x: ft.fft.fft(x, axis=2), np.exceptions.AxisError, "out of bounds"),
        (lambda x: ft.fft.fft(1.0), ValueError, "with dimensions"),
        (lambda x: ft.fft.rfft(x * 1j), TypeError, "takes real numbers"),
        (lambda x: ft.fft.fftn(x, (2, 3), (0,)), ValueError, "different lengths"),
        (lambda x: ft.fft.fft(x).eval({x: []}), ValueError, "Invalid number of FFT data points"),
        (
            lambda x: ft.fft.irfft(x).eval({x: [1.0]}),
            ValueError,
            "Invalid number of FFT data points",
        ),
    ],
)
def test_mistakes_are_told(call, error, says):
    with pytest.raises(error, match=says):
        call(ft.vector("x"))
