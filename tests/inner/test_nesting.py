"""Ops that hold graphs within ops that hold graphs: values, gradients and tangents."""

import copy
import pickle
import threading

import numpy as np
import pytest

import frazil as fz
import frazil.tensor as ft
from frazil.optimize import minimize
from frazil.testing import verify_grad

MODES = ("py", "c", "cranelift", "numba", "debug")
POINT = np.array([0.4, -0.8, 1.1])


def running(step, sequence, start):
    return fz.scan(step, sequence, [ft.constant(start)], return_updates=False)


def scan_in_op(x):
    inner = ft.vector("inner")
    total = running(lambda v, a: a + v * v, inner, 0.0)
    return fz.OpFromGraph([inner], [total])(x)


def op_in_scan(x):
    a, b = ft.scalar("a"), ft.scalar("b")
    op = fz.OpFromGraph([a, b], [ft.sin(a) + b])
    return running(op, x, 0.3)


def choice_in_scan(x):
    return running(lambda v, a: fz.ifelse(v > 0, a + v, a * v), x, 2.0)


def scan_in_choice(x):
    return fz.ifelse(ft.sum(x) > 0, running(lambda v, a: ft.tanh(a + v), x, 0.1), x)


def scan_in_scan(x):
    return fz.map(
        lambda v: running(lambda w, a: a * ft.cos(v * w), x, 1.0)[-1], x, return_updates=False
    )


def scan_in_op_in_choice_in_scan(x):
    return running(lambda v, a: fz.ifelse(v > 0, scan_in_op(x * v)[-1] + a, a / 2), x, 1.0)


def scan_in_minimum(x):
    y = ft.vector("y")
    cost = running(lambda v, a: a + (v - 1) ** 2, y, 0.0)[-1] + ft.sum((y - x) ** 2)
    solution, _ = minimize(cost, y, optimizer_kwargs={"tol": 1e-12})
    (found,) = fz.graph_replace([solution], [(y, ft.zeros_like(x))])
    return found


BUILT = [
    scan_in_op,
    op_in_scan,
    choice_in_scan,
    scan_in_choice,
    scan_in_scan,
    scan_in_op_in_choice_in_scan,
    scan_in_minimum,
]
EXPECTED = {
    scan_in_op: lambda x: np.cumsum(x * x),
    scan_in_choice: lambda x: [np.tanh(0.5), np.tanh(np.tanh(0.5) - 0.8), None],
    scan_in_minimum: lambda x: (x + 1) / 2,
    scan_in_scan: lambda x: np.prod(np.cos(np.outer(x, x)), axis=1),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("build", BUILT)
def test_linkers_agree(build, mode):
    x = ft.vector("x")
    y = build(x)
    cost = ft.sum(y**2)
    value = fz.function([x], [y, fz.grad(cost, x)], mode=mode)(POINT)
    reference = fz.function([x], [y, fz.grad(cost, x)], mode="py")(POINT)
    for made, expected in zip(value, reference, strict=True):
        np.testing.assert_allclose(made, expected, rtol=1e-9, atol=1e-12)
    if build in EXPECTED:
        for made, expected in zip(value[0], EXPECTED[build](POINT), strict=True):
            if expected is not None:
                np.testing.assert_allclose(made, expected, rtol=1e-5)


@pytest.mark.parametrize("build", BUILT)
def test_first_and_second_derivatives_and_tangents(build):
    verify_grad(lambda x: build(x) ** 2, [POINT])
    verify_grad(lambda x: fz.grad(ft.sum(build(x) ** 3), x), [POINT])
    x, v = ft.vector("x"), ft.vector("v")
    y = build(x)
    direction = np.array([1.0, -0.5, 2.0])
    tangent = fz.function([x, v], fz.Rop(y, x, v))(POINT, direction)
    rows = fz.function([x], fz.jacobian(y, x))(POINT)
    np.testing.assert_allclose(tangent, rows @ direction, rtol=1e-8, atol=1e-10)


def test_built_alike_by_many_threads_is_one_op():
    made = []

    def work():
        x = ft.vector("x")
        y = scan_in_op_in_choice_in_scan(x)
        made.append((y.owner.op, fz.function([x], [y, fz.grad(ft.sum(y), x)])(POINT)))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 8
    op, (value, slope) = made[0]
    assert pickle.loads(pickle.dumps(op)) is op
    for other, (again, slope_again) in made:
        assert other is op
        np.testing.assert_array_equal(again, value)
        np.testing.assert_array_equal(slope_again, slope)


@pytest.mark.parametrize("mode", MODES[:3])
def test_functions_are_copied_and_pickled(mode):
    x = ft.vector("x")
    y = choice_in_scan(x)
    f = fz.function([x], [y, fz.grad(ft.sum(y), x)], mode=mode)
    expected = f(POINT)
    for again in (copy.copy(f), copy.deepcopy(f), pickle.loads(pickle.dumps(f))):
        for made, wanted in zip(again(POINT), expected, strict=True):
            np.testing.assert_array_equal(made, wanted)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "float32"])
@pytest.mark.parametrize("mode", MODES)
def test_states_keep_their_dtype(dtype, mode):
    start, k = ft.scalar("start", dtype=dtype), ft.lscalar("k")

    def step(value):
        return ~value if dtype == "bool" else ft.cast(3 * value + 1, dtype)

    states, _ = fz.scan(step, None, start, n_steps=k)
    found = fz.function([start, k], states, mode=mode)(np.array(1, dtype), 7)
    expected = np.ones(8, dtype)
    for at in range(7):
        value = expected[at : at + 1]
        expected[at + 1] = (~value if dtype == "bool" else (3 * value + 1).astype(dtype))[0]
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, expected[1:])
