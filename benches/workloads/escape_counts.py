"""Steps until z**2 + c leaves a disc, for each of 160 x 160 points: a loop of its own for each."""

import numpy as np

STEPS = 200


def arguments():
    x, y = np.meshgrid(np.linspace(-2.0, 0.6, 160), np.linspace(-1.2, 1.2, 160))
    return x, y


def _step(u, v, count, x, y):
    u, v = u * u - v * v + x, 2 * u * v + y
    return u, v, count + 1, u * u + v * v > 4


def numpy(x, y):
    u, v, counts = np.zeros_like(x), np.zeros_like(x), np.zeros(x.shape, "int64")
    inside = np.ones(x.shape, bool)
    for _ in range(STEPS):
        u[inside], v[inside], counts[inside], out = _step(
            u[inside], v[inside], counts[inside], x[inside], y[inside]
        )
        inside[inside] = ~out
    return (counts,)


def frazil():
    import frazil.tensor as ft
    from frazil.scalar import ScalarLoop

    u, v, a, b, count = *(ft.dscalar() for _ in range(4)), ft.lscalar()
    *update, out = _step(u, v, count, a, b)
    loop = ScalarLoop([u, v, count], update, [a, b], until=out)
    x, y = ft.dmatrix("x"), ft.dmatrix("y")
    return [x, y], [loop(STEPS, 0.0, 0.0, 0, x, y)[2]]


def pytensor():
    import pytensor.scalar as ps
    import pytensor.tensor as pt
    from pytensor.scalar.loop import ScalarLoop
    from pytensor.tensor.elemwise import Elemwise

    u, v, a, b, count = *(ps.float64() for _ in range(4)), ps.int64()
    *update, out = _step(u, v, count, a, b)
    loop = ScalarLoop([u, v, count], update, [a, b], until=out)
    x, y = pt.dmatrix("x"), pt.dmatrix("y")
    zero, none = np.float64(0), np.int64(0)
    return [x, y], [Elemwise(loop)(np.int64(STEPS), zero, zero, none, x, y)[2]]


def jax():
    import jax
    import jax.numpy as jnp

    def count(x, y):
        def goes_on(state):
            step, *_, out = state
            return (step < STEPS) & ~out

        def go(state):
            step, u, v, count, _ = state
            return step + 1, *_step(u, v, count, x, y)

        return jax.lax.while_loop(goes_on, go, (0, 0.0, 0.0, 0, False))[3]

    def work(x, y):
        return (jnp.vectorize(count)(x, y),)

    return work
