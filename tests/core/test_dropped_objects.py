"""Python objects that frazil has no more use for, while the GIL is free.

PyO3 notes an object that is dropped without the GIL, under a lock that a fork may leave held, and
gives it back whenever any thread takes the GIL. No object of frazil's is given back by others.
"""

import ctypes
import gc
import threading
import weakref

import numpy as np
from native_kernel import KERNEL

import frazil as fz
import frazil.tensor as ft
from frazil._core import Function, ProgramBuilder, TensorType

VECTOR = TensorType("float64", (None,))


def kernel(body):
    """A kernel that calls ``body``; Python's own ctypes takes the GIL for it, not PyO3."""

    @KERNEL
    def loop(pointers, n_outer, n_inner, strides):
        body()
        ctypes.memmove(pointers[1], pointers[0], 8 * n_inner)
        return 0

    return loop, ctypes.cast(loop, ctypes.c_void_p).value


def test_what_a_python_function_returned_goes_when_its_thread_has_the_gil():
    seen = []
    returned = []

    def alive():
        return [array() is not None for array in returned]

    def fresh(x):
        seen.append(alive())
        made = x + 1
        returned.append(weakref.ref(made))
        return made

    def look():
        other = threading.Thread(target=lambda: ft.vector().ndim)
        other.start()
        other.join()
        seen.append(alive())

    keep, address = kernel(look)
    builder = ProgramBuilder()
    made = builder.input(VECTOR)
    for _ in range(2):
        (made,) = builder.call(fresh, [made], [VECTOR])
        for _ in range(2):
            length = builder.size_of(made, 0)
            (made,) = builder.loop(address, keep, [length], [(made, [0])], [("float64", [0], None)])
    f = Function(builder.finish([made]), [("x", VECTOR)], [], [], "single", lambda value, *_: value)
    np.testing.assert_array_equal(f(np.zeros(3)), np.full(3, 2.0))
    # The first loop reads what the call before it returned. Nobody needs it when the second one
    # runs, and it goes when Python is called next.
    assert seen == [[], [True], [True], [False], [False, True], [False, True]]
    assert alive() == [False, False]


def test_arrays_of_shared_variables_go_with_their_nodes():
    container = fz.Container()
    with container:
        cells = [fz.shared(np.full(2, float(k)), name=f"cell {k}") for k in range(6)]
        graph = fz.FunctionGraph(cells, [ft.stack(cells) * 2.0])
    left = []
    for cell in cells:
        array = cell.get_value(borrow=True)
        weakref.finalize(array, lambda: left.append(container.stats().nodes))
    del cells, cell, array
    gc.collect()
    assert not left
    del graph
    # Each went when its variable did, between two nodes, not with the others at the end.
    assert len(set(left)) == 6
    assert container.stats().nodes == 0
