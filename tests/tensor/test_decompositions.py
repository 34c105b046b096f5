"""Matrices taken apart, as NumPy does it; and their gradients, once and twice."""

import numpy as np
import pytest
from agreement import agree, compiled, like, modes
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import evaluate

import frazil as fz
import frazil.tensor as ft
from frazil.testing import verify_grad

FEW = settings(max_examples=settings.default.max_examples // 4)
shapes = st.tuples(
    st.sampled_from([(), (1,), (3,), (0,), (2, 3), (1, 0), (70,)]),
    st.sampled_from([(0, 0), (1, 1), (2, 2), (9, 9), (30, 30), (0, 2), (4, 0), (3, 5), (8, 2)]),
).map(lambda drawn: (*drawn[0], *drawn[1]))
dtypes = st.sampled_from(["float64", "float32"])
layouts = st.sampled_from(
    [np.ascontiguousarray, np.asfortranarray, lambda a: np.flip(np.flip(a).copy())]
)


def drawn(shape, dtype="float64"):
    return np.random.default_rng(len(shape)).normal(size=shape).astype(dtype)


def transposed(a):
    return np.swapaxes(a, -1, -2)


def both(outputs, given, mode):
    """The values of outputs by the reference evaluator, and by a compiled function."""
    yield [evaluate(output, given) for output in outputs]
    yield compiled(outputs, given, mode)


@given(st.data(), modes, shapes, dtypes, layouts)
@FEW
def test_orthogonal_factors_are_those_of_numpy(data, mode, shape, dtype, layout):
    a = layout(drawn(shape, dtype))
    x = like(data.draw, a)
    outputs = [*ft.linalg.qr(x), *ft.linalg.qr(x, "complete"), ft.linalg.qr(x, "r")]
    expected = [*np.linalg.qr(a), *np.linalg.qr(a, "complete"), np.linalg.qr(a, "r")]
    for found in both(outputs, {x: a}, mode):
        for one, array in zip(found, expected, strict=True):
            agree(one, array, 1e-10)


@given(st.data(), modes, shapes, dtypes, layouts)
@FEW
def test_singular_values_and_vectors(data, mode, shape, dtype, layout):
    a = layout(drawn(shape, dtype))
    x = like(data.draw, a)
    outputs = [*ft.linalg.svd(x), *ft.linalg.svd(x, full_matrices=False), ft.linalg.svdvals(x)]
    shapes = [one.shape for full in (True, False) for one in np.linalg.svd(a, full)]
    values = np.linalg.svd(a, compute_uv=False)
    for found in both(outputs, {x: a}, mode):
        assert [one.shape for one in found[:6]] == shapes
        for u, s, vt in (found[:3], found[3:6]):
            agree(s, values, 1e-10)
            count = s.shape[-1]
            agree((u[..., :count] * s[..., None, :]) @ vt[..., :count, :], a, 1e-10)
            for one in (transposed(u) @ u, vt @ transposed(vt)):
                agree(one, np.broadcast_to(np.eye(one.shape[-1], dtype=dtype), one.shape), 1e-10)
        agree(found[6], values, 1e-10)


@given(st.data(), modes, shapes, dtypes, layouts, st.sampled_from("LU"))
@FEW
def test_eigenvalues_and_vectors(data, mode, shape, dtype, layout, uplo):
    a = layout(drawn((*shape[:-1], shape[-2]), dtype))
    x = like(data.draw, a)
    half, rest = (np.tril(a), np.tril(a, -1)) if uplo == "L" else (np.triu(a), np.triu(a, 1))
    symmetric = half + transposed(rest)
    outputs = [*ft.linalg.eigh(x, uplo), ft.linalg.eigvalsh(x, uplo)]
    for w, v, values in both(outputs, {x: a}, mode):
        agree(w, np.linalg.eigvalsh(a, uplo), 1e-10)
        agree(values, w, 1e-10)
        agree((v * w[..., None, :]) @ transposed(v), symmetric, 1e-10)


WEIGHTS = drawn((3, 3))


def square(a):
    """Matrices of which the type tells that they are square."""
    return ft.reshape(a, (-1, 3, 3))


FUNCTIONS = {
    "qr": lambda a: ft.linalg.qr(a)[0] ** 2 @ ft.linalg.qr(a)[1] ** 2,
    "r": lambda a: ft.linalg.qr(a, "r") ** 2,
    "svd": lambda a: (lambda u, s, vt: (u**2 * s[..., None, :]) @ vt**2)(*ft.linalg.svd(a, False)),
    "values of all": lambda a: ft.linalg.svd(a)[1] ** 3,
    "svdvals": lambda a: ft.linalg.svdvals(a) ** 3,
    "pinv": lambda a: ft.linalg.pinv(a) ** 2,
    "nuclear": lambda a: ft.linalg.matrix_norm(a, ord="nuc"),
    "spectral": lambda a: ft.linalg.matrix_norm(a, ord=2) * ft.linalg.matrix_norm(a, ord=-2),
}
SQUARE = {
    "complete qr": lambda a: ft.linalg.qr(square(a), "complete")[0] * WEIGHTS,
    "full svd": lambda a: (
        ft.linalg.svd(square(a))[0] ** 2 * WEIGHTS + ft.linalg.svd(square(a))[2] ** 2
    ),
    "eigh": lambda a: ft.linalg.eigh(a)[1] ** 2 * WEIGHTS + ft.linalg.eigh(a)[0][..., None],
    "upper eigh": lambda a: ft.linalg.eigh(a, "U")[1] ** 2 @ WEIGHTS,
    "eigvalsh": lambda a: ft.linalg.eigvalsh(a) ** 2,
    "symmetric pinv": lambda a: ft.linalg.pinv(a + a.mT, hermitian=True),
}


@pytest.mark.parametrize("name", [*FUNCTIONS, *SQUARE])
def test_gradients(name):
    of = FUNCTIONS.get(name) or SQUARE[name]
    for shape in [(2, 3, 3)] if name in SQUARE else [(2, 3, 3), (4, 2), (2, 3)]:
        verify_grad(of, [drawn(shape)], mode="c")
    verify_grad(lambda a: fz.grad(ft.sum(of(a) ** 2), a), [drawn((1, 3, 3))], mode="c")


def onto_the_rest(columns, count):
    """The projection onto the columns from one on, whichever they are."""
    rest = columns[..., count:]
    return rest @ rest.mT


ALL_VECTORS = {
    "q": lambda a: onto_the_rest(ft.linalg.qr(a, "complete")[0], a.shape[-1]) ** 2,
    "first of q": lambda a: ft.linalg.qr(a, "complete")[0][..., : a.shape[-1]] ** 2,
    "r": lambda a: ft.linalg.qr(a, "complete")[1] ** 2,
    "u": lambda a: onto_the_rest(ft.linalg.svd(a)[0], a.shape[-1]) ** 2,
    "vt": lambda a: onto_the_rest(ft.linalg.svd(a.mT)[2].mT, a.shape[-1]) ** 2,
    "first of both": lambda a: (lambda u, s, vt: u[..., :2] ** 2 * s @ vt**2)(*ft.linalg.svd(a)),
}


@pytest.mark.parametrize("name", ALL_VECTORS)
@pytest.mark.parametrize("static", [True, False])
def test_gradients_of_what_all_choices_of_vectors_give(name, static):
    of, shape = ALL_VECTORS[name], (4, 2) if name == "first of both" else (2, 5, 2)

    def function(a):
        return of(ft.specify_shape(a, shape) if static else a)

    verify_grad(function, [drawn(shape)], mode="c")
    if not static:
        verify_grad(lambda a: fz.grad(ft.sum(of(a) ** 2), a), [drawn(shape[-2:])], mode="c")


def test_forward_derivatives_of_all_vectors():
    x, v = ft.matrix("x"), ft.matrix("v")
    a, along = drawn((4, 2)), drawn((2, 4, 2))[0]
    for name in ("q", "u"):
        step = 1e-6
        f = fz.function([x, v], fz.Rop(ALL_VECTORS[name](x), x, v), mode="c")
        value = fz.function([x], ALL_VECTORS[name](x), mode="c")
        slope = (value(a + step * along) - value(a - step * along)) / (2 * step)
        np.testing.assert_allclose(f(a, along), slope, atol=1e-7)


@pytest.mark.parametrize("shape", [(4, 2), (2, 4)])
def test_what_depends_on_the_choice_of_vectors_has_no_gradient(shape, mode):
    x = ft.matrix("x")
    costs = {"svd": [ft.sum(ft.linalg.svd(x)[0 if shape[0] == 4 else 2])]}
    if shape[0] == 4:
        costs["qr"] = [ft.sum(ft.linalg.qr(x, "complete")[0])]
    for name, (cost,) in costs.items():
        f = fz.function([x], fz.grad(cost, x), mode=mode)
        with pytest.raises(ValueError, match=f"gradient of {name}.*the result depends on which"):
            f(drawn(shape))
    wide = ft.sum(ft.linalg.qr(x, "complete")[0])
    assert np.isfinite(fz.function([x], fz.grad(wide, x), mode=mode)(drawn((2, 4)))).all()


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_pseudo_inverses_of_matrices_of_lower_rank(dtype, mode):
    x = ft.matrix("x", dtype=dtype)
    f = fz.function([x], ft.linalg.pinv(x), mode=mode)
    for shape in [(3, 3), (2, 5), (12, 9)]:
        a = np.ones(shape, dtype)
        np.testing.assert_allclose(f(a), np.linalg.pinv(a), atol=1e-6)


def test_what_has_equal_values_has_a_gradient():
    x = ft.matrix("x")
    for cost in (
        ft.sum(ft.linalg.svdvals(x)),
        ft.sum(ft.linalg.eigh(x)[0]),
        ft.linalg.pinv(x)[0, 0],
    ):
        assert np.isfinite(fz.function([x], fz.grad(cost, x), mode="c")(np.eye(3))).all()


@pytest.mark.parametrize("name", ["svd", "svdvals", "eigh", "eigvalsh"])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_fails_each_for_itself(name, bad, mode):
    x = ft.tensor3("x")
    a = np.tile(np.eye(3), (3, 1, 1))
    a[1, 2, 0] = a[1, 0, 2] = bad
    results = getattr(ft.linalg, name)(x)
    f = fz.function([x], results, mode=mode)
    with pytest.raises(np.linalg.LinAlgError, match=r"matrix \(1,\) of the batch.* did not conv"):
        f(a)
    results = getattr(ft.linalg, name)(x, on_error="nan")
    found = fz.function([x], results, mode=mode)(a)
    for one in found if isinstance(found, list) else [found]:
        assert np.isnan(one[1]).all()
        assert np.isfinite(one[[0, 2]]).all()


@pytest.mark.parametrize("name", ["eigh", "eigvalsh"])
@pytest.mark.parametrize("n", [1, 2, 3, 9])
def test_eigenvalues_of_nan_are_none_for_any_size(name, n, mode):
    x = ft.matrix("x")
    f = fz.function([x], getattr(ft.linalg, name)(x), mode=mode)
    a = np.ones((n, n))
    a[-1, 0] = np.nan
    with pytest.raises(np.linalg.LinAlgError, match="did not converge"):
        f(a)


def test_the_other_triangle_may_hold_anything(mode):
    x = ft.matrix("x")
    a = np.array([[2.0, np.nan], [1.0, 2.0]])
    found = fz.function([x], ft.linalg.eigvalsh(x), mode=mode)(a)
    np.testing.assert_allclose(found, [1.0, 3.0])


def test_bad_operands(mode):
    x = ft.matrix("x")
    with pytest.raises(ValueError, match="mode must be"):
        ft.linalg.qr(x, "full")
    with pytest.raises(ValueError, match="UPLO must be"):
        ft.linalg.eigh(x, "lower")
    with pytest.raises(ValueError, match="square matrix"):
        ft.linalg.eigh(ft.tensor(shape=(2, 3)))
    with pytest.raises(np.linalg.LinAlgError, match="takes a matrix of floats"):
        ft.linalg.svd(ft.vector())
    with pytest.raises(ValueError, match="square"):
        fz.function([x], ft.linalg.eigvalsh(x), mode=mode)(np.ones((2, 3)))


@given(st.data(), modes, shapes, dtypes)
@FEW
def test_pseudo_inverses_and_ranks(data, mode, shape, dtype):
    a = drawn(shape, dtype)
    if min(shape[-2:]) > 1:
        a[..., 0] = a[..., 1]
    rtol = 1e-6 if dtype == "float64" else 1e-3
    x = like(data.draw, a)
    outputs = [
        ft.linalg.pinv(x, rtol),
        ft.linalg.matrix_rank(x, rtol=rtol),
        ft.linalg.matrix_rank(x),
    ]
    expected = [np.linalg.pinv(a, rtol), np.linalg.matrix_rank(a, rtol=rtol)]
    if a.size:
        expected.append(np.linalg.matrix_rank(a))
    for found in both(outputs, {x: a}, mode):
        for one, array in zip(found, expected, strict=False):
            agree(one, array, 1e-9 if dtype == "float64" else 1e-3)


@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (4, 4)])
@pytest.mark.parametrize("columns", [(), (2,)])
def test_least_squares(shape, columns, mode):
    a, b = drawn(shape), drawn((shape[0], *columns))
    x, y = ft.matrix("x"), ft.tensor("y", shape=(None,) * b.ndim)
    f = fz.function([x, y], [*ft.linalg.lstsq(x, y)], mode=mode)
    one = a.copy()
    one[:, 0] = one[:, 1]
    for matrix in (a, one):
        for found, expected in zip(f(matrix, b), np.linalg.lstsq(matrix, b), strict=True):
            agree(found, expected, 1e-9)
    verify_grad(lambda a, b: ft.linalg.lstsq(a, b)[0], [a, b], mode="c")


