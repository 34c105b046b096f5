"""Compiled functions as their users meet them, in every linker."""

import gc
import threading
import weakref
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft
from frazil.link.toolchain import keeping


def test_forms_of_outputs(mode):
    x = ft.vector("x")
    value = np.array([1.0, 2.0])
    single = fz.function([x], x * 2, mode=mode)(value)
    assert isinstance(single, np.ndarray)
    np.testing.assert_array_equal(single, [2.0, 4.0])
    as_list = fz.function([x], [x * 2], mode=mode)(value)
    assert isinstance(as_list, list)
    by_name = fz.function([x], {"double": x * 2, "sum": x.sum()}, mode=mode)(value)
    assert list(by_name) == ["double", "sum"]
    assert by_name["sum"] == 3.0
    assert fz.function([], [], mode=mode)() == []


def test_arguments_by_position_and_name(mode):
    x, y = ft.scalar("x"), ft.scalar("y")
    f = fz.function([x, y], x - y, mode=mode)
    assert f(5.0, 3.0) == f(5.0, y=3.0) == f(y=3.0, x=5.0) == 2.0
    with pytest.raises(TypeError, match="y"):
        f(1.0)
    with pytest.raises(TypeError, match="z"):
        f(1.0, z=2.0)
    with pytest.raises(TypeError):
        f(1.0, 2.0, 3.0)
    with pytest.raises(TypeError, match="x"):
        f(1.0, 2.0, x=3.0)


def test_arguments_convert_only_without_loss(mode):
    x = ft.vector("x", dtype="float32")
    f = fz.function([x], x + 1, mode=mode)
    assert f([1, 2]).dtype == np.float32
    assert f([0.1]).dtype == np.float32
    assert f(np.array([1], "int8")).dtype == np.float32
    with pytest.raises(TypeError, match="float64 values do not convert to it without loss"):
        f(np.array([1.0]))
    with pytest.raises(TypeError, match="1 dimensions"):
        f(np.ones((1, 1), "float32"))
    with pytest.raises(TypeError, match="'x'"):
        f("text")
    n = fz.function([k := ft.scalar("k", dtype="int8")], k * 2, mode=mode)
    assert n(7) == 14
    with pytest.raises((TypeError, OverflowError)):
        n(300)
    with pytest.raises(TypeError):
        n(0.5)


def test_static_lengths_are_checked(mode):
    x = ft.tensor("x", shape=(2, None))
    f = fz.function([x], x.sum(), mode=mode)
    assert f(np.ones((2, 5))) == 10.0
    with pytest.raises(ValueError, match=r"its type says \(2, None\)"):
        f(np.ones((3, 5)))


@pytest.mark.parametrize(
    "prepare",
    [
        np.asfortranarray,
        lambda a: a[::-1],
        lambda a: a[:, ::2].repeat(2, axis=1)[:, ::1],
        lambda a: np.broadcast_to(a[:1], a.shape),
        lambda a: a.astype(">f8"),
        lambda a: np.lib.stride_tricks.as_strided(a, a.shape, a.strides, writeable=False),
    ],
)
def test_any_memory_layout_is_read(mode, prepare):
    x, y = ft.matrix("x"), ft.vector("y")
    f = fz.function([x, y], [ft.exp(x) * y + x.T.T, (x * y).sum(axis=0), x @ y], mode=mode)
    a = prepare(np.arange(24.0).reshape(4, 6) / 24)
    b = np.arange(12.0)[::2]
    expected = [np.exp(a) * b + a, (a * b).sum(axis=0), a @ b]
    for result, value in zip(f(a, b), expected, strict=True):
        np.testing.assert_allclose(result, value, rtol=1e-14)


