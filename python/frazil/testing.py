"""Checks for tests of ops: gradients are compared with finite differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from frazil._core import TensorType, Variable
from frazil.compile.function import Function, function
from frazil.compile.mode import ModeLike
from frazil.gradient.reverse import grad

Array = np.ndarray[Any, Any]


class GradientError(AssertionError):
    """A gradient differs from the finite differences of the function."""


def verify_grad(
    fun: Callable[..., Variable],
    pt: Sequence[Array],
    n_tests: int = 2,
    rng: np.random.Generator | None = None,
    eps: float | None = None,
    abs_tol: float | None = None,
    rel_tol: float | None = None,
    mode: ModeLike = None,
) -> None:
    """Check the gradient of a function against central differences.

    The function's output is projected on random directions; the gradient of the projection must
    agree with the differences of the function, which are taken in float64 for float32 points, too.

    Parameters
    ----------
    fun : callable
        Takes one variable for each point and returns one floating-point variable.
    pt : sequence of ndarray
        The points at which to differentiate: float32 or float64. The arguments of ``fun`` are
        variables of these dtypes and ranks; a length of 1 is part of their types.
    n_tests : int, default 2
        The number of random projections.
    rng : numpy.random.Generator, optional
        The source of the projections; by default they are the same in each run.
    eps : float, optional
        The step, relative to elements larger than 1. Default 1e-5.
    abs_tol, rel_tol : float, optional
        The largest error of a gradient. Default 1e-6, and 1e-3 for float32.
    mode : optional
        The mode, as for :func:`frazil.function`.

    Raises
    ------
    GradientError
        If a gradient is wrong; the message says which, where and by how much.

    Examples
    --------
    >>> import numpy as np
    >>> import frazil.tensor as ft
    >>> from frazil.testing import verify_grad
    >>> verify_grad(lambda x: ft.tanh(x) ** 2, [np.array([0.5, -1.0])])
    """
    points = [np.asarray(point) for point in pt]
    for point in points:
        if point.dtype not in (np.float32, np.float64):
            raise TypeError(f"points must be float32 or float64; given {point.dtype}")
    rng = np.random.default_rng(20250101) if rng is None else rng
    single = any(point.dtype == np.float32 for point in points)
    default = 1e-3 if single else 1e-6
    abs_tol = default if abs_tol is None else abs_tol
    rel_tol = default if rel_tol is None else rel_tol
    eps = 1e-5 if eps is None else eps

    exact = [point.astype(np.float64) for point in points]
    reference = _compile(fun, exact, mode)
    inputs, output = _apply(fun, points)
    weights = TensorType(output.dtype, output.type.shape)("weights")
    gradients = function(
        [*inputs, weights],
        grad((weights * output).sum(), inputs, None, "ignore"),
        mode=mode,
        on_unused_input="ignore",
    )
    shape = reference(*exact).shape
    directions = [rng.uniform(0.5, 1.5, size=shape) for _ in range(n_tests)]
    differences = _central_differences(reference, exact, directions, eps)
    for direction, numeric in zip(directions, differences, strict=True):
        analytic = gradients(*points, direction.astype(output.dtype))
        for position, (found, wanted) in enumerate(zip(analytic, numeric, strict=True)):
            _compare(position, points[position], found, wanted, abs_tol, rel_tol)


def _apply(
    fun: Callable[..., Variable], points: Sequence[Array]
) -> tuple[list[Variable], Variable]:
    inputs = [
        TensorType(point.dtype, tuple(1 if n == 1 else None for n in point.shape))(f"x{position}")
        for position, point in enumerate(points)
    ]
    output = fun(*inputs)
    if not isinstance(output, Variable) or output.dtype not in ("float32", "float64"):
        raise TypeError(f"fun must return one floating-point variable; given {output!r}")
    return inputs, output


def _compile(fun: Callable[..., Variable], points: Sequence[Array], mode: ModeLike) -> Function:
    inputs, output = _apply(fun, points)
    return function(inputs, output, mode=mode, on_unused_input="ignore")


def _central_differences(
    value_of: Callable[..., Array],
    points: Sequence[Array],
    directions: Sequence[Array],
    eps: float,
) -> list[list[Array]]:
    """Return for each direction the derivatives of ``(direction * value_of(*points)).sum()``."""
    derivatives = [[np.empty_like(point) for point in points] for _ in directions]
    for position, point in enumerate(points):
        for index in np.ndindex(point.shape):
            step = eps * max(1.0, abs(float(point[index])))
            ends = []
            for sign in (1.0, -1.0):
                moved = point.copy()
                moved[index] += sign * step
                ends.append(value_of(*points[:position], moved, *points[position + 1 :]))
            for direction, own in zip(directions, derivatives, strict=True):
                above, below = (np.sum(direction * value) for value in ends)
                own[position][index] = (above - below) / (2 * step)
    return derivatives


def _compare(
    position: int, point: Array, found: Array, wanted: Array, abs_tol: float, rel_tol: float
) -> None:
    if found.shape != point.shape or found.dtype != point.dtype:
        raise GradientError(
            f"the gradient of argument {position} has shape {found.shape} and dtype {found.dtype}; "
            f"the argument has {point.shape} and {point.dtype}"
        )
    error = np.abs(found - wanted)
    allowed = abs_tol + rel_tol * np.abs(wanted)
    if np.all(error <= allowed):
        return
    excess = np.where(np.isnan(error), np.inf, error - allowed)
    worst = np.unravel_index(np.argmax(excess), error.shape)
    raise GradientError(
        f"the gradient of argument {position} at {tuple(map(int, worst))} is {found[worst]}, by "
        f"finite differences {wanted[worst]}: off by {error[worst]:.3g}, allowed "
        f"{allowed[worst]:.3g}. The argument is {point[worst]} there."
    )
