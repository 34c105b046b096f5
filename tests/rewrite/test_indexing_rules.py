"""Elements picked from each row: made without the matrix that they are of, to the same values."""

import numpy as np
import pytest
from agreement import compiled, like, modes
from hypothesis import given, settings
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft
from frazil import _core, pp
from frazil.compile.phases import optimize
from frazil.rewrite import SPECIALIZE, rewrite

m, v, w = ft.matrix("m"), ft.vector("v"), ft.vector("w")
j, k = ft.lvector("j"), ft.lvector("k")
rows, columns = ft.arange(m.shape[0]), ft.arange(m.shape[1])


def optimized(inputs, outputs):
    graph = optimize(fz.FrozenFunctionGraph(inputs, outputs), frozenset()).graph
    return [str(node.op) for node in graph.toposort()]


@pytest.mark.parametrize(
    "before", [ft.exp(m)[rows, j], ft.exp(m)[j, columns], ft.exp(m)[rows, 0 * j[0]]], ids=pp
)
def test_an_elementwise_result_is_had_where_it_is_picked(before):
    found = rewrite(before, SPECIALIZE).graph
    assert str(found.owner.op) == "exp"
    assert found.owner.inputs[0].owner.inputs[0] is m
    assert before.type == found.type


@pytest.mark.parametrize(
    "x",
    [
        ft.exp(m)[k, j],  # the same elements may be picked many times
        ft.exp(v)[k],
        ft.exp(m)[ft.arange(3), j],
        ft.exp(m)[ft.arange(m.shape[1]), j],
        ft.exp(m)[ft.arange(1, m.shape[0]), j],
        (m * ft.exp(m.T))[rows, j],  # lengths are compared when all is multiplied
    ],
    ids=pp,
)
def test_other_picks_stay(x):
    assert rewrite(x, SPECIALIZE).graph is x


def test_cross_entropy_makes_no_matrix_but_the_gradient():
    value = -ft.log_softmax(m, axis=1)[rows, j].mean()
    names = optimized([m, j], [value, fz.grad(value, m)])
    assert names.count("exp") == 1
    increments = [name for name in names if name.startswith("AdvancedIncSubtensor")]
    assert len(increments) == 1


def cross_entropy(x, at, weights, axis):
    """A weighted sum of the log-probabilities at ``at``, and its gradient, by NumPy."""
    if axis == 0:
        value, gradient = cross_entropy(x.T, at, weights, 1)
        return value, gradient.T
    shifted = x - x.max(axis=1, keepdims=True)
    totals = np.exp(shifted).sum(axis=1, keepdims=True)
    logarithms = shifted - np.log(totals)
    here = np.arange(len(x))
    gradient = -np.exp(logarithms) * weights[:, None]
    gradient[here, at] += weights
    return (logarithms[here, at] * weights).sum(), gradient


@settings(max_examples=30)
@given(data=st.data(), mode=modes, axis=st.sampled_from([0, 1]))
def test_cross_entropy(data, mode, axis):
    n, classes = data.draw(st.integers(1, 20)), data.draw(st.integers(1, 20))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    array = rng.normal(size=(n, classes)) * 3
    at, weights = rng.integers(-classes, classes, size=n), rng.normal(size=n)
    expected = cross_entropy(array, at, weights, 1)
    if axis == 0:
        array, expected = array.T.copy(), (expected[0], expected[1].T)
    x, index = like(data.draw, array, "x"), like(data.draw, at, "at")
    factors = like(data.draw, weights, "weights")
    here = ft.arange(x.shape[1 - axis])
    places = (here, index) if axis == 1 else (index, here)
    value = (ft.log_softmax(x, axis=axis)[places] * factors).sum()
    known = {x: array, index: at, factors: weights}
    found = compiled([value, fz.grad(value, x)], known, mode)
    for own, wanted in zip(found, expected, strict=True):
        np.testing.assert_allclose(own, wanted, rtol=1e-10, atol=1e-12)


@settings(max_examples=30)
@given(data=st.data(), mode=modes)
def test_picks_of_what_broadcasts(data, mode):
    n, length = data.draw(st.integers(1, 9)), data.draw(st.integers(1, 9))
    shapes = st.sampled_from([(n, length), (n, 1), (1, length), (length,), (1,), ()])
    drawn = [data.draw(shapes), data.draw(shapes), (n, 1), (1, length)]
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    arrays = [rng.normal(size=shape) for shape in drawn]
    at = rng.integers(-length, length, size=n)
    operands = [like(data.draw, array) for array in arrays]
    index = like(data.draw, at)
    a, b, c, d = operands
    result = (a * b + c - d)[ft.arange(n), index]
    found = compiled([result], {**dict(zip(operands, arrays, strict=True)), index: at}, mode)[0]
    a, b, c, d = arrays
    np.testing.assert_allclose(found, (a * b + c - d)[np.arange(n), at], rtol=1e-14)


@pytest.mark.parametrize("mode", ["py", "c", "cranelift", "numba"])
@pytest.mark.parametrize("wrong", [3, -4])
def test_indices_are_checked_still(mode, wrong):
    value = ft.log_softmax(m, axis=1)[rows, j].sum()
    array, at = np.zeros((2, 3)), np.array([0, wrong])
    for outputs in ([value], [fz.grad(value, m)]):
        f = fz.function([m, j], outputs, mode=mode)
        with pytest.raises(IndexError):
            f(array, at)


def test_a_sum_whose_indices_nothing_else_checks_stays():
    zeros = ft.zeros_like(m)
    sums = ft.inc_subtensor(zeros[rows, j], v).sum(axis=1)
    other = ft.inc_subtensor((m * sums[:, None])[rows, k], v)
    for x in (sums, other):
        names = [str(node.op) for node in _core.toposort([rewrite(x, SPECIALIZE).graph])]
        assert any(name.startswith("Sum") for name in names)
