"""Programs built by hand and called: the runtime below every linker."""

import ctypes
import gc
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from programs import convert, function, run, same

from frazil import _core
from frazil._core import Function, ProgramBuilder, TensorType
from frazil.link.blas import install

SCALAR = TensorType("float64", ())
VECTOR = TensorType("float64", (None,))
MATRIX = TensorType("float64", (None, None))
INTEGER = TensorType("int64", ())

DTYPES = [
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float32",
    "float64",
]


@pytest.fixture
def blas():
    install()


# ------------------------------------------------------------------ kernels

KERNEL = ctypes.CFUNCTYPE(
    ctypes.c_int32,
    ctypes.POINTER(ctypes.c_void_p),
    ctypes.c_int64,
    ctypes.c_int64,
    ctypes.POINTER(ctypes.c_int64),
)


def kernel(body, operands, status=0):
    """A native kernel over float64 that calls ``body`` with a row of each operand."""

    @KERNEL
    def loop(pointers, n_outer, n_inner, strides):
        for i in range(n_outer):
            rows = []
            for k, moves in enumerate(operands):
                count = n_inner if moves else 1
                row = (ctypes.c_double * count).from_address(pointers[k] + i * strides[k])
                rows.append(np.frombuffer(row, np.float64))
            body(*rows)
        return status

    return loop, ctypes.cast(loop, ctypes.c_void_p).value


def add(a, b, out):
    out[:] = a + b


def accumulate(a, out):
    out += a.sum()


def add_loop(builder, a, b, ndim, status=0):
    keep, address = kernel(add, (True, True, True), status)
    dims = [builder.size_of(a, axis) for axis in range(ndim)]
    axes = list(range(ndim))
    return builder.loop(address, keep, dims, [(a, axes), (b, axes)], [("float64", axes, None)])[0]


def sum_loop(builder, a, ndim):
    keep, address = kernel(accumulate, (True, False))
    dims = [builder.size_of(a, axis) for axis in range(ndim)]
    writes = [("float64", [-1] * ndim, (0.0, "add"))]
    return builder.loop(address, keep, dims, [(a, list(range(ndim)))], writes)[0]


@given(
    st.lists(st.integers(0, 4), min_size=2, max_size=3),
    st.booleans(),
    st.booleans(),
    st.integers(-2, 2).filter(bool),
)
def test_loops_take_any_strides(shape, fortran, transposed, step):
    ndim = len(shape)
    wide = (*shape[:-1], shape[-1] * abs(step))
    a = np.arange(float(np.prod(wide))).reshape(wide)[..., ::step]
    b = np.asarray(a + 1, order="F" if fortran else "C")
    if transposed:
        a, b = a.T, b.T

    def build(builder, x, y):
        return add_loop(builder, x, y, ndim)

    same(run(build, a, b), a + b)
    total = run(lambda builder, x: sum_loop(builder, x, ndim), a)
    same(total, np.asarray(a.sum()))


def test_results_are_laid_out_as_their_operands():
    a = np.asfortranarray(np.ones((3, 4)))
    assert run(lambda builder, x: add_loop(builder, x, x, 2), a).flags.f_contiguous
    assert run(lambda builder, x: add_loop(builder, x, x, 2), a.T).flags.c_contiguous


def test_a_kernel_that_refuses_raises():
    with pytest.raises(ValueError, match="negative integer powers"):
        run(lambda builder, x: add_loop(builder, x, x, 1, status=1), np.ones(3))
    with pytest.raises(RuntimeError, match="status 9"):
        run(lambda builder, x: add_loop(builder, x, x, 1, status=9), np.ones(3))


def test_a_one_that_was_not_declared_says_how_to_broadcast():
    with pytest.raises(ValueError, match="a dimension broadcasts only where") as raised:
        run(lambda builder, x, y: add_loop(builder, x, y, 1), np.ones(3), np.ones(1))
    message = str(raised.value)
    assert message.startswith('operand 1 (input 1 ("x1")) has length 1 along axis 0 where 3 is')
    assert "ft.tensor(shape=(1, None))" in message


