"""Operators and ufuncs of traced arrays make the nodes that functions on variables make."""

import operator
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import frazil as fz
from frazil import _core
from frazil.tensor.dispatch import counterpart, op_of

trace_of = sys.modules["frazil.jit.trace"].Trace
traced_array = sys.modules["frazil.jit.traced"].TracedArray

UFUNCS = [
    own
    for own in vars(np).values()
    if type(own) is np.ufunc and own.nout == 1 and own.nin < 3 and op_of(own) is not None
]
ARRAYS = [
    np.ones(shape, dtype)
    for shape in ((), (3,), (2, 3), (1, 3), (1,), (2, 1))
    for dtype in ("bool", "int8", "int64", "float32", "float64")
]
NUMBERS = [2, 0.5, True, 300, 2**70, np.float32(2.0), np.int8(1), np.bool_(True)]


def outcome(call):
    try:
        return call()
    except (TypeError, ValueError, OverflowError) as error:
        return type(error)


@settings(deadline=None, max_examples=150)
@given(st.sampled_from(UFUNCS), st.lists(st.sampled_from([*ARRAYS, *NUMBERS]), min_size=2))
def test_a_ufunc_is_its_counterpart(ufunc, values):
    trace = trace_of()
    given_values, plain = [], []
    for value in values[: ufunc.nin]:
        own = value
        if type(value) is np.ndarray:
            own = trace.add_input(value, "x")
            value = traced_array(trace, own, value.ndim > 0)
        given_values.append(value)
        plain.append(own)
    if not any(type(value) is traced_array for value in given_values):
        return
    wanted = outcome(lambda: counterpart(ufunc)(*trace.aligned(plain)))
    with trace.running():
        found = outcome(lambda: ufunc(*given_values))
        if type(found) is traced_array:
            assert found.dtype == wanted.type.numpy_dtype
            assert trace.shape_now(found._variable) == trace.shape_now(wanted)
            assert found._variable is wanted
        else:
            assert found is wanted


OPERATORS = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul"]
COMPARISONS = ["eq", "ne", "lt", "le", "gt", "ge"]


@pytest.mark.parametrize("name", [*OPERATORS, *COMPARISONS, "neg", "pos", "abs", "invert"])
@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_operators_give_what_numpy_gives(name, dtype):
    own = getattr(operator, name)
    x, y = np.array([1, 2, 3], dtype), np.array([2, 2, 2], dtype)
    one = name in ("neg", "pos", "abs", "invert")

    def fn(x, y):
        if one:
            return own(x)
        return own(x, y), own(x, 2) if name != "matmul" else None, own(y, x)

    wanted = outcome(lambda: fn(x, y))
    found = outcome(lambda: fz.jit(fn, mode="py")(x, y))
    if isinstance(wanted, type):
        assert found is wanted
    elif one:
        assert found.dtype == wanted.dtype
        assert np.array_equal(found, wanted)
    else:
        for a, b in zip(found, wanted, strict=True):
            assert np.array_equal(a, b)
            assert getattr(a, "dtype", None) == getattr(b, "dtype", None)


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int64"])
def test_shifts_give_what_numpy_gives(dtype):
    def fn(x, y):
        made = x * 1
        made <<= 1
        return x << y, x >> y, x << 2, 3 >> y, made

    x, y = np.array([1, 2, 100], dtype), np.array([2, 0, 1], dtype)
    compiled = fz.jit(fn, mode="py")
    for _ in range(2):
        for got, wanted in zip(compiled(x, y), fn(x, y), strict=True):
            assert got.dtype == wanted.dtype
            assert got.tolist() == wanted.tolist()


def test_lengths_that_are_equal_and_not_one_are_not_asked_of_the_trace():
    class Counting(trace_of):
        asked = 0

        def aligned(self, operands):
            Counting.asked += 1
            return super().aligned(operands)

    trace = Counting()
    with trace.running():
        x, y, row, one = (
            traced_array(trace, trace.add_input(np.ones(shape), "x"))
            for shape in ((4, 3), (4, 3), (3,), (1, 3))
        )
        z = np.sin(x * y) + row * 2.0 - one
        assert Counting.asked == 0
        assert trace.shape_now(z._variable) == (4, 3)
        short = traced_array(trace, trace.stand_for(x[:1]._variable))
        assert trace.shape_now((short + x)._variable) == (4, 3)
        assert Counting.asked > 0


def test_arrays_of_no_trace_are_refused():
    with pytest.raises(TypeError, match="a trace and a variable"):
        _core.Traced() + 1
    with pytest.raises(TypeError, match="modulus"):
        fz.jit(lambda x: pow(x, 2, 3), mode="py")(np.ones(2))


