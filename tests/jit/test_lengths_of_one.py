"""Lengths that are 1 in a call repeat, and are dropped by np.squeeze, as in plain Python."""

import numpy as np
import pytest

import frazil as fz

PARTS = {
    "the last row": lambda x: x[-1:],
    "from the third row on": lambda x: x[2:],
    "rows that values choose": lambda x: x[x[:, 0] >= 8],
}
REPEATED = {
    "an array of its own": lambda x, part: part + np.ones((3, 4)),
    "where": lambda x, part: np.where(x > 3, part, x),
    "a condition": lambda x, part: np.where(part > 3, x, 0.0),
    "clip": lambda x, part: np.clip(x, part, 9.0),
    "select": lambda x, part: np.select([x > 3], [part], x),
    "choose": lambda x, part: np.choose((x > 3).astype(int), [part, x]),
    "isclose": lambda x, part: np.isclose(x, part),
    "allclose": lambda x, part: np.allclose(x, part),
    "array_equiv": lambda x, part: np.array_equiv(x, part),
    "linspace": lambda x, part: np.linspace(part, x, 3),
    "cross": lambda x, part: np.cross(x[:, :3], part[:, 1:]),
    "broadcast_arrays": lambda x, part: np.broadcast_arrays(x, part)[1],
    "broadcast_to": lambda x, part: np.broadcast_to(part, x.shape),
    "take_along_axis": lambda x, part: np.take_along_axis(x, np.argsort(part, 1), 1),
    "index arrays": lambda x, part: x.T[np.argsort(part[:, 0]), np.argsort(x[:, 0])],
}


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("name", REPEATED)
def test_a_part_of_one_row_repeats(name, part):
    repeated, part_of = REPEATED[name], PARTS[part]

    def function(x):
        return repeated(x, part_of(x))

    compiled = fz.jit(function)
    for shift in (0.0, 1.0):
        x = np.arange(12.0).reshape(3, 4) + shift
        assert part_of(x).shape == (1, 4)
        np.testing.assert_array_equal(compiled(x), function(x), strict=True)


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize(
    "squeeze", [np.squeeze, lambda x: x.squeeze(), lambda x: np.squeeze(x[:, 2:])]
)
def test_squeeze_drops_all_lengths_that_are_one(squeeze, part):
    compiled = fz.jit(lambda x: squeeze(PARTS[part](x)))
    for shape in ((3, 4), (4, 4), (5, 4), (3, 3), (3, 4), (1, 4), (2, 3)):
        x = np.arange(float(np.prod(shape))).reshape(shape)
        np.testing.assert_array_equal(compiled(x), squeeze(PARTS[part](x)), strict=True)


def test_squeeze_of_whole_arguments_serves_all_lengths():
    compiled = fz.jit(lambda x: np.squeeze(x * 2.0))
    for rows in (2, 3, 4):
        assert compiled(np.ones((rows, 4))).shape == (rows, 4)
    assert len(compiled.explain().forms) == 1


def test_a_captured_array_repeats_a_row():
    rows = np.ones((3, 4))
    compiled = fz.jit(lambda x: x[1:2] + rows)
    for count in (3, 5):
        x = np.arange(4.0 * count).reshape(count, 4)
        np.testing.assert_array_equal(compiled(x), x[1:2] + rows)


@pytest.mark.parametrize("rows", [3, 4])
def test_a_replaced_part_repeats_a_row(rows):
    x = np.arange(4.0 * rows).reshape(rows, 4)
    expected = x.copy()
    expected[:2] = x[-1:]
    np.testing.assert_array_equal(fz.jit(lambda x: x.at[:2].set(x[-1:]))(x), expected)
    expected = x.copy()
    expected[:2] += x[-1:]
    np.testing.assert_array_equal(fz.jit(lambda x: x.at[:2].add(x[-1:]))(x), expected)


@pytest.mark.parametrize("part", [lambda x: x[-1:], lambda x: x[2:]])
def test_squeeze_within_batches_and_loops(part):
    x = np.arange(24.0).reshape(2, 3, 4)
    expected = np.stack([np.squeeze(part(own)) for own in x])
    np.testing.assert_array_equal(fz.vmap(lambda x: np.squeeze(part(x)))(x), expected)

    def step(i, s):
        return s + np.squeeze(part(s)).ndim

    loop = fz.jit(lambda x: fz.fori_loop(0, 2, step, x))
    np.testing.assert_array_equal(loop(x[0]), x[0] + 2)
