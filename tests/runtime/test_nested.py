"""Programs that run programs: once, one of two, and step after step; against loops of NumPy."""

import threading
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from programs import function

import frazil as fz
import frazil.tensor as ft
from frazil import _core
from frazil._core import ProgramBuilder, TensorType
from frazil.compile.mode import find_linker

LINKERS = ["c", "cranelift", "numba", "py", "debug"]
SHAPES = [(), (3,), (2, 2), (0,)]


def compiled(linker, inputs, outputs, donated=()):
    return find_linker(linker).compile(
        fz.FrozenFunctionGraph(inputs, outputs),
        [fz.FrozenFunctionGraph(inputs, outputs).inputs[at] for at in donated],
    )


@dataclass
class Loop:
    """A loop: its body as variables, and what it works on."""

    linker: str
    shape: tuple
    steps: int
    sequences: list
    inits: list
    others: list
    inputs: list
    outputs: list
    nexts: list
    stacked: list
    until: bool
    donated: list = field(default_factory=list)
    symbolic: bool = False

    def run(self):
        builder = ProgramBuilder()
        arrays = [*self.sequences, *self.inits, *self.others]
        types = [TensorType(array.dtype, (None,) * array.ndim) for array in arrays]
        slots = [builder.input(type) for type in types]
        if self.symbolic:
            types.append(TensorType("int64", ()))
            arrays.append(np.array(self.steps))
            n_steps = builder.size_value(builder.input(types[-1]))
        else:
            n_steps = builder.size_literal(self.steps)
        seqs, states = len(self.sequences), len(self.inits)
        builder.origin("the loop")
        finals, stacked, steps = builder.scan(
            compiled(self.linker, self.inputs, self.outputs, self.donated),
            n_steps,
            slots[:seqs],
            [
                (slot, *following)
                for slot, following in zip(slots[seqs : seqs + states], self.nexts, strict=True)
            ],
            slots[seqs + states : seqs + states + len(self.others)],
            self.stacked,
            len(self.outputs) - 1 if self.until else None,
        )
        f = function(builder, [*finals, *stacked, steps], *types)
        first = f(*arrays)
        again = f(*arrays)
        for a, b in zip(first, again, strict=True):
            np.testing.assert_array_equal(a, b)
        return first

    def expected(self):
        body = fz.function(self.inputs, self.outputs, mode="py", on_unused_input="ignore")
        states = list(self.inits)
        rows = [[] for _ in self.stacked]
        steps = 0
        for at in range(self.steps):
            given = [*(array[at] for array in self.sequences), *states, *self.others]
            made = body(*given)
            for kept, output in zip(rows, self.stacked, strict=True):
                kept.append(made[output])
            states = [made[n] if what == "output" else given[n] for what, n in self.nexts]
            steps += 1
            if self.until and made[-1]:
                break
        shapes = [self.shape] * len(rows)
        if self.linker == "py":  # without a step, types tell the shape of what is no state
            shapes = [
                self.shape
                if ("output", at) in self.nexts
                else [n or 0 for n in self.outputs[at].type.shape]
                for at in self.stacked
            ]
        empty = [np.empty((0, *shape)) for shape in shapes]
        stacks = [np.stack(kept) if kept else none for kept, none in zip(rows, empty, strict=True)]
        return [*states, *stacks, steps]


def same(actual, expected):
    assert len(actual) == len(expected)
    for result, wanted in zip(actual, expected, strict=True):
        assert np.shape(result) == np.shape(wanted)
        np.testing.assert_allclose(result, wanted, rtol=1e-12)


