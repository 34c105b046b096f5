"""The effects of coaching at eight schools (Rubin, 1981): a model of PyMC's, sampled in two modes.

PyMC's own sampler draws from the posterior, once with the density compiled by PyTensor's default
mode, once by frazil's. All that differs is a word. Both must find the same means.
"""

import logging
import sys
import timeit
import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # what PyMC's packages say of each other's versions
    import pymc as pm

import numpy as np

import frazil.interop.pytensor  # noqa: F401  (registers the mode)

EFFECTS = np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])
ERRORS = np.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])
DRAWS, TUNE, CHAINS = 1000, 500, 2


def main():
    logging.getLogger("pymc").setLevel(logging.ERROR)
    means, errors = {}, {}
    for who, mode in (("PyTensor", None), ("frazil", "FRAZIL")):
        with pm.Model() as model:
            mean, spread = pm.Normal("mean", 0, 5), pm.HalfNormal("spread", 5)
            each = pm.Normal("each", 0, 1, shape=8)
            pm.Normal("effect", mean + spread * each, ERRORS, observed=EFFECTS)
            started = timeit.default_timer()
            density = model.compile_logp(mode=mode)
            compiled = timeit.default_timer() - started
            density(model.initial_point())
            drawn = pm.sample(
                draws=DRAWS,
                tune=TUNE,
                chains=CHAINS,
                cores=1,
                random_seed=1,
                progressbar=False,
                compile_kwargs={"mode": mode},
            )
            sampled = timeit.default_timer() - started - compiled
        found = {name: drawn.posterior[name].to_numpy() for name in ("mean", "spread")}
        means[who] = {name: values.mean() for name, values in found.items()}
        errors[who] = {name: values.std() for name, values in found.items()}
        print(
            f"{who:9} density compiled in {compiled:.2f} s, {CHAINS * (DRAWS + TUNE)} draws in "
            f"{sampled:.2f} s: mean {means[who]['mean']:.2f}, spread {means[who]['spread']:.2f}"
        )
    # An effective sample is at least a tenth of the draws here.
    allowed = 4 * np.sqrt(2 / (CHAINS * DRAWS / 10))
    for name, one in means["frazil"].items():
        if abs(one - means["PyTensor"][name]) > allowed * errors["PyTensor"][name]:
            sys.exit(f"the means of {name} differ: {means}")


if __name__ == "__main__":
    main()
