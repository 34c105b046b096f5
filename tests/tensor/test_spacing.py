"""Evenly spaced numbers and grids agree with NumPy."""

import numpy as np
import pytest
from agreement import drawn_arrays, follow, follow_compiled
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import frazil.tensor as ft
from frazil.testing import verify_grad

ends = hnp.arrays(
    st.sampled_from(["float64", "float32", "int64", "int8"]),
    hnp.array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=3),
    elements=st.integers(1, 9),
)
options = st.fixed_dictionaries(
    {},
    optional={
        "num": st.integers(-1, 6),
        "endpoint": st.booleans(),
        "dtype": st.sampled_from(["float32", "int64", "float64"]),
        "axis": st.integers(-3, 3),
    },
)


@pytest.mark.parametrize("name", ["linspace", "logspace", "geomspace"])
@given(ends, st.integers(1, 9), options, st.data())
def test_spaced_numbers_agree_with_numpy(name, start, stop, chosen, data):
    if name != "linspace" and chosen.get("dtype") == "int64":
        chosen = {**chosen, "dtype": "float32"}  # powers are not rounded alike before they are cut
    ours, theirs = getattr(ft, name), getattr(np, name)
    last = np.resize(np.array([stop, 2, 5], start.dtype), start.shape[start.ndim // 2 :])
    follow(
        lambda x, y: ours(x, y, **chosen), lambda x, y: theirs(x, y, **chosen), [start, last],
        data.draw, 1e-11,
    )  # fmt: skip


complex_ends = hnp.arrays(
    st.sampled_from(["complex128", "complex64", "float32", "int8"]),
    hnp.array_shapes(min_dims=0, max_dims=1, min_side=0, max_side=3),
    elements=st.integers(1, 4),
)
directions = st.sampled_from([1, 1j, -1, -2 - 1j, 0.5 + 1j])


@pytest.mark.parametrize("name", ["linspace", "logspace", "geomspace"])
@given(complex_ends, directions, st.sampled_from([2, 1 + 2j, np.float32(-3), -1j]), st.data())
def test_complex_ends_agree_with_numpy(name, start, direction, stop, data):
    start = start * direction if start.dtype.kind == "c" else start
    chosen = data.draw(st.fixed_dictionaries({}, optional={"num": st.integers(0, 5)}))
    chosen["endpoint"] = data.draw(st.booleans())
    ours, theirs = getattr(ft, name), getattr(np, name)
    follow(
        lambda x: ours(x, stop, **chosen), lambda x: theirs(x, stop, **chosen), [start], data.draw,
        1e-5 if start.dtype.itemsize < 16 else 1e-12,
    )  # fmt: skip


def test_a_complex_base():
    for base, end in [(2j, np.float32(0)), (np.array([1j, 2]), 1.0), (2, 1j)]:
        expected = np.logspace(end, 2, 4, base=base)
        found = ft.logspace(end, 2, 4, base=base).eval()
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=1e-6)


@given(st.integers(-5, 5), st.integers(-5, 5), st.integers(0, 8), st.booleans())
def test_numbers_with_symbolic_count_and_ends_agree_with_numpy(start, stop, num, endpoint):
    first, last, count = ft.scalar("first"), ft.scalar("last"), ft.lscalar("count")
    spaced = ft.linspace(first, last, count, endpoint)
    found = spaced.eval({first: start, last: stop, count: num})
    np.testing.assert_allclose(found, np.linspace(start, stop, num, endpoint), rtol=1e-13)


@pytest.mark.parametrize("base", [2, 3.0, np.array([2.0, 3.0])])
def test_bases_of_powers(base):
    for ends in [(0, 3), (np.array([0.0, 1.0]), 4)]:
        found = ft.logspace(*ends, 4, base=base).eval()
        np.testing.assert_allclose(found, np.logspace(*ends, 4, base=base))


@given(
    st.lists(drawn_arrays(max_dims=1), max_size=3),
    st.sampled_from(["xy", "ij"]),
    st.booleans(),
    st.data(),
)
def test_grids_agree_with_numpy(sides, indexing, sparse, data):
    follow(
        lambda *x: ft.meshgrid(*x, indexing=indexing, sparse=sparse),
        lambda *x: np.meshgrid(*x, indexing=indexing, sparse=sparse),
        sides,
        data.draw,
    )


def test_static_lengths():
    assert ft.linspace(0, 1, 5).type.shape == (5,)
    assert ft.linspace(ft.tensor(shape=(3,)), 1, 5, axis=-1).type.shape == (3, 5)
    x, _ = ft.meshgrid(ft.tensor(shape=(3,)), ft.vector("v"))
    assert x.type.shape == (None, 3)


START, STOP = np.array([1.0, -2.0]), np.array([3.0, -0.5])
TABLE = [
    (lambda x, y: ft.linspace(x, y, 5), lambda x, y: np.linspace(x, y, 5)),
    (lambda x, y: ft.linspace(x, y, 4, 0, axis=1), lambda x, y: np.linspace(x, y, 4, 0, axis=1)),
    (lambda x, y: ft.logspace(x, y, 5), lambda x, y: np.logspace(x, y, 5)),
    (lambda x, y: ft.geomspace(x, y, 5), lambda x, y: np.geomspace(x, y, 5)),
    (lambda x, y: ft.geomspace(x * 1j, y, 5), lambda x, y: np.geomspace(x * 1j, y, 5)),
    (lambda x, y: ft.linspace(x * 1j, y, 5), lambda x, y: np.linspace(x * 1j, y, 5)),
    (ft.meshgrid, np.meshgrid),
]  # fmt: skip


def test_compiled(mode):
    follow_compiled(TABLE, [START, STOP], mode)


def test_gradients(mode):
    def total(x, y):
        results = [ft.linspace(x, y, 5), ft.geomspace(x, y, 5), *ft.meshgrid(x, y)]
        results.append(ft.logspace(x, y / 4, 4, base=1.5))
        return sum(((k + 1) * result**2).sum() for k, result in enumerate(results))

    verify_grad(total, [START, STOP], mode=mode)


def test_errors():
    with pytest.raises(ValueError, match="zero"):
        ft.geomspace(0, 1)
    with pytest.raises(ValueError, match="indexing"):
        ft.meshgrid([1], indexing="yx")
    with pytest.raises(TypeError, match="length"):
        ft.linspace(0, 1, 2.5)
    with pytest.raises(ValueError, match="must not be negative"):
        ft.linspace(0, 1, -2)
