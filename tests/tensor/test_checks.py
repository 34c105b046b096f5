"""What stops a run, what it prints, and what is declared about lengths."""

import cloudpickle
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import frazil as fz
import frazil.tensor as ft
from frazil.tensor import assert_
from frazil.testing import verify_grad

MODES = ["py", "c", "cranelift", "numba"]


@pytest.mark.parametrize("mode", [*MODES, "debug"])
def test_conditions_stop_a_run(mode):
    x, n = ft.vector("x"), ft.lscalar("n")
    asserted = assert_(x, x >= 0, x.shape[0] > 1, ft.neq(n, 3), msg="no {a} good")
    f = fz.function([x, n], ft.sqrt(asserted), mode=mode)
    assert_array_equal(f([4.0, 9.0], 1), [2.0, 3.0])
    for bad in (([4.0, -1.0], 1), ([4.0], 1), ([4.0, 9.0], 3)):
        with pytest.raises(AssertionError, match=r"no \{a\} good") as caught:
            f(*bad)
        if mode != "py":
            assert "test_checks.py" in str(caught.value)
    g = fz.function([x], ft.check_parameters(x.sum(), x > 0, msg="x > 0"), mode=mode)
    with pytest.raises(ValueError, match="x > 0"):
        g([0.0])
    assert g([1.0]) == 1


def test_conditions_survive_rewriting_and_are_left_out_by_mode():
    x = ft.vector("x")
    checked = assert_(x, x > 0)
    outputs = [checked * 0 + 1, ft.exp(ft.log(checked)), fz.grad(checked.prod(), x)]
    for output in outputs:
        with pytest.raises(AssertionError):
            fz.function([x], output)([-1.0])
    mode = fz.Mode().excluding("checks")
    careless = fz.function([x], outputs, mode=mode)
    assert_array_equal(careless([2.0])[2], [1.0])
    assert_array_equal(careless([-1.0])[0], [1.0])
    with pytest.raises(ValueError, match="checks"):
        fz.Mode().excluding("check")


def test_conditions_in_a_scan_and_in_a_pickle():
    x = ft.vector("x")

    def step(one, total):
        return assert_(total + one, one > 0, msg="not positive")

    f = fz.function([x], fz.reduce(step, x, ft.constant(0.0), return_updates=False))
    assert f([1.0, 2.0]) == 3
    with pytest.raises(AssertionError, match="not positive"):
        cloudpickle.loads(cloudpickle.dumps(f))([1.0, -2.0])


def test_constant_conditions_are_checked_at_once():
    x = ft.vector("x")
    assert assert_(x, True, [1, 2]) is x
    with pytest.raises(AssertionError, match="why"):
        assert_(x, [1, 0], msg="why")
    with pytest.raises(ValueError, match="why"):
        ft.check_parameters(x, False, msg="why")
    with pytest.raises(TypeError, match="bool without dimensions"):
        ft.Check("")(x, x > 0)


def test_the_gradient_is_that_of_what_is_checked():
    verify_grad(lambda x: assert_(x**2, x > 0), [np.array([1.0, 2.0])])


def test_print_runs_as_often_as_it_is_written(capsys):
    x = ft.vector("x")
    shown = [ft.Print("x", ("__str__", "shape", "max"))(x) for _ in range(2)]
    f = fz.function([x], [shown[0] * 2, shown[1] * 3])
    f([1.0, 2.0])
    lines = ["x __str__ = [1. 2.]", "x shape = (2,)", "x max = 2.0"]
    assert capsys.readouterr().out.splitlines() == lines * 2
    verify_grad(lambda x: ft.Print()(x) * 2, [np.ones(2)])


