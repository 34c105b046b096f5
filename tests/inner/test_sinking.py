"""A node that only one branch needs runs in that branch, buffers that it writes to included."""

import random

import numpy as np
import pytest
from counted import Counted, counts
from hypothesis import given
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft
from frazil import _core
from frazil.inner.ifelse import IfElse
from frazil.inner.sinking import plan_sinking

LINKERS = ["c", "cranelift", "numba", "py"]
C, N = ft.iscalar("c"), ft.lscalar("n")
X, Y, M = ft.dvector("x"), ft.dvector("y"), ft.dmatrix("m")


@pytest.mark.parametrize("linker", LINKERS)
def test_a_buffer_whose_length_makes_no_sense_is_not_made_for_the_other_branch(linker):
    f = fz.function([N, Y], fz.ifelse(N >= 0, ft.zeros(N + 1), Y), mode=linker)
    np.testing.assert_array_equal(f(-5, [1.0, 2.0]), [1.0, 2.0])
    np.testing.assert_array_equal(f(2, [1.0]), np.zeros(3))


@pytest.mark.parametrize("linker", LINKERS)
def test_what_a_written_buffer_is_made_from_is_computed_where_its_branch_is_taken(linker):
    whole = ft.set_subtensor(ft.distinct(Counted("made")(X))[0], 7.0)
    two = fz.ifelse(C, whole, Y), fz.ifelse(C, whole * 2, Y)
    f = fz.function([C, X, Y], [*two, fz.grad(ft.sum(two[0] ** 2), X)], mode=linker)
    assert counts(f, 0, [1.0, 2.0], [3.0]) == {}
    taken = counts(f, 1, [1.0, 2.0], [3.0])
    assert taken["made"] >= 1
    found = f(1, [1.0, 2.0], [3.0])
    for one, expected in zip(found, ([7, 4], [14, 8], [0, 16]), strict=True):
        np.testing.assert_array_equal(one, expected)


@pytest.mark.parametrize("linker", ["c", "cranelift", "numba"])
def test_the_first_write_in_a_branch_is_in_place_in_its_own_buffer(linker):
    """A buffer that the branch makes is not copied to be written to."""
    whole = ft.set_subtensor(ft.distinct(ft.outer(X, X))[0], 1.0)
    f = fz.function([C, X, M], fz.ifelse(C, whole, M), mode=linker)
    branch = str(f.explain()).split("p0:")[1].split("p1:")[0]
    writes = [line for line in branch.splitlines() if " copy " in line or " set " in line]
    assert len(writes) == 2, branch
    assert all(line.endswith("in place") for line in writes), branch
    size = 300
    value = np.arange(float(size))
    plan = f.memory_plan((), (size,), (1, 1))
    assert plan.peak < 1.5 * 8 * size**2, str(plan)
    expected = np.outer(value, value)
    expected[0] = 1
    np.testing.assert_array_equal(f(1, value, np.ones((1, 1))), expected)


def sunk_by_definition(outputs):
    """The nodes that need not be computed outside of choices, by walks through the whole graph."""
    order = _core.toposort(list(outputs))
    known = set(order)
    arms, reads = {}, {node: node.inputs for node in order}
    for node in order:
        if isinstance(node.op, IfElse):
            bound = node.op.expand(node.inputs[1:])
            arms[node] = bound[: len(bound) // 2], bound[len(bound) // 2 :]

    def reached(variables, operands, ends=frozenset()):
        found, pending = set(), list(variables)
        while pending:
            owner = pending.pop().owner
            if owner is not None and owner not in found and owner not in ends:
                found.add(owner)
                pending += operands(owner)
        return found

    for node in reversed(order):
        if node not in arms or node not in reached(outputs, lambda one: reads[one]):
            continue
        regions = []
        for arm in (0, 1):

            def besides(other, arm=arm, condition=node.inputs[0]):
                if other in arms and other.inputs[0] is condition:
                    return (condition, *arms[other][1 - arm])
                return reads.get(other, other.inputs)

            outside = known & reached([*outputs, node.inputs[0]], besides)
            regions.append(reached(arms[node][arm], lambda one: one.inputs, outside))
        both = [x for one in regions[0] & regions[1] & known for x in one.outputs]
        inside = (regions[0] | regions[1]) - reached(both, lambda one: one.inputs)
        bound = [y for arm in arms[node] for y in arm]
        met = [x for one in inside for x in one.inputs] + bound
        reads[node] = (node.inputs[0], *(x for x in met if x.owner not in inside))
    return known - reached(outputs, lambda one: reads[one])


@given(seed=st.integers(0, 2**32 - 1), size=st.integers(1, 30))
def test_what_is_drawn_into_choices_is_what_the_definition_says(seed, size):
    choose = random.Random(seed)
    conditions = [C, N, ft.lscalar("k")]
    made = [X, Y]

    def some():
        return choose.choice(made[-6:] if choose.random() < 0.7 else made)

    for _ in range(size):
        kind = choose.random()
        if kind < 0.3:
            made.append(choose.choice([ft.sin, ft.exp, ft.distinct])(some()))
        elif kind < 0.5:
            made.append(some() + some())
        elif kind < 0.6:
            made += fz.ifelse(choose.choice(conditions), [some(), some()], [some(), some()])
        else:
            condition = choose.choice(conditions)
            if choose.random() < 0.2:
                condition = ft.cast(some().sum(), "int64")
            made.append(fz.ifelse(condition, some(), some()))
    outputs = choose.sample(made[-8:], min(len(made), choose.choice([1, 2])))
    forms = plan_sinking(outputs)
    needed = [node for node, _ in forms]
    assert set(_core.toposort(outputs)).difference(needed) == sunk_by_definition(outputs)
    for at, (_, form) in enumerate(forms):
        read = {x.owner for x in form.inputs if x.owner is not None}
        assert read <= set(needed[:at])
