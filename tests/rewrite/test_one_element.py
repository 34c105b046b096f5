"""Rules see through dimensions of length 1: one element is a number, a column is a vector."""

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


def over_tensors(rule, ndim):
    """The left side of a rule over tensors, all elementwise, to which it applies; or None."""
    variables = []
    for at, p in enumerate(rule.parameters):
        if p.sort.constant:
            variables.append(ft.constant(2 + at, p.sort.sample))
            continue
        x = fz.TensorType(p.sort.sample, (None,) * ndim)(p.name)
        variables.append(KNOWN[rule.name](x) if rule.name in KNOWN else x)
    own = [w for w in wildcards(rule) if isinstance(w.stands_for, tuple)]
    for positions in itertools.product(*(range(len(w.stands_for)) for w in own)):
        left = left_over(rule, variables, dict(zip(own, positions, strict=True)))
        elementwise = (
            left is not None
            and left.ndim == ndim
            and all(isinstance(node.op, Elemwise) for node in _core.toposort([left]))
        )
        if elementwise and rewrite(left, [rule]).trace:
            return left
    return None


def in_dimensions(left, wrap_results):
    """``left`` with a last dimension of length 1 in all that ops read, results only if wanted."""
    made = {}

    def read(x):
        if isinstance(x, Constant):
            return ft.constant(x.data.reshape((1,) * (x.ndim + 1)))
        if x.owner is None or wrap_results:
            return ft.expand_dims(made.get(x, x), x.ndim)
        return made[x]

    for node in _core.toposort([left]):
        assert isinstance(node.op, Elemwise)
        made[node.outputs[0]] = node.op(*map(read, node.inputs))
    return made[left]


CASES = [
    (rule, left, wrap_results)
    for rule in RULES
    for ndim in (0, 1)
    if (left := over_tensors(rule, ndim)) is not None
    # Columns of columns would not lie beside others as vectors do.
    for wrap_results in ([False, True] if ndim == 0 else [False])
]


def test_most_rules_apply_to_numbers_and_vectors():
    ranks = [left.ndim for _, left, wrap_results in CASES if not wrap_results]
    assert all(ranks.count(ndim) > 120 for ndim in (0, 1))


@pytest.mark.parametrize(
    ("rule", "left", "wrap_results"),
    CASES,
    ids=[f"{rule.name}-{left.ndim}{'-wrapped' * wrap}" for rule, left, wrap in CASES],
)
def test_a_rule_applies_within_dimensions_of_length_one(rule, left, wrap_results):
    term = in_dimensions(left, wrap_results)
    result = rewrite(term, [*ones.RULES, *views.RULES, rule])
    assert rule.name in {step.rule for step in result.trace}, str(rule)
    assert term.type.accepts(result.graph.type)
    assert result.graph.ndim == term.ndim


WRITTEN = {
    "a column": (
        lambda x, s: ft.log(ft.expand_dims(ft.exp(x), 1)),
        "expand_dims(*0, axis=(1,))",
    ),
    "a row beside a matrix": (
        lambda x, s: ft.log(ft.expand_dims(ft.exp(x), 0) * ft.exp(ft.stack([x, x]))),
        "t0 = expand_dims(*0, axis=(0,))\n*0 + Join{0}(t0, t0)",
    ),
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
    found = fz.pp(fz.compile.phases.optimize(graph, frozenset()).graph)
    assert found in (wanted, wanted.replace("*0 + *1", "*1 + *0"))
    f = fz.function([x, s], before, mode=mode, on_unused_input="ignore")
    values = np.array([0.5, 2.0]), np.array(0.25)
    written = evaluate(before, dict(zip((x, s), values, strict=True)))
    assert_same_values(written, f(*values), name)
