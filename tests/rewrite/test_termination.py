"""The rules of each phase come to an end: every one lowers the order of :mod:`termination`."""

import itertools
import warnings

import numpy as np
import pytest
from examples import sample
from rule_cases import wildcards
from termination import AtPoints, is_lowered_everywhere

import frazil as fz
import frazil.tensor as ft
from frazil import _core
from frazil.compile.phases import PHASES
from frazil.rewrite import rewrite

RULES = tuple(itertools.chain.from_iterable(PHASES.values()))
LAWS = [rule for rule in RULES if isinstance(rule.sides.right, tuple)]


@pytest.mark.parametrize("rule", LAWS, ids=lambda rule: rule.name)
def test_a_law_lowers_the_order_whatever_its_parameters_stand_for(rule):
    own = [w for w in wildcards(rule) if isinstance(w.stands_for, tuple)]
    known = [x for x, p in zip(rule.unknowns, rule.parameters, strict=True) if p.sort.constant]
    for positions in itertools.product(*(range(len(w.stands_for)) for w in own)):
        choice = dict(zip(own, positions, strict=True))
        for left, right in zip(rule.sides.left, rule.sides.right, strict=True):
            assert is_lowered_everywhere(left, right, choice, known), (str(rule), positions)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_rule_lowers_the_order_in_its_example(rule):
    scale = AtPoints()
    for step in rewrite(sample(rule), [rule]).trace:
        assert scale.lowers(step.before, step.after), str(step)


@pytest.mark.parametrize("part", range(8))
def test_every_step_lowers_the_order_where_one_rule_meets_another(part):
    """The example of each rule, in each place of that of each other: all rules apply to it."""
    samples = [sample(rule) for rule in RULES]
    scale, seen = AtPoints(), set()
    for outer in samples[part::8]:
        leaves = _core.root_inputs([outer])
        both = [
            _core.graph_replace([outer], {leaf: inner})[0]
            for inner in samples
            for leaf in leaves
            if inner is not outer
            and leaf.type.accepts(inner.type)
            and leaf.broadcastable == inner.broadcastable
        ]
        for step in rewrite(both, RULES).trace:
            if step.before not in seen:
                seen.add(step.before)
                assert scale.lowers(step.before, step.after), str(step)


def variants_of_chi_square(y, a):
    """Pearson's statistic of counts ``y`` expected to be ``exp(a)``, as one may write it."""
    e = ft.exp(a)
    yield from ((y - e) ** 2 / e, (e - y) ** 2 / e, ft.sqr(y - e) / e, ((y - e) / ft.sqrt(e)) ** 2)
    yield from ((y - e) * (y - e) / e, (y - e) ** 2 * ft.exp(-a), (y / e - 1) ** 2 * e)
    yield from (e * (y / e - 1) ** 2, (y - e) ** 2 / (2 * e), 0.5 * (y - e) ** 2 / e)
    yield from ((y - e) ** 2.0 / e**1, ((y - e) / e) * (y - e), (y - e) / (e / (y - e)))


@pytest.mark.parametrize("ndims", [(i, j) for i in range(3) for j in range(3)])
def test_chi_square_and_its_gradients_compile(ndims):
    y, a = (ft.tensor(n, shape=(None,) * d) for n, d in zip("ya", ndims, strict=True))
    values = [np.full((2,) * ndims[0], 3.0), np.full((2,) * ndims[1], 0.5)]
    wanted = (3 - np.exp(0.5)) ** 2 / np.exp(0.5)
    for at, statistic in enumerate(variants_of_chi_square(y, a)):
        total = statistic.sum()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            gradients = fz.grad(total, [y, a])
            f = fz.function([y, a], [statistic, *gradients], mode="py")
        scale = 0.5 if at in (8, 9) else 1.0
        np.testing.assert_allclose(f(*values)[0], scale * wanted, rtol=1e-12)
