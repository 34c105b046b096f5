"""Whose memory a compiled function writes to, and whose it hands out."""

import itertools

import numpy as np
import pytest

import frazil as fz
import frazil.tensor as ft

NATIVE = ["c", "cranelift", "numba"]


def updated(x):
    return ft.set_subtensor(x[1:], 5.0)


# ------------------------------------------------------------------ arguments


def test_an_argument_is_not_written_to_unless_it_is_mutable(mode):
    x = ft.dvector("x")
    value = np.arange(3.0)
    np.testing.assert_array_equal(fz.function([x], updated(x), mode=mode)(value), [0, 5, 5])
    np.testing.assert_array_equal(value, np.arange(3.0))


@pytest.mark.parametrize("mode", NATIVE)
def test_a_mutable_argument_is_updated_in_place(mode):
    x = ft.dvector("x")
    f = fz.function([fz.In(x, mutable=True)], updated(x), mode=mode)
    assert f.program.instructions[-2].endswith("in place")
    value = np.arange(3.0)
    result = f(value)
    np.testing.assert_array_equal(result, [0, 5, 5])
    np.testing.assert_array_equal(value, [0, 5, 5])
    assert not np.shares_memory(result, value)
    assert fz.function([x], updated(x), mode=mode).program is not f.program


@pytest.mark.parametrize("mode", NATIVE)
def test_loops_write_over_mutable_arguments(mode):
    x, y = ft.dmatrix("x"), ft.dmatrix("y")
    product = ft.dot(ft.exp(x), y)
    f = fz.function([fz.In(x, mutable=True), y], product, mode=mode)
    assert f.memory_plan((100, 100), (100, 100)).temporaries == 0
    value, other = np.ones((3, 3)), np.eye(3)
    np.testing.assert_allclose(f(value, other), np.exp(np.ones((3, 3))))
    np.testing.assert_array_equal(other, np.eye(3))


@pytest.mark.parametrize("mode", [*NATIVE, "py"])
def test_what_may_not_be_written_to_is_copied_first(mode):
    x, y = ft.dvector("x"), ft.dvector("y")
    state = fz.shared(np.arange(3.0), borrow=True)
    total = updated(x) + y + state
    f = fz.function([fz.In(x, mutable=True), y], total, mode=mode)
    expected = [0.0, 7.0, 9.0]
    value = np.arange(3.0)
    np.testing.assert_array_equal(f(value, value), expected)  # one array twice
    np.testing.assert_array_equal(value, np.arange(3.0))
    longer = np.arange(4.0)
    np.testing.assert_array_equal(f(longer[:3], longer[1:]), [1.0, 8.0, 10.0])
    np.testing.assert_array_equal(longer, np.arange(4.0))
    np.testing.assert_array_equal(f(state.get_value(borrow=True), value), expected)
    np.testing.assert_array_equal(state.get_value(), np.arange(3.0))
    fixed = np.arange(3.0)
    fixed.flags.writeable = False
    np.testing.assert_array_equal(f(fixed, value), expected)
    np.testing.assert_array_equal(fixed, np.arange(3.0))
    np.testing.assert_array_equal(f([0, 1, 2], value), expected)
    backwards = np.arange(3.0)[::-1]
    np.testing.assert_array_equal(f(backwards, value), [2.0, 7.0, 9.0])


def test_an_argument_that_perform_may_return_is_not_written_to():
    x = ft.dvector("x")
    kept = ft.cumsum(x)  # by perform, unless the linker has a form of it
    f = fz.function([fz.In(x, mutable=True)], [updated(x), kept], mode="c")
    first, second = f(np.arange(3.0))
    np.testing.assert_array_equal(first, [0, 5, 5])
    np.testing.assert_array_equal(second, [0, 1, 3])