def test_results_are_fresh(mode):
    x = ft.vector("x")
    f = fz.function([x], [x, x, x[1:], ft.constant([1.0, 2.0])], mode=mode)
    value = np.arange(3.0)
    results = f(value)
    for at, result in enumerate(results):
        assert result.flags.writeable
        others = [value, *(other for k, other in enumerate(results) if k != at)]
        assert not any(np.shares_memory(result, other) for other in others)
        result[:] = -1
    np.testing.assert_array_equal(value, [0, 1, 2])
    np.testing.assert_array_equal(f(value)[3], [1, 2])


def test_an_undeclared_one_does_not_broadcast(mode):
    x, y = ft.vector("x"), ft.vector("y")
    f = fz.function([x, y], ft.exp(x) + y, mode=mode)
    for a, b in ((1, 3), (3, 1), (2, 3)):
        with pytest.raises(ValueError, match="length") as caught:
            f(np.ones(a), np.ones(b))
        # It names the node and the user's line, and a declared 1 is the way out.
        assert "add" in str(caught.value)
        assert __file__ in str(caught.value) or any(
            __file__ in note for note in getattr(caught.value, "__notes__", ())
        )
        if 1 in (a, b):
            assert "declare" in str(caught.value)
    one = ft.tensor("one", shape=(1,))
    g = fz.function([one, y], ft.exp(one) + y, mode=mode)
    np.testing.assert_allclose(g([0.0], np.ones(3)), [2, 2, 2])


def test_updates_are_stored_after_the_outputs(mode):
    a, b = fz.shared(1.0, name="a"), fz.shared(10.0, name="b")
    swap = fz.function([], [a, b, a + b], updates={a: b, b: a}, mode=mode)
    assert [float(value) for value in swap()] == [1.0, 10.0, 11.0]
    assert (float(a.get_value()), float(b.get_value())) == (10.0, 1.0)
    assert [float(value) for value in swap()] == [10.0, 1.0, 11.0]


def test_updates_are_all_or_none(mode):
    x, n = ft.vector("x"), fz.shared(np.zeros(3), name="n")
    total = fz.shared(0.0, name="total")
    f = fz.function([x], updates={total: total + 1, n: n + x}, mode=mode)
    f(np.ones(3))
    with pytest.raises(ValueError, match="length"):
        f(np.ones(4))
    assert total.get_value() == 1.0
    np.testing.assert_array_equal(n.get_value(), np.ones(3))


def test_shared_values_are_copied_unless_borrowed(mode):
    value = np.zeros(2)
    kept, lent = fz.shared(value), fz.shared(value, borrow=True)
    f = fz.function([], [kept, lent], mode=mode)
    value[0] = 5
    np.testing.assert_array_equal(f()[0], [0, 0])
    np.testing.assert_array_equal(f()[1], [5, 0])
    kept.get_value()[:] = 7
    np.testing.assert_array_equal(kept.get_value(), [0, 0])
    kept.set_value([3, 4])
    np.testing.assert_array_equal(f()[0], [3, 4])
    with pytest.raises(TypeError, match="1 dimensions"):
        kept.set_value(1.0)
    # Results never let a user into the cell.
    f()[0][:] = 9
    np.testing.assert_array_equal(kept.get_value(), [3, 4])


def test_a_shared_variable_outlives_its_handle(mode):
    w = fz.shared(np.arange(3.0), name="w")
    y = w * 2
    del w
    gc.collect()
    np.testing.assert_array_equal(fz.function([], y, mode=mode)(), [0, 2, 4])
    again = y.owner.inputs[0]
    assert isinstance(again, fz.SharedVariable)
    np.testing.assert_array_equal(again.get_value(), [0, 1, 2])


def test_givens_are_substituted_at_once(mode):
    x, y = ft.scalar("x"), ft.scalar("y")
    w = fz.shared(3.0)
    assert fz.function([y], x * 2, givens={x: y + 1}, mode=mode)(4.0) == 10.0
    assert fz.function([x], w * 2, givens=[(w, x)], mode=mode)(4.0) == 8.0
    assert fz.function([x, y], x - y, givens={x: y, y: x}, mode=mode)(4.0, 1.0) == -3.0


