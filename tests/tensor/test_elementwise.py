"""Elementwise functions agree with the functions that their documentation names."""

import importlib
import inspect
import pkgutil

import numpy as np
import pytest
from reference import evaluate

import frazil as fz
import frazil.tensor as ft
from frazil.tensor import elementwise

FUNCTIONS = {
    function.__name__: function
    for module in pkgutil.iter_modules(elementwise.__path__, f"{elementwise.__name__}.")
    for function in vars(importlib.import_module(module.name)).values()
    if inspect.isfunction(function) and "See Also" in (function.__doc__ or "")
}


def followed(function):
    """Return the NumPy or SciPy function that a docstring names."""
    _, _, after = inspect.getdoc(function).partition("See Also\n--------\n")
    module, _, name = after.partition(" : ")[0].rpartition(".")
    return getattr(importlib.import_module(module), name)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_agrees_with_what_it_follows(name):
    function = FUNCTIONS[name]
    nin = len(inspect.signature(function).parameters)
    integers = name.startswith(("bitwise", "polygamma"))
    operands = [np.array([[1, 2, 5]]), np.array([[1], [3]])][:nin]
    if not integers:
        operands = [operand / 8 + 1 * (name == "arccosh") for operand in operands]
    first = {"softplus": [np.float64(0)], "tri_gamma": [1]}.get(name, [])
    expected = followed(function)(*first, *operands)
    found = evaluate(function(*operands))
    assert found.dtype == np.asarray(expected).dtype
    np.testing.assert_allclose(found, expected, rtol=1e-14)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_documentation_has_all_sections(name):
    doc = inspect.getdoc(FUNCTIONS[name])
    for section in ("Parameters", "Returns", "See Also", "Examples"):
        assert f"{section}\n---" in doc
    assert getattr(ft, name) is FUNCTIONS[name]


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("sub", "subtract"),
        ("true_div", "divide"),
        ("int_div", "floor_divide"),
        ("sqr", "square"),
        ("eq", "equal"),
        ("switch", "where"),
        ("sgn", "sign"),
        ("invert", "bitwise_invert"),
    ],
)
def test_names_of_pytensor(alias, name):
    assert getattr(ft, alias) is getattr(ft, name)


def test_python_numbers_are_weak():
    x = ft.vector("x", dtype="float32")
    assert ft.add(x, 1.0).dtype == "float32"
    assert ft.maximum(0, x).dtype == "float32"
    assert ft.add(x, np.float64(1)).dtype == "float64"


def test_operators_and_functions_make_the_same_node():
    x = ft.vector("x")
    assert ft.add(x, 1) is x + 1
    assert ft.less(x, 1) is (x < 1)
    k = ft.lvector("k")
    assert ft.left_shift(k, 3) is k << 3
    assert ft.right_shift(3, k) is 3 >> k


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint64"])
def test_shifts_beyond_the_width_leave_the_sign(dtype, mode):
    width = 8 * np.dtype(dtype).itemsize
    counts = [0, 1, width - 1, width, 100] + [-1, -100] * (dtype[0] == "i")
    limits = np.iinfo(dtype)
    values = np.array([limits.min, limits.max, 1, 5], dtype)[:, None]
    x, y = ft.col("x", dtype=dtype), ft.vector("y", dtype=dtype)
    found = fz.function([x, y], [x << y, x >> y], mode=mode)(values, np.array(counts, dtype))
    for one, shift in zip(found, (np.left_shift, np.right_shift), strict=True):
        np.testing.assert_array_equal(one, shift(values, np.array(counts, dtype)))
    with pytest.raises(TypeError, match="take bool or integers"):
        ft.vector("v") << 1


@pytest.mark.parametrize(("low", "high"), [(None, None), (0.5, None), (None, 1.5), (0.5, 1.5)])
def test_clip(low, high):
    values = np.array([0.0, 1.0, np.nan, 2.0])
    found = evaluate(ft.clip(values, low, high))
    np.testing.assert_array_equal(found, np.clip(values, low, high))


def test_where_takes_numbers_for_conditions():
    found = evaluate(ft.where([0, 2], [1.0, 2.0], -1.0))
    np.testing.assert_array_equal(found, [-1.0, 2.0])


def test_cast():
    x = ft.vector("x")
    assert ft.cast(x, float) is x
    assert ft.cast(x, "int8").dtype == "int8"


@pytest.mark.parametrize("name", ["logical_and", "logical_or", "logical_xor"])
def test_logical(name):
    a, b = np.array([0.0, 0.0, 2.0, np.nan]), np.array([0, 3, 0, 3])
    found = evaluate(getattr(ft, name)(a, b))
    np.testing.assert_array_equal(found, getattr(np, name)(a, b))


def test_logical_not():
    np.testing.assert_array_equal(evaluate(ft.logical_not([0.0, 2.0])), [True, False])
