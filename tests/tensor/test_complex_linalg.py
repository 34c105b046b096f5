"""Linear algebra of complex matrices: NumPy's and SciPy's values, and their derivatives."""

import numpy as np
import pytest
import scipy.linalg
from agreement import compiled

import frazil as fz
import frazil.tensor as ft
from frazil.testing import verify_grad

LINALG = ft.linalg


def matrix(shape, dtype="complex128", seed=0):
    rng = np.random.default_rng(seed)
    made = rng.normal(size=shape) + 1j * rng.normal(size=shape)
    return made.astype(dtype)


def hermitian(shape, dtype="complex128"):
    """Positive definite ones, with eigenvalues apart."""
    a = matrix(shape, dtype)
    return a @ np.conj(np.swapaxes(a, -1, -2)) + np.diag(np.arange(shape[-1])).astype(dtype)


FUNCTIONS = {
    "inv": (LINALG.inv, np.linalg.inv),
    "det": (LINALG.det, np.linalg.det),
    "slogdet": (LINALG.slogdet, np.linalg.slogdet),
    "expm": (LINALG.expm, scipy.linalg.expm),
    "qr": (LINALG.qr, np.linalg.qr),
    "r": (lambda z: LINALG.qr(z, "r"), lambda z: np.linalg.qr(z, "r")),
    "complete qr": (lambda z: LINALG.qr(z, "complete"), lambda z: np.linalg.qr(z, "complete")),
    "svdvals": (LINALG.svdvals, np.linalg.svdvals),
    "pinv": (LINALG.pinv, np.linalg.pinv),
    "matrix_rank": (LINALG.matrix_rank, np.linalg.matrix_rank),
    "power": (lambda z: LINALG.matrix_power(z, -3), lambda z: np.linalg.matrix_power(z, -3)),
    "nuclear": (
        lambda z: LINALG.matrix_norm(z, ord="nuc"),
        lambda z: np.linalg.matrix_norm(z, ord="nuc"),
    ),
    "cond": (LINALG.cond, np.linalg.cond),
    "cond 1": (lambda z: LINALG.cond(z, 1), lambda z: np.linalg.cond(z, 1)),
}
NOT_SQUARE = {"qr", "r", "complete qr", "svdvals", "pinv", "matrix_rank", "nuclear", "cond"}


def agree(function, numpys, array, mode, own=lambda results: results):
    z = ft.tensor("z", dtype=array.dtype, shape=(None,) * array.ndim)
    found, expected = function(z), numpys(array)
    if not isinstance(found, tuple):
        found, expected = (found,), (expected,)
    found = compiled(list(found), {z: array}, mode)
    precision = 2e-4 if array.dtype == "complex64" else 1e-11
    for one, other in zip(found, expected, strict=True):
        assert (one.dtype, one.shape) == (np.asarray(other).dtype, np.shape(other))
        np.testing.assert_allclose(one, other, rtol=precision, atol=precision)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_values(mode, dtype, name):
    shapes = [(3, 3), (2, 3, 3), (1, 1)]
    shapes += [(4, 2), (2, 4), (2, 2, 4)] * (name in NOT_SQUARE)
    shapes += [(0, 3, 3)] * (name != "expm")
    for shape in shapes:
        agree(*FUNCTIONS[name], matrix(shape, dtype), mode)


def of_parts(name, parts):
    """What a decomposition's parts are put together to again."""
    if name == "svd":
        u, s, vh = parts
        return (u * s[..., None, :]) @ vh
    w, v = parts
    whole = v * w[..., None, :]
    if name == "eigh":
        return whole @ np.conj(np.swapaxes(v, -1, -2))
    return whole @ np.linalg.inv(v)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", ["svd", "eigh", "eig"])
