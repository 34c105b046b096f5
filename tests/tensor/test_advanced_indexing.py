"""Indexing by arrays agrees with NumPy: reading, replacing, increasing, and their gradients."""

import itertools
import re

import numpy as np
import pytest
from agreement import check, compiled, like, modes
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from reference import evaluate

import frazil as fz
import frazil.tensor as ft
from frazil.tensor.advanced_indexing import AdvancedIncSubtensor, AdvancedSubtensor
from frazil.testing import verify_grad

X = np.arange(12.0).reshape(3, 4) / 7


@st.composite
def indexed(draw, min_side=1):
    """An array, an input for it, an index for NumPy, and one with variables for some arrays."""
    shape = draw(hnp.array_shapes(min_dims=1, max_dims=4, min_side=min_side, max_side=4))
    dtype = draw(st.sampled_from(["float64", "float32", "int8", "bool"]))
    array = (np.arange(np.prod(shape, dtype=int)) % 5).astype(dtype).reshape(shape)
    together = draw(
        hnp.mutually_broadcastable_shapes(num_shapes=len(shape), max_dims=2, max_side=3)
    )
    numpy_index, index, values = [], [], {}
    arrays = 0
    for length, index_shape in zip(shape, together.input_shapes, strict=True):
        kind = draw(st.sampled_from(["array", "array", "slice", "int", "new", "end"]))
        if kind == "new":
            numpy_index.append(None)
            index.append(None)
            kind = draw(st.sampled_from(["array", "slice", "int", "end"]))
        if kind == "end":
            break
        if length == 0 and 0 not in index_shape:
            kind = "slice"
        if kind == "array":
            positions = draw(
                hnp.arrays(
                    draw(st.sampled_from(["int64", "int8", "uint32"])),
                    index_shape,
                    elements=st.integers(0, max(length - 1, 0)),
                )
            )
            if positions.dtype.kind == "i":
                negative = draw(hnp.arrays("bool", index_shape))
                positions = np.where(negative, positions - length, positions)
            arrays += 1
            numpy_index.append(positions)
            if index_shape and draw(st.booleans()):
                variable = like(draw, positions)
                values[variable] = positions
                positions = variable
            elif draw(st.booleans()):
                positions = positions.tolist()
            index.append(positions)
        elif kind == "slice":
            part = draw(st.slices(length))
            numpy_index.append(part)
            index.append(part)
        else:
            position = draw(st.integers(-length, length - 1))
            numpy_index.append(position)
            index.append(position)
    if draw(st.booleans()):
        at = draw(st.integers(0, len(index)))
        used = sum(item is not None for item in index)
        front = sum(item is not None for item in index[:at])
        # What follows an ellipsis indexes the last dimensions.
        if used == len(shape) or front == used:
            numpy_index.insert(at, ...)
            index.insert(at, ...)
    x = like(draw, array)
    return array, x, tuple(numpy_index), tuple(index), {x: array, **values}


@given(indexed(), modes)
def test_reading_agrees_with_numpy(drawn, mode):
    array, x, numpy_index, index, values = drawn
    check(x[index], values, array[numpy_index], mode)


@given(indexed(min_side=0), modes)
def test_reading_where_there_are_no_elements(drawn, mode):
    array, x, numpy_index, index, values = drawn
    check(x[index], values, array[numpy_index], mode)


@given(indexed(), modes, st.data())
def test_replacing_and_increasing_agree_with_numpy(drawn, mode, data):
    array, x, numpy_index, index, values = drawn
    part = x[index]
    if part.owner is None or not isinstance(part.owner.op, AdvancedSubtensor):
        return  # basic indexing has its own tests
    shape = array[numpy_index].shape
    kept = data.draw(st.integers(0, len(shape)))
    repeats = [data.draw(st.booleans()) for _ in range(kept)]
    own = [1 if one else n for n, one in zip(shape[len(shape) - kept :], repeats, strict=True)]
    y = (np.arange(np.prod(own, dtype=int)) % 3).astype(array.dtype).reshape(own)
    new = like(data.draw, y)
    replaced, increased = array.copy(), array.copy()
    replaced[numpy_index] = y
    np.add.at(increased, numpy_index, np.broadcast_to(y, shape))  # NumPy 2.4 errs where y is not
    values[new] = y
    check(ft.set_subtensor(part, new), values, replaced, mode)
    check(ft.inc_subtensor(part, new), values, increased, mode)