# ------------------------------------------------------------------ views


@given(
    st.lists(st.integers(0, 5), min_size=1, max_size=3),
    st.data(),
)
def test_slices_are_pythons(shape, data):
    array = np.arange(float(np.prod(shape))).reshape(shape)
    bound = st.none() | st.integers(-7, 7) | st.sampled_from([2**62, -(2**63)])
    index, literal = [], []
    for length in data.draw(st.permutations(shape))[: data.draw(st.integers(0, len(shape)))]:
        if array.shape[len(index)] and data.draw(st.booleans()):
            length = array.shape[len(index)]
            index.append(data.draw(st.integers(-length, length - 1)))
            literal.append(index[-1])
        else:
            step = data.draw(st.integers(-3, 3).filter(bool))
            index.append(slice(data.draw(bound), data.draw(bound), step))
            literal.append((index[-1].start, index[-1].stop, step))

    def sizes(builder):
        def size(value):
            return None if value is None else builder.size_literal(value)

        return [
            tuple(map(size, entry)) if isinstance(entry, tuple) else size(entry)
            for entry in literal
        ]

    expected = array[tuple(index)]
    same(run(lambda builder, x: builder.slice(x, sizes(builder)), array), expected)
    for accumulate in (False, True):
        updated = array.copy()
        if accumulate:
            updated[tuple(index)] += 7.0
        else:
            updated[tuple(index)] = 7.0
        before = array.copy()

        def build(builder, x, y, accumulate=accumulate):
            return builder.update(x, sizes(builder), y, accumulate)

        same(run(build, array, np.array(7.0)), updated)
        same(array, before)


@given(st.lists(st.integers(0, 4), max_size=4), st.data())
def test_other_views_agree_with_numpy(shape, data):
    array = np.arange(float(np.prod(shape))).reshape(shape)
    if data.draw(st.booleans()):
        array = array.T
    axes = data.draw(st.permutations(range(array.ndim)))
    same(run(lambda b, x: b.transpose(x, axes), array), array.transpose(axes))
    positions = data.draw(st.sets(st.integers(0, array.ndim + 1), max_size=2))
    positions = sorted(p for p in positions if p < array.ndim + len(positions))
    expanded = run(lambda b, x: b.expand_dims(x, positions), array)
    same(expanded, np.expand_dims(array, tuple(positions)))
    same(run(lambda b, x: b.drop_dims(b.expand_dims(x, positions), positions), array), array)

    def flat(builder, x):
        return builder.reshape(x, [builder.size_literal(-1), builder.size_literal(1)])

    same(run(flat, array), array.reshape(array.size, 1))
    wide = (2, *array.shape)

    def broadcast(builder, x):
        return builder.broadcast_to(x, [builder.size_literal(length) for length in wide])

    same(run(broadcast, array), np.broadcast_to(array, wide))
    same(run(lambda b, x: b.copy(x), array), array)