def test_factors_whose_phases_are_free(mode, dtype, name):
    for shape in ((3, 3), (2, 3, 3), (1, 1), (0, 3, 3)):
        array = hermitian(shape, dtype) if name == "eigh" else matrix(shape, dtype)
        z = ft.tensor("z", dtype=dtype, shape=(None,) * array.ndim)
        arguments = (False,) if name == "svd" else ()
        parts = compiled(list(getattr(LINALG, name)(z, *arguments)), {z: array}, mode)
        expected = getattr(np.linalg, name)(array, *arguments)
        for one, other in zip(parts, expected, strict=True):
            assert (one.dtype, one.shape) == (other.dtype, other.shape)
        precision = 2e-4 if dtype == "complex64" else 1e-11
        np.testing.assert_allclose(of_parts(name, parts), array, rtol=precision, atol=precision)
        at = {"svd": 1, "eigh": 0, "eig": 0}[name]
        np.testing.assert_allclose(parts[at], expected[at], rtol=precision)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_eigenvalues_of_real_matrices_are_complex(mode, dtype):
    array = matrix((2, 3, 3)).real.astype(dtype)
    x = ft.tensor3("x", dtype=dtype)
    w, v, values = compiled([*LINALG.eig(x), LINALG.eigvals(x)], {x: array}, mode)
    assert w.dtype == v.dtype == np.result_type(array, np.complex64)
    precision = 1e-4 if dtype == "float32" else 1e-11
    expected = np.array([np.linalg.eigvals(one.astype(complex)) for one in array])
    np.testing.assert_allclose(values, w)
    np.testing.assert_allclose(np.sort_complex(w), np.sort_complex(expected), rtol=precision)
    np.testing.assert_allclose(of_parts("eig", (w, v)), array, atol=precision)


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_hermitian_matrices_are_read_in_one_triangle(mode, dtype, lower):
    array = hermitian((2, 3, 3), dtype)
    spoiled = np.tril(array) if lower else np.triu(array)
    spoiled = spoiled + np.eye(3, dtype=dtype) * np.array(5j, dtype)  # the diagonal counts as real
    z = ft.tensor3("z", dtype=dtype)
    results = [
        LINALG.cholesky(z, lower),
        LINALG.eigvalsh(z, "L" if lower else "U"),
        LINALG.eigh(z, "L" if lower else "U")[0],
    ]
    factor, *values = compiled(results, {z: spoiled}, mode)
    precision = 2e-4 if dtype == "complex64" else 1e-12
    expected = np.linalg.cholesky(array, upper=not lower)
    np.testing.assert_allclose(factor, expected, rtol=precision, atol=precision)
    for one in values:
        np.testing.assert_allclose(one, np.linalg.eigvalsh(array), rtol=precision)


A, B = matrix((3, 3)), matrix((3, 2), seed=1)
H = hermitian((3, 3))
BAND = np.triu(np.tril(A, 1), -1)
SYSTEMS = {
    **{kind: (A, {"assume_a": kind}) for kind in ("gen", "upper triangular", "lower triangular")},
    "transposed": (A, {"transposed": True}),
    "sym": (A + A.T, {"assume_a": "sym"}),
    "her": (H, {"assume_a": "her"}),
    "lower her": (H, {"assume_a": "hermitian", "lower": True}),
    "transposed her": (H, {"assume_a": "her", "transposed": True}),
    "pos": (H, {"assume_a": "pos"}),
    "transposed pos": (H, {"assume_a": "pos", "transposed": True}),
    "lower pos": (H, {"assume_a": "pos", "lower": True}),
    "tridiagonal": (BAND, {"assume_a": "tridiagonal"}),
    "banded": (BAND, {"assume_a": "banded"}),
}
READ = {
    "upper triangular": np.triu,
    "lower triangular": np.tril,
    **dict.fromkeys(("transposed", "transposed her", "transposed pos"), np.transpose),
}


@pytest.mark.parametrize("right", [B, B[:, 0], B.real], ids=["matrix", "vector", "real"])
@pytest.mark.parametrize("kind", SYSTEMS)
def test_systems(mode, kind, right):
    array, arguments = SYSTEMS[kind]
    z = ft.matrix("z", dtype="complex128")
    b = ft.tensor("b", dtype=right.dtype, shape=(None,) * right.ndim)
    found = compiled(LINALG.solve(z, b, **arguments), {z: array, b: right}, mode)
    whole = READ.get(kind, lambda a: a)(array)
    np.testing.assert_allclose(found, np.linalg.solve(whole, right), rtol=1e-10)


@pytest.mark.parametrize("trans", [0, 1, 2, "N", "T", "C"])
@pytest.mark.parametrize("lower", [False, True])
def test_transposes_as_scipy_names_them(mode, trans, lower):
    z, b = ft.matrix("z", dtype="complex128"), ft.matrix("b", dtype="complex128")
    results = [
        LINALG.solve_triangular(z, b, trans=trans, lower=lower),
        LINALG.lu_solve(LINALG.lu_factor(z), b, trans),
    ]
    found = compiled(results, {z: A, b: B}, mode)
    number = {"N": 0, "T": 1, "C": 2}.get(trans, trans)
    expected = [
        scipy.linalg.solve_triangular(A, B, trans=number, lower=lower),
        scipy.linalg.lu_solve(scipy.linalg.lu_factor(A), B, trans=number),
    ]
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


@pytest.mark.parametrize("lower", [False, True])
def test_only_one_triangle_of_a_hermitian_matrix_is_read(mode, lower):
    spoiled = H + 1j * np.eye(3)  # nor are imaginary parts of the diagonal
    spoiled[np.triu_indices(3, 1) if lower else np.tril_indices(3, -1)] = np.nan
    z = ft.matrix("z", dtype="complex128")
    found = compiled(LINALG.solve(z, B, assume_a="her", lower=lower), {z: spoiled}, mode)
    np.testing.assert_allclose(found, np.linalg.solve(H, B), rtol=1e-12)