@pytest.mark.parametrize("mode", MODES)
def test_specified_shapes_are_known_and_checked(mode):
    x, n, shape = ft.matrix("x"), ft.lscalar("n"), ft.lvector("shape")
    assert ft.specify_shape(x, (None, 3)).type.shape == (None, 3)
    assert ft.specify_shape(x, (None, None)) is x
    assert ft.specify_shape(x, x.shape) is x
    assert ft.specify_shape(ft.vector("v"), None).type.shape == (None,)
    f = fz.function([x, n], ft.specify_shape(x, (2, n)), mode=mode)
    assert f(np.ones((2, 4)), 4).shape == (2, 4)
    for bad in ((np.ones((3, 4)), 4), (np.ones((1, 4)), 4), (np.ones((2, 1)), 4)):
        with pytest.raises(ValueError, match="broadcast"):
            f(*bad)
    one = fz.function([n], ft.specify_shape(ft.ones((2, 1)), (None, n)), mode=mode)
    assert one(1).shape == (2, 1)
    with pytest.raises(ValueError, match="specify_shape"):
        one(2)
    g = fz.function([x, shape], ft.specify_shape(x, ft.specify_shape(shape, (2,))), mode=mode)
    assert g(np.ones((2, 3)), [2, 3]).shape == (2, 3)
    with pytest.raises(ValueError, match=r"length 1 along axis 1"):
        ft.specify_shape(ft.ones((2, 1)), (2, 2))
    with pytest.raises(ValueError, match="needs a length for each dimension"):
        ft.specify_shape(x, (2,))


@pytest.mark.parametrize("mode", MODES)
def test_a_declared_dimension_repeats(mode):
    x, n = ft.matrix("x"), ft.lscalar("n")
    for axis in (0, -1):
        f = fz.function([x, n], ft.broadcastable_at_run_time(x, axis, n), mode=mode)
        for own, wanted in ((1, 3), (3, 3), (1, 1), (1, 0), (0, 0)):
            shape = [2, 2]
            shape[axis] = own
            value = np.random.default_rng(own).normal(size=shape)
            shape[axis] = wanted
            assert_array_equal(f(value, wanted), np.broadcast_to(value, shape))
        for own, wanted in ((2, 3), (0, 1), (3, 1)):
            shape = [2, 2]
            shape[axis] = own
            with pytest.raises(ValueError, match="neither 1 nor"):
                f(np.ones(shape), wanted)


def test_the_gradient_of_a_declared_dimension():
    for value in (np.array([[2.0, 3.0]]), np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])):
        weights = np.arange(6.0).reshape(3, 2)
        verify_grad(lambda x, w=weights: ft.broadcastable_at_run_time(x, 0, 3) * w, [value])
    assert ft.broadcastable_at_run_time(ft.row(), 0, 3).type.shape == (3, None)


def test_vectors_as_shapes():
    n, m = ft.scalars("n", "m", dtype="int64")
    v = ft.stack([n, 2])
    for made in (ft.zeros(v), ft.full(v, 7), ft.broadcast_to(1.0, v), ft.alloc(1.0, v)):
        assert made.type.shape == (None, 2)
        assert made.owner.inputs[-2] is n
    assert ft.empty(np.array([2, 3])).type.shape == (2, 3)
    assert ft.ones(ft.constant([2, 3], "int8")).type.shape == (2, 3)
    given = ft.tensor("given", dtype="int32", shape=(2,))
    f = fz.function([given, m], [ft.zeros(given), ft.ones(given + m)])
    assert [y.shape for y in f(np.array([2, 3], "int32"), 1)] == [(2, 3), (3, 4)]
    with pytest.raises(TypeError, match="specify_shape"):
        ft.zeros(ft.lvector("shape"))
    with pytest.raises(TypeError, match="one dimension"):
        ft.zeros(ft.lmatrix("shape"))


RESHAPES = {
    mode: fz.function(
        [x := ft.vector("x"), v := ft.lvector("v")], ft.reshape(x, v, ndim=2), mode=mode
    )
    for mode in MODES
}


@settings(max_examples=40)
@given(st.integers(0, 12), st.lists(st.integers(-2, 6), min_size=1, max_size=3))
def test_reshape_by_a_vector_is_numpys(size, shape):
    value = np.arange(float(size))
    try:
        expected = value.reshape(shape) if len(shape) == 2 else None
    except ValueError:
        expected = None
    ambiguous = size == 0 and 0 in shape and -1 in shape
    for f in RESHAPES.values():
        if expected is not None:
            assert_array_equal(f(value, shape), expected)
        elif not ambiguous:
            with pytest.raises(ValueError, match=r"reshape|negative|broadcast"):
                f(value, shape)
