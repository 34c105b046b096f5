"""Sums over the same elements, which a step adds up: they become one."""

from functools import reduce

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft
from frazil.scan.op import Scan
from frazil.tensor.reductions import Sum

MODES = ["py", "c", "cranelift", "numba"]
STEPS = 4


def sums_in_steps(f):
    """The sums in the steps of all scans of a function."""
    scans = [node.op for node in f.optimized.toposort() if isinstance(node.op, Scan)]
    nodes = [node for op in scans for node in op.fgraph.toposort()]
    return sum(isinstance(node.op, Sum) for node in nodes)


TERMS = [
    lambda x, y, m, total: x.sum(),
    lambda x, y, m, total: -(x * y).sum(),
    lambda x, y, m, total: (x * total).sum() * 1.0,
    lambda x, y, m, total: (m * x).sum(),
    lambda x, y, m, total: (m + 0.5 * total).sum(),
    lambda x, y, m, total: (m * y).sum(axis=0).sum(),
    lambda x, y, m, total: y[0] * total,
    lambda x, y, m, total: (y * y * x).sum(),
]
"""What a step may add up: of two vectors, a matrix and the last total."""


def loop(xs, y, m, total, chosen, dtype):
    for x in xs:
        x = x + dtype(0.01) * total
        terms = [np.asarray(TERMS[at](x, y, m, total), dtype) for at, _ in chosen]
        total = reduce(
            lambda whole, term: whole + term[0] if term[1] else whole - term[0],
            zip(terms, (added for _, added in chosen), strict=True),
            dtype(0.9) * total,
        )
    return total


@settings(max_examples=25, deadline=None)
@given(
    chosen=st.lists(
        st.tuples(st.integers(0, len(TERMS) - 1), st.booleans()), min_size=1, max_size=6
    ),
    dtype=st.sampled_from([np.float64, np.float32]),
    shape=st.tuples(st.sampled_from([1, 2, 9]), st.sampled_from([1, 3, 8, 70])),
    seed=st.integers(0, 2**32 - 1),
)
def test_totals_are_those_of_a_loop(chosen, dtype, shape, seed):
    name = np.dtype(dtype).name
    xs, y = ft.matrix("xs", dtype=name), ft.vector("y", dtype=name)
    m, start = ft.matrix("m", dtype=name), ft.scalar("start", dtype=name)

    def step(x, total, y, m):
        x = x + dtype(0.01) * total
        terms = [(TERMS[at](x, y, m, total), added) for at, added in chosen]
        return reduce(
            lambda whole, term: whole + term[0] if term[1] else whole - term[0],
            terms,
            dtype(0.9) * total,
        )

    totals, _ = fz.scan(step, sequences=xs, outputs_info=start, non_sequences=[y, m])
    inputs = [xs, y, m, start]
    outputs = [totals[-1], *fz.grad(totals[-1], inputs, disconnected_inputs="ignore")]
    rng = np.random.default_rng(seed)
    values = [(rng.normal(size=(STEPS, shape[1])) / 9).astype(dtype)]
    values += [
        (rng.normal(size=size) / (9 * shape[0])).astype(dtype) for size in (shape[1:], shape)
    ]
    values.append(dtype(0.5))
    found = fz.function(inputs, outputs, mode="cranelift")(*values)
    plain = fz.function(inputs, outputs, mode=fz.Mode("py").excluding("scan"))(*values)
    tolerance = 1e-9 if dtype is np.float64 else 2e-3
    expected = loop(*values, chosen, dtype)
    np.testing.assert_allclose(found[0], expected, rtol=tolerance, atol=tolerance)
    for one, other in zip(found, plain, strict=True):
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)


def total_of(step, *sequences):
    total, _ = fz.scan(step, sequences=list(sequences), outputs_info=ft.as_tensor(0.0))
    return total[-1]


def test_a_parameter_of_many_elements_has_one_sum_in_a_step():
    start, rate = ft.vector("start"), ft.scalar("rate")

    def step(x, rate):
        slope = rate * ft.sin(x)
        other = rate * ft.sin(x + 0.1 * slope)
        return x + 0.1 * (slope + rate * other)

    xs, _ = fz.scan(step, outputs_info=start, non_sequences=rate, n_steps=5)
    gradient = fz.grad((xs[-1] ** 2).sum(), rate)
    found = []
    for mode in MODES:
        f = fz.function([start, rate], gradient, mode=mode)
        assert sums_in_steps(f) == 1
        found.append(f(np.linspace(-1.0, 1.0, 1000), 0.7))
    for other in found:
        np.testing.assert_allclose(found[0], other, rtol=1e-12)
    assert found[1] == found[2] == found[3]


def test_sums_of_other_lengths_and_shared_sums_stay():
    xs, ys, zs = ft.matrix("xs"), ft.matrix("ys"), ft.matrix("zs")
    inputs = [xs, ys, zs]
    apart = total_of(
        lambda x, y, z, s: s * 0.5 + ft.sin(s * x).sum() + ft.sin(s * y).sum(), *inputs
    )
    f = fz.function(inputs, apart, mode="py", on_unused_input="ignore")
    assert sums_in_steps(f) == 2
    f(np.ones((2, 3)), np.ones((2, 4)), np.ones((2, 5)))

    def shared(x, y, z, s):
        total = ft.sin(s * x).sum()
        return s * 0.5 + total + ft.cos(s * x).sum() + ft.sin(total)

    f = fz.function(inputs, total_of(shared, *inputs), mode="py", on_unused_input="ignore")
    assert sums_in_steps(f) == 2
