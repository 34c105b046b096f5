"""Scans over a batch whose elements end at different steps."""

import numpy as np
import pytest
from agreement import MODES

import frazil as fz
import frazil.tensor as ft
from frazil.scan.op import Scan

v, m = ft.dvector("v"), ft.dmatrix("m")
VALUES = np.abs(np.random.default_rng(0).normal(size=(5, 7)))

_last = fz.reduce(
    lambda x, s: (s + x, fz.until(s + x > 1)), v, ft.constant(0.0), return_updates=False
)
_sums = fz.scan(
    lambda x, s: (s + x, fz.until(s + x > 1)), v, ft.constant(0.0), return_updates=False
)
_sines = fz.scan(lambda x: (ft.sin(x), fz.until(x > 1)), v, return_updates=False)


def sums(row):
    ends = np.cumsum(row) > 1
    return np.cumsum(row)[: np.argmax(ends) + 1 if ends.any() else len(row)]


def sines(row):
    ends = row > 1
    return np.sin(row[: np.argmax(ends) + 1 if ends.any() else len(row)])


ENDS = {
    "reduce": (_last, lambda row: sums(row)[-1]),
    "the last row of a state": (_sums[-1], lambda row: sums(row)[-1]),
    "the last row of no state": (_sines[-1], lambda row: sines(row)[-1]),
    "two last rows": (_sines[-1] * _sums[-1], lambda row: sines(row)[-1] * sums(row)[-1]),
}
WHOLES = {
    "a sum": (ft.sum(_sums), lambda row: sums(row).sum()),
    "a mean beside a last row": (
        ft.mean(_sines) + _sines[-1],
        lambda row: sines(row).mean() + sines(row)[-1],
    ),
    "a row before the last": (
        ft.concatenate([ft.zeros(2), _sums])[-2],
        lambda row: [0, 0, *sums(row)][-2],
    ),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", [*ENDS, *WHOLES])
def test_each_element_ends_at_its_own_step(mode, name):
    result, of_row = (ENDS | WHOLES)[name]
    whole = fz.vectorize(result, {v: m})
    slopes = fz.grad(ft.sum(whole), m)
    each = fz.vectorize(fz.grad(result, v), {v: m})
    found, *gradients = fz.function([m], [whole, slopes, each], mode=mode)(VALUES)
    np.testing.assert_allclose(found, [of_row(row) for row in VALUES])
    steps = 1e-6 * np.eye(7)
    differences = [[(of_row(row + h) - of_row(row - h)) / 2e-6 for h in steps] for row in VALUES]
    for gradient in gradients:
        np.testing.assert_allclose(gradient, differences, atol=1e-6)


@pytest.mark.parametrize("name", ENDS)
def test_last_rows_are_computed_for_the_batch_at_once(name):
    result, _ = ENDS[name]
    order = fz.FrozenFunctionGraph([m], [fz.vectorize(result, {v: m})]).toposort()
    scans = [node for node in order if isinstance(node.op, Scan)]
    assert all(node.op.until and not node.op.stacked for node in scans)


@pytest.mark.parametrize("mode", MODES)
def test_the_last_row_of_no_step_is_not_there(mode):
    f = fz.function([m], fz.vectorize(_sums[-1], {v: m}), mode=mode)
    with pytest.raises(IndexError, match="index -1 is out of bounds for axis 0 with size 0"):
        f(np.ones((2, 0)))
    start = fz.function([m], fz.vectorize(_last, {v: m}), mode=mode)
    np.testing.assert_array_equal(start(np.ones((2, 0))), [0, 0])


@pytest.mark.parametrize("mode", MODES)
def test_stacks_are_returned_if_all_have_one_length(mode):
    f = fz.function([m], fz.vectorize(_sums, {v: m}), mode=mode)
    np.testing.assert_allclose(f(np.full((2, 7), 0.3)), [[0.3, 0.6, 0.9, 1.2]] * 2)
    with pytest.raises(ValueError, match="shape"):
        f([[0.3] * 7, [2.0] * 7])


def test_truncated_gradients_stay_truncated():
    last = fz.scan(
        lambda x, s: (s * x, fz.until(s * x > 50)),
        v,
        ft.constant(1.0),
        truncate_gradient=2,
        return_updates=False,
    )[-1]
    whole = fz.vectorize(last, {v: m})
    values = np.array([[2.0, 3.0, 4.0, 5.0], [60.0, 3.0, 4.0, 5.0]])
    slope = fz.function([m], fz.grad(ft.sum(whole), m))(values)
    each = fz.function([v], fz.grad(last, v))
    np.testing.assert_allclose(slope, [each(row) for row in values])
