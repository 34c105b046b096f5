"""Instructions that call BLAS and LAPACK, or take matrices apart and together, built by hand."""

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from programs import run, same

from frazil._core import ProgramBuilder, TensorType
from frazil.link.toolchain.blas import install_lapack

FLOATS = ["float32", "float64"]


@pytest.fixture(autouse=True)
def lapack():
    install_lapack()


def close(actual, expected):
    assert type(actual) is np.ndarray
    assert actual.dtype == expected.dtype
    assert actual.shape == expected.shape
    tolerance = 1e-3 if actual.dtype == "float32" else 1e-10
    np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=tolerance)


def laid_out(array, layout):
    """The same elements in other memory: C or Fortran order, with gaps, backwards."""
    if layout == "C":
        return array.copy(order="C")
    if layout == "F":
        return array.copy(order="F")
    filler = np.nan if array.dtype.kind == "f" else 1
    wide = np.full([2 * n for n in array.shape], filler, array.dtype)
    if layout == "gaps":
        window = wide[(slice(None, None, 2),) * array.ndim]
    elif layout == "rows apart":
        window = wide[tuple(slice(0, n) for n in array.shape)]
    else:
        window = wide[(slice(None, None, -2),) * array.ndim]
    window[...] = array
    return window


layouts = st.sampled_from(["C", "F", "gaps", "rows apart", "backwards"])
lengths = st.integers(0, 5)
dtypes = st.sampled_from([*FLOATS, "int64", "uint8", "bool"])
factors = st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.5, 3.0])


# ------------------------------------------------------------------ gemm


@given(
    st.sampled_from(FLOATS),
    st.tuples(lengths, lengths, lengths),
    st.sampled_from(["mm", "mv", "vm"]),
    st.tuples(layouts, layouts, layouts),
    factors,
    factors,
    st.integers(0, 2**32 - 1),
)
def test_gemm(dtype, shape, ranks, orders, alpha, beta, seed):
    rng = np.random.default_rng(seed)
    m, k, n = shape
    a = rng.integers(-4, 5, (m, k) if ranks[0] == "m" else k).astype(dtype)
    b = rng.integers(-4, 5, (k, n) if ranks[1] == "m" else k).astype(dtype)
    z = rng.integers(-4, 5, (a @ b).shape).astype(dtype)
    alpha, beta = np.array(alpha, dtype), np.array(beta, dtype)
    a, b, z = (laid_out(x, order) for x, order in zip((a, b, z), orders, strict=True))
    expected = beta * z + alpha * (a @ b)
    same(run(ProgramBuilder.gemm, z, alpha, a, b, beta), expected)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("k", [0, 1, 3])
def test_gemm_reads_z_only_where_beta_is_not_zero(dtype, k):
    a, b = np.ones((2, k), dtype), np.ones((k, 4), dtype)
    z = np.full((2, 4), np.nan, dtype)
    one, zero = np.ones((), dtype), np.zeros((), dtype)
    same(run(ProgramBuilder.gemm, z, one, a, b, zero), a @ b)
    same(run(ProgramBuilder.gemm, z, one, a, b, one), z)
    same(run(ProgramBuilder.gemm, z[:, 0], one, a, b[:, 0], zero), a @ b[:, 0])
    same(run(ProgramBuilder.gemm, z[0], one, a[0], b, zero), a[0] @ b)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_zero_times_what_is_not_finite_is_nan(bad):
    zero, one = np.zeros(()), np.ones(())
    a, b, z = np.ones((3, 2)), np.ones((2, 4)), np.full((3, 4), 2.0)
    a[1, 0] = b[1, 2] = bad
    expected = z.copy()
    expected[1] = expected[:, 2] = np.nan
    same(run(ProgramBuilder.gemm, z, zero, a, b, one), expected)
    same(run(ProgramBuilder.gemm, z[:, 0], zero, a, b[:, 0], one), expected[:, 0])
    same(run(ProgramBuilder.gemm, z[0], zero, a[0], b, one), expected[0])


