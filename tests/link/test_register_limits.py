"""``FRAZIL_REGISTERS`` lets a process do with registers of fewer bits, with the same results."""

import json
import os
import subprocess
import sys
import textwrap

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from frazil._core import vector_bits

# Random programs of elements, rows and folds of these; one digest for each mode and program.
PROGRAMS = textwrap.dedent(
    """
    import hashlib, json, random, sys
    import numpy as np
    import frazil as fz, frazil.tensor as ft

    seed, kind = int(sys.argv[1]), sys.argv[2]
    draw, rng = random.Random(seed), np.random.default_rng(seed)

    def elements(known, dtype):
        two = lambda: (draw.choice(known), draw.choice(known))
        one = lambda: draw.choice(known)
        constant = ft.constant(np.dtype(dtype).type(draw.uniform(-2, 2)))
        ops = [
            lambda: ft.add(*two()), lambda: ft.sub(*two()), lambda: ft.mul(*two()),
            lambda: ft.true_divide(*two()), lambda: ft.maximum(*two()), lambda: ft.minimum(*two()),
            lambda: ft.sqrt(abs(one())), lambda: one() ** 2, lambda: -one(),
            lambda: ft.floor(one()),
            lambda: one() * constant, lambda: ft.where(ft.lt(*two()), one(), one()),
            lambda: ft.where(ft.ge(*two()) | ft.isnan(one()), one(), constant),
        ]
        if kind == "functions":
            ops += 2 * [lambda: ft.exp(one()), lambda: ft.log1p(abs(one())), lambda: ft.tanh(one())]
        if kind == "functions of C":
            ops += 2 * [lambda: ft.exp(one()), lambda: ft.tanh(one()), lambda: ft.sigmoid(one())]
            ops += [lambda: ft.expm1(one()), lambda: ft.arcsinh(one())]
        return draw.choice(ops)()

    def results(value):
        yield value
        yield value > 0
        for fold in (ft.sum, ft.max, ft.min, ft.prod):
            for axis in (None, 0, 1):
                yield fold(value, axis=axis)
        yield ft.any(value > 1, axis=1)
        yield value - ft.sum(value, axis=1, keepdims=True)

    def digest(found):
        whole = hashlib.sha256()
        for own in found:
            own = np.array(own)
            if own.dtype.kind == "f":
                own[np.isnan(own)] = np.nan
            whole.update(np.ascontiguousarray(own).tobytes())
        return whole.hexdigest()

    made = {"c": [], "cranelift": []}
    for _ in range(6):
        dtype = draw.choice(["float64", "float64", "float32", "int64", "int32"])
        x, y = ft.matrix("x", dtype=dtype), ft.vector("y", dtype=dtype)
        known = [x, y + x, x]
        for _ in range(draw.randrange(1, 12)):
            if dtype[0] == "f":
                new = elements(known, dtype)
            else:
                two = draw.choice(known), draw.choice(known)
                new = draw.choice([ft.add, ft.sub, ft.mul, ft.maximum, ft.minimum])(*two)
                new = ft.where(draw.choice([ft.lt, ft.le, ft.eq, ft.neq])(*two), new, two[0])
            known.append(new.astype(dtype))
        picked = draw.sample(list(results(known[-1])), 3)
        shapes = [(draw.randrange(1, 5), draw.choice([1, 3, 4, 5, 7, 8, 9, 30, 64, 100, 700]))
                  for _ in range(4)]
        for mode, digests in made.items():
            if kind == "functions" and mode == "c":
                continue
            call = fz.function([x, y], picked, mode=mode, on_unused_input="ignore")
            for at, shape in enumerate(shapes):
                rng = np.random.default_rng([seed, at])
                a, b = 3 * rng.normal(size=shape), rng.normal(size=shape[1])
                if dtype[0] == "f":
                    a[rng.random(shape) < 0.02] = np.nan
                digests.append(digest(call(a.astype(dtype), b.astype(dtype))))
    print(json.dumps(made))
    """
)

# Folds of bools, and of integers that they become, on which others work. A block has fewer elements
# than bools have lanes.
NARROW = textwrap.dedent(
    """
    import json
    import numpy as np
    import frazil as fz, frazil.tensor as ft

    def results(own, x):
        counts, found = own.sum(x, axis=1, keepdims=True), own.any(x, axis=1, keepdims=True)
        every = own.all(x, axis=1, keepdims=True)
        yield [own.sum(counts), own.any(own.less(counts, found))]
        yield [own.sum(every), own.minimum(own.not_equal(every, found), counts)]
        yield [own.max(own.sum(x, axis=1)), own.sum(own.sum(x, axis=1)), own.any(x, axis=1)]

    x = ft.tensor("x", dtype="bool", shape=(None, None))
    wrong = []
    for at, outputs in enumerate(results(ft, x)):
        call = fz.function([x], outputs, mode="cranelift")
        for length in (*range(1, 70), 127, 128, 129, 700):
            value = np.random.default_rng(length).random((3, length)) < 0.9
            expected = list(results(np, value))[at]
            if any(not np.array_equal(a, b) for a, b in zip(call(value), expected)):
                wrong.append([at, length])
    print(json.dumps(wrong))
    """
)

