"""Arrays of the Array API: lazy, and the same as NumPy's."""

import copy
import pickle
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import frazil.array_api as xp
from frazil.array_api.evaluation import DEEPEST, _compiled

DTYPES = ("bool", "int8", "int64", "uint8", "uint64", "float32", "float64")
COMPLEX = ("complex64", "complex128")
SHAPES = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3)


def same(found, expected):
    assert isinstance(found, xp.Array)
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-5)


@given(st.data())
@settings(max_examples=12)
def test_programs_give_what_numpy_gives(data):
    dtype = data.draw(st.sampled_from(DTYPES[1:]))
    shape = data.draw(SHAPES)
    elements = st.integers(0, 9)
    a = data.draw(hnp.arrays(dtype, shape, elements=elements))
    b = data.draw(hnp.arrays(dtype, shape[1:], elements=elements))

    def program(xp, a, b):
        total = xp.sum(a * b, axis=0) if a.ndim else a * b
        return xp.where(total > 10, total, xp.square(total)), xp.expand_dims(total, axis=-1) * 2

    with xp.compiled_by(data.draw(st.sampled_from(["py", "cranelift"]))):
        results = program(xp, xp.asarray(a), xp.asarray(b))
        for found, expected in zip(results, program(np, a, b), strict=True):
            same(found, np.asarray(expected))


@given(st.data())
@settings(max_examples=12)
def test_elements_are_read_and_written_as_numpy_does(data):
    shape = data.draw(hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=4))
    index = data.draw(hnp.basic_indices(shape, allow_newaxis=False))
    expected = np.arange(float(np.prod(shape))).reshape(shape)
    x = xp.asarray(expected)
    same(x[index], np.asarray(expected[index]))
    x[index] = -1.0
    expected[index] = -1.0
    same(x, expected)


def test_masks_select_and_are_written_to():
    x = xp.asarray([[1, -2], [3, -4]])
    assert x[x > 0].shape == (2,)
    x[x < 0] = 0
    same(x, np.asarray([[1, 0], [3, 0]]))


@pytest.mark.parametrize("mask", [True, False])
@pytest.mark.parametrize("value", [3.0, [1.0, 2.0]])
def test_one_truth_value_selects_all_or_nothing(mask, value):
    for index in (mask, xp.asarray(mask)):
        x, expected = xp.asarray(value), np.asarray(value)
        same(x[index], expected[np.asarray(mask)])
        x[index] = 0.0
        expected[np.asarray(mask)] = 0.0
        same(x, expected)


def test_a_chain_of_calls_is_one_function():
    def chain(x):
        return xp.sum(xp.exp(x) * 2 + x) / 3

    float(chain(xp.asarray([1.0, 2.0, 2.5])))
    before = _compiled.cache_info()
    assert float(chain(xp.asarray([0.0, 0.0, 0.0]))) == 2.0
    after = _compiled.cache_info()
    assert (after.misses, after.hits) == (before.misses, before.hits + 1)


def test_a_value_is_computed_once():
    x = xp.exp(xp.asarray([1.0, 2.0]))
    repr(x)
    before = _compiled.cache_info()
    assert float(x[0]) == np.asarray(x)[0]
    repr(x)
    assert _compiled.cache_info().misses <= before.misses + 1


def test_loops_that_never_look_do_not_pile_up():
    x = xp.asarray(0.0)
    for _ in range(3 * DEEPEST):
        x = x + 1
    assert float(x) == 3 * DEEPEST


def test_an_array_is_never_changed_by_another():
    source = np.asarray([1.0, 2.0])
    x = xp.asarray(source)
    y = xp.asarray(x, copy=True)
    source[0] = 5.0
    y[1] = 7.0
    lent = np.from_dlpack(x)
    lent[...] = 9.0
    same(x, np.asarray([1.0, 2.0]))
    same(y, np.asarray([1.0, 7.0]))
    with pytest.raises(ValueError, match="read-only"):
        np.asarray(x)[0] = 3.0


def test_elements_are_lent_for_reading_alone():
    x = xp.asarray([1.0, 2.0]) * 3
    lent = np.from_dlpack(x, copy=False)
    assert np.shares_memory(lent, np.asarray(x))
    with pytest.raises(ValueError, match="read-only"):
        lent[0] = 9.0
    own = np.from_dlpack(x)
    own[0] = 9.0
    same(x, np.asarray([3.0, 6.0]))
    for version in (None, (0, 8)):
        with pytest.raises(BufferError, match=r"since version 1\.0"):
            x.__dlpack__(copy=False, max_version=version)


def test_arrays_of_this_namespace_pass_by_dlpack():
    x = xp.asarray([1.0, 2.0])
    assert xp.from_dlpack(x, copy=False) is x
    y = xp.from_dlpack(x, copy=True)
    y[0] = 5.0
    same(x, np.asarray([1.0, 2.0]))
    with pytest.raises(ValueError, match="must be copied"):
        xp.from_dlpack(np.ones(2), copy=False)


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))]
)
def test_copies_are_arrays_of_their_own(copied):
    x = xp.asarray([[1, 2], [3, 4]], dtype=xp.int8) * 2
    y = copied(x)
    y[0, 0] = 0
    same(x, np.asarray([[2, 4], [6, 8]], "int8"))
    same(y, np.asarray([[0, 4], [6, 8]], "int8"))