def test_gemm_checks_its_operands():
    one, z, v = np.ones(()), np.ones((2, 2)), np.ones(2)
    with pytest.raises(ValueError, match=r"shape \(2, 2\), but what it is added to has .*\(2, 1\)"):
        run(ProgramBuilder.gemm, z[:, :1], one, z, z, one)
    for bad in [(v, one, z, z, one), (z, v, z, z, one), (one, one, v, v, one)]:
        with pytest.raises(TypeError, match="has rank"):
            run(ProgramBuilder.gemm, *bad)
    whole = np.ones((2, 2), int)
    with pytest.raises(TypeError, match="float32 or float64 is needed"):
        run(ProgramBuilder.gemm, whole, whole[0, 0], whole, whole, whole[0, 0])
    with pytest.raises(TypeError, match="float64 is needed"):
        run(ProgramBuilder.gemm, z, one.astype("float32"), z, z, one)


@given(st.integers(60, 100), st.integers(0, 70), layouts, st.sampled_from(FLOATS))
def test_a_matrix_times_its_own_transpose(rows, columns, layout, dtype):
    rng = np.random.default_rng(rows * 100 + columns)
    x = laid_out(rng.integers(-4, 5, (rows, columns)).astype(dtype), layout)
    found = run(lambda b, x: b.dot(x, b.transpose(x, (1, 0))), x)
    same(found, x @ x.T)
    found = run(lambda b, x: b.dot(b.transpose(x, (1, 0)), x), x)
    same(found, x.T @ x)


INTEGERS = ["bool", "int8", "uint16", "int32", "int64", "uint64"]
# Around the sizes at which products are walked another way or cut into blocks.
sizes = st.sampled_from([0, 1, 3, 7, 8, 31, 33, 127, 129, 255, 257])


@given(
    st.sampled_from(INTEGERS),
    st.tuples(sizes, sizes, sizes),
    st.sampled_from(["mm", "mv", "vm", "vv"]),
    st.tuples(layouts, layouts),
    st.integers(0, 2**32 - 1),
)
def test_products_of_integers_wrap_around(dtype, shape, ranks, orders, seed):
    rng = np.random.default_rng(seed)
    m, k, n = shape
    shapes = [(m, k) if ranks[0] == "m" else (k,), (k, n) if ranks[1] == "m" else (k,)]
    bits = [rng.integers(0, 256, (*dims, np.dtype(dtype).itemsize), np.uint8) for dims in shapes]
    if dtype == "bool":
        bits = [each % 2 for each in bits]
    a, b = (each.view(dtype)[..., 0] for each in bits)
    a, b = (laid_out(x, order) for x, order in zip((a, b), orders, strict=True))
    same(run(ProgramBuilder.dot, a, b), np.asarray(a @ b))


# ------------------------------------------------------------------ factors and systems


def positive(rng, n, dtype):
    root = rng.normal(size=(n, n + 2))
    return (root @ root.T + np.eye(n)).astype(dtype)


@given(st.integers(0, 40), st.booleans(), layouts, st.sampled_from(FLOATS))
def test_cholesky(n, lower, layout, dtype):
    a = positive(np.random.default_rng(n), n, dtype)
    factor = np.linalg.cholesky(a.astype(float)).astype(dtype)
    # The other triangle is not read.
    a[np.triu_indices(n, 1) if lower else np.tril_indices(n, -1)] = np.nan
    found = run(lambda b, a: b.cholesky(a, lower), laid_out(a, layout))
    close(found, factor if lower else factor.T)
    other = np.triu(found, 1) if lower else np.tril(found, -1)
    same(other, np.zeros_like(other))


@given(
    st.integers(0, 12),
    st.none() | st.integers(0, 6),
    st.tuples(st.booleans(), st.booleans(), st.booleans()),
    st.tuples(layouts, layouts),
    st.sampled_from(FLOATS),
)
def test_solve_triangular(n, columns, form, orders, dtype):
    lower, transposed, unit = form
    rng = np.random.default_rng(n)
    a = (rng.normal(size=(n, n)) / 4 + 2 * np.eye(n)).astype(dtype)
    b = rng.normal(size=n if columns is None else (n, columns)).astype(dtype)
    triangle = np.tril(a) if lower else np.triu(a)
    if unit:
        np.fill_diagonal(triangle, 1)
    expected = np.linalg.solve(triangle.T if transposed else triangle, b)
    # Neither the other triangle nor a diagonal of ones is read.
    unread = np.triu_indices(n, 1) if lower else np.tril_indices(n, -1)
    a[unread] = np.nan
    if unit:
        np.fill_diagonal(a, np.nan)
    a, b = (laid_out(x, order) for x, order in zip((a, b), orders, strict=True))
    found = run(lambda builder, a, b: builder.solve_triangular(a, b, *form), a, b)
    close(found, expected.astype(dtype))


