"""The gradient of a last row goes back from the last state, not through rows of zeros."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import frazil as fz
import frazil._core as core
import frazil.tensor as ft
from frazil.scan.op import Scan
from frazil.testing import verify_grad

MODES = ("py", "c", "cranelift", "numba")


def scans(variables):
    return [node.op for node in core.toposort(variables) if isinstance(node.op, Scan)]


@pytest.mark.parametrize("row", [-1, 4])
@pytest.mark.parametrize("go_backwards", [False, True])
def test_no_rows_of_zeros(row, go_backwards):
    s = ft.dvector("s")
    rows, _ = fz.scan(lambda s: ft.sin(s), None, s, n_steps=5, go_backwards=go_backwards)
    g = fz.grad(ft.sum(rows[row] ** 2), s)
    *_, back = scans([g])
    assert back.n_sequences == 1, "the states before each step, and nothing else"


@settings(max_examples=settings.default.max_examples // 2)
@given(
    n_steps=st.integers(1, 5),
    static=st.booleans(),
    reads=st.lists(
        st.sampled_from(["last", "sum of last", "all", "first"]), min_size=1, max_size=3
    ),
    truncate=st.sampled_from([-1, -1, 1, 2]),
    until=st.booleans(),
    mode=st.sampled_from(MODES),
)
def test_gradients_of_last_rows_and_others(n_steps, static, reads, truncate, until, mode):
    def outputs(s, a, x, count, *, apart):
        def step(x, s, a):
            new = ft.sin(a * s) + x
            return (new, fz.until(ft.sum(new) > 2.5)) if until else new

        rows, _ = fz.scan(
            step, x, s, a, n_steps=None if static else count, truncate_gradient=truncate
        )
        last = rows[-1]
        if apart:
            # The same row by an index that no rule can read.
            last = ft.take(rows, ft.shape(rows)[0] - 1, axis=0)
        of = {
            "last": lambda: ft.sum(last**2),
            "sum of last": lambda: ft.sum(last),
            "all": lambda: ft.sum(rows**3),
            "first": lambda: rows[0][0],
        }
        cost = sum((of[read]() for read in reads), start=ft.constant(0.0))
        return [cost, *fz.grad(cost, [s, a, x])]

    s, a = ft.dvector("s"), ft.dscalar("a")
    x = ft.tensor("x", shape=(n_steps, None) if static else (None, None))
    count = ft.lscalar("count")
    rng = np.random.default_rng(n_steps)
    arguments = rng.normal(size=2), 0.7, rng.normal(size=(n_steps, 2)), n_steps
    found, wanted = (
        fz.function(
            [s, a, x, count],
            outputs(s, a, x, count, apart=apart),
            mode=own,
            on_unused_input="ignore",
        )(*arguments)
        for apart, own in ((False, mode), (True, "py"))
    )
    for y, expected in zip(found, wanted, strict=True):
        np.testing.assert_allclose(y, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("mode", MODES)
def test_there_is_no_last_row_of_no_steps(mode):
    s, count = ft.dvector("s"), ft.lscalar("count")
    rows, _ = fz.scan(lambda s: 2 * s, outputs_info=s, n_steps=count)
    f = fz.function([s, count], fz.grad(ft.sum(rows[-1]), s), mode=mode)
    np.testing.assert_array_equal(f([1.0, 2.0], 3), [8.0, 8.0])
    with pytest.raises(IndexError, match="out of bounds for axis 0"):
        f([1.0, 2.0], 0)


@pytest.mark.parametrize("mode", MODES)
def test_sums_of_outer_products_stay_one_product(mode):
    x, s, w = ft.dmatrix("x"), ft.dvector("s"), ft.dmatrix("w")
    rows, _ = fz.scan(lambda x, s, w: ft.tanh(w @ s + x), x, s, w)
    f = fz.function([x, s, w], fz.grad(ft.sum(rows[-1] ** 2), w), mode=mode)
    back = scans(f.optimized.outputs)[-1]
    assert back.n_states == 1, "the adjoint, and no sum of matrices"
    rng = np.random.default_rng(0)
    given = rng.normal(size=(6, 3)), rng.normal(size=3), rng.normal(size=(3, 3))

    def cost(w):
        rows, _ = fz.scan(lambda x, s, w: ft.tanh(w @ s + x), given[0], ft.constant(given[1]), w)
        return ft.sum(rows[-1] ** 2)

    verify_grad(cost, [given[2]], mode=mode)
    assert f(*given).shape == (3, 3)


def test_second_derivatives():
    def cost(s):
        rows, _ = fz.scan(lambda s: ft.sin(s * 1.1), outputs_info=s, n_steps=4)
        return ft.sum(fz.grad(ft.sum(rows[-1] ** 2), s) ** 2)

    verify_grad(cost, [np.array([0.3, 0.9])])