def test_threads_may_look_at_one_array():
    x = xp.sum(xp.exp(xp.linspace(0, 1, 1000)))
    found = []
    threads = [threading.Thread(target=lambda: found.append(float(x))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(found)) == 1


def test_operators_take_numbers_and_numpys_arrays_on_either_side():
    x = xp.asarray([1, 2, 4])
    for found in (2 * x, x * 2, np.asarray([2, 2, 2]) * x, np.int64(2) * x):
        same(found, np.asarray([2, 4, 8]))
    same(2**x, np.asarray([2, 4, 16]))
    same(~(x > 1), np.asarray([True, False, False]))
    with pytest.raises(TypeError, match="unsupported operand"):
        x + "a"


def test_an_array_is_a_sequence_of_its_parts():
    assert [int(part) for part in xp.asarray([3, 1])] == [3, 1]
    assert len(xp.zeros((2, 3))) == 2
    assert [10, 20][xp.asarray(1)] == 20


@pytest.mark.parametrize(
    ("wrong", "error", "says"),
    [
        (lambda: bool(xp.ones(2)), TypeError, "without dimensions; given one of shape"),
        (lambda: [1][xp.asarray(0.0)], TypeError, "must be an integer"),
        (lambda: xp.ones(2, device="gpu"), ValueError, "the only device is 'cpu'"),
        (lambda: xp.ones((2, 2, 2)).T, ValueError, "permute_dims"),
        (lambda: xp.asarray([1.0], copy=False), ValueError, "must be copied"),
        (lambda: xp.ones(3).__array_namespace__(api_version="1999.01"), ValueError, "1999.01"),
        (lambda: len(xp.asarray(1)), TypeError, "without dimensions"),
        (lambda: xp.asarray([1j]) < 1, TypeError, "no rule for complex"),
        (lambda: xp.ones(3) + xp.ones(4), ValueError, r"3.*4"),
    ],
)
def test_mistakes_are_told(wrong, error, says):
    with pytest.raises(error, match=says):
        wrong()


def test_floats_are_not_stored_in_integers():
    x = xp.asarray([1, 2])
    with pytest.raises(TypeError, match="float64 cannot be stored in an array of int64"):
        x[0] = xp.asarray(1.5)


def test_what_there_is_can_be_asked():
    info = xp.__array_namespace_info__()
    assert info.default_device() in info.devices()
    assert set(info.dtypes()) == set(DTYPES) | {"int16", "int32", "uint16", "uint32", *COMPLEX}
    assert info.dtypes(kind="real floating") == {"float32": xp.float32, "float64": xp.float64}
    assert info.default_dtypes()["integral"] == xp.int64
    with pytest.raises(ValueError, match="no kind of dtype is named 'floats'"):
        info.dtypes(kind="floats")


def test_an_array_knows_its_namespace():
    assert xp.ones(1).__array_namespace__() is xp
    assert xp.ones(1).to_device("cpu").device == "cpu"


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_quotients_of_infinities(dtype):
    inf = np.inf
    a = np.array([inf, -inf, inf, -inf, 3.0, 3.0, -3.0, inf, 7.0, -0.0], dtype)
    b = np.array([2.0, 2.0, -2.0, -0.5, inf, -inf, inf, inf, 2.0, inf], dtype)
    expected = np.array([inf, -inf, -inf, inf, 0.0, -0.0, -0.0, np.nan, 3.0, -0.0], dtype)
    x, y = xp.asarray(a), xp.asarray(b)
    z = xp.asarray(a)
    z //= y
    for found in (xp.floor_divide(x, y), x // y, z):
        same(found, expected)
        known = ~np.isnan(expected)
        signs = np.signbit(np.asarray(found))
        np.testing.assert_array_equal(signs[known], np.signbit(expected)[known])
    same(x // 2, xp.floor_divide(x, 2) * 1)
    same(xp.asarray([7, -7]) // 2, np.array([3, -4]))


@pytest.mark.parametrize("dtype", COMPLEX)
def test_expm1_of_infinities(dtype):
    inf, nan = np.inf, np.nan
    cases = [
        ((inf, 0.0), (inf, 0.0)),
        ((inf, -0.0), (inf, -0.0)),
        ((-inf, 0.0), (-1.0, 0.0)),
        ((-inf, inf), (-1.0, 0.0)),
        ((-inf, nan), (-1.0, 0.0)),
        ((inf, inf), (inf, nan)),
        ((inf, nan), (inf, nan)),
        ((nan, 0.0), (nan, 0.0)),
        ((0.0, inf), (nan, nan)),
        ((0.0, 0.0), (0.0, 0.0)),
        ((-0.0, 0.0), (0.0, 0.0)),
    ]
    given = [complex(*z) for z, _ in cases]
    found = np.asarray(xp.expm1(xp.asarray(given, dtype=getattr(xp, dtype))))
    for value, (_, (re, im)) in zip(found, cases, strict=True):
        np.testing.assert_array_equal([value.real, value.imag], [re, im])
        assert np.isnan(re) or np.signbit(value.real) == np.signbit(re)
    z = np.array([0.5 + 1j, -2 + 3j], dtype)
    same(xp.expm1(xp.asarray(z)), np.expm1(z))


def test_several_results_are_lists():
    x = xp.asarray([1.0, 2.0])
    assert type(xp.meshgrid(x, x)) is type(xp.broadcast_arrays(x, x)) is list