def test_nodes_know_the_line_of_the_users_code():
    def fn(x):
        y = np.sin(x)
        return y * 2

    node = fz.jit(fn, mode="py").graph(np.ones(2)).outputs[0].owner
    line = fn.__code__.co_firstlineno
    assert node.source[1:] == (line + 2, fn.__qualname__)
    assert node.inputs[0].owner.source[1] == line + 1


METHOD_CALLS = {
    "compress": lambda x: x.compress([True, False, True]),
    "compress rows": lambda x: x.compress(x[0] > 0, axis=1),
    "std": lambda x: x.std(0, np.float32),
    "var": lambda x: (x.var(0, None, None, 1), x.var(dtype=np.float32, keepdims=True)),
    "max": lambda x: (x.max(1, None, True), x.min(axis=1, out=None)),
    "argsort": lambda x: x.argsort(axis=0, kind="stable"),
    "reshape": lambda x: (x.reshape(2, 3, order="C"), x.reshape((3, -1)), x.reshape(-1)),
    "ravel": lambda x: (x.ravel("C"), x.flatten(order="C")),
    "order": lambda x: (x.ravel("F"), x.flatten("F"), x.reshape((2, -1), order="F")),
    "transpose": lambda x: (
        x.transpose(),
        x.transpose(1, 0),
        x.transpose((1, 0)),
        x.transpose([0, 1]),
    ),
    "astype": lambda x: x.astype("f4", copy=False, order="F"),
    "clip": lambda x: (x.clip(1), x.clip(max=2), x.clip(1, 2, None)),
    "searchsorted": lambda x: x[0].searchsorted([0.5, 1.0], "right"),
    "squeeze": lambda x: x[:1].squeeze(axis=0),
    "take": lambda x: (x.take([0, 3]), x.take([1], 1)),
}


@pytest.mark.parametrize("name", METHOD_CALLS)
def test_methods_take_the_arguments_of_numpys(name):
    fn, x = METHOD_CALLS[name], np.arange(6.0).reshape(3, 2)
    wanted, given = fn(x), fz.jit(fn, mode="py")(x)
    assert isinstance(given, tuple) == isinstance(wanted, tuple)
    pairs = zip(wanted, given, strict=True) if isinstance(wanted, tuple) else [(wanted, given)]
    for one, other in pairs:
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(other, one, strict=True)


@pytest.mark.parametrize("order", ["K", "A"])
@pytest.mark.parametrize("name", ["ravel", "flatten", "reshape"])
def test_no_order_of_elements_is_passed_over(name, order):
    shape = (-1,) if name == "reshape" else ()
    fn = fz.jit(lambda x: getattr(x.T, name)(*shape, order=order))
    with pytest.raises(TypeError, match="a variable has no layout of memory"):
        fn(np.ones((3, 2)))


def test_a_cast_that_the_rule_forbids_raises():
    with pytest.raises(TypeError, match="according to the rule 'safe'"):
        fz.jit(lambda x: x.astype(int, casting="safe"))(np.ones(3))


WRONG_AXES = {
    "max": lambda x: x.max(axis=3),
    "sum": lambda x: np.sum(x, axis=3),
    "transpose": lambda x: x.transpose(0, 3),
    "take": lambda x: x.take([0], 3),
    "compress": lambda x: x.compress([True], axis=3),
    "concatenate": lambda x: np.concatenate([x, x], 3),
    "split": lambda x: np.split(x, 2, 3),
    "take_along_axis": lambda x: np.take_along_axis(x, x.astype(int), 3),
}


@pytest.mark.parametrize("name", WRONG_AXES)
@pytest.mark.parametrize("transformed", [fz.jit, fz.vmap])
def test_a_wrong_axis_is_refused_in_the_functions_name(name, transformed):
    with pytest.raises(np.exceptions.AxisError, match=f"^{name} takes axes from -2 to 1 here"):
        transformed(WRONG_AXES[name])(np.ones((2, 2) if transformed is fz.jit else (3, 2, 2)))


@pytest.mark.parametrize(
    "part",
    [
        lambda z: z.real,
        lambda z: z.imag,
        lambda z: z.conj(),
        lambda z: z.conjugate() * z,
        lambda z: np.real(z) + np.imag(z),
    ],
)
def test_parts_of_complex_results(part, mode):
    def spectrum(x):
        return part(np.fft.fft(x))

    x = np.array([1.0, 2.5, -3.0])
    found, expected = fz.jit(spectrum, mode=mode)(x), spectrum(x)
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-14)
    np.testing.assert_array_equal(fz.jit(part, mode=mode)(x), part(x))


def test_a_new_shape_is_given_by_reshape():
    @fz.jit
    def in_place(x):
        y = x * 2
        y.shape = (2, 3)
        return y

    with pytest.raises(AttributeError, match=r"in in_place: write x = x\.reshape\(shape\)"):
        in_place(np.ones(6))
