"""Samples of rules in both float types, and points at which what is finite may become infinite."""

import itertools

import numpy as np
from examples import sample
from rule_cases import assert_same_values as assert_same_values

import frazil as fz
import frazil.tensor as ft
from frazil import Constant, _core
from frazil.rewrite import rewrite
from frazil.scalar.elemwise import Elemwise

EXTREME = {
    "float64": [
        *(0.0, 5e-324, 1e-320, 2.3e-308, 1e-200, 1e-160, 1e-100, 1e-17, 0.3, 0.75, 1.0, 3.0, 30.0),
        *(354.0, 360.0, 480.0, 705.0, 709.5, 720.0, 745.0, 1e3, 1e17, 1e100, 1e160, 1e200, 1e300),
        *(1.7e308, np.inf),
    ],
    "float32": [
        *(0.0, 1.5e-45, 1e-42, 1.2e-38, 1e-25, 1e-20, 1e-10, 0.3, 0.75, 1.0, 3.0, 16.0),
        *(44.0, 45.0, 60.0, 87.0, 88.5, 92.0, 102.0, 200.0, 1e10, 1e20, 1e25, 1e36, 3.4e38, np.inf),
    ],
}


def points(dtype):
    """Numbers of both signs at which exponentials, squares and products over- or underflow."""
    values = np.array(EXTREME[dtype])
    return np.concatenate([values, -values, [np.nan]]).astype(dtype)


def with_dtype(x, dtype):
    """``x``, written over float64, over inputs and constants of ``dtype``."""
    if dtype == "float64":
        return x
    made = {}

    def operand(y):
        if y.owner is not None:
            return made[y]
        if y.dtype != "float64":
            return y
        if isinstance(y, Constant):
            return ft.constant(y.data.astype(dtype))
        return made.setdefault(y, fz.TensorType(dtype, y.type.shape)(str(y)))

    for node in _core.toposort([x]):
        results = node.op.make_node(*map(operand, node.inputs)).outputs
        made.update(zip(node.outputs, results, strict=True))
    return made[x]


def sides(rule, dtype):
    """The sample of ``rule``, and what the rule makes of it."""
    left = with_dtype(sample(rule), dtype)
    right = rewrite(left, [rule]).graph
    assert right is not left, rule
    return left, right


def is_elementwise(*variables):
    """Whether elements that stand beside one another are all that results depend on."""
    nodes = _core.toposort(variables)
    inputs = _core.root_inputs(variables)
    alike = all(x.type.shape == (None,) for x in inputs)
    return alike and all(isinstance(node.op, Elemwise) for node in nodes)


def arguments(inputs, count, rng):
    """Arrays for each input, of extreme elements: ``count`` times, or all combinations at once."""
    if count == 1:
        columns = [points(x.dtype) if x.dtype[0] == "f" else np.arange(3) for x in inputs]
        grid = np.array(list(itertools.product(*columns)))
        yield [grid[:, at].astype(x.dtype) for at, x in enumerate(inputs)]
        return
    for _ in range(count):
        arrays = []
        for x in inputs:
            lengths = tuple({None: 3}.get(n, n) for n in x.type.shape)
            some = points(x.dtype) if x.dtype[0] == "f" else np.arange(3).astype(x.dtype)
            if rng.random() < 0.5 and x.dtype[0] == "f":
                some = some[abs(some) < 1e3]  # NaN and its like are met soon enough
            arrays.append(rng.choice(some, lengths))
        yield arrays
