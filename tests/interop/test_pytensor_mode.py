"""PyTensor's functions in the mode "FRAZIL", as its users call them."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytensor
import pytensor.sparse
import pytensor.tensor as pt
import pytest
from pytensor.graph.op import Op

import frazil as fz
import frazil.tensor as ft
from frazil.interop.pytensor import NoRule, compiled_function, from_pytensor, register


def test_a_function_computes():
    x = pt.dvector("x")
    f = pytensor.function([x], x + 1, mode="FRAZIL")
    assert f([1.0, 2.0]).tolist() == [2.0, 3.0]
    assert "add" in str(compiled_function(f).explain())


def test_a_shared_variable_is_pytensors():
    x, total = pt.dvector("x"), pytensor.shared(np.zeros(2), "total")
    f = pytensor.function([x], total.sum(), updates={total: total + x}, mode="FRAZIL")
    assert [float(f([1.0, 2.0])), float(f([1.0, 2.0]))] == [0.0, 3.0]
    assert total.get_value().tolist() == [2.0, 4.0]
    total.set_value(np.array([10.0, 10.0]))
    assert float(f([0.0, 1.0])) == 20.0
    assert total.get_value().tolist() == [10.0, 11.0]


def test_a_shared_value_is_read_where_it_lies():
    values = np.zeros(1000)
    data = pytensor.shared(values, borrow=True)
    f = pytensor.function([], data.sum(), mode="FRAZIL")
    assert float(f()) == 0.0
    values[:] = 1.0
    assert float(f()) == 1000.0


def test_givens_are_replaced():
    x, y, z = pt.dscalar("x"), pt.dscalar("y"), pt.dscalar("z")
    f = pytensor.function([z, y], x * y, givens={x: z + 1}, mode="FRAZIL")
    assert float(f(1.0, 3.0)) == 6.0
    assert float(f(1.0, y=5.0)) == 10.0


def test_results_are_the_callers():
    x = pt.dvector("x")
    f = pytensor.function([x], [x, x[::-1]], mode="FRAZIL")
    value = np.array([1.0, 2.0])
    same, back = f(value)
    same[0] = back[0] = 9.0
    assert value.tolist() == [1.0, 2.0]


def test_the_mode_may_be_the_default():
    x = pt.dscalar("x")
    with pytensor.config.change_flags(mode="FRAZIL"):
        f = pytensor.function([x], pt.exp(x))
    assert compiled_function(f)(0.0)[0] == 1.0
    with pytest.raises(ValueError, match="Expected one of"):
        pytensor.config.mode = "FRAZILE"


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda f: pickle.loads(pickle.dumps(f))])
def test_copies_have_shared_variables_of_their_own(copied):
    x, total = pt.dscalar("x"), pytensor.shared(0.0, "total")
    f = pytensor.function([x], total, updates={total: total + x}, mode="FRAZIL")
    f(1.0)
    g = copied(f)
    assert [float(g(10.0)), float(g(10.0))] == [1.0, 11.0]
    assert float(total.get_value()) == 1.0


class Doubled(Op):
    itypes, otypes = (pt.dvector,), (pt.dvector,)

    def perform(self, node, inputs, outputs):
        outputs[0][0] = inputs[0] * 2


class DoubledInPlace(Doubled):
    destroy_map = {0: [0]}  # noqa: RUF012

    def perform(self, node, inputs, outputs):
        inputs[0] *= 2
        outputs[0][0] = inputs[0]


class Tripled(Op):
    itypes, otypes = (pt.dvector,), (pt.dvector,)

    def perform(self, node, inputs, outputs):
        raise AssertionError("the rule computes it")


def test_an_op_without_a_rule_runs_and_is_named_once():
    x = pt.dvector("x")
    with pytest.warns(UserWarning, match="no rule for PyTensor's op Doubled"):
        f = pytensor.function([x], Doubled()(x) + 1, mode="FRAZIL")
    pytensor.function([x], Doubled()(x) + 2, mode="FRAZIL")  # a warning would be an error
    assert f([1.0]).tolist() == [3.0]
    assert "PyTensor's Doubled" in str(compiled_function(f).explain())


def test_an_op_of_a_function_runs_too():
    class Halved(Op):
        itypes, otypes = (pt.dvector,), (pt.dvector,)

        def perform(self, node, inputs, outputs):
            outputs[0][0] = inputs[0] / 2

    x = pt.dvector("x")
    with pytest.warns(UserWarning, match="Halved"):
        f = pytensor.function([x], Halved()(x), mode="FRAZIL")
    assert f([3.0]).tolist() == [1.5]


@pytest.mark.filterwarnings("ignore:frazil has no rule")
def test_an_op_that_destroys_its_input_destroys_a_copy():
    x, data = pt.dvector("x"), pytensor.shared(np.ones(2))
    outputs = [DoubledInPlace()(x + data), data * 1]
    f = pytensor.function([x], outputs, mode="FRAZIL", accept_inplace=True)
    assert [found.tolist() for found in f([0.0, 1.0])] == [[2.0, 4.0], [1.0, 1.0]]
    assert data.get_value().tolist() == [1.0, 1.0]


def test_a_rule_of_ones_own():
    @register(Tripled)
    def _(op, node, x):
        return x * 3

    x = pt.dvector("x")
    f = pytensor.function([x], Tripled()(x), mode="FRAZIL")
    assert f([2.0]).tolist() == [6.0]
    assert "PyTensor" not in str(compiled_function(f).explain())


def test_what_has_no_counterpart_is_one_error_and_nothing_is_left():
    x, s = pt.dvector("x"), pytensor.sparse.csr_matrix("s")
    with pytest.raises(NoRule, match=r"input s .*Sparse"):
        pytensor.function([s], s * 2, mode="FRAZIL")
    assert pytensor.function([x], x * 2, mode="FRAZIL")([1.0]).tolist() == [2.0]


def test_numbers_that_frazil_lacks_are_named_with_the_line_that_made_them():
    x = pt.dvector("x")
    total = pytensor.sparse.csr_from_dense(pt.outer(x, x)).sum()
    with pytest.raises(NoRule, match=r"made at .*test_pytensor_mode") as error:
        pytensor.function([x], total, mode="FRAZIL")
    assert "no counterpart in frazil" in str(error.value)


def test_a_graph_goes_on_in_frazil():
    x, a = pt.dvector("x"), pytensor.shared(2.0, "a")
    cost, inputs = from_pytensor((a * pt.sqr(x)).sum())
    assert set(inputs) == {a, x}
    f = fz.function([inputs[a], inputs[x]], fz.grad(cost, inputs[x]))
    assert f(2.0, [1.0, 2.0]).tolist() == [4.0, 8.0]
    given = ft.dvector("given")
    both, _ = from_pytensor([x + 1, x.sum()], {x: given})
    assert [found.tolist() for found in fz.function([given], both)([1.0, 2.0])] == [[2.0, 3.0], 3.0]


def test_bad_input_is_told_with_the_variables_name():
    x = pt.dmatrix("named")
    f = pytensor.function([x], x * 2, mode="FRAZIL")
    with pytest.raises(TypeError, match="Wrong number of dimensions"):
        f([1.0])


def test_an_error_of_a_call_names_the_variable_and_the_line_that_made_the_node():
    x, y = pt.dvector("first"), pt.dvector("second")
    f = pytensor.function([x, y], pt.exp(x) + y, mode="FRAZIL")
    here = test_an_error_of_a_call_names_the_variable_and_the_line_that_made_the_node.__code__
    with pytest.raises(ValueError, match=r"second.*has length 3") as told:
        f(np.ones(2), np.ones(3))
    assert f"first built at {__file__}:{here.co_firstlineno + 2} in" in str(told.value)


def test_arguments_of_other_types_go_pytensors_way():
    x = pt.dvector("x")
    f = pytensor.function([x], x * 2, mode="FRAZIL")
    for value in ([1, 2], np.array([1, 2]), np.array([1.0, 2.0], ">f8"), np.arange(4.0)[1:3]):
        assert f(value).tolist() == [2 * float(one) for one in value]
    assert f(x=np.ones(2)).tolist() == [2.0, 2.0]
    with pytest.raises(TypeError):
        f(np.ones(2, complex))


def test_static_lengths_are_checked():
    x = pt.tensor("x", dtype="float64", shape=(2,))
    f = pytensor.function([x], x * 2, mode="FRAZIL")
    assert f(np.ones(2)).tolist() == [2.0, 2.0]
    with pytest.raises(TypeError, match="shape"):
        f(np.ones(3))


def test_calls_may_run_in_many_threads():
    x = pt.dvector("x")
    f = pytensor.function([x], pt.exp(x).cumsum() - x, mode="FRAZIL")
    values = [np.full(2000, at / 100) for at in range(40)]
    wanted = [f(value) for value in values]
    with ThreadPoolExecutor(4) as pool:
        for own, one in zip(pool.map(f, values), wanted, strict=True):
            np.testing.assert_array_equal(own, one)
