"""Short forms: methods, ``x.at``, lists that hold variables, slices whose steps are variables."""

import inspect
import pickle

import numpy as np
import pandas as pd
import pytensor.tensor
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import frazil as fz
import frazil.tensor as ft
from frazil.tensor.keywords import OTHERS
from frazil.testing import verify_grad

V = np.array([3.0, 1.0, 2.0])


def evaluate(output):
    return fz.function([], output, mode="py")()


def test_methods_are_functions_in_another_spelling():
    x = ft.vector("x")
    for name in (
        *("arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh", "ceil", "conj", "cos"),
        *("cosh", "deg2rad", "exp", "exp2", "expm1", "floor", "log", "log10", "log1p", "log2"),
        *("rad2deg", "sin", "sinh", "sqrt", "tan", "tanh", "trunc", "sort", "ptp"),
    ):
        assert getattr(x, name)() is getattr(ft, name)(x), name
    assert x.real is x
    assert x.norm() is ft.linalg.norm(x)
    assert x.sort(axis=None) is ft.sort(x)
    assert x.searchsorted(1.0, "right") is ft.searchsorted(x, 1.0, "right")
    assert divmod(x, 2) == ft.divmod(x, 2)
    assert divmod(2, x) == ft.divmod(2, x)
    assert_array_equal(x.imag.eval({x: V}), np.zeros(3))
    assert x.zeros_like().type == x.ones_like().type == x.type


@pytest.mark.parametrize("name", sorted(OTHERS))
def test_arguments_have_names_of_other_libraries(name):
    function = getattr(ft, name)
    own = list(inspect.signature(function).parameters)
    for other, param in OTHERS[name].items():
        # What is imported meanwhile may put a module of that name beside the function.
        libraries = (np, pytensor.tensor, pytensor.tensor.math)
        theirs = [vars(library).get(name) for library in libraries]
        known = [inspect.signature(f).parameters for f in theirs if callable(f)]
        assert any(other in names for names in known), other
        assert param in own
    assert pickle.loads(pickle.dumps(function)) is function


def test_calls_by_names_of_other_libraries():
    x, m = ft.vector("x"), ft.matrix("m")
    assert ft.sum(a=m, axis=0) is ft.sum(input=m, axis=0) is ft.sum(m, 0)
    assert ft.clip(a=x, a_min=0, a_max=1) is ft.clip(x, 0, 1)
    assert ft.clip(x, 0, a_max=1) is ft.clip(x, 0, 1)
    assert ft.eye(N=3, M=2) is ft.eye(3, 2)
    assert ft.outer(a=x, b=x) is ft.outer(x, x)
    assert ft.reshape(a=m, newshape=(-1,)) is ft.reshape(m, (-1,))
    assert ft.stack(arrays=[x, x]) is ft.stack([x, x])
    with pytest.raises(TypeError, match="sum takes x= or a=, not both"):
        ft.sum(x=x, a=x)
    with pytest.raises(TypeError, match="multiple values for argument 'x'"):
        ft.sum(x, a=x)
    with pytest.raises(np.exceptions.AxisError, match=r"^sum takes axes"):
        ft.sum(a=x, axis=2)


def test_data_types_have_names():
    for name in ("bool", "int8", "uint16", "int64", "float32", "float64"):
        assert ft.zeros(3, getattr(ft, name)).dtype == getattr(ft, name) == name


def test_lists_that_hold_variables_are_tensors():
    x, s = ft.vector("x"), ft.fscalar("s")
    made = ft.as_tensor([x[0], 1.0, x.sum()])
    assert_array_equal(made.eval({x: V}), [3, 1, 6])
    assert made.type.shape == (3,)
    assert ft.as_tensor([[s, 1], [2, s]], "float32").type == fz.TensorType("float32", (2, 2))
    assert_array_equal(ft.as_tensor(((x[0], 1), [2, x[1]])).eval({x: V}), [[3, 1], [2, 1]])
    assert_array_equal(ft.as_tensor([x, V]).eval({x: V}), [V, V])
    assert_array_equal(ft.sum([x[0], x[1]]).eval({x: V}), 4)
    assert_array_equal(ft.add(x, [x[2], 1, 1]).eval({x: V}), [5, 2, 3])
    assert_array_equal(ft.stack([x[0], 2.0, np.float32(1)]).eval({x: V}), [3, 2, 1])
    with pytest.raises(ValueError, match="one shape"):
        ft.as_tensor([x, x[0]])
    with pytest.raises(TypeError, match="no constant"):
        ft.constant([x[0], 1.0])


def test_indices_as_people_write_them():
    x, k = ft.vector("x"), ft.lscalar("k")
    assert_array_equal(x[pd.Series([True, False, True])].eval({x: V}), [3, 2])
    assert_array_equal(x[pd.Index([2, 0])].eval({x: V}), [2, 3])
    assert_array_equal(x[[k, 0]].eval({x: V, k: 1}), [1, 3])
    (where,) = ft.where(x > 1)
    assert where is ft.nonzero(x > 1)[0]
    with pytest.raises(TypeError, match="one tensor, or three"):
        ft.where(x > 1, x)


