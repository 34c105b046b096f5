"""Graphs of any size, by what they have much of: what grows faster than they do shows in them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import frazil as fz
import frazil.tensor as ft

Graph: TypeAlias = tuple[Sequence[fz.Variable], Sequence[fz.Variable]]
"""Inputs and outputs."""


def _chain(n: int, step: Callable[[fz.Variable], fz.Variable], ndim: int = 1) -> Graph:
    x = ft.tensor("x", dtype="float64", shape=(None,) * ndim)
    y = x
    for _ in range(n):
        y = step(y)
    return [x], [y]


def _gradient(graph: Graph) -> Graph:
    (x,), (y,) = graph
    return [x], [fz.grad(y.sum(), x)]


def _lengths(n: int) -> Graph:
    """Each length is arithmetic on the one before, which it has several times."""
    k = ft.lscalar("k")
    length, total = k, ft.constant(0.0)
    for _ in range(n):
        length = length * 2 - length + 1
        total = total + ft.zeros(length).sum()
    return [k], [total]


def _sums(n: int) -> Graph:
    """Each loop reads what the one before it made, and adds to what it added to."""
    x = ft.dvector("x")
    y, total = x, ft.zeros_like(x)
    for _ in range(n):
        y = ft.sin(y) - 0.1 * ft.max(y)
        total = total + ft.cos(y)
    return [x], [total]


def _repeated(n: int) -> Graph:
    """No loop reads an array: lengths of buffers of one value are compared at each step."""
    x, y = ft.dvector("x"), ft.dvector("y")
    z = ft.zeros(y.shape)
    for _ in range(n):
        z = ft.sin(ft.full(y.shape, 1.5) * z + ft.ones(x.shape))
    return [x, y], [z + x]


def _applied(n: int) -> Graph:
    x = ft.dvector("x")
    op = fz.OpFromGraph([x], [ft.sin(x) * x])
    return _chain(n, lambda y: op(y) + y)


def _nested(n: int) -> Graph:
    """Each op applies the one before twice; they nest no deeper than programs may."""
    x = ft.dvector("x")
    y = ft.sin(x)
    for _ in range(min(n, 24)):
        op = fz.OpFromGraph([x], [y])
        y = op(x) * 2 + op(x + 1)
    return [x], [y]


def _choices(n: int, conditions: int) -> Graph:
    """By so many conditions in turn, or each by one of its own."""
    given, x = [ft.iscalar("c") for _ in range(max(conditions, 1))], ft.dvector("x")
    y = x
    for k in range(n):
        condition = given[k % conditions] if conditions else given[0] > k
        y = fz.ifelse(condition, ft.sin(y), y * 2)
    return [*given, x], [y]


def _loops(n: int) -> Graph:
    start = ft.constant(0.0)
    return _chain(n, lambda y: fz.scan(lambda a, s: s * 0.5 + a, y, start, return_updates=False))


def _steps(n: int) -> Graph:
    x = ft.dvector("x")

    def step(a: fz.Variable, s: fz.Variable) -> fz.Variable:
        for _ in range(n):
            s = ft.sin(s) * a + s
        return s

    return [x], [fz.scan(step, x, ft.constant(0.0), return_updates=False)]


FAMILIES: dict[str, Callable[[int], Graph]] = {
    "elements": lambda n: _chain(n, lambda y: ft.sin(y) + y),
    "differences": lambda n: _chain(n, lambda y: y[1:] - y[:-1]),
    "lengths": _lengths,
    "joins": lambda n: _chain(n, lambda y: ft.concatenate([y[:3], y[1:]])),
    "shapes": lambda n: _chain(
        n, lambda y: ft.reshape(ft.sin(y), (y.shape[1], y.shape[0])), ndim=2
    ),
    "views": lambda n: _chain(n, lambda y: ft.squeeze(ft.expand_dims(ft.sin(y), 0).T, 1)),
    "rows": lambda n: _chain(n, lambda y: y - y.max(axis=1, keepdims=True), ndim=2),
    "sums": _sums,
    "repeated values": _repeated,
    "updates": lambda n: _chain(n, lambda y: ft.set_subtensor(y[1:3], y[:2] * 2)),
    "gradients": lambda n: _gradient(_chain(n, lambda y: ft.sin(y) * y)),
    "gradients of differences": lambda n: _gradient(_chain(n, lambda y: y[1:] - y[:-1])),
    "gradients of ops": lambda n: _gradient(_applied(n)),
    "ops in ops": _nested,
    "gradients of ops in ops": lambda n: _gradient(_nested(n)),
    "choices": lambda n: _choices(n, 0),
    "choices by one condition": lambda n: _choices(n, 1),
    "choices by two conditions": lambda n: _choices(n, 2),
    "loops": _loops,
    "long steps": _steps,
}
