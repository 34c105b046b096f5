"""Softmax and its kin agree with SciPy, also where a naive form overflows."""

import numpy as np
import pytest
from agreement import check, compiled, like
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from reference import evaluate
from scipy import special

import frazil as fz
import frazil.tensor as ft
from frazil.scalar.elemwise import Elemwise
from frazil.tensor.reductions import Reduce
from frazil.testing import verify_grad

NAMES = ["softmax", "log_softmax", "logsumexp"]
X = np.array([[0.3, -1.2, 0.7, 2.0], [1.5, 0.4, -0.6, 0.1], [9.0, -9.0, 0.0, 3.0]])


def scipy_of(name, array, axis):
    with np.errstate(all="ignore"):
        return getattr(special, name)(array, axis=axis)


@pytest.mark.parametrize("name", NAMES)
@given(st.data())
def test_agrees_with_scipy(name, data):
    shape = data.draw(hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=4))
    dtype = data.draw(st.sampled_from(["float64", "float32"]))
    elements = st.floats(-1000, 1000, width=16)
    array = data.draw(hnp.arrays(dtype, shape, elements=elements))
    axis = data.draw(st.none() | st.integers(-len(shape), len(shape) - 1))
    x = like(data.draw, array)
    expected = np.asarray(scipy_of(name, array.astype("float64"), axis)).astype(dtype)
    check(getattr(ft, name)(x, axis), {x: array}, expected, "py", rtol=1e-10)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("axis", [(0, 2), None, (1,)])
def test_several_axes(name, axis, mode):
    array = np.linspace(-3, 3, 24).reshape(2, 3, 4)
    check(getattr(ft, name)(array, axis), {}, scipy_of(name, array, axis), mode, rtol=1e-10)


def test_keepdims():
    assert ft.logsumexp(ft.matrix(), 1, keepdims=True).broadcastable == (False, True)
    assert ft.logsumexp(ft.matrix()).ndim == 0


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("axis", [0, 1])
def test_no_elements_along_other_axes(name, axis, mode):
    x = ft.matrix("x")
    shape = (0, 3) if axis else (3, 0)
    array = np.zeros(shape)
    expected = array if name != "logsumexp" else np.zeros(0)
    check(getattr(ft, name)(x, axis), {x: array}, expected, mode)


def test_infinities(mode):
    inf = np.inf
    rows = np.array([[-inf, -inf], [inf, 1.0], [-inf, 2.0], [inf, inf], [np.nan, inf]])
    x = ft.matrix("x")
    check(ft.logsumexp(x, axis=1), {x: rows}, [-inf, inf, 2.0, inf, np.nan], mode)
    check(ft.softmax(x, axis=1), {x: rows[2:3]}, [[0.0, 1.0]], mode)
    for name in NAMES:
        check(getattr(ft, name)(x, axis=1), {x: rows}, scipy_of(name, rows, 1), mode)


def test_large_values(mode):
    large = np.array([1e300, 1e300, -1e300])
    check(ft.softmax(large), {}, [0.5, 0.5, 0.0], mode)
    check(ft.logsumexp(large), {}, 1e300, mode)
    single = np.array([1e38, 0.0], dtype="float32")
    check(ft.log_softmax(single), {}, np.array([0.0, -1e38], dtype="float32"), mode)


@pytest.mark.parametrize(
    ("dtype", "result"), [("int64", "float64"), ("int8", "float32"), ("float32", "float32")]
)
@pytest.mark.parametrize("name", NAMES)
def test_dtypes(name, dtype, result):
    array = np.array([100, -100, 101], dtype=dtype)
    found = evaluate(getattr(ft, name)(array))
    assert found.dtype == result
    expected = scipy_of(name, array.astype("float64"), None)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-30)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_gradients(name, axis):
    def function(x):
        return getattr(ft, name)(x, axis)

    verify_grad(function, [X], mode="py")
    verify_grad(function, [X.astype("float32")], mode="py")
    verify_grad(lambda x: fz.grad(ft.sum(function(x) ** 2), x), [X], mode="py")


@pytest.mark.parametrize("name", NAMES)
def test_gradients_in_all_linkers(name, mode):
    verify_grad(lambda x: getattr(ft, name)(x, -1), [X], mode=mode)


def test_gradients_at_large_values(mode):
    x = ft.vector("x")
    values = {x: [1000.0, 1000.0, -1000.0]}
    gradient = fz.grad(ft.logsumexp(x), x)
    np.testing.assert_array_equal(compiled(gradient, values, mode), [0.5, 0.5, 0.0])
    gradient = fz.grad(ft.log_softmax(x)[0], x)
    np.testing.assert_array_equal(compiled(gradient, values, mode), [0.5, -0.5, 0.0])


@pytest.mark.parametrize("name", NAMES)
def test_all_of_it_fuses(name):
    """Only elementwise ops, reductions, and views that loops look through, gradients included."""
    x = ft.matrix("x")
    value = getattr(ft, name)(x, axis=-1)
    f = fz.FrozenFunctionGraph([x], [value, fz.grad(ft.sum(value**2), x)])
    others = {
        type(node.op).__name__
        for node in f.toposort()
        if not isinstance(node.op, Elemwise | Reduce)
    }
    assert others <= {"ExpandDims", "DropDims", "BroadcastTo"}


def test_what_only_stops_gradients_is_rewritten_away():
    x = ft.matrix("x")
    after = fz.rewrite.rewrite(ft.softmax(x, axis=-1), fz.rewrite.CANONICALIZE).graph
    assert "disconnected_grad" in fz.pp(ft.softmax(x, axis=-1))
    assert "disconnected_grad" not in fz.pp(after)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
@pytest.mark.parametrize("axis", [0, 1, None])
def test_logsumexp_of_nothing_is_minus_infinity(shape, axis, mode):
    kept = () if axis is None else (shape[1 - axis],)
    expected = np.full(kept, -np.inf)
    for dtype in ("float32", "int64"):
        array = np.zeros(shape, dtype)
        if axis is not None:  # for all axes of a matrix SciPy raises
            np.testing.assert_array_equal(special.logsumexp(array, axis), expected)
        x = ft.matrix("x", dtype=dtype)
        y = ft.logsumexp(x, axis)
        check(y, {x: array}, expected.astype(y.dtype), mode)
    known = ft.tensor("known", shape=shape)
    check(ft.logsumexp(known, axis), {known: np.zeros(shape)}, expected, mode)
    x = ft.matrix("x")
    check(fz.grad(ft.sum(ft.logsumexp(x, axis)), x), {x: np.zeros(shape)}, np.zeros(shape), mode)
    check(ft.logsumexp(x, axis, b=x), {x: np.zeros(shape)}, expected, mode)