def test_a_tensor_is_set_as_a_whole():
    x, y = ft.vector("x"), ft.fscalar("y")
    for whole in (x[:], x[...], x):
        assert_array_equal(ft.set_subtensor(whole, 1.0).eval({x: V}), np.ones(3))
        assert_array_equal(ft.inc_subtensor(whole, y).eval({x: V, y: 1.0}), V + 1)
    assert (x * 2)[:].set(V).type.dtype == "float64"
    with pytest.raises(TypeError, match="without loss"):
        ft.set_subtensor(ft.fvector()[:], x)
    with pytest.raises(ValueError, match="broadcast"):
        ft.set_subtensor(x[:], ft.ones((2, 3)))
    verify_grad(lambda x, y: ft.set_subtensor((x * 2)[:], y) * x, [V, 2 * V])


def test_parts_by_at():
    x = ft.constant(V)
    for changed, expected in (
        (x.at[0].set(5.0), [5, 1, 2]),
        (x.at[[0, 0]].add(1.0), [5, 1, 2]),
        (x.at[1:].subtract(1.0), [3, 0, 1]),
        (x.at[1:].multiply([2.0, 3.0]), [3, 2, 6]),
        (x.at[x > 1].divide(2.0), [1.5, 1, 1]),
        (x.at[-1].power(3.0), [3, 1, 8]),
        (x.at[...].min(2.0), [2, 1, 2]),
        (x.at[[0, 2]].max(2.5, unique_indices=True), [3, 1, 2.5]),
    ):
        assert_array_equal(evaluate(changed), expected)
    assert x.at[1].get() is x[1]
    with pytest.raises(TypeError, match="unique_indices=True"):
        x.at[[0, 0]].multiply(2.0)


@pytest.mark.parametrize(
    "index", [None, (None, ...), (slice(None), None), (None, 0, None)], ids=str
)
@pytest.mark.parametrize("outer", [False, True])
def test_parts_by_at_with_new_dimensions(index, outer):
    """A part may have dimensions that the tensor has not: the tensor keeps its own."""
    x = ft.dvector("x")
    whole, value = (x[None], V[None]) if outer else (x, V)
    new = np.arange(1.0, 1 + value[index].size).reshape(value[index].shape)
    expected = {
        "set": new,
        "add": value[index] + new,
        "multiply": value[index] * new,
        "max": np.maximum(value[index], new),
    }
    for name, part in expected.items():
        wanted = value.copy()
        wanted[index] = part
        changed = getattr(whole.at[index], name)(new)
        assert changed.type.ndim == value.ndim
        assert_array_equal(changed.eval({x: V}), wanted)
    for name in ("set", "add"):
        wanted = value.copy()
        wanted[index] = expected[name]
        assert_array_equal(
            fz.jit(lambda x, name=name: getattr(x.at[index], name)(new))(value), wanted
        )
    verify_grad(lambda x, y: x.at[index].add(y) * x, [value, new])


def test_a_number_at_new_dimensions():
    s = ft.dscalar("s")
    for index in (None, (None, ...), (..., None), (None, ..., None)):
        changed = s.at[index].add(np.full(np.zeros(())[index].shape, 2.0))
        assert changed.type.ndim == 0
        assert changed.eval({s: 1.0}) == 3.0


def steps(mode):
    x, a, b, s = ft.vector("x"), *ft.scalars("a", "b", "s", dtype="int64")
    parts = [x[a:b:s], x[::s], x[a::s], x[:b:s], ft.set_subtensor(x[a:b:s], 7.0)]
    return fz.function([x, a, b, s], parts, mode=mode)


STEPPED = {mode: steps(mode) for mode in ("py", "c", "cranelift", "numba")}
bounds = st.integers(-7, 7)


@settings(max_examples=60)
@given(st.integers(0, 5), bounds, bounds, st.integers(-3, 3).filter(bool))
@example(0, 0, 0, -1)
@example(5, -1, -6, -2)
def test_steps_that_are_variables(n, a, b, s):
    value = np.arange(float(n))
    changed = value.copy()
    changed[a:b:s] = 7
    for f in STEPPED.values():
        found = f(value, a, b, s)
        expected = [value[a:b:s], value[::s], value[a::s], value[:b:s], changed]
        for one, other in zip(found, expected, strict=True):
            assert_array_equal(one, other)


def test_steps_that_cannot_be():
    x, k = ft.matrix("x"), ft.lscalar("k")
    with pytest.raises(TypeError, match="in several steps"):
        x[::k, ::k]
    with pytest.raises(TypeError, match="in several steps"):
        x[0, ::k]
    assert_array_equal(x[::k, 1:].eval({x: np.eye(3), k: 2}), np.eye(3)[::2, 1:])
    for f in STEPPED.values():
        with pytest.raises(ValueError, match="zero"):
            f(V, 0, 2, 0)
