"""Draws are those of NumPy's Generator: for each distribution, state, size and batch."""

from __future__ import annotations

from itertools import chain

import numpy as np
import pytest
from distributions import BIT_GENERATORS, PARAMETERS
from hypothesis import given, settings
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft
from frazil import _core, random

MODES = ("py", "c", "cranelift", "numba")
SIZES = [None, (), (3,), (2, 3), (0, 3)]
SHAPES = [(), (3,), (1,), (2, 1), (1, 3)]


def bitwise(x):
    """The bytes of the elements: a zero's sign counts, and NaN equals itself."""
    return x.dtype, x.shape, x.tobytes()


def drawn_by_numpy(generator, name, parameters, **options):
    return np.asarray(getattr(generator, name)(*parameters, **options))


@pytest.mark.parametrize("name", PARAMETERS)
@settings(max_examples=8)
@given(data=st.data())
def test_draws_are_those_of_numpy(name, data):
    generator = np.random.Generator(data.draw(st.sampled_from(BIT_GENERATORS))(5))
    if data.draw(st.booleans()):
        generator.integers(9, dtype="uint32")  # half of 64 bits stays for later
    parameters = []
    for values in PARAMETERS[name]:
        shape = data.draw(st.sampled_from(SHAPES))
        drawn = data.draw(st.lists(st.sampled_from(values), min_size=6, max_size=6))
        parameters.append(np.resize(np.array(drawn), shape))
    broadcast = np.broadcast_shapes(*(x.shape for x in parameters))
    fitting = [size for size in SIZES if size is None or fits(broadcast, size)]
    size = data.draw(st.sampled_from(fitting))
    mode = data.draw(st.sampled_from(MODES))
    operands = [ft.tensor(dtype=x.dtype, shape=x.shape) for x in parameters]
    state = ft.tensor(dtype="uint64", shape=(None,))
    results = getattr(random, name)(state, *operands, size=size)
    f = fz.function([state, *operands], list(results), mode=mode)
    state_before = random.state_of(generator)
    next_state, drawn = f(state_before, *parameters)
    expected = drawn_by_numpy(generator, name, parameters, size=size)
    assert bitwise(drawn) == bitwise(expected)
    assert bitwise(next_state) == bitwise(random.state_of(generator))
    assert results[1].type.shape == expected.shape


def fits(shape, size):
    try:
        return np.broadcast_shapes(shape, size) == size
    except ValueError:
        return False


@pytest.mark.parametrize(
    "name", ["random", "standard_normal", "standard_exponential", "standard_gamma"]
)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_floats_of_either_width(mode, name, dtype):
    parameters = [[0.5], [2.0]] if name == "standard_gamma" else []
    generator = np.random.default_rng(3)
    _, x = getattr(random, name)(random.shared_rng(3), *parameters[:1], size=(4, 1), dtype=dtype)
    expected = drawn_by_numpy(generator, name, parameters[:1], size=(4, 1), dtype=dtype)
    assert bitwise(fz.function([], x, mode=mode)()) == bitwise(expected)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_exponential_by_inversion(mode, dtype):
    _, x = random.standard_exponential(random.shared_rng(3), 70000, dtype, method="inv")
    expected = np.random.default_rng(3).standard_exponential(70000, dtype, method="inv")
    assert bitwise(fz.function([], x, mode=mode)()) == bitwise(expected)


INTEGERS = ["bool", *("int8", "int16", "int32", "int64"), *("uint8", "uint16", "uint32", "uint64")]


@pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 0)])
@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_between_no_bounds(dtype, shape):
    for bounds in ([np.zeros(shape, int)], [0, np.ones(shape, int)], [np.zeros(shape, int), 1]):
        _, x = random.integers(random.state_of(7), *bounds, dtype=dtype)
        assert bitwise(x.eval()) == bitwise(np.zeros(shape, dtype))


