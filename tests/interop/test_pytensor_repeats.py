"""Lengths of 1 that only a call knows, where NumPy repeats: index arrays, masks, what is set."""

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pytensor.tensor.blockwise import Blockwise

import frazil as fz
from frazil.interop.pytensor import from_pytensor

x, y = pt.dmatrix("x"), pt.dmatrix("y")
i, j, mask = pt.lvector("i"), pt.lmatrix("j"), pt.vector("mask", dtype="bool")
VALUE = np.arange(12.0).reshape(3, 4)


@pytest.fixture(scope="module")
def functions():
    outputs = {
        "arrays": ([x, i, j], x[i, j]),
        "known": ([x, i], x[np.array([0, 2, 1]), i]),
        "mask": ([x, mask, i], x[mask, i]),
        "set": ([x, y, i], pt.set_subtensor(x[i], y)),
        "increased": ([x, y, i, j], pt.inc_subtensor(x[i, j], y)),
    }
    return {
        name: pytensor.function(inputs, out, mode="FRAZIL")
        for name, (inputs, out) in outputs.items()
    }


def agree(ours, theirs):
    """Both give the same array, or both an error."""
    try:
        wanted = theirs()
    except (IndexError, ValueError):
        with pytest.raises((IndexError, ValueError)):
            ours()
    else:
        np.testing.assert_array_equal(ours(), wanted)


def changed(array, index, value, add):
    """NumPy's result of setting or of increasing what an index names."""
    result = array.copy()
    if add:
        np.add.at(result, index, value)
    else:
        result[index] = value
    return result


LENGTHS = st.integers(0, 3)


@settings(max_examples=40, deadline=None)
@given(n=LENGTHS, rows=LENGTHS, columns=LENGTHS, seed=st.integers(0, 99))
def test_repeats_are_numpys(functions, n, rows, columns, seed):
    draw = np.random.default_rng(seed)
    a, b = draw.integers(0, 3, n), draw.integers(0, 3, (rows, columns))
    some = draw.integers(0, 2, 3).astype(bool)
    agree(lambda: functions["arrays"](VALUE, a, b), lambda: VALUE[a, b])
    agree(lambda: functions["known"](VALUE, a), lambda: VALUE[np.array([0, 2, 1]), a])
    agree(lambda: functions["mask"](VALUE, some, a), lambda: VALUE[some, a])
    new = draw.normal(size=(draw.choice([1, n]), draw.choice([1, 4])))
    agree(lambda: functions["set"](VALUE, new, a), lambda: changed(VALUE, a, new, False))
    new = draw.normal(size=(draw.choice([1, rows]), draw.choice([1, columns])))
    agree(
        lambda: functions["increased"](VALUE, new, a, b),
        lambda: changed(VALUE, (a, b), new, True),
    )


def test_a_mask_has_the_length_of_its_dimension(functions):
    with pytest.raises((IndexError, ValueError)):
        functions["mask"](VALUE, np.array([True]), np.array([0]))


@pytest.mark.parametrize("mask", [[True], [True, False, True], [True] * 4], ids=len)
def test_a_constant_mask_has_the_length_of_its_dimension(mask):
    f = pytensor.function([x], x[np.array(mask)], mode="FRAZIL")
    if len(mask) == len(VALUE):
        assert f(VALUE).tolist() == VALUE[mask].tolist()
    else:
        with pytest.raises(ValueError, match="dimension"):
            f(VALUE)


@pytest.mark.filterwarnings("ignore:advanced_inc_subtensor1:FutureWarning")
def test_what_an_op_of_pytensors_repeats_nowhere_is_an_error():
    out = pt.subtensor.advanced_inc_subtensor1(pt.zeros((3, 4)), y, np.array([0, 1]))
    f = pytensor.function([y], out, mode="FRAZIL")
    assert f(np.ones((2, 4))).sum() == 8
    if type(out.owner.op).__name__ == "AdvancedIncSubtensor":
        # PyTensor 3 has one op for this and for `x[i]`, which repeats here as NumPy does.
        assert f(np.ones((1, 4))).sum() == 8
        return
    with pytest.raises(ValueError, match="has length 1"):
        f(np.ones((1, 4)))


def test_a_range_to_a_length_that_is_known_to_be_one_broadcasts():
    row = pt.tensor("row", dtype="float64", shape=(1, None))
    outputs = [pt.arange(row.shape[0]) + row, pt.arange(row[:2].shape[0]) * row]
    same, zeros = pytensor.function([row], outputs, mode="FRAZIL")(VALUE[1:2])
    np.testing.assert_array_equal(same, VALUE[1:2])
    np.testing.assert_array_equal(zeros, np.zeros((1, 4)))


def test_what_no_element_of_a_batch_changes_is_computed_once():
    lengths = pt.alloc(x.shape, 5, 2)[:, 1:]  # as PyTensor's gradients of batches repeat lengths
    ranges = Blockwise(pt.arange(3).owner.op, signature="(),(),()->(n)")
    rows = ranges(np.zeros(5, "int64"), lengths[:, 0] - 1, np.ones(1, "int64"))
    f = pytensor.function([x], rows, mode="FRAZIL")
    np.testing.assert_array_equal(f(VALUE), np.tile(np.arange(3), (5, 1)))
    translated, _ = from_pytensor(rows)
    assert "Scan" not in fz.dprint(translated, file="str")
