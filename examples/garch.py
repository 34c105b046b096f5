"""A GARCH(1,1) model of the daily returns of the S&P 500, fitted by maximum likelihood.

Frazil compiles the likelihood, which is a scan over the days, and its gradient; SciPy minimises it.
The result is compared with that of the package arch.
"""

import sys
import timeit

import numpy as np
from arch import arch_model
from arch.data import sp500
from scipy.optimize import minimize

import frazil as fz
import frazil.tensor as ft


def main():
    prices = sp500.load()["Adj Close"].to_numpy()
    returns = 100 * np.diff(np.log(prices))

    # The variance of a day follows from what happened the day before; arch starts from this.
    weights = 0.94 ** np.arange(75)
    start = (weights * (returns[:75] - returns.mean()) ** 2).sum() / weights.sum()
    x, theta = fz.shared(returns, name="returns"), ft.dvector("theta")
    mean, omega, alpha, beta = theta[0], theta[1], theta[2], theta[3]
    error = x - mean
    first = omega + (alpha + beta) * start
    later, _ = fz.scan(
        lambda before, variance: omega + alpha * before**2 + beta * variance, error[:-1], first
    )
    variances = ft.concatenate([first[None], later])
    loss = 0.5 * (ft.log(2 * np.pi * variances) + error**2 / variances).sum()

    started = timeit.default_timer()
    loss_and_gradient = fz.function([theta], [loss, fz.grad(loss, theta)])
    compile_seconds = timeit.default_timer() - started

    guess = np.array([returns.mean(), 0.05 * returns.var(), 0.1, 0.85])
    call = min(timeit.repeat(lambda: loss_and_gradient(guess), number=100, repeat=5)) / 100
    found = minimize(
        lambda point: [float(loss_and_gradient(point)[0]), loss_and_gradient(point)[1]],
        guess,
        jac=True,
        bounds=[(None, None), (1e-6, None), (0, 1), (0, 1)],
        method="L-BFGS-B",
        options={"ftol": 1e-14, "gtol": 1e-6, "maxiter": 500},
    )
    reference = arch_model(returns).fit(disp="off", tol=1e-10)

    print(f"{len(returns)} returns")
    print(f"compiled in {1e3 * compile_seconds:.0f} ms, value and gradient in {1e6 * call:.0f} us")
    for name, own, other in zip(
        ("mean", "omega", "alpha", "beta"), found.x, reference.params, strict=True
    ):
        print(f"{name:6} {own:9.6f}   arch {other:9.6f}")
    difference = abs(-found.fun - reference.loglikelihood)
    print(f"difference of the log-likelihoods {difference:.2g}")
    return 0 if difference < 1e-3 else 1


if __name__ == "__main__":
    sys.exit(main())
