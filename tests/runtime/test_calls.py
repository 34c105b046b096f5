"""Calls of functions: arguments, results, shared variables, threads."""

import ctypes
import threading

import numpy as np
import pytest
from programs import SCALAR, VECTOR, convert, function, run, same

from frazil import _core
from frazil._core import Function, ProgramBuilder, TensorType


def test_outputs_are_fresh_arrays():
    builder = ProgramBuilder()
    x = builder.input(VECTOR)
    copy = builder.copy(x)
    constant = builder.constant(np.arange(3.0))
    view = builder.expand_dims(copy, [0])
    call = function(builder, [x, copy, copy, view, constant, constant], VECTOR)
    array = np.arange(3.0)
    outputs = call(array)
    everything = [array, *outputs, *call(array)]
    for at, one in enumerate(everything):
        assert one.flags.writeable
        for other in everything[:at]:
            assert not np.shares_memory(one, other)
    for output in outputs:
        output[:] = 9
    for output in call(array):
        same(output.ravel(), np.arange(3.0))


def test_large_outputs_live_as_long_as_they_are_used():
    builder = ProgramBuilder()
    x = builder.input(VECTOR)
    call = function(builder, [builder.copy(x)], VECTOR, form="single")
    kept = [call(np.full(20_000, float(at))) for at in range(5)]
    views = [array[::2] for array in kept]
    del kept
    again = [call(np.full(20_000, -1.0)) for _ in range(5)]
    for at, view in enumerate(views):
        assert (view == at).all()
    assert all((array == -1).all() for array in again)


def test_zero_d_outputs_are_arrays():
    same(run(lambda b, x: b.copy(x), np.array(2.5)), np.array(2.5))


def test_forms_of_results():
    def make(form, count):
        builder = ProgramBuilder()
        x = builder.input(SCALAR)
        return function(builder, [x] * count, SCALAR, form=form)

    assert make(None, 2)(1.0) == [1.0, 1.0]
    assert make(None, 0)(1.0) == []
    assert make("single", 1)(1.0) == 1.0
    assert make(("a", 3), 2)(1.0) == {"a": 1.0, 3: 1.0}
    with pytest.raises(ValueError, match="1 keys for 2 outputs"):
        make(("a",), 2)
    with pytest.raises(ValueError, match="single output"):
        make("single", 2)
    with pytest.raises(ValueError, match="the form is"):
        make("plural", 2)


def test_arguments_by_position_and_name():
    builder = ProgramBuilder()
    a, b, c = (builder.input(SCALAR) for _ in range(3))
    types = (SCALAR,) * 3
    call = function(builder, [a, b, c], *types, names=["a", "b", None])
    assert call(1, 2, 3) == [1, 2, 3]
    with pytest.raises(TypeError, match=r"takes 3 arguments \(a, b, <input 2>\), 4 were given"):
        call(1, 2, 3, 4)
    with pytest.raises(TypeError, match="missing arguments: b, <input 2>"):
        call(1)
    with pytest.raises(TypeError, match="unexpected argument 'z'"):
        call(1, 2, 3, z=1)
    with pytest.raises(TypeError, match="'a' is given by position and by name"):
        call(1, 2, 3, a=1)
    builder = ProgramBuilder()
    a, b = builder.input(SCALAR), builder.input(SCALAR)
    call = function(builder, [a, b], SCALAR, SCALAR, names=["a", "b"])
    assert call(1, b=2) == call(b=2, a=1) == [1, 2]


def test_arguments_of_any_layout():
    builder = ProgramBuilder()
    x = builder.input(VECTOR)
    call = function(builder, [x], VECTOR, form="single")
    array = np.arange(5.0)
    frozen = array.copy()
    frozen.flags.writeable = False
    packed = np.zeros(5, np.dtype([("a", "i1"), ("b", "f8")]))
    packed["b"] = array
    subclass = array.view(type("Sub", (np.ndarray,), {}))
    mapped = np.broadcast_to(np.float64(3), (5,))
    for value in (array, frozen, packed["b"], array.astype(">f8"), list(array), subclass):
        same(call(value), array)
    same(call(mapped), np.full(5, 3.0))
    same(call(array[::-1]), array[::-1])
    same(call(np.ones(0)), np.ones(0))
    long = TensorType("int64", (None,))
    builder = ProgramBuilder()
    x = builder.input(long)
    call = function(builder, [x], long, form="single")
    same(call(np.arange(3, dtype=np.longlong)).astype(np.int64), np.arange(3))


def test_static_shapes_are_checked():
    type = TensorType("float64", (3, None))
    builder = ProgramBuilder()
    x = builder.input(type)
    call = function(builder, [x], type, names=["weights"])
    call(np.ones((3, 5)))
    expected = r'input 0 \("weights"\) has shape \(2, 5\), but its type says \(3, None\)'
    with pytest.raises(ValueError, match=expected):
        call(np.ones((2, 5)))
    with pytest.raises(TypeError, match="weights was converted to"):
        call(np.ones(3))