def test_views_check_their_shapes():
    def reshape(builder, x):
        return builder.reshape(x, [builder.size_literal(4)])

    with pytest.raises(
        ValueError, match=r"cannot reshape an array of shape \(3,\) into shape \(4,\)"
    ):
        run(reshape, np.ones(3))
    with pytest.raises(ValueError, match="axis 0 has length 3"):
        run(lambda b, x: b.drop_dims(x, [0]), np.ones(3))
    with pytest.raises(IndexError, match="index 3 is out of bounds for axis 0 with size 3"):
        run(lambda b, x: b.slice(x, [b.size_literal(3)]), np.ones(3))
    with pytest.raises(ValueError, match="slice step cannot be zero"):
        run(lambda b, x: b.slice(x, [(None, None, b.size_literal(0))]), np.ones(3))
    with pytest.raises(ValueError, match="does not broadcast"):
        run(lambda b, x: b.broadcast_to(x, [b.size_literal(4)]), np.ones(3))


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype_is_copied_filled_and_increased(dtype):
    array = np.array([0, 1, 1, 0, 1]).astype(dtype)
    one = np.array(1).astype(dtype)
    same(run(lambda b, x: b.copy(x), array[::-1]), array[::-1])

    def full(builder, value):
        return builder.full(dtype, value, [builder.size_literal(2), builder.size_literal(3)])

    same(run(full, one), np.full((2, 3), one))
    every = (None, None, 2)
    expected = array.copy()
    expected[::2] += one

    def increase(builder, x, y):
        index = tuple(None if part is None else builder.size_literal(part) for part in every)
        return builder.update(x, [index], y, True)

    same(run(increase, array, one), expected)


# ------------------------------------------------------------------ dot


@pytest.mark.usefixtures("blas")
@given(
    st.sampled_from(DTYPES),
    st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, 4)),
    st.booleans(),
    st.booleans(),
    st.tuples(st.integers(-2, 2), st.integers(-2, 2), st.integers(-2, 2), st.integers(-2, 2)),
    st.booleans(),
)
def test_dot_takes_any_strides(dtype, lengths, left_vector, right_vector, steps, fortran):
    rows, inner, columns = lengths
    order = "F" if fortran else "C"

    def operand(shape, steps):
        if 0 in steps:
            array = np.arange(1, shape[-1] + 1).astype(dtype)
            return np.broadcast_to(array, shape)
        base = np.arange(1, 1 + np.prod([abs(s) * n for s, n in zip(steps, shape, strict=True)]))
        base = base.astype(dtype).reshape([abs(s) * n for s, n in zip(steps, shape, strict=True)])
        return np.asarray(base, order=order)[tuple(slice(None, None, s) for s in steps)]

    a = operand((inner,), steps[:1]) if left_vector else operand((rows, inner), steps[:2])
    b = operand((inner,), steps[2:3]) if right_vector else operand((inner, columns), steps[2:])
    result = run(lambda builder, x, y: builder.dot(x, y), a, b)
    same(result, np.asarray(np.dot(a, b)))


@pytest.mark.usefixtures("blas")
def test_dot_checks_its_operands():
    with pytest.raises(ValueError, match=r"shapes \(2, 3\) and \(2, 3\) are not aligned: 3 != 2"):
        run(lambda b, x, y: b.dot(x, y), np.ones((2, 3)), np.ones((2, 3)))
    with pytest.raises(TypeError, match="int8 is needed"):
        run(lambda b, x, y: b.dot(x, y), np.ones(3, "int8"), np.ones(3, "int16"))
    with pytest.raises(ValueError, match="the runtime does not call"):
        _core.set_routines({"dgesv": 1})


# ------------------------------------------------------------------ sizes

SIZE_OPS = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "floordiv": lambda a, b: a // b,
    "mod": lambda a, b: a % b,
    "minimum": min,
    "maximum": max,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "eq": lambda a, b: a == b,
}


@pytest.mark.parametrize("op", SIZE_OPS)
@given(a=st.integers(-9, 9), b=st.integers(-9, 9))
def test_sizes_are_pythons_integers(op, a, b):
    builder = ProgramBuilder()
    slots = [builder.input(INTEGER), builder.input(INTEGER)]
    size = builder.size_binary(op, *map(builder.size_value, slots))
    call = function(builder, [builder.size_scalar(size)], INTEGER, INTEGER, form="single")
    if b == 0 and op in ("floordiv", "mod"):
        with pytest.raises(ValueError, match="division by zero"):
            call(a, b)
    else:
        assert call(a, b) == SIZE_OPS[op](a, b)


