"""Adding and dropping dimensions of length 1."""

import numpy as np
import pytest
from reference import evaluate

import frazil.tensor as ft
from frazil.tensor.dims import DropDims, ExpandDims


@pytest.mark.parametrize("axis", [0, 1, -1, (0, 2), (0, -1), (1, 2, 4)])
def test_expand_dims(axis):
    x = np.arange(6.0).reshape(2, 3)
    found = evaluate(ft.expand_dims(x, axis))
    assert found.shape == np.expand_dims(x, axis).shape


def test_squeeze_drops_what_is_known():
    x = ft.tensor("x", shape=(1, None, 1))
    assert ft.squeeze(x).ndim == 1
    assert ft.squeeze(x, 1).type.shape == (1, 1)
    assert evaluate(ft.squeeze(x, (0, -1)), {x: np.zeros((1, 3, 1))}).shape == (3,)


def test_nothing_to_do_gives_the_tensor_itself():
    x = ft.vector("x")
    assert ft.expand_dims(x, ()) is ft.squeeze(x) is x


def test_errors():
    with pytest.raises(ValueError, match="axis 1 of a tensor of shape \\(1, 3\\) has length 3"):
        ft.squeeze(ft.tensor(shape=(1, 3)), 1)
    with pytest.raises(np.exceptions.AxisError):
        ft.expand_dims(ft.vector(), 3)
    with pytest.raises(ValueError, match="twice"):
        ft.expand_dims(ft.vector(), (0, 0))
    with pytest.raises(ValueError, match="sorted"):
        ExpandDims((2, 0))(ft.vector())
    with pytest.raises(ValueError, match="sorted"):
        DropDims((-1,))(ft.row())
