"""An op may return its inputs, or parts of them: nobody who writes to one changes the other.

The mode debug refuses such ops, as their `view_map` does not tell of it.
"""

from dataclasses import dataclass

import numpy as np
import pytest

import frazil as fz
import frazil.tensor as ft

PARTS = {"itself": lambda x: x, "view": lambda x: x[:], "backwards": lambda x: x[::-1]}


@dataclass(frozen=True, eq=False)
class Returns(fz.Op):
    """Twice an input, or a view of it, without a copy."""

    part: str

    def make_node(self, x):
        return fz.FrozenApply(self, [x], [x.type, x.type])

    def infer_shape(self, node, input_shapes):
        return input_shapes * 2

    def perform(self, node, inputs):
        return [PARTS[self.part](inputs[0])] * 2


x = ft.dvector("x")
GIVEN = np.arange(5.0)
FIRST = np.eye(5)[0]
part = pytest.mark.parametrize("part", PARTS)


@part
def test_outputs_are_apart(part, mode):
    of = PARTS[part]
    y, z = Returns(part)(2 * x)
    f = fz.function([x], [y[1:3].set(9.0), z[:1].inc(1.0), y * 1, 2 * x], mode=mode)
    put, added = of(2 * GIVEN).copy(), of(2 * GIVEN).copy()
    put[1:3] = 9
    added[0] += 1
    for found, expected in zip(f(GIVEN), (put, added, of(2 * GIVEN), 2 * GIVEN), strict=True):
        np.testing.assert_array_equal(found, expected)
    *results, own = fz.function([x], [*Returns(part)(2 * x), 2 * x], mode=mode)(GIVEN)
    for written in results:
        written[...] = -1
        np.testing.assert_array_equal(own, 2 * GIVEN)


@part
def test_results_are_apart_from_arguments_and_constants(part, mode):
    of, given = PARTS[part], GIVEN.copy()
    f = fz.function([x], [Returns(part)(x)[0], Returns(part)(ft.constant(GIVEN))[0]], mode=mode)
    for written in f(given):
        written[...] = -1
    np.testing.assert_array_equal(given, GIVEN)
    for found in f(given):
        np.testing.assert_array_equal(found, of(GIVEN))


@part
def test_shared_values_are_apart(part, mode):
    of, given = PARTS[part], GIVEN.copy()
    s, t, u = (fz.shared(GIVEN.copy(), name) for name in "stu")
    updates = [(s, s[:1].inc(1.0)), (t, Returns(part)(s)[0]), (u, Returns(part)(x)[0])]
    f = fz.function([x], Returns(part)(s)[0], updates=updates, mode=mode)
    first = f(given)
    given[...] = -1
    np.testing.assert_array_equal(u.get_value(), of(GIVEN))
    f(given)
    after = GIVEN + FIRST
    np.testing.assert_array_equal(first, of(GIVEN))
    np.testing.assert_array_equal(t.get_value(), of(after))
    np.testing.assert_array_equal(s.get_value(), GIVEN + 2 * FIRST)


@part
def test_steps_are_apart(part, mode):
    of = PARTS[part]
    steps, _ = fz.scan(lambda s: Returns(part)(s)[0][:1].inc(1.0), outputs_info=x, n_steps=4)
    kept, _ = fz.scan(lambda s: Returns(part)(s)[0], outputs_info=x, n_steps=3)
    states = [GIVEN]
    for _ in range(4):
        states.append(of(states[-1]) + FIRST)
    found, turned = fz.function([x], [steps, kept], mode=mode)(GIVEN)
    np.testing.assert_array_equal(found, states[1:])
    np.testing.assert_array_equal(turned, [of(GIVEN), GIVEN, of(GIVEN)])
