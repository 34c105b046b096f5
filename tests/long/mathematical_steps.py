"""Steps of drawn programs: special functions, matrices, and functions over the elements of a batch.

Each takes the drawing and gives a function of the namespace to compute in, and the positions of its
arguments, as those of :mod:`drawn_programs` do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from drawn_programs import Drawing, Drawn

OF_ALL = (
    "erf",
    "erfc",
    "erfcx",
    "ndtr",
    "log_ndtr",
    "expit",
    "log_expit",
    "i0e",
    "i1e",
    "j0",
    "j1",
)
OF_POSITIVE = ("gamma", "gammaln", "psi", "k0e", "k1e", "y0", "y1")
OF_PROBABILITIES = ("logit", "ndtri", "erfinv", "erfcinv")
OF_TWO_POSITIVE = ("beta", "betaln", "gammainc", "gammaincc", "poch", "xlogy", "xlog1py")
OF_AN_ORDER = ("jv", "yv", "ive", "kve")
"""These have no gradient by their order, which is a number."""


def _is_float(x: np.ndarray) -> bool:
    return x.dtype.kind == "f"


def special(d: Drawing) -> Drawn:
    """A special function of one operand, moved to where it is defined."""
    k = d.pick(_is_float)
    if k is None:
        return None
    one = np.asarray(1, d.values[k].dtype)
    name = d.rng.choice(OF_ALL + OF_POSITIVE + OF_PROBABILITIES)
    if name in OF_ALL:
        return lambda m, x: getattr(m, name)(x), (k,)
    if name in OF_POSITIVE:
        return lambda m, x: getattr(m, name)(m.abs(m.tanh(x)) * (one + one) + one / 4), (k,)
    return lambda m, x: getattr(m, name)((m.tanh(x) + one + one) / (4 * one)), (k,)


def special_of_two(d: Drawing) -> Drawn:
    """A special function of two operands between 1/2 and 5/2."""
    one = d.pick(_is_float)
    other = None if one is None else d.meets(one)
    if one is None or other is None or d.values[other].dtype != d.values[one].dtype:
        return None  # what is rounded to float32 within a step is not measured
    name = d.rng.choice(OF_TWO_POSITIVE + OF_AN_ORDER)

    def within(m: Any, x: Any) -> Any:
        return m.abs(m.tanh(x)) * 2 + np.float32(0.5)

    if name in OF_AN_ORDER:
        order = np.asarray(d.rng.choice([0, 0.5, 1, 2.5]), d.values[one].dtype)
        return lambda m, x: getattr(m, name)(order, within(m, x)), (one,)
    return lambda m, x, y: getattr(m, name)(within(m, x), within(m, y)), (one, other)


def matrix(d: Drawing) -> Drawn:
    """A factor, a solution or a number of a positive definite matrix, or of a stack of them."""
    k = d.pick(lambda x: _is_float(x) and x.ndim in (2, 3) and 0 < x.shape[-1] <= 8)
    if k is None:
        return None
    n = d.values[k].shape[-1]
    eye = np.eye(n, dtype=d.values[k].dtype)

    def positive(m: Any, x: Any) -> Any:
        x = m.tanh(x)
        return m.matmul(m.swapaxes(x, -1, -2), x) + eye

    forms: list[Callable[[Any, Any], Any]] = [
        lambda m, a: m.linalg.cholesky(a),
        lambda m, a: m.linalg.inv(a),
        lambda m, a: m.linalg.det(a),
        lambda m, a: m.linalg.slogdet(a)[1],
        lambda m, a: m.linalg.solve(a, a * a),
        lambda m, a: m.linalg.solve(a, a[..., :1]),
        lambda m, a: m.linalg.eigvalsh(a)[..., -1],
        lambda m, a: m.linalg.svdvals(a)[..., 0],
        lambda m, a: m.linalg.pinv(a),
        lambda m, a: m.linalg.matrix_power(a, 3),
        lambda m, a: m.linalg.matrix_norm(a),
        lambda m, a: m.linalg.vector_norm(a, axis=-1),
    ]
    form = d.rng.choice(forms)
    return lambda m, x: form(m, positive(m, x)), (k,)


def over_batch(d: Drawing) -> Drawn:
    """A function of a row, for each row, or of a row and a whole value."""
    k = d.pick(lambda x: _is_float(x) and x.ndim > 1 and x.shape[0] > 0 and x.size < 1000)
    if k is None:
        return None
    half = np.asarray(0.5, d.values[k].dtype)
    functions: list[Callable[[Any, Any], Any]] = [
        lambda m, row: m.sin(row) * row,
        lambda m, row: m.sum(row) + row,
        lambda m, row: m.cumsum(row, axis=0),
        lambda m, row: m.flip(row, 0),
        lambda m, row: m.concatenate([row, row * half], axis=0),
        lambda m, row: m.tensordot(row, row, row.ndim),
        lambda m, row: m.where(row > half, row, half),
        lambda m, row: row[:1] * half,
        lambda m, row: m.softmax(m.expand_dims(row, 0), axis=0),
    ]
    function = d.rng.choice(functions)
    return lambda m, x: m.over_batch(lambda row: function(m, row), x), (k,)


DRAWN: tuple[Callable[[Drawing], Drawn], ...] = (special, special_of_two, matrix, over_batch)