def test_bad_calls_of_function():
    x, y = ft.scalar("x"), ft.scalar("y")
    w = fz.shared(1.0, name="w")
    with pytest.raises(fz.MissingInputError, match="needs input y"):
        fz.function([x], x + y)
    with pytest.raises(ValueError, match="no output needs y"):
        fz.function([x, y], x)
    with pytest.warns(UserWarning, match="no output needs y") as told:
        fz.function([x, y], x, on_unused_input="warn")
    assert told[0].filename == __file__
    fz.function([x, y], x, on_unused_input="ignore")
    with pytest.raises(ValueError, match="on_unused_input"):
        fz.function([x], x, on_unused_input="explode")
    with pytest.raises(ValueError, match="listed twice"):
        fz.function([x, x], x)
    with pytest.raises(TypeError, match="list of variables"):
        fz.function(x, x)
    with pytest.raises(TypeError, match="input 0 must be a Variable"):
        fz.function([1.0], x)
    with pytest.raises(TypeError, match="shared variable"):
        fz.function([w], w)
    with pytest.raises(ValueError, match="mode must be one of 'c', 'cranelift', 'tiered'"):
        fz.function([x], x, mode="fortran")
    with pytest.raises(TypeError, match="update of w must have type"):
        fz.function([], updates={w: ft.constant([1.0])})
    with pytest.raises(TypeError, match="must be a shared variable"):
        fz.function([x], updates={x: 1.0})
    with pytest.raises(ValueError, match="two updates"):
        fz.function([], updates=[(w, 1.0), (w, 2.0)])


def test_equal_graphs_share_a_program(mode):
    def build():
        x = ft.vector("x")
        return fz.function([x], ft.exp(x).sum(), mode=mode)

    first, second = build(), build()
    assert first is not second
    assert first.program is second.program
    program = weakref.ref(first.program)
    del first, second
    keeping.finish()  # what is still to be written holds programs
    gc.collect()
    assert program() is None


@pytest.mark.filterwarnings("error")
def test_many_threads_call_one_function(mode):
    x = ft.matrix("x")
    f = fz.function([x], [ft.tanh(x) @ x.T, x.sum(axis=0)], mode=mode)
    arrays = [np.random.default_rng(seed).normal(size=(seed % 5 + 20, 30)) for seed in range(8)]
    failures = []

    def work(a):
        expected = [np.tanh(a) @ a.T, a.sum(axis=0)]
        for _ in range(50):
            for result, value in zip(f(a), expected, strict=True):
                if not np.allclose(result, value, rtol=1e-10):
                    failures.append(result)

    threads = [threading.Thread(target=work, args=(a,)) for a in arrays]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


@dataclass(frozen=True, eq=False)
class Sort(fz.Op):
    """An op that only Python knows."""

    def make_node(self, x):
        return fz.FrozenApply(self, [x], [x.type])

    def perform(self, node, inputs):
        if not np.isfinite(inputs[0]).all():
            raise ArithmeticError("cannot sort what is not finite")
        return (np.sort(inputs[0]),)


def test_python_ops_run_in_every_linker(mode):
    x = ft.vector("x")
    f = fz.function([x], ft.exp(Sort()(x * 2)) + x, mode=mode)
    value = np.array([2.0, -1.0, 0.5])
    np.testing.assert_allclose(f(value), np.exp(np.sort(value * 2)) + value, rtol=1e-15)
    with pytest.raises(ArithmeticError, match="cannot sort") as caught:
        f(np.array([np.nan]))
    assert any("Sort" in note and __file__ in note for note in caught.value.__notes__)


def test_an_error_leaves_the_function_usable(mode):
    x = ft.vector("x")
    f = fz.function([x], Sort()(x), mode=mode)
    with pytest.raises(ArithmeticError):
        f([np.inf])
    np.testing.assert_array_equal(f([2.0, 1.0]), [1.0, 2.0])


