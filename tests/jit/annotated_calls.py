"""Calls of what takes functions and variables, with the types that mypy must find.

``make lint`` checks this file by mypy --strict, test_annotations.py runs it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, assert_type

import numpy as np
import numpy.typing as npt

import frazil as fz
import frazil.tensor as ft
from frazil import Variable

Array = npt.NDArray[np.float64]
Params = dict[str, Array]

if TYPE_CHECKING:  # an ignored error that mypy does not find is an error
    fz.no_such_function()  # type: ignore[attr-defined]
    ft.no_such_function()  # type: ignore[attr-defined]
    fz.random.no_such_function()  # type: ignore[attr-defined]


def cost(params: Params, x: Array, power: int = 2) -> float:
    """Something to differentiate."""
    return float(0) + ((params["w"] * x) ** power).sum()  # type: ignore[no-any-return]


def with_aux(params: Params, x: Array) -> tuple[float, str]:
    """A pair."""
    return cost(params, x), "aux"


def symbolic() -> list[Variable]:
    """The forms that take variables."""
    x, y = ft.vector("x"), ft.vector("y")
    total = ft.sum(x * y)
    assert_type(fz.grad(total, x), Variable)
    assert_type(fz.grad(total, [x, y]), list[Variable])
    assert_type(fz.grad(None, x, known_grads={total: ft.as_tensor(1.0)}), Variable)
    assert_type(fz.jacobian(x * y, x), Variable)
    assert_type(fz.jacobian(x * y, [x, y]), list[Variable])
    assert_type(fz.hessian(total, x), Variable)
    return [*fz.hessian(total, [x, y]), fz.grad(total, x)]


def of_functions(params: Params, x: Array) -> list[Any]:
    """The forms that take functions."""
    gradient = fz.grad(cost)
    found = gradient(params, x)
    assert_type(found, Params)
    assert_type(gradient(params, x, power=3), Params)
    with_rest, rest = fz.grad(with_aux, has_aux=True)(params, x)
    assert_type(with_rest, Params)
    assert_type(rest, str)
    value, again = fz.value_and_grad(cost)(params, x)
    assert_type(value, float)
    assert_type(again, Params)
    by_both: Callable[[Params, Array], Any] = fz.grad(cost, (0, 1))
    same = fz.grad(cost, argnums=(0, 1))
    rows = fz.jacobian(lambda x: x * x)(x)
    assert_type(fz.jvp(cost, (params, x), (params, x)), tuple[float, float])
    result, pull = fz.vjp(cost, params, x)
    assert_type(result, float)
    assert_type(pull(1.0), tuple[Any, ...])
    return [found, value, by_both(params, x), same(params, x), rows, fz.hessian(cost)(params, x)]


def compiled(params: Params, x: Array) -> list[Any]:
    """Compiled functions keep their signature."""
    fast = fz.jit(cost)
    assert_type(fast(params, x), float)
    assert_type(fast(params, x, power=3), float)

    @fz.jit(mode="py", static_argnames="power")
    def slow(params: Params, x: Array, *, power: int) -> Array:
        return params["w"] * x**power

    assert_type(slow(params, x, power=2), Array)
    each = fz.vmap(lambda row: row * 2)
    both = fz.jit(fz.value_and_grad(cost))(params, x)
    assert_type(both, tuple[float, Params])
    chosen = fz.cond(x.sum() > 0, lambda: x, lambda: -x)
    assert_type(chosen, Array)
    assert_type(fz.while_loop(lambda n: n < 5, lambda n: n + 1, 0), int)
    assert_type(fz.fori_loop(0, 3, lambda i, s: s + x, x), Array)
    return [both, chosen, each(x), slow.cache_info().misses]
