"""Names of variables, and variables in pickles: they come back as themselves."""

import copy
import gc
import pickle
import subprocess
import sys

import cloudpickle
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft


def test_a_name_is_shown_and_means_nothing():
    x = ft.vector("x")
    y = ft.exp(x)
    before = fz.FunctionGraph([x], [y]).freeze()
    y.name = "y"
    assert repr(y) == "y: float64[?]"
    assert "'y'" in fz.dprint(y + 1, file="str")
    assert y is ft.exp(x)
    assert fz.FunctionGraph([x], [y]).freeze() is before
    x.name = "z"
    assert x.name == str(x) == "z"
    x.name = None
    assert x.name is None
    with pytest.raises(fz.gradient.DisconnectedInputError, match="'y'"):
        fz.grad(ft.vector("v").sum(), y)


def test_a_name_lives_as_long_as_its_node():
    x = ft.vector("x")
    y = ft.exp(x) * 7.5
    y.name = "y"
    z = ft.sqrt(y)
    del y
    gc.collect()
    assert z.owner.inputs[0].name == "y"
    del z
    gc.collect()
    assert (ft.exp(x) * 7.5).name is None


def test_what_has_no_name():
    frozen = fz.FunctionGraph([x := ft.vector("x")], [ft.exp(x)]).freeze()
    for variable in (ft.constant(1.5), frozen.inputs[0]):
        with pytest.raises(TypeError, match="takes no name"):
            variable.name = "one"
    with pytest.raises(TypeError):
        x.name = 3


def test_each_output_has_a_name():
    first, second = ft.split(ft.vector(shape=(4,)), 2)
    first.name = "first"
    assert (first.name, second.name) == ("first", None)


def programs():
    x, y = ft.vector("x", shape=(3,)), ft.matrix()
    total = ft.exp(x) @ ft.ones((3, 3)) + 2.5
    parts = ft.split(x, [1, 2])
    filled = ft.set_subtensor(ft.zeros(3)[1:], x[1:])
    steps, _ = fz.scan(lambda s: s * x, outputs_info=x, n_steps=3)
    return [x, y, total, *parts, filled, filled + total, steps, ft.constant(2.5), x > 1]


PROGRAMS = programs()
LEVELS = range(pickle.HIGHEST_PROTOCOL + 1)


@given(st.permutations(range(len(PROGRAMS))), st.sampled_from(LEVELS))
def test_variables_come_back_as_themselves(order, protocol):
    given = [PROGRAMS[at] for at in order]
    back = pickle.loads(pickle.dumps(given, protocol))
    assert all(one is other for one, other in zip(given, back, strict=True))
    assert all(map(lambda a, b: a is b, copy.deepcopy(given), given))
    assert copy.copy(given[0]) is given[0]


def test_a_closure_of_cloudpickle_brings_its_variables():
    x = ft.vector("x")
    y = ft.exp(x) + ft.zeros(2)

    def build():
        return fz.grad(y.sum(), x), x, y

    gradient, *known = cloudpickle.loads(cloudpickle.dumps(build))()
    assert known[0] is x
    assert known[1] is y
    assert gradient is fz.grad(y.sum(), x)


def test_variables_travel_to_another_process_and_back():
    x = ft.vector("x")
    y = ft.exp(x) + ft.zeros(2)
    y.name = "y"
    code = (
        "import pickle, sys\n"
        "text = sys.stdin.buffer.read()\n"
        "x, y = pickle.loads(text)\n"
        "assert pickle.loads(text)[1] is y and y.name == 'y' and x.name == 'x'\n"
        "assert y.eval({x: [0.0, 0.0]}).tolist() == [1.0, 1.0]\n"
        "sys.stdout.buffer.write(pickle.dumps((x, y, 2 * y)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input=pickle.dumps((x, y)), capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    came = pickle.loads(done.stdout)
    assert came[0] is x
    assert came[1] is y
    assert came[2] is 2 * y


def test_a_shared_variable_is_copied():
    s = fz.shared(np.ones(2), name="s")
    y = s * 2
    for other in (copy.copy(s), copy.deepcopy(s), pickle.loads(pickle.dumps(s))):
        other.set_value([5.0, 5.0])
        assert s.get_value().tolist() == [1.0, 1.0]
    again, s_again = pickle.loads(pickle.dumps((y, s)))
    s_again.set_value([5.0, 5.0])
    assert again.eval().tolist() == [10.0, 10.0]
    assert y.eval().tolist() == [2.0, 2.0]


def test_a_deep_graph_is_pickled():
    y = ft.vector("x")
    for _ in range(20_000):
        y = ft.sin(y)
    assert pickle.loads(pickle.dumps(y)) is y


@given(st.integers(0, 10_000), st.integers(0, 7))
def test_altered_pickles_never_give_another_variable(at, bit):
    x = ft.vector("x")
    y = ft.exp(x) * 2.5
    text = bytearray(pickle.dumps((x, y)))
    text[at % len(text)] ^= 1 << bit
    try:
        one, other = pickle.loads(bytes(text))
    except Exception:
        return
    # What was altered is a token or a name, and another graph was not taken for this one.
    if isinstance(other, fz.Variable) and other.owner is not None and one is x:
        assert other.owner.op == y.owner.op


def test_a_token_of_another_type_is_refused():
    x, z = ft.vector("x"), ft.matrix("z")
    make, (token, kind, name) = x.__reduce__()
    assert make(token, kind, name) is x
    with pytest.raises(pickle.UnpicklingError, match="known by this token"):
        make(token, z.type, name)
    with pytest.raises(ValueError, match="16"):
        make(token[:8], kind, name)
    make, (graph, leaves, *rest) = (x + 1).__reduce__()
    for wrong in ((), (z,), (*leaves, x)):
        with pytest.raises(pickle.UnpicklingError):
            make(graph, wrong, *rest)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda given: pickle.loads(pickle.dumps(given))])
@pytest.mark.parametrize("order", [slice(None), slice(None, None, -1)])
def test_copies_of_shared_variables_and_expressions_stay_together(copied, order):
    x, s, t = ft.vector("x"), fz.shared(np.ones(2), name="s"), fz.shared(3.0)
    y = ft.exp(x) * s
    y.name = "y"
    steps, _ = fz.scan(lambda k: k * s, outputs_info=s, n_steps=2)
    given = [s, t, y, y + t, steps, x, {"z": ft.exp(x)}][order]
    s_again, t_again, y_again, sum_again, steps_again, *rest = copied(given)[order]
    assert rest == [x, {"z": ft.exp(x)}]
    assert y_again.name == "y"
    assert fz.function([], y_again, givens={x: np.zeros(2)})().tolist() == [1.0, 1.0]
    s.set_value([9.0, 9.0])
    f = fz.function([x], [y_again, sum_again, steps_again[-1]])
    s_again.set_value([2.0, 4.0])
    t_again.set_value(1.0)
    found = [value.tolist() for value in f([0.0, 0.0])]
    assert found == [[2.0, 4.0], [3.0, 5.0], [8.0, 64.0]]
    assert sum_again is y_again + t_again


def test_copies_of_what_is_done_each_time_stay_together():
    s = fz.shared(2.0)
    printed = ft.Print("s")(s)
    one, other = copy.deepcopy((printed, printed * 3))
    assert other is one * 3
