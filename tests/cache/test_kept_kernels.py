"""Machine code of C kernels, which functions find that differ only in constants or lengths."""

import gc
import json
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import frazil as fz
import frazil.tensor as ft
from frazil.cache.store import find_store
from frazil.link import compiled_kernels
from frazil.link.toolchain import keeping
from frazil.scalar import ScalarLoop


@pytest.fixture(autouse=True)
def own_cache(monkeypatch, tmp_path):
    """A cache for each test."""
    monkeypatch.setenv("FRAZIL_CACHE_DIR", str(tmp_path / "cache"))
    keeping.finish()


def compiled(inputs, outputs, **options):
    """A function in C, and how many kernels were compiled for it."""
    before = compiled_kernels()["c"]
    function = fz.function(inputs, outputs, mode="c", **options)
    return function, compiled_kernels()["c"] - before


def elements(a, b):
    x = ft.vector("x")
    return [x], [ft.exp(a * x) - b / (x * x + a), ft.where(x > a, x - b, b)]


def short_floats(a, b):
    x = ft.vector("x", dtype="float32")
    return [x], [(x * np.float32(a) + np.float32(b)) * ft.sin(x)]


def rows(a, b):
    x = ft.matrix("x")
    return [x], [ft.softmax(a * x, axis=1) + b, (x * x - a).sum(0), ft.max(b - x)]


def steps(a, b):
    x = ft.vector("x")
    states, _ = fz.scan(lambda e, s: ft.tanh(s) * a + e * b, x, ft.constant(0.25))
    return [x], [states, fz.grad(states.sum(), x)]


def element_loops(a, b):
    x, s = ft.vector("x"), ft.dscalar("s")
    return [x], ScalarLoop([s], [ft.sin(s) * a + b], until=s > b)(30, x)


BUILT = {
    own.__name__: (own, ndim)
    for own, ndim in ((elements, 1), (short_floats, 1), (rows, 2), (steps, 1), (element_loops, 1))
}


def argument(inputs, ndim, seed=0):
    values = np.random.default_rng(seed).normal(size=(7, 13)[:ndim])
    return values.astype(inputs[0].dtype)


def bits(results):
    return [np.asarray(own).tobytes() for own in results]


@pytest.mark.parametrize("name", BUILT)
def test_other_constants_have_the_bits_of_a_fresh_compilation(name):
    build, ndim = BUILT[name]
    a, b, c, d = 0.3, 1.7, 2.9, 0.61
    first, _ = compiled(*build(a, b))
    second, made = compiled(*build(c, d))
    assert made == 0
    value = argument(first.inputs, ndim)
    found = bits(second(value)), bits(first(value))
    with pytest.MonkeyPatch.context() as patch:
        keeping.finish()  # what is still to be written holds programs
        patch.setenv("FRAZIL_CACHE", "0")
        del first, second
        gc.collect()
        for (one, other), expected in zip(((c, d), (a, b)), found, strict=True):
            fresh, made = compiled(*build(one, other))
            assert made > 0
            assert bits(fresh(value)) == expected
            del fresh
            gc.collect()


def test_a_function_that_differs_in_one_kernel_finds_all_of_them():
    """The units of both are not the same, as what is in use is in none."""
    x, y = ft.vector("x"), ft.vector("y")

    def both(scale):
        return [x, y], [ft.exp(x * scale).sum(), ft.tanh(y) * y, ft.sin(y).cumsum()]

    first, made = compiled(*both(0.3))
    assert made == 2
    second, made = compiled(*both(0.7))
    assert made == 0
    value = np.linspace(-1.0, 1.0, 11)
    assert bits(second(value, value)[1:]) == bits(first(value, value)[1:])
    np.testing.assert_allclose(second(value, value)[0], np.exp(value * 0.7).sum(), rtol=1e-13)


def test_kernels_of_one_function_that_differ_in_constants_are_compiled_once():
    """Those of steps, which share no kernel."""
    x = ft.vector("x")
    outputs = [
        fz.scan(lambda e, s, c=c: s * c + e, x, ft.constant(0.0))[0] for c in (0.25, 0.5, 0.75)
    ]
    function, made = compiled([x], outputs)
    assert made == 1
    value = np.linspace(-1.0, 1.0, 9)
    for c, found in zip((0.25, 0.5, 0.75), function(value), strict=True):
        state, expected = 0.0, []
        for e in value:
            state = state * c + e
            expected.append(state)
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("exponent", [2.5, 3.0])
def test_constants_that_compilers_make_use_of_are_in_the_text(exponent):
    x = ft.vector("x")
    _, made = compiled([x], ft.exp(x) ** 2.25)
    assert made == 1
    second, made = compiled([x], ft.exp(x) ** exponent)
    assert made == 1
    np.testing.assert_allclose(second([1.0]), np.exp(exponent), rtol=1e-13)