def test_what_has_no_factor_or_solution():
    refused = np.linalg.LinAlgError
    bad = np.diag([1.0, 2.0, -1.0])
    for a in (bad, bad.copy(order="F"), -np.eye(3)):
        with pytest.raises(refused, match=r"not positive definite.*order [13] is not.*Add a small"):
            run(lambda b, a: b.cholesky(a, True), a)
    unknown = run(lambda b, a: b.cholesky(a, True), np.full((3, 3), np.nan))
    same(unknown, np.tril(np.full((3, 3), np.nan)))
    singular = np.diag([1.0, 0.0, 2.0])
    with pytest.raises(refused, match="singular: element 1 of its diagonal is zero"):
        run(lambda b, a, x: b.solve_triangular(a, x, True, False, False), singular, np.ones(3))
    run(lambda b, a, x: b.solve_triangular(a, x, True, False, True), singular, np.ones(3))


@given(
    st.sampled_from(FLOATS),
    st.sampled_from([0, 1, 3, 8, 9, 17]),
    st.none() | st.integers(0, 3),
    st.tuples(layouts, layouts, layouts),
    st.booleans(),
)
def test_lu_and_systems(dtype, n, columns, orders, transposed):
    rng = np.random.default_rng(n)
    a = laid_out((rng.normal(size=(n, n)) / max(n, 1) + np.eye(n))[::-1].astype(dtype), orders[0])
    b = rng.normal(size=(n,) if columns is None else (n, columns)).astype(dtype)
    factors, pivots = scipy.linalg.lu_factor(a) if n else (a, np.zeros(0))
    close(run(lambda builder, a: builder.lu(a)[0], a), factors)
    pivots = pivots.astype("int32")
    np.testing.assert_array_equal(run(lambda builder, a: builder.lu(a)[1], a), pivots)
    expected = np.linalg.solve(a.T if transposed else a, b)
    given = laid_out(factors, orders[1]), laid_out(pivots, orders[2]), laid_out(b, orders[2])
    close(run(lambda builder, *all: builder.lu_solve(*all, transposed), *given), expected)


def test_bad_factors_are_refused():
    factors, three = np.eye(3), np.ones(3)

    def solve(*operands):
        return run(lambda builder, *all: builder.lu_solve(*all, False), *operands)

    for partner in (-1, 3):
        with pytest.raises(ValueError, match=f"row 1 changes places with row {partner}, which"):
            solve(factors, np.array([0, partner, 2], "int32"), three)
    with pytest.raises(ValueError, match=r"\(3, 3\) has no solution .* \(2,\)"):
        solve(factors, np.array([0, 1], "int32"), three)
    with pytest.raises(ValueError, match=r"lu_factor takes a square matrix"):
        run(lambda builder, a: builder.lu(a)[0], np.ones((2, 3)))
    with pytest.raises(TypeError, match="partners of rows are a vector for each matrix"):
        solve(factors, np.eye(3, dtype="int32"), three)
    with pytest.raises(TypeError, match="int32"):
        solve(factors, three, three)
    with pytest.raises(TypeError, match="has the rank of the matrices"):
        solve(factors, np.arange(3, dtype="int32"), np.ones((3, 3, 3)))


@given(st.lists(st.integers(0, 3), min_size=1, max_size=2), st.tuples(layouts, layouts), dtypes)
def test_dot_of_many_matrices(batch, orders, dtype):
    rng = np.random.default_rng(len(batch))
    for m, k, n in ((2, 3, 4), (1, 1, 1), (9, 2, 1), (0, 2, 3), (2, 0, 3)):
        a = laid_out(rng.integers(0, 2, (*batch, m, k)).astype(dtype), orders[0])
        b = laid_out(rng.integers(0, 2, (*batch, k, n)).astype(dtype), orders[1])
        same(run(ProgramBuilder.dot, a, b), a @ b)


