"""Functions that are pickled and copied, shared variables included."""

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest

import frazil as fz
import frazil.tensor as ft


def counter(mode, form="single"):
    x = ft.vector("x")
    total = fz.shared(np.zeros(2), name="total", shape=(2,))
    scale = fz.shared(2.0, name="scale")
    result = x * scale + total
    outputs = {"single": result, "list": [result, x + 1], "dict": {"a": result, "b": x + 1}}[form]
    return fz.function([x], outputs, updates={total: total + x}, mode=mode, name="count"), total


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickled_function_computes_the_same(mode, protocol):
    function, total = counter(mode)
    function([1.0, 2.0])
    again = pickle.loads(pickle.dumps(function, protocol))
    assert (again.name, again.mode) == ("count", mode)
    assert again.fgraph is function.fgraph
    assert [x.name for x in again.inputs] == [x.name for x in function.inputs]
    for _ in range(2):
        np.testing.assert_array_equal(again(x=[1.0, 1.0]), function([1.0, 1.0]))
    # Each has its own shared variables, with the values of then.
    again([5.0, 5.0])
    np.testing.assert_array_equal(total.get_value(), [3.0, 4.0])


@pytest.mark.parametrize("form", ["list", "dict"])
def test_what_a_call_returns_is_kept(form):
    function, _ = counter("py", form)
    again = pickle.loads(pickle.dumps(function))
    expected, given = function([1.0, 2.0]), again([1.0, 2.0])
    assert type(given) is type(expected)
    if form == "dict":
        assert list(given) == list(expected)
        given, expected = list(given.values()), list(expected.values())
    for value, wanted in zip(given, expected, strict=True):
        np.testing.assert_array_equal(value, wanted)


def test_functions_pickled_together_share_what_they_shared():
    total = fz.shared(0, name="total")
    up = fz.function([], total, updates={total: total + 1}, mode="py")
    read = fz.function([], total, mode="py")
    more, seen = pickle.loads(pickle.dumps((up, read)))
    more()
    more()
    assert (int(seen()), int(read())) == (2, 0)


SCRIPT = """
import pickle, sys
import numpy as np
function = pickle.load(sys.stdin.buffer)
sys.stdout.buffer.write(pickle.dumps((function([1.0, 2.0]), function)))
"""


def test_processes_pass_functions_on(mode):
    function, _ = counter(mode)
    function([1.0, 2.0])
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT], input=pickle.dumps(function), capture_output=True
    )
    assert run.returncode == 0, run.stderr.decode()
    value, returned = pickle.loads(run.stdout)
    np.testing.assert_array_equal(value, function([1.0, 2.0]))
    np.testing.assert_array_equal(returned([1.0, 2.0]), function([1.0, 2.0]))


def test_a_copy_shares_and_a_deep_copy_does_not():
    function, total = counter("py")
    shallow, deep = copy.copy(function), copy.deepcopy(function)
    assert shallow.compiled is deep.compiled is function.compiled
    function([1.0, 2.0])
    np.testing.assert_array_equal(shallow([0.0, 0.0]), [1.0, 2.0])
    np.testing.assert_array_equal(deep([0.0, 0.0]), [0.0, 0.0])
    deep([7.0, 7.0])
    np.testing.assert_array_equal(total.get_value(), [1.0, 2.0])


@pytest.mark.parametrize("share_memory", [False, True])
def test_copies_over_other_variables(share_memory):
    function, total = counter("py")
    other = fz.shared(np.array([10.0, 20.0]), shape=(2,))
    swapped = function.copy(share_memory, swap={total: other}, name="swapped")
    assert swapped.name == "swapped"
    np.testing.assert_array_equal(swapped([1.0, 1.0]), [12.0, 22.0])
    np.testing.assert_array_equal(other.get_value(), [11.0, 21.0])
    np.testing.assert_array_equal(total.get_value(), [0.0, 0.0])
    without = function.copy(share_memory, delete_updates=True)
    np.testing.assert_array_equal(without([1.0, 1.0]), [2.0, 2.0])
    np.testing.assert_array_equal(total.get_value(), [0.0, 0.0])
    np.testing.assert_array_equal(function([1.0, 1.0]), [2.0, 2.0])


def test_swaps_are_checked():
    function, total = counter("py")
    with pytest.raises(ValueError, match="has no shared variable"):
        function.copy(swap={fz.shared(1.0): fz.shared(2.0)})
    with pytest.raises(TypeError, match=r"of its type float64\[2\], given float64"):
        function.copy(swap={total: fz.shared(1.0)})
    with pytest.raises(TypeError, match="given int"):
        function.copy(swap={total: 3})


def test_a_shared_variable_is_pickled_by_value():
    value = fz.shared(np.arange(3.0), name="v", shape=(3,))
    for again in (pickle.loads(pickle.dumps(value)), copy.copy(value), copy.deepcopy(value)):
        assert again is not value
        assert (again.name, again.type) == ("v", value.type)
        again.set_value([9.0, 9.0, 9.0])
        np.testing.assert_array_equal(value.get_value(), [0.0, 1.0, 2.0])


class Forged:
    """What pickles as the restoring of some other state."""

    def __init__(self, restore, state):
        self.call = restore, state

    def __reduce__(self):
        return self.call


def test_pickles_of_other_things_are_refused():
    function, _ = counter("py")
    restore, state = function.__reduce__()
    graph, parameters, shared, updated, form, *rest = state
    borrowing, linker, *how = rest
    excluded, on_error, *named = how
    wrong = fz.shared(np.zeros(3), shape=(3,))
    forged = [
        (),
        (1,) * len(state),
        (graph, parameters, shared, updated, form, borrowing, "fortran", *how),
        (graph, parameters, shared, updated, ("a", "b"), *rest),
        (graph, parameters, shared, updated, form, borrowing, 3, *how),
        (
            graph,
            parameters,
            shared,
            updated,
            form,
            borrowing,
            linker,
            ("no rule",),
            on_error,
            *named,
        ),
        (graph, parameters, shared, updated, form, borrowing, linker, excluded, "zero", *named),
        (graph, parameters, shared, updated, form, ("0",), linker, *how),
        (graph, (), shared, updated, form, *rest),
        (
            graph,
            (("x", fz.TensorType("int8", (None,)), None, None, False, None),),
            shared,
            updated,
            form,
            *rest,
        ),
        (graph, parameters, shared[::-1], updated, form, *rest),
        (graph, parameters, (wrong, *shared[1:]), updated, form, *rest),
        (graph, parameters, shared, (wrong,), form, *rest),
        (graph, parameters, shared, updated * 5, form, *rest),
        (graph, parameters, shared, ("total",), form, *rest),
        ("graph", parameters, shared, updated, form, *rest),
    ]
    for state in forged:
        with pytest.raises((TypeError, ValueError)):
            pickle.loads(pickle.dumps(Forged(restore, state)))
