"""Each rule: its text, an example, and that it keeps values of every dtype, however hard."""

import os
from pathlib import Path

import numpy as np
import pytest
from examples import KNOWN, sample
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from rule_cases import (
    assert_same_values,
    left_over,
    specials,
    wildcards,
)

import frazil as fz
import frazil.tensor as ft
from frazil import _core, pp
from frazil.rewrite import (
    ALGEBRA,
    CANONICALIZE,
    CONSTANT_FOLDING,
    SPECIALIZE,
    STABILIZE,
    STRUCTURE,
    rewrite,
)
from frazil.rewrite.sort import SIGNED

GOLDEN = Path(__file__).parent / "rules.txt"
CHANGED = (
    "rules.txt says something else; if the rule is meant to be as it is now, run "
    "UPDATE_GOLDEN=1 python -m pytest tests/rewrite/test_rules.py, and read the difference"
)
LENGTH = 5


def as_written(inputs, outputs, mode):
    """The function that computes outputs by no rules but those that were applied to them."""
    mode = fz.Mode(mode).excluding("all")
    return fz.function(inputs, outputs, mode=mode, on_unused_input="ignore")


ALL = (*CONSTANT_FOLDING, *ALGEBRA, *STRUCTURE, *STABILIZE, *SPECIALIZE)

by_name = pytest.mark.parametrize("rule", ALL, ids=lambda rule: rule.name)
by_law = pytest.mark.parametrize("rule", ALGEBRA, ids=lambda rule: rule.name)


def paragraph(rule):
    """The rule, its law, and an example, as the golden file has them."""
    left = sample(rule)
    after = rewrite(left, [rule]).graph
    return f"{rule}\n    {rule.law}\n    {one_line(left)} => {one_line(after)}"


def one_line(x):
    return pp(x).replace("\n", "; ")


def golden():
    return {text.partition(":")[0]: text for text in GOLDEN.read_text().rstrip().split("\n\n")}


def test_golden_file_has_every_rule_once():
    if os.environ.get("UPDATE_GOLDEN"):
        GOLDEN.write_text("\n\n".join(map(paragraph, ALL)) + "\n")
    names = [rule.name for rule in ALL]
    assert list(golden()) == names, CHANGED
    assert len(set(names)) == len(names) > 30


@by_name
def test_text(rule):
    assert paragraph(rule) == golden().get(rule.name), CHANGED


@by_name
def test_the_example_is_rewritten_by_this_rule(rule):
    left = sample(rule)
    graph, trace = rewrite(left, [rule])
    assert graph is not left
    assert {step.rule for step in trace} == {rule.name}
    assert trace[-1].before.type.accepts(graph.type)