def test_many_matrices_must_be_equally_many():
    with pytest.raises(
        ValueError, match=r"\(2, 3, 3\) and \(4, 3, 3\) are not aligned: the lengths"
    ):
        run(ProgramBuilder.dot, np.ones((2, 3, 3)), np.ones((4, 3, 3)))
    with pytest.raises(TypeError, match="one rank"):
        run(ProgramBuilder.dot, np.ones((2, 3, 3)), np.ones((3, 3)))


def test_shapes_of_factors_and_systems_are_checked():
    wide, square, three = np.ones((2, 3)), np.eye(2), np.ones(3)
    with pytest.raises(ValueError, match=r"cholesky takes a square matrix, .* \(2, 3\)"):
        run(lambda b, a: b.cholesky(a, True), wide)
    with pytest.raises(ValueError, match=r"solve_triangular takes a square matrix"):
        run(lambda b, a, x: b.solve_triangular(a, x, True, False, False), wide, three)
    with pytest.raises(ValueError, match=r"\(2, 2\) has no solution .* \(3,\)"):
        run(lambda b, a, x: b.solve_triangular(a, x, True, False, False), square, three)
    with pytest.raises(ValueError, match="gradient of cholesky takes a square"):
        run(ProgramBuilder.cholesky_gradient, wide, wide)
    for build in (
        lambda b, a: b.cholesky(a, True),
        lambda b, a: b.cholesky_gradient(a, a),
        lambda b, a: b.solve_triangular(a, a, True, False, False),
    ):
        with pytest.raises(TypeError, match="matrices are needed"):
            run(build, three)
        with pytest.raises(TypeError, match="float32 or float64"):
            run(build, square.astype(int))


@given(st.integers(0, 70), st.tuples(layouts, layouts), st.sampled_from(FLOATS))
def test_the_gradient_of_cholesky(n, orders, dtype):
    rng = np.random.default_rng(n)
    factor = (np.tril(rng.normal(size=(n, n))) / 8 + 2 * np.eye(n)).astype(dtype)
    gradient = rng.normal(size=(n, n)).astype(dtype)
    # By the formula: A = L L', so dA = phi(L' dL) sandwiched between inverses of L.
    middle = np.tril(factor.T @ np.tril(gradient))
    middle[np.diag_indices(n)] /= 2
    inverse = np.linalg.inv(factor.astype(float))
    whole = inverse.T @ middle @ inverse
    expected = np.tril(whole + whole.T)
    expected[np.diag_indices(n)] /= 2
    factor[np.triu_indices(n, 1)] = np.nan
    factor, gradient = (laid_out(x, o) for x, o in zip((factor, gradient), orders, strict=True))
    found = run(ProgramBuilder.cholesky_gradient, factor, gradient)
    close(found, expected.astype(dtype))


def test_the_gradient_of_cholesky_agrees_with_differences():
    rng = np.random.default_rng(0)
    a, weights = positive(rng, 20, "float64"), np.tril(rng.normal(size=(20, 20)))
    found = run(ProgramBuilder.cholesky_gradient, np.linalg.cholesky(a), weights)

    def cost(a):
        return (scipy.linalg.cholesky(a, lower=True) * weights).sum()

    for i, j in [(0, 0), (19, 19), (19, 0), (7, 3), (12, 11)]:
        step = np.zeros_like(a)
        step[i, j] = 1e-6
        difference = (
            cost(a + step + np.triu(step.T, 1)) - cost(a - step - np.triu(step.T, 1))
        ) / 2e-6
        np.testing.assert_allclose(found[i, j], difference, rtol=1e-5, atol=1e-7)


# ------------------------------------------------------------------ in place


