"""Rules that bring values nearer to what is meant: never further off, finite where it is."""

from functools import cache

import numpy as np
import pytest
from exact import evaluate, rounded
from hypothesis import given, settings
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft
from frazil.compile.phases import optimize
from frazil.rewrite import factors

HUGE = np.array([-1000.0, -740.0, -100.0, -37.5, -2.0, -1e-3, -1e-17, 0.0, 1e-17, 0.3, 5.0, 40.0])
HUGE = np.concatenate([HUGE, [100.0, 712.0, 1000.0]])
BELOW = np.array([-1000.0, -740.0, -40.0, -3.0, -0.7, -0.1, -1e-5, -1e-17, -1e-300])
ABOVE = np.array([1e-300, 1e-200, 1e-17, 0.4, 1.0, 7.0, 1e17, 1e200, 1e300])
FEW = np.array([1e-200, 1e-180, 3.0])
ROWS = np.array([[-1000.0, 3.0, 1000.0], [-900.0, -901.0, -902.0], [2.5, 1.25, -0.4]])

x = ft.vector("x")
y = ft.vector("y")
m = ft.matrix("m")
w = ft.vector("w")
W = ft.matrix("W")
s = ft.scalar("s")
exp, log = ft.exp, ft.log

OVER_ALL = {
    "log(1 + exp(x))": log(1 + exp(x)),
    "log1p(exp(x))": ft.log1p(exp(x)),
    "log(1 + exp(-x))": log(1 + exp(-x)),
    "logaddexp(0, x)": ft.logaddexp(0, x),
    "1 / (1 + exp(-x))": 1 / (1 + exp(-x)),
    "exp(x) / (1 + exp(x))": exp(x) / (1 + exp(x)),
    "exp(-x) / (1 + exp(-x))**2": exp(-x) / (1 + exp(-x)) ** 2,
    "log of the logistic density": log(exp(-x) / (1 + exp(-x)) ** 2),
    "1 - sigmoid(x)": 1 - ft.sigmoid(x),
    "log(sigmoid(x))": log(ft.sigmoid(x)),
    "log(1 - sigmoid(x))": log(1 - ft.sigmoid(x)),
    "log1p(-sigmoid(x))": ft.log1p(-ft.sigmoid(x)),
    "log(1 / (1 + exp(-x)))": log(1 / (1 + exp(-x))),
    "log odds": log(ft.sigmoid(x) / (1 - ft.sigmoid(x))),
    "exp(x) - 1": exp(x) - 1,
    "1 - exp(x)": 1 - exp(x),
    "log(exp(x) / 3)": log(exp(x) / 3),
    "log(3 / exp(x))": log(3 / exp(x)),
    "log(exp(x))": log(exp(x)),
    "log1p(expm1(x))": ft.log1p(ft.expm1(x)),
    "normal log density": log(exp(-(x**2) / 2) / 2.5),
    "expm1(softplus(x))": ft.expm1(ft.softplus(x)),
}
OVER_NEGATIVE = {
    "log(1 - exp(x))": log(1 - exp(x)),
    "log1p(-exp(x))": ft.log1p(-exp(x)),
    "log(-expm1(x))": log(-ft.expm1(x)),
}
OVER_POSITIVE = {
    "log(1 + x)": log(1 + x),
    "log(x**2)": log(x**2),
    "log(sqrt(x))": log(ft.sqrt(x)),
    "log(1 / x)": log(1 / x),
    "sqrt(x**2)": ft.sqrt(x**2),
    "log(|x|**3)": log(abs(x) ** 3.0),
    "exp(log(|x|))": exp(log(abs(x))),
    "expm1(log1p(|x|))": ft.expm1(ft.log1p(abs(x))),
    "exp(log1p(|x|))": exp(ft.log1p(abs(x))),
}
OVER_FEW = {"log(prod(|x|))": log(ft.prod(abs(x)))}
OVER_ROWS = {
    "log(sum(exp(m)))": log(ft.sum(exp(m))),
    "log(sum(exp(m), 0))": log(ft.sum(exp(m), axis=0)),
    "log(sum(exp(m), 1))": log(ft.sum(exp(m), axis=1)),
    "log(sum(exp(m), 1, keepdims))": log(ft.sum(exp(m), axis=1, keepdims=True)),
    "log(mean(exp(m), 1))": log(ft.mean(exp(m), axis=1)),
    "log(sum(W exp(m), 1))": log(ft.sum(ft.constant([0.2, 0.3, 0.5]) * exp(m), axis=1)),
    "log(exp + exp)": log(exp(m) + exp(-m)),
    "softmax over 1": exp(m) / ft.sum(exp(m), axis=1, keepdims=True),
    "softmax over 0": exp(m) / ft.sum(exp(m), axis=0),
    "softmax over all": exp(m) / ft.sum(exp(m)),
    "log(softmax)": log(exp(m) / ft.sum(exp(m), axis=1, keepdims=True)),
}
CASES = {
    name: (expression, variable, values)
    for group, variable, values in (
        (OVER_ALL, x, HUGE),
        (OVER_NEGATIVE, x, BELOW),
        (OVER_POSITIVE, x, ABOVE),
        (OVER_FEW, x, FEW),
        (OVER_ROWS, m, ROWS),
    )
    for name, expression in group.items()
}
NO_GRADIENT = {"exp(x) - 1", "1 - exp(x)", "expm1(softplus(x))", "sqrt(x**2)", "log(|x|**3)"}
NO_GRADIENT |= {"log(prod(|x|))"}
"""Those whose gradients overflow as they should, or have no better form."""

CANCEL = {"exp(-x) / (1 + exp(-x))**2", "log of the logistic density"}
"""Those whose gradients are differences that have a zero."""

