"""Programs that run programs: once, one of two, and step after step; against loops of NumPy."""

from dataclasses import dataclass, field

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from programs import function

import frazil as fz
import frazil.tensor as ft
from frazil._core import ProgramBuilder, TensorType
from frazil.compile.mode import find_linker

LINKERS = ["c", "numba", "py", "debug"]
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
        finals, stacked, steps = builder.repeat(
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
        empty = np.empty((0, *self.shape))
        return [*states, *(np.stack(kept) if kept else empty for kept in rows), steps]


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


@settings(max_examples=150)
@given(loops())
def test_loops_do_what_numpy_does(loop):
    same(loop.run(), loop.expected())
