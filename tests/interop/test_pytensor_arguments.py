"""What PyTensor's users say of a function's arguments and results, in the mode "FRAZIL"."""

import io

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from pytensor import In, Out

import frazil as fz
import frazil.tensor as ft

VALUE = np.array([1.0, 2.0])
x, y = pt.dvector("x"), pt.dscalar("y")
OLD = int(pytensor.__version__.partition(".")[0]) < 3
"""Whether PyTensor has defaults of arguments and names of results, which version 3 refuses."""
DEPRECATED = pytest.mark.filterwarnings("ignore::FutureWarning")  # by PyTensor, and still there


@DEPRECATED
def test_an_argument_has_a_default_and_may_move_on():
    if not OLD:
        with pytest.raises(ValueError, match="default values"):
            In(y, value=3.0)
        return
    f = pytensor.function([x, In(y, value=3.0)], x.sum() * y, mode="FRAZIL")
    assert [float(found) for found in (f(VALUE), f(VALUE, 2.0), f(VALUE, y=5.0))] == [9, 6, 15]
    g = pytensor.function([x, In(y, value=1.0, update=y + x.sum())], y, mode="FRAZIL")
    assert [float(g(VALUE)), float(g(VALUE)), float(g[y])] == [1, 4, 7]


def test_an_argument_may_be_written_to_only_where_it_says_so():
    changed = pt.inc_subtensor(x[0], 5.0) * 1
    for mutable in (False, True):
        f = pytensor.function([In(x, mutable=mutable)], changed, mode="FRAZIL")
        value = VALUE.copy()
        value.setflags(write=mutable)
        assert f(value).tolist() == [6.0, 2.0]
        assert mutable or value.tolist() == [1.0, 2.0]


def test_borrowed_results_of_two_calls_are_two_arrays():
    f = pytensor.function([x], Out(x * 2, borrow=True), mode="FRAZIL")
    first, second = f(VALUE), f(VALUE + 1)
    assert [first.tolist(), second.tolist()] == [[2.0, 4.0], [4.0, 6.0]]


@DEPRECATED
def test_results_may_have_names():
    if not OLD:
        with pytest.raises(TypeError, match="Outputs must be"):
            pytensor.function([x], {"all": x + 1, "sum": x.sum()}, mode="FRAZIL")
        return
    f = pytensor.function([x], {"all": x + 1, "sum": x.sum()}, mode="FRAZIL")
    assert {name: found.tolist() for name, found in f(VALUE).items()} == {"all": [2, 3], "sum": 3}


def test_a_function_of_updates_alone_has_no_results():
    total = pytensor.shared(0.0)
    g = pytensor.function([x], updates={total: x.sum()}, mode="FRAZIL")
    assert not g(VALUE)
    assert float(total.get_value()) == 3.0


def test_updates_read_what_was_before_the_call():
    first, second = pytensor.shared(VALUE.copy()), pytensor.shared(VALUE + 5)
    f = pytensor.function([], first, updates={first: second, second: first}, mode="FRAZIL")
    assert f().tolist() == [1.0, 2.0]
    assert [first.get_value().tolist(), second.get_value().tolist()] == [[6.0, 7.0], [1.0, 2.0]]


@pytest.mark.parametrize("update", [lambda s: x, lambda s: s + x], ids=["argument", "result"])
def test_an_updated_value_is_nobody_elses(update):
    shared = pytensor.shared(VALUE.copy())
    value = VALUE * 3
    f = pytensor.function([x], update(shared), updates={shared: update(shared)}, mode="FRAZIL")
    result = f(value)
    kept = shared.get_value()
    result[:] = value[:] = 0.0
    assert shared.get_value().tolist() == kept.tolist()


def test_a_copy_may_have_other_shared_variables_and_no_updates():
    first, second = pytensor.shared(VALUE.copy()), pytensor.shared(VALUE * 10)
    f = pytensor.function([x], first + x, updates={first: first + 1}, mode="FRAZIL")
    swapped, still = f.copy(swap={first: second}), f.copy(delete_updates=True)
    assert swapped(VALUE).tolist() == [11.0, 22.0]
    assert still(VALUE).tolist() == still(VALUE).tolist() == [2.0, 4.0]
    assert [first.get_value().tolist(), second.get_value().tolist()] == [[1, 2], [11, 21]]


def test_a_profile_counts_calls_under_the_functions_name():
    f = pytensor.function([x], pt.exp(x).sum(), mode="FRAZIL", profile=True, name="mine")
    f(VALUE)
    f(VALUE)
    printed = io.StringIO()
    f.profile.summary(file=printed)
    assert f.name == "mine"
    assert f.profile.fct_callcount == 2
    assert "in 2 calls" in printed.getvalue()


def test_a_failed_compile_leaves_shared_variables_and_graph_as_they_were():
    sparse, total = pytensor.sparse.csr_matrix("s"), pytensor.shared(1.0, "total")
    graph = pt.exp(x).sum() + total
    before = pytensor.dprint(graph, file="str")
    for mode in ("FRAZIL", pytensor.compile.get_mode("FRAZIL").including("fusion")):
        with pytest.raises(NotImplementedError):
            pytensor.function([x, sparse], [graph, sparse * 2], updates={total: graph}, mode=mode)
    assert pytensor.dprint(graph, file="str") == before
    assert float(total.get_value()) == 1.0
    f = pytensor.function([x], graph, updates={total: graph}, mode="FRAZIL")
    assert float(f(np.zeros(2))) == float(total.get_value()) == 3.0


def _by_another(x, lead, product):
    """The gradients of a cost, by a variable on its way, and what is known of that one."""
    y = x * 3.0
    z = y * y
    g, cost = y * 0 + 10.0, z.sum()
    return {
        "on the way": lead((z * x).sum(), x, known_grads={y: g}),
        "the cost": lead(cost, x, known_grads={cost: cost * 0 + 5.0}),
        "beside": lead((x * x).sum(), x, known_grads={y: g}),
        "asked for": lead(cost, y, known_grads={y: g}),
        "two": lead((z + y).sum(), x, known_grads={z: z * 0 + 2.0, y: g}),
        "two alone": lead(None, x, known_grads={z: z * 0 + 2.0, y: g}),
        "constant": lead((z * x).sum(), x, known_grads={y: g}, consider_constant=[y]),
        "behind the cost": lead(cost, x, known_grads={x.sum() + cost: cost * 0 + 5.0}),
        "the cost and behind": lead(cost, cost, known_grads={x + cost: g}),
        "one output": product(z, x, y),
    }


def test_a_known_gradient_is_what_it_is_to_pytensor():
    # Newer PyTensors warn of the older name.
    product = getattr(pytensor.gradient, "pullback", None) or pytensor.gradient.Lop
    theirs = _by_another(x, pytensor.grad, product)
    own = ft.vector("x")
    ours = _by_another(own, fz.grad, fz.Lop)
    call = pytensor.function([x], list(theirs.values()), mode="FAST_COMPILE")
    found = fz.function([own], list(ours.values()), mode="py")(VALUE)
    for name, left, right in zip(theirs, call(VALUE), found, strict=True):
        np.testing.assert_array_equal(left, right, err_msg=name)
