"""Lengths and numbers of steps that are arithmetic on values which the program computes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft

LINKERS = ["c", "cranelift", "numba", "py"]
N, T, C = ft.lscalar("n"), ft.dscalar("t"), ft.iscalar("c")
LENGTHS = {
    "a rounded quotient": (
        ft.cast(ft.ceil(T / 0.5), "int64") + 1,
        lambda n, t: int(-(-t // 0.5)) + 1,
    ),
    "a magnitude": (abs(N) + 1, lambda n, t: abs(n) + 1),
    "a remainder of a square": (N * N % 40, lambda n, t: n * n % 40),
}


def loop(step, sequences=None, start=None, **options):
    return fz.scan(step, sequences, start, return_updates=False, **options)


def filled(k):
    """An op that gives k numbers, so that nothing else tells how many."""
    inner = ft.lscalar()
    return fz.OpFromGraph([inner], [ft.exp(ft.zeros(inner))])(k)


USES = {
    "steps": (
        lambda k: loop(lambda s: s + 1.0, None, ft.constant(0.0), n_steps=k),
        lambda k: np.arange(1.0, k + 1),
    ),
    "steps on vectors": (
        lambda k: loop(lambda s: s + 1.0, None, ft.zeros(300), n_steps=k)[:, 0],
        lambda k: np.arange(1.0, k + 1),
    ),
    "steps that end": (
        lambda k: loop(lambda s: (s + 1.0, fz.until(s > 100)), None, ft.constant(0.0), n_steps=k),
        lambda k: np.arange(1.0, k + 1),
    ),
    "steps of steps": (
        lambda k: loop(
            lambda s: s + loop(lambda t: t + 1.0, None, ft.constant(0.0), n_steps=k).sum(),
            None,
            ft.constant(0.0),
            n_steps=k,
        ),
        lambda k: np.arange(1.0, k + 1) * (k * (k + 1) / 2),
    ),
    "a sequence": (
        lambda k: loop(lambda x, s: s + x, filled(k), ft.constant(0.0)),
        lambda k: np.arange(1.0, k + 1),
    ),
    "a choice": (
        lambda k: fz.ifelse(C, ft.zeros(k), ft.ones(k)) + k,
        lambda k: np.full(k, float(k)),
    ),
    "a choice of what an op gives": (
        lambda k: fz.ifelse(C, filled(k), 2 * filled(k)),
        lambda k: np.ones(k),
    ),
    "sums": (lambda k: ft.cumsum(filled(k)), lambda k: np.arange(1.0, k + 1)),
    "a join": (
        lambda k: ft.concatenate([filled(k), ft.zeros(2)]),
        lambda k: np.concatenate([np.ones(k), np.zeros(2)]),
    ),
    "a diagonal": (lambda k: ft.diag(filled(k)), lambda k: np.eye(k)),
    "a slice": (
        lambda k: ft.set_subtensor(ft.zeros(k + 2)[k:], 1.0)[k - 1 :],
        lambda k: np.array([0.0] * min(k, 1) + [1.0, 1.0]),
    ),
}


@pytest.mark.parametrize("linker", LINKERS)
@pytest.mark.parametrize("length", LENGTHS)
def test_lengths_follow_from_what_is_computed(length, linker):
    k, number = LENGTHS[length]
    uses = {name: use for name, use in USES.items() if name != "a slice" or "square" not in length}
    f = fz.function(
        [N, T, C], [make(k) for make, _ in uses.values()], mode=linker, on_unused_input="ignore"
    )
    for n, t in ((-3, 1.2), (2, 0.0)):
        wanted = [expected(number(n, t)) for _, expected in uses.values()]
        for name, found, value in zip(uses, f(n, t, 1), wanted, strict=True):
            np.testing.assert_array_equal(found, value, err_msg=name)


@pytest.mark.parametrize("linker", LINKERS)
@pytest.mark.parametrize("use", ["steps", "steps that end", "a choice of what an op gives"])
def test_nothing_else_needs_what_a_length_follows_from(use, linker):
    make, expected = USES[use]
    k, number = LENGTHS["a rounded quotient"]
    f = fz.function([T, C], make(k), mode=linker, on_unused_input="ignore")
    np.testing.assert_array_equal(f(1.2, 1), expected(number(0, 1.2)))
    with pytest.raises(ValueError, match="cannot be negative"):
        fz.function([N], USES["steps"][0](N - 5), mode=linker)(2)


@settings(max_examples=20)
@given(
    linker=st.sampled_from(LINKERS),
    ways=st.lists(st.sampled_from(["abs", "double", "more", "less", "mod", "cast"]), max_size=6),
    n=st.integers(-4, 4),
)
def test_a_loop_does_as_many_steps_as_arithmetic_gives(linker, ways, n):
    """Whatever arithmetic that is, part of which sizes do by themselves and part of which not."""
    k, wanted = N, n
    for way in [*ways, "abs"]:
        match way:
            case "abs":
                k, wanted = abs(k), abs(wanted)
            case "double":
                k, wanted = k * 2, wanted * 2
            case "more":
                k, wanted = k + 1, wanted + 1
            case "less":
                k, wanted = k - 2, wanted - 2
            case "mod":
                k, wanted = k % 7, wanted % 7
            case _:
                k = ft.cast(ft.cast(k, "float64") * 0.5, "int64")
                wanted = int(wanted * 0.5)
    f = fz.function([N], loop(lambda s: s + 1, None, ft.constant(0), n_steps=k), mode=linker)
    np.testing.assert_array_equal(f(n), np.arange(1, wanted + 1))


@pytest.mark.parametrize("linker", LINKERS)
def test_differences_of_differences_compile(linker):
    """Each length is arithmetic on the one before, which stands in it several times."""
    x = ft.dvector("x")
    f = fz.function([x], ft.diff(x, n=30), mode=linker)
    value = np.random.default_rng(1).integers(-3, 3, 33).astype(float)
    np.testing.assert_allclose(f(value), np.diff(value, n=30))


BEYOND = {
    "a slice": (lambda k: ft.arange(5.0)[: 3 * k], lambda k: np.arange(5.0)[: 3 * k]),
    "its start": (lambda k: ft.arange(5.0)[k + k :], lambda k: np.arange(5.0)[k + k :]),
    "a remainder": (lambda k: ft.zeros(k * 3 % 5), lambda k: np.zeros(k * 3 % 5)),
    "a quotient": (lambda k: ft.arange(5.0)[3 * k // k :], lambda k: np.arange(5.0)[3 * k // k :]),
    "a difference": (lambda k: ft.zeros((-k - k - k) % 4), lambda k: np.zeros((-k - k - k) % 4)),
    "a range": (
        lambda k: ft.arange(k + k, k + k + 3),
        lambda k: np.arange(k + k, k + k + 3),
    ),
    "a place": (lambda k: ft.arange(5.0)[k * 4 % 3], lambda k: np.arange(5.0)[k * 4 % 3]),
}


@pytest.mark.parametrize("linker", LINKERS)
def test_lengths_beyond_64_bits_wrap_around_as_other_integers_do(linker):
    f = fz.function([N], [build(N) for build, _ in BEYOND.values()], mode=linker)
    for number in (3, 2**62, 2**63 - 1, -(2**62), -(2**63)):
        with np.errstate(over="ignore"):
            expected = [model(np.int64(number)) for _, model in BEYOND.values()]
        for found, wanted in zip(f(number), expected, strict=True):
            np.testing.assert_array_equal(found, wanted)
