"""Rules see one element in a shape as the number that it is."""

import itertools

import numpy as np
import pytest
from examples import KNOWN
from reference import evaluate
from rule_cases import assert_same_values, left_over, wildcards
from test_termination import RULES

import frazil as fz
import frazil.tensor as ft
from frazil import Constant, _core
from frazil.rewrite import rewrite
from frazil.rewrite.rules import ones, views
from frazil.scalar.elemwise import Elemwise


def over_numbers(rule):
    """The left side of a rule over numbers, all elementwise, to which it applies; or None."""
    variables = []
    for at, p in enumerate(rule.parameters):
        if p.sort.constant:
            variables.append(ft.constant(2 + at, p.sort.sample))
            continue
        x = fz.TensorType(p.sort.sample, ())(p.name)
        variables.append(KNOWN[rule.name](x) if rule.name in KNOWN else x)
    own = [w for w in wildcards(rule) if isinstance(w.stands_for, tuple)]
    for positions in itertools.product(*(range(len(w.stands_for)) for w in own)):
        left = left_over(rule, variables, dict(zip(own, positions, strict=True)))
        if left is not None and left.ndim == 0 and rewrite(left, [rule]).trace:
            return left
    return None


def in_dimensions(left, wrap_results):
    """``left`` with all that ops read in dimensions of length 1, but results only if wanted."""
    made = {}

    def read(x):
        if isinstance(x, Constant):
            return ft.constant(x.data.reshape((1,) * (x.ndim + 1)))
        if x.owner is None or wrap_results:
            return ft.expand_dims(made.get(x, x), 0)
        return made[x]

    for node in _core.toposort([left]):
        assert isinstance(node.op, Elemwise)
        made[node.outputs[0]] = node.op(*map(read, node.inputs))
    return made[left]


CASES = [(rule, left) for rule in RULES if (left := over_numbers(rule)) is not None]


def test_most_rules_apply_to_numbers():
    assert len(CASES) > 120


@pytest.mark.parametrize("wrap_results", [False, True])
@pytest.mark.parametrize(("rule", "left"), CASES, ids=[rule.name for rule, _ in CASES])
def test_a_rule_for_numbers_applies_to_single_elements(rule, left, wrap_results):
    term = in_dimensions(left, wrap_results)
    result = rewrite(term, [*ones.RULES, *views.RULES, rule])
    assert rule.name in {step.rule for step in result.trace}, str(rule)
    assert term.type.accepts(result.graph.type)
    assert result.graph.ndim == term.ndim


WRITTEN = {
    "a power": (lambda x, s: x ** ft.constant([-0.5]), "reciprocal(sqrt(*0))"),
    "a logarithm": (
        lambda x, s: ft.log(ft.expand_dims(ft.exp(s), 0)),
        "expand_dims(*1, axis=(0,))",
    ),
    "a factor": (lambda x, s: x * ft.constant([2.0]) * [3.0], "*0 * 6.0"),
    "beside a vector": (
        lambda x, s: ft.log(ft.expand_dims(ft.exp(s), 0) * ft.exp(x)),
        "*0 + *1",
    ),
    "a comparison": (
        lambda x, s: ft.expand_dims(ft.exp(s), 0) > [0.0],
        "expand_dims(-inf < *1, axis=(0,))",
    ),
    "a sign": (
        lambda x, s: ft.sign(ft.exp(x)),
        "where(*0 == -inf, 0.0, where(isnan(*0), *0, 1.0))",
    ),
    "softplus": (
        lambda x, s: ft.log(ft.constant([1.0]) + ft.expand_dims(ft.exp(s), (0, 1))),
        "expand_dims(softplus(*1), axis=(0, 1))",
    ),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_what_becomes_of_single_elements(name, mode):
    build, wanted = WRITTEN[name]
    x, s = ft.vector("x"), ft.scalar("s")
    before = build(x, s)
    graph = fz.FrozenFunctionGraph([x, s], [before])
    found = fz.pp(fz.compile.phases.optimize(graph, frozenset()))
    assert found in (wanted, wanted.replace("*0 + *1", "*1 + *0"))
    f = fz.function([x, s], before, mode=mode, on_unused_input="ignore")
    values = np.array([0.5, 2.0]), np.array(0.25)
    written = evaluate(before, dict(zip((x, s), values, strict=True)))
    assert_same_values(written, f(*values), name)
