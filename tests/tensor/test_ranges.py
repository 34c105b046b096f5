"""Ranges agree with NumPy."""

import numpy as np
import pytest
from agreement import check, compiled, modes
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft
from frazil.tensor.ranges import ARange

steps = st.integers(-3, 3).filter(bool)
bounds = st.integers(-6, 6)


@given(bounds, bounds, steps, st.sampled_from([None, "int8", "int64", "float32"]), modes)
def test_static_ranges(start, stop, step, dtype, mode):
    check(ft.arange(start, stop, step, dtype), {}, np.arange(start, stop, step, dtype), mode)
    check(ft.arange(stop, dtype=dtype), {}, np.arange(stop, dtype=dtype), mode)
    start, stop, step = start / 2, stop / 3, step / 4
    check(ft.arange(start, stop, step), {}, np.arange(start, stop, step), mode)


@given(bounds, bounds, steps, st.sampled_from(["int64", "int8", "float64", "float32"]), modes)
@settings(max_examples=50)
def test_symbolic_ranges(start, stop, step, dtype, mode):
    a, b, c = (ft.scalar(name, dtype=dtype) for name in "abc")
    values = {a: start, b: stop, c: step}
    check(ft.arange(a, b, c), values, np.arange(start, stop, step, dtype), mode)
    values = {a: start, b: stop}
    check(ft.arange(a, b, step, dtype), values, np.arange(start, stop, step, dtype), mode)


@st.composite
def floats_of_ranges(draw):
    """Start, stop and step of one dtype, with a few thousand elements between them at most."""
    dtype = draw(st.sampled_from(["float32", "float64"]))
    width = 32 if dtype == "float32" else 64
    scale = draw(st.sampled_from([1e-30, 1e-3, 1.0, 1e8, 1e30]))
    sound = st.floats(-1, 1, width=width, allow_subnormal=False)
    start, step = (draw(sound) * scale for _ in range(2))
    stop = start + draw(st.floats(-5, 3000)) * step
    return tuple(np.asarray(x, dtype) for x in (start, stop, step))


@given(floats_of_ranges(), modes)
def test_ranges_of_floats_are_those_of_numpy_bit_by_bit(ends, mode):
    dtype = ends[0].dtype
    assume(ends[2] != 0)
    a, b, c = (ft.scalar(name, dtype=dtype) for name in "abc")
    expected = np.arange(*(x[()] for x in ends), dtype=dtype)
    found = compiled(ft.arange(a, b, c), dict(zip((a, b, c), ends, strict=True)), mode)
    assert found.dtype == expected.dtype == dtype
    assert found.tobytes() == expected.tobytes()
    assert ft.arange(*(x[()] for x in ends), dtype=dtype).eval().tobytes() == expected.tobytes()


@pytest.mark.parametrize(
    "ends",
    [
        (-0.0, 2.0, 1.0),
        (0.0, 1e-320, 1e10),  # less than a step that can be told from none
        (0.0, -1e-320, 1e10),
        (1.0, 2.0, np.inf),
        (1.0, 2.0, -np.inf),
        (0.1, 1.0, 0.1),
        (1e16, 1e16 + 8, 0.1),
    ],
)
def test_ranges_at_the_edges_of_floats(ends, mode):
    a, b, c = (ft.dscalar(name) for name in "abc")
    found = compiled(ft.arange(a, b, c), {a: ends[0], b: ends[1], c: ends[2]}, mode)
    with np.errstate(invalid="ignore"):
        expected = np.arange(*ends)
    assert found.tobytes() == expected.tobytes()


wide = st.integers(0, 2**64 - 1)


@given(wide, st.integers(-3000, 3000), wide.filter(bool), modes)
def test_ranges_of_uint64_are_those_of_python(start, count, step, mode):
    stop = min(max(start + count * min(step, 7), 0), 2**64 - 1)
    a, b, c = (ft.scalar(name, dtype="uint64") for name in "abc")
    values = {x: np.uint64(value) for x, value in zip((a, b, c), (start, stop, step), strict=True)}
    assume(len(range(start, stop, step)) < 10000)
    expected = np.asarray(range(start, stop, step), dtype="uint64")
    check(ft.arange(a, b, c), values, expected, mode)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("ends", "why"),
    [
        ((0, np.nan, 1), "not a number"),
        ((np.nan, 1, 1), "not a number"),
        ((0, 1, np.nan), "not a number"),
        ((np.inf, np.inf, 1), "not a number"),
        ((0, np.inf, 1), "more elements than can be counted"),
        ((-np.inf, 0, 1), "more elements than can be counted"),
        ((0, 1e30, 1e-8), "more elements than can be counted"),
        ((0, 1, 0), "cannot be zero"),
        ((0, np.nan, 0), "cannot be zero"),
    ],
)
def test_ranges_without_a_length(ends, why, dtype, mode):
    a, b, c = (ft.scalar(name, dtype=dtype) for name in "abc")
    f = fz.function([a, b, c], ft.arange(a, b, c) * 2, mode=mode)
    values = [np.asarray(x, dtype) for x in ends]
    with pytest.raises(ValueError, match=why) as failure:
        f(*values)
    assert "ARange" in str(failure.value) + "".join(getattr(failure.value, "__notes__", []))
    with pytest.raises(ValueError, match=why):
        ft.arange(*values)
    assert f(*np.asarray([0, 2, 1], dtype)).tolist() == [0, 2]


def test_ranges_over_lengths(mode):
    x = ft.matrix("x")
    values = {x: np.zeros((3, 2))}
    check(ft.arange(x.shape[0]) * 1.5, values, np.arange(3) * 1.5, mode)
    check(ft.arange(x.shape[0] - x.shape[1] + 1), values, np.arange(2), mode)


def test_a_range_that_a_value_tells(mode):
    """Its bounds are computed by what no size can be."""
    x = ft.vector("x", dtype="int64")
    check(ft.arange(ft.sum(x)), {x: [1, 2]}, np.arange(3), mode)


def test_gradients(mode):
    a, c = ft.scalar("a"), ft.scalar("c")
    cost = ft.sum(ft.arange(a, 2.0, c) ** 2)
    f = fz.function([a, c], fz.grad(cost, [a, c]), mode=mode)
    values = np.arange(0.5, 2.0, 0.25)
    np.testing.assert_allclose(f(0.5, 0.25), [2 * values.sum(), 2 * values @ np.arange(6)])


@pytest.mark.parametrize("dtype", ["int64", "float64"])
def test_a_step_of_zero(dtype, mode):
    c = ft.scalar("c", dtype=dtype)
    with pytest.raises(ValueError, match="cannot be zero"):
        ft.arange(0, 3, 0)
    with pytest.raises(ValueError, match="cannot be zero"):
        compiled(ft.arange(0, 3, c), {c: 0}, mode)


def test_errors():
    with pytest.raises(TypeError, match="makes no sense"):
        ft.arange(3, dtype="bool")
    with pytest.raises(TypeError, match="without dimensions"):
        ft.arange(ft.vector())
    with pytest.raises(TypeError, match="of type int64"):
        ARange("int64")(ft.scalar(), ft.lscalar(), ft.lscalar())