# Comparisons, with each operand the last one that is read, of arrays that begin at any element.
ANYWHERE = textwrap.dedent(
    """
    import json
    import numpy as np
    import frazil as fz, frazil.tensor as ft

    def results(own, x, y):
        half = x.dtype.type(0.5) if own is np else ft.constant(np.dtype(x.dtype).type(0.5))
        for compare in (own.less, own.less_equal, own.equal, own.not_equal):
            yield own.where(compare(x, y), x, half)
            yield own.where(compare(x, y), y, half)
            yield own.where(compare(half, y), half, half + half)

    wrong = []
    for dtype in ("float64", "float32"):
        x, y = ft.vector("x", dtype=dtype), ft.vector("y", dtype=dtype)
        calls = [fz.function([x, y], own, mode="cranelift", on_unused_input="ignore")
                 for own in results(ft, x, y)]
        for first in range(5):
            a, b = np.random.default_rng(first).normal(size=(2, 101)).astype(dtype).round(1)
            a, b = a[first:], b[first:]
            for at, (call, expected) in enumerate(zip(calls, results(np, a, b))):
                if not np.array_equal(call(a, b), expected):
                    wrong.append([dtype, first, at])
    print(json.dumps(wrong))
    """
)


def run(program: str, *arguments: str, bits: str | None) -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if key != "FRAZIL_REGISTERS"}
    environment["FRAZIL_CACHE"] = "0"
    if bits is not None:
        environment["FRAZIL_REGISTERS"] = bits
    command = [sys.executable, "-W", "ignore", "-c", program, *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)


def digests(seed: int, kind: str, bits: str | None) -> dict[str, list[str]]:
    found = run(PROGRAMS, str(seed), kind, bits=bits)
    assert found.returncode == 0, found.stderr
    return json.loads(found.stdout)


@settings(max_examples=2, deadline=None, phases=(Phase.explicit, Phase.generate))
@given(st.integers(0, 2**32))
def test_registers_of_all_sizes_give_the_same_bits(seed):
    whole = digests(seed, "arithmetic", None)
    for bits in ("128", "256"):
        made = digests(seed, "arithmetic", bits)
        assert made["cranelift"] == whole["cranelift"]
        assert made["c"] == made["cranelift"]


@settings(max_examples=2, deadline=None, phases=(Phase.explicit, Phase.generate))
@given(st.integers(0, 2**32))
def test_functions_of_registers_of_all_sizes_give_the_same_bits(seed):
    made = [digests(seed, "functions", bits)["cranelift"] for bits in (None, "256", "128")]
    assert made[1] == made[0]
    assert made[2] == made[0]


@pytest.mark.skipif(vector_bits() < 256, reason="C calls the C library")
@settings(max_examples=2, deadline=None, phases=(Phase.explicit, Phase.generate))
@given(st.integers(0, 2**32))
def test_functions_that_c_computes_have_the_same_bits_with_avx2(seed):
    made = digests(seed, "functions of C", "256")
    assert made["c"] == made["cranelift"]


@pytest.mark.parametrize("bits", ["128", "256", None])
def test_folds_of_bools_on_which_others_work(bits):
    found = run(NARROW, bits=bits)
    assert found.returncode == 0, found.stderr
    assert json.loads(found.stdout) == []


@pytest.mark.parametrize("bits", ["128", "256", None])
def test_operands_of_comparisons_may_lie_anywhere(bits):
    """The instructions of processors without AVX would read aligned ones alone."""
    found = run(ANYWHERE, bits=bits)
    assert found.returncode == 0, found.stderr
    assert json.loads(found.stdout) == []


@pytest.mark.parametrize("wrong", ["64", "avx2", "-1"])
def test_a_size_that_no_register_has_is_refused(wrong):
    found = run("import frazil", bits=wrong)
    assert found.returncode == 1
    assert f"$FRAZIL_REGISTERS must be 128, 256 or 512, and is '{wrong}'" in found.stderr


def test_the_processor_that_compilers_see_has_no_longer_registers():
    program = "from frazil.cache.identity import processor; print(processor())"
    texts = {bits: run(program, bits=bits).stdout for bits in (None, "128", "256", "512")}
    assert texts["512"] == texts[None]
    assert "avx512" not in texts["256"]
    assert "avx" not in texts["128"]
    if "avx512f" in texts["512"]:
        assert "avx2" in texts["256"]