@pytest.mark.parametrize("dtype", INTEGERS)
@settings(max_examples=10)
@given(data=st.data())
def test_integers_of_every_type(dtype, data):
    limits = (0, 1) if dtype == "bool" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    number = st.one_of(st.integers(*limits), st.sampled_from(limits))
    low, high = sorted([data.draw(number), data.draw(number)])
    endpoint = data.draw(st.booleans())
    high += not endpoint
    batched = data.draw(st.booleans())
    wide = "uint64" if dtype == "uint64" else "int64"
    given_high = [high] if batched else high
    arguments = {"size": (2, 5), "dtype": dtype, "endpoint": endpoint}
    expected = np.random.default_rng(7).integers(low, given_high, **arguments)
    for mode in MODES:
        _, x = random.integers(random.state_of(7), low, given_high, **arguments)
        assert bitwise(fz.function([], x, mode=mode)()) == bitwise(expected)
        if low <= np.iinfo(wide).max and high <= np.iinfo(wide).max:
            bounds = [ft.tensor(dtype=wide, shape=()), ft.tensor(dtype=wide, shape=(None,))]
            _, x = random.integers(random.state_of(7), *bounds, **arguments | {"size": (2, 5)})
            f = fz.function(bounds, x, mode=mode, on_unused_input="ignore")
            many = np.random.default_rng(7).integers(low, [high] * 5, **arguments)
            assert bitwise(f(low, [high] * 5)) == bitwise(many)


@given(st.sampled_from(MODES), st.sampled_from(["int8", "int64"]), st.integers(-3, 90))
def test_signed_bounds_of_uint64(mode, dtype, low):
    bound = ft.tensor("low", dtype=dtype, shape=())
    for high in (2**63 + 5, bound + 7):
        _, x = random.integers(random.state_of(7), bound, high, size=3, dtype="uint64")
        f = fz.function([bound], x, mode=mode)
        if low < 0:
            with pytest.raises(ValueError, match="low is out of bounds for uint64"):
                f(low)
            continue
        top = high if isinstance(high, int) else low + 7
        expected = np.random.default_rng(7).integers(low, top, size=3, dtype="uint64")
        assert bitwise(f(low)) == bitwise(expected)


def test_sizes_of_every_form(mode):
    n, k = ft.lscalar("n"), ft.tensor("k", dtype="int32", shape=(2,))
    m = ft.dmatrix("m")
    state = random.state_of(1)
    sizes = [n, (n, 2), k, (m.shape[1], 3), np.int64(4), [2, n]]
    drawn = [random.normal(state, size=size)[1] for size in sizes]
    assert [x.type.shape for x in drawn] == [
        (None,), (None, 2), (None, None), (None, 3), (4,), (2, None),
    ]  # fmt: skip
    f = fz.function([n, k, m], drawn, mode=mode)
    values = f(5, np.array([2, 3], dtype="int32"), np.ones((2, 4)))
    for value, size in zip(values, [5, (5, 2), (2, 3), (4, 3), 4, (2, 5)], strict=True):
        assert bitwise(value) == bitwise(np.random.default_rng(1).normal(size=size))


def test_parameters_of_any_layout(mode):
    m, v = ft.dmatrix("m"), ft.fvector("v")
    _, x = random.normal(random.state_of(1), m.T[::-1], v)
    f = fz.function([m, v], x, mode=mode)
    values, scales = np.arange(6.0).reshape(2, 3), np.array([1, 2], dtype="float32")
    expected = np.random.default_rng(1).normal(values.T[::-1], scales)
    assert bitwise(f(values, scales)) == bitwise(expected)
    with pytest.raises(ValueError, match="broadcast"):
        f(values, scales[:1])  # NumPy would repeat it; here its type would have to say so


def test_every_distribution_of_the_runtime_is_drawn_from_without_python():
    from frazil.link.toolchain.draws import reason_against

    known = _core.distributions()
    assert len(known) > 40
    assert [row for row in known if reason_against(*row[:2]) is not None] == []
    names = {name.removesuffix("_inv") for name, _, _ in known}
    together = {"permutation", "sample", "multinomial", "dirichlet"}
    counts = {"multivariate_hypergeometric", "multivariate_hypergeometric_count"}
    assert names == {*PARAMETERS, *together, *counts}


def test_a_draw_calls_no_python():
    results = chain.from_iterable(
        getattr(random, name)(random.state_of(1), *(values[-1] for values in parameters), size=2)
        for name, parameters in PARAMETERS.items()
    )
    program = fz.function([], list(results), mode="c").program
    assert not program.functions
    assert program.draws