def test_defaults_and_names():
    x, y = ft.dvector("x"), ft.dscalar()
    f = fz.function([fz.In(x, name="first", value=[1.0, 2.0]), fz.In(y, name="by", value=2)], x * y)
    np.testing.assert_array_equal(f(), [2, 4])
    np.testing.assert_array_equal(f([3.0]), [6])
    np.testing.assert_array_equal(f(by=3), [3, 6])
    np.testing.assert_array_equal(f(by=3, first=[1.0]), [3])
    with pytest.raises(TypeError, match="unexpected argument 'x'"):
        f(x=[1.0])
    with pytest.raises(TypeError, match="missing arguments: b"):
        fz.function([fz.In(x, value=[1.0]), fz.In(y, name="b")], x * y)()


# ------------------------------------------------------------------ results


def test_results_share_memory_with_nothing(mode):
    x, y = ft.dvector("x"), ft.dmatrix("y")
    state = fz.shared(np.arange(3.0), borrow=True)
    constant = ft.as_tensor(np.arange(3.0))
    outputs = [x, x, x[::-1], y.T, y[0], state, constant, constant[1:], x.reshape((3, 1))]
    f = fz.function([x, y], outputs, mode=mode)
    value, matrix = np.arange(3.0), np.ones((3, 3))
    arrays = [*f(value, matrix), *f(value, matrix), value, matrix]
    arrays += [state.get_value(borrow=True), constant.data]
    for a, b in itertools.combinations(arrays, 2):
        assert not np.shares_memory(a, b)
    assert all(array.flags.writeable for array in arrays[: 2 * len(outputs)])


@pytest.mark.parametrize("mode", NATIVE)
def test_borrowed_results_are_views_of_arguments_that_are_lent(mode):
    x, y = ft.dvector("x"), ft.dmatrix("y")
    outputs = [fz.Out(x[1:], borrow=True), fz.Out(y.T, borrow=True), x[::-1]]
    f = fz.function([fz.In(x, borrow=True), y], outputs, mode=mode)
    value, matrix = np.arange(3.0), np.ones((2, 3))
    part, transposed, copy = f(value, matrix)
    assert np.shares_memory(part, value)
    np.testing.assert_array_equal(part, value[1:])
    assert not np.shares_memory(transposed, matrix)  # not lent
    assert not np.shares_memory(copy, value)  # not borrowed
    value.flags.writeable = False
    part, _, _ = f(value, matrix)
    assert not part.flags.writeable


@pytest.mark.parametrize("mode", NATIVE)
def test_a_borrowed_update_of_a_mutable_argument_is_that_argument(mode):
    x = ft.dvector("x")
    f = fz.function([fz.In(x, mutable=True)], fz.Out(updated(x), borrow=True), mode=mode)
    value = np.arange(3.0)
    result = f(value)
    assert result.base is value
    assert result.flags.writeable
    np.testing.assert_array_equal(value, [0, 5, 5])
    assert f.memory_plan((3,)).buffers[0].location == "input 0"


# ------------------------------------------------------------------ updates


def test_updates_are_stored_all_or_none(mode):
    a, b = fz.shared(np.zeros(3), name="a"), fz.shared(np.zeros(3), name="b")
    i = ft.lscalar("i")
    updates = {a: ft.set_subtensor(a[1:], 1.0), b: ft.set_subtensor(b[0], a[i])}
    f = fz.function([i], a + b, updates=updates, mode=mode)
    before = a.get_value(borrow=True), b.get_value(borrow=True)
    with pytest.raises(IndexError):
        f(7)
    assert a.get_value(borrow=True) is before[0]
    assert b.get_value(borrow=True) is before[1]
    np.testing.assert_array_equal(before[0], np.zeros(3))
    np.testing.assert_array_equal(f(1), np.zeros(3))
    np.testing.assert_array_equal(before[0], np.zeros(3))
    np.testing.assert_array_equal(a.get_value(), [0, 1, 1])
    np.testing.assert_array_equal(f(1), [0, 1, 1])
    np.testing.assert_array_equal(b.get_value(), [1, 0, 0])