@by_law
@settings(max_examples=40, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_values(rule, data):
    variables, arrays = [], {}
    # Half of the cases have one dtype where they can: many rules apply to no others.
    common = data.draw(st.none() | st.sampled_from(rule.parameters[0].sort.dtypes), label="common")
    for p in rule.parameters:
        dtypes = (common,) if common in p.sort.dtypes else p.sort.dtypes
        dtype = data.draw(st.sampled_from(dtypes), label=p.name)
        shape = data.draw(st.sampled_from([(None,), (), (1,), (LENGTH,), (None, 1), (2, None)]))
        lengths = tuple({None: LENGTH}.get(n, n) for n in shape)
        elements = st.integers(0, len(specials(dtype)) - 1)
        count = int(np.prod(lengths))
        chosen = data.draw(st.lists(elements, min_size=count, max_size=count))
        array = specials(dtype)[chosen].reshape(lengths)
        if p.sort.constant:
            variables.append(ft.constant(array))
        else:
            variables.append(fz.TensorType(dtype, shape)(p.name))
            arrays[variables[-1]] = array
    choice = {
        w: data.draw(st.integers(0, len(w.stands_for) - 1), label=w.name) for w in wildcards(rule)
    }
    if rule.name in KNOWN:
        variables = [KNOWN[rule.name](x) for x in variables]
    left = left_over(rule, variables, choice)
    assume(left is not None)
    after = rewrite(left, [rule]).graph
    assume(after is not left)
    inputs = list(arrays)
    f = as_written(inputs, [left, after], "py")
    try:
        given_values = f(*arrays.values())
    except ValueError:
        assume(False)  # as integers to negative powers
    assert_same_values(*given_values, f"{rule.name}: {pp(left)} => {pp(after)}")


def variables_of(rule, dtype, inputs):
    """Variables of ``dtype`` from ``inputs``, which grow; None if a parameter refuses it."""
    variables = []
    for at, p in enumerate(rule.parameters):
        own = "bool" if p.sort.dtypes == ("bool",) else dtype
        if own not in p.sort.dtypes:
            return None
        if p.sort.constant:
            variables.append(ft.constant(2 + at, own))
            continue
        if (own, at) not in inputs:
            inputs[own, at] = fz.TensorType(own, (None,))(f"{own}_{at}")
        variables.append(inputs[own, at])
    return [KNOWN.get(rule.name, lambda x: x)(x) for x in variables]


def may_raise(left):
    """Whether the run may refuse values: integers to negative powers."""
    return any(str(n.op) == "pow" and left.dtype in SIGNED for n in _core.toposort([left]))


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int8", "uint8", "bool"])
def test_values_in_every_linker(mode, dtype):
    """All rules at once, over long vectors of hard values: one program for each linker."""
    inputs, sides, names = {}, [], []
    for rule in ALGEBRA:
        variables = variables_of(rule, dtype, inputs)
        own = wildcards(rule)
        for position in range(max((len(w.stands_for) for w in own), default=1)):
            choice = {w: position % len(w.stands_for) for w in own}
            left = variables and left_over(rule, variables, choice)
            if left is None or may_raise(left):
                continue
            after = rewrite(left, [rule]).graph
            if after is not left:
                sides += [left, after]
                names.append(f"{rule.name}: {pp(left)} => {pp(after)}")
    assert names
    rng = np.random.default_rng(20250101)
    arrays = [rng.choice(specials(own), 200) for own, _ in inputs]
    f = as_written(list(inputs.values()), sides, mode)
    values = f(*arrays)
    for name, before, after in zip(names, values[::2], values[1::2], strict=True):
        assert_same_values(before, after, name)


@settings(max_examples=60)
@given(data=st.data())
def test_all_rules_together_keep_values(data):
    inputs = [
        *(ft.vector(name) for name in "xy"),
        *(ft.lvector(name) for name in "ij"),
        *(fz.TensorType("int8", (None,))(name) for name in "ab"),
        *(fz.TensorType("bool", (None,))(name) for name in "pq"),
    ]
    made = [*inputs, *(ft.constant(v) for v in (0.0, -0.0, 1.0, 2, 0, 1, -1, True, False))]
    ops = [ft.add, ft.sub, ft.mul, ft.true_div, ft.neg, ft.abs, ft.sqr, ft.maximum, ft.minimum]
    ops += [ft.lt, ft.gt, ft.eq, ft.neq, ft.and_, ft.or_, ft.xor, ft.invert, ft.where, ft.isnan]
    ops += [ft.floor, ft.sin, ft.cos, ft.sign]
    for op in data.draw(st.lists(st.sampled_from(ops), min_size=3, max_size=25)):
        arity = 3 if op is ft.where else 2 if op in (*ops[:4], *ops[7:13], *ops[13:16]) else 1
        operands = [made[data.draw(st.integers(0, len(made) - 1))] for _ in range(arity)]
        try:
            made.append(op(*operands))
        except TypeError:
            continue
    outputs = made[-4:]
    after = rewrite(outputs, CANONICALIZE).graph
    assert rewrite(after, CANONICALIZE).graph == after
    rng = np.random.default_rng(data.draw(st.integers(0, 100)))
    arrays = [rng.choice(specials(x.dtype), 16) for x in inputs]
    f = as_written(inputs, [*outputs, *after], "py")
    values = f(*arrays)
    for x, before, result in zip(outputs, values[:4], values[4:], strict=True):
        assert_same_values(before, result, pp(x))


def ordinary(x, rng):
    """Values of a variable of which nothing is hard: above zero, and not far from one."""
    lengths = tuple({None: 3}.get(n, n) for n in x.type.shape)
    if x.dtype == "bool":
        return rng.uniform(size=lengths) < 0.5
    values = rng.uniform(0.1, 3.0, lengths) if x.dtype.startswith("f") else 1 + np.arange(3)
    return values.astype(x.dtype)


PHASES = {"structure": STRUCTURE, "stabilize": STABILIZE, "specialize": SPECIALIZE}


@pytest.mark.parametrize(
    "rule", [rule for phase in PHASES.values() for rule in phase], ids=lambda rule: rule.name
)
def test_ordinary_values_stay(rule):
    """What is exact stays as it is, the rest to some ulp."""
    assert_ordinary_values_stay([rule], "py")


@pytest.mark.parametrize("native", ["c", "cranelift", "numba"])
@pytest.mark.parametrize("phase", PHASES)
def test_ordinary_values_stay_in_native_code(phase, native):
    """Those of all rules of a phase, in one program."""
    assert_ordinary_values_stay(PHASES[phase], native)


def assert_ordinary_values_stay(rules, mode):
    rng = np.random.default_rng(7)
    sides = [
        side for r in rules for left in [sample(r)] for side in (left, rewrite(left, [r]).graph)
    ]
    inputs = list(_core.root_inputs(sides))
    values = as_written(inputs, sides, mode)(*(ordinary(x, rng) for x in inputs))
    for r, before, after in zip(rules, values[::2], values[1::2], strict=True):
        if r in STRUCTURE:
            np.testing.assert_array_equal(before, after, err_msg=r.name)
        else:
            np.testing.assert_allclose(before, after, rtol=1e-13, atol=1e-14, err_msg=r.name)
        assert before.dtype == after.dtype
        assert before.shape == after.shape


def test_columns_times_rows_are_no_calls_of_blas():
    x, y = ft.tensor("x", shape=(None, 3)), ft.tensor("y", shape=(None, 2))
    f = fz.function([x, y], ft.tril(x[:, :, None] @ y[:, None]).sum(0))
    names = {type(node.op).__name__ for node in _core.toposort(f.optimized.outputs)}
    assert "BatchedDot" not in names
    left, right = np.arange(12.0).reshape(4, 3), np.arange(8.0).reshape(4, 2) - 3
    np.testing.assert_array_equal(f(left, right), np.tril(left.T @ right))
    with pytest.raises(ValueError, match="has length 3 along axis 0 where 4 is expected"):
        f(left, right[:3])


def test_a_product_whose_inner_length_is_unknown_stays():
    x, y = ft.tensor3("x"), ft.tensor("y", shape=(None, 1, None))
    product = x @ y
    assert rewrite(product, SPECIALIZE).graph is product