def test_what_is_added_broadcasts_to_repeated_positions(mode):
    x, i, y = ft.vector("x"), ft.lmatrix("i"), ft.vector("y")
    values = {x: [0.0, 0.0, 0.0], i: [[0, 1, 2], [1, 1, 2]], y: [1.0, 10.0, 100.0]}
    check(ft.inc_subtensor(x[i], y), values, [1.0, 21.0, 200.0], mode)


@pytest.mark.parametrize("index", [np.s_[1:], np.s_[[0, 2]], np.s_[None, 1:]])
def test_what_loses_nothing_is_converted_to_the_dtype_of_the_tensor(index, mode):
    x, y = ft.vector("x"), ft.tensor("y", dtype="int16", shape=np.zeros(3)[index].shape)
    value = np.arange(y.type.shape[-1], dtype="int16").reshape(y.type.shape)
    replaced, increased = np.ones(3), np.ones(3)
    replaced[index] = value
    increased[index] += value
    values = {x: np.ones(3), y: value}
    check(ft.set_subtensor(x[index], y), values, replaced, mode)
    check(ft.inc_subtensor(x[index], y), values, increased, mode)
    with pytest.raises(TypeError, match="Cast one"):
        ft.set_subtensor(ft.fvector()[index], ft.tensor(dtype="int32", shape=y.type.shape))


@settings(max_examples=settings.default.max_examples // 2)
@given(st.data(), modes)
def test_masks_agree_with_numpy(data, mode):
    shape = data.draw(hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=4))
    array = np.arange(float(np.prod(shape, dtype=int))).reshape(shape)
    first = data.draw(st.integers(0, len(shape) - 1))
    last = data.draw(st.integers(first + 1, len(shape)))
    mask = data.draw(hnp.arrays("bool", shape[first:last]))
    x = like(data.draw, array)
    m = mask if data.draw(st.booleans()) and x.type.shape == shape else like(data.draw, mask)
    if x.type.shape[first:last] != shape[first:last] and 1 in shape:
        return  # a mask of length 1 needs a tensor that is declared to have it, too
    index, numpy_index = (slice(None),) * first + (m,), (slice(None),) * first + (mask,)
    values = {x: array} if m is mask else {x: array, m: mask}
    check(x[index], values, array[numpy_index], mode)
    changed = array.copy()
    changed[numpy_index] = -1.0
    check(ft.set_subtensor(x[index], -1.0), values, changed, mode)
    changed = array.copy()
    changed[numpy_index] += 2.0
    check(x[index].inc(2.0), values, changed, mode)


def test_masks_that_an_expression_gives(mode):
    x = ft.vector("x")
    values = {x: [1.0, -2.0, 3.0]}
    check(x[x > 0], values, [1.0, 3.0], mode)
    check(ft.set_subtensor(x[x < 0], 0.0), values, [1.0, 0.0, 3.0], mode)
    check(ft.sum(x[x > 0] * 2), values, 8.0, mode)


def test_symbolic_integers_beside_arrays(mode):
    x, i, j = ft.tensor3("x"), ft.lvector("i"), ft.iscalar("j")
    array = np.arange(24.0).reshape(2, 3, 4)
    values = {x: array, i: [2, 0], j: -1}
    check(x[j, :, i], values, array[-1, :, [2, 0]], mode)
    check(x[:, i, j], values, array[:, [2, 0], -1], mode)


def test_equal_indices_make_one_node():
    x = ft.matrix("x", shape=(3, 4))
    assert x[[0, 2]] is x[np.array([0, -1], dtype="int8")] is x[[0, 2], :] is x[[0, 2], ...]
    assert x[[]].type.shape == (0, 4)


def test_a_part_of_a_part_is_no_part_of_the_whole():
    x = ft.vector("x")
    tail = x[1:]
    values = {x: [1.0, 2.0, 3.0]}
    np.testing.assert_array_equal(evaluate(ft.set_subtensor(tail[[0]], 9.0), values), [9.0, 3.0])
    y = ft.matrix("y")
    wide = evaluate(ft.set_subtensor(y[1:, [0]], 9.0), {y: np.zeros((3, 2))})
    np.testing.assert_array_equal(wide, [[0, 0], [9, 0], [9, 0]])
    rows = ft.expand_dims(x, 0)
    assert ft.set_subtensor(rows[:, [0]], 9.0).ndim == 2
    assert ft.set_subtensor(x[None, [0]], 9.0).ndim == 1