def test_empty_and_zero_dimensional_arrays(mode):
    x = ft.matrix("x")
    f = fz.function([x], [ft.exp(x), x.sum(), x.sum(axis=0), x.prod(axis=1), x @ x.T], mode=mode)
    empty = np.zeros((0, 3))
    results = f(empty)
    assert [r.shape for r in results] == [(0, 3), (), (3,), (0,), (0, 0)]
    assert results[1] == 0.0
    np.testing.assert_array_equal(f(np.zeros((2, 0)))[4], np.zeros((2, 2)))
    largest = fz.function([x], x.max(), mode=mode)
    with pytest.raises(ValueError, match="no identity"):
        largest(empty)


@pytest.mark.parametrize("mode", ["py", "c", "cranelift", "numba"])
@settings(max_examples=15)
@given(
    rows=st.integers(0, 5),
    columns=st.integers(0, 40),
    seed=st.integers(0, 2**32 - 1),
)
def test_one_program_serves_every_shape(mode, rows, columns, seed):
    f = _mixed(mode)
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(rows, columns)), rng.normal(size=columns)
    centred = a - b
    expected = [np.tanh(centred), centred.sum(axis=0), (centred * a).sum(axis=1), (a * a).sum()]
    for result, value in zip(f(a, b), expected, strict=True):
        np.testing.assert_allclose(result, value, rtol=1e-10, atol=1e-12)


_functions = {}


def _mixed(mode):
    if mode not in _functions:
        x, y = ft.matrix("x"), ft.vector("y")
        centred = x - y
        outputs = [ft.tanh(centred), centred.sum(0), (centred * x).sum(1), (x * x).sum()]
        _functions[mode] = fz.function([x, y], outputs, mode=mode)
    return _functions[mode]


def test_lengths_that_do_not_fit_are_told(mode):
    n, x, y = ft.lscalar("n"), ft.vector("x"), ft.vector("y")
    powers, _ = fz.scan(lambda state: state * 2, outputs_info=ft.constant(1.0), n_steps=n)
    with pytest.raises(ValueError, match=r"is to run -3 steps; their number cannot be negative"):
        fz.function([n], powers, mode=mode)(-3)
    sums, _ = fz.scan(lambda a, b: a + b, [x, y], n_steps=3)
    with pytest.raises(ValueError, match=r"sequence 0 of \S+ has 1 elements, for 3 steps"):
        fz.function([x, y], sums, mode=mode)([1.0], [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="the step of a range cannot be zero"):
        fz.function([n], ft.arange(0, 5, n), mode=mode)(0)


def test_a_name_that_two_inputs_have_says_neither():
    x, y, z = ft.dvector("a"), ft.dvector("b"), ft.dvector("a")
    f = fz.function([x, y, z], x + 10 * y + 100 * z, mode="py")
    assert f([1.0], [2.0], [3.0]).tolist() == [321.0]
    message = "inputs 0 and 2 are both called 'a'.*give them by position.*fz.In"
    for args, kwargs in [
        ((), {"a": [1.0], "b": [2.0]}),
        (([1.0], [2.0]), {"a": [3.0]}),
        (([1.0], [2.0], [3.0]), {"a": [3.0]}),
        ((), {"a": [1.0]}),
    ]:
        with pytest.raises(TypeError, match=message):
            f(*args, **kwargs)
    with pytest.raises(TypeError, match="missing arguments: a, a"):
        f(b=[1.0])
    for ask in (f.explain, f.memory_plan):
        with pytest.raises(TypeError, match="several arguments are called 'a'"):
            ask(a=(3,), b=(3,))
        ask((3,), (3,), (3,))
    named = fz.function([x, y, fz.In(z, name="c")], x + 10 * y + 100 * z, mode="py")
    assert named(a=[1.0], b=[2.0], c=[3.0]).tolist() == [321.0]
    named.explain(a=(3,), b=(3,), c=(3,))
    given_twice = fz.function([fz.In(y, name="a"), x], x - y, mode="py")
    with pytest.raises(TypeError, match="inputs 0 and 1 are both called 'a'"):
        given_twice(a=[1.0])