@pytest.mark.parametrize("rcond", [-1, 0.0, 0.5, 1.0, 2.0])
def test_least_squares_to_the_precision_of_the_machine(rcond, mode):
    for small in (1e-30, 1.2e-16, 1.0):
        a, b = np.diag([1.0, small, 0.4]), np.ones(3)
        expected = np.linalg.lstsq(a, b, rcond=rcond)
        given = ft.scalar("rcond")
        for tolerance, inputs in ((rcond, {}), (given, {given: rcond})):
            results = ft.linalg.lstsq(a, b, tolerance)
            found = fz.function(list(inputs), list(results), mode=mode)(*inputs.values())
            agree(found[0], expected[0], 1e-9)
            assert found[2] == expected[2]


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_ranks_of_symmetric_matrices_are_those_of_a_triangle(dtype, mode):
    a = np.tril(drawn((3, 4, 4), dtype))
    a[1, 2:] = a[2] = 0
    read = a + np.triu(np.full_like(a, 7), 1)
    x = ft.tensor3("x", dtype=dtype)
    (found,) = compiled([ft.linalg.matrix_rank(x, hermitian=True)], {x: read}, mode)
    expected = np.linalg.matrix_rank(read, hermitian=True)
    assert list(expected) != list(np.linalg.matrix_rank(read))
    np.testing.assert_array_equal(found, expected)
    with pytest.raises(np.linalg.LinAlgError, match="square"):
        ft.linalg.matrix_rank(np.ones((2, 3)), hermitian=True)
