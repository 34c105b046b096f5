"""Python functions over batches."""

import numpy as np
import pytest

import frazil as fz

xs = np.arange(6.0).reshape(3, 2) - 2


def fn(p, x):
    return {"y": np.tanh(p["w"] @ x) * x.sum(), "c": p["w"].sum(), "n": 1.0}


def test_gives_what_a_loop_gives():
    p = {"w": np.arange(4.0).reshape(2, 2)}
    found = fz.vmap(fn, in_axes=(None, 0))(p, xs)
    for name in ("y", "c", "n"):
        wanted = np.stack([fn(p, x)[name] for x in xs])
        np.testing.assert_allclose(found[name], wanted)
    along = fz.vmap(lambda p, x: fn(p, x)["y"], in_axes=(None, 1), out_axes=1)(p, xs.T)
    np.testing.assert_allclose(along, found["y"].T)


def test_goes_with_derivatives_and_itself():
    def cost(x):
        return (x**3).sum()

    np.testing.assert_allclose(fz.vmap(fz.grad(cost))(xs), 3 * xs**2)
    np.testing.assert_allclose(fz.grad(lambda x: fz.vmap(cost)(x).sum())(xs), 3 * xs**2)
    outer = fz.jit(fz.vmap(fz.vmap(lambda a, b: a * b, (None, 0)), (0, None)), mode="py")
    np.testing.assert_allclose(outer(xs[:, 0], xs[0]), np.outer(xs[:, 0], xs[0]))


def test_errors_say_what_is_wrong():
    with pytest.raises(TypeError, match="2 arguments, and 1"):
        fz.vmap(fn, (None, 0))(xs)
    with pytest.raises(TypeError, match="no argument is a batch"):
        fz.vmap(lambda x: x, None)(xs)
    with pytest.raises(TypeError, match="in_axes"):
        fz.vmap(lambda x: x)(np.float64(1.0))
    with pytest.raises(TypeError, match="arrays and numbers only"):
        fz.vmap(lambda x: "text")(xs)
