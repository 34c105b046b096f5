"""Graphs that a rule's left side stands for, over any dtypes, and values that are hard for them."""

import numpy as np

import frazil as fz
import frazil.tensor as ft
from frazil import _core
from frazil.rewrite import Wildcard
from frazil.scalar.elemwise import Elemwise


def specials(dtype):
    """Values at which laws fail: signed zeros, NaN, infinities, extremes; and others."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind == "f":
        info = np.finfo(dtype)
        values = [0.0, -0.0, 1.0, -1.0, 2.0, 0.5, -2.5, 3.75, np.nan, np.inf, -np.inf]
        return np.array([*values, info.max, info.min, info.tiny, -info.tiny, info.eps], dtype)
    info = np.iinfo(dtype)
    values = {0, 1, 2, 3, 7, -1, -2, info.max, info.max - 1, info.min, info.min + 1, info.max // 2}
    return np.array(sorted(v for v in values if info.min <= v <= info.max), dtype)


def wildcards(rule):
    """The wildcards in the left side of ``rule``."""
    nodes = _core.toposort(list(rule.sides.left))
    return list(dict.fromkeys(node.op for node in nodes if isinstance(node.op, Wildcard)))


def left_over(rule, variables, choice=None):
    """The left side of ``rule`` over ``variables``; ``choice`` says which op wildcards stand for.

    None if an op refuses the dtypes.
    """
    choice = choice or {}
    try:
        (left,) = rule.over(*variables).left
        return with_ops(left, choice)
    except (TypeError, ValueError, OverflowError):
        return None


def with_ops(left, choice):
    """``left`` with real ops in place of its wildcards."""
    made = {}
    for node in _core.toposort([left]):
        inputs = [made.get(x, x) for x in node.inputs]
        op = node.op
        if isinstance(op, Wildcard):
            op = op.stands_for[choice.get(op, 0)]
        if not isinstance(op, Elemwise):
            raise TypeError(op)
        made[node.outputs[0]] = op(*inputs)
    return made[left]


def sample_left(rule, choice, known=None):
    """The left side over vectors of the sample dtypes, or what ``known`` makes of these."""
    constants = iter(range(2, 10))
    variables = []
    for p in rule.parameters:
        if p.sort.constant:
            variables.append(ft.constant(next(constants), p.sort.sample))
            continue
        x = fz.TensorType(p.sort.sample, (None,))(p.name)
        variables.append(x if known is None else known(x))
    return left_over(rule, variables, choice)


def assert_same_values(before, after, what):
    """Fails unless NaNs, infinities and zeros' signs are equal, and other values nearly so."""
    assert before.dtype == after.dtype, what
    assert before.shape == after.shape, what
    if before.dtype.kind != "f":
        np.testing.assert_array_equal(before, after, err_msg=what)
        return
    np.testing.assert_array_equal(np.isnan(before), np.isnan(after), err_msg=what)
    number = ~np.isnan(before)
    before, after = np.atleast_1d(before[number]), np.atleast_1d(after[number])
    np.testing.assert_array_equal(np.signbit(before), np.signbit(after), err_msg=what)
    np.testing.assert_array_equal(np.isinf(before), np.isinf(after), err_msg=what)
    np.testing.assert_array_equal(before == 0, after == 0, err_msg=what)
    finite = np.isfinite(before)
    np.testing.assert_allclose(
        before[finite], after[finite], rtol=8 * np.finfo(before.dtype).eps, atol=0, err_msg=what
    )
