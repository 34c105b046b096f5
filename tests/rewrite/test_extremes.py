"""What is finite as it is written stays finite, and what else docs/differences.md says of rules."""

import re
from decimal import Decimal
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from exact import ELEMENTWISE, values_of
from extremes import arguments, is_elementwise, sides
from test_rules import as_written

import frazil as fz
import frazil.tensor as ft
from frazil import _core
from frazil.rewrite import SPECIALIZE, STABILIZE, rewrite
from frazil.rewrite.rules.cheaper import whole_power
from frazil.scalar.elemwise import Elemwise

DIFFERENCES = Path(__file__).parents[2] / "docs" / "differences.md"
RULES = (*STABILIZE, *SPECIALIZE)
EXPONENTS = (0.5, 1.5, -0.5, -1.5, -2.0, -3.0, -4.0, 3.0, 16.0)
DTYPES = ("float64", "float32")
IN_ANY_ORDER = {"sum_of_sum", "prod_of_prod", "sum_of_transposed", "prod_of_transposed"}
"""Rules by which many are added or multiplied in another order, in which they may overflow."""

SIGN, LIMIT, LOST = "the sign of a zero", "a number, not NaN", "NaN"


def samples(rule, dtype):
    yield sides(rule, dtype)
    if rule is whole_power:
        x = ft.vector("x", dtype=dtype)
        for exponent in EXPONENTS:
            left = x ** ft.constant(exponent, dtype)
            yield left, rewrite(left, [rule]).graph


@cache
def measured(rule, dtype):
    """Sides, the inputs of both, and for many arguments: these and both values."""
    rng = np.random.default_rng(3)
    results = []
    for left, right in samples(rule, dtype):
        inputs = list(_core.root_inputs([left, right]))
        f = as_written(inputs, [left, right], "py")
        elementwise = is_elementwise(left, right)
        for arrays in arguments(inputs, 1 if elementwise else 60, rng):
            with np.errstate(all="ignore"):
                before, after = f(*arrays)
            results.append((left, right, inputs, arrays, before, after, elementwise))
    return results


def exact_values(variable, inputs, arrays, at, elementwise):
    """The exact values of all that ``variable`` is computed from; of one element if possible."""
    if elementwise:
        arrays = [array[at] for array in arrays]
    return values_of(variable, dict(zip(inputs, arrays, strict=True)))


def can_be_evaluated(x):
    """Whether the exact arithmetic knows all that ``x`` is computed from."""
    ops = (node.op for node in _core.toposort([x]))
    return all(isinstance(op, Elemwise) and op.scalar_op.name in ELEMENTWISE for op in ops)


by_rule = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
by_dtype = pytest.mark.parametrize("dtype", DTYPES)


@by_dtype
@by_rule
def test_what_is_finite_stays_finite(rule, dtype):
    """Unless the real value is beyond the largest float."""
    if rule.name in IN_ANY_ORDER:
        assert f"`{rule.name}`" in DIFFERENCES.read_text()
        return
    largest = float(np.finfo(dtype).max)
    for left, _, inputs, arrays, before, after, elementwise in measured(rule, dtype):
        for at in np.argwhere(np.isfinite(before) & ~np.isfinite(after)):
            at = tuple(at)
            point = [array[at] if elementwise else array for array in arrays]
            if rule is whole_power and point[0] == -np.inf:
                continue  # as docs/differences.md says
            assert can_be_evaluated(left), (rule.name, point, before[at], after[at])
            truth = exact_values(left, inputs, arrays, at, elementwise)[left]
            assert abs(truth) > largest, (rule.name, point, before[at], after[at])


@by_dtype
@by_rule
def test_digits_may_be_lost_but_not_all(rule, dtype):
    """Where both differ, the right side is no further off than a few digits of what it adds."""
    tolerance, tiny = (1e-9 if dtype == "float64" else 1e-3), np.finfo(dtype).tiny
    rng = np.random.default_rng(1)
    for left, right, inputs, arrays, before, after, elementwise in measured(rule, dtype):
        if not (elementwise and can_be_evaluated(left) and can_be_evaluated(right)):
            continue
        # What is subnormal has lost digits before the rule has a say.
        ordinary = np.all([(a == 0) | (abs(a) >= tiny) & np.isfinite(a) for a in arrays], axis=0)
        with np.errstate(all="ignore"):
            apart = ~np.isclose(before, after, rtol=tolerance, atol=tiny)
        found = np.argwhere(ordinary & apart & np.isfinite(before) & np.isfinite(after))
        for at in map(tuple, rng.permutation(found)[:25]):
            truth = exact_values(left, inputs, arrays, at, elementwise)[left]
            values = exact_values(right, inputs, arrays, at, elementwise)
            if is_gathering(rule) and any(0 < v < Decimal(float(tiny)) for v in sizes(values)):
                continue  # partial products of what is left may vanish
            scale = max(abs(float(truth)), float(tiny), *map(float, _added(right, values)))
            off, off_before = (abs(float(side[at]) - float(truth)) for side in (after, before))
            assert off <= max(4 * off_before, tolerance * scale), (
                rule.name,
                [array[at] for array in arrays],
                (before[at], after[at], float(truth)),
            )


