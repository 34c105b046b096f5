"""The debug mode finds planted faults and names the node that has each; sound graphs just run."""

import ctypes
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from native_kernel import KERNEL

import frazil as fz
import frazil.tensor as ft
from frazil._core import Function, ProgramBuilder
from frazil.compile.mode import find_linker
from frazil.link.linkers.debug import DebugLinker
from frazil.scalar import ScalarOp

sys.path.insert(0, str(Path(__file__).parent / "link"))
from updated_graphs import N, draw_graph

HERE = "test_debug_mode.py"


@dataclass(frozen=True, eq=False)
class Lying(fz.Op):
    """Does what its parameter says, which its maps do not say."""

    how: str

    def make_node(self, x):
        return fz.FrozenApply(self, [x], [x.type])

    def perform(self, node, inputs):
        (x,) = inputs
        if self.how == "writes":
            x[0] = 7.0
            return (x.copy(),)
        if self.how == "writes by force":
            ctypes.c_double.from_address(x.ctypes.data).value = 7.0
            return (x.copy(),)
        return (x[::-1],)


@dataclass(frozen=True, eq=False)
class Reversed(fz.Op):
    """A view, and says so."""

    view_map = {0: [0]}  # noqa: RUF012

    def make_node(self, x):
        return fz.FrozenApply(self, [x], [x.type])

    def perform(self, node, inputs):
        return (inputs[0][::-1],)


def debug(inputs, outputs):
    return fz.function(inputs, outputs, mode="debug")


def find(inputs, outputs, *values, error=fz.DebugModeError):
    """The message of the error that the debug mode raises, notes included."""
    with pytest.raises(error) as raised:
        debug(inputs, outputs)(*values)
    return "\n".join([str(raised.value), *getattr(raised.value, "__notes__", ())])


@dataclass(frozen=True, eq=False)
class Head(fz.Op):
    """The first ``k`` elements, of which infer_shape says ``more`` than there are."""

    more: int

    def make_node(self, x, k):
        return fz.FrozenApply(self, [x, k], [fz.TensorType(x.dtype, (None,))] * 2)

    def perform(self, node, inputs):
        x, k = inputs
        return x[:k].copy(), x.copy()

    def infer_shape(self, node, input_shapes):
        (length,), _ = input_shapes
        return (ft.minimum(node.inputs[1], length) + self.more,), (length,)


def test_the_lengths_that_infer_shape_says_are_those_of_the_values():
    x, k = ft.dvector("x"), ft.lscalar("k")
    head, whole = Head(0)(x * 2.0, k)
    f = debug([x, k], [head, whole, head.shape[0]])
    for wanted, length in ((2, 2), (5, 3)):
        found = f([1.0, 2.0, 3.0], wanted)
        assert [found[0].shape, found[1].shape, int(found[2])] == [(length,), (3,), length]
    told = find([x, k], Head(1)(x * 2.0, k)[0], [1.0, 2.0, 3.0], 2)
    assert "perform of Head{1} gave output 0 the length 2 along axis 0" in told
    assert "infer_shape says 3" in told
    assert HERE in told
    step, _ = fz.scan(
        lambda s: Head(1)(s, ft.as_tensor(3))[0] + 1.0, outputs_info=x, n_steps=2, return_list=False
    )
    assert "infer_shape says 4" in find([x], step, [1.0, 2.0, 3.0])


