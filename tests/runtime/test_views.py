"""Views of any arrays, and the copies that they need."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from programs import DTYPES, run, same


@given(
    st.lists(st.integers(0, 5), min_size=1, max_size=3),
    st.data(),
)
def test_slices_are_pythons(shape, data):
    array = np.arange(float(np.prod(shape))).reshape(shape)
    bound = st.none() | st.integers(-7, 7) | st.sampled_from([2**62, -(2**63)])
    index, literal = [], []
    for length in data.draw(st.permutations(shape))[: data.draw(st.integers(0, len(shape)))]:
        if array.shape[len(index)] and data.draw(st.booleans()):
            length = array.shape[len(index)]
            index.append(data.draw(st.integers(-length, length - 1)))
            literal.append(index[-1])
        else:
            step = data.draw(st.integers(-3, 3).filter(bool))
            index.append(slice(data.draw(bound), data.draw(bound), step))
            literal.append((index[-1].start, index[-1].stop, step))

    def sizes(builder):
        def size(value):
            return None if value is None else builder.size_literal(value)

        return [
            tuple(map(size, entry)) if isinstance(entry, tuple) else size(entry)
            for entry in literal
        ]

    expected = array[tuple(index)]
    same(run(lambda builder, x: builder.slice(x, sizes(builder)), array), expected)
    for accumulate in (False, True):
        updated = array.copy()
        if accumulate:
            updated[tuple(index)] += 7.0
        else:
            updated[tuple(index)] = 7.0
        before = array.copy()

        def build(builder, x, y, accumulate=accumulate):
            return builder.update(x, sizes(builder), y, accumulate)

        same(run(build, array, np.array(7.0)), updated)
        same(array, before)


@given(st.lists(st.integers(0, 4), max_size=4), st.data())
def test_other_views_agree_with_numpy(shape, data):
    array = np.arange(float(np.prod(shape))).reshape(shape)
    if data.draw(st.booleans()):
        array = array.T
    axes = data.draw(st.permutations(range(array.ndim)))
    same(run(lambda b, x: b.transpose(x, axes), array), array.transpose(axes))
    positions = data.draw(st.sets(st.integers(0, array.ndim + 1), max_size=2))
    positions = sorted(p for p in positions if p < array.ndim + len(positions))
    expanded = run(lambda b, x: b.expand_dims(x, positions), array)
    same(expanded, np.expand_dims(array, tuple(positions)))
    same(run(lambda b, x: b.drop_dims(b.expand_dims(x, positions), positions), array), array)

    def flat(builder, x):
        return builder.reshape(x, [builder.size_literal(-1), builder.size_literal(1)])

    same(run(flat, array), array.reshape(array.size, 1))
    wide = (2, *array.shape)

    def broadcast(builder, x):
        return builder.broadcast_to(x, [builder.size_literal(length) for length in wide])

    same(run(broadcast, array), np.broadcast_to(array, wide))
    same(run(lambda b, x: b.copy(x), array), array)


def test_views_check_their_shapes():
    def reshape(builder, x):
        return builder.reshape(x, [builder.size_literal(4)])

    with pytest.raises(
        ValueError, match=r"cannot reshape an array of shape \(3,\) into shape \(4,\)"
    ):
        run(reshape, np.ones(3))
    with pytest.raises(ValueError, match="axis 0 has length 3"):
        run(lambda b, x: b.drop_dims(x, [0]), np.ones(3))
    with pytest.raises(IndexError, match="index 3 is out of bounds for axis 0 with size 3"):
        run(lambda b, x: b.slice(x, [b.size_literal(3)]), np.ones(3))
    with pytest.raises(ValueError, match="slice step cannot be zero"):
        run(lambda b, x: b.slice(x, [(None, None, b.size_literal(0))]), np.ones(3))
    with pytest.raises(ValueError, match="does not broadcast"):
        run(lambda b, x: b.broadcast_to(x, [b.size_literal(4)]), np.ones(3))


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype_is_copied_filled_and_increased(dtype):
    array = np.array([0, 1, 1, 0, 1]).astype(dtype)
    one = np.array(1).astype(dtype)
    same(run(lambda b, x: b.copy(x), array[::-1]), array[::-1])

    def full(builder, value):
        return builder.full(dtype, value, [builder.size_literal(2), builder.size_literal(3)])

    same(run(full, one), np.full((2, 3), one))
    every = (None, None, 2)
    expected = array.copy()
    expected[::2] += one

    def increase(builder, x, y):
        index = tuple(None if part is None else builder.size_literal(part) for part in every)
        return builder.update(x, [index], y, True)

    same(run(increase, array, one), expected)
