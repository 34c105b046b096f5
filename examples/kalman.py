"""The level of the Nile as a random walk seen through noise: a Kalman filter, fitted by maximum
likelihood.

Frazil compiles the filter, which is a scan over the years, with its gradient; SciPy minimises it.
The result is compared with that of statsmodels.
"""

import sys
import timeit

import numpy as np
from scipy.optimize import minimize
from statsmodels.datasets import nile
from statsmodels.tsa.statespace.structural import UnobservedComponents

import frazil as fz
import frazil.tensor as ft


def main():
    volumes = nile.load_pandas().data["volume"].to_numpy().astype("float64")

    y, theta = fz.shared(volumes, name="volumes"), ft.dvector("theta")
    noise, drift = ft.exp(theta[0]), ft.exp(theta[1])

    def step(seen, level, variance):
        variance = variance + drift
        total = variance + noise
        error = seen - level
        gain = variance / total
        told = -0.5 * (ft.log(2 * np.pi * total) + error**2 / total)
        return level + gain * error, variance * (1 - gain), told

    # The first year says where the level starts.
    (levels, _, told), _ = fz.scan(step, y[1:], [y[0], noise, None])
    loss = -told.sum()

    started = timeit.default_timer()
    loss_and_gradient = fz.function([theta], [loss, fz.grad(loss, theta)])
    compile_seconds = timeit.default_timer() - started
    filtered = fz.function([theta], levels)

    guess = np.log([volumes.var(), volumes.var() / 10])
    call = min(timeit.repeat(lambda: loss_and_gradient(guess), number=100, repeat=5)) / 100
    found = minimize(
        lambda point: [float(loss_and_gradient(point)[0]), loss_and_gradient(point)[1]],
        guess,
        jac=True,
        method="BFGS",
        options={"gtol": 1e-7},
    )
    model = UnobservedComponents(volumes, "local level")
    reference = model.fit(disp=False, method="bfgs", gtol=1e-10, maxiter=500).params

    print(f"{len(volumes)} years")
    print(f"compiled in {1e3 * compile_seconds:.0f} ms, value and gradient in {1e6 * call:.0f} us")
    for name, own, other in zip(("noise", "drift"), np.exp(found.x), reference, strict=True):
        print(f"variance of the {name} {own:9.1f}   statsmodels {other:9.1f}")
    print(f"level in the last year {filtered(found.x)[-1]:.1f}")
    difference = np.max(np.abs(np.exp(found.x) / reference - 1))
    print(f"difference of the variances {difference:.2g}")
    return 0 if difference < 0.02 else 1


if __name__ == "__main__":
    sys.exit(main())
