"""Functions that PyTensor has and NumPy does not."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import frazil as fz
import frazil.tensor as ft
from frazil.testing import verify_grad

A = np.arange(24.0).reshape(2, 3, 4)


@pytest.mark.parametrize("mode", ["py", "c"])
def test_values(mode):
    x, n = ft.tensor3("x"), ft.lscalar("n")
    built = {
        "split": (ft.split_dims(x, (n, -1), axis=-1), A.reshape(2, 3, 2, 2)),
        "split_to_none": (ft.split_dims(x[:1], (), axis=0), A[0]),
        "join": (ft.join_dims(x, 1), A.reshape(2, 12)),
        "join_two": (ft.join_dims(x, 0, 2), A.reshape(6, 4)),
        "join_none": (ft.join_dims(x, 3, 0), A[..., None]),
        "horizontal": (ft.horizontal_stack(x[0], x[1]), np.hstack([*A])),
        "vertical": (ft.vertical_stack(x[0], x[1]), np.vstack([*A])),
        "fill": (ft.fill(x, n), np.full((2, 3, 4), 2)),
        "at least": (ft.atleast_Nd(x[0], n=4, left=False), A[0][..., None, None]),
        "one": (ft.specify_broadcastable(x[:1], 0) + x, A[:1] + A),
        "isneginf": (ft.isneginf(-1 / x), A == 0),
        "isposinf": (ft.isposinf(1 / x), A == 0),
        "dots": (ft.linalg.matrix_dot(x[0].T, x[0], x[1].T), A[0].T @ A[0] @ A[1].T),
    }
    f = fz.function([x, n], [y for y, _ in built.values()], mode=mode)
    for name, found, (_, wanted) in zip(built, f(A, 2), built.values(), strict=True):
        assert_array_equal(found, wanted, err_msg=name)
        assert found.dtype == wanted.dtype


def test_gradients():
    point = np.array([[1.0, 2.0], [3.0, 4.0]])
    verify_grad(lambda x: ft.split_dims(ft.join_dims(x), (2, 2)) @ x, [point])
    verify_grad(lambda x: ft.fill(x, ft.sum(x)) * x, [point])
    verify_grad(lambda x: ft.horizontal_stack(x, x) ** 2, [point])


def test_lengths_and_shapes():
    x = ft.tensor("x", shape=(3, None))
    assert ft.get_vector_length(x.shape) == 2
    assert ft.get_vector_length(x[:, 0]) == 3
    with pytest.raises(ValueError, match="only a run tells"):
        ft.get_vector_length(x[0])
    with pytest.raises(TypeError, match="only vectors"):
        ft.get_vector_length(x)
    shape = ft.broadcast_shape(x, ft.tensor("y", shape=(4, 1, 1)))
    assert [ft.get_vector_length(ft.zeros(n)) for n in shape[:2]] == [4, 3]
    assert ft.broadcast_shape((2, 1), (3,), arrays_are_shapes=True)[1] is ft.constant(3)
    assert isinstance(x, ft.TensorVariable)
    assert isinstance(ft.constant(1), ft.TensorConstant)
    assert isinstance(fz.shared(1.0), ft.TensorSharedVariable)


def test_wrong_arguments():
    x = ft.matrix("x")
    with pytest.raises(ValueError, match="two matrices or more"):
        ft.horizontal_stack(x)
    with pytest.raises(ValueError, match="two matrices or more"):
        ft.vertical_stack(x, x[0])
    with pytest.raises(ValueError, match="3 dimensions from 0"):
        ft.join_dims(x, 0, 3)
    with pytest.raises(np.exceptions.AxisError):
        ft.split_dims(x, (2, 2), 2)
    with pytest.raises(ValueError, match="1"):
        ft.specify_broadcastable(ft.zeros((2, 2)), 0)
