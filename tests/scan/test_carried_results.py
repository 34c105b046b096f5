"""What a step computes of new states is not computed again by the next one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft
from frazil.scan.op import Scan

MODES = ("py", "c", "cranelift", "numba")
PLAIN = fz.Mode("py").excluding("scan")


def products(function):
    """How many products of matrices a step of each scan has."""
    scans = [node.op for node in function.optimized.toposort() if isinstance(node.op, Scan)]
    names = [[str(node.op) for node in op.fgraph.toposort()] for op in scans]
    return [sum("Dot" in name or "Gemv" in name for name in own) for own in names]


def leapfrog(place, momentum, matrix, n_steps, force=lambda place, matrix: matrix @ place):
    def step(place, momentum, matrix):
        half = momentum - 0.05 * force(place, matrix)
        place = place + 0.1 * half
        return place, half - 0.05 * force(place, matrix)

    (places, momenta), _ = fz.scan(
        step, outputs_info=[place, momentum], non_sequences=matrix, n_steps=n_steps
    )
    return places, momenta


def energy(places, momenta):
    return ft.sum(places[-1] ** 2) + ft.sum(momenta[-1] ** 3)


@pytest.mark.parametrize("mode", MODES)
def test_a_leapfrog_step_has_one_force(mode):
    place, momentum, matrix = ft.dvector("place"), ft.dvector("momentum"), ft.dmatrix("matrix")
    cost = energy(*leapfrog(place, momentum, matrix, 7))
    outputs = [cost, *fz.grad(cost, [place, momentum])]
    f = fz.function([place, momentum, matrix], outputs, mode=mode)
    plain = fz.function([place, momentum, matrix], outputs, mode=PLAIN)
    assert products(f) == [1, 1]
    rng = np.random.default_rng(3)
    arguments = rng.normal(size=3), rng.normal(size=3), rng.normal(size=(3, 3))
    for found, wanted in zip(f(*arguments), plain(*arguments), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12)


@settings(max_examples=settings.default.max_examples // 2)
@given(
    n_steps=st.integers(0, 4),
    static=st.booleans(),
    kind=st.sampled_from(["tanh", "inner", "two", "state"]),
    stacked=st.booleans(),
    mode=st.sampled_from(MODES),
    seed=st.integers(0, 9),
)
def test_forces_of_all_kinds(n_steps, static, kind, stacked, mode, seed):
    def force(place, matrix):
        match kind:
            case "tanh":
                return ft.tanh(matrix @ ft.sin(place))
            case "inner":
                return place * (place @ (matrix @ place))
            case "two":
                return matrix.T @ (matrix @ place)
            case _:
                return matrix @ place + place

    place, momentum, matrix = ft.dvector("place"), ft.dvector("momentum"), ft.dmatrix("matrix")
    count = ft.iscalar("count")
    places, momenta = leapfrog(place, momentum, matrix, n_steps if static else count, force)
    cost = ft.sum(places**2) + ft.sum(momenta)
    outputs = [cost, *fz.grad(cost, [place, momentum, matrix])]
    outputs += [places] if stacked else []
    inputs = [place, momentum, matrix, count]
    rng = np.random.default_rng(seed)
    arguments = rng.normal(size=3), rng.normal(size=3), rng.normal(size=(3, 3)) / 2, n_steps
    f, plain = (
        fz.function(inputs, outputs, mode=own, on_unused_input="ignore") for own in (mode, PLAIN)
    )
    for found, wanted in zip(f(*arguments), plain(*arguments), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)


def test_what_costs_little_is_computed_again():
    place = ft.dvector("place")
    places, momenta = leapfrog(place, ft.zeros_like(place), ft.constant(2.0), 5, lambda q, a: a * q)
    f = fz.function([place], [places[-1], momenta[-1]])
    (scan,) = (node.op for node in f.optimized.toposort() if isinstance(node.op, Scan))
    assert scan.n_states == 2


def test_a_force_that_depends_on_the_step_is_computed_in_each():
    place, rows, matrix = ft.dvector("place"), ft.dmatrix("rows"), ft.dmatrix("matrix")

    def step(row, place, matrix):
        half = place + matrix @ (place * row)
        return half + matrix @ (half * row)

    places, _ = fz.scan(step, rows, place, matrix)
    f = fz.function([place, rows, matrix], places[-1])
    assert products(f) == [2]