@st.composite
def loops(draw):
    shape = draw(st.sampled_from(SHAPES))
    steps = draw(st.integers(0, 6))
    random = np.random.default_rng(draw(st.integers(0, 100)))

    def arrays(count, *lengths):
        made = []
        for _ in range(draw(st.integers(*count))):
            array = np.asarray(random.normal(size=(*lengths, *shape)))
            if draw(st.booleans()):
                array = np.array(array, order="F")
            if lengths and draw(st.booleans()):
                array = array[::-1]
            made.append(array)
        return made

    length = steps + draw(st.integers(0, 2))
    sequences, inits, others = arrays((0, 2), length), arrays((0, 4)), arrays((0, 2))
    total = len(sequences) + len(inits) + len(others)
    static = draw(st.booleans())
    inputs = [
        ft.tensor(f"v{at}", dtype="float64", shape=shape if static else (None,) * len(shape))
        for at in range(total)
    ]

    def operand():
        if not inputs:
            return ft.constant(random.normal(size=shape))
        x = inputs[draw(st.integers(0, total - 1))]
        return x.T if len(shape) == 2 and draw(st.integers(0, 3)) == 0 else x

    outputs = []
    for _ in range(draw(st.integers(1, 3))):
        kind = draw(st.integers(0, 3))
        a, b = operand(), operand()
        outputs.append([a + 0.5 * b, ft.tanh(a) * b, a, ft.exp(-a * a)][kind])
    nexts = []
    for _ in inits:
        if total and draw(st.booleans()):
            nexts.append(("input", draw(st.integers(0, total - 1))))
        else:
            nexts.append(("output", draw(st.integers(0, len(outputs) - 1))))
    stacked = [at for at in range(len(outputs)) if draw(st.booleans())]
    until = draw(st.booleans())
    if until:
        outputs.append(ft.sum(operand()) > 1.0)
    first = len(sequences)
    donated = [
        first + at
        for at, following in enumerate(nexts)
        if following[0] == "output"
        and following[1] not in stacked
        and nexts.count(following) == 1
        and ("input", first + at) not in nexts
        and draw(st.booleans())
    ]
    return Loop(
        draw(st.sampled_from(LINKERS)),
        shape,
        steps,
        sequences,
        inits,
        others,
        inputs,
        outputs,
        nexts,
        stacked,
        until,
        donated,
        draw(st.booleans()),
    )


@settings(max_examples=60)
@given(loops())
def test_loops_do_what_numpy_does(loop):
    same(loop.run(), loop.expected())


# ------------------------------------------------------------------ single cases

VECTOR = TensorType("float64", (None,))
SCALAR = TensorType("float64", ())
INTEGER = TensorType("int64", ())
S, T = ft.vector("s"), ft.vector("t")


def scanned(body, n_steps, state, *, linker="c", stacked=(), donated=(), origin=None):
    """A function of a state: it after so many steps of ``body``, and what is stacked."""
    builder = ProgramBuilder()
    slot = builder.input(TensorType("float64", (None,) * state.ndim))
    if origin is not None:
        builder.origin(origin)
    finals, rows, done = builder.scan(
        compiled(linker, [S], [body(S)], donated),
        builder.size_literal(n_steps),
        [],
        [(slot, "output", 0)],
        [],
        stacked,
    )
    return function(builder, [*finals, *rows, done], TensorType("float64", (None,) * state.ndim))


@pytest.mark.parametrize("donated", [(), (0,)])
@pytest.mark.parametrize("linker", LINKERS)
def test_memory_does_not_grow_with_the_number_of_steps(linker, donated):
    state = np.zeros(10_000)
    peaks = []
    for n_steps in (10, 1000):
        f = scanned(lambda s: s + 1, n_steps, state, linker=linker, donated=donated)
        f(state)
        _core.take_peak_bytes()
        before = _core.allocated_bytes()
        assert f(state)[0][0] == n_steps
        peaks.append(_core.take_peak_bytes() - before)
    assert peaks[1] <= peaks[0] + 4096


def test_a_state_that_may_be_used_up_is_updated_in_place():
    def step(s):
        return ft.set_subtensor(s[2], s[2] * 2 + 1)

    f = scanned(step, 5, np.zeros(4), donated=[0])
    program = compiled("c", [S], [step(S)], [0])
    assert any("in place" in line for line in program.instructions)
    state = np.zeros(4)
    np.testing.assert_array_equal(f(state)[0], [0, 0, 31, 0])
    np.testing.assert_array_equal(state, np.zeros(4))


@pytest.mark.parametrize("linker", LINKERS)
def test_a_drifting_state_is_named(linker):
    class Told:
        def name_of(self, kind, number):
            return f"the {kind} called {number}"

        def __str__(self):
            return "a loop"

    f = scanned(lambda s: s[1:], 3, np.ones(5), linker=linker, origin=Told())
    with pytest.raises(ValueError, match=r"step 0: state 0 \(\"the state called 0\"\) has shape"):
        f(np.ones(5))


