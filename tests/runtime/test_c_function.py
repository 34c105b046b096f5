"""Functions that C code calls: by address, with a context, without Python's lock."""

import ctypes
import gc
import threading

import numpy as np
import pytest

import frazil as fz
import frazil.tensor as ft
from frazil.tensor import assert_

POINTERS = ctypes.POINTER(ctypes.c_void_p)
KIND = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, POINTERS, POINTERS)


def call(made, inputs, outputs):
    """The status of a call; ctypes gives Python's lock away meanwhile."""
    addresses = [
        (ctypes.c_void_p * max(len(arrays), 1))(*(one.ctypes.data for one in arrays))
        for arrays in (inputs, outputs)
    ]
    return KIND(made.address)(made.context, *addresses)


def computed(f, *values):
    """What the function computes when it is called by its address."""
    made = f.address(*values)
    assert made.input_shapes == [list(np.shape(value)) for value in values]
    kinds = [out.dtype for out in f.fgraph.outputs]
    outputs = [np.empty(n, k) for n, k in zip(made.output_shapes, kinds, strict=True)]
    assert call(made, [np.ascontiguousarray(value) for value in values], outputs) == 0
    return outputs


x, m, k = ft.dvector("x"), ft.dmatrix("m"), ft.lscalar("k")
SHARED = fz.shared(np.arange(3.0))
GRAPHS = {
    "many": ([x, m, k], [ft.exp(x).sum() * k, m @ x, m > 0]),
    "in another order": ([m], [m.T, m.T + 1, m[::-1], m]),
    "constant": ([], [ft.constant(np.arange(3.0))]),
    "shared": ([x], [x * SHARED, SHARED]),
    "factor": ([m], [ft.linalg.cholesky(m @ m.T + ft.eye(2))]),
    "loop": ([x], fz.scan(lambda e, s: s + e, x, ft.zeros(()), return_updates=False)),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_results_are_those_of_a_call(name):
    inputs, outputs = GRAPHS[name]
    f = fz.function(inputs, outputs if isinstance(outputs, list) else [outputs])
    values = {x: np.array([0.5, 1.0, -2.0]), m: np.array([[1.0, 2.0, -3.0], [4.0, 5.0, 6.0]])}
    given = [values.get(one, np.int64(3)) for one in inputs]
    for own, wanted in zip(computed(f, *given), f(*given), strict=True):
        np.testing.assert_array_equal(own, wanted)


def test_it_lives_as_long_as_what_is_given():
    made = fz.function([x], x * SHARED).address(np.ones(3))
    SHARED.set_value(np.ones(3))  # that of the moment before is kept
    gc.collect()
    out = np.empty(3)
    assert call(made, [np.full(3, 2.0)], [out]) == 0
    assert out.tolist() == [0.0, 2.0, 4.0]
    SHARED.set_value(np.arange(3.0))


def test_errors_are_statuses():
    f = fz.function([x, k], x[k])
    made, out = f.address(np.ones(3), 0), np.empty(())
    assert [call(made, [np.arange(3.0), np.array(at)], [out]) for at in (2, 3, -3)] == [0, 1, 0]
    checked = fz.function([x], assert_(x, (x > 0).all()))
    assert call(checked.address(np.ones(1)), [np.array([-1.0])], [np.empty(1)]) == 1


def test_many_threads_call_at_once():
    made = fz.function([x], [ft.exp(x).cumsum(), (x * 2).sum()]).address(np.ones(500))
    values = [np.full(500, at / 50) for at in range(40)]
    outputs = [[np.empty(500), np.empty(())] for _ in values]
    failed = []

    def work(share):
        for value, own in list(zip(values, outputs, strict=True))[share::4]:
            failed.extend([1] * call(made, [value], own))

    threads = [threading.Thread(target=work, args=(share,)) for share in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    for value, (sums, twice) in zip(values, outputs, strict=True):
        np.testing.assert_allclose(sums, np.exp(value).cumsum(), rtol=1e-12)
        np.testing.assert_allclose(twice, value.sum() * 2, rtol=1e-12)


def test_what_c_cannot_call_is_refused():
    total = fz.shared(0.0)
    with pytest.raises(TypeError, match="updates shared variables"):
        fz.function([x], x, updates={total: total + 1}).address(np.ones(1))
    with pytest.raises(TypeError, match="mutable"):
        fz.function([fz.In(x, mutable=True)], x + 1).address(np.ones(1))
    with pytest.raises(TypeError, match="depend on the values"):
        fz.function([x], x[x > 0]).address(np.ones(1))
    with pytest.raises(TypeError):
        fz.function([x], x).address()
    with pytest.raises(ValueError, match="length"):
        fz.function([x, m], m + x).address(np.ones(2), np.ones((2, 3)))
