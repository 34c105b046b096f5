"""MAP logistic regression on the Wisconsin breast-cancer data.

Frazil compiles the cost and its gradient; SciPy's L-BFGS minimises it. The result is checked
against scikit-learn's ``LogisticRegression``, which minimises the same cost.
"""

import statistics
import sys
import timeit

import numpy as np
from scipy.optimize import minimize
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression

import frazil as fz
import frazil.tensor as ft

C = 1.0  # scikit-learn's inverse strength of the prior on the weights
TOLERANCE = 1e-4


def main():
    data = load_breast_cancer()
    features = (data.data - data.data.mean(axis=0)) / data.data.std(axis=0)
    outcome = data.target.astype("float64")

    # The cost: minus the log of the posterior density.
    x, y = fz.shared(features, name="x"), fz.shared(outcome, name="y")
    weights, bias = ft.vector("weights"), ft.scalar("bias")
    logits = x @ weights + bias
    cost = (ft.softplus(logits) - y * logits).sum() + (weights**2).sum() / (2 * C)

    started = timeit.default_timer()
    cost_and_gradient = fz.function([weights, bias], [cost, *fz.grad(cost, [weights, bias])])
    compile_seconds = timeit.default_timer() - started

    def objective(point):
        value, *gradient = cost_and_gradient(point[:-1], point[-1])
        return float(value), np.append(*gradient)

    start = np.zeros(features.shape[1] + 1)
    options = {"ftol": 1e-15, "gtol": 1e-8}
    fit = minimize(objective, start, jac=True, method="L-BFGS-B", options=options)

    found = fit.x
    timer = timeit.Timer(lambda: cost_and_gradient(found[:-1], found[-1]))
    calls = 100
    call_seconds = statistics.median(timer.repeat(repeat=25, number=calls)) / calls

    accuracy = np.mean((features @ found[:-1] + found[-1] > 0) == outcome)
    model = LogisticRegression(C=C, tol=1e-10, max_iter=10_000).fit(features, outcome)
    theirs = np.append(model.coef_[0], model.intercept_)
    difference = np.max(np.abs(found - theirs))

    print("The cost as a graph:\n")
    fz.dprint(cost)
    print(f"\ncost and gradient compiled in {compile_seconds * 1e3:.3g} ms")
    rows, columns = features.shape
    print(f"one call on {rows} x {columns} data in {call_seconds * 1e6:.3g} us")
    print(f"L-BFGS: {fit.nit} iterations, {fit.nfev} calls, cost {fit.fun:.6f}")
    print(f"accuracy on the data it was fitted to {accuracy:.4f}")
    print(f"largest difference to scikit-learn's coefficients {difference:.1e}")
    if not difference < TOLERANCE:
        sys.exit(f"the coefficients differ by more than {TOLERANCE:g}")


if __name__ == "__main__":
    main()
