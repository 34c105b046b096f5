"""What a scan refuses when it is written, and what it says then."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import frazil as fz
import frazil.tensor as ft

x = ft.vector("x")


def test_one_condition_ends_a_scan() -> None:
    def step(a: fz.Variable) -> Any:
        return a, fz.until(a > 0), fz.until(a < -1)

    with pytest.raises(ValueError, match=r"two conditions .* return one fz\.until"):
        fz.scan(step, x)


@pytest.mark.parametrize("steps", [0, -2, True])
def test_gradients_go_back_some_steps_or_all(steps: Any) -> None:
    with pytest.raises(ValueError, match=f"truncate_gradient must be .*, given {steps}"):
        fz.scan(lambda a: a, x, truncate_gradient=steps)


@pytest.mark.parametrize("steps", ["all", 1.5])
def test_steps_of_a_gradient_are_counted(steps: Any) -> None:
    with pytest.raises(TypeError):
        fz.scan(lambda a: a, x, truncate_gradient=steps)


@pytest.mark.parametrize("taps", [[0], [1], [-1, 0]])
def test_outputs_are_read_from_steps_before(taps: list[int]) -> None:
    with pytest.raises(ValueError, match="steps before the present one"):
        fz.scan(lambda *a: a[0], outputs_info={"initial": x, "taps": taps}, n_steps=3)


def test_what_a_dict_says_is_known() -> None:
    with pytest.raises(TypeError, match="output 0 does not take 'tap'; it takes initial, taps"):
        fz.scan(lambda a: a, outputs_info={"initial": x, "tap": [-1]}, n_steps=3)
    with pytest.raises(TypeError, match="sequence 0 is a dict without 'input'"):
        fz.scan(lambda a: a, {"inputs": x})


def test_the_number_of_steps_is_known() -> None:
    with pytest.raises(ValueError, match="number of steps of the scan is unknown"):
        fz.scan(lambda a: a, outputs_info=x)
    with pytest.raises(ValueError, match="cannot be negative, given -2"):
        fz.scan(lambda a: a, x, n_steps=-2)
    with pytest.raises(ValueError, match="a sequence has 3 elements for 5 steps"):
        fz.scan(lambda a: a, ft.constant(np.ones(3)), n_steps=5)
    for steps in (1.5, "3", ft.dscalar(), ft.lvector()):
        with pytest.raises(TypeError, match="a length must be"):
            fz.scan(lambda a: a, x, n_steps=steps)  # type: ignore[arg-type]


def test_a_sequence_has_elements() -> None:
    with pytest.raises(TypeError, match=r"sequence 0, .* has no dimensions"):
        fz.scan(lambda a: a, ft.dscalar())


STEPS = {
    "a function": lambda row: ft.exp(row),
    "arithmetic": lambda row: row * 2,
    "the rows themselves": lambda row: row,
    "sums": lambda row: row.sum(),
}


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("name", STEPS)
def test_more_steps_than_elements_raise_where_no_scan_is_left(name, backwards, mode):
    rows, n = ft.matrix("rows"), ft.lscalar("n")
    outputs, _ = fz.scan(STEPS[name], rows, n_steps=n, go_backwards=backwards)
    f = fz.function([rows, n], outputs, mode=mode)
    given = np.arange(6.0).reshape(3, 2)
    for steps in (4, -1):
        with pytest.raises(ValueError, match=r"length|elements|negative"):
            f(given, steps)
    assert [len(f(given, steps)) for steps in (0, 2, 3)] == [0, 2, 3]


def test_one_row_is_not_taken_for_several_steps(mode):
    row, n = ft.row("row"), ft.lscalar("n")
    outputs, _ = fz.scan(ft.exp, row, n_steps=n)
    f = fz.function([row, n], outputs, mode=mode)
    with pytest.raises(ValueError, match=r"length|elements|reshape|broadcast"):
        f(np.ones((1, 2)), 3)
    assert f(np.ones((1, 2)), 1).shape == (1, 2)
