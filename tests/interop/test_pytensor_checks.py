"""PyTensor's checks: what fails raises what the op says, and nothing is updated."""

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from conditionals import ifelse
from pytensor.raise_op import Assert, CheckAndRaise

import frazil as fz
from frazil.interop.pytensor import from_pytensor


def test_a_check_raises_and_updates_nothing():
    x, total = pt.dscalar("x"), pytensor.shared(0.0)
    checked = CheckAndRaise(OverflowError, "x is too large")(x, pt.lt(x, 3.0))
    again = Assert("x is negative")(checked, pt.ge(x, 0.0))
    f = pytensor.function([x], again * 2, updates={total: total + again}, mode="FRAZIL")
    assert float(f(2.0)) == 4.0
    with pytest.raises(OverflowError, match="too large"):
        f(5.0)
    with pytest.raises(AssertionError, match="negative"):
        f(-1.0)
    assert float(total.get_value()) == 2.0


def test_a_check_of_a_branch_is_made_where_the_branch_is_taken():
    x = pt.dscalar("x")
    checked = Assert("x is negative")(x, pt.ge(x, 0.0))
    f = pytensor.function([x], ifelse(pt.ge(x, 0.0), pt.sqrt(checked), -x), mode="FRAZIL")
    assert [float(f(4.0)), float(f(-4.0))] == [2.0, 4.0]


def test_a_check_of_a_loop_is_made_in_each_step():
    x = pt.dvector("x")
    checked = pytensor.scan(
        lambda element: Assert("an element is negative")(element, pt.ge(element, 0.0)),
        sequences=x,
        return_updates=False,
    )
    f = pytensor.function([x], checked, mode="FRAZIL")
    assert f(np.ones(2)).tolist() == [1.0, 1.0]
    with pytest.raises(AssertionError, match="element is negative"):
        f(np.array([1.0, -1.0]))


def test_what_is_checked_has_gradients_in_frazil():
    x = pt.dvector("x")
    checked = CheckAndRaise(OverflowError, "x is too large")(x, pt.lt(x.max(), 3.0))
    cost, inputs = from_pytensor(pt.sqr(checked).sum())
    slope = fz.function([inputs[x]], fz.grad(cost, inputs[x]))
    assert slope([1.0, 2.0]).tolist() == [2.0, 4.0]
    with pytest.raises(OverflowError, match="too large"):
        fz.function([inputs[x]], [cost, fz.grad(cost, inputs[x])])([1.0, 5.0])


def test_checks_whose_result_nobody_needs_are_not_made():
    x = pt.dvector("x")
    never = Assert("never")
    lengths = pt.stack([never(x.shape[0], pt.eq(x.sum(), -1.0)), x.shape[0] + 1])
    f = pytensor.function(
        [x], [pt.zeros(lengths[1]), never(x, x.sum() < 0).shape[0]], mode="FRAZIL"
    )
    zeros, length = f(np.ones(2))
    assert (zeros.shape, length) == ((3,), 2)
    kept = pytensor.function([x], [pt.zeros(lengths[0]), pt.ones(lengths[1])], mode="FRAZIL")
    with pytest.raises(AssertionError, match="never"):
        kept(np.ones(2))