@settings(max_examples=30)
@given(st.data())
def test_sound_graphs_run(data):
    inputs, outputs = draw_graph(data)
    values = [np.linspace(0, 1, N), np.ones((2, N // 2))]
    f = fz.function(inputs, outputs, mode="debug", on_unused_input="ignore")
    reference = fz.function(inputs, outputs, mode="py", on_unused_input="ignore")
    for result, expected in zip(f(*values), reference(*values), strict=True):
        np.testing.assert_allclose(result, expected, rtol=1e-12)


def test_without_compilers_the_debug_mode_calls_perform():
    x = ft.dvector("x")
    linker = DebugLinker(None)
    graph = fz.FrozenFunctionGraph([x], [Lying("is a view")(ft.exp(x))])
    made = Function(
        linker.compile(graph), [("x", x.type)], [], [], "single", lambda value, *_: value
    )
    with pytest.raises(fz.DebugModeError, match="view_map"):
        made(np.ones(3))


@pytest.mark.parametrize("of", [lambda x: x, ft.exp])
def test_a_perform_that_returns_its_input(of):
    x = ft.dvector("x")
    message = find([x], Lying("is a view")(of(x)) + 1.0, np.ones(3))
    assert "returns memory of its input 0 as output 0" in message
    assert "add {0: [...]}" in message
    assert "Lying" in message
    assert HERE in message
    np.testing.assert_array_equal(debug([x], Reversed()(of(x)) * 2)(np.zeros(2)).shape, [2])


@pytest.mark.parametrize("of", [lambda x: x, ft.exp])
@pytest.mark.parametrize("how", ["writes", "writes by force"])
def test_a_perform_that_writes_to_its_input(of, how):
    x = ft.dvector("x")
    value = np.arange(3.0)
    error = (fz.DebugModeError, ValueError)
    message = find([x], Lying(how)(of(x)) + 1.0, value, error=error)
    assert "input 0" in message or "read-only" in message
    assert "Lying" in message
    assert HERE in message


def test_the_first_nan(mode):
    x = ft.dvector("x")
    negative = x - 2.0625  # as nobody else has built, who would be named
    result = (ft.log(negative) * 2.0 + 1.0).sum()
    message = find([x], result, np.array([3.0, 1.0]))
    assert "result 0 is NaN at (1,)" in message
    assert "log" in message
    assert f"{HERE}:" in message
    # A NaN that an argument or a constant brings is not the node's.
    assert np.isnan(debug([x], result)(np.array([np.nan])))
    f = debug([x], ft.where(x > 0, x, np.nan))
    np.testing.assert_array_equal(f(np.array([1.0, -1.0])), [1.0, np.nan])


def test_an_index_out_of_bounds():
    # A length that nobody else indexes, who would be named.
    x, i, k = ft.tensor("x", dtype="float64", shape=(1031,)), ft.lscalar("i"), ft.lvector("k")
    for part, index in ((x[i], 1032), (x[k], [0, 1032]), (ft.set_subtensor(x[i], 1.0), -1032)):
        given_index = k if part.owner and k in part.owner.inputs else i
        message = find([x, given_index], part * 1.0, np.ones(1031), index, error=IndexError)
        assert "out of bounds" in message
        assert HERE in message


def test_a_length_that_only_a_value_tells():
    x, n = ft.dvector("x"), ft.lscalar("n")
    f = debug([x, n], ft.zeros(n * 2).sum() + x[: n + 1] * 1.0)
    np.testing.assert_array_equal(f(np.arange(4.0), 2), [0.0, 1.0, 2.0])


# ------------------------------------------------------------------ kernels that lie


@dataclass(frozen=True, eq=False)
class Stray(ScalarOp):
    """Returns its operand, and its C code writes to an element of the result that is not there."""

    at: str
    nin = 1
    rule = "arithmetic"

    @property
    def c(self):
        return f"((({{T}} *)ptr[1])[{self.at}] = 7, {{0}})"

    def impl(self, x):
        return x


@settings(max_examples=20)
@given(
    st.integers(1, 40),
    st.one_of(st.integers(0, 20), st.integers(-20, -1)),
    st.sampled_from(["float64", "float32", "int64", "int8"]),
    st.booleans(),
)
def test_c_code_that_writes_beyond_its_result(count, past, dtype, is_output):
    x = ft.vector("x", dtype=dtype)
    at = f"n_inner + {past}" if past >= 0 else str(past)
    result = Stray(at)(-x)
    message = find([x], result if is_output else result.sum(), np.ones(count, dtype))
    item = np.dtype(dtype).itemsize
    edge = "beyond the end" if past >= 0 else "before the start"
    far = (past + 1 if past >= 0 else -past) * item
    assert f"written up to {far} bytes {edge} of the buffer of" in message
    assert f"which has {count * item} bytes" in message
    assert "Stray" in message
    assert HERE in message


@KERNEL
def destroys(pointers, n_outer, n_inner, strides):
    """Writes its result, and to its operand."""
    for k in (0, 1):
        ctypes.c_double.from_address(pointers[k]).value = 5.0
    return 0


@pytest.mark.parametrize("temporary", [False, True])
def test_a_kernel_that_writes_to_its_operand(temporary):
    builder = ProgramBuilder()
    builder.watch()
    builder.origin("the kernel of somebody")
    x = builder.input(fz.TensorType("float64", (None,)))
    operand = builder.copy(x) if temporary else x
    address = ctypes.cast(destroys, ctypes.c_void_p).value
    dims = [builder.size_of(x, 0)]
    (made,) = builder.loop(address, destroys, dims, [(operand, [0])], [("float64", [0], None)])
    outputs = [made, operand] if temporary else [made]
    program = builder.finish(outputs)
    f = Function(
        program, [("x", fz.TensorType("float64", (None,)))], [], [], None, lambda value, *_: value
    )
    with pytest.raises(fz.DebugModeError) as raised:
        f(np.ones(1))
    assert "has written to its operand 0" in str(raised.value)
    assert "the kernel of somebody" in str(raised.value)


def test_debug_programs_are_not_those_of_other_modes():
    x = ft.dvector("x")
    f, g = debug([x], ft.exp(x) + 1.0), fz.function([x], ft.exp(x) + 1.0)
    assert f.program is not g.program
    assert f.mode == "debug"
    assert find_linker("debug").name == "debug"


# ------------------------------------------------------------------ inside of other programs

FAULTS = {
    "nan": (lambda s: ft.log(s - 2.1875) * 2.0, "result 0 is NaN at (0,)", fz.DebugModeError),
    "index": (lambda s: s[ft.cast(s * 10, "int64")] * 1.0, "index 10 is out of bounds", IndexError),
    "stray": (lambda s: Stray("n_inner")(-s) * 1.0, "written up to 8 bytes", fz.DebugModeError),
    "view": (lambda s: Lying("is a view")(s) + 1.0, "memory of its input 0", fz.DebugModeError),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("inside", ["call", "branch", "loop"])
def test_faults_are_found_within_calls_branches_and_loops(inside, fault):
    compute, expected, error = FAULTS[fault]
    x = ft.dvector("x")
    if inside == "call":
        result = fz.OpFromGraph([x], [compute(x)])(x)
    elif inside == "branch":
        result = fz.ifelse(x.sum() > 0.0, compute(x), x)
    else:
        result = fz.scan(compute, outputs_info=[x], n_steps=3)[0][-1]
    message = find([x], result, np.ones(3), error=error)
    assert expected in message
    assert HERE in message


@dataclass(frozen=True, eq=False)
class Counting(fz.Op):
    """Adds the number of its calls: to a value of its own, or to memory that it keeps."""

    keeps: bool
    calls = np.zeros(1)

    def make_node(self, x):
        return fz.FrozenApply(self, [x], [x.type])

    def perform(self, node, inputs):
        self.calls[:] += 1
        return (self.calls if self.keeps else inputs[0] + self.calls,)


class Copying(fz.Op):
    def make_node(self, x):
        return fz.FrozenApply(self, [x], [x.type])

    def perform(self, node, inputs):
        return (inputs[0].copy(),)


@dataclass(frozen=True, eq=False)
class Impure(Counting):
    pure = False


def test_a_pure_op_gives_the_same_twice():
    x = ft.vector("x")
    f = debug([x], Counting(False)(x))
    f([1.0])
    f([2.0])
    f([3.0])
    with pytest.raises(fz.DebugModeError, match="for the same inputs: an op that depends on more"):
        f([3.0])
    f = debug([x], Counting(True)(x))
    f([1.0])
    with pytest.raises(fz.DebugModeError, match="returns the same memory as output 0 of two"):
        f([2.0])
    f = debug([x], Copying()(x))
    f([1.0])[0] = 7.0
    assert f([1.0]) == 1.0
    f = debug([x], Impure(False)(x))
    assert f([1.0]) != f([1.0])
