"""Parameters for which each distribution of the runtime is one, for tests to draw from."""

from __future__ import annotations

import numpy as np

POSITIVE = [0.3, 1.0, 2.5, 40.0]
NOT_NEGATIVE = [0.0, *POSITIVE]
ANY = [-3.0, 0.0, 1.5]
SHARES = [0.1, 0.5, 0.9]
COUNTS = [0, 3, 50]

PARAMETERS: dict[str, list[list[float]]] = {
    "random": [],
    "standard_normal": [],
    "standard_exponential": [],
    "standard_cauchy": [],
    "standard_gamma": [NOT_NEGATIVE],
    "standard_t": [POSITIVE],
    "uniform": [ANY, [1.5, 2.0]],
    "normal": [ANY, NOT_NEGATIVE],
    "lognormal": [ANY, NOT_NEGATIVE],
    "exponential": [NOT_NEGATIVE],
    "gamma": [NOT_NEGATIVE, NOT_NEGATIVE],
    "beta": [POSITIVE, POSITIVE],
    "chisquare": [POSITIVE],
    "noncentral_chisquare": [POSITIVE, NOT_NEGATIVE],
    "f": [POSITIVE, POSITIVE],
    "noncentral_f": [POSITIVE, POSITIVE, NOT_NEGATIVE],
    "pareto": [POSITIVE],
    "weibull": [NOT_NEGATIVE],
    "power": [POSITIVE],
    "laplace": [ANY, NOT_NEGATIVE],
    "gumbel": [ANY, NOT_NEGATIVE],
    "logistic": [ANY, NOT_NEGATIVE],
    "rayleigh": [NOT_NEGATIVE],
    "wald": [POSITIVE, POSITIVE],
    "vonmises": [ANY, NOT_NEGATIVE],
    "triangular": [[-3.0, 0.0], [0.0, 1.0], [1.0, 5.0]],
    "poisson": [NOT_NEGATIVE],
    "geometric": [SHARES],
    "logseries": [SHARES],
    "zipf": [[1.5, 4.0]],
    "negative_binomial": [POSITIVE, SHARES],
    "binomial": [COUNTS, [0.0, *SHARES, 1.0]],
    "hypergeometric": [[7, 50], [3, 60], [0, 10]],
    "integers": [[-3, 0], [1, 100]],
}
"""For each function, values that each of its parameters may have."""

BIT_GENERATORS = [
    np.random.PCG64,
    np.random.PCG64DXSM,
    np.random.Philox,
    np.random.SFC64,
    np.random.MT19937,
]
