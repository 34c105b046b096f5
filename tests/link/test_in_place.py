"""Updates in place and memory that is used again: seen in programs, never in results."""

import itertools
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from updated_graphs import N, draw_graph

import frazil as fz
import frazil.tensor as ft
from frazil.tensor.blas import Gemm, Gemv, Ger


def in_place(function):
    """The updates of a program that need no copy, and those that do."""
    update = re.compile(r" set | increment | from %\d+ indexed along ")
    updates = list(filter(update.search, function.program.instructions))
    return (
        sum(line.endswith(" in place") for line in updates),
        sum(not line.endswith(" in place") for line in updates),
    )


# ------------------------------------------------------------------ any graph


def check(data, mode):
    inputs, outputs = draw_graph(data)
    function = fz.function(inputs, outputs, mode=mode, on_unused_input="ignore")
    reference = fz.function(inputs, outputs, mode="py", on_unused_input="ignore")
    rng = np.random.default_rng(0)
    arguments = [rng.normal(size=N), rng.normal(size=(2, N // 2))]
    kept = [array.copy() for array in arguments]
    for _ in range(2):  # the second call works in the memory of the first
        results = function(*arguments)
        for result, expected in zip(results, reference(*kept), strict=True):
            np.testing.assert_allclose(result, expected, rtol=1e-12)
        for array, copy in zip(arguments, kept, strict=True):
            np.testing.assert_array_equal(array, copy)
        for a, b in itertools.combinations([*results, *arguments], 2):
            assert not np.may_share_memory(a, b)


@settings(max_examples=60)
@given(st.data())
def test_results_do_not_depend_on_what_is_done_in_place_c(data):
    check(data, "c")


@settings(max_examples=60)
@given(st.data())
def test_results_do_not_depend_on_what_is_done_in_place_cranelift(data):
    check(data, "cranelift")


@settings(max_examples=15)
@given(st.data())
def test_results_do_not_depend_on_what_is_done_in_place_numba(data):
    check(data, "numba")


# ------------------------------------------------------------------ updates


@pytest.mark.parametrize("mode", ["c", "cranelift", "numba"])
def test_each_buffer_is_updated_in_place(mode):
    y, z = ft.dvector("y"), ft.dvector("z")
    f = fz.function(
        [y, z],
        [ft.set_subtensor(ft.zeros(5)[1:], y), ft.set_subtensor(ft.zeros(5)[2:], z)],
        mode=mode,
    )
    assert in_place(f) == (2, 0)
    assert sum("full" in line for line in f.program.instructions) == 2
    first, second = f(np.arange(4.0), np.arange(3.0))
    np.testing.assert_array_equal(first, [0, 0, 1, 2, 3])
    np.testing.assert_array_equal(second, [0, 0, 0, 1, 2])


def test_two_updates_of_one_buffer_take_one_copy():
    y, z, buffer = ft.dvector("y"), ft.dvector("z"), ft.zeros(5)
    updates = [ft.set_subtensor(buffer[1:], y), ft.set_subtensor(buffer[2:], z)]
    f = fz.function([y, z], updates, mode="c")
    assert in_place(f) == (1, 1)
    first, second = f(np.arange(4.0), np.arange(3.0))
    np.testing.assert_array_equal(first, [0, 0, 1, 2, 3])
    np.testing.assert_array_equal(second, [0, 0, 0, 1, 2])


def test_a_chain_of_updates_takes_no_copy():
    x = ft.dvector("x")
    result = ft.exp(x)
    for step in range(1000):
        result = ft.inc_subtensor(result[step % 5 + 1 :], float(step))
    f = fz.function([x], result, mode="c")
    assert in_place(f) == (1000, 0)
    expected = np.exp(np.zeros(7))
    for step in range(1000):
        expected[step % 5 + 1 :] += step
    np.testing.assert_array_equal(f(np.zeros(7)), expected)


def test_readers_run_before_the_update():
    x = ft.dvector("x")
    buffer = ft.exp(x)
    updated = ft.set_subtensor(buffer[1:], 0.0)
    # Without the order that the planner gives, the sum of the sine would come after the update.
    late = ft.sin(ft.dot(x, x) * buffer).sum()
    f = fz.function([x], [updated, late], mode="c")
    assert in_place(f) == (1, 0)
    value = np.arange(4.0)
    first, second = f(value)
    np.testing.assert_array_equal(first, [1, 0, 0, 0])
    np.testing.assert_allclose(second, np.sin(14 * np.exp(value)).sum())


def test_what_is_read_or_given_out_later_is_copied():
    x = ft.dvector("x")
    buffer = ft.exp(x)
    updated = ft.set_subtensor(buffer[1:], 0.0)
    for outputs in ([updated, buffer], [updated * buffer], [updated, buffer[::-1]]):
        assert in_place(fz.function([x], outputs, mode="c")) == (0, 1)


def test_what_belongs_to_others_is_copied():
    x, state = ft.dvector("x"), fz.shared(np.zeros(3))
    constant = ft.as_tensor(np.zeros(3))
    repeated = ft.broadcast_to(ft.exp(x[0]), 3)
    for tensor in (x, state, constant, repeated):
        inputs, value = [x] if tensor in (x, repeated) else [], np.arange(3.0)
        updated = ft.set_subtensor(tensor[:2], 5.0)
        f = fz.function(inputs, updated, mode="c")
        for _ in range(2):
            expected = fz.function(inputs, updated, mode="py")(*[value][: len(inputs)])
            np.testing.assert_array_equal(f(*[value][: len(inputs)]), expected)
        np.testing.assert_array_equal(value, np.arange(3.0))
        np.testing.assert_array_equal(state.get_value(), np.zeros(3))
        np.testing.assert_array_equal(constant.data, np.zeros(3))


@pytest.mark.parametrize("mode", ["c", "cranelift", "numba"])
def test_elements_at_indices_are_updated_in_place(mode):
    x, y, k = ft.dvector("x"), ft.dvector("y"), ft.lvector("k")
    value, index = np.arange(5.0), np.array([1, 1, -1])
    for changed in (ft.exp(x), ft.zeros(5), ft.exp(x)[::-1]):
        result = changed
        for step in range(3):
            result = ft.inc_subtensor(result[(k + step) % 4], ft.sin(y) * step)
        result = ft.set_subtensor(result[k[:1]], 7.0)
        f = fz.function([x, y, k], result, mode=mode, on_unused_input="ignore")
        assert in_place(f) == (4, 0)
        g = fz.function([x, y, k], result, mode="py", on_unused_input="ignore")
        arguments = (value, np.arange(3.0), index)
        np.testing.assert_allclose(f(*arguments), g(*arguments))
        with pytest.raises(IndexError, match="out of bounds"):
            f(value, np.arange(3.0), np.array([1, 0, 9]) * 5)
        np.testing.assert_allclose(f(*arguments), g(*arguments))


def test_readers_run_before_elements_at_indices_are_updated():
    x, k = ft.dvector("x"), ft.lvector("k")
    buffer = ft.exp(x)
    updated = ft.inc_subtensor(buffer[k], x[k])
    late = ft.sin(ft.dot(x, x) * buffer).sum()
    f = fz.function([x, k], [updated, late], mode="c")
    assert in_place(f) == (1, 0)
    value = np.arange(4.0)
    first, second = f(value, np.array([1, 3, 1]))
    np.testing.assert_allclose(first - np.exp(value), [0, 2, 0, 3])
    np.testing.assert_allclose(second, np.sin(14 * np.exp(value)).sum())


def test_elements_at_indices_of_what_others_need_are_copied():
    x, k = ft.dvector("x"), ft.lvector("k")
    buffer, value, index = ft.exp(x), np.arange(4.0), np.array([3, 0, 3, 1])
    moved = ft.set_subtensor(buffer[k], buffer)  # the loop reads what it writes to
    swapped = ft.set_subtensor(buffer[k], buffer[k[::-1]])
    swapped_after = np.exp(value)
    swapped_after[index] = np.exp(value)[index[::-1]]
    moved_after = np.exp(value)
    moved_after[index] = np.exp(value)
    for updated, expected in ((moved, moved_after), (swapped, swapped_after)):
        f = fz.function([x, k], updated, mode="c")
        np.testing.assert_allclose(f(value, index), expected)
    updated = ft.inc_subtensor(buffer[k], 1.0)
    assert in_place(fz.function([x, k], [updated, buffer], mode="c")) == (0, 1)
    assert in_place(fz.function([x, k], ft.inc_subtensor(x[k], 1.0), mode="c")) == (0, 1)
    given = [fz.In(x, mutable=True), k]
    assert in_place(fz.function(given, ft.inc_subtensor(x[k], 1.0), mode="c")) == (1, 0)


def test_a_value_from_the_updated_buffer_is_read_before():
    x = ft.dvector("x")
    buffer = ft.exp(x)
    f = fz.function([x], ft.set_subtensor(buffer[1:], buffer[:-1]), mode="c")
    value = np.arange(4.0)
    np.testing.assert_allclose(f(value), np.exp([0, 0, 1, 2]))


# ------------------------------------------------------------------ distinct buffers


def test_buffers_that_are_only_read_are_not_made():
    x = ft.dvector("x")
    ones, zeros, own = ft.ones(4), ft.zeros(4), ft.distinct(x)
    f = fz.function([x], ft.dot(x + ones + zeros + ft.ones(4), own), mode="c")
    assert not any("full" in line or "copy" in line for line in f.program.instructions)
    np.testing.assert_array_equal(f(np.arange(4.0)), 26.0)


def test_buffers_that_are_written_stay():
    x = ft.dvector("x")
    own = ft.distinct(x)
    f = fz.function([x], [ft.set_subtensor(own[1:], 0.0), own[::-1].sum() + x.sum()], mode="c")
    assert in_place(f) == (1, 0)
    assert sum("copy" in line for line in f.program.instructions) == 1
    value = np.arange(1.0, 4.0)
    np.testing.assert_array_equal(f(value)[0], [1, 0, 0])
    np.testing.assert_array_equal(f(value)[1], 12.0)
    np.testing.assert_array_equal(value, [1, 2, 3])


def test_outputs_that_are_one_buffer_are_two_arrays(mode):
    x = ft.dvector("x")
    own, zeros = ft.distinct(x), ft.zeros(3)
    f = fz.function([x], [own, own, x, zeros, zeros, x[::-1]], mode=mode)
    value = np.arange(3.0)
    arrays = [*f(value), value]
    for a, b in itertools.combinations(arrays, 2):
        assert not np.may_share_memory(a, b)
    for array in arrays[:-1]:
        array += 1.0  # an output can be written to
    np.testing.assert_array_equal(f(value)[0], value)


# ------------------------------------------------------------------ linear algebra


def calls(a, b, v):
    """Calls of BLAS and LAPACK by name, with what dies in them if others read it before."""
    two, half = ft.constant(2.0), ft.constant(0.5)
    m = ft.exp(ft.dot(a, a.T) / 8.0)
    yield "gemm", m, Gemm()(m, two, a, b, half)
    w = ft.exp(v)
    yield "gemm", w, Gemv()(w, two, a, v, half)
    yield "gemm", m, Ger()(m, two, v, v)
    yield "cholesky", m, ft.linalg.cholesky(m)
    yield "solve", m, ft.linalg.solve_triangular(a, m, lower=True)


@pytest.mark.parametrize("mode", ["c", "cranelift", "numba"])
@pytest.mark.parametrize("at", range(5))
def test_blas_and_lapack_work_in_memory_that_dies(mode, at):
    a, b, v = (ft.tensor(name, shape=(4,) * ndim) for name, ndim in (("a", 2), ("b", 2), ("v", 1)))
    name, m, made = list(calls(a, b, v))[at]
    late = ft.sin(ft.dot(ft.dot(b, v), v) * m).sum()
    rng = np.random.default_rng(at)
    values = [np.tril(rng.normal(size=(4, 4))) + 2 * np.eye(4), rng.normal(size=(4, 4)), np.ones(4)]
    for outputs, expected in (([made, late], True), ([made, m], False)):
        f = fz.function([a, b, v], outputs, mode=mode, on_unused_input="ignore")
        g = fz.function([a, b, v], outputs, mode="py", on_unused_input="ignore")
        (line,) = (line for line in f.program.instructions if f"= {name} " in line)
        assert line.endswith(" in place") is expected, line
        for result, reference in zip(f(*values), g(*values), strict=True):
            np.testing.assert_allclose(result, reference, rtol=1e-10)
