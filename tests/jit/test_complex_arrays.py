"""Functions of complex arrays are compiled, and do what plain Python does."""

import numpy as np
import pytest

import frazil as fz

Z = np.array([1 + 2j, 0.5 - 1j, -0.3 + 0j])
M = np.array([[1 + 1j, 2], [0.5j, 3]])
COMPILED = {
    "arithmetic": (lambda z: (z * 2 - 1j) / z + z**2, Z),
    "weak numbers": (lambda z: z * 2.5j + 1, Z.astype("complex64")),
    "parts": (lambda z: z.real * z.imag - abs(z), Z),
    "conjugates": (lambda z: z.conj() * np.conjugate(z), Z),
    "reductions": (lambda z: z.sum() * z.mean() * np.prod(z), Z),
    "items": (lambda z: z[0] * z[1:], Z),
    "number": (lambda z: z * 1j, np.complex128(2 + 1j)),
    "of no dimensions": (lambda z: z.sum(), Z),
    "to complex": (lambda x: x.astype(complex) * 1j, np.ones(2)),
    "from lengths": (lambda z: z.shape[0] * 1j, Z),
    "choice": (lambda z: np.where(z.real > 0, z, 0), Z),
    "sorted": (lambda z: np.sort(z), Z),
    "equal": (lambda z: z == 0.5 - 1j, Z),
    "functions": (lambda z: np.exp(z) + np.sin(z) + np.angle(z), Z),
    "inverse": (lambda z: np.linalg.inv(z) @ z.T.conj(), M),
    "hermitian": (lambda z: np.linalg.eigh(z + z.T.conj())[0], M),
    "transform": (lambda z: np.fft.ifft(z).real, Z),
    "kinds": (lambda z: (np.iscomplexobj(z), z.dtype.kind, isinstance(z, np.ndarray)), Z),
    "captured": (lambda x: x * Z, np.ones(3)),
    "loop": (lambda z: fz.fori_loop(0, 3, lambda i, s: s * z, z * 1), Z),
    "until": (lambda z: fz.while_loop(lambda s: abs(s[0]) < 50, lambda s: s * z, z * 1), Z),
    "branch": (lambda z: fz.cond(z.sum().real > 0, lambda a: a * 1j, lambda a: a, z), Z),
    "batch": (lambda z: fz.vmap(lambda one: one * 2j)(z), Z),
}
IN_PYTHON = {
    "order": (lambda z: z < 1, Z),
    "largest": (lambda z: z.max(), Z),
    "rounded": (lambda z: np.maximum(z, 1j) * 2, Z),
    "positions": (lambda z: np.argmax(z), Z),
    "any eigenvalues": (lambda z: np.linalg.eigvals(z), M),
    "reading": (lambda z: z * 2 if z[0].real > 0 else z, Z),
}


def same(found, expected):
    assert type(found) is type(expected)
    if isinstance(expected, tuple):
        assert found == expected
        return
    dtype = np.asarray(expected).dtype
    assert np.asarray(found).dtype == dtype
    np.testing.assert_allclose(found, expected, rtol=1e-6 if dtype == "complex64" else 1e-12)


@pytest.mark.parametrize("name", COMPILED)
def test_compiled_functions(name, mode):
    function, array = COMPILED[name]
    compiled = fz.jit(function, mode=mode)
    for value in (array, array * 2, array):
        same(compiled(value), function(value))
    if name != "batch":
        assert compiled.cache_info().entries == 1
        assert compiled.cache_info().hits == 2


@pytest.mark.parametrize("name", sorted(set(IN_PYTHON) - {"reading"}))
def test_what_has_no_form_runs_as_plain_python(name):
    function, array = IN_PYTHON[name]
    compiled = fz.jit(function)
    for value in (array, array * 2):
        same(compiled(value), function(value))
    assert compiled.cache_info().entries == 0


def test_values_are_not_read():
    with pytest.raises(fz.TracedValueError):
        fz.jit(IN_PYTHON["reading"][0])(Z)


def test_errors_are_numpys():
    for function in (lambda z: np.floor(z), lambda z: z // 2, lambda z: z & 1):
        with pytest.raises(TypeError) as plain:
            function(Z)
        with pytest.raises(TypeError) as compiled:
            fz.jit(function)(Z)
        assert str(plain.value) == str(compiled.value)


def test_gradients_of_real_numbers(mode):
    weights = np.array([1j, 2.0, 1 + 1j])

    def cost(z):
        return (np.abs(z * weights) ** 2).sum() + np.exp(z).real.sum()

    found = fz.jit(fz.grad(cost), mode=mode)(Z)
    np.testing.assert_allclose(found, 2 * np.abs(weights) ** 2 * Z.conj() + np.exp(Z))
    value, found = fz.value_and_grad(cost)(Z)
    np.testing.assert_allclose(value, cost(Z))
    by_real = fz.grad(lambda x: np.abs(np.fft.fft(x)[1]) ** 2)(np.array([1.0, 2.0, 4.0]))
    assert by_real.dtype == np.float64


@pytest.mark.parametrize("derivative", [fz.hessian, fz.jacobian])
def test_derivatives_that_are_not_of_complex_numbers_say_so(derivative):
    with pytest.raises(TypeError, match="is not computed by complex numbers"):
        derivative(lambda z: np.abs(z).sum())(Z)
    with pytest.raises(TypeError, match="is not computed by complex numbers"):
        fz.jvp(np.exp, (Z,), (Z,))
    with pytest.raises(TypeError, match="must be real"):
        fz.grad(lambda z: z.sum())(Z)