def is_gathering(rule):
    """Whether it takes out factors that stand apart in a product."""
    return getattr(rule.sides.right, "__name__", "") == "_cancelled"


def sizes(values):
    return [abs(v.item()) for v in values.values()]


def _added(x, values):
    """Sizes of what is added on the way to ``x``."""
    for node in _core.toposort([x]):
        if node.op.scalar_op.name in ("add", "sub"):
            yield from (abs(values[y]) for y in node.inputs if y in values)


def differences(rule):
    """What ``rule`` changes at NaN, infinities and zeros."""
    found = set()
    for dtype in DTYPES:
        for *_, arrays, before, after, elementwise in measured(rule, dtype):
            if before.dtype.kind != "f":
                continue
            zeros = (before == 0) & (after == 0)
            if (zeros & (np.signbit(before) != np.signbit(after))).any():
                found.add(SIGN)
            if not elementwise:
                continue
            nan = np.any([np.isnan(a) for a in arrays], axis=0)
            infinite = np.any([np.isinf(a) for a in arrays], axis=0) & ~nan
            assert not (nan & np.isnan(before) & ~np.isnan(after)).any(), rule.name
            if (infinite & np.isnan(before) & np.isfinite(after)).any():
                found.add(LIMIT)
            if (infinite & ~np.isnan(before) & np.isnan(after)).any():
                found.add(LOST)
    return found


def told():
    """What docs/differences.md says that each rule changes."""
    rows = re.findall(r"^\| (.*?) \| .*? \| (.*?) \|$", DIFFERENCES.read_text(), re.M)
    names = {what: set(re.findall(r"`(\w+)`", rules)) for what, rules in rows}
    return {what: names[what] for what in (SIGN, LIMIT, LOST)}


def test_the_documentation_names_each_rule_that_changes_what_is_special():
    changed = {what: set() for what in (SIGN, LIMIT, LOST)}
    for rule in RULES:
        for what in differences(rule):
            changed[what].add(rule.name)
    assert changed == told()


x, y, z = ft.vector("x"), ft.vector("y"), ft.vector("z")
single = ft.vector("single", dtype="float32")
s, one = ft.scalar("s"), ft.tensor("one", shape=(None, 1))
STAY_FINITE = {
    "0 / exp(x)": (y / ft.exp(x), {y: [0.0, 1e-200], x: [-720.0, -720.0]}),
    "0 / exp(s)": (y / ft.exp(s), {y: [0.0, 1e-200], s: -720.0}),
    "y / (exp(x) z)": (y / (ft.exp(x) * z), {y: [1e-200], x: [-720.0], z: [1e100]}),
    "(y / x**2) (x z)": ((y / x**2) * (x * z), {y: [1e200], x: [1e100], z: [1e200]}),
    "x**-2": (x**-2.0, {x: [1e160, 1e-150]}),
    "sum(x s)": (ft.sum(x * s), {x: [1e308, 1e308], s: 1e-3}),
    "sum(x c)": (ft.sum(x * 1e-3), {x: [1e308, 1e308]}),
    "sum(x / s) of nothing": (ft.sum(x / s), {x: [], s: 0.0}),
    "sum(s) of nothing": (ft.sum(ft.full_like(x, s)), {x: [], s: np.inf}),
    "mean in float32": (ft.sum(single / 1000), {single: [1e36] * 1000}),
    "log of weighted": (ft.log(ft.sum(y * ft.exp(x))), {y: [0.0, 1.0], x: [705.0, -100.0]}),
    "log(|x|**inf)": (ft.log(abs(x) ** ft.constant(np.inf)), {x: [1.0]}),
}


@pytest.mark.parametrize("name", STAY_FINITE)
def test_formulas_that_are_finite_stay_finite(name, mode):
    expression, given = STAY_FINITE[name]
    arrays = [np.array(value, v.dtype) for v, value in given.items()]
    with np.errstate(all="ignore"):
        found = fz.function(list(given), expression, mode=mode)(*arrays)
        wanted = as_written(list(given), expression, "py")(*arrays)
    assert np.isfinite(wanted).all()
    np.testing.assert_allclose(found, wanted, rtol=1e-5)


CANCEL = {
    "exp(x) / exp(x)": ft.exp(x) / ft.exp(x),
    "exp(x) exp(-x)": ft.exp(x) * ft.exp(-x),
    "2 exp(x) / (3 exp(x))": 1.5 * (2 * ft.exp(x) / (3 * ft.exp(x))),
    "softmax of one": ft.softmax(one, axis=1)[:, 0],
    "softmax of one, as written": (ft.exp(one) / ft.exp(one).sum(axis=1, keepdims=True))[:, 0],
}


@pytest.mark.parametrize("name", CANCEL)
def test_what_cancels_is_one_for_numbers_only(name, mode):
    (variable,) = _core.root_inputs([CANCEL[name]])
    value = np.array([np.nan, np.inf, -np.inf, 1e3, -1e3, 0.0])
    f = fz.function([variable], CANCEL[name], mode=mode)
    found = f(value if variable is x else value[:, None])
    np.testing.assert_array_equal(found, [np.nan, np.nan, np.nan, 1, 1, 1])
