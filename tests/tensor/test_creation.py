"""Tensors made of one value."""

import numpy as np
import pytest
from reference import evaluate

import frazil.tensor as ft
from frazil.tensor.creation import Full


@pytest.mark.parametrize("name", ["zeros", "ones"])
def test_constant_tensors(name):
    found = evaluate(getattr(ft, name)((2, 3), "float32"))
    np.testing.assert_array_equal(found, getattr(np, name)((2, 3), "float32"))
    assert found.dtype == "float32"


@pytest.mark.parametrize("name", ["zeros_like", "ones_like"])
def test_like(name):
    x = ft.matrix("x", dtype="int32")
    found = evaluate(getattr(ft, name)(x), {x: np.full((2, 3), 7)})
    np.testing.assert_array_equal(found, getattr(np, name)(np.full((2, 3), 7)))
    assert found.dtype == "int32"
    assert getattr(ft, name)(x, "bool").dtype == "bool"


def test_full_of_a_tensor_that_broadcasts():
    row, n = ft.vector("row"), ft.lscalar("n")
    found = evaluate(ft.full((n, 2), row), {row: [1.0, 2.0], n: 3})
    np.testing.assert_array_equal(found, np.full((3, 2), [1.0, 2.0]))
    assert ft.full((2, 2), row) is not ft.full((2, 2), row)
    assert ft.full_like(np.zeros((2, 2), "float32"), row).dtype == "float32"
    np.testing.assert_array_equal(
        evaluate(ft.full_like(np.zeros((2, 2), "int8"), [1, 2])), np.full((2, 2), [1, 2])
    )


def test_full_of_a_variable():
    value, n = ft.scalar("value"), ft.lscalar("n")
    tensor = ft.full((n, 2), value)
    assert tensor.type.shape == (None, 2)
    np.testing.assert_array_equal(evaluate(tensor, {value: 3.0, n: 2}), np.full((2, 2), 3.0))


def test_full_takes_the_dtype_of_its_value():
    assert ft.full(3, True).dtype == "bool"
    assert ft.full(3, 1).dtype == "int64"
    assert ft.full_like(ft.fvector(), 1).dtype == "float32"


def test_alloc_repeats_a_value():
    n, row = ft.lscalar("n"), ft.vector("row")
    tensor = ft.alloc(row, n, row.size)
    given = {n: 2, row: [1.0, 2.0]}
    np.testing.assert_array_equal(evaluate(tensor, given), [[1.0, 2.0], [1.0, 2.0]])
    assert ft.alloc(0, 2, 3) is not ft.alloc(0, 2, 3)
    assert ft.alloc(ft.fscalar(), 2).type.shape == (2,)
    changed = ft.set_subtensor(ft.alloc(row, n, row.size)[0], 0.0)
    np.testing.assert_array_equal(evaluate(changed, given), [[0.0, 0.0], [1.0, 2.0]])


def test_errors():
    with pytest.raises(TypeError, match="no dimensions"):
        Full()(ft.as_tensor([1.0, 2.0]), ft.as_tensor(2))
    with pytest.raises(ValueError, match="broadcast"):
        ft.full(3, [1.0, 2.0])
    with pytest.raises(ValueError, match="negative"):
        ft.zeros(-1)
    for shape in (2.5, None, (2, 2.5)):
        for make in (ft.zeros, ft.vector("x").reshape, lambda n: ft.broadcast_to(1.0, n)):
            with pytest.raises(TypeError, match="a length must be an int"):
                make(shape)
