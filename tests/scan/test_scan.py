"""Scans agree with a loop in Python, in every linker, whatever they carry and go along."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from drawn_scans import Case, cases
from hypothesis import given, note, settings

import frazil as fz
import frazil.tensor as ft
from frazil.testing import verify_grad

MODES = ("py", "c", "cranelift", "numba")


@settings(max_examples=settings.default.max_examples // 2)
@given(cases())
def test_a_scan_agrees_with_python(case: Case) -> None:
    variables = case.variables()
    outputs = case.scan(variables)
    expected = case.expected()
    for mode in MODES:
        note(mode)
        results = fz.function(variables, outputs, mode=mode, on_unused_input="ignore")(
            *case.values()
        )
        for result, rows in zip(results, expected, strict=True):
            assert len(result) == len(rows)
            if rows:
                np.testing.assert_allclose(result, np.array(rows), rtol=1e-9, atol=1e-12)


@settings(max_examples=settings.default.max_examples // 2)
@given(cases())
def test_gradients(case: Case) -> None:
    expected = case.expected()
    if not expected[0]:
        return

    def total(*given: fz.Variable) -> fz.Variable:
        outputs = case.scan(list(given))
        return sum(((k + 1) * (y**2).sum() for k, y in enumerate(outputs)), start=ft.constant(0.0))

    # A condition that a small change turns has no gradient there.
    if case.body.limit is not None:
        sums = [np.sum(row) for row in expected[0]]
        if any(abs(value - case.body.limit) < 1e-3 for value in sums):
            return
    # A scan magnifies what finite differences are off by.
    verify_grad(total, case.values(), abs_tol=1e-5, rel_tol=1e-4)


def test_fibonacci_has_its_initial_values_oldest_first() -> None:
    numbers, _ = fz.scan(
        lambda a, b: a + b,
        outputs_info={"initial": ft.constant([0, 1]), "taps": [-2, -1]},
        n_steps=8,
    )
    for mode in MODES:
        found = fz.function([], numbers, mode=mode)()
        assert found.tolist() == [1, 2, 3, 5, 8, 13, 21, 34]
        assert all(b >= a for a, b in pairwise(found))


def test_updates_of_shared_variables() -> None:
    total = fz.shared(10.0, name="total")
    x = ft.dvector("x")

    def step(element: fz.Variable) -> Any:
        return total * 2, {total: total + element}

    doubled, updates = fz.scan(step, x)
    for mode in MODES:
        total.set_value(10.0)
        f = fz.function([x], doubled, updates=updates, mode=mode)
        assert f([1.0, 2.0, 3.0]).tolist() == [20.0, 22.0, 26.0]
        assert total.get_value() == 16.0


@pytest.mark.parametrize("mode", MODES)
def test_zero_steps_and_one(mode: str) -> None:
    x, start = ft.dvector("x"), ft.dscalar("start")
    sums, _ = fz.scan(lambda x, s: x + s, x, start)
    pairs, _ = fz.scan(lambda x: ft.stack([x, 2 * x]), x)
    f = fz.function([x, start], [sums, pairs], mode=mode)
    found, two = f([], 3.0)
    assert found.shape == (0,)
    assert two.shape == (0, 2)
    found, two = f([1.0], 3.0)
    assert found.tolist() == [4.0]
    assert two.tolist() == [[1.0, 2.0]]


@pytest.mark.parametrize("rules", ["all", "no scans"])
@pytest.mark.parametrize("mode", MODES)
def test_the_last_of_too_few_steps(mode: str, rules: str) -> None:
    """What is not there is not read, whatever the rules do; a fold of nothing is its start."""
    s, k, x, w = ft.dscalar("s"), ft.lscalar("k"), ft.dvector("x"), ft.dvector("w")
    nothing: dict[str, Any] = {"return_updates": False}
    doubled = fz.scan(lambda s: 2 * s, None, s, n_steps=k, **nothing)
    vectors = fz.scan(lambda v: ft.sin(v) + ft.sum(v), None, w, n_steps=k, **nothing)
    pairs = {"initial": w, "taps": [-2, -1]}
    sums = fz.scan(lambda a, b: a + b, None, pairs, n_steps=k, **nothing)
    ended = fz.scan(lambda a, b: (a + b, fz.until(b > 2)), None, pairs, n_steps=k, **nothing)
    mapped = fz.map(lambda v: v * ft.sin(v), x, **nothing)
    folded = fz.reduce(lambda v, a: a + v, x, s, **nothing)
    chosen = fz.Mode(mode) if rules == "all" else fz.Mode(mode).excluding("scan")

    def last(row: fz.Variable) -> fz.Function:
        return fz.function([s, k, x, w], row, mode=chosen, on_unused_input="ignore")

    values: Any = 3.0, 0, [], [1.0, 2.0]
    for row in (doubled[-1], vectors[-1], mapped[-1], sums[-1], ended[-1]):
        with pytest.raises(IndexError, match="index -1 is out of bounds for axis 0 with size 0"):
            last(row)(*values)
    assert last(folded)(*values) == 3
    values = 3.0, 1, [2.0], [1.0, 2.0]
    assert last(doubled[-1])(*values) == 6
    assert last(ended[-1])(*values) == 3
    assert last(folded)(*values) == 5
    for row in (sums[-2], doubled[-2]):
        with pytest.raises(IndexError, match="index -2 is out of bounds for axis 0 with size 1"):
            last(row)(*values)
    with pytest.raises(IndexError, match="index -2 is out of bounds for axis 0 with size 1"):
        last(ended[-2])(3.0, 5, [], [1.0, 7.0])
    np.testing.assert_array_equal(last(sums[-2])(3.0, 2, [], [1.0, 2.0]), 3)


class _Limited(fz.Op):
    """One more, up to a limit that only a run meets."""

    def make_node(self, x: fz.Variable) -> fz.FrozenApply:
        return fz.FrozenApply(self, [x], [x.type])

    def perform(self, node: fz.FrozenApply, inputs: Any) -> Any:
        if inputs[0] > 3:
            raise RuntimeError("too large")
        return (np.asarray(inputs[0] + 1),)


@pytest.mark.parametrize("mode", MODES)
def test_an_error_names_the_step(mode: str) -> None:
    s, x, at = ft.dscalar("s"), ft.dvector("x"), ft.lvector("at")
    counted, _ = fz.scan(_Limited(), None, s, n_steps=9)
    with pytest.raises(RuntimeError, match="too large") as caught:
        fz.function([s], counted, mode=mode)(1.0)
    assert "in step 3" in caught.value.__notes__
    picked, _ = fz.scan(lambda at, s: s + x[at], at, s)
    with pytest.raises(IndexError, match="index 7 is out of bounds") as error:
        fz.function([x, at, s], picked, mode=mode)([1.0, 2.0], [0, 1, 7], 0.0)
    told = "\n".join([str(error.value), *getattr(error.value, "__notes__", ())])
    assert "step 2" in told


@pytest.mark.parametrize("mode", MODES)
def test_a_sequence_that_is_too_short(mode: str) -> None:
    x, n = ft.dvector("x"), ft.lscalar("n")
    sums, _ = fz.scan(lambda x, s: x + s, x, ft.constant(0.0), n_steps=n)
    f = fz.function([x, n], sums, mode=mode)
    assert f([1.0, 2.0, 3.0], 2).tolist() == [1.0, 3.0]
    with pytest.raises(ValueError, match="sequence 0 of Scan"):
        f([1.0, 2.0], 3)
    with pytest.raises(ValueError, match="negative"):
        f([1.0, 2.0], -1)


def test_drift_of_a_state_names_it_and_both_types() -> None:
    h = ft.dvector("h")
    with pytest.raises(TypeError, match=r"h starts with type .*float64.* after a step"):
        fz.scan(lambda h: ft.cast(h, "float32"), outputs_info=h, n_steps=3)
    with pytest.raises(TypeError, match="h starts with type"):
        fz.scan(lambda h: h.sum(), outputs_info=h, n_steps=3)


@pytest.mark.parametrize("mode", MODES)
def test_drift_of_a_shape_names_the_state_and_both_shapes(mode: str) -> None:
    h = ft.dvector("h")
    grown, _ = fz.scan(lambda h: ft.concatenate([h, h]), outputs_info=h, n_steps=3)
    f = fz.function([h], grown, mode=mode)
    with pytest.raises(ValueError, match=r"step 0: state 0 .*\(4,\).*\(2,\)"):
        f([1.0, 2.0])


def test_strict_names_what_is_not_passed() -> None:
    x, a = ft.dvector("x"), ft.dscalar("a")
    with pytest.raises(fz.MissingInputError, match="a"):
        fz.scan(lambda x: x * a, x, strict=True)
    passed, _ = fz.scan(lambda x, a: x * a, x, non_sequences=a, strict=True)
    assert fz.function([x, a], passed)([1.0, 2.0], 3.0).tolist() == [3.0, 6.0]


def test_scans_built_alike_are_one_op() -> None:
    def built() -> fz.Op:
        x = ft.dvector()
        sums, _ = fz.scan(lambda x, s: x + s, x, ft.constant(0.0))
        return sums.owner.op

    with fz.Container():
        other = built()
    assert built() is other

    x = ft.dvector()
    scan, _ = fz.scan(lambda x, s: x + s, x, ft.constant(0.0))
    ended, _ = fz.scan(lambda x, s: (x + s, fz.until(s > 1)), x, ft.constant(0.0))
    assert ended.owner.op is not scan.owner.op


@pytest.mark.parametrize("mode", MODES)
def test_a_scan_in_a_scan(mode: str) -> None:
    x, y = ft.dvector("x"), ft.dvector("y")

    def outer(a: fz.Variable, total: fz.Variable) -> fz.Variable:
        inner, _ = fz.scan(lambda b, s: ft.tanh(s + a * b), y, total)
        return inner[-1]

    def scan(x: fz.Variable, y: fz.Variable) -> fz.Variable:
        def outer(a: fz.Variable, total: fz.Variable) -> fz.Variable:
            inner, _ = fz.scan(lambda b, s: ft.tanh(s + a * b), y, total)
            return inner[-1]

        return fz.scan(outer, x, ft.constant(0.5))[0]

    result = scan(x, y)
    a, b = np.array([0.3, -0.2, 0.8]), np.array([1.0, 2.0])
    total, expected = 0.5, []
    for one in a:
        for other in b:
            total = np.tanh(total + one * other)
        expected.append(total)
    np.testing.assert_allclose(fz.function([x, y], result, mode=mode)(a, b), expected)
    verify_grad(scan, [a, b], mode=mode)


def test_truncated_gradients_go_back_so_far() -> None:
    x = ft.dvector("x")
    sums, _ = fz.scan(lambda x, s: s + x**2, x, ft.constant(0.0), truncate_gradient=2)
    g = fz.grad(sums[-1], x)
    assert fz.function([x], g)([1.0, 2.0, 3.0, 4.0]).tolist() == [0.0, 0.0, 6.0, 8.0]


def test_second_derivatives() -> None:
    a = np.array(0.7)

    def slope(a: fz.Variable) -> fz.Variable:
        powers, _ = fz.scan(lambda p: ft.sin(p * a), outputs_info=ft.constant(1.0), n_steps=4)
        return fz.grad(powers.sum(), a)

    verify_grad(slope, [a])


@pytest.mark.parametrize("mode", MODES)
def test_a_name_is_in_messages(mode: str) -> None:
    s, k = ft.dscalar("s"), ft.lscalar("k")
    powers, _ = fz.scan(lambda s: 2 * s, None, s, n_steps=k, name="doubling")
    f = fz.function([s, k], [powers, fz.grad(ft.sum(powers), s)], mode=mode)
    with pytest.raises(ValueError, match=r"Scan\{doubling\}.*negative|negative.*Scan\{doubling\}"):
        f(1.0, -1)


def test_debug_mode_goes_step_by_step() -> None:
    x, s = ft.dvector("x"), ft.dscalar("s")
    sums, _ = fz.scan(lambda x, a: (a + x, fz.until(a > 2)), x, s)
    f = fz.function([x, s], [sums, fz.grad(ft.sum(sums), x)], mode="debug")
    assert f([1.0] * 9, 0.0)[0].tolist() == [1, 2, 3, 4]
    logs, _ = fz.scan(lambda x, a: ft.log(a) * x, x, s)
    with pytest.raises(fz.DebugModeError, match="step 1: its result 0 is NaN at"):
        fz.function([x, s], logs, mode="debug")([1.0, 2.0, 3.0], 0.5)


@pytest.mark.parametrize("static", [False, True])
def test_a_sequence_that_no_step_reads_has_an_element_for_each_step(mode, static):
    x, s, k = ft.vector("x"), ft.scalar("s"), ft.lscalar("k")
    steps = 3 if static else k
    powers, _ = fz.scan(lambda row, p: 2 * p, [x], [s], n_steps=steps)
    ones, _ = fz.scan(lambda row: ft.constant(1.0), [x], n_steps=steps)
    f = fz.function([x, s, k], powers, mode=mode, on_unused_input="ignore")
    g = fz.function([x, k], ones, mode=mode, on_unused_input="ignore")
    for length in (3, 5):
        np.testing.assert_array_equal(f(np.ones(length), 1.0, 3), [2, 4, 8])
        np.testing.assert_array_equal(g(np.ones(length), 3), [1, 1, 1])
    for call in (lambda v: f(v, 1.0, 3), lambda v: g(v, 3)):
        with pytest.raises(ValueError, match="fewer elements than the scan has steps"):
            call(np.ones(2))
    with pytest.raises(ValueError, match="2 elements for 3 steps"):
        fz.scan(lambda row, p: 2 * p, [ft.constant([1.0, 2.0])], [s], n_steps=3)


@pytest.mark.parametrize("step", [lambda x: None, lambda x: fz.until(x > 1), lambda x: {}])
def test_a_step_that_returns_nothing_is_refused(step):
    with pytest.raises(TypeError, match="does its function lack a return"):
        fz.scan(step, ft.vector("x"))