@pytest.mark.parametrize("linker", LINKERS)
def test_an_error_in_a_step_says_which(linker):
    calls = []

    def work(s):
        calls.append(s)
        if len(calls) % 4 == 0:
            raise ArithmeticError("enough")
        return s + 1

    inner = ProgramBuilder()
    inner.origin("the inner node")
    made = inner.call(work, [inner.input(VECTOR)], [VECTOR])
    builder = ProgramBuilder()
    slot = builder.input(VECTOR)
    builder.origin("the loop")
    n_steps = builder.size_literal(10)
    finals, _, _ = builder.scan(inner.finish(made), n_steps, [], [(slot, "output", 0)], [], [])
    f = function(builder, finals, VECTOR)
    with pytest.raises(ArithmeticError, match="enough") as raised:
        f(np.ones(2))
    assert raised.value.__notes__ == ["in step 3", "in: the inner node"]


def test_loops_in_loops():
    inner = ProgramBuilder()
    limit, x = inner.input(INTEGER), inner.input(VECTOR)
    finals, rows, _ = inner.scan(
        compiled("c", [S], [S * 2]), inner.size_value(limit), [], [(x, "output", 0)], [], [0]
    )
    middle = inner.finish([*finals, *rows])
    builder = ProgramBuilder()
    x, counts = builder.input(VECTOR), builder.input(TensorType("int64", (None,)))
    finals, _, done = builder.scan(
        middle, builder.size_of(counts, 0), [counts], [(x, "output", 0)], [], []
    )
    f = function(builder, [*finals, done], VECTOR, TensorType("int64", (None,)))
    state, done = f(np.ones(3), np.array([1, 0, 3]))
    np.testing.assert_array_equal(state, [16.0] * 3)
    assert done == 3
    with pytest.raises(ValueError, match=r"step 1: the number of steps is -1"):
        f(np.ones(3), np.array([1, -1]))


def test_loops_are_interrupted(monkeypatch):
    import signal

    def interrupt(number, frame):
        raise KeyboardInterrupt

    f = scanned(lambda s: ft.tanh(s) + 1, 10**9, np.ones(3))
    old = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(KeyboardInterrupt):
            f(np.ones(3))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)


@pytest.mark.parametrize("linker", LINKERS)
def test_many_threads_run_one_loop(linker):
    f = scanned(lambda s: s * 0.5 + 1, 50, np.ones(3), linker=linker, stacked=[0])
    outcomes = []

    def work(number):
        for _ in range(20):
            outcomes.append((number, f(np.full(3, float(number)))))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(outcomes) == 160
    for number, (last, rows, _) in outcomes:
        np.testing.assert_array_equal(rows[0], [number * 0.5 + 1] * 3)
        np.testing.assert_array_equal(rows[-1], last)


@pytest.mark.parametrize("linker", LINKERS)
def test_a_branch_runs_one_program(linker):
    builder = ProgramBuilder()
    condition, x, y = builder.input(INTEGER), builder.input(VECTOR), builder.input(VECTOR)
    then, otherwise = compiled(linker, [S], [S + 1, S]), compiled(linker, [S, T], [S * T, S[::-1]])
    lengths = [None, [builder.size_of(x, 0)]]
    slots = builder.branch(condition, then, otherwise, [x], [x, y], lengths)
    f = function(builder, slots, INTEGER, VECTOR, VECTOR)
    a, b = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    np.testing.assert_array_equal(f(7, a, b), [[2.0, 3.0], [1.0, 2.0]])
    np.testing.assert_array_equal(f(0, a, b), [[3.0, 8.0], [2.0, 1.0]])
    builder = ProgramBuilder()
    condition, x = builder.input(INTEGER), builder.input(VECTOR)
    with pytest.raises(TypeError, match="differ in number"):
        builder.branch(condition, then, compiled("py", [S], [S]), [x], [x], [None])


def test_a_nan_within_a_step_is_found():
    f = scanned(lambda s: ft.log(s - 1), 3, np.ones(2), linker="debug")
    with pytest.raises(fz.DebugModeError, match=r"step 1: .*NaN"):
        f(np.array([3.0, 3.5]))
