"""Fit a hierarchical model by Hamiltonian Monte Carlo, with gradients of a Python function.

Eight schools coached their pupils for a test; each reports an effect and its standard error (Rubin,
1981). How far do the true effects differ? The log-density is written in NumPy over a dict of
parameters; ``fz.jit(fz.value_and_grad(...))`` makes a compiled function of it and its gradient, and
the sampler around it is plain NumPy.
"""

import time

import numpy as np

import frazil as fz

EFFECTS = np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])
ERRORS = np.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])


def log_density(params):
    """The logarithm of the posterior density, but for a constant."""
    tau = np.exp(params["log_tau"])
    effects = params["mu"] + tau * params["z"]
    prior = -0.5 * (params["mu"] / 5.0) ** 2 - 0.5 * np.sum(params["z"] ** 2)
    prior = prior - np.log1p((tau / 5.0) ** 2) + params["log_tau"]
    return prior - 0.5 * np.sum(((EFFECTS - effects) / ERRORS) ** 2)


def sample(value_and_grad, start, draws, rng, step=0.15, steps=12):
    """Yield states of a chain, each with whether it was accepted."""
    state = start
    value, gradient = value_and_grad(state)
    for _ in range(draws):
        momentum = {name: rng.normal(size=np.shape(own)) for name, own in state.items()}
        proposed, slope = dict(state), gradient
        energy = value - sum(0.5 * np.sum(own**2) for own in momentum.values())
        for _ in range(steps):
            momentum = {name: momentum[name] + step / 2 * slope[name] for name in momentum}
            proposed = {name: proposed[name] + step * momentum[name] for name in momentum}
            proposed_value, slope = value_and_grad(proposed)
            momentum = {name: momentum[name] + step / 2 * slope[name] for name in momentum}
        change = proposed_value - sum(0.5 * np.sum(own**2) for own in momentum.values()) - energy
        accepted = np.log(rng.uniform()) < change
        if accepted:
            state, value, gradient = proposed, proposed_value, slope
        yield state, bool(accepted)


def main(draws: int = 4000) -> dict[str, float]:
    """Sample, print what was found, and return it."""
    value_and_grad = fz.jit(fz.value_and_grad(log_density))
    start = {"mu": np.float64(0.0), "log_tau": np.float64(0.0), "z": np.zeros(len(EFFECTS))}
    value_and_grad(start)
    before = time.perf_counter()
    chain = list(sample(value_and_grad, start, draws, np.random.default_rng(1)))
    seconds = time.perf_counter() - before
    kept = [state for state, _ in chain[draws // 5 :]]
    found = {
        "mu": float(np.mean([state["mu"] for state in kept])),
        "tau": float(np.mean([np.exp(state["log_tau"]) for state in kept])),
        "accepted": float(np.mean([accepted for _, accepted in chain])),
    }
    print(f"{draws} draws in {seconds:.1f} s, {found['accepted']:.0%} of them accepted")
    print(f"the mean effect is {found['mu']:.1f}, the effects differ by {found['tau']:.1f}")
    return found


if __name__ == "__main__":
    main()
