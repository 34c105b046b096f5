"""Positions that only a call knows: `x[k]`, read and written, in every linker."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft

T, M, v = ft.tensor3("T"), ft.matrix("M"), ft.vector("v")
j, k = ft.lscalar("j"), ft.bscalar("k")

READ = {
    "row": lambda t, j, k: t[j],
    "element": lambda t, j, k: t[j, k, 1],
    "behind a slice": lambda t, j, k: t[1:, :, k],
    "between slices": lambda t, j, k: t[::-1, k, 1:],
    "twice": lambda t, j, k: t[j][k],
    "computed": lambda t, j, k: t[(j * j + k) % 2, -k % 2],
    "of what was computed": lambda t, j, k: (t * 2)[:, k, :2].sum() + (t + 1)[j, 0],
    "transposed": lambda t, j, k: t.T[k].T[j],
}


def values(seed):
    return np.random.default_rng(seed).normal(size=(3, 2, 4))


@pytest.mark.parametrize("case", READ)
def test_what_is_read_at_positions(case, mode):
    build = READ[case]
    f = fz.function([T, j, k], build(T, j, k), mode=mode, on_unused_input="ignore")
    for seed, (at, other) in enumerate([(0, 0), (1, 1), (-1, -1), (2, -2)]):
        array = values(seed)
        np.testing.assert_allclose(f(array, at, other), build(array, at, other), rtol=1e-14)


WRITTEN = {
    "row": lambda x, j, k: x[j],
    "behind a slice": lambda x, j, k: x[1:, :, k],
    "between slices": lambda x, j, k: x[::-1, k, 1:],
}


@pytest.mark.parametrize("case", WRITTEN)
@pytest.mark.parametrize("increase", [False, True])
def test_what_is_written_at_positions(case, increase, mode):
    part = WRITTEN[case](T, j, k)
    write = ft.inc_subtensor if increase else ft.set_subtensor
    # The second is written over a result, the first beside an argument.
    outputs = [write(part, v[0]), write(WRITTEN[case](T * 2, j, k), v[1]), T[j]]
    f = fz.function([T, v, j, k], outputs, mode=mode, on_unused_input="ignore")
    for at, other in [(0, 0), (1, 1), (-1, -1)]:
        array = values(at % 3)
        found = f(array, [5.0, 7.0], at, other)
        for result, whole, value in zip(found, (array.copy(), array * 2), (5.0, 7.0), strict=False):
            if increase:
                WRITTEN[case](whole, at, other)[...] += value
            else:
                WRITTEN[case](whole, at, other)[...] = value
            np.testing.assert_array_equal(result, whole)
        np.testing.assert_array_equal(found[2], array[at])


@pytest.mark.parametrize("position", [2, -3, 2**40, -(2**62)])
def test_positions_out_of_bounds(position, mode):
    read = fz.function([M, j], M[:, j], mode=mode)
    write = fz.function([M, j], ft.set_subtensor(M[:, j], 0.0), mode=mode)
    for f in (read, write):
        with pytest.raises(IndexError, match=f"{position} is out of bounds for axis 1 with size 2"):
            f(np.ones((3, 2)), position)
        f(np.ones((3, 2)), 1)


def test_a_part_that_is_changed_leaves_the_rest(mode):
    """What is written over a part that was picked is not written to the array it is part of."""
    part = M[j]
    changed = ft.set_subtensor(part[0], 9.0)
    f = fz.function([M, j], [changed, M, part], mode=mode)
    array = np.arange(6.0).reshape(3, 2)
    new, same, old = f(array, 1)
    np.testing.assert_array_equal(new, [9.0, 3.0])
    np.testing.assert_array_equal(same, np.arange(6.0).reshape(3, 2))
    np.testing.assert_array_equal(old, [2.0, 3.0])


def test_branches_and_graphs_take_picked_parts(mode):
    doubled = fz.OpFromGraph([v], [v * 2])
    chosen = fz.ifelse(j > 0, M[j], doubled(M[j]))
    f = fz.function([M, j], [chosen, ft.dot(M[j], M[j]), ft.sort(M[j])], mode=mode)
    array = np.array([[3.0, 1.0], [4.0, 2.0]])
    for at in (0, 1):
        row = array[at]
        for found, wanted in zip(
            f(array, at), (row * (2 - at), row @ row, np.sort(row)), strict=True
        ):
            np.testing.assert_array_equal(found, wanted)


@settings(max_examples=8)
@given(seed=st.integers(0, 2**32 - 1), steps=st.integers(0, 5))
def test_scans_that_pick_in_each_step(seed, steps):
    rng = np.random.default_rng(seed)
    table, start = rng.normal(size=(4, 3)), rng.normal(size=3)
    at = rng.integers(-4, 4, steps)
    order = ft.lvector("order")

    def step(o, state, table):
        new = ft.tanh(state + table[o]) * table[o, 0]
        return ft.set_subtensor(new[o % 3], 0.5)

    begin = ft.vector("begin", shape=(3,))
    states, _ = fz.scan(step, order, begin, M)
    slope = fz.grad((states**2).sum(), M)
    outputs = [states, slope]
    wanted = None
    for mode in ("py", "c", "cranelift", "numba"):
        found = fz.function([order, begin, M], outputs, mode=mode)(at, start, table)
        wanted = found if wanted is None else wanted
        for result, reference in zip(found, wanted, strict=True):
            np.testing.assert_allclose(result, reference, rtol=1e-12, atol=1e-12)
    state, rows = start, []
    for o in at:
        state = np.tanh(state + table[o]) * table[o, 0]
        state[o % 3] = 0.5
        rows.append(state)
    np.testing.assert_allclose(wanted[0], np.reshape(rows, (steps, 3)), rtol=1e-12)


def test_memory_of_a_scan_that_picks_is_foretold():
    order = ft.lvector("order")
    states, _ = fz.scan(lambda o, s, t: ft.exp(s) * t[o], order, ft.zeros(3), M)
    f = fz.function([order, M], states.sum(), mode="c")
    assert f.memory_plan((50,), (4, 3)).is_exact
