"""Scans, choices and graphs as ops take complex numbers: values, derivatives, batches."""

import numpy as np
import pytest
from agreement import compiled

import frazil as fz
import frazil.tensor as ft
from frazil.testing import verify_grad

Z = np.array([1 + 2j, 0.5 - 1j, -0.3 + 0.1j])
z = ft.vector("z", dtype="complex128")
b = ft.scalar("b", dtype="bool")


def scanned(z, n=3):
    return fz.scan(lambda s: s * z + 1j, outputs_info=[z], n_steps=n)[0]


def over_sequence(z):
    return fz.scan(
        lambda a, s, w: s * a + ft.exp(a) * w[0],
        sequences=[z],
        outputs_info=[ft.constant(1j)],
        non_sequences=[z],
    )[0]


def two_taps(z):
    return fz.scan(
        lambda before, last: before * last + z[0],
        outputs_info=[{"initial": z[:2], "taps": [-2, -1]}],
        n_steps=4,
    )[0]


def until_large(z):
    return fz.scan(lambda s: (s * z[0], fz.until(ft.abs(s) > 10)), outputs_info=[z[1]], n_steps=30)[
        0
    ]


def real_outside(z):
    return fz.scan(lambda x: ft.real(ft.exp(x * 1j)), sequences=[ft.real(z)])[0]


def chosen(z):
    return fz.ifelse(ft.real(z[0]) > 0, ft.exp(z), z * 2)


def of_graph(z):
    x = ft.vector("x", dtype="complex128")
    return fz.OpFromGraph([x], [ft.exp(x) * x], name="own")(z * 0.5)


def mapped(z):
    return fz.map(lambda a: a**2 + 1j, z)[0]


def loop(step, begin, count):
    rows = [begin]
    for _ in range(count):
        rows.append(step(rows[-1]))
    return np.array(rows[1:])


def by_sequence(v):
    rows, s = [], 1j
    for a in v:
        s = s * a + np.exp(a) * v[0]
        rows.append(s)
    return np.array(rows)


def by_two_taps(v):
    rows = [v[0], v[1]]
    for _ in range(4):
        rows.append(rows[-2] * rows[-1] + v[0])
    return np.array(rows[2:])


def by_until(v):
    rows, s = [], v[1]
    while not rows or abs(rows[-1] / v[0]) <= 10:
        s = s * v[0]
        rows.append(s)
    return np.array(rows)


CASES = {
    "scan": (scanned, lambda v: loop(lambda s: s * v + 1j, v, 3)),
    "sequence": (over_sequence, by_sequence),
    "taps": (two_taps, by_two_taps),
    "until": (until_large, by_until),
    "real outside": (real_outside, lambda v: np.cos(v.real)),
    "ifelse": (chosen, lambda v: np.exp(v) if v[0].real > 0 else v * 2),
    "graph": (of_graph, lambda v: np.exp(v * 0.5) * v * 0.5),
    "map": (mapped, lambda v: v**2 + 1j),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("sign", [1, -1])
def test_values(mode, name, sign):
    own, numpys = CASES[name]
    found, expected = compiled(own(z), {z: sign * Z}, mode), numpys(sign * Z)
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("name", CASES)
def test_gradients_are_those_of_finite_differences(mode, name):
    own, _ = CASES[name]

    def cost(x, y):
        result = own(x + 1j * y)
        return ft.real(result).sum() * 0.7 + (ft.imag(result) ** 2).sum()

    verify_grad(cost, [Z.real, Z.imag], mode=mode)


@pytest.mark.parametrize("name", sorted(set(CASES) - {"until"}))
def test_batches_are_as_loops(name):
    own, numpys = CASES[name]
    zs = ft.matrix("zs", dtype="complex128")
    values = np.stack([Z, -Z, Z * 1j])
    found = fz.function([zs], fz.vectorize([own(z)], {z: zs})[0])(values)
    np.testing.assert_allclose(found, np.stack([numpys(one) for one in values]), rtol=1e-12)


def test_debug_mode_finds_nothing_wrong():
    fz.function([z], [own(z) for own, _ in CASES.values()], mode="debug")(Z)


def test_no_steps(mode):
    n = ft.lscalar("n")
    assert compiled(scanned(z, n), {z: Z, n: 0}, mode).shape == (0, 3)


def test_states_in_other_dtypes_are_refused():
    with pytest.raises(TypeError, match=r"complex128|imaginary"):
        fz.scan(lambda s: s * 1j, outputs_info=[ft.vector("x")], n_steps=2)