by_case = pytest.mark.parametrize("name", CASES)


def compiled(expression, variable, mode):
    return fz.function([variable], expression, mode=mode)


@cache
def as_written(expression, variable):
    """The function that computes the formula without any rule."""
    return compiled(expression, variable, fz.Mode("py").excluding("all"))


_truths = {}


def truth_of(expression, variable, values):
    """The floats nearest to what a formula means: 900 digits take long, and serve all linkers."""
    key = expression, values.tobytes()
    if key not in _truths:
        _truths[key] = rounded(evaluate(expression, {variable: values}), variable.dtype)
    return _truths[key]


DIFFERENCES = ("log(exp(x) / 3)", "log(3 / exp(x))")
"""What becomes the difference of its operand and a number."""


def scale_of(truth, cancels):
    """What an error is compared with: the value, or the largest one where terms cancel."""
    finite = np.abs(truth[np.isfinite(truth)])
    return np.maximum(np.abs(truth), finite.max(initial=0) if cancels else 0)


def assert_stable(expression, variable, values, mode, what, cancels=False):
    stable = compiled(expression, variable, mode)
    dtype = variable.dtype
    with np.errstate(all="ignore"):
        truth = truth_of(expression, variable, values)
        found, before = stable(values), as_written(expression, variable)(values)
        finite = np.isfinite(truth)
        assert np.isfinite(found[finite]).all(), (what, values, truth, found)
        np.testing.assert_array_equal(found[~finite], truth[~finite], err_msg=what)
        allowed = 16 * np.finfo(dtype).eps * scale_of(truth, cancels) + np.finfo(dtype).tiny
        error, error_before = np.abs(found - truth), np.abs(before - truth)
        worse = (error > allowed) & ~(error <= error_before)
        assert not worse[finite].any(), (what, values, truth, found, before)


@by_case
def test_values_are_no_further_off_than_they_were(name, mode):
    expression, variable, values = CASES[name]
    assert_stable(expression, variable, values, mode, name)


def gradient(name):
    expression, variable, values = CASES[name]
    weights = ft.constant(1.0)
    if expression.ndim == 2 and not expression.broadcastable[1]:
        weights = ft.constant([[0.5, 1.0, 1.5], [1.5, 0.25, 1.0], [2.0, 0.4, 0.75]])
    elif expression.ndim and variable is m:
        weights = ft.constant([0.5, 1.0, 1.5])
    cost = ft.sum(expression * weights) if expression.ndim else expression
    return fz.grad(cost, variable), variable, values


@pytest.mark.parametrize("name", [name for name in CASES if name not in NO_GRADIENT])
def test_gradients_are_stable_too(name, mode):
    expression, variable, values = gradient(name)
    cancels = name in CANCEL or variable is m
    assert_stable(expression, variable, values, mode, f"the gradient of {name}", cancels)


@by_case
def test_something_is_gained(name):
    """Each is rewritten: the careless form is gone."""
    expression, variable, _ = CASES[name]
    graph = fz.FrozenFunctionGraph([variable], [expression])
    plain, unstable = (optimize(graph, frozenset(left)).graph for left in ((), ("stabilize",)))
    assert plain is not unstable


@settings(max_examples=30)
@given(
    name=st.sampled_from([*OVER_ALL]),
    values=st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=6),
)
def test_any_values(name, values):
    expression, variable, _ = CASES[name]
    cancels = name in DIFFERENCES
    if cancels:
        values = [*values, 3.0]  # near its zero the error is compared with the value here
    assert_stable(expression, variable, np.array(values), "py", name, cancels)


@pytest.mark.parametrize("function", [ft.softmax, ft.log_softmax, ft.logsumexp])
@pytest.mark.parametrize("shape", [(1,), (1, 3), (3, 1), (1, 1), (1, 2, 1)])
def test_dimensions_of_length_one_are_no_reason_to_go_on(function, shape):
    """What is one term has no largest term to be taken from it."""
    x = ft.tensor("x", shape=shape)
    value = np.linspace(-2, 3, np.prod(shape)).reshape(shape)
    for axis in (None, *range(len(shape))):
        careless = fz.Mode("py").excluding("all")
        found, wanted = (fz.function([x], function(x, axis), mode=m) for m in ("py", careless))
        np.testing.assert_allclose(found(value), wanted(value), rtol=1e-12, atol=1e-12)


def test_signs_of_exponentials(mode):
    x = ft.vector("x")
    value = np.array([-np.inf, -1e300, -800.0, 0.0, 800.0, np.inf, np.nan])
    outputs = [ft.sign(ft.exp(x)), ft.exp(x) > 0, ft.le(ft.exp(x), 0), ft.exp(x) <= 0]
    sign, *compared = fz.function([x], outputs, mode=mode)(value)
    np.testing.assert_array_equal(sign, [0, 1, 1, 1, 1, 1, np.nan])
    positive = [False, True, True, True, True, True, False]
    for found, wanted in zip(compared, (positive, value == -np.inf, value == -np.inf), strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_an_expression_is_searched_once_in_a_compilation(monkeypatch):
    searched = []
    search = factors._cancelled
    monkeypatch.setattr(
        factors, "_cancelled", lambda x, kept: searched.append(x) or search(x, kept)
    )
    x, y = ft.vector("x"), ft.vector("y")
    optimize(fz.FrozenFunctionGraph([x, y], [(ft.exp(x) * y) * ft.sigmoid(y)]), frozenset())
    assert searched
    assert len(set(searched)) == len(searched)
    factors.cancelled(searched[0])
    factors.cancelled(searched[0])
    assert len(searched) == len(set(searched)) + 2  # nothing is kept for longer
