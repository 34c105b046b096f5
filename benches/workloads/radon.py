"""Value and seven gradients of a hierarchical regression: 919 houses in 85 counties."""

import numpy as np

HOUSES, COUNTIES = 919, 85
PARAMETERS = ("mean_a", "log_spread_a", "mean_b", "log_spread_b", "log_noise")


def arguments():
    rng = np.random.default_rng(9)
    county = np.sort(rng.integers(0, COUNTIES, size=HOUSES))
    floor = rng.integers(0, 2, size=HOUSES).astype("float64")
    radon = 1.4 - 0.7 * floor + rng.normal(size=COUNTIES)[county] / 3 + rng.normal(size=HOUSES)
    raw_a, raw_b = rng.normal(size=(2, COUNTIES))
    scalars = [np.array(x) for x in (1.4, -1.0, -0.7, -1.2, -0.3)]
    return county, floor, radon, *scalars, raw_a, raw_b


def numpy(
    county, floor, radon, mean_a, log_spread_a, mean_b, log_spread_b, log_noise, raw_a, raw_b
):
    spread_a, spread_b, noise = np.exp(log_spread_a), np.exp(log_spread_b), np.exp(log_noise)
    a, b = mean_a + spread_a * raw_a, mean_b + spread_b * raw_b
    residual = (radon - a[county] - b[county] * floor) / noise
    scalars = (mean_a, log_spread_a, mean_b, log_spread_b, log_noise)
    value = -(residual**2).sum() / 2 - HOUSES * log_noise
    value = value - (raw_a**2).sum() / 2 - (raw_b**2).sum() / 2 - sum(s**2 for s in scalars) / 2
    pull = residual / noise
    pull_a = np.bincount(county, pull, COUNTIES)
    pull_b = np.bincount(county, pull * floor, COUNTIES)
    return (
        value,
        pull_a.sum() - mean_a,
        (pull_a * raw_a).sum() * spread_a - log_spread_a,
        pull_b.sum() - mean_b,
        (pull_b * raw_b).sum() * spread_b - log_spread_b,
        (residual**2).sum() - HOUSES - log_noise,
        pull_a * spread_a - raw_a,
        pull_b * spread_b - raw_b,
    )


def frazil():
    import frazil as fz
    import frazil.tensor as ft

    county, floor, radon = ft.lvector("county"), ft.vector("floor"), ft.vector("radon")
    parameters = [*map(ft.scalar, PARAMETERS), ft.vector("raw_a"), ft.vector("raw_b")]
    value = _log_posterior(ft, county, floor, radon, *parameters)
    return [county, floor, radon, *parameters], [value, *fz.grad(value, parameters)]


def pytensor():
    import pytensor
    import pytensor.tensor as pt

    county, floor, radon = pt.lvector("county"), pt.vector("floor"), pt.vector("radon")
    parameters = [*map(pt.scalar, PARAMETERS), pt.vector("raw_a"), pt.vector("raw_b")]
    value = _log_posterior(pt, county, floor, radon, *parameters)
    return [county, floor, radon, *parameters], [value, *pytensor.grad(value, parameters)]


def jax():
    import jax
    import jax.numpy as jnp

    def work(county, floor, radon, *parameters):
        value_and_grad = jax.value_and_grad(
            lambda parameters: _log_posterior(jnp, county, floor, radon, *parameters)
        )
        value, gradient = value_and_grad(parameters)
        return value, *gradient

    return work


def limit():
    """Read what a house has once and add it up by county."""
    county, floor, radon, *_ = arguments()
    return lambda: (np.bincount(county, floor, COUNTIES), np.bincount(county, radon, COUNTIES))


def _log_posterior(
    xp, county, floor, radon, mean_a, log_spread_a, mean_b, log_spread_b, log_noise, raw_a, raw_b
):
    a = mean_a + xp.exp(log_spread_a) * raw_a
    b = mean_b + xp.exp(log_spread_b) * raw_b
    residual = (radon - a[county] - b[county] * floor) / xp.exp(log_noise)
    prior = (raw_a**2).sum() + (raw_b**2).sum() + mean_a**2 + log_spread_a**2
    prior = prior + mean_b**2 + log_spread_b**2 + log_noise**2
    return -(residual**2).sum() / 2 - HOUSES * log_noise - prior / 2