# -------------------------------------------------------------------------- gradients

READS = [
    lambda x: x[[0, 2, 0]],
    lambda x: x[:, [3, -1]],
    lambda x: x[[0, 1], [[1], [1]]],
    lambda x: x[1:, [0, 0]],
    lambda x: x[None, [0, 0], ::2],
    lambda x: x[x > 0.9],
    lambda x: x[np.array([True, False, True])],
    lambda x: ft.take(x, [[0, -1]], axis=1),
    lambda x: ft.take(x, [0, 11, 3]),
    lambda x: ft.take_along_axis(x, [[3, 0], [1, 1], [2, -1]], axis=1),
]


@pytest.mark.parametrize("read", READS)
def test_gradients_of_reads(read, mode):
    verify_grad(lambda x: read(x) ** 2, [X], mode=mode)
    verify_grad(lambda x: fz.grad(ft.sum(read(x) ** 3), x), [X], mode="py")


INDICES = [
    (np.s_[[0, 2]], (2, 4)),
    (np.s_[[0, 0, 1]], (3, 4)),
    (np.s_[[0, 0, 1]], (1, 4)),
    (np.s_[[0, -3, 1]], (4,)),
    (np.s_[[0, 1, 0], [1, 1, 1]], (3,)),
    (np.s_[[[0], [0]], [1, 1]], (2, 2)),
    (np.s_[1:, [0, 0]], (2, 2)),
    (np.s_[:, None, [0, 2, 0]], (3, 1, 3)),
    (np.s_[[1, 2], ::2], ()),
]


@pytest.mark.parametrize(("index", "shape"), INDICES)
@pytest.mark.parametrize("change", [ft.set_subtensor, ft.inc_subtensor])
@pytest.mark.parametrize("symbolic", [False, True])
def test_gradients_of_changes(index, shape, change, symbolic, mode):
    y = np.linspace(-1, 1, int(np.prod(shape))).reshape(shape)
    items = index if isinstance(index, tuple) else (index,)
    if symbolic:  # what nothing is known of but when it is called
        hidden = fz.shared(np.zeros((), "int64"))
        items = tuple(ft.as_tensor(i) + hidden if isinstance(i, list) else i for i in items)
    verify_grad(lambda x, y: change(x[items], y) ** 2, [X, y], mode=mode)


def test_the_gradient_of_a_mask_keeps_what_was_replaced_apart(mode):
    verify_grad(
        lambda x, y: ft.set_subtensor(x[x > 0.5], y) ** 2 * x, [X, np.array(0.3)], mode=mode
    )


def test_a_sum_of_gathers_scatters_into_one_buffer():
    x, i, j = ft.vector("x"), ft.lvector("i"), ft.lvector("j")
    gradient = fz.grad(ft.sum(x[i] ** 2) + ft.sum(x[j] ** 3), x)
    assert isinstance(gradient.owner.op, AdvancedIncSubtensor)
    assert isinstance(gradient.owner.inputs[0].owner.op, AdvancedIncSubtensor)


# ----------------------------------------------------------------------------- errors


@pytest.mark.parametrize("index", [3, -4])
def test_out_of_bounds(index, mode):
    x, i, y = ft.vector("x"), ft.lvector("i"), ft.vector("y", shape=(1,))
    values = {x: np.zeros(3), i: [0, index], y: [1.0]}
    for part in (x[i], ft.set_subtensor(x[i], y), ft.inc_subtensor(x[i], y)):
        with pytest.raises(IndexError, match="out of bounds"):
            compiled(part, values, mode)
    with pytest.raises(
        IndexError, match=f"index {index} is out of bounds for axis 0 with length 3"
    ):
        ft.vector("x", shape=(3,))[[0, index]]


def test_lengths_that_were_not_declared_do_not_broadcast(mode):
    x, i, j, y = ft.matrix("x"), ft.lvector("i"), ft.lvector("j"), ft.vector("y")
    values = {x: np.zeros((3, 3)), i: [0], j: [1, 2], y: [1.0]}
    with pytest.raises(IndexError, match="declare"):
        compiled(x[i, j], {k: values[k] for k in (x, i, j)}, mode)
    with pytest.raises(ValueError, match="declare"):
        compiled(ft.set_subtensor(x[j, j], y), {k: values[k] for k in (x, j, y)}, mode)
    with pytest.raises(IndexError, match="does not fit"):
        compiled(x[i > 0], {k: values[k] for k in (x, i)}, mode)


