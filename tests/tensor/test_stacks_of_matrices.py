"""Factors, systems and determinants of stacks of matrices are those of each matrix."""

import numpy as np
import pytest
import scipy.linalg
from agreement import agree, check, compiled, like, modes
from hypothesis import given, settings
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft
from frazil.testing import verify_grad

FEW = settings(max_examples=settings.default.max_examples // 4)
sizes = st.sampled_from([0, 1, 2, 3, 5, 8, 9, 30])
fronts = st.sampled_from([(), (1,), (3,), (0,), (2, 3), (2, 1), (1, 0), (400,)])
dtypes = st.sampled_from(["float64", "float32"])
layouts = st.sampled_from(
    [
        np.ascontiguousarray,
        np.asfortranarray,
        lambda a: np.swapaxes(np.swapaxes(a, 0, -1).copy(), 0, -1),
        lambda a: np.repeat(a, 2, -1)[..., ::2],
        lambda a: np.flip(np.flip(a).copy()),
    ]
)


def positive(front, n, dtype="float64", seed=0):
    """Stacks of positive definite matrices."""
    a = np.random.default_rng(seed).normal(size=(*front, n, n)) / max(n, 1) ** 0.5
    return (a @ np.swapaxes(a, -1, -2) + np.eye(n)).astype(dtype)


def regular(front, n, dtype="float64"):
    """Stacks of matrices that are far from singular, whose rows must change places."""
    a = np.random.default_rng(1).normal(size=(*front, n, n)) / max(n, 1)
    return (a + 2 * np.eye(n))[..., ::-1, :].astype(dtype)


def fewer(data, front):
    """Lengths that broadcast to those of ``front``."""
    drawn = tuple(1 if data.draw(st.booleans()) else n for n in front)
    return drawn[data.draw(st.integers(0, len(drawn))) :]


@given(st.data(), modes, fronts, sizes, dtypes, layouts, st.booleans())
@FEW
def test_factors_are_those_of_each_matrix(data, mode, front, n, dtype, layout, lower):
    n = min(n, 9) if front == (400,) else n
    a = layout(positive(front, n, dtype))
    x = like(data.draw, a)
    expected = np.linalg.cholesky(a)
    check(
        ft.linalg.cholesky(x, lower),
        {x: a},
        expected if lower else np.swapaxes(expected, -1, -2),
        mode,
        rtol=1e-9,
    )
    b = layout(regular(front, n, dtype))
    factors, pivots = ft.linalg.lu_factor(like(data.draw, b))
    y = factors.owner.inputs[0]
    lu, places = np.zeros_like(b), np.zeros(b.shape[:-1], "int32")
    for index in np.ndindex(front):
        lu[index], places[index] = scipy.linalg.lu_factor(b[index]) if n else (b[index], [])
    check(factors, {y: b}, lu, mode, rtol=1e-9)
    check(pivots, {y: b}, places, mode)


@given(st.data(), modes, fronts, sizes, dtypes, layouts)
@FEW
def test_solutions_broadcast_as_in_numpy(data, mode, front, n, dtype, layout):
    kind = data.draw(st.sampled_from(["gen", "sym", "pos", "lower triangular", "tridiagonal"]))
    n = min(n, 9) if front == (400,) else n
    a = positive(fewer(data, front), n, dtype)
    if kind in ("gen", "lower triangular"):
        a = regular(a.shape[:-2], n, dtype)[..., ::-1, :]
    seen = {"lower triangular": np.tril, "tridiagonal": lambda a: np.tril(np.triu(a, -1), 1)}
    exact = seen.get(kind, np.asarray)(a)
    lower, transposed = data.draw(st.booleans()), data.draw(st.booleans())
    if kind in ("sym", "pos"):  # the other triangle is not read
        a = a + (np.triu(np.ones_like(a), 1) if lower else np.tril(np.ones_like(a), -1))
    columns = data.draw(st.integers(0, 3))
    vectors = data.draw(st.booleans())
    own = fewer(data, front)
    b = np.random.default_rng(2).normal(size=(*own, n) if vectors else (*own, n, columns))
    a, b = layout(a), layout(b.astype(dtype))
    exact = np.swapaxes(exact, -1, -2) if transposed else exact
    expected = np.linalg.solve(exact, b[..., None] if vectors else b)
    x, y = like(data.draw, a), like(data.draw, b)
    solution = ft.linalg.solve(
        x, y, assume_a=kind, lower=lower, transposed=transposed, b_ndim=1 if vectors else 2
    )
    rtol = 1e-8 if dtype == "float64" else 1e-3
    check(solution, {x: a, y: b}, expected[..., 0] if vectors else expected, mode, rtol=rtol)


@given(st.data(), modes, fronts, sizes, dtypes, layouts)
@FEW
def test_inverses_and_determinants_are_those_of_numpy(data, mode, front, n, dtype, layout):
    n = min(n, 9) if front == (400,) else n
    a = layout(regular(front, n, dtype))
    x = like(data.draw, a)
    outputs = [ft.linalg.inv(x), ft.linalg.det(x), *ft.linalg.slogdet(x)]
    expected = [np.linalg.inv(a), np.linalg.det(a), *np.linalg.slogdet(a)]
    for found, array in zip(compiled(outputs, {x: a}, mode), expected, strict=True):
        agree(found, array, 1e-8)


@pytest.mark.parametrize("front", [(), (2, 3), (0,)])
@pytest.mark.parametrize("n", [0, 1, 4])
def test_triangles_and_permutations_are_those_of_scipy(front, n):
    a = regular(front, n)
    x = ft.tensor(shape=(None,) * a.ndim)
    whole, rows = ft.linalg.lu(x), ft.linalg.lu(x, p_indices=True)
    left, upper = ft.linalg.lu(x, permute_l=True)
    found = fz.function([x], [*whole, *rows, left, upper], mode="c")(a)
    p, low, up, where, again, _, product, _ = found
    np.testing.assert_allclose(p @ low @ up, a, atol=1e-12)
    np.testing.assert_array_equal(p @ low, product)
    np.testing.assert_array_equal(np.argmax(p, -1) if n else where, where)
    for index in np.ndindex(front):
        if n:
            for one, expected in zip((p, low, up), scipy.linalg.lu(a[index]), strict=True):
                np.testing.assert_allclose(one[index], expected, atol=1e-12)
        np.testing.assert_array_equal(again[index][where[index]], product[index])
    if a.size:
        verify_grad(lambda x: ft.linalg.lu(x, True)[0] ** 2 @ upper_of(x), [a], mode="c")


def upper_of(x):
    return ft.linalg.lu(x)[2] ** 2


A, B = regular((2, 1), 3), np.random.default_rng(3).normal(size=(3, 3, 2))
FUNCTIONS = {
    "cholesky": lambda a, b: ft.linalg.cholesky(a @ a.mT + ft.eye(3)),
    "upper": lambda a, b: ft.linalg.cholesky(a @ a.mT + ft.eye(3), lower=False),
    "solve": ft.linalg.solve,
    "sym": lambda a, b: ft.linalg.solve(a + a.mT, b, assume_a="sym"),
    "vectors": lambda a, b: ft.linalg.solve(a, b[..., 0], transposed=True, b_ndim=1),
    "one vector": lambda a, b: ft.linalg.solve(a, b[0, :, 0]),
    "triangular": lambda a, b: ft.linalg.solve_triangular(a[:, :, ::-1], b, lower=True),
    "cho_solve": lambda a, b: ft.linalg.cho_solve((a[:, :, ::-1], True), b),
    "lu_factor": lambda a, b: ft.linalg.lu_factor(a)[0] ** 2,
    "lu_solve": lambda a, b: ft.linalg.lu_solve(ft.linalg.lu_factor(a), b) ** 2,
    "inv": lambda a, b: ft.linalg.inv(a),
    "det": lambda a, b: ft.linalg.det(a),
    "slogdet": lambda a, b: ft.linalg.slogdet(a)[1],
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients(name):
    of = FUNCTIONS[name]
    verify_grad(of, [A, B], mode="c")

    def slope(a, b):
        return fz.grad(ft.sum(of(a, b) ** 2), [a, b], disconnected_inputs="ignore")[0]

    verify_grad(slope, [A[:1], B[:2]], mode="c")


def broken(kind):
    """A stack of which the matrices (1, 0) and (1, 1) have no factor."""
    a = np.tile(np.eye(4), (2, 3, 1, 1))
    a[1, :2, 2, 2] = -1.0 if kind == "pos" else 0.0
    return a


@pytest.mark.parametrize("kind", ["pos", "gen", "lower triangular"])
def test_matrices_fail_each_for_itself(kind, mode):
    x, y = ft.tensor4("x"), ft.tensor4("y")
    given = (broken(kind), np.ones((2, 3, 4, 1)))
    solve = fz.function([x, y], ft.linalg.solve(x, y, assume_a=kind), mode=mode)
    with pytest.raises(np.linalg.LinAlgError, match=r"matrix \(1, 0\) of the batch: ") as raised:
        solve(*given)
    said = [str(raised.value), *getattr(raised.value, "__notes__", [])]
    assert "test_stacks_of_matrices.py" in "".join(said)
    found = fz.function([x, y], ft.linalg.solve(x, y, assume_a=kind, on_error="nan"), mode=mode)(
        *given
    )
    failed = np.zeros((2, 3), bool)
    failed[1, :2] = True
    np.testing.assert_array_equal(np.isnan(found).all((-2, -1)), failed)
    np.testing.assert_array_equal(found[~failed], 1.0)


@pytest.mark.parametrize("n", [3, 12])
def test_threads_change_no_bit_and_no_error(n):
    x, y = ft.tensor3("x"), ft.tensor3("y")
    a = positive((3000,), n)
    b = np.random.default_rng(4).normal(size=(3000, n, 2))
    outputs = [ft.linalg.cholesky(x), ft.linalg.solve(x, y), ft.linalg.det(x)]
    alone, many = (fz.function([x, y], outputs, mode="c", threads=k) for k in (1, 4))
    for one, other in zip(alone(a, b), many(a, b), strict=True):
        assert one.tobytes() == other.tobytes()
    a[[1234, 1235, 2999]] = -np.eye(n)
    for f in (alone, many):
        with pytest.raises(np.linalg.LinAlgError, match=r"matrix \(1234,\) of the batch"):
            f(a, b)


def test_no_python_is_called():
    x, y = ft.tensor3("x"), ft.matrix("y")
    outputs = [ft.linalg.solve(x, y), *ft.linalg.slogdet(x), ft.linalg.cholesky(x)]
    gradients = fz.grad(sum(ft.sum(one) for one in outputs), [x, y])
    text = str(fz.function([x, y], [*outputs, *gradients], mode="c").explain())
    assert " = call " not in text
    assert text.count("= lu %") == 1


def test_shapes_that_do_not_fit(mode):
    x, y = ft.tensor3("x"), ft.tensor3("y")
    with pytest.raises(ValueError, match=r"must be equal or 1, not \[2, 3\]"):
        ft.linalg.solve(ft.tensor(shape=(2, 4, 4)), ft.tensor(shape=(3, 4, 1)))
    with pytest.raises(TypeError, match="int32 vectors, one a matrix"):
        ft.linalg.lu_solve((x, ft.lmatrix()), y)
    with pytest.raises(ValueError, match="b_ndim=3"):
        ft.linalg.solve(x, y, b_ndim=3)
    f = fz.function([x, y], ft.linalg.solve(x, y), mode=mode)
    with pytest.raises(ValueError, match="broadcast"):
        f(np.tile(np.eye(2), (3, 1, 1)), np.ones((1, 2, 1)))
    with pytest.raises(ValueError, match="rows"):
        f(np.tile(np.eye(2), (3, 1, 1)), np.ones((3, 3, 1)))
