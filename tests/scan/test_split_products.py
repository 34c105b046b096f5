"""Products in steps with vectors that are joined or cut, part by part."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft
from frazil.scan.op import Scan
from frazil.tensor.blas import Gemv
from frazil.tensor.joining import Join
from frazil.tensor.products import Dot

MODES = ["py", "c", "cranelift", "numba"]
STEPS = 3


def parts_of(xp, x, y, h, order):
    """What a step joins, in some order: of its input, of another one, and of its state."""
    whole = [x, y, h, h * x[0], xp.tanh(x)]
    return xp.concatenate([whole[at] for at in order])


def step(xp, x, y, h, left, right, order, front):
    joined = parts_of(xp, x, y, h, order)
    # The one is read whole, of the other only a part.
    added = left @ joined if front else joined @ left
    told = (joined @ right)[1 : 1 + h.shape[0]] - (joined @ right)[2 : 2 + h.shape[0]]
    return xp.tanh(added + 0.5 * told) + 0.25 * h


@settings(max_examples=30, deadline=None)
@given(
    order=st.lists(st.integers(0, 4), min_size=1, max_size=4),
    front=st.booleans(),
    stated=st.booleans(),
    lengths=st.tuples(*[st.integers(1, 9)] * 3),
    dtype=st.sampled_from(["float64", "float32"]),
    seed=st.integers(0, 2**32 - 1),
)
def test_states_and_gradients_are_those_of_a_loop(order, front, stated, lengths, dtype, seed):
    wide = sum([*lengths, lengths[2], lengths[0]][at] for at in order)
    shapes = [(STEPS, lengths[0]), (STEPS, lengths[1]), (lengths[2],)]
    shapes += [(lengths[2], wide) if front else (wide, lengths[2]), (wide, lengths[2] + 3)]
    types = shapes if stated else [(None,) * len(shape) for shape in shapes]
    inputs = [ft.tensor(dtype=dtype, shape=shape) for shape in types]
    states, _ = fz.scan(
        lambda x, y, h, left, right: step(ft, x, y, h, left, right, order, front),
        sequences=inputs[:2],
        outputs_info=inputs[2],
        non_sequences=inputs[3:],
    )
    outputs = [states, *fz.grad((states**2).sum(), inputs, disconnected_inputs="ignore")]
    rng = np.random.default_rng(seed)
    values = [(rng.normal(size=shape) / 3).astype(dtype) for shape in shapes]
    found = fz.function(inputs, outputs, mode="cranelift")(*values)
    plain = fz.function(inputs, outputs, mode=fz.Mode("py").excluding("scan"))(*values)
    tolerance = 1e-9 if dtype == "float64" else 3e-3
    h, expected = values[2], []
    for x, y in zip(*values[:2], strict=True):
        h = step(np, x, y, h, *values[3:], order, front)
        expected.append(h)
    np.testing.assert_allclose(found[0], expected, rtol=tolerance, atol=tolerance)
    for one, other in zip(found, plain, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)


def gated(of_second_order=False):
    """The states of a gated network, and gradients."""
    xs, start = ft.matrix("xs"), ft.vector("start")
    update, fresh = ft.matrix("update"), ft.matrix("fresh")

    def own_step(x, h, update, fresh):
        kept = ft.sigmoid(update @ ft.concatenate([x, h]))
        seen = ft.concatenate([kept * h, x])
        return kept * h + (1 - kept) * ft.tanh(fresh @ seen)

    states, _ = fz.scan(own_step, sequences=xs, outputs_info=start, non_sequences=[update, fresh])
    inputs = [xs, start, update, fresh]
    gradients = fz.grad((states**2).sum(), [start, update, fresh])
    if of_second_order:
        gradients = fz.grad(sum((g**2).sum() for g in gradients), [start, update, fresh])
    return inputs, [states, *gradients]


def gated_values(steps=7, wide=3, size=5):
    rng = np.random.default_rng(11)
    shapes = [(steps, wide), (size,), (size, wide + size), (size, wide + size)]
    return [rng.normal(size=shape) / 2 for shape in shapes]


@pytest.mark.parametrize("of_second_order", [False, True])
def test_gradients_of_a_gated_network_are_the_same_in_all_modes(of_second_order):
    inputs, outputs = gated(of_second_order)
    for values in (gated_values(), gated_values(steps=0), gated_values(1, 1, 1)):
        plain = fz.function(inputs, outputs, mode=fz.Mode("py").excluding("scan"))(*values)
        found = [fz.function(inputs, outputs, mode=mode)(*values) for mode in MODES]
        for own in found:
            for one, other in zip(own, plain, strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


def test_steps_of_a_gated_network_join_nothing_and_multiply_by_parts():
    inputs, outputs = gated()
    f = fz.function(inputs, outputs, mode="py")
    scans = [node.op for node in f.optimized.toposort() if isinstance(node.op, Scan)]
    nodes = [node for op in scans for node in op.fgraph.toposort()]
    assert len(scans) == 2
    assert not any(isinstance(node.op, Join) for node in nodes)
    assert sum(isinstance(node.op, (Dot, Gemv)) for node in nodes) == 4


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("columns", [0, 2, 7, 9])
def test_a_matrix_of_other_length_is_refused(mode, columns):
    inputs, outputs = gated()
    f = fz.function(inputs, outputs[0], mode=mode)
    values = gated_values()
    values[2] = np.ones((5, columns))
    with pytest.raises(ValueError, match=r"length|lengths|columns|product|mismatch|dot"):
        f(*values)


CUTS = {
    "sum": lambda left, right, x, h: (left @ x + right @ h)[:2],
    "difference": lambda left, right, x, h: (left @ x - h @ right.T)[1:3],
    "three": lambda left, right, x, h: (left @ x + right @ h + left @ (2 * x))[:2],
    "twice": lambda left, right, x, h: (left @ x + right @ h)[:2] - (left @ x - right @ h)[1:3],
    "product": lambda left, right, x, h: (left @ x)[:2] + (right @ h)[-2:],
    "join": lambda left, right, x, h: (left @ ft.concatenate([x, h * h[:1]]))[:2] + right[0, 0],
}


@pytest.mark.parametrize("name", CUTS)
@pytest.mark.parametrize("mode", MODES)
@settings(max_examples=8, deadline=None)
@given(
    rows=st.tuples(st.integers(1, 6), st.integers(1, 6)),
    columns=st.tuples(st.integers(1, 4), st.integers(1, 4)),
)
def test_cuts_of_what_does_not_fit_are_refused(mode, name, rows, columns):
    """A run fails where the plain graph fails, and only there."""
    f, plain = cut_function(name, mode), cut_function(name, None)
    values = [np.ones((rows[0], columns[0])), np.ones((rows[1], columns[1]))]
    values += [np.ones((3, 3)), np.ones(2)]
    try:
        expected = plain(*values)
    except ValueError:
        with pytest.raises(ValueError, match=r"shape|length|dimension|broadcast|add|sub"):
            f(*values)
    else:
        np.testing.assert_allclose(f(*values), expected)


@cache
def cut_function(name, mode):
    left, right, xs, start = ft.matrix("a"), ft.matrix("b"), ft.matrix("xs"), ft.vector("h")
    states, _ = fz.scan(
        lambda x, h, left, right: ft.tanh(CUTS[name](left, right, x, h)),
        sequences=xs,
        outputs_info=start,
        non_sequences=[left, right],
    )
    mode = fz.Mode("py").excluding("scan") if mode is None else mode
    return fz.function([left, right, xs, start], states, mode=mode)