@pytest.mark.parametrize("order", ["C", "F"])
def test_what_dies_is_written_over(order):
    """The operand is made by the program and read no more; a copy of it is asked for, too."""
    rng = np.random.default_rng(0)
    a, b = np.asarray(positive(rng, 20, "float64"), order=order), rng.normal(size=(20, 20))
    factor = np.linalg.cholesky(a)
    one = np.ones(())
    form = (True, False, False)
    cases = [
        (lambda build, x, *rest: build.cholesky(x, True), [a], factor),
        (lambda build, x, y: build.solve_triangular(y, x, *form), [a, factor], factor.T),
        (lambda build, x, y, s: build.gemm(x, s, y, y, s), [a, b, one], a + b @ b),
        (lambda build, x, y: build.cholesky_gradient(y, x), [a, factor], None),
    ]
    for build, operands, expected in cases:
        fresh = run(build, *operands)

        def dying(builder, x, *rest, build=build):
            return build(builder, builder.copy(x), *rest)

        def kept(builder, x, *rest, build=build):
            made = builder.copy(x)
            return builder.join([build(builder, made, *rest), made], 0)

        close(run(dying, *operands), fresh)
        close(run(kept, *operands), np.concatenate([fresh, operands[0]]))
        if expected is not None:
            close(fresh, expected)
    builder = ProgramBuilder()
    x = builder.input(TensorType("float64", (None, None)))
    made = builder.cholesky(builder.copy(x), True)
    assert "%2 = cholesky %1 lower in place" in builder.finish([made]).instructions


# ------------------------------------------------------------------ taken apart and together


@given(st.integers(-9, 9), st.integers(-3, 3), st.integers(0, 5))
def test_range(start, step, count):
    found = run(lambda b: b.range(*map(b.size_literal, (start, step, count))))
    same(found, start + step * np.arange(count))


def test_ranges_wrap_around_and_have_a_length():
    def integers(*sizes):
        return run(lambda b: b.range(*map(b.size_literal, sizes)))

    same(integers(2**63 - 1, 1, 2), np.array([2**63 - 1, -(2**63)]))
    with pytest.raises(ValueError, match="length -1 of axis 0 is negative"):
        integers(0, 1, -1)


@given(st.data(), hnp.array_shapes(min_dims=2, max_dims=4, min_side=0), st.integers(-6, 6))
def test_diagonal(data, shape, offset):
    axes = data.draw(st.permutations(range(len(shape))))[:2]
    array = np.arange(np.prod(shape)).reshape(shape)
    found = run(lambda b, x: b.diagonal(x, axes, offset), array)
    same(found, array.diagonal(offset, *axes))


def test_the_axes_of_a_diagonal_are_checked():
    builder = ProgramBuilder()
    x = builder.input(TensorType("float64", (None, None)))
    with pytest.raises(ValueError, match="axis 1 is named twice"):
        builder.diagonal(x, (1, 1), 0)
    with pytest.raises(IndexError, match="axis 2 is out of range"):
        builder.diagonal(x, (0, 2), 0)


@given(st.data(), hnp.array_shapes(min_dims=1, max_dims=3, min_side=0), st.integers(1, 4))
def test_join(data, shape, count):
    axis = data.draw(st.integers(0, len(shape) - 1))
    parts = []
    for part in range(count):
        own = [*shape]
        own[axis] = data.draw(lengths)
        array = np.arange(np.prod(own)).reshape(own) + 100 * part
        parts.append(
            laid_out(array.astype("int32"), data.draw(layouts.filter("rows apart".__ne__)))
        )
    found = run(lambda b, *parts: b.join(parts, axis), *parts)
    same(found, np.concatenate(parts, axis))


def test_join_checks_its_parts():
    a, b = np.ones((2, 3)), np.ones((3, 2))
    with pytest.raises(ValueError, match=r"along axis 0: part 1 has shape \(3, 2\), .* \(2, 3\)"):
        run(lambda builder, x, y: builder.join([x, y], 0), a, b)
    with pytest.raises(TypeError, match="all parts of a join have one rank"):
        run(lambda builder, x, y: builder.join([x, y], 0), a, b[0])
    with pytest.raises(IndexError, match="axis 2"):
        run(lambda builder, x: builder.join([x], 2), a)
    with pytest.raises(ValueError, match="parts of a join"):
        ProgramBuilder().join([], 0)
