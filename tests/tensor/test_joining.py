"""Joining and splitting agree with NumPy."""

import numpy as np
import pytest
from agreement import check, compiled, like, modes
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import frazil as fz
import frazil.tensor as ft
from frazil.tensor.joining import Join
from frazil.testing import verify_grad

X = np.linspace(-1, 1, 6).reshape(2, 3)


@st.composite
def joinable(draw):
    shape = draw(hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=3))
    axis = draw(st.integers(0, len(shape) - 1))
    arrays = []
    for k, length in enumerate(draw(st.lists(st.integers(0, 3), min_size=1, max_size=4))):
        own = (*shape[:axis], length, *shape[axis + 1 :])
        dtype = draw(st.sampled_from(["float64", "float32", "int8", "bool"]))
        array = (np.arange(np.prod(own, dtype=int)) + k) % 2
        arrays.append(array.reshape(own).astype(dtype))
    return arrays, axis - draw(st.sampled_from([0, len(shape)]))


@given(joinable(), modes, st.data())
def test_concatenate_agrees_with_numpy(drawn, mode, data):
    arrays, axis = drawn
    inputs = [like(data.draw, array) for array in arrays]
    values = dict(zip(inputs, arrays, strict=True))
    if len({array.dtype for array in arrays}) > 1:
        mode = "py"  # casts are kernels, and take long to compile
    check(ft.concatenate(inputs, axis), values, np.concatenate(arrays, axis), mode)
    flat = np.concatenate(arrays, None)
    check(ft.concatenate(inputs, None), values, flat, mode)


@given(
    hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3),
    st.integers(1, 3),
    modes,
    st.data(),
)
def test_stack_agrees_with_numpy(shape, count, mode, data):
    arrays = [np.full(shape, float(k)) for k in range(count)]
    axis = data.draw(st.integers(-len(shape) - 1, len(shape)))
    inputs = [like(data.draw, array) for array in arrays]
    values = dict(zip(inputs, arrays, strict=True))
    check(ft.stack(inputs, axis), values, np.stack(arrays, axis), mode)
    check(ft.hstack(inputs), values, np.hstack(arrays), mode)
    check(ft.vstack(inputs), values, np.vstack(arrays), mode)


def test_split(mode):
    x, n = ft.matrix("x"), ft.lscalar("n")
    values = {x: np.arange(8.0).reshape(2, 4), n: 3}
    first, second = ft.split(x, [n, x.shape[1] - n], axis=1)
    check(first, values, values[x][:, :3], mode)
    check(second, values, values[x][:, 3:], mode)


def test_one_tensor_is_itself():
    x = ft.matrix("x")
    assert ft.concatenate([x]) is x


@pytest.mark.parametrize(
    "build",
    [
        lambda x, y: ft.concatenate([x, y, x]),
        lambda x, y: ft.concatenate([y, x], axis=-1),
        lambda x, y: ft.concatenate([x[:1], y[1:]]),
        lambda x, y: ft.concatenate([x, y], axis=None),
        lambda x, y: ft.stack([x, y[0]], axis=1) if x.ndim == 1 else ft.stack([x, y], axis=1),
        lambda x, y: ft.hstack([x, y]) * ft.hstack([y, x]),
        lambda x, y: ft.split(ft.vstack([x, y]), [3, 1])[0],
    ],
)
def test_gradients(build, mode):
    verify_grad(lambda x, y: build(x, y) ** 2, [X, X[::-1] + 0.3], mode=mode)
    verify_grad(lambda x, y: fz.grad(ft.sum(build(x, y) ** 3), x), [X, X[::-1] + 0.3], mode="py")


def test_gradients_of_parts_of_different_dtypes(mode):
    verify_grad(lambda x, y: ft.concatenate([x, y]) ** 2, [X, X.astype("float32")], mode=mode)


def test_lengths_that_differ_at_the_call(mode):
    x, y = ft.matrix("x"), ft.matrix("y")
    with pytest.raises(ValueError, match=r"dimension|length"):
        compiled(ft.concatenate([x, y]), {x: np.zeros((1, 2)), y: np.zeros((1, 3))}, mode)


def test_join_is_concatenate_with_the_axis_first():
    x, y = ft.matrix("x"), ft.imatrix("y")
    assert ft.join(1, x, y) is ft.concatenate([x, y], axis=1)


def test_errors():
    with pytest.raises(ValueError, match="one tensor at least"):
        ft.concatenate([])
    with pytest.raises(TypeError, match="takes a sequence"):
        ft.concatenate(ft.matrix())
    with pytest.raises(ValueError, match=r"Use ft\.stack"):
        ft.concatenate([1.0, 2.0])
    with pytest.raises(ValueError, match="one number of dimensions"):
        ft.concatenate([ft.vector(), ft.matrix()])
    with pytest.raises(ValueError, match="agree in their other lengths"):
        ft.concatenate([ft.tensor(shape=(None, 2)), ft.tensor(shape=(None, 3))])
    with pytest.raises(np.exceptions.AxisError):
        ft.concatenate([ft.vector(), ft.vector()], axis=1)
    with pytest.raises(np.exceptions.AxisError):
        Join(1)(ft.vector())
    with pytest.raises(ValueError, match="must have one shape"):
        ft.stack([ft.vector(), ft.matrix()])
    with pytest.raises(ValueError, match="n_splits=3"):
        ft.split(ft.vector(), [1, 2], n_splits=3)