def test_triangles_factors_and_least_squares(mode):
    z, b = ft.matrix("z", dtype="complex128"), ft.matrix("b", dtype="complex128")
    factors = LINALG.lu_factor(z)
    results = [
        LINALG.solve_triangular(z, b, trans=1),
        LINALG.lu_solve(factors, b),
        LINALG.lu_solve(factors, b, trans=True),
        *LINALG.lu(z),
        *LINALG.lstsq(z[:, :2], b),
    ]
    found = compiled(results, {z: A, b: B}, mode)
    own = scipy.linalg.lu_factor(A)
    expected = [
        scipy.linalg.solve_triangular(A, B, trans=1),
        scipy.linalg.lu_solve(own, B),
        scipy.linalg.lu_solve(own, B, trans=1),
        *scipy.linalg.lu(A),
        *np.linalg.lstsq(A[:, :2], B),
    ]
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)


def test_matrices_without_a_result(mode):
    z = ft.tensor3("z", dtype="complex128")
    array = np.array([[[1, 1j], [1j, -1]], [[1, 0], [0, -1]], [[np.nan, 0], [0, 1]]], complex)
    for function, bad in ((LINALG.inv, 0), (LINALG.cholesky, 1), (LINALG.svdvals, 2)):
        with pytest.raises(np.linalg.LinAlgError):
            compiled(function(z), {z: array}, mode)
        found = compiled(function(z, on_error="nan"), {z: array}, mode)
        assert np.isnan(found[bad]).all()


def real_cost(results, seed=5):
    """A real number in which all parts of results count."""
    cost = 0.0
    for at, result in enumerate(results):
        weights = matrix(result.type.shape, seed=seed + at)
        cost += ft.real((result * weights).sum()) + ft.sum(ft.abs(result - weights) ** 2)
    return cost


def projectors(left, right):
    """What does not depend on phases: products of each column with a row."""
    return left[..., :, None, :] * right[..., None, :, :]


def svd_without_phases(z, full=False):
    u, s, vh = LINALG.svd(z, full)
    count = min(z.type.shape)
    return s, projectors(u[..., :count], ft.matrix_transpose(vh)[..., :count])


def full_svd_without_choices(z):
    u, _, _ = LINALG.svd(z, True)
    rest = u[:, 2:]
    return (rest @ ft.conj(rest).T,)


def eigh_without_phases(z, uplo="L"):
    w, v = LINALG.eigh(z, uplo)
    return w, projectors(v, ft.conj(v))


def eig_without_phases(z):
    w, v = LINALG.eig(z)
    return w, projectors(v, ft.conj(v))


EQUATIONS = {
    "solve_sylvester": (LINALG.solve_sylvester, (A, A @ A, B @ B.T)),
    "solve_continuous_lyapunov": (LINALG.solve_continuous_lyapunov, (A, B @ B.T)),
    "solve_discrete_lyapunov": (LINALG.solve_discrete_lyapunov, (A / 9, B @ B.T)),
    "direct": (lambda a, q: LINALG.solve_discrete_lyapunov(a, q, "direct"), (A / 9, B @ B.T)),
}


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", sorted(EQUATIONS))
def test_equations_of_matrices(mode, dtype, name):
    function, arrays = EQUATIONS[name]
    theirs = getattr(scipy.linalg, "solve_discrete_lyapunov" if name == "direct" else name)
    inputs = [ft.tensor(dtype=dtype, shape=(None,) * 3) for _ in arrays]
    stacks = [np.stack([x, 2 * x]).astype(dtype) for x in arrays]
    found = compiled(function(*inputs), dict(zip(inputs, stacks, strict=True)), mode)
    assert found.dtype == dtype
    expected = [theirs(*(x[k] for x in stacks)) for k in (0, 1)]
    precision = 1e-3 if dtype == "complex64" else 1e-10
    np.testing.assert_allclose(found, expected, rtol=precision, atol=precision)