@pytest.mark.parametrize("special", [0.0, -0.0, np.inf, -np.inf, np.nan])
def test_zeros_and_what_is_not_finite_have_their_own_bits(special):
    x = ft.vector("x")

    def chosen(constant):
        return [x], ft.where(x > 0.5, ft.exp(x), ft.constant(np.float64(constant))) + x

    first, _ = compiled(*chosen(1.5))
    second, _ = compiled(*chosen(special))
    value = np.array([-1.0, 0.0, 1.0])
    np.testing.assert_array_equal(first(value)[:2], 1.5 + value[:2])
    np.testing.assert_array_equal(second(value)[:2], special + value[:2])


ANOTHER = """
import json, sys
import frazil as fz, frazil.tensor as ft
from frazil.link import compiled_kernels

scale, length = float(sys.argv[1]), int(sys.argv[2])
x = ft.tensor("x", shape=(length,))
f = fz.function([x], [(ft.exp(x) * scale - x.mean()).cumsum(), ft.tanh(x).mean()], mode="c")
found = [own.tolist() for own in f([0.1 * k for k in range(length)])]
print(json.dumps([compiled_kernels()["c"], f.compiled.found, found]))
"""


def run(scale, length):
    ran = subprocess.run(
        [sys.executable, "-c", ANOTHER, str(scale), str(length)],
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(ran.stdout)


def test_another_process_finds_kernels_that_differ_in_a_constant_or_a_length(monkeypatch):
    made, found, _ = run(0.5, 40)
    assert made > 0
    assert found == "made"
    made, found, results = run(-3.25, 77)
    assert (made, found) == (0, "made")
    monkeypatch.setenv("FRAZIL_CACHE", "0")
    made, _, expected = run(-3.25, 77)
    assert made > 0
    assert results == expected


def kernel_files():
    keeping.finish()
    return [
        stored.path
        for stored in find_store().entries()
        if stored.path.name.startswith(("unit-", "kernel-"))
    ]


DAMAGES = {
    "cut": lambda content: content[: len(content) // 2],
    "altered": lambda content: content[:-1] + bytes([content[-1] ^ 1]),
    "empty": lambda content: b"",
    "of another": None,
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("start", ["unit-", "kernel-"])
def test_damaged_or_foreign_code_is_compiled_again(start, damage):
    def build(scale):
        x = ft.vector("x")
        return [x], (ft.exp(x * scale) - scale).sum()

    function, made = compiled(*build(0.3))
    assert made == 1
    del function
    [own] = [path for path in kernel_files() if path.name.startswith(start)]
    if damage == "of another":
        # Another entry of the same sort, as a whole: only what it says of itself tells.
        y = ft.vector("y")
        other, _ = compiled([y], ft.tanh(y * 0.3).sum())
        del other
        [another] = [p for p in kernel_files() if p.name.startswith(start) and p != own]
        own.write_bytes(another.read_bytes())
    else:
        own.write_bytes(DAMAGES[damage](own.read_bytes()))
    gc.collect()
    function, made = compiled(*build(0.7))
    assert made == 1
    np.testing.assert_allclose(function([0.5, 1.0]), np.exp([0.35, 0.7]).sum() - 1.4, rtol=1e-13)
    del function
    gc.collect()
    assert compiled(*build(0.9))[1] == 0  # it was written again


def test_another_compiler_finds_nothing(monkeypatch, tmp_path):
    script = tmp_path / "other-cc"
    script.write_text(
        textwrap.dedent(
            """\
            #!/bin/sh
            if [ "$1" = --version ]; then echo "another 1.0"; exit 0; fi
            exec cc "$@"
            """
        )
    )
    script.chmod(0o700)
    assert run(0.5, 40)[0] > 0
    monkeypatch.setenv("CC", str(script))
    assert run(0.7, 40)[0] > 0
    assert run(0.9, 40)[0] == 0