def test_a_function_may_be_extended():
    class Named(Function):
        pass

    builder = ProgramBuilder()
    x = builder.input(SCALAR)
    named = Named(builder.finish([x]), [("x", SCALAR)], [], [], "single", convert)
    named.title = "identity"
    assert named(2.0) == 2.0


def test_a_function_must_fit_its_program():
    builder = ProgramBuilder()
    x = builder.input(SCALAR)
    program = builder.finish([x])
    with pytest.raises(TypeError, match="not those of the program"):
        Function(program, [("x", VECTOR)], [], [], None, convert)
    with pytest.raises(TypeError, match="not those of the program"):
        Function(program, [], [], [], None, convert)
    cell = _core.shared(np.zeros(2), "w", None)
    with pytest.raises(TypeError, match="does not fit the shared variable"):
        Function(program, [("x", SCALAR)], [], [(cell, 0)], None, convert)
    with pytest.raises(RuntimeError, match="finished"):
        builder.input(SCALAR)


def counter(shape=None):
    """A function that adds its argument to a shared vector and returns the old value."""
    cell = _core.shared(np.zeros(3), "total", shape)
    builder = ProgramBuilder()
    x, old = builder.input(VECTOR), builder.input(cell.type)
    (new,) = builder.call(np.add, [x, old], [VECTOR])
    program = builder.finish([new, old])
    return cell, Function(program, [("x", VECTOR)], [cell], [(cell, 0)], "single", convert)


def test_updates_are_stored_after_the_call():
    cell, call = counter()
    same(call(np.ones(3)), np.zeros(3))
    same(call(np.ones(3)), np.ones(3))
    same(cell.get_value(), np.full(3, 2.0))


def test_updates_are_all_or_none():
    first = _core.shared(np.zeros(2), "first", None)
    second = _core.shared(np.zeros(2), "second", (2,))
    builder = ProgramBuilder()
    x = builder.input(VECTOR)
    updates = [(first, 0), (second, 1)]
    call = function(builder, [x, x], VECTOR, updates=updates)
    assert call(np.ones(2)) == []
    with pytest.raises(ValueError, match=r"the update of second has shape \(3,\)"):
        call(np.full(3, 5.0))
    for cell in (first, second):
        same(cell.get_value(), np.ones(2))


def test_a_failed_call_leaves_shared_variables_alone():
    cell, call = counter()
    with pytest.raises(ValueError, match="operands could not be broadcast"):
        call(np.ones(4))
    same(cell.get_value(), np.zeros(3))
    call(np.ones(3))
    same(cell.get_value(), np.ones(3))


def test_values_are_copied_unless_borrowed():
    cell = _core.shared(np.zeros(2), "w", None)
    value = np.arange(3.0)
    cell.set_value(value)
    value[0] = 9
    got = cell.get_value()
    same(got, np.arange(3.0))
    got[:] = 9
    same(cell.get_value(), np.arange(3.0))
    cell.set_value(value, borrow=True)
    assert cell.get_value(borrow=True) is value


def test_one_function_in_many_threads():
    builder = ProgramBuilder()
    x = builder.input(VECTOR)
    reversed_ = builder.slice(x, [(None, None, builder.size_literal(-1))])
    (result,) = builder.call(np.negative, [builder.copy(reversed_)], [VECTOR])
    call = function(builder, [builder.copy(reversed_), result], VECTOR)
    failures = []

    def work(thread):
        for at in range(200):
            array = np.full((thread * 5 + at) % 17, float(thread)) + np.arange(
                (thread * 5 + at) % 17
            )
            straight, negative = call(array)
            if not (
                np.array_equal(straight, array[::-1]) and np.array_equal(negative, -array[::-1])
            ):
                failures.append((thread, at))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_a_call_inside_a_call():
    builder = ProgramBuilder()
    x = builder.input(VECTOR)
    depth = 0
    call = None

    def again(x):
        nonlocal depth
        depth += 1
        return call(x[1:]) if len(x) else x

    (result,) = builder.call(again, [builder.copy(x)], [VECTOR])
    call = function(builder, [result], VECTOR, form="single")
    same(call(np.ones(4)), np.ones(0))
    assert depth == 5


def test_the_smallest_call_releases_the_gil():
    # The kernel is Python's own question whether this thread holds the GIL; 1, yes, is an error.
    held = ctypes.cast(ctypes.pythonapi.PyGILState_Check, ctypes.c_void_p).value
    builder = ProgramBuilder()
    x = builder.input(VECTOR)
    length = builder.size_of(x, 0)
    slots = builder.loop(held, None, [length], [(x, [0])], [("float64", [0], None)])
    function = Function(builder.finish(slots), [("x", VECTOR)], [], [], "single", np.asarray)
    assert function(np.ones(1)).shape == (1,)
    assert ctypes.pythonapi.PyGILState_Check() == 1
