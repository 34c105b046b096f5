"""Lengths that no type tells, but that a step needs for its states to keep their shapes."""

import os
import subprocess
import sys
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft

LINKERS = ["c", "cranelift", "numba"]
OTHERS = ["factor", "wide", "shift", "square"]


def step(row, first, second, square, factor, wide, shift):
    """States of a vector, of one that is handed on, and of a matrix."""
    new = 0.5 * (factor @ first) + shift + row[:, None].sum(axis=1) - second @ wide
    moved = new + 0.1 * square.sum(axis=0)
    return moved, first, 0.5 * square + moved[:, None] * shift, new * 2


def scanned(mode, size, *, states_tell):
    """The states and rows of a scan, whose states start with so many numbers, and gradients."""
    rows, shift = ft.matrix("rows"), ft.vector("shift")
    factor, wide, square = ft.matrix("factor"), ft.matrix("wide"), ft.matrix("square")
    start = ft.constant(np.ones(size)) if states_tell else ft.vector("start")
    outputs, _ = fz.scan(
        step,
        sequences=rows,
        outputs_info=[start, start * 0.5, square, None],
        non_sequences=[factor, wide, shift],
    )
    cost = sum((x**2).sum() for x in outputs)
    inputs = [rows, factor, wide, shift, square, *([] if states_tell else [start])]
    outputs = [*outputs, *fz.grad(cost, inputs[:5])]
    return fz.function(inputs, outputs, mode=mode)


known = cache(scanned)


def by_numpy(rows, factor, wide, shift, square):
    first = np.ones(len(shift))
    second, made = first * 0.5, []
    for row in rows:
        first, second, square, twice = step(row, first, second, square, factor, wide, shift)
        made.append((first, second, square, twice))
    return [np.array(column) for column in zip(*made, strict=True)]


@st.composite
def arguments(draw):
    size, steps = draw(st.sampled_from([1, 3])), draw(st.integers(1, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shapes = [(steps, size), (size, size), (size, size), (size,), (size, size)]
    values = [rng.normal(size=shape) / 2 for shape in shapes]
    for at in range(len(values)):
        if draw(st.booleans()):
            values[at] = np.asfortranarray(values[at])
    return values


@pytest.mark.parametrize("mode", LINKERS)
@settings(max_examples=15, deadline=None)
@given(given=arguments())
def test_results_are_those_of_a_loop(mode, given):
    size = len(given[3])
    f = known(mode, size, states_tell=True)
    assert f.memory_plan(*given).is_exact
    found = f(*given)
    for own, one in zip(found, by_numpy(*given), strict=False):
        np.testing.assert_allclose(own, one, rtol=1e-10, atol=1e-12)
    for own, one in zip(found, known("py", size, states_tell=True)(*given), strict=True):
        np.testing.assert_allclose(own, one, rtol=1e-9, atol=1e-11)
    if mode == "c":
        for own, one in zip(found, known("cranelift", size, states_tell=True)(*given), strict=True):
            assert own.tobytes() == one.tobytes()


@pytest.mark.parametrize("mode", LINKERS)
def test_such_scans_are_kernels(mode):
    f = known(mode, 3, states_tell=True)
    explained = str(f.explain())
    assert sum(" or p" in line for line in f.program.instructions) == 2
    assert explained.count(" scan k") == 2, explained
    assert " scan k" not in str(known(mode, 3, states_tell=False).explain())


@pytest.mark.parametrize("mode", LINKERS)
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_other_lengths_are_the_errors_that_they_were(mode, data):
    size, steps = 3, data.draw(st.sampled_from([0, 1, 4]))
    shapes = [(steps, size), (size, size), (size, size), (size,), (size, size)]
    at = data.draw(st.integers(0, len(shapes) - 1))
    axis = data.draw(st.integers(at == 0, len(shapes[at]) - 1))
    shapes[at] = tuple(
        data.draw(st.sampled_from([0, 1, 2, 4])) if k == axis else length
        for k, length in enumerate(shapes[at])
    )
    given = [np.ones(shape) for shape in shapes]
    raised = []
    for states_tell in (True, False):
        f = known(mode, size, states_tell=states_tell)
        try:
            raised.append([x.shape for x in f(*given, *([] if states_tell else [np.ones(size)]))])
        except (ValueError, IndexError) as error:
            # Its first line; what follows names variables.
            raised.append((type(error), str(error).partition("\n")[0]))
    assert raised[0] == raised[1]


@pytest.mark.parametrize("mode", ["c", "cranelift"])
def test_a_scan_along_no_sequence_is_a_kernel_too(mode):
    factor = ft.matrix("factor")
    last = fz.scan(
        lambda x, factor: factor @ x,
        outputs_info=ft.constant(np.ones(2)),
        non_sequences=factor,
        n_steps=3,
        return_updates=False,
    )[-1]
    f = fz.function([factor], last, mode=mode)
    assert " scan k" in str(f.explain())
    matrix = np.array([[0.5, 1.0], [-1.0, 2.0]])
    np.testing.assert_allclose(f(matrix), np.linalg.matrix_power(matrix, 3) @ np.ones(2))
    with pytest.raises(ValueError, match="step 0"):
        f(np.ones((3, 2)))


@pytest.mark.parametrize("mode", ["c", "cranelift"])
def test_a_reduction_tells_the_lengths_that_it_keeps(mode):
    factor, rows = ft.matrix("factor"), ft.vector("rows")
    last = fz.scan(
        lambda row, x, factor: ft.max(factor * x, axis=1) + row,
        sequences=rows,
        outputs_info=ft.constant(np.ones(3)),
        non_sequences=factor,
        return_updates=False,
    )[-1]
    f = fz.function([factor, rows], last, mode=mode)
    assert " scan k" in str(f.explain())
    matrix, given = np.arange(9.0).reshape(3, 3) / 9, [1.0, -2.0, 0.5]
    expected = np.ones(3)
    for row in given:
        expected = (matrix * expected).max(axis=1) + row
    np.testing.assert_allclose(f(matrix, given), expected)
    with pytest.raises(ValueError, match="step 0"):
        f(np.ones((2, 3)), given)


@pytest.mark.parametrize("mode", ["c", "cranelift"])
def test_nothing_is_presumed_of_a_number_of_steps_that_is_a_value(mode):
    factor, count = ft.matrix("factor"), ft.lscalar("count")
    rows = fz.scan(
        lambda x, factor: factor @ x,
        outputs_info=ft.constant(np.ones(2)),
        non_sequences=factor,
        n_steps=count,
        return_updates=False,
    )
    f = fz.function([factor, count], rows, mode=mode)
    assert " for other lengths" not in str(f.explain())
    for steps in (0, 3):
        assert f(np.eye(2), steps).shape == (steps, 2)


INTERRUPT = """
import os, signal, threading, time
import numpy as np
import frazil as fz, frazil.tensor as ft

factor = ft.matrix("factor")
last = fz.scan(
    lambda x, factor: 0.5 * (factor @ x) + 1.0,
    outputs_info=ft.constant(np.zeros(3)),
    non_sequences=factor,
    n_steps=10**12,
    return_updates=False,
)[-1]
f = fz.function([factor], last, mode=os.environ["MODE"])
assert " scan k" in str(f.explain())
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    f(np.eye(3))
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.parametrize("mode", LINKERS)
def test_an_interrupt_ends_such_a_scan(mode):
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPT],
        env={**os.environ, "MODE": mode},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.stdout == "interrupted\n", done.stderr
