"""Overrides as lists: what is said of one input changes its gradient and no other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft

MODES = ("py", "c", "cranelift", "numba")
X, Y, Z = ft.vector("x"), ft.vector("y"), ft.vector("z")
A, B, C = ft.vector("a"), ft.vector("b"), ft.vector("c")
VALUES = np.array([0.5, -1.0]), np.array([2.0, 0.25]), np.array([1.5, 3.0])


def graph(x: Any, y: Any, z: Any) -> list[Any]:
    return [ft.tanh(x * y) + z, x * ft.exp(z)]


def scaled(at: int) -> Any:
    """A gradient of input ``at`` that the true one is not."""
    return lambda inputs, outputs, gradients: gradients[0] * (at + 2) + outputs[1] * inputs[at]


def scaled_op(at: int) -> fz.OpFromGraph:
    o, p, g, h = (ft.vector(name) for name in "opgh")
    own: fz.OpFromGraph = fz.OpFromGraph(
        [X, Y, Z, o, p, g, h], [scaled(at)([X, Y, Z], [o, p], [g, h])]
    )
    return own


entries = st.sampled_from([lambda at: None, scaled, scaled_op])


@settings(max_examples=settings.default.max_examples // 4)
@given(
    kinds=st.tuples(entries, entries, entries), inline=st.booleans(), mode=st.sampled_from(MODES)
)
def test_a_list_overrides_the_gradients_of_its_entries(
    kinds: tuple[Any, Any, Any], inline: bool, mode: str
) -> None:
    overrides = [kind(at) for at, kind in enumerate(kinds)]
    op = fz.OpFromGraph([X, Y, Z], graph(X, Y, Z), inline=inline, lop_overrides=overrides)
    outputs, plain = op(A, B, C), graph(A, B, C)
    gradients = fz.grad(ft.sum(outputs[0] * A) + ft.sum(outputs[1]), [A, B, C])
    expected = fz.grad(ft.sum(plain[0] * A) + ft.sum(plain[1]), [A, B, C])
    # The gradient of the first output is A, and A has one of its own.
    own = [
        true if kind is None else scaled(at)([A, B, C], plain, [A]) + (plain[0] if at == 0 else 0)
        for at, (kind, true) in enumerate(zip(overrides, expected, strict=True))
    ]
    f = fz.function([A, B, C], gradients, mode=mode)
    g = fz.function([A, B, C], own, mode="py", on_unused_input="ignore")
    for found, wanted in zip(f(*VALUES), g(*VALUES), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12)


@given(first=st.booleans(), second=st.booleans(), mode=st.sampled_from(MODES))
def test_a_list_overrides_the_tangents_of_its_entries(first: bool, second: bool, mode: str) -> None:
    def tangent(at: int) -> Any:
        return lambda inputs, tangents: tangents[0] * inputs[1] + at

    overrides = [tangent(at) if own else None for at, own in enumerate((first, second))]
    op = fz.OpFromGraph([X, Y, Z], graph(X, Y, Z), rop_overrides=overrides)
    v = ft.vector("v")
    found = fz.Rop(op(A, B, C), [A], [v])
    true = fz.Rop(graph(A, B, C), [A], [v])
    wanted = [
        tangent(at)([A, B, C], [v]) if own else true[at] for at, own in enumerate((first, second))
    ]
    f = fz.function([A, B, C, v], found, mode=mode)
    g = fz.function([A, B, C, v], wanted, mode="py", on_unused_input="ignore")
    for a, b in zip(f(*VALUES, [1.0, -2.0]), g(*VALUES, [1.0, -2.0]), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


@pytest.mark.parametrize("mode", MODES)
def test_an_override_may_go_on_from_the_outputs(mode: str) -> None:
    """As a gradient that is cut off, but otherwise what it was."""

    def clipped(inputs: Any, outputs: Any, gradients: Any) -> Any:
        known = {outputs[0]: ft.clip(gradients[0], -1, 1)}
        return [fz.grad(None, inputs[0], known_grads=known)]

    op = fz.OpFromGraph([X], [X**3], lop_overrides=clipped)
    f = fz.function([A], fz.grad(ft.sum(op(A) * 5), A), mode=mode)
    np.testing.assert_allclose(f([1.0, 2.0]), [3.0, 12.0])


def test_lists_that_say_alike_make_the_same_op() -> None:
    def built(*names: str) -> fz.OpFromGraph:
        x, y = (ft.vector(name) for name in names)
        own = [None, lambda i, o, g: g[0] * i[0] * 3]
        op: fz.OpFromGraph = fz.OpFromGraph([x, y], [x * y], lop_overrides=own)
        return op

    assert built("x", "y") is built("u", "v")
    plain = fz.OpFromGraph([X, Y], [X * Y], lop_overrides=lambda i, o, g: [g[0] * i[1], g[0] * 2])
    assert built("x", "y") is not plain


def test_integers_have_no_gradient() -> None:
    n = ft.lvector("n")
    op = fz.OpFromGraph([X, n], [X * n], lop_overrides=[lambda i, o, g: g[0] * 7, None])
    m = ft.lvector("m")
    f = fz.function([A, m], fz.grad(ft.sum(op(A, m)), A), on_unused_input="ignore")
    np.testing.assert_array_equal(f([1.0, 2.0], [3, 4]), [7.0, 7.0])


def test_shared_variables_have_entries_after_the_inputs() -> None:
    w = fz.shared(np.array([1.0, 2.0]), name="w")
    op = fz.OpFromGraph([X], [X * w], lop_overrides=[None, lambda i, o, g: g[0] * i[0] * 5])
    found = fz.function([A], fz.grad(ft.sum(op(A)), [A, w]))([3.0, 4.0])
    np.testing.assert_array_equal(found, [[1.0, 2.0], [15.0, 20.0]])


def test_overrides_have_two_names() -> None:
    def slope(inputs: Any, outputs: Any, gradients: Any) -> Any:
        return [gradients[0] * 3]

    def advance(inputs: Any, tangents: Any) -> Any:
        return [tangents[0] * 4]

    op = fz.OpFromGraph([X], [X + 1], lop_overrides=slope, rop_overrides=advance)
    assert op is fz.OpFromGraph([X], [X + 1], pullback=slope, pushforward=advance)
    with pytest.raises(ValueError, match="two names of one argument"):
        fz.OpFromGraph([X], [X + 1], pullback=slope, lop_overrides=slope)
