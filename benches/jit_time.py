"""What a call of a compiled Python function costs beside the function that it runs.

Four arrays as arguments and ten guarded captures; the calls take turns, in processor time. If JAX
is installed, a call of ``jax.jit`` of the same function is measured in the same run.
"""

import time

import numpy as np

import frazil as fz

C0, C1, C2, C3, C4 = 1.0, 2.0, 3.0, 4.0, 5.0
WIDTHS = {"a": 1.0, "b": 2.0}
ROUNDS, CALLS = 200, 200


def helper(x, y):
    return x * C3 + y * C4


def model(a, b, c, d):
    return np.exp(a * C0) + helper(b, c) * C1 + d * C2 * WIDTHS["a"]


def processor_time(fn, args):
    start = time.thread_time_ns()
    for _ in range(CALLS):
        fn(*args)
    return (time.thread_time_ns() - start) / CALLS


def measure(fns, args):
    """The least processor time of a call of each function, in nanoseconds; they take turns."""
    for fn in fns:
        fn(*args)
    rounds = [[processor_time(fn, args) for fn in fns] for _ in range(ROUNDS)]
    return [min(times) for times in zip(*rounds, strict=True)]


def main():
    args = [np.ones(4) for _ in range(4)]
    compiled = fz.jit(model)
    compiled(*args)
    (entry,) = compiled._entries.popitem()[1]
    bare = entry.compiled
    fns, names = [bare, compiled], ["the compiled function", "fz.jit"]
    try:
        import jax

        jax.config.update("jax_enable_x64", True)
        import jax.numpy as jnp

        numpy, globals()["np"] = np, jnp
        traced = jax.jit(model)
        traced(*args)
        globals()["np"] = numpy
        fns.append(lambda *args: traced(*args).block_until_ready())
        names.append("jax.jit")
    except ImportError:
        pass
    times = measure(fns, args)
    for name, own in zip(names, times, strict=True):
        print(f"{name:24} {own / 1000:6.2f} us")
    print(f"{len(entry.told)} checks; overhead of fz.jit {(times[1] - times[0]) / 1000:.2f} us")


if __name__ == "__main__":
    main()
