"""Masks that choose other counts of elements in each element of a batch."""

import numpy as np
import pytest
from agreement import MODES, modes
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose

import frazil as fz
import frazil.tensor as ft

GRAPHS = {
    "set to a number": lambda v, m: ft.set_subtensor(v[m], 5.0),
    "increased by a part": lambda v, m: ft.inc_subtensor(v[m], v[m] * 2 + 1),
    "two parts": lambda v, m: ft.set_subtensor(v[m], v[m] + ft.sum(v[~m])),
    "a mean": lambda v, m: ft.sum(v[m]) / ft.maximum(v[m].shape[0], 1),
    "sorted": lambda v, m: ft.exp(ft.sum(ft.cumsum(ft.sort(v[m])) ** 2) / 99) * v,
    "positions": lambda v, m: ft.sum(ft.nonzero(m)[0] * v[m]) + ft.sum(v),
    "repeated": lambda v, m: ft.sum(ft.sin(ft.repeat(v, ft.cast(m, "int64") * 2))),
}
numbers = st.floats(-3, 3, width=32)


@settings(max_examples=settings.default.max_examples // 4, deadline=None)
@given(modes, st.sampled_from(sorted(GRAPHS)), st.integers(0, 3), st.integers(0, 4), st.data())
def test_a_batch_is_what_its_elements_are(mode, name, count, size, data):
    values = data.draw(hnp.arrays(float, (count, size), elements=numbers))
    masks = data.draw(hnp.arrays(bool, (count, size)))
    v, m = ft.vector("v"), ft.vector("m", dtype="bool")
    whole, wholes = ft.matrix("V"), ft.matrix("M", dtype="bool")
    y = GRAPHS[name](v, m)
    ys = fz.vectorize(y, {v: whole, m: wholes})
    results = [y, fz.grad(ft.sum(y**2), v)]
    batches = [ys, fz.grad(ft.sum(ys**2), whole)]
    one = fz.function([v, m], results, mode="py", on_unused_input="ignore")
    found = fz.function([whole, wholes], batches, mode=mode, on_unused_input="ignore")(
        values, masks
    )
    expected = [one(*row) for row in zip(values, masks, strict=True)]
    for k, batch in enumerate(found):
        assert len(batch) == count
        for row, own in zip(batch, expected, strict=True):
            assert_allclose(row, own[k], rtol=1e-9, atol=1e-12)


def test_only_masks_or_only_values_are_batches():
    v, m = ft.vector("v"), ft.vector("m", dtype="bool")
    y = ft.set_subtensor(v[m], -1.0)
    values, masks = np.arange(3.0), np.array([[True, False, True], [False] * 3])
    wholes = ft.matrix("M", dtype="bool")
    found = fz.function([v, wholes], fz.vectorize(y, {m: wholes}))(values, masks)
    assert_allclose(found, np.where(masks, -1, values))
    many = ft.tensor3("many")
    sums = fz.vectorize(ft.sum(v[v > 2]), {v: many})
    cube = np.arange(24.0).reshape(2, 3, 4) % 5
    assert_allclose(fz.function([many], sums)(cube), np.where(cube > 2, cube, 0).sum(-1))


def test_parts_themselves_are_a_batch_where_they_have_one_shape():
    v, whole = ft.vector("v"), ft.matrix("V")
    f = fz.function([whole], fz.vectorize(v[v > 0], {v: whole}))
    assert_allclose(f([[1.0, -1.0, 2.0], [-1.0, 3.0, 4.0]]), [[1.0, 2.0], [3.0, 4.0]])
    with pytest.raises(ValueError, match="have one shape"):
        f([[1.0, -1.0, 2.0], [-1.0, -3.0, 4.0]])


@pytest.mark.parametrize("mode", MODES)
def test_the_gradient_of_a_scan_whose_steps_differ_in_lengths(mode):
    x, ends = ft.vector("x"), ft.lvector("ends")
    parts, _ = fz.scan(
        lambda n, x: ft.sum(ft.cumsum(ft.sort(x[:n] ** 2))), sequences=[ends], non_sequences=[x]
    )
    f = fz.function([x, ends], fz.grad(ft.sum(parts), x), mode=mode)
    # Of n squares, in order, the first is counted n times, the last once.
    expected = 2 * np.array([3.0, 1.0, 2.0]) * np.array([1 + 1 + 1, 2 + 3, 2])
    assert_allclose(f([3.0, 1.0, 2.0], [1, 2, 3]), expected)
