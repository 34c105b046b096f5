"""Sums of products become calls of BLAS where that pays, and keep their values."""

import numpy as np
import pytest

import frazil as fz
import frazil.tensor as ft
from frazil import pp
from frazil.rewrite import BLAS, rewrite


def operands(dtype):
    matrices = [ft.matrix(name, dtype=dtype) for name in "ABC"]
    return [
        *matrices,
        ft.vector("v", dtype=dtype),
        ft.vector("w", dtype=dtype),
        ft.scalar("s", dtype=dtype),
    ]


def calls(A, B, C, v, w, s):
    """Sums of products, and what they become."""
    return [
        (A @ B + C, "Gemm(C, 1.0, A, B, 1.0)"),
        (C + A @ B, "Gemm(C, 1.0, A, B, 1.0)"),
        (C - A @ B, "Gemm(C, -1.0, A, B, 1.0)"),
        (0.5 * C + 2 * (A @ B), "Gemm(C, 2.0, A, B, 0.5)"),
        (C - s * (A @ B), "Gemm(C, -s, A, B, 1.0)"),
        (C * 2 - (A.T @ B) * 3, "Gemm(C, -3.0, A.T, B, 2.0)"),
        (A @ B - B @ C, "Gemm(A @ B, -1.0, B, C, 1.0)"),
        (A @ B + B @ C + C @ C, "Gemm(Gemm(A @ B, 1.0, B, C, 1.0), 1.0, C, C, 1.0)"),
        (A @ v + w, "Gemv(w, 1.0, A, v, 1.0)"),
        (w - v @ A, "Gemv(w, -1.0, A.T, v, 1.0)"),
        ((v * w).sum(), "v @ w"),
        ((A * v).sum(1), "A @ v"),
        ((v[:, None] * A).sum(0), "v @ A"),
        ((A * ft.exp(v)).sum(1), "A @ exp(v)"),
        ((A[:, :, None] * B).sum(1), "A @ B"),
        ((A[:, None] * B).sum(-1), "A @ B.T"),
        ((A.T * B[:, :, None]).sum(1), "B @ A.T"),
        ((A[:, None] * ft.exp(B)).sum(-1), "A @ exp(B).T"),
    ]


A, B, C, V, W, S = OPERANDS = operands("float64")
CALLS = calls(*OPERANDS)

LEFT = [
    A @ B + W,  # what broadcasts
    A @ B + ft.exp(C),  # what a loop makes anyway
    A @ B * C,
    C + V * (A @ B),  # not one number
    C + ft.constant(0.0) * B,
    (ft.exp(A) * V).sum(1),  # its matrix would have to be stored
    (V * ft.exp(W)).sum(),
    (A * B).sum(0),
    (A * B).sum(),
    (A[:, :, None] * B).sum((0, 1)),
    (A[:, :, None] * B).sum(0),
    (ft.tensor("x", shape=(None, 1)) * V).sum(1),
    ft.lmatrix("i") @ ft.lmatrix("j") + ft.lmatrix("k"),
]


@pytest.mark.parametrize(("before", "after"), CALLS, ids=[text for _, text in CALLS])
def test_form(before, after):
    found = rewrite(before, BLAS).graph
    assert pp(found) == after
    assert before.type.accepts(found.type)


@pytest.mark.parametrize("x", LEFT, ids=pp)
def test_what_is_left_to_loops(x):
    assert rewrite(x, BLAS).graph is x


def test_a_zero_factor_hides_nothing():
    x = ft.constant(0.0) * C + A @ B
    assert rewrite(x, BLAS).graph is x


def test_values(mode):
    rng = np.random.default_rng(0)
    for dtype, tolerance in [("float64", 1e-12), ("float32", 1e-5)]:
        own = operands(dtype)
        before = [x for x, _ in calls(*own)]
        after = rewrite(before, BLAS).graph
        assert not any(a is b for a, b in zip(before, after, strict=True))
        function = fz.function(own, [*before, *after], mode=mode)
        for n in (0, 1, 5):
            values = [rng.normal(size=(n, n)) for _ in range(3)]
            values += [rng.normal(size=n), rng.normal(size=n), np.array(0.5)]
            results = function(*(value.astype(dtype) for value in values))
            for x, y in zip(results[: len(before)], results[len(before) :], strict=True):
                assert (x.dtype, x.shape) == (y.dtype, y.shape)
                np.testing.assert_allclose(y, x, rtol=tolerance, atol=tolerance)


def test_rules_say_their_laws():
    assert [rule.name for rule in BLAS] == [
        "add_dot",
        "sub_dot",
        "add_scaled_dot",
        "sub_scaled_dot",
        "sum_of_products",
    ]
    assert str(BLAS[0]).startswith("add_dot: z + x @ y -> ")