def test_errors():
    x = ft.matrix("x", shape=(3, None))
    with pytest.raises(IndexError, match="too many indices: 3"):
        x[[0], [0], [0]]
    with pytest.raises(IndexError, match="too many indices: 3"):
        x[ft.matrix(dtype="bool"), 0]
    with pytest.raises(IndexError, match=r"mask of shape \(4,\) does not fit"):
        x[np.ones(4, "bool")]
    with pytest.raises(IndexError, match="not declared to have length 1"):
        x[:, np.ones(1, "bool")]
    with pytest.raises(IndexError, match="do not broadcast together"):
        x[[0, 1], [0, 1, 2]]
    with pytest.raises(IndexError, match="no elements"):
        ft.vector("e", shape=(0,))[ft.tensor(dtype="int64", shape=(2,))]
    with pytest.raises(IndexError, match="integers or bool"):
        x[ft.vector()]
    with pytest.raises(TypeError, match="template must say"):
        AdvancedSubtensor(("index",))(x, ft.lvector())
    with pytest.raises(TypeError, match="takes 1 arrays of integers"):
        AdvancedSubtensor(("index", "full"))(x, ft.lvector(), ft.lvector())
    with pytest.raises(TypeError, match="Cast one"):
        AdvancedIncSubtensor(("index", "full"), True)(x, ft.fvector(), ft.lvector())
    with pytest.raises(ValueError, match="does not broadcast to the indexed part"):
        ft.set_subtensor(x[[0, 1]], ft.tensor(shape=(3, None)))


@given(st.data(), modes)
def test_take_agrees_with_numpy(data, mode):
    shape = data.draw(hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=4))
    array = np.arange(float(np.prod(shape))).reshape(shape)
    axis = data.draw(st.none() | st.integers(-len(shape), len(shape) - 1))
    length = array.size if axis is None else shape[axis]
    positions = data.draw(
        hnp.arrays(
            "int64",
            hnp.array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=3),
            elements=st.integers(-length, length - 1),
        )
    )
    x, i = like(data.draw, array), like(data.draw, positions)
    check(ft.take(x, i, axis), {x: array, i: positions}, np.take(array, positions, axis), mode)
    ranks = [n if k != (axis or 0) % len(shape) else 2 for k, n in enumerate(shape)]
    if axis is not None:
        along = data.draw(hnp.arrays("int64", ranks, elements=st.integers(-length, length - 1)))
        j = like(data.draw, along)
        expected = np.take_along_axis(array, along, axis)
        check(ft.take_along_axis(x, j, axis), {x: array, j: along}, expected, mode)
        put = array.copy()
        np.put_along_axis(put, along, -1, axis)
        part = ft.take_along_axis(x, j, axis)
        check(ft.set_subtensor(part, -1), {x: array, j: along}, put, mode)


def test_take_errors():
    with pytest.raises(np.exceptions.AxisError):
        ft.take(ft.vector(), [0], axis=1)
    with pytest.raises(ValueError, match="as many dimensions"):
        ft.take_along_axis(ft.matrix(), [0], axis=0)


@pytest.mark.parametrize("axis", [0, -1, None])
def test_put_along_axis(axis, mode):
    array = np.arange(12.0).reshape(3, 4)
    along = {0: [[2, 0, 1, 1]], -1: [[3], [0], [-1]], None: [5, 0, -1]}[axis]
    expected = array.copy()
    np.put_along_axis(expected, np.array(along), -1.5, axis)
    x = ft.matrix("x")
    check(ft.put_along_axis(x, along, -1.5, axis), {x: array}, expected, mode)
    values = np.linspace(1.0, 2.0, np.size(along)).reshape(np.shape(along))
    verify_grad(lambda x, y: ft.put_along_axis(x, along, y, axis) ** 2, [array, values], mode=mode)


WRITTEN = {
    ":": slice(None),
    "k": np.array([1, 0]),
    "rows": np.array([[0], [1]]),
    "number": 1,
    "new": None,
    "...": Ellipsis,
}


