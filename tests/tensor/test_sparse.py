"""Sparse matrices: SciPy's results in all linkers, gradients of both sides, batches, mistakes."""

import pickle

import numpy as np
import pytest
import scipy.sparse
from agreement import modes
from hypothesis import given, settings
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft
from frazil.tensor.sparse import CSC, CSR, as_sparse, issparse
from frazil.testing import verify_grad


@st.composite
def matrices(draw, dtypes=("float64", "float32", "int64")):
    """Sparse arrays and matrices of SciPy's, of any format; elements may be stored twice."""
    shape = draw(st.tuples(st.integers(0, 5), st.integers(0, 4)))
    count = draw(st.integers(0, 8)) if 0 not in shape else 0
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    places = [rng.integers(0, max(n, 1), count) for n in shape]
    data = rng.integers(-4, 5, count).astype(draw(st.sampled_from(dtypes)))
    made = scipy.sparse.coo_array((data, places), shape=shape)
    kind = draw(st.sampled_from([None, "csr", "csc", "lil", "bsr"]))
    made = made if kind is None else made.asformat(kind)
    return made if draw(st.booleans()) else scipy.sparse.csr_matrix(made)


def dense(shape, dtype="float64", seed=0):
    return np.random.default_rng(seed).integers(-3, 4, shape).astype(dtype)


@settings(max_examples=60)
@given(
    matrix=matrices(),
    columns=st.sampled_from([None, 0, 1, 3]),
    dtype=st.sampled_from(["float64", "float32", "int64"]),
    left=st.booleans(),
    known=st.booleans(),
    mode=modes,
)
def test_products_are_scipys(matrix, columns, dtype, left, known, mode):
    lengths = [matrix.shape[0 if left else 1]]
    if columns is not None:
        lengths = [columns, *lengths] if left else [*lengths, columns]
    value = dense(lengths, dtype)
    x = ft.tensor("x", dtype=dtype, shape=[n if known or n == 1 else None for n in lengths])
    product = fz.function([x], x @ matrix if left else matrix @ x, mode=mode)(value)
    wanted = value @ matrix.toarray() if left else matrix.toarray() @ value
    assert (product.dtype, product.shape) == (wanted.dtype, wanted.shape)
    np.testing.assert_allclose(product, wanted, rtol=1e-6)


@settings(max_examples=30)
@given(matrix=matrices(), other=st.integers(0, 4), mode=modes)
def test_arithmetic_is_that_of_dense_matrices(matrix, other, mode):
    own, full = as_sparse(matrix), matrix.toarray()
    m, n = matrix.shape
    values = [2.5, dense(n), dense((m, 1)), dense((1, n)), dense((m, n))]
    value = values[other]
    x = ft.tensor("x", dtype="float64", shape=[k if k == 1 else None for k in np.shape(value)])
    outputs = [(own * x).toarray(), (x * own).toarray(), (own / 2).toarray(), (-own).toarray()]
    outputs += [(own + own * 3.0).toarray(), (own - matrix).toarray(), own.T.toarray()]
    outputs += [own.sum(0), own.sum(1), own.sum(), own + np.ones((m, n)), np.ones((m, n)) - own]
    wanted = [full * value, full * value, full / 2, -full, full * 4.0, full * 0, full.T]
    wanted += [full.sum(0), full.sum(1), full.sum(), full + 1.0, 1.0 - full]
    results = fz.function([x], outputs, mode=mode, on_unused_input="ignore")(value)
    for result, expected in zip(results, wanted, strict=True):
        assert result.shape == np.shape(expected)
        np.testing.assert_allclose(result, expected, rtol=1e-6)


DTYPES = ["bool", "int8", "uint8", "int16", "uint64", "float32", "float64", "complex64"]


@settings(max_examples=40)
@given(
    matrix=matrices(dtypes=["int8", "uint8", "int16", "uint64", "float32", "complex64"]),
    other=matrices(dtypes=["int8", "uint8", "int16", "float32"]),
    number=st.sampled_from([2, True, 2.5, 1j, np.float32(2.5), np.float64(2.5), np.int16(300)]),
    mode=modes,
)
def test_dtypes_and_values_are_numpys(matrix, other, number, mode):
    own, full = as_sparse(matrix), matrix.toarray()
    other = scipy.sparse.coo_array(np.resize(other.toarray(), full.shape))
    beside = other.toarray()
    pairs = [(own * number, full * number), (number * own, number * full)]
    pairs += [(own / number, full / number), (own - number, full - number)]
    pairs += [(number - own, number - full), (own + number, full + number)]
    pairs += [(own - other, full - beside), (other - own, beside - full)]
    pairs += [(own - beside, full - beside), (beside - own, beside - full)]
    outputs = [x.toarray() if issparse(x) else x for x, _ in pairs]
    for result, (_, wanted) in zip(fz.function([], outputs, mode=mode)(), pairs, strict=True):
        assert (result.dtype, result.shape) == (wanted.dtype, wanted.shape)
        np.testing.assert_allclose(result, wanted, rtol=1e-6)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("axis", [None, 0, 1, -1, -2])
def test_sums_are_in_numpys_dtype(dtype, axis, mode):
    full = np.full((3, 50), 7).astype(dtype)
    found = fz.function([], as_sparse(scipy.sparse.csr_array(full)).sum(axis), mode=mode)()
    wanted = full.sum(axis)
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("kind", [CSR, CSC])
@pytest.mark.parametrize("shape", [(4,), (4, 2)])
def test_gradients_of_data_and_of_the_dense_side(kind, shape, mode):
    matrix = scipy.sparse.random_array((5, 4), density=0.5, rng=np.random.default_rng(3))
    matrix = matrix.asformat(kind.__name__.lower())

    def product(data, x):
        return ft.tanh(kind(data, matrix.indices, matrix.indptr, (5, 4)) @ x)

    verify_grad(product, [matrix.data, np.random.default_rng(1).normal(size=shape)], mode=mode)


