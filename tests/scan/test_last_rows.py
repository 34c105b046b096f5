"""Of a stack of which only the last rows are used no more is kept, and these are what they were."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from drawn_scans import Case, cases
from hypothesis import given, settings
from hypothesis import strategies as st

import frazil as fz
import frazil._core as core
import frazil.tensor as ft
from frazil.scan.op import Scan

MODES = ("py", "c", "cranelift", "numba")
PLAIN = fz.Mode("py").excluding("scan")

parts = st.lists(
    st.one_of(
        st.integers(-4, 2),
        st.integers(-4, -1).map(lambda start: slice(start, None)),
        st.integers(0, 3).map(lambda stop: slice(None, stop)),
    ),
    min_size=1,
    max_size=3,
    unique_by=str,
)


def taken(values: np.ndarray, index: Any) -> np.ndarray | None:
    """The part of an array; None if it has no such row."""
    try:
        return values[index]
    except IndexError:
        return None


def check(
    variables: list[fz.Variable],
    values: list[np.ndarray],
    stacks: list[fz.Variable],
    indices: list[list[Any]],
    mode: str,
) -> None:
    """Parts of stacks, alone and together, are those of the whole stacks."""
    compiled = fz.function(variables, stacks, mode=PLAIN, on_unused_input="ignore")
    whole = compiled(*values)
    pairs = [(stack, index) for stack, own in enumerate(indices) for index in own]
    wanted = [taken(whole[stack], index) for stack, index in pairs]
    there = [at for at, value in enumerate(wanted) if value is not None]
    missing = [at for at, value in enumerate(wanted) if value is None]
    for chosen in ([there] if there else []) + [[at] for at in missing]:
        try:
            outputs = [stacks[pairs[at][0]][pairs[at][1]] for at in chosen]
        except IndexError:
            assert chosen[0] in missing
            continue
        f = fz.function(variables, outputs, mode=mode, on_unused_input="ignore")
        if chosen is there:
            for found, at in zip(f(*values), chosen, strict=True):
                np.testing.assert_allclose(found, wanted[at], rtol=1e-9, atol=1e-12)
                assert found.shape == wanted[at].shape
        else:
            with pytest.raises(IndexError, match="out of bounds for axis 0"):
                f(*values)


@settings(max_examples=settings.default.max_examples // 2)
@given(case=cases(), data=st.data(), mode=st.sampled_from(MODES))
def test_parts_of_stacks(case: Case, data: st.DataObject, mode: str) -> None:
    variables = case.variables()
    stacks = case.scan(variables)
    check(variables, case.values(), stacks, [data.draw(parts) for _ in stacks], mode)


@settings(max_examples=settings.default.max_examples // 2)
@given(case=cases(), data=st.data(), mode=st.sampled_from(MODES))
def test_parts_of_gradients(case: Case, data: st.DataObject, mode: str) -> None:
    """A scan that goes back makes the first rows last."""
    if not case.sequences or not case.expected()[0]:
        return
    variables = case.variables()
    cost = sum(((y**2).sum() for y in case.scan(variables)), start=ft.constant(0.0))
    wanted = variables[: len(case.sequences)]
    gradients = fz.grad(cost, wanted, disconnected_inputs="ignore")
    check(variables, case.values(), gradients, [data.draw(parts) for _ in wanted], mode)


@pytest.mark.parametrize("mode", MODES)
def test_the_first_rows_of_a_scan_that_goes_back(mode: str) -> None:
    x, h = ft.dvector("x"), ft.dvector("h")
    y, _ = fz.scan(lambda x, s: ft.sin(s * x) + x, x, h)
    g = fz.grad((y**2).sum(), x)
    values = np.array([0.1, 0.2, 0.3, 0.4]), np.array([1.0, 2.0, 3.0])
    whole = fz.function([x, h], g, mode=mode)(*values)
    for index in (0, 1, 3, -1, -2, slice(None, 2), slice(-2, None)):
        part = fz.function([x, h], g[index], mode=mode)(*values)
        np.testing.assert_allclose(part, whole[index])


def peak(function: fz.Function, *arguments: Any) -> int:
    """Bytes that a first call with these arguments allocates at most."""
    core.take_peak_bytes()
    before = core.allocated_bytes()
    function(*arguments)
    return core.take_peak_bytes() - before


@pytest.mark.parametrize("shape", [(), (3,), (None,)])
@pytest.mark.parametrize("index", [-1, -2, slice(-3, None)])
@pytest.mark.parametrize("ends", [False, True])
@pytest.mark.parametrize("mode", ["c", "cranelift", "numba"])
def test_memory_does_not_grow(mode: str, ends: bool, index: Any, shape: Any) -> None:
    """With outputs that are carried and not, with an end and without."""
    h, n = ft.tensor("h", dtype="float64", shape=shape), ft.lscalar("n")

    def step(h: fz.Variable) -> Any:
        new = ft.sin(h) + 1
        outputs = [new, ft.cos(new) * ft.sum(h)]
        return (outputs, fz.until(ft.sum(new) > 1e9)) if ends else outputs

    (carried, made), _ = fz.scan(step, None, [h, None], n_steps=n)
    start = np.ones([3 if length is None else length for length in shape])
    rows: list[tuple[np.ndarray, np.ndarray]] = []
    state = start
    for _ in range(20):
        before, state = state, np.sin(state) + 1
        rows.append((state, np.cos(state) * np.sum(before)))
    for at, stack in enumerate((carried, made)):
        f = fz.function([h, n], stack[index], mode=mode)
        (scan,) = [node.op for node in f.optimized.toposort() if isinstance(node.op, Scan)]
        assert not scan.stacked
        assert peak(f, start, 20_000) < 3000
        wanted = np.array([row[at] for row in rows])[index]
        np.testing.assert_allclose(f(start, 20), wanted)
