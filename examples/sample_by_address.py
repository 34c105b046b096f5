"""The effects of coaching at eight schools (Rubin, 1981), sampled by native code in two threads.

Hamiltonian Monte Carlo, compiled by Numba, calls the density and its gradient by their address:
no Python runs while it draws, and no thread waits for another.

    python examples/sample_by_address.py
"""

import ctypes
import time
from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np

import frazil as fz
import frazil.tensor as ft

EFFECTS = np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])
ERRORS = np.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])
DRAWS, TUNE, STEPS, STEP = 4000, 500, 12, 0.25


def density():
    """The log-density of the mean, the logarithm of the spread and eight schools, up to a sum."""
    point = ft.dvector("point")
    mean, log_spread, each = point[0], point[1], point[2:]
    spread = ft.exp(log_spread)
    prior = -0.5 * ((mean / 5) ** 2 + (each**2).sum()) - ft.log1p((spread / 5) ** 2) + log_spread
    likelihood = -0.5 * (((EFFECTS - mean - spread * each) / ERRORS) ** 2).sum()
    total = prior + likelihood
    return fz.function([point], [total, fz.grad(total, point)], mode="c")


KIND = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_void_p)


@numba.njit(nogil=True)
def sample(function, context, seed, draws):
    """Points of the chain, one a row, and the share of proposals that were taken."""
    np.random.seed(seed)
    size = 10
    point, gradient, value = np.zeros(size), np.zeros(size), np.zeros(1)
    inputs = np.array([point.ctypes.data])
    outputs = np.array([value.ctypes.data, gradient.ctypes.data])
    function(context, inputs.ctypes, outputs.ctypes)
    kept, taken = np.empty((draws, size)), 0
    for draw in range(draws):
        before, slope, height = point.copy(), gradient.copy(), value[0]
        speed = np.random.normal(0.0, 1.0, size)
        start = height - 0.5 * (speed**2).sum()
        step = STEP * np.random.uniform(0.5, 1.5)
        for _ in range(STEPS):
            speed += 0.5 * step * gradient
            point += step * speed
            if function(context, inputs.ctypes, outputs.ctypes) != 0:
                value[0] = -np.inf
                break
            speed += 0.5 * step * gradient
        change = value[0] - 0.5 * (speed**2).sum() - start
        if np.log(np.random.uniform(0.0, 1.0)) < change:
            taken += 1
        else:
            point[:], gradient[:], value[0] = before, slope, height
        kept[draw] = point
    return kept, taken / draws


def main():
    function = density()
    made = function.address(np.zeros(10))
    by_address = KIND(made.address)
    sample(by_address, made.context, 0, 1)  # compiles it
    with ThreadPoolExecutor(2) as pool:
        began = time.perf_counter()
        chains = list(
            pool.map(lambda seed: sample(by_address, made.context, seed, TUNE + DRAWS), (1, 2))
        )
        took = time.perf_counter() - began
    calls = 2 * (TUNE + DRAWS) * STEPS
    means = [points[TUNE:].mean(axis=0) for points, _ in chains]
    shares = [share for _, share in chains]
    print(f"{calls} gradients in {took:.2f} s, {1e6 * took / calls:.2f} us each")
    print("mean of the effects:", *(f"{own[0]:.2f}" for own in means))
    print("proposals taken:", *(f"{share:.2f}" for share in shares))


if __name__ == "__main__":
    main()
