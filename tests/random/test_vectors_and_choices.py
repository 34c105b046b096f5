"""Draws of vectors, orders and samples, and of what is made of other draws."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft
from frazil import random

SEED = 7
SIZES = [None, (), 3, (2, 2), (0,)]
MODES = ("py", "c")


def generators():
    """A state, and a generator that is in it; half of 64 bits is left over."""
    generator = np.random.Generator(np.random.Philox(SEED))
    generator.integers(9, dtype="uint32")
    return random.state_of(generator), generator


def check(function, by_numpy, *arguments, mode, exact=True):
    """Compare a function that draws with what NumPy draws."""
    state, generator = generators()
    operands = [ft.as_tensor(x).type() for x in arguments]
    rng = ft.tensor("rng", dtype="uint64", shape=(None,))
    f = fz.function([rng, *operands], list(function(rng, *operands)), mode=mode)
    left, drawn = f(state, *arguments)
    expected = np.asarray(by_numpy(generator, *arguments))
    assert (drawn.dtype, drawn.shape) == (expected.dtype, expected.shape)
    if exact:
        assert drawn.tobytes() == expected.tobytes()
    else:
        np.testing.assert_allclose(drawn, expected, rtol=1e-12)
    assert left.tobytes() == random.state_of(generator).tobytes()


SHARES = st.sampled_from([[0.2, 0.3, 0.5], [1.0], [0.0, 1.0, 0.0, 0.0], [0.9999, 0.0001]])
ALPHAS = st.sampled_from([[2.0, 3.0, 0.5], [0.01, 0.02], [0.0, 0.0], [1e-3, 0.0, 0.09], [1.0], []])
COLORS = st.sampled_from([[5, 6, 7], [30], [0, 0, 9], [100, 3, 4, 5]])


@settings(max_examples=25)
@given(st.sampled_from([0, 1, 40]), SHARES, st.sampled_from(SIZES), st.sampled_from(MODES))
def test_multinomial(n, shares, size, mode):
    for trials in (n, [n, 3, 0]):
        fitting = size if np.ndim(trials) == 0 else (2, 3)
        check(
            lambda rng, n, p, size=fitting: random.multinomial(rng, n, p, size),
            lambda rng, n, p, size=fitting: rng.multinomial(n, p, size),
            np.array(trials), np.array(shares), mode=mode,
        )  # fmt: skip


@pytest.mark.parametrize("mode", MODES)
def test_multinomial_of_a_batch_of_probabilities(mode):
    p = np.array([[[0.2, 0.8]], [[0.5, 0.5]]])
    check(
        random.multinomial, lambda rng, n, p: rng.multinomial(n, p), np.array([5, 9]), p, mode=mode
    )


@settings(max_examples=25)
@given(ALPHAS, st.sampled_from(SIZES), st.sampled_from(MODES))
def test_dirichlet(alpha, size, mode):
    check(
        lambda rng, alpha: random.dirichlet(rng, alpha, size),
        lambda rng, alpha: rng.dirichlet(alpha, size),
        np.array(alpha), mode=mode,
    )  # fmt: skip


@pytest.mark.parametrize("mode", MODES)
def test_dirichlet_of_a_batch_is_drawn_row_by_row(mode):
    alphas = np.array([[2.0, 3.0], [0.01, 0.02]])
    check(
        lambda rng, a: random.dirichlet(rng, a, (3, 2)),
        lambda rng, a: [[rng.dirichlet(row) for row in a] for _ in range(3)],
        alphas, mode=mode,
    )  # fmt: skip


@settings(max_examples=25)
@given(
    COLORS,
    st.integers(0, 9),
    st.sampled_from(SIZES),
    st.sampled_from(["marginals", "count"]),
    st.sampled_from(MODES),
)
def test_multivariate_hypergeometric(colors, sample, size, method, mode):
    check(
        lambda rng, c, n: random.multivariate_hypergeometric(rng, c, n, size, method),
        lambda rng, c, n: rng.multivariate_hypergeometric(c, n, size, method),
        np.array(colors), np.array(sample), mode=mode,
    )  # fmt: skip


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("method", ["svd", "eigh", "cholesky"])
@pytest.mark.parametrize("size", SIZES)
def test_multivariate_normal(mode, method, size):
    check(
        lambda rng, m, c: random.multivariate_normal(rng, m, c, size, method=method),
        lambda rng, m, c: rng.multivariate_normal(m, c, size, method=method),
        np.array([1.0, 2.0]), np.array([[2.0, 0.5], [0.5, 1.0]]), mode=mode,
    )  # fmt: skip


@settings(max_examples=20)
@given(
    st.lists(st.integers(0, 4), max_size=3),
    st.sampled_from([0, -1]),
    st.sampled_from(["int64", "float32", "bool"]),
    st.sampled_from(MODES),
)
def test_orders(shape, axis, dtype, mode):
    x = np.arange(np.prod(shape, dtype=int)).astype(dtype).reshape(shape)
    if x.ndim == 0:
        n = np.array(6)
        check(random.permutation, lambda rng, n: rng.permutation(int(n)), n, mode=mode)
        return
    check(
        lambda rng, x: random.permutation(rng, x, axis),
        lambda rng, x: rng.permutation(x, axis),
        x, mode=mode,
    )  # fmt: skip
    for along in (None, axis):
        check(
            lambda rng, x, along=along: random.permuted(rng, x, along),
            lambda rng, x, along=along: rng.permuted(x, axis=along),
            x, mode=mode,
        )  # fmt: skip


@pytest.mark.parametrize("mode", MODES)
def test_shuffle_is_that_of_numpy_of_a_copy(mode):
    def by_numpy(rng, x):
        x = x.copy()
        rng.shuffle(x, axis=1)
        return x

    x = np.arange(12.0).reshape(3, 4)
    check(lambda rng, x: random.shuffle(rng, x, 1), by_numpy, x, mode=mode)


@settings(max_examples=30)
@given(
    st.sampled_from([5, 60, 20_000]),
    st.sampled_from([None, (), (2, 2), 5, 900, (0,)]),
    st.booleans(),
    st.booleans(),
    st.sampled_from(MODES),
)
def test_choice(population, size, replace, shuffle, mode):
    if not replace and np.prod(size or 1) > population:
        size = 3
    options = {"size": size, "replace": replace, "shuffle": shuffle}
    check(
        lambda rng, a: random.choice(rng, a, **options),
        lambda rng, a: rng.choice(int(a), **options),
        np.array(population), mode=mode,
    )  # fmt: skip
    check(
        lambda rng, a: random.choice(rng, a, **options),
        lambda rng, a: rng.choice(a, **options),
        np.arange(population) * 0.5, mode=mode,
    )  # fmt: skip


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("replace", [True, False])
@pytest.mark.parametrize("size", [None, 2, (2, 1)])
def test_choice_with_probabilities(mode, replace, size):
    options = {"size": size, "replace": replace, "axis": 1}
    check(
        lambda rng, a, p: random.choice(rng, a, p=p, **options),
        lambda rng, a, p: rng.choice(a, p=p, **options),
        np.arange(8.0).reshape(2, 4), np.array([0.1, 0.2, 0.3, 0.4]), mode=mode,
    )  # fmt: skip


WRONG = [
    (random.multinomial, "multinomial", (5, [0.7, 0.7, 0.1]), "pvals"),
    (random.multinomial, "multinomial", (-1, [0.5, 0.5]), "n < 0"),
    (random.multinomial, "multinomial", (1, [1.5, -0.5]), "pvals"),
    (random.dirichlet, "dirichlet", ([1.0, -1.0],), "alpha < 0"),
    (random.multivariate_hypergeometric, "multivariate_hypergeometric", ([1, 2], 4), "nsample"),
    (random.multivariate_hypergeometric, "multivariate_hypergeometric", ([10**9], 4), "sum"),
    (random.choice, "choice", (0,), "low >= high|high <= 0"),
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("function", "name", "parameters", "message"), WRONG)
def test_wrong_parameters_raise_as_numpy_does(mode, function, name, parameters, message):
    with pytest.raises(ValueError):  # noqa: PT011  (the words are NumPy's)
        getattr(np.random.default_rng(), name)(*parameters)
    operands = [ft.as_tensor(x).type() for x in parameters]
    f = fz.function(operands, function(random.state_of(1), *operands)[1], mode=mode)
    with pytest.raises(ValueError, match=message):
        f(*parameters)


@pytest.mark.parametrize("mode", MODES)
def test_wrong_choices_raise_as_numpy_does(mode):
    n, p = ft.lscalar("n"), ft.dvector("p")
    _, x = random.choice(random.state_of(1), n, 5, replace=False)
    with pytest.raises(ValueError, match="larger sample than population"):
        fz.function([n], x, mode=mode)(3)
    _, x = random.choice(random.state_of(1), 2, 5, p=p)
    f = fz.function([p], x, mode=mode)
    for wrong in ([0.5, 0.6], [1.5, -0.5], [np.nan, 1.0], [0.2, 0.3, 0.5]):
        with pytest.raises(ValueError):  # noqa: PT011  (the words are NumPy's)
            np.random.default_rng().choice(2, 5, p=wrong)
        with pytest.raises(ValueError, match=r"probabilities|same size"):
            f(wrong)


stats = scipy.stats
DERIVED = {
    "halfnormal": (lambda g, *a: stats.halfnorm.rvs(*a, random_state=g), (1.0, [2.0, 3.0]), True),
    "invgamma": (lambda g, a, b: 1 / g.gamma(a, 1 / b), ([2.0, 3.0], 0.5), True),
    "cauchy": (lambda g, *a: stats.cauchy.rvs(*a, random_state=g), ([1.0, 2.0], 3.0), False),
    "halfcauchy": (
        lambda g, *a: stats.halfcauchy.rvs(*a, random_state=g), ([1.0, 2.0], 3.0), False,
    ),
    "t": (lambda g, *a: stats.t.rvs(*a, random_state=g), ([3.0, 4.0], 1.0, 2.0), True),
    "truncexpon": (
        lambda g, *a: stats.truncexpon.rvs(*a, random_state=g), ([3.0, 4.0], 1.0, 2.0), False,
    ),
    "gengamma": (
        lambda g, a, p, s: stats.gengamma.rvs(a / p, p, scale=s, random_state=g),
        (np.array([3.0, 4.0]), 1.5, 2.0), False,
    ),
    "bernoulli": (lambda g, p: stats.bernoulli.rvs(p, random_state=g), ([0.2, 0.9],), True),
    "betabinom": (
        lambda g, *a: stats.betabinom.rvs(*a, random_state=g), (10, 2.0, [3.0, 4.0]), True,
    ),
    "nbinom": (lambda g, *a: stats.nbinom.rvs(*a, random_state=g), ([2.0, 3.0], 0.4), True),
}  # fmt: skip
"""How PyTensor draws each of its distributions: a call of SciPy, parameters, whether to the bit."""


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", DERIVED)
def test_distributions_of_pytensor(mode, name):
    by_scipy, parameters, exact = DERIVED[name]
    function = getattr(random, name)
    check(function, by_scipy, *map(np.asarray, parameters), mode=mode, exact=exact)
    state, _ = generators()
    assert function(state, *parameters, size=(3, 2))[1].type.shape == (3, 2)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("size", [None, (2,), (3, 2)])
def test_categorical(mode, size):
    p = np.array([[0.1, 0.2, 0.7], [0.0, 0.5, 0.5]])

    def by_numpy(rng, p):
        numbers = rng.uniform(size=p.shape[:-1] if size is None else size)
        search = np.vectorize(np.searchsorted, otypes=[int], signature="(n),()->()")
        return search(p.cumsum(axis=-1), numbers)

    check(lambda rng, p: random.categorical(rng, p, size), by_numpy, p, mode=mode)


def test_what_is_not_native_is_drawn_by_numpy_and_moves_on():
    stream = random.default_rng(SEED)
    x = stream.multivariate_normal([0.0, 0.0], np.eye(2))
    y = stream.choice(4, 2, replace=False, p=[0.1, 0.2, 0.3, 0.4])
    f = fz.function([], [x, y], mode="c")
    assert len(f.program.functions) == 2
    told = str(f.explain())
    assert "apart: the bits of normal vectors follow" in told
    assert "apart: how often a weighted sample" in told
    generator = np.random.default_rng(SEED)
    for _ in range(2):
        a, b = f()
        assert a.tolist() == generator.multivariate_normal([0.0, 0.0], np.eye(2)).tolist()
        wanted = generator.choice(4, 2, replace=False, p=[0.1, 0.2, 0.3, 0.4])
        assert b.tolist() == wanted.tolist()


@pytest.mark.parametrize("mode", MODES)
def test_each_element_of_a_batch_has_numbers_of_its_own(mode):
    rng, mu, mus = random.shared_rng(SEED), ft.dscalar("mu"), ft.dvector("mus")
    next_rng, x = random.normal(rng, mu, size=3)
    p, ps = ft.dvector("p"), ft.dmatrix("ps")
    _, y = random.multinomial(next_rng, 5, p)
    xs, ys = fz.vectorize([x, y], {mu: mus, p: ps})
    f = fz.function([mus, ps], [xs, ys], mode=mode)
    generator = np.random.default_rng(SEED)
    means, shares = np.array([0.0, 10.0]), np.array([[0.2, 0.8], [0.5, 0.5]])
    for _ in range(2):
        drawn, counts = f(means, shares)
        assert drawn.tolist() == generator.normal(means[:, None], size=(2, 3)).tolist()
        assert counts.tolist() == generator.multinomial(5, shares).tolist()


def test_elements_of_a_batch_choose_from_states_of_their_own(mode):
    rng, n, p = random.shared_rng(3), ft.lscalar("n"), ft.dvector("p")
    state, few = random.choice(rng, n, 3, replace=False)
    _, weighted = random.choice(state, 4, 2, replace=False, p=p)
    ns, ps = ft.lvector("ns"), ft.dmatrix("ps")
    f = fz.function([ns, ps], fz.vectorize([few, weighted], {n: ns, p: ps}), mode=mode)
    generator = np.random.default_rng(3)
    sizes, shares = np.array([5, 50, 50]), np.full((3, 4), 0.25)
    for _ in range(2):  # the function moves the generator on
        drawn = f(sizes, shares)
        wanted = [generator.choice(size, 3, replace=False) for size in sizes]
        np.testing.assert_array_equal(drawn[0], wanted)
        wanted = [generator.choice(4, 2, replace=False, p=row) for row in shares]
        np.testing.assert_array_equal(drawn[1], wanted)
    assert [drawn.shape for drawn in f(sizes[:0], shares[:0])] == [(0, 3), (0, 2)]
