"""Posteriors of PyMC's models, drawn by several samplers: the time, and whether they agree.

PyMC's own sampler runs in frazil's mode and in those of PyTensor's; numpyro and nutpie run as they
are where they are installed, and nutpie also with densities that it calls by their address in
frazil's functions. Each run is a fresh process with empty caches. Models are those of the tests,
but for that of radon, which has as many houses and counties as Gelman and Hill's. Times are from
the model to the last draw, compilations included, of the processor and of the clock. Means and
standard deviations of all parameters are compared with those of the first sampler, in units of the
Monte Carlo error of the difference. With ``--cores`` the chains also run in two processes, by fork
and by spawn; they must draw the very numbers that one process draws.

    python benches/sampling.py --models eight_schools --samplers FRAZIL FAST_RUN nutpie
"""

import argparse
import json
import sys
import time
import warnings
from pathlib import Path

from apart import processor_time, run_apart

MODELS = Path(__file__).resolve().parent.parent / "tests" / "interop"
NAMES = ("eight_schools", "radon", "gaussian_process", "garch")
MODES = ("FRAZIL", "FAST_RUN", "NUMBA")
SAMPLERS = (*MODES, "numpyro", "nutpie", "nutpie_FRAZIL")
DRAWS, TUNE, CHAINS = 500, 500, 2


def drawn_by_pymc(model, mode, **more):
    import pymc as pm

    with model:
        return pm.sample(
            draws=DRAWS,
            tune=TUNE,
            chains=CHAINS,
            random_seed=1,
            progressbar=False,
            compute_convergence_checks=False,
            **({"compile_kwargs": {"mode": mode}} if mode else {}),
            **{"cores": 1, **more},
        )


def drawn_by_nutpie(model, mode):
    import nutpie

    compiled = nutpie.compile_pymc_model(model) if mode is None else called_by_address(model, mode)
    settings = {"draws": DRAWS, "tune": TUNE, "chains": CHAINS, "cores": 1, "seed": 1}
    return nutpie.sample(compiled, progress_bar=False, **settings)


def called_by_address(model, mode):
    """A model of nutpie's whose densities are functions of frazil's, called without Python."""
    import numpy as np
    from nutpie import compile_pymc as nutpies
    from pymc.initial_point import make_initial_point_fn

    from frazil.interop.pytensor import compiled_function

    size, expanded, density, values, initial, shapes = nutpies._make_functions(
        model,
        mode=mode,
        compute_grad=True,
        join_expanded=True,
        pymc_initial_point_fn=make_initial_point_fn(
            model=model, jitter_rvs=set(model.free_RVs), return_transformed=True
        ),
    )
    density, values = compiled_function(density), compiled_function(values)
    made = [f.address(np.zeros(size)) for f in (density, values)]
    dims, coords = nutpies._prepare_dims_and_coords(model, shapes)
    return nutpies.CompiledPyMCModel(
        _n_dim=size,
        dims=dims,
        _coords=coords,
        _shapes={name: tuple(shape) for name, _, shape in zip(*shapes, strict=True)},
        compiled_logp_func=density_for_nutpie(made[0], size),
        compiled_expand_func=values_for_nutpie(made[1], size, expanded),
        initial_point_func=initial,
        shared_data={},
        user_data=np.zeros(0),
        n_expanded=expanded,
        shape_info=shapes,
        logp_func=made[0],  # kept as long as the model is
        expand_func=made[1],
    )


def of_ctypes(made):
    """The function and its context, as code of Numba's calls them."""
    import ctypes

    kind = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_void_p)
    return kind(made.address), made.context


def density_for_nutpie(made, size):
    import numba
    import numpy as np

    function, context = of_ctypes(made)
    number, pointer = numba.types.uint64, numba.types.CPointer(numba.types.double)

    @numba.cfunc(numba.types.int64(number, pointer, pointer, pointer, numba.types.voidptr))
    def density(dim, point, gradient, value, data):
        slope, total = numba.carray(gradient, (size,)), numba.carray(value, (1,))
        inputs = np.array([numba.carray(point, (size,)).ctypes.data])
        outputs = np.array([total.ctypes.data, slope.ctypes.data])
        if function(context, inputs.ctypes, outputs.ctypes) != 0:
            return 1
        if not np.all(np.isfinite(slope)):
            return 3
        return 0 if np.isfinite(total[0]) else 4

    return density


def values_for_nutpie(made, size, expanded):
    import numba
    import numpy as np

    function, context = of_ctypes(made)
    number, pointer = numba.types.uint64, numba.types.CPointer(numba.types.double)

    @numba.cfunc(numba.types.int64(number, number, pointer, pointer, numba.types.voidptr))
    def values(dim, length, point, result, data):
        inputs = np.array([numba.carray(point, (size,)).ctypes.data])
        outputs = np.array([numba.carray(result, (expanded,)).ctypes.data])
        return -2 if function(context, inputs.ctypes, outputs.ctypes) != 0 else 0

    return values


def draw(model, sampler, **more):
    if sampler == "numpyro":
        one_by_one = {"chain_method": "sequential"}
        return drawn_by_pymc(model, None, nuts_sampler="numpyro", nuts_sampler_kwargs=one_by_one)
    if sampler.startswith("nutpie"):
        return drawn_by_nutpie(model, sampler.partition("_")[2] or None)
    return drawn_by_pymc(model, sampler, **more)