WRONG = [
    ("normal", (0.0, -1.0), "scale < 0"),
    ("normal", (0.0, -0.0), "scale < 0"),
    ("gamma", (-1.0, 1.0), "shape < 0"),
    ("beta", (0.0, 1.0), "a <= 0"),
    ("uniform", (1.0, 0.0), "high"),
    ("triangular", (2.0, 1.0, 3.0), "left > mode"),
    ("triangular", (0.0, 4.0, 3.0), "mode > right"),
    ("triangular", (1.0, 1.0, 1.0), "left == right"),
    ("poisson", (-1.0,), "lam"),
    ("poisson", (1e19,), "lam"),
    ("geometric", (0.0,), "p "),
    ("zipf", (1.0,), "a "),
    ("logseries", (1.0,), "p "),
    ("binomial", (-1, 0.5), "n < 0"),
    ("binomial", (1, 1.5), "p "),
    ("binomial", (1, np.nan), "p "),
    ("negative_binomial", (np.nan, 0.5), "n "),
    ("negative_binomial", (1e18, 1e-9), "too"),
    ("hypergeometric", (3, 4, 8), "ngood \\+ nbad < nsample"),
    ("hypergeometric", (10**9, 4, 8), "nbad must be"),
    ("integers", (3, 3), "low >= high"),
]


@pytest.mark.parametrize("batched", [False, True])
@pytest.mark.parametrize(("name", "parameters", "message"), WRONG)
def test_wrong_parameters_raise_as_numpy_does(mode, batched, name, parameters, message):
    given_parameters = [[x] for x in parameters] if batched else parameters
    with pytest.raises(ValueError, match=message):
        getattr(np.random.default_rng(), name)(*given_parameters)
    operands = [ft.as_tensor(x).type() for x in given_parameters]
    state = ft.tensor("state", dtype="uint64", shape=(7,))
    _, x = getattr(random, name)(state, *operands)
    f = fz.function([state, *operands], x, mode=mode)
    with pytest.raises(ValueError, match=message) as caught:
        f(random.state_of(1), *given_parameters)
    noted = "".join([str(caught.value), *getattr(caught.value, "__notes__", ())])
    assert f"Draw{{{name}" in noted
    assert "test_draws.py" in noted


def test_an_infinite_range_is_refused_as_numpy_does(mode):
    low = ft.dscalar("low")
    f = fz.function([low], random.uniform(random.state_of(1), low, 1.0)[1], mode=mode)
    for value in (-np.inf, np.nan, -1.7976931348623157e308 * 2):
        with pytest.raises(OverflowError):
            f(value)


@pytest.mark.parametrize(
    "state",
    [[], [0] * 7, [9] * 7, [1] * 6, [1, 1, 1, 1, 1, 2, 0], [4, 1, 1, 1, 1, 0, 2**32]],
)
def test_what_is_no_state_is_refused(mode, state):
    given_state = ft.tensor("state", dtype="uint64", shape=(None,))
    f = fz.function([given_state], random.random(given_state)[1], mode=mode)
    with pytest.raises(ValueError, match="no state of a generator"):
        f(np.array(state, dtype="uint64"))


def test_what_does_not_fit_is_refused_when_it_is_built():
    state = random.state_of(1)
    with pytest.raises(TypeError, match="vector of uint64"):
        random.normal(1)
    with pytest.raises(ValueError, match="does not broadcast"):
        random.normal(state, [1.0, 2.0], size=3)
    with pytest.raises(ValueError, match="more dimensions"):
        random.normal(state, [1.0, 2.0], size=())
    with pytest.raises(ValueError, match="negative"):
        random.normal(state, size=-1)
    with pytest.raises(TypeError, match="NumPy does not cast"):
        random.binomial(state, 2.5, 0.5)
    with pytest.raises(TypeError, match="float64 or float32"):
        random.random(state, dtype="int64")
    with pytest.raises(TypeError, match="integer type or bool"):
        random.integers(state, 3, dtype="float64")
    with pytest.raises(ValueError, match="out of bounds for uint64"):
        random.integers(state, -1, 3, dtype="uint64")


def test_a_draw_is_not_differentiable_but_what_is_made_of_it_is():
    mu = ft.dscalar("mu")
    _, x = random.normal(random.state_of(1), mu)
    with pytest.raises(fz.DisconnectedInputError, match="not differentiable"):
        fz.grad(x, mu)
    _, z = random.standard_normal(random.state_of(1))
    assert fz.grad(mu**2 * z / 2, mu).eval({mu: 1.0}) == np.random.default_rng(1).standard_normal()