GRADIENTS = {
    **{
        name: (
            (3, 3),
            lambda z, solve=solve, rest=arrays[1:]: (solve(z / 30, *(x + z for x in rest)),),
        )
        for name, (solve, arrays) in EQUATIONS.items()
    },
    "inv": ((3, 3), lambda z: (LINALG.inv(z),)),
    "det": ((3, 3), lambda z: (LINALG.det(z),)),
    "slogdet": ((3, 3), LINALG.slogdet),
    "expm": ((2, 2), lambda z: (LINALG.expm(z),)),
    "qr": ((3, 3), LINALG.qr),
    "tall qr": ((3, 2), LINALG.qr),
    "wide qr": ((2, 3), LINALG.qr),
    "r": ((3, 2), lambda z: (LINALG.qr(z, "r"),)),
    "svdvals": ((3, 2), lambda z: (LINALG.svdvals(z),)),
    "svd": ((3, 3), svd_without_phases),
    "tall svd": ((3, 2), svd_without_phases),
    "wide svd": ((2, 3), svd_without_phases),
    "full svd": ((3, 2), lambda z: svd_without_phases(z, True)),
    "rest of svd": ((4, 2), full_svd_without_choices),
    "pinv": ((3, 2), lambda z: (LINALG.pinv(z),)),
    "hermitian pinv": (
        (2, 2),
        lambda z: (LINALG.pinv(z + ft.conj(z).T, hermitian=True),),
    ),
    "cholesky": ((3, 3), lambda z: (LINALG.cholesky(z + ft.constant(5 * H)),)),
    "upper cholesky": ((3, 3), lambda z: (LINALG.cholesky(z + ft.constant(5 * H), False),)),
    "eigvalsh": ((3, 3), lambda z: (LINALG.eigvalsh(z + ft.constant(H)),)),
    "eigh": ((3, 3), lambda z: eigh_without_phases(z + ft.constant(H))),
    "upper eigh": ((3, 3), lambda z: eigh_without_phases(z + ft.constant(H), "U")),
    "eigvals": ((3, 3), lambda z: (LINALG.eigvals(z),)),
    "eig": ((3, 3), eig_without_phases),
    "solve": ((3, 3), lambda z: (LINALG.solve(z, z[:, :2] + B),)),
    "pos": ((3, 3), lambda z: (LINALG.solve(z + ft.constant(5 * H), B, assume_a="pos"),)),
    "her": ((3, 3), lambda z: (LINALG.solve(z, B, assume_a="her", transposed=True),)),
    "conjugate": ((3, 3), lambda z: (LINALG.solve_triangular(z, B, trans="C"),)),
    "banded": ((3, 3), lambda z: (LINALG.solve(z, B, assume_a="tridiagonal"),)),
    "triangular": ((3, 3), lambda z: (LINALG.solve_triangular(z, B, trans=1),)),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_are_those_of_finite_differences(mode, name):
    shape, function = GRADIENTS[name]
    array = matrix(shape, seed=3)

    def cost(x, y):
        return real_cost(function(ft.specify_shape(x + 1j * y, shape)))

    verify_grad(cost, [array.real, array.imag], mode=mode)


@pytest.mark.parametrize("name", ["eig", "eigvals"])
def test_gradients_of_real_matrices_are_real(mode, name):
    _, function = GRADIENTS[name]

    def cost(x):
        return real_cost(function(ft.specify_shape(x, (3, 3))))

    verify_grad(cost, [matrix((3, 3), seed=4).real], mode=mode)


@pytest.mark.parametrize("lower", [True, False])
def test_second_derivatives_of_factors(lower):
    def slope(x, y):
        z = x + 1j * y
        cost = real_cost((LINALG.cholesky(ft.specify_shape(z, (2, 2)) + 5 * H[:2, :2], lower),))
        return ft.sum(ft.real(fz.grad(cost, z)) ** 2 + ft.imag(fz.grad(cost, z)))

    array = matrix((2, 2), seed=3)
    verify_grad(slope, [array.real, array.imag])


def test_what_depends_on_phases_beyond_has_no_gradient():
    z = ft.tensor("z", dtype="complex128", shape=(4, 2))
    u, _, _ = LINALG.svd(z, True)
    with pytest.raises(ValueError, match="the result depends on which"):
        fz.function([z], fz.grad(ft.real(u[:, 2:].sum()), z))(matrix((4, 2)))


def test_batches_are_as_loops():
    z, batch = ft.matrix("z", dtype="complex128"), ft.tensor3("zs", dtype="complex128")
    results = [LINALG.inv(z), LINALG.cholesky(z), *LINALG.slogdet(z), *LINALG.eigh(z)[:1]]
    results += [LINALG.eigvals(z), LINALG.expm(z), LINALG.qr(z, "r")]
    values = hermitian((2, 3, 3))
    found = fz.function([batch], fz.vectorize(results, {z: batch}))(values)
    one = fz.function([z], results)
    for own, looped in zip(found, zip(*map(one, values), strict=True), strict=True):
        np.testing.assert_allclose(own, np.stack(looped), rtol=1e-12)


def test_debug_mode_finds_nothing_wrong():
    z = ft.matrix("z", dtype="complex128")
    results = [LINALG.inv(z), LINALG.cholesky(z), *LINALG.eigh(z), *LINALG.svd(z)]
    fz.function([z], results, mode="debug")(H)


def test_equations_of_riccati_refuse_complex_matrices():
    z = ft.matrix("z", dtype="complex128")
    with pytest.raises(TypeError, match="complex"):
        LINALG.solve_continuous_are(z, z, z, z)