def test_sizes_follow_shapes_and_values():
    builder = ProgramBuilder()
    x, count = builder.input(VECTOR), builder.input(INTEGER)
    start = builder.size_binary("sub", builder.size_of(x, 0), builder.size_value(count))
    tail = builder.slice(x, [(start, None, builder.size_literal(1))])
    length = builder.size_scalar(builder.size_of(tail, 0))
    known = builder.size_binary("lt", builder.size_literal(0), builder.size_of(x, 0))
    one = builder.size_literal(1)
    nothing = builder.size_binary("floordiv", one, builder.size_of(x, 0))
    chosen = builder.size_scalar(builder.size_where(known, nothing, one))
    call = function(builder, [tail, length, chosen], VECTOR, INTEGER)
    for size in (5, 3, 1, 5):
        array = np.arange(float(size))
        tail, length, chosen = call(array, 1)
        same(tail, array[-1:])
        same(length, np.array(1))
        assert chosen == 1 // size
    assert call(np.ones(0), 0)[2] == 1


def test_requirements_name_what_is_wrong():
    builder = ProgramBuilder()
    x, y = builder.input(VECTOR), builder.input(VECTOR)
    builder.origin("log(x) in model.py:3")
    builder.require_equal(builder.size_of(x, 0), builder.size_of(y, 0), "lengths of x and y")
    call = function(builder, [x], VECTOR, VECTOR)
    call(np.ones(2), np.ones(2))
    with pytest.raises(ValueError, match="lengths of x and y") as raised:
        call(np.ones(2), np.ones(3))
    assert str(raised.value) == "lengths of x and y: 2 != 3\n  in: log(x) in model.py:3"


def test_what_cannot_be_allocated_is_an_error():
    for length, error in [(2**62, ValueError), (2**57, MemoryError), (-3, ValueError)]:

        def build(builder, x, length=length):
            return builder.full("float64", x, [builder.size_literal(length)])

        with pytest.raises(error):
            run(build, np.array(1.0))


# ------------------------------------------------------------------ calls of Python functions


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
    with pytest.raises(TypeError, match="dtype complex128"):
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


# ------------------------------------------------------------------ functions


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


# ------------------------------------------------------------------ shared variables


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


# ------------------------------------------------------------------ threads


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


# ------------------------------------------------------------------ building


def test_the_builder_refuses_what_does_not_fit():
    builder = ProgramBuilder()
    x = builder.input(VECTOR)
    size = builder.size_of(x, 0)
    for error, attempt in [
        (IndexError, lambda: builder.copy(99)),
        (IndexError, lambda: builder.size_of(x, 1)),
        (IndexError, lambda: builder.size_binary("add", size, 99)),
        (ValueError, lambda: builder.size_binary("xor", size, size)),
        (TypeError, lambda: builder.size_value(x)),
        (ValueError, lambda: builder.transpose(x, [0, 0])),
        (ValueError, lambda: builder.loop(0, None, [], [], [])),
        (ValueError, lambda: builder.loop(1, None, [size], [(x, [-2])], [])),
        (ValueError, lambda: builder.loop(1, None, [size], [], [("float64", [-1], None)])),
        (TypeError, lambda: builder.constant(np.zeros(2, complex))),
        (TypeError, lambda: builder.constant([1.0])),
        (OverflowError, lambda: builder.copy(-1)),
        (IndexError, lambda: builder.finish([99])),
    ]:
        with pytest.raises(error):
            attempt()


def test_a_program_has_a_text_form():
    builder = ProgramBuilder()
    x = builder.input(TensorType("float64", (None, 3)))
    one = builder.size_literal(1)
    column = builder.slice(x, [(None, None, one), one])
    program = builder.finish(builder.call(np.sin, [column], [VECTOR]))
    assert program.instructions == [
        "%0 = input float64[?, 3]",
        "n0 = 1",
        "%1 = slice %0 [::n0, n0]",
        "%2 = call sin %1",
        "return %2",
    ]


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
