"""Frazil's graphs as ops of PyTensor's."""

import pickle

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest

import frazil as fz
import frazil.tensor as ft
from frazil.interop.pytensor import compiled_function, from_pytensor, to_pytensor

x, k = ft.vector("x"), ft.lscalar("k")
OP = to_pytensor([x, k], [ft.sqrt(ft.sum(x**2)) * k, x * 2])
VALUE = np.array([3.0, 4.0])


@pytest.mark.parametrize("mode", ["FRAZIL", "FAST_COMPILE"])
def test_values_and_gradients_in_any_mode(mode):
    y, n = pt.dvector("y"), pt.lscalar("n")
    norm, twice = OP(y, n)
    outputs = [norm, twice, pytensor.grad(norm + twice.sum(), y), pytensor.grad(norm, y)]
    f = pytensor.function([y, n], outputs, mode=mode)
    found = [value.tolist() for value in f(VALUE, 2)]
    np.testing.assert_allclose(np.hstack(found), [10, 6, 8, 3.2, 3.6, 1.2, 1.6])


def test_in_frazils_mode_it_is_the_graph_itself():
    y = pt.dvector("y")
    f = pytensor.function([y], pt.exp(OP(y, 2)[0]).sum(), mode="FRAZIL")
    assert "PyTensor" not in str(compiled_function(f).explain())
    back, inputs = from_pytensor(OP(y, 2)[1])
    assert back is inputs[y] * 2


def test_equal_graphs_are_one_op_and_it_pickles():
    other = ft.vector("other")
    first = to_pytensor([x], x + 1)
    assert first == to_pytensor([other], other + 1)
    assert pickle.loads(pickle.dumps(first)) == first


def test_a_missing_input_is_named():
    with pytest.raises(ValueError, match="needs the variable k"):
        to_pytensor([x], x * k)
    shared = fz.shared(1.0, name="kept")
    with pytest.raises(ValueError, match="shared variable kept"):
        to_pytensor([x], x * shared)
    with pytest.raises(TypeError, match="takes 2 inputs, given 1"):
        OP(pt.dvector("y"))
