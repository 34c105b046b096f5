"""No call takes more than was planned, however the programs are nested that hypothesis draws."""

from itertools import count

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft
from frazil import _core

N = 128  # an output of this many rows comes from the runtime, a small one from NumPy
STEPS = 3
SQUARE = ft.tensor("x", dtype="float64", shape=(N, N))
factors = count(2)  # functions of equal graphs share memory, so no two are equal
kept = []  # so that as few calls as possible use memory again


def draw_matrix(data, seen, depth):
    """A matrix of N rows and columns with small elements, computed from those that are seen."""
    kinds = ["leaf", "sum", "product"]
    if depth > 0:
        kinds += ["branch", "call", "loop", "rows", "ending"]
    match data.draw(st.sampled_from(kinds)):
        case "leaf":
            return data.draw(st.sampled_from(seen))
        case "sum":
            return ft.tanh(draw_matrix(data, seen, depth)) + data.draw(st.sampled_from(seen))
        case "product":
            left = draw_matrix(data, seen, depth)
            return ft.dot(left, data.draw(st.sampled_from(seen))) / N
        case "branch":
            first, second = (draw_matrix(data, seen, depth - 1) for _ in range(2))
            return fz.ifelse(draw_condition(data, seen), first, second)
        case "call":
            given = [SQUARE.type() for _ in range(data.draw(st.integers(1, 2)))]
            op = fz.OpFromGraph(given, [draw_matrix(data, given, depth - 1)])
            return op(*(data.draw(st.sampled_from(seen)) for _ in given))
        case "loop":
            start = data.draw(st.sampled_from(seen))
            return last_of_a_loop(lambda s: draw_matrix(data, [*seen, s], depth - 1), start)
        case "rows":
            weight, rows, start = (data.draw(st.sampled_from(seen)) for _ in range(3))
            states, _ = fz.scan(
                lambda v, s: ft.tanh(ft.dot(weight, s) / N) + v,
                sequences=[rows],
                outputs_info=[start[0]],
            )
            return states
        case _:
            start, ends = data.draw(st.sampled_from(seen)), draw_condition(data, seen)
            return last_of_a_loop(
                lambda s: (draw_matrix(data, [*seen, s], depth - 1), fz.until(ends)), start
            )


def last_of_a_loop(step, start):
    """The last state of a few steps."""
    return fz.scan(step, outputs_info=[start], n_steps=STEPS)[0][-1]


def draw_condition(data, seen):
    """Whether an element is larger than a bound."""
    element = data.draw(st.sampled_from(seen))[data.draw(st.integers(0, 3)), 0]
    return element > data.draw(st.sampled_from([-0.5, 0.0, 0.5]))


@given(st.data())
@settings(max_examples=settings.default.max_examples // 4)
def test_no_call_takes_more_than_was_planned(data):
    number = data.draw(st.integers(1, 2))
    outputs = [draw_matrix(data, [SQUARE], 2) * next(factors) for _ in range(number)]
    f = fz.function([SQUARE], outputs, mode="c", threads=1, on_unused_input="ignore")
    reference = fz.function([SQUARE], outputs, mode="py", on_unused_input="ignore")
    sign = data.draw(st.sampled_from([1.0, -1.0]))
    value = sign * abs(np.random.default_rng(0).normal(size=(N, N)))
    plan = f.memory_plan(value)
    _core.take_peak_bytes()
    before = _core.allocated_bytes()
    made = f(value)
    taken = _core.take_peak_bytes() - before
    kept.append((f, made))
    for ours, expected in zip(made, reference(value), strict=True):
        np.testing.assert_allclose(ours, expected, rtol=1e-9, atol=1e-12)
    assert plan.complete
    # Less, where a cheaper branch runs, or an output has memory that another call's had before.
    assert taken <= plan.peak