def with_an_ellipsis():
    """Indices of up to four items, of which two are arrays or more, and one an ellipsis."""
    for count in (3, 4):
        for items in itertools.product(WRITTEN, repeat=count):
            arrays = sum(item in ("k", "rows") for item in items)
            if arrays > 1 and items.count("...") == 1:
                yield items


def test_an_ellipsis_keeps_arrays_apart_even_if_it_stands_for_nothing():
    array, x, k = np.arange(8.0).reshape(2, 2, 2), ft.tensor3("x"), ft.lvector("k")
    met = 0
    for items in with_an_ellipsis():
        index = tuple(WRITTEN[item] for item in items)
        try:
            expected = array[index]
        except IndexError:
            continue
        met += 1
        part = x[tuple(k if item == "k" else WRITTEN[item] for item in items)]
        given = {x: array, k: WRITTEN["k"]}
        np.testing.assert_array_equal(evaluate(part, given), expected, strict=True)
        values = np.arange(float(expected.size)).reshape(expected.shape)
        array_then = array.copy()
        array_then[index] = values
        then = evaluate(ft.set_subtensor(part, values), given)
        np.testing.assert_array_equal(then, array_then)
        row = expected.shape[-1:]
        increased = ft.inc_subtensor(part, np.ones(row))
        np.add.at(array_then := array.copy(), index, np.ones(row))
        np.testing.assert_array_equal(evaluate(increased, given), array_then)
    assert met > 100


def test_arrays_beside_an_ellipsis_that_stands_for_nothing(mode):
    array, x, k = np.arange(2.0).reshape(2, 1, 1), ft.tensor3("x"), ft.lvector("k")
    part, given = x[:, k, ..., np.array(0)], {x: array, k: [0]}
    check(part, given, [[0.0, 1.0]], mode)
    check(ft.set_subtensor(part, [[5.0, 6.0]]), given, [[[5.0]], [[6.0]]], mode)
    check(fz.grad((part * [[2.0, 3.0]]).sum(), x), given, [[[2.0]], [[3.0]]], mode)


BESIDE_NOTHING = {
    "taken rows": lambda x, k: x[k],
    "taken columns": lambda x, k: x[:, k],
    "taken along axes": lambda x, k: ft.take(x, k, axis=1),
    "pairs": lambda x, k: x[k, k[:, None]],
    "computed": lambda x, k: ft.exp(x[k * 2 - k]) + 1,
    "summed": lambda x, k: x[k].sum(axis=0),
    "gradient": lambda x, k: fz.grad((x[k] ** 2).sum(), x),
    "put": lambda x, k: ft.set_subtensor(x[k], 1.0),
    "put columns": lambda x, k: ft.inc_subtensor(x[:, k], x[:, k] * 2),
}


@pytest.mark.parametrize("name", BESIDE_NOTHING)
def test_indices_are_checked_beside_axes_without_elements(name, mode):
    x, k = ft.matrix("x"), ft.lvector("k")
    f = fz.function([x, k], BESIDE_NOTHING[name](x, k), mode=mode)
    for shape in [(0, 3), (3, 0), (0, 0), (3, 2)]:
        for index in [[], [0], [2], [-3], [1, 3], [0, -4, 1]]:
            values = np.ones(shape), np.array(index, dtype="int64")
            try:
                expected = numpy_beside_nothing(name, *values)
            except IndexError as error:
                # Of several indices that are wrong, another one may be told than NumPy tells.
                which = "is out of bounds" if name == "pairs" else re.escape(str(error))
                with pytest.raises(IndexError, match=which):
                    f(*values)
            else:
                np.testing.assert_allclose(f(*values), expected)


def numpy_beside_nothing(name, x, k):
    """What NumPy makes of what ``BESIDE_NOTHING`` names."""
    made = x.copy()
    match name:
        case "taken rows":
            return x[k]
        case "taken columns":
            return x[:, k]
        case "taken along axes":
            return x[:, k]
        case "pairs":
            return x[k, k[:, None]]
        case "computed":
            return np.exp(x[k]) + 1
        case "summed":
            return x[k].sum(axis=0)
        case "gradient":
            np.add.at(made, k, x[k])
            return 2 * (made - x)
        case "put":
            made[k] = 1
        case "put columns":
            np.add.at(made, (slice(None), k), x[:, k] * 2)
    return made
