"""PyMC's own functions in the mode "FRAZIL": samplers, modes of densities, draws of data."""

import multiprocessing

import cloudpickle
import numpy as np
import pymc as pm
import pytensor
import pytest

from frazil.interop.pytensor.linker import FrazilLinker
from pymc_models import MODELS

SETTINGS = {
    "compile_kwargs": {"mode": "FRAZIL"},
    "random_seed": 3,
    "progressbar": False,
    "draws": 20,
    "tune": 20,
    "compute_convergence_checks": False,
}
QUIET = pytest.mark.filterwarnings("ignore")  # what PyMC says of short chains is not meant


@QUIET
def test_the_sampler_draws_what_it_draws_in_pytensors_mode():
    with MODELS["linear_regression"]():
        own = pm.sample(chains=1, **SETTINGS)
        wanted = pm.sample(chains=1, **{**SETTINGS, "compile_kwargs": {"mode": "FAST_COMPILE"}})
    # Rounding differs, so paths part in the end; those of forty draws have not begun to.
    for name in ("a", "b", "sigma"):
        np.testing.assert_allclose(own.posterior[name], wanted.posterior[name], rtol=1e-4)


@QUIET
def test_several_chains_compile_once(monkeypatch):
    made, convert = [], FrazilLinker.fgraph_convert

    def counted(linker, fgraph, **more):
        made.append(fgraph)
        return convert(linker, fgraph, **more)

    monkeypatch.setattr(FrazilLinker, "fgraph_convert", counted)
    compiled = []
    with MODELS["linear_regression"]():
        for chains in (1, 3):
            pm.sample(chains=chains, cores=1, **{**SETTINGS, "draws": 2, "tune": 2})
            compiled.append(len(made))
            made.clear()
    assert compiled[0] == compiled[1] > 0


@QUIET
def test_chains_in_other_processes():
    with MODELS["linear_regression"]():
        drawn = pm.sample(chains=2, cores=2, mp_ctx="fork", **SETTINGS)
    assert drawn.posterior["b"].shape == (2, 20, 3)
    assert np.isfinite(drawn.posterior["b"]).all()


@QUIET
@pytest.mark.parametrize("start_method", ["spawn", "forkserver"])
def test_a_new_process_takes_a_density(start_method):
    """What ``pm.sample`` does where it starts processes afresh; each imports PyMC."""
    model = MODELS["linear_regression"]()
    density, start = model.compile_logp(mode="FRAZIL"), model.initial_point()
    with multiprocessing.get_context(start_method).Pool(1) as pool:
        found = pool.apply(value_of, (cloudpickle.dumps(density), start))
    assert found == density(start)


def value_of(pickled, point):
    return cloudpickle.loads(pickled)(point)


@QUIET
def test_the_largest_density():
    with MODELS["linear_regression"]():
        found = []
        for mode in ("FRAZIL", "FAST_COMPILE"):
            with pytensor.config.change_flags(mode=mode):
                found.append(pm.find_MAP(progressbar=False))
    own, wanted = found
    for name, value in wanted.items():
        np.testing.assert_allclose(own[name], value, rtol=1e-4, atol=1e-4)


@QUIET
@pytest.mark.parametrize("name", ["eight_schools", "general_mixture", "garch"])
def test_draws_of_data_before_they_are_seen(name):
    with MODELS[name]():
        own = pm.sample_prior_predictive(5, random_seed=3, compile_kwargs={"mode": "FRAZIL"})
        wanted = pm.sample_prior_predictive(
            5, random_seed=3, compile_kwargs={"mode": "FAST_COMPILE"}
        )
    for group in ("prior", "prior_predictive"):
        for key, value in wanted[group].items():
            np.testing.assert_allclose(own[group][key], value, rtol=1e-10)


@QUIET
def test_draws_of_data_after_they_are_seen():
    with MODELS["poisson_regression"]():
        seen = pm.sample_prior_predictive(5, random_seed=3)
        own, wanted = (
            pm.sample_posterior_predictive(
                seen.prior, random_seed=4, progressbar=False, compile_kwargs={"mode": mode}
            )
            for mode in ("FRAZIL", "FAST_COMPILE")
        )
    np.testing.assert_array_equal(own.posterior_predictive["y"], wanted.posterior_predictive["y"])


@QUIET
@pytest.mark.parametrize("method", ["advi", "fullrank_advi"])
def test_variational_inference_of_parts_of_the_data(method):
    """Each step of it draws other rows of the data, by an op that PyTensor performs."""
    drawn = np.random.default_rng(1)
    x = drawn.normal(size=(60, 3))
    y = x @ [1.0, -2.0, 0.5] + drawn.normal(size=60)
    losses = []
    for mode in ("FRAZIL", "FAST_COMPILE"):
        with pm.Model(), pytensor.config.change_flags(mode=mode):
            some_x, some_y = pm.Minibatch(x, y, batch_size=16)
            b = pm.Normal("b", 0, 1, shape=3)
            pm.Normal("y", some_x @ b, 1, observed=some_y, total_size=60)
            losses.append(pm.fit(40, method=method, random_seed=3, progressbar=False).hist)
    np.testing.assert_allclose(losses[0], losses[1], rtol=1e-8)


@QUIET
@pytest.mark.parametrize("kind", ["Metropolis", "Slice", "DEMetropolisZ", "HamiltonianMC", "smc"])
def test_other_samplers_draw_what_they_draw_in_pytensors_mode(kind):
    found = []
    for mode in ("FRAZIL", "FAST_COMPILE"):
        with MODELS["eight_schools"](), pytensor.config.change_flags(mode=mode):
            settings = {"random_seed": 3, "progressbar": False, "cores": 1, "draws": 10}
            settings["compute_convergence_checks"] = False
            if kind == "smc":
                drawn = pm.sample_smc(chains=2, **settings)
            else:
                drawn = pm.sample(tune=10, chains=1, step=getattr(pm, kind)(), **settings)
        found.append(drawn.posterior)
    for name in ("mean", "spread", "each"):
        np.testing.assert_allclose(found[0][name], found[1][name], rtol=1e-4)


@QUIET
def test_draws_and_densities_of_new_data():
    x, y = np.random.default_rng(1).normal(size=(2, 20))
    found = []
    for mode in ("FRAZIL", "FAST_COMPILE"):
        with pm.Model(), pytensor.config.change_flags(mode=mode):
            given, seen = pm.Data("x", x), pm.Data("seen", y)
            slope = pm.Normal("slope", 0, 1)
            pm.Normal("y", slope * given, 1, observed=seen, shape=given.shape)
            prior = pm.sample_prior_predictive(4, random_seed=3).prior
            pm.set_data({"x": x[:7] * 2, "seen": y[:7]})
            drawn = pm.sample_posterior_predictive(prior, random_seed=4, progressbar=False)
            found.append(drawn.posterior_predictive["y"].to_numpy())
    assert found[0].shape == (1, 4, 7)
    np.testing.assert_array_equal(*found)
