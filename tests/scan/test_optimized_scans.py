"""What scans need not do is not done in them, as their graphs and their memory tell."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import frazil as fz
import frazil._core as core
import frazil.tensor as ft
from frazil.rewrite.scan import hoisting
from frazil.scan import op as scan_op
from frazil.scan.body import ScanBody
from frazil.scan.op import Scan
from frazil.tensor.lengths import lengths
from frazil.testing import verify_grad

PLAIN = fz.Mode("c").excluding("scan")


def scans(function):
    """The ops of all scans that a function runs, not those within them."""
    return [node.op for node in function.optimized.toposort() if isinstance(node.op, Scan)]


def ops_within(scan):
    return {str(node.op) for node in scan.fgraph.toposort()}


def peak(function, *arguments):
    """Bytes that a first call with these arguments allocates at most."""
    core.take_peak_bytes()
    before = core.allocated_bytes()
    function(*arguments)
    return core.take_peak_bytes() - before


def test_value_and_gradient_go_forth_once_and_back_once():
    x, a = ft.dvector("x"), ft.dscalar("a")
    s, _ = fz.scan(lambda x, s, a: a * s + x**2, x, ft.constant(1.0), a)
    cost = ft.log(s).sum()
    f = fz.function([x, a], [cost, fz.grad(cost, a)])
    assert [scan.backwards for scan in scans(f)] == [False, True]
    plain = fz.function([x, a], [cost, fz.grad(cost, a)], mode=PLAIN)
    assert len(scans(plain)) == 3
    arguments = np.arange(1.0, 6.0), 0.5
    np.testing.assert_allclose(f(*arguments), plain(*arguments))


def test_scans_over_the_same_steps_are_one_unless_one_needs_the_other():
    x = ft.dvector("x")
    first, _ = fz.scan(lambda x, s: s + x, x, ft.constant(0.0))
    second, _ = fz.scan(lambda x, s: s * x, x, ft.constant(1.0))
    after, _ = fz.scan(lambda y, s: s + y, first, ft.constant(0.0))
    f = fz.function([x], [first, second, after])
    assert len(scans(f)) == 2
    found = f([1.0, 2.0, 3.0])
    assert [y.tolist() for y in found] == [[1.0, 3.0, 6.0], [1.0, 2.0, 6.0], [1.0, 4.0, 10.0]]


def test_what_does_not_change_is_computed_before():
    x, w = ft.dmatrix("x"), ft.dmatrix("w")
    y, _ = fz.scan(lambda x, h, w: ft.tanh(h + x) @ ft.exp(w), x, ft.zeros(3), w)
    f = fz.function([x, w], y)
    assert "exp" not in " ".join(ops_within(scans(f)[0]))
    a, b = np.ones((4, 3)), np.eye(3)
    np.testing.assert_allclose(f(a, b), fz.function([x, w], y, mode=PLAIN)(a, b))


def test_what_follows_from_sequences_alone_is_computed_for_all_steps_at_once():
    x, w = ft.dmatrix("x"), ft.dmatrix("w")
    y, _ = fz.scan(lambda x, h, w: ft.tanh(h + w @ ft.sin(x)), x, ft.zeros(3), w)
    f = fz.function([x, w], y)
    assert not {"Dot", "sin"} & ops_within(scans(f)[0])
    a, b = np.random.default_rng(0).normal(size=(2, 4, 3))[0], np.full((3, 3), 0.5)
    np.testing.assert_allclose(f(a, b), fz.function([x, w], y, mode=PLAIN)(a, b))


def test_arithmetic_of_rows_stays_where_its_results_would_be_more_memory():
    x, s, a = ft.dmatrix("x"), ft.dvector("s"), ft.dscalar("a")

    def step(x, s, a):
        return (s + a * x) * (s - x) + (a + x) * s

    y, _ = fz.scan(step, x, s, a)
    f = fz.function([x, s, a], y)
    assert scans(f)[0].n_sequences == 1
    b, start = np.random.default_rng(2).normal(size=(2, 4, 3)) / 4, np.full(3, 0.5)
    expected = fz.function([x, s, a], y, mode=PLAIN)(b[0], start, 0.5)
    np.testing.assert_allclose(f(b[0], start, 0.5), expected)


def test_arithmetic_of_rows_moves_where_its_results_are_less_memory():
    x, z, s = ft.dmatrix("x"), ft.dmatrix("z"), ft.dvector("s")
    y, _ = fz.scan(lambda x, z, s: s * 0.5 + (x - z) * x, [x, z], s)
    f = fz.function([x, z, s], y)
    assert scans(f)[0].n_sequences == 1
    b, start = np.random.default_rng(3).normal(size=(2, 4, 3)), np.full(3, 0.5)
    expected = fz.function([x, z, s], y, mode=PLAIN)(*b, start)
    np.testing.assert_allclose(f(*b, start), expected)


def test_the_gradient_of_arithmetic_over_vectors_keeps_the_states_alone():
    s, a = ft.dvector("s"), ft.dscalar("a")

    def step(x, y, a):
        half = x + 0.5 * a * (y - x)
        return half + 0.5 * a * (x * y - half * half), y - a * half * x

    (x, y), _ = fz.scan(step, None, [s, s], a, n_steps=100)
    cost = ft.sum(x[-1] * y[-1])
    f = fz.function([s, a], [cost, *fz.grad(cost, [s, a])], threads=1)
    back = scans(f)[1]
    assert back.n_sequences == 2
    arguments = np.full(1000, 0.5), 0.01
    stacks = 2 * 100 * 1000 * 8
    assert stacks <= peak(f, *arguments) < 1.2 * stacks
    plain = fz.function([s, a], [cost, *fz.grad(cost, [s, a])], mode=PLAIN)
    for found, expected in zip(f(*arguments), plain(*arguments), strict=True):
        np.testing.assert_allclose(found, expected)


def test_what_is_only_stacked_is_computed_after():
    x, w = ft.dmatrix("x"), ft.dmatrix("w")

    def step(x, h, w):
        new = ft.tanh(h + x)
        return new, ft.exp(new @ w)

    (_, y), _ = fz.scan(step, x, [ft.zeros(3), None], w)
    f = fz.function([x, w], y)
    (scan,) = scans(f)
    assert not {"Dot", "exp"} & ops_within(scan)
    assert len(scan.stacked) == 1
    a, b = np.random.default_rng(1).normal(size=(4, 3)), np.full((3, 3), 0.5)
    np.testing.assert_allclose(f(a, b), fz.function([x, w], y, mode=PLAIN)(a, b))


def test_sums_of_outer_products_are_one_product():
    x, w = ft.dmatrix("x"), ft.dmatrix("w")
    y, _ = fz.scan(lambda x, h, w: ft.tanh(w @ h + x), x, ft.zeros(3), w)
    f = fz.function([x, w], fz.grad((y**2).sum(), w))
    back = scans(f)[-1]
    assert all(state.ndim == 1 for state in back.states)
    plain = fz.function([x, w], fz.grad((y**2).sum(), w), mode=PLAIN)
    a, b = np.random.default_rng(2).normal(size=(5, 3)), np.full((3, 3), 0.5)
    np.testing.assert_allclose(f(a, b), plain(a, b))


def test_states_that_sum_no_products_are_not_asked_what_needs_them(monkeypatch):
    asked, ancestors = [], hoisting.ancestors

    def counted(outputs):
        asked.append(outputs)
        return ancestors(outputs)

    monkeypatch.setattr(hoisting, "ancestors", counted)
    states = [ft.dscalar("a"), ft.dscalar("b")]
    results, _ = fz.scan(lambda a, b: (a + b, a * b), None, states, None, 3)
    (node,) = (node for node in core.toposort(results) if isinstance(node.op, Scan))
    body = ScanBody.of(node.op, node.inputs)
    assert hoisting.defer_sums(body, {0, 1}) == {}
    assert len(body.states) == 2
    assert not asked


def test_steps_whose_types_tell_all_lengths_are_not_looked_through(monkeypatch):
    asked, outer_lengths = [], scan_op.outer_lengths

    def counted(fgraph, variables, input_shapes, values):
        asked.append(variables)
        return outer_lengths(fgraph, variables, input_shapes, values)

    monkeypatch.setattr(scan_op, "outer_lengths", counted)

    def rows(x):
        s, _ = fz.scan(lambda e, s: (s + e.sum(), e[1:] * s), x, [ft.constant(0.0), None])
        (node,) = (node for node in core.toposort(s) if isinstance(node.op, Scan))
        return node.op.row_lengths(node.inputs, [lengths(x) for x in node.inputs])

    known = [(), (ft.constant(2),)]
    assert rows(ft.tensor("x", shape=(None, 3))) == known
    assert not asked
    total, row = rows(ft.dmatrix("x"))
    assert total == ()
    assert [isinstance(length, fz.Constant) for length in row] == [False]
    assert len(asked) == 1


def test_what_nobody_uses_is_not_computed():
    x = ft.dvector("x")

    def step(x, a, b):
        return a + x, ft.exp(b + a), x * 3

    (first, _, _), _ = fz.scan(step, x, [ft.constant(0.0), ft.constant(0.0), None])
    (scan,) = scans(fz.function([x], first))
    assert (scan.n_states, len(scan.stacked)) == (1, 1)


@pytest.mark.parametrize("shape", [(), (3,), (None,)])
def test_memory_does_not_grow_where_only_the_last_steps_are_used(shape, mode):
    h, n = ft.tensor("h", dtype="float64", shape=shape), ft.lscalar("n")
    y, _ = fz.scan(lambda h: ft.sin(h) + 1, outputs_info=h, n_steps=n)
    f = fz.function([h, n], y[-1], mode=mode)
    start = np.zeros([3 if length is None else length for length in shape])
    if mode != "py":
        assert peak(f, start, 20_000) < 1000
    want = start
    for _ in range(20):
        want = np.sin(want) + 1
    np.testing.assert_allclose(f(start, 20), want)


def test_the_last_of_several_lags():
    start, n = ft.dvector("start"), ft.lscalar("n")
    y, _ = fz.scan(lambda a, b: a + b, outputs_info={"initial": start, "taps": [-2, -1]}, n_steps=n)
    f = fz.function([start, n], [y[-1], y[-2]])
    (scan,) = scans(f)
    assert not scan.stacked
    assert [float(one) for one in f([0.0, 1.0], 6)] == [13.0, 8.0]


def test_equal_states_are_one():
    x = ft.dvector("x")

    def step(x, a, b, c):
        return a + b * x, b + a * x, c + x

    zero = ft.constant(0.0)
    outputs, _ = fz.scan(step, x, [zero, zero, zero])
    f = fz.function([x], outputs)
    (scan,) = scans(f)
    assert scan.n_states == 2
    for found, want in zip(
        f([1.0, 2.0]), fz.function([x], outputs, mode=PLAIN)([1.0, 2.0]), strict=True
    ):
        np.testing.assert_array_equal(found, want)


@given(st.integers(1, 30), st.integers(1, 7))
def test_checkpoints_are_every_nth_step(steps, every):
    x = ft.dvector("x")
    kept, _ = fz.scan_checkpoints(
        lambda x, s: ft.tanh(s) + x, x, ft.constant(0.5), save_every_N=every, padding=False
    )
    plain, _ = fz.scan(lambda x, s: ft.tanh(s) + x, x, ft.constant(0.5))
    value = np.sin(np.arange(steps, dtype=float))
    found, all_steps = fz.function([x], [kept, plain])(value)
    np.testing.assert_allclose(found, all_steps[every - 1 :: every])


def test_gradients_of_checkpoints():
    def last(x):
        kept, _ = fz.scan_checkpoints(lambda x, s: ft.tanh(s + x), x, ft.zeros(2), save_every_N=3)
        return kept[-1]

    verify_grad(last, [np.random.default_rng(3).normal(size=(6, 2))])


def test_checkpoints_keep_less():
    width, steps, every = 50, 400, 20
    x, w = ft.dmatrix("x"), ft.dmatrix("w")

    def step(x, h, w):
        return ft.tanh(w @ h + x)

    start = ft.constant(np.zeros(width))
    kept, _ = fz.scan_checkpoints(step, x, start, w, save_every_N=every)
    plain, _ = fz.scan(step, x, start, w)
    value = np.random.default_rng(4).normal(size=(steps, width))
    weights = np.eye(width) / 2
    peaks = []
    for y in (kept, plain):
        f = fz.function([x, w], fz.grad((y[-1] ** 2).sum(), w), threads=1)
        peaks.append(peak(f, value, weights))
    row = 8 * width
    assert peaks[1] > steps * row
    # The rows for the products that make the gradient of w remain, those of one part at a time.
    assert peaks[0] < peaks[1] / 2
