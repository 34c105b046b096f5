"""A step computes only the branch that it takes, and a branch with a scan runs it only if taken."""

import numpy as np
import pytest
from counted import Counted, counts
from hypothesis import given, settings
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft

LINKERS = ["c", "cranelift", "numba", "py"]
C, N, X, Y = ft.iscalar("c"), ft.lscalar("n"), ft.vector("x"), ft.vector("y")
T = ft.lvector("t")


def rows(step, sequences, start=None, **options):
    return fz.scan(step, sequences, start, return_updates=False, **options)


@pytest.mark.parametrize("linker", LINKERS)
def test_what_is_the_same_in_all_steps_is_not_computed_for_a_branch_that_none_takes(linker):
    y = rows(lambda t, s: fz.ifelse(t > 5, s + Counted("then")(X), s), T, Y)
    f = fz.function([T, X, Y], [y, fz.grad(ft.sum(y), X)], mode=linker)
    assert counts(f, [1, 2, 3], [1.0], [2.0]) == {}
    assert counts(f, [], [1.0], [2.0]) == {}
    taken = counts(f, [6, 2, 7], [1.0], [2.0])
    assert taken["then"] == taken["gradient of then"] == 2
    np.testing.assert_array_equal(f([6, 2, 7], [1.0], [2.0])[0], [[4.0], [4.0], [6.0]])


@pytest.mark.parametrize("linker", LINKERS)
def test_what_is_passed_to_all_steps_is_computed_before(linker):
    y = rows(lambda t, s, h: fz.ifelse(t > 5, s + h, s), T, Y, non_sequences=Counted("h")(X))
    f = fz.function([T, X, Y], y, mode=linker)
    assert counts(f, [6, 2, 7], [1.0], [2.0]) == {"h": 1}


@pytest.mark.parametrize("linker", LINKERS)
def test_rows_are_not_computed_for_steps_that_do_not_need_them(linker):
    m = ft.dmatrix("m")
    y = rows(lambda t, r, s: fz.ifelse(t > 5, s + Counted("row")(r), s), [T, m], Y)
    f = fz.function([T, m, Y], y, mode=linker)
    assert counts(f, [1, 2, 3], np.ones((3, 1)), [2.0]) == {}
    assert counts(f, [1, 7, 3], np.ones((3, 1)), [2.0]) == {"row": 1}


@pytest.mark.parametrize("linker", LINKERS)
def test_an_error_in_a_branch_that_no_step_takes_is_none(linker):
    y = rows(lambda t, s: fz.ifelse(t > 5, s + X[3], s), T, Y)
    f = fz.function([T, X, Y], y, mode=linker)
    np.testing.assert_array_equal(f([1, 2], [1.0], [2.0]), [[2.0], [2.0]])
    with pytest.raises(IndexError, match="index 3 is out of bounds"):
        f([1, 6], [1.0], [2.0])


@pytest.mark.parametrize("linker", LINKERS)
def test_a_scan_runs_where_its_branch_is_taken(linker):
    last = rows(lambda s: s + Counted("step")(s), None, Y, n_steps=N)[-1]
    y = fz.ifelse(C, last, Y)
    f = fz.function([C, N, Y], [y, fz.grad(ft.sum(y**2), Y)], mode=linker)
    assert counts(f, 0, 3, [1.0]) == {}
    assert counts(f, 0, 0, [1.0]) == {}
    assert counts(f, 1, 3, [1.0]) == {"step": 3, "gradient of step": 3}
    with pytest.raises(IndexError, match="index -1 is out of bounds"):
        f(1, 0, [1.0])


@pytest.mark.parametrize("linker", LINKERS)
def test_choices_within_steps_are_made_together(linker):
    def step(t, a, b):
        shared = Counted("shared")(a)
        return fz.ifelse(t > 5, a + shared, a), fz.ifelse(t > 5, b * shared, b)

    one, two = rows(step, T, [X, Y])
    f = fz.function([T, X, Y], [one, two], mode=linker)
    assert counts(f, [6, 2, 7], [1.0], [2.0]) == {"shared": 2}


@settings(max_examples=settings.default.max_examples // 3)
@given(
    ts=st.lists(st.integers(0, 9), max_size=6),
    limits=st.tuples(st.integers(0, 9), st.integers(0, 9)),
    linker=st.sampled_from(LINKERS),
)
def test_a_branch_runs_as_often_as_it_is_taken(ts, limits, linker):
    """Whatever it needs: what is the same in each step, states, elements, a choice within it."""
    first, second = limits
    low, high = Counted("low"), Counted("high")

    def step(t, s):
        inner = fz.ifelse(t > first + second, high(ft.tanh(X)) + t, low(s))
        return fz.ifelse(t > first, inner * 0.1, s)

    y = rows(step, T, Y)
    f = fz.function([T, X, Y], y, mode=linker)
    wanted = {}
    taken = [t for t in ts if t > first]
    for name, count in (
        ("high", sum(t > first + second for t in taken)),
        ("low", sum(t <= first + second for t in taken)),
    ):
        if count:
            wanted[name] = count
    assert counts(f, ts, [0.5], [2.0]) == wanted
    state, expected = np.array([2.0]), []
    for t in ts:
        if t > first:
            inner = 2 * np.tanh(0.5) + t if t > first + second else 2 * state
            state = np.array(inner * 0.1).reshape(1)
        expected.append(state)
    found = f(ts, [0.5], [2.0])
    np.testing.assert_allclose(found, np.array(expected).reshape(len(ts), 1), rtol=1e-12)
