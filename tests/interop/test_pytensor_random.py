"""PyTensor's random variables: the numbers of NumPy's generators, whose states stay PyTensor's."""

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from pytensor.compile.mode import Mode

from frazil.interop.pytensor import compiled_function

pytestmark = pytest.mark.filterwarnings("ignore:RandomVariable Ops will stop hiding")
v = pt.dvector("v")
VALUE = np.array([0.5, 1.5, 3.0])
DRAWS = {
    "normal": lambda rng: pt.random.normal(v, 2.0, rng=rng),
    "normal of a size": lambda rng: pt.random.normal(v, 2.0, size=(2, 3), rng=rng),
    "uniform": lambda rng: pt.random.uniform(0, v, rng=rng),
    "gamma": lambda rng: pt.random.gamma(v, scale=2.0, rng=rng),
    "beta": lambda rng: pt.random.beta(v, 2, rng=rng),
    "exponential": lambda rng: pt.random.exponential(v, rng=rng),
    "poisson": lambda rng: pt.random.poisson(v, rng=rng),
    "binomial": lambda rng: pt.random.binomial(10, v / 4, rng=rng),
    "geometric": lambda rng: pt.random.geometric(v / 4, rng=rng),
    "laplace": lambda rng: pt.random.laplace(v, 1.0, rng=rng),
    "vonmises": lambda rng: pt.random.vonmises(v / 4, 1.0, rng=rng),
    "wald": lambda rng: pt.random.wald(v, 1.0, rng=rng),
    "integers": lambda rng: pt.random.integers(0, 10, size=(4,), rng=rng),
    "by SciPy": lambda rng: pt.random.t(v + 1, 0.0, 1.0, rng=rng),
    "of vectors": lambda rng: pt.random.multivariate_normal(v, pt.eye(3), rng=rng),
    "of shares": lambda rng: pt.random.dirichlet(v, rng=rng),
    "of categories": lambda rng: pt.random.categorical(v / v.sum(), size=(5,), rng=rng),
}


@pytest.mark.parametrize("name", DRAWS)
def test_draws_are_numpys(name):
    found = []
    for mode in ("FRAZIL", Mode("py", None)):
        rng = pytensor.shared(np.random.default_rng(7))
        drawn = DRAWS[name](rng)
        updates = {rng: drawn.owner.outputs[0]}
        f = pytensor.function([v], drawn, updates=updates, mode=mode, on_unused_input="ignore")
        found.append([f(VALUE), f(VALUE), rng.get_value().random()])
    for own, wanted in zip(*found, strict=True):
        assert np.asarray(own).dtype == np.asarray(wanted).dtype
        np.testing.assert_array_equal(own, wanted)


@pytest.mark.parametrize(
    "bits", [np.random.PCG64DXSM, np.random.Philox, np.random.SFC64, np.random.MT19937]
)
def test_any_generator_of_numpys_may_draw(bits):
    rng = pytensor.shared(np.random.Generator(bits(3)))
    drawn = pt.random.normal(size=3, rng=rng)
    f = pytensor.function([], drawn, updates={rng: drawn.owner.outputs[0]}, mode="FRAZIL")
    wanted = np.random.Generator(bits(3))
    np.testing.assert_array_equal(f(), wanted.normal(size=3))
    np.testing.assert_array_equal(f(), wanted.normal(size=3))
    assert type(rng.get_value().bit_generator) is bits


def test_what_numpy_draws_by_one_method_is_drawn_natively():
    rng = pytensor.shared(np.random.default_rng(7))
    f = pytensor.function([v], pt.random.normal(v, 1.0, rng=rng), mode="FRAZIL")
    assert "PyTensor" not in str(compiled_function(f).explain())
    g = pytensor.function([v], pt.random.t(v, 0.0, 1.0, rng=rng), mode="FRAZIL")
    assert "PyTensor's StudentTRV" in str(compiled_function(g).explain())


def test_a_loop_draws_in_each_step():
    rng = pytensor.shared(np.random.default_rng(7))

    def step(x, rng):
        next_rng, drawn = pt.random.normal(x, 1.0, rng=rng).owner.outputs
        return drawn, next_rng

    walk, last = pytensor.scan(
        step, outputs_info=[pt.zeros(()), rng], n_steps=4, return_updates=False
    )
    f = pytensor.function([], walk, updates={rng: last}, mode="FRAZIL")
    wanted = np.random.default_rng(7).normal(size=4).cumsum()
    np.testing.assert_allclose(f(), wanted, rtol=1e-14)


def test_a_loop_without_steps_hands_its_generator_on():
    rng, n = pytensor.shared(np.random.default_rng(7)), pt.lscalar("n")

    def step(x, rng):
        next_rng, drawn = pt.random.normal(x, 1.0, rng=rng).owner.outputs
        return drawn, next_rng

    walk, last = pytensor.scan(
        step, outputs_info=[pt.zeros(()), rng], n_steps=n, return_updates=False
    )
    f = pytensor.function([n], walk, updates={rng: last}, mode="FRAZIL")
    assert f(np.array(0)).shape == (0,)
    wanted = np.random.default_rng(7).normal(size=3).cumsum()
    np.testing.assert_allclose(f(np.array(3)), wanted, rtol=1e-14)