@pytest.mark.parametrize("second", [False, True])
def test_derivatives_are_those_of_dense_matrices(second, mode):
    matrix = scipy.sparse.csr_array(dense((5, 4)))
    x, v = ft.vector("x"), ft.vector("v")

    def derivative(a):
        slope = fz.grad(ft.sum(ft.sin(a @ x)), x)
        return fz.grad(ft.sum(slope * v), x) if second else fz.Rop(a @ x**2, x, v)

    found, wanted = fz.function(
        [x, v], [derivative(matrix), derivative(matrix.toarray())], mode=mode
    )([0.1, 0.2, 0.3, 0.4], [1.0, -1.0, 2.0, 0.5])
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_batches():
    matrix = scipy.sparse.csr_array(dense((5, 4)))
    x, batch = ft.vector("x"), ft.matrix("batch")
    products = fz.vectorize(matrix @ x, {x: batch})
    value = dense((3, 4), seed=1)
    np.testing.assert_allclose(products.eval({batch: value}), value @ matrix.toarray().T)


def test_steps_of_a_scan_multiply():
    matrix = scipy.sparse.csr_array(dense((4, 4)) / 8)
    x = ft.vector("x")
    states = fz.scan(lambda y: matrix @ y + x, outputs_info=x, n_steps=3, return_updates=False)
    value = y = np.ones(4)
    for _ in range(3):
        y = matrix @ y + value
    for mode in ("py", "c", "cranelift"):
        np.testing.assert_allclose(fz.function([x], states[-1], mode=mode)(value), y)


def test_no_product_calls_python_or_makes_the_full_matrix():
    matrix = scipy.sparse.csr_array(dense((500, 400), seed=2) * (dense((500, 400)) == 3))
    x = ft.vector("x")
    cost = ft.sum((matrix @ x) ** 2)
    function = fz.function([x], [cost, fz.grad(cost, x)], mode="c")
    assert "call" not in str(function.explain())
    assert function.memory_plan(400).peak < 500 * 400


def test_functions_with_sparse_constants_are_pickled():
    matrix = scipy.sparse.csr_array(dense((5, 4)))
    x = ft.vector("x")
    function = pickle.loads(pickle.dumps(fz.function([x], matrix @ x)))
    np.testing.assert_allclose(function(np.ones(4)), matrix @ np.ones(4))


def test_what_is_sparse():
    assert issparse(as_sparse(scipy.sparse.eye_array(2)))
    assert not issparse([[1.0]])
    assert str(as_sparse(scipy.sparse.eye_array(2))) == "SparseMatrix(float64[2, 2])"
    assert as_sparse(scipy.sparse.eye_array(2)).nnz.eval() == 2
    assert as_sparse(scipy.sparse.eye_array(2)).astype("float32").dtype == "float32"


def test_wrong_parts():
    data = ft.vector("data")
    with pytest.raises(ValueError, match=r"indptr of CSR begins at 0, never goes down and has 3"):
        CSR(data, [0, 1], [0, 2], (2, 2))
    with pytest.raises(ValueError, match="never goes down"):
        CSR(data, [0, 1], [0, 3, 2], (2, 2))
    with pytest.raises(ValueError, match="ends at 3, and there are 2 indices"):
        CSC(data, [0, 1], [0, 1, 3], (2, 2))
    with pytest.raises(ValueError, match="index 2 of CSR is not there: it is between 0 and 1"):
        CSR(data, [0, 2], [0, 1, 2], (2, 2))
    with pytest.raises(ValueError, match="index -1 of CSC is not there"):
        CSC(data, [0, -1], [0, 1, 2], (2, 2))
    with pytest.raises(TypeError, match="indices of CSR is a vector of integers; given float64"):
        CSR(data, [0.0, 1.0], [0, 1, 2], (2, 2))
    with pytest.raises(TypeError, match="data of CSR is a vector"):
        CSR(ft.matrix("m"), [0, 1], [0, 1, 2], (2, 2))
    with pytest.raises(TypeError, match="expected a sparse matrix of SciPy's with two dimensions"):
        as_sparse(np.eye(2))
    with pytest.raises(ValueError, match="3 rows where 2 are expected"):
        CSR(np.ones(3), [0, 1], [0, 1, 2], (2, 2))


def test_wrong_operands(mode):
    matrix, x = scipy.sparse.csr_array(np.eye(3)), ft.vector("x")
    own = as_sparse(matrix)
    with pytest.raises(ValueError, match="4 rows where 3 are expected"):
        matrix @ ft.ones(4)
    function = fz.function([x], matrix @ x, mode=mode)
    for wrong in (np.ones(4), np.ones(1), np.ones(0)):
        with pytest.raises(ValueError, match="length"):
            function(wrong)
    data = ft.vector("data")
    with pytest.raises(ValueError, match="length"):
        fz.function([data], CSR(data, [0, 1], [0, 1, 2], (2, 2)).sum(1), mode=mode)(np.ones(3))
    with pytest.raises(TypeError, match="two sparse matrices have no product"):
        own @ matrix
    with pytest.raises(TypeError, match=r"sparse \* sparse is not there"):
        own * matrix
    with pytest.raises(TypeError, match="times a vector or a matrix"):
        own @ ft.tensor3("t")
    with pytest.raises(ValueError, match="have no sum"):
        own + scipy.sparse.eye_array(4)
    with pytest.raises(TypeError, match=r"is sparse; write \.toarray\(\)"):
        np.asarray(own)
    with pytest.raises(np.exceptions.AxisError):
        own.sum(2)
