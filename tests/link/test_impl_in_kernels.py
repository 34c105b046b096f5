"""Scalar ops that have no text for Numba: Numba compiles their ``impl``, or Python runs it."""

import math
import warnings
from dataclasses import dataclass

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import frazil as fz
import frazil.tensor as ft
from frazil.scalar import ScalarOp

SCALE = 2.0


@dataclass(frozen=True, eq=False)
class Bump(ScalarOp):
    centre: float
    powers: tuple[int, ...] = (1, 2)
    nin, rule = 1, "float"
    height = 3.0

    def impl(self, x):
        near = math.exp(-abs(x - self.centre))
        return self.height * near + x * self.powers[0] + math.pi * self.powers[1]


@dataclass(frozen=True, eq=False)
class Larger(ScalarOp):
    nin, rule = 2, "arithmetic"

    def impl(self, x, y):
        return x if x > y else y * 3


@dataclass(frozen=True, eq=False)
class Within(ScalarOp):
    nin, rule = 2, "comparison"

    @staticmethod
    def impl(x, y):
        return -y <= x <= y


@dataclass(frozen=True, eq=False)
class Series(ScalarOp):
    nin, rule = 1, "float"

    def impl(self, x):
        total = 0.0
        for k in range(1, 6):
            total += x / k
        return total


def closing_over(number, function):
    @dataclass(frozen=True, eq=False)
    class Closing(ScalarOp):
        nin, rule = 1, "float"

        def impl(self, x):
            return function(x) * number

    return Closing()


@numba.njit
def halved(x):
    return x / 2


FUSING = [Bump(0.5), Bump(-1.0, (4, 5)), Larger(), Within(), Series(), closing_over(7, halved)]


def apart(f):
    return [part.apart for part in f.explain().segments if part.apart is not None]


@settings(max_examples=40)
@given(data=st.data())
def test_kernels_hold_what_numba_compiles(data):
    op = data.draw(st.sampled_from(FUSING))
    dtype = data.draw(st.sampled_from(["float64", "float32", "int64", "int8", "uint16", "bool"]))
    if dtype.startswith("float"):
        numbers = st.floats(-1000, 1000, width=32)
    else:
        numbers = st.booleans() if dtype == "bool" else st.integers(0, 100)
    values = [data.draw(hnp.arrays(dtype, 5, elements=numbers)) for _ in range(op.nin)]
    inputs = [ft.tensor(dtype=dtype, shape=(5,)) for _ in values]
    out = ft.exp(-abs(ft.cast(op(*inputs), "float64")))
    f = fz.function(inputs, out, mode="numba")
    assert apart(f) == []
    assert len(f.explain().segments) == 1
    np.testing.assert_allclose(f(*values), fz.function(inputs, out, mode="py")(*values), rtol=1e-12)


@pytest.mark.parametrize("op", FUSING, ids=str)
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int8", "uint32"])
def test_results_are_those_of_python(op, dtype):
    x = np.array([0, 1, 2, 3, 100]).astype(dtype)
    inputs = [ft.tensor(dtype=dtype, shape=(None,)) for _ in range(op.nin)]
    values = [x, x[::-1].copy()][: op.nin]
    want = fz.function(inputs, op(*inputs), mode="py")(*values)
    got = fz.function(inputs, op(*inputs), mode="numba")(*values)
    assert got.dtype == want.dtype
    np.testing.assert_allclose(got, want, rtol=1e-6 if dtype == "float32" else 1e-14)


@dataclass(frozen=True, eq=False)
class Strict(ScalarOp):
    nin, rule = 1, "float"

    def impl(self, x):
        if x < 0:
            raise ValueError("below zero")
        return math.sqrt(x)


@dataclass(frozen=True, eq=False)
class ByText(ScalarOp):
    nin, rule = 1, "float"

    def impl(self, x):
        return float(str(x))


@dataclass(frozen=True, eq=False)
class ByGlobal(ScalarOp):
    nin, rule = 1, "float"

    def impl(self, x):
        return x * SCALE


@dataclass(frozen=True, eq=False)
class Halves(ScalarOp):
    nin, rule = 1, "arithmetic"

    def impl(self, x):
        return x / 2


@dataclass(frozen=True, eq=False)
class Whole(ScalarOp):
    nin, rule = 1, "float"
    ufunc = staticmethod(np.floor)

    def impl(self, x):
        return math.floor(x)


REFUSED = [
    (Strict(), "float64", "may raise an exception"),
    (ByText(), "float64", "Numba cannot compile its impl: "),
    (ByGlobal(), "float64", "reads the global SCALE, which may change: make it a field"),
    (closing_over(2, np.array([1.0]).__getitem__), "float64", "closes over function, which is no"),
    (Halves(), "int64", "gives float64 for a result of int64"),
    (Larger(), "uint64", "in float64, where Python is exact"),
    (Whole(), "float64", "function of whole arrays"),
]


@pytest.mark.parametrize(("op", "dtype", "why"), REFUSED, ids=lambda value: str(value)[:20])
def test_what_python_has_to_run_says_why(op, dtype, why):
    x = ft.tensor(dtype=dtype, shape=(None,))
    f = fz.function([x], op(*[x] * op.nin) + 1, mode="numba")
    [told] = apart(f)
    assert why in told
    assert f"apart: {told}" in str(f.explain())


def test_an_exception_reaches_the_caller():
    x = ft.dvector()
    f = fz.function([x], Strict()(x) + 1, mode="numba")
    np.testing.assert_array_equal(f([4.0]), [3.0])
    with pytest.raises(ValueError, match="below zero"):
        f([4.0, -1.0])


def test_a_global_that_changes(monkeypatch):
    x = ft.dvector()
    f = fz.function([x], ByGlobal()(x), mode="numba")
    np.testing.assert_array_equal(f([1.5]), [3.0])
    monkeypatch.setattr(f"{__name__}.SCALE", 4.0)
    np.testing.assert_array_equal(f([1.5]), [6.0])


def test_steps_of_loops_hold_them_too():
    op = Bump(0.25)
    start = ft.dscalar()
    states = fz.scan(lambda s: op(s) / 10, outputs_info=[start], n_steps=20)
    out = states[0] if isinstance(states, tuple | list) else states
    f = fz.function([start], out[-1], mode="numba")
    assert " scan k" in str(f.explain())
    with warnings.catch_warnings():
        want = fz.function([start], out[-1], mode="py")(0.5)
    np.testing.assert_allclose(f(0.5), want, rtol=1e-13)


def test_c_says_why_as_well():
    x = ft.dvector()
    [told] = apart(fz.function([x], Series()(x) + 1, mode="c"))
    assert told == "the C linker has no form of Series for float64"
