"""Python functions that programs call."""

import gc

import numpy as np
import pytest
from programs import SCALAR, VECTOR, function, same

from frazil._core import ProgramBuilder, TensorType


def called(python, types, *arrays):
    builder = ProgramBuilder()
    inputs = [TensorType(array.dtype, (None,) * array.ndim) for array in arrays]
    slots = [builder.input(type) for type in inputs]
    builder.origin("the node")
    return function(builder, builder.call(python, slots, types), *inputs)(*arrays)


def test_python_functions_are_called_with_arrays():
    array = np.arange(3.0)
    (result,) = called(np.sin, [VECTOR], array)
    same(result, np.sin(array))
    low, high = called(lambda x: (x - 1, x + 1), [VECTOR, VECTOR], array)
    same(low, array - 1)
    same(high, array + 1)
    (total,) = called(np.sum, [SCALAR], array)
    same(total, np.array(3.0))
    assert called(lambda x: (), [], array) == []


def test_what_a_python_function_returns_is_checked():
    array = np.arange(3.0)
    with pytest.raises(TypeError, match=r"type int64\[3\], float64\[\?\] was declared"):
        called(lambda x: x.astype(int), [VECTOR], array)
    with pytest.raises(TypeError, match=r"complex128\[3\], float64\[\?\] was declared"):
        called(lambda x: x * 1j, [VECTOR], array)
    with pytest.raises(TypeError, match=r"float64\[3\], float64\[2\] was declared"):
        called(lambda x: x, [TensorType("float64", (2,))], array)
    with pytest.raises(TypeError, match="returned 3 results, 2 were declared"):
        called(lambda x: (x, x, x), [VECTOR, VECTOR], array)
    with pytest.raises(TypeError, match="must return a tuple of 2 arrays"):
        called(lambda x: x, [VECTOR, VECTOR], array)


def test_exceptions_of_python_functions_pass_with_a_note():
    class Own(Exception):
        pass

    def fails(x):
        raise Own("mine")

    with pytest.raises(Own) as raised:
        called(fails, [VECTOR], np.ones(2))
    assert raised.value.args == ("mine",)
    assert raised.value.__notes__ == ["in: the node"]


def test_results_of_odd_layout_are_taken():
    array = np.arange(6.0)
    swapped = array.astype(">f8")
    (result,) = called(lambda x: swapped, [VECTOR], array)
    same(result, array)
    packed = np.zeros(3, np.dtype([("a", "i1"), ("b", "f8")]))
    packed["b"] = [1, 2, 3]
    (result,) = called(lambda x: packed["b"], [VECTOR], array)
    same(result, np.array([1.0, 2.0, 3.0]))


def test_a_python_function_may_keep_what_it_is_given():
    kept = []

    def keep(x):
        kept.append(x)
        return x

    builder = ProgramBuilder()
    x = builder.input(VECTOR)
    copy = builder.copy(x)
    (first,) = builder.call(keep, [copy], [VECTOR])
    (second,) = builder.call(keep, [first], [VECTOR])
    (third,) = builder.call(keep, [x], [VECTOR])
    call = function(builder, [second, third, builder.copy(copy)], VECTOR)
    for start in range(4):
        array = np.arange(start, start + 5.0)
        for output in call(array):
            same(output, array)
            assert not any(np.shares_memory(output, other) for other in [array, *kept])
            output[:] = -1
    gc.collect()
    for at, array in enumerate(kept):
        same(np.array(array), np.arange(at // 3, at // 3 + 5.0))