def imported(sampler):
    """Import what the sampler needs, which is no part of the time."""
    import logging

    import arviz  # noqa: F401
    import pymc

    import frazil.interop.pytensor  # noqa: F401

    logging.getLogger("pymc").setLevel(logging.ERROR)
    if sampler == "numpyro":
        import pymc.sampling.jax  # noqa: F401
    elif sampler.startswith("nutpie"):
        import nutpie  # noqa: F401


def measure(name, sampler, processes):
    """Time and moments of one run, in this process."""
    warnings.simplefilter("ignore")
    sys.path.insert(0, str(MODELS))
    imported(sampler)
    import arviz as az
    import numpy as np

    import pymc_models

    model = radon() if name == "radon" else pymc_models.MODELS[name]()
    began, clock = processor_time(), time.perf_counter()
    found = draw(model, sampler).posterior
    times = {"processor": processor_time() - began, "clock": time.perf_counter() - clock}
    moments = {}
    for variable, values in found.items():
        chains = values.to_numpy().reshape(*values.shape[:2], -1)
        for place in range(chains.shape[2]):
            moments[f"{variable}[{place}]"] = moments_of(chains[:, :, place])
    same = {}
    for context in processes:
        other = draw(model, sampler, cores=2, mp_ctx=context).posterior
        same[context] = all(np.array_equal(found[key], other[key]) for key in found)
    ess = min(float(each.min()) for each in az.ess(found).values())
    return {"times": times, "moments": moments, "same": same, "ess": ess}


def radon():
    """Levels and slopes by county, of data that are made up: 919 houses in 85 counties."""
    import numpy as np
    import pymc as pm

    made = np.random.default_rng(5)
    county, floor = made.integers(0, 85, 919), made.integers(0, 2, 919).astype(float)
    levels, slopes = made.normal(1.5, 0.35, 85), made.normal(-0.7, 0.3, 85)
    seen = levels[county] + slopes[county] * floor + made.normal(0, 0.7, 919)
    with pm.Model() as model:
        mean_a, mean_b = pm.Normal("mean_a", 0, 1), pm.Normal("mean_b", 0, 1)
        a = mean_a + pm.HalfNormal("sigma_a", 1) * pm.Normal("a", 0, 1, shape=85)
        b = mean_b + pm.HalfNormal("sigma_b", 1) * pm.Normal("b", 0, 1, shape=85)
        pm.Normal("y", a[county] + b[county] * floor, pm.Exponential("eps", 1), observed=seen)
    return model


def moments_of(chains):
    """The mean and the standard deviation of one parameter, each with its Monte Carlo error."""
    import arviz as az

    mean, sd = float(chains.mean()), float(chains.std(ddof=1))
    squares = (chains - mean) ** 2
    if sd == 0:
        return {"mean": (mean, 0.0), "sd": (0.0, 0.0)}
    error = sd / float(az.ess(chains, method="mean")) ** 0.5
    spread = float(squares.std(ddof=1)) / float(az.ess(squares, method="mean")) ** 0.5
    return {"mean": (mean, error), "sd": (sd, spread / (2 * sd))}


def farthest(own, other):
    """Which moment differs most, by how many Monte Carlo errors, of how many moments."""
    distances = {}
    for key in own.keys() & other.keys():
        for how, (one, error) in own[key].items():
            another, its_error = other[key][how]
            if error + its_error > 0:
                away = abs(one - another) / (error**2 + its_error**2) ** 0.5
                distances[f"the {how} of {key}"] = away
    key = max(distances, key=distances.get)
    return distances[key], key, len(distances)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--models", nargs="*", default=NAMES, help="of the tests")
    parser.add_argument("--samplers", nargs="*", default=SAMPLERS, help="the first is the measure")
    parser.add_argument("--cores", action="store_true", help="also by fork and spawn")
    parser.add_argument("--json", type=Path, help="a file for the numbers")
    parser.add_argument("--apart", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.apart:
        contexts = ("fork", "spawn") if given.cores else ()
        print(json.dumps(measure(*given.apart, contexts)))
        return
    runs = {}
    print(f"{DRAWS * CHAINS} draws after {TUNE * CHAINS}; seconds of processor and clock")
    for name in given.models:
        for sampler in given.samplers:
            more = ["--cores"] if given.cores and sampler in MODES else []
            done = run_apart(__file__, "--apart", name, sampler, *more)
            row = f"{name:20}{sampler:15}"
            if done.returncode:
                print(row, done.stderr.strip().splitlines()[-1], flush=True)
                continue
            found = json.loads(done.stdout.splitlines()[-1])
            runs.setdefault(name, {})[sampler] = found
            row += "".join(f"{took:9.2f}" for took in found["times"].values())
            row += f"  least effective sample {found['ess']:.0f}"
            if sampler != given.samplers[0] and given.samplers[0] in runs[name]:
                far = farthest(runs[name][given.samplers[0]]["moments"], found["moments"])
                row += "  {:.1f} errors in {}, the farthest of {}".format(*far)
            for context, same in found["same"].items():
                row += f"  {context}: {'the same draws' if same else 'OTHER DRAWS'}"
            print(row, flush=True)
    if given.json:
        given.json.write_text(json.dumps(runs, indent=1))


if __name__ == "__main__":
    main()
