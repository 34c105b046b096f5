"""Run in a process of its own: prints the peak that was planned, and what the first call took."""

import sys

import numpy as np

import frazil as fz
import frazil.tensor as ft
from frazil import _core

N = 300  # an output of this many rows comes from the runtime, a small one from NumPy
STEPS = 40  # of loops whose steps multiply matrices


def graphs():
    """Names and outputs of graphs of a matrix, all of whose outputs are large."""
    x = ft.dmatrix("x")
    yield x, "loop", [ft.exp(x) + 1.0]
    yield x, "products", [ft.dot(ft.dot(ft.dot(x, x), x), x)]
    yield x, "loops_between_products", [ft.exp(ft.dot(ft.sin(ft.dot(ft.cos(x), x)), x))]
    yield x, "kept_and_given_out", [ft.dot(x, x), ft.dot(ft.dot(x, x), x)]
    yield x, "transposed", [ft.dot(x, x).T, (ft.dot(x, x) + 1.0).T]
    updated = ft.exp(x)
    for row in range(100):
        updated = ft.set_subtensor(updated[row], x[row] * 2.0)
    yield x, "updates", [updated]
    zeros = ft.zeros((N, N)), ft.zeros((N, N))
    updates = [ft.set_subtensor(part[1:], x[1:]) for part in zeros]
    yield x, "two_buffers", updates
    yield x, "update_of_an_input", [ft.set_subtensor(x[1:], 0.0)]
    scattered = ft.exp(x)
    for start in range(20):
        scattered = ft.inc_subtensor(scattered[np.arange(start, N, 7)], x[0])
    yield x, "updates_at_indices", [scattered]
    product = ft.dot(x, x)
    yield x, "factor", [ft.linalg.cholesky(ft.dot(x, x.T) + ft.eye(N)), product + 1.0]
    yield x, "rows_and_columns", [ft.dot(x - x.mean(axis=0), x.T / x.sum(axis=1))]
    stack = ft.stack([x, x * 2.0, x * 3.0])
    yield x, "many_products", [ft.matmul(stack, stack)]
    yield x, "system", [ft.linalg.solve(x + ft.eye(N), x)]
    yield x, "inverse_and_determinant", [ft.linalg.inv(x + ft.eye(N)), x * ft.linalg.det(x)]
    yield x, "loop_of_numbers", [scan(lambda v, s: ft.tanh(s) + v, x.flatten(), ft.constant(0.0))]
    yield x, "loop_of_vectors", [scan(lambda v, s: ft.dot(x, s) + v, x, x[0])]
    yield x, "loop_of_matrices", [scan(lambda v, s: ft.dot(x, s) + v, x[:STEPS], x)[-1]]
    pairs, two = x.reshape((N * N // 2, 2)), ft.constant(np.zeros(2))
    yield x, "loop_of_presumed_lengths", [scan(lambda v, s: x[:2, :2] @ s + v, pairs, two)]
    few, rows = x[:40, :40], x[:, :40]
    yield x, "loop_with_kept_matrices", [scan(lambda v, s: few @ s + s @ few + v, rows, rows[0])]
    loop = scan(lambda v, s: ft.dot(x, ft.tanh(s)) + v, x, x[0])
    yield x, "gradient_of_a_loop", [fz.grad(loop[-1].sum(), x)]
    yield x, "loop_by_blocks", [scan(lambda v, s: s * 0.5 + ft.sin(v * s), x[0], x.flatten())[-1]]
    yield x, "loop_of_joined_parts", [scan(turned_and_gathered, x, x[0])]
    yield x, "loop_in_a_loop", [scan(lambda v, s: scan(lambda e, t: t * e + v, v, s)[-1], x, x[0])]
    a = ft.dmatrix("a")
    op = fz.OpFromGraph([a], [ft.dot(ft.dot(ft.dot(a, a), a), a) + 2.0])
    yield x, "equal_calls", [op(op(x))]
    op = fz.OpFromGraph([a], [ft.dot(ft.dot(ft.dot(a, a), a), a) + 3.0])
    yield x, "calls_in_a_loop", [scan(lambda v, s: op(ft.dot(x, s)) + v, x[:STEPS], x)[-1]]


def choosing_graphs():
    """Names and outputs of graphs of a matrix that take most where its elements are positive."""
    x = ft.dmatrix("x")
    powers = ft.dot(ft.dot(ft.dot(x, x), x), x)
    yield x, "branch", [fz.ifelse(x[0, 0] > 0.0, powers + 1.0, ft.exp(x))]
    yield x, "branch_otherwise", [fz.ifelse(x[0, 0] < 0.0, ft.exp(x), powers + 1.0)]
    inner = fz.ifelse(x[1, 1] > 0.0, ft.dot(ft.dot(x, x) + 3.0, x), ft.exp(x))
    yield x, "branch_in_a_branch", [fz.ifelse(x[0, 0] > 0.0, ft.dot(powers, inner), x)]
    first, second = (fz.ifelse(x[at, 0] > 0.0, ft.dot(ft.dot(x + at, x), x), x) for at in range(2))
    yield x, "two_branches", [ft.dot(first, second)]
    loop = scan(add_cube_of_positive, x[:STEPS], x)
    yield x, "branch_in_a_loop", [loop[-1]]
    yield (
        x,
        "loop_in_a_branch",
        [fz.ifelse(x[0, 0] > 0.0, scan(add_product(x), x[:STEPS], x)[-1], x)],
    )
    yield x, "last_of_a_loop_that_may_end", [ending(x, STEPS, start=x)[-1]]
    yield x, "rows_of_a_loop_that_may_end", [ending(x)]
    yield x, "turned_rows_of_a_loop_that_may_end", [ending(x)[::-1]]
    yield x, "few_rows_of_a_loop_that_may_end", [ending(x, 20), ft.dot(x, x)]


def add_cube_of_positive(v, s):
    """A step that adds a product where the row begins with a positive number."""
    return fz.ifelse(v[0] > 0.0, s + ft.dot(s, ft.dot(s, s)), s)


def turned_and_gathered(v, s):
    """A step that joins parts of its state, chooses elements and adds to others."""
    at = np.arange(N) * 7 % 41
    turned = ft.concatenate([s[7:], s[:7]])
    return ft.tanh(ft.inc_subtensor((turned * 0.5)[at], ft.exp(-v)) + s[at])


def add_product(x):
    """A step that adds a product with ``x``."""
    return lambda v, s: ft.dot(x, ft.dot(x, s)) + v


def ending(x, rows=N, start=None):
    """The states of a loop over rows of ``x`` that ends at one whose first element is negative."""
    return scan(
        lambda v, s: (ft.dot(x, s) + v, fz.until(v[0] < 0.0)),
        x[:rows],
        x[0] if start is None else start,
    )


def scan(step, sequence, start):
    """The states of a loop."""
    return fz.scan(step, sequences=[sequence], outputs_info=[start])[0]


def measure(mode, x, name, outputs, value, costliest):
    """Prints what was planned for a first call with ``value``, and what that takes."""
    f = fz.function([x], outputs, mode=mode, threads=1)
    _core.take_peak_bytes()
    before = _core.allocated_bytes()
    kept.append((f, f(value)))
    taken = _core.take_peak_bytes() - before
    plan = f.memory_plan(value)
    print(mode, name, plan.complete, plan.is_exact, costliest, plan.peak, taken)


if __name__ == "__main__":
    mode, costliest = sys.argv[1], sys.argv[2] == "costliest"
    value = np.random.default_rng(0).normal(size=(N, N)) / N
    kept = []  # what is dropped would be used again
    for x, name, outputs in graphs() if costliest else ():
        measure(mode, x, name, outputs, value, costliest)
    for x, name, outputs in choosing_graphs():
        measure(mode, x, name, outputs, abs(value) if costliest else -abs(value), costliest)
