"""Arrays that functions capture, which are operands of traced ones, or read plainly, or both."""

import warnings

import numpy as np
from capture_cases import Box, X, case, seen


def arrays_of(*others, bind="bound", error="raises", cached=True):
    """A program whose function takes a captured array, which others take the place of."""

    def register(function):
        def program(jit):
            w = np.array([1.0, 3.0])

            def f(x):
                return function(x, w)

            f = jit(f)
            found = [seen(f, X), seen(f, X)]
            for w in others:  # noqa: B007
                found += [seen(f, X), seen(f, X)]
            return found

        program.__name__, program.__module__ = function.__name__, function.__module__
        return case(bind, error, cached)(program)

    return register


@case(bind="bound", error="raises")
def operand_that_plain_numpy_reads_too(jit):
    w = np.array([1.0, 1.0])
    f = jit(lambda x: (x + w) * float(w.sum()))
    found = [seen(f, X)]
    w = np.array([2.0, 5.0])
    found += [seen(f, X), seen(f, X)]
    w[0] = 9.0
    return [*found, seen(f, X)]


@case(bind="bound", error="raises")
def operand_in_an_attribute_that_is_read_too(jit):
    box = Box(np.array([1.0, 1.0]))
    f = jit(lambda x: (x + box.value) * float(box.value[0]))
    found = [seen(f, X), seen(f, X)]
    box.value = np.array([2.0, 5.0])
    return [*found, seen(f, X), seen(f, X)]


@case(bind="bound", error="raises")
def operand_in_a_list_that_is_read_too(jit):
    held = [np.array([1.0, 1.0])]
    f = jit(lambda x: (x + held[0]) * float(held[0][0]))
    found = [seen(f, X), seen(f, X)]
    held[0] = np.array([2.0, 5.0])
    return [*found, seen(f, X), seen(f, X)]


@arrays_of(np.array([2.0, 5.0]), np.array([2.0, 6.0]), np.array([1.0, 3.0]))
def operand_of_a_helper(x, w):
    return (x + w) * w.max()


@arrays_of(np.ones((3, 2)), np.ones((4, 2)), np.ones((1, 2)), np.ones(1))
def shape_of_an_operand(x, w):
    return (x + w) * w.shape[0]


@arrays_of(np.ones((2, 3)), np.ones((2, 4)), np.ones((2, 5)))
def length_of_a_product(x, w):
    return (x @ w) * len(x @ w) if w.ndim > 1 else x


@arrays_of(np.array([3.0, 3.0]))
def operand_that_is_returned(x, w):
    return x + w, w


@arrays_of(np.array([4.0, 3.0]), np.array([5.0, 3.0]))
def operand_in_a_loop(x, w):
    for _ in range(3):
        x = x * w + 1
    return x


@case(bind="bound", error="raises")
def operand_of_helpers_of_which_one_is_plain(jit):
    w = np.array([1.0, 1.0])

    def times(a):
        return a * w

    f = jit(lambda x: times(x) + times(np.ones(2)))
    found = [seen(f, X), seen(f, X)]
    w = np.array([4.0, 3.0])
    return [*found, seen(f, X), seen(f, X)]


@case(bind="bound", error="raises")
def two_variables_of_one_operand(jit):
    u = w = np.array([1.0, 1.0])
    f = jit(lambda x: (x + w) * u)
    found = [seen(f, X), seen(f, X)]
    u = np.array([4.0, 3.0])
    found.append(seen(f, X))
    w = np.array([9.0, 9.0])
    return [*found, seen(f, X)]


@case(bind="bound", error="raises")
def flags_of_arrays(jit):
    a, b = np.ones(2), np.ones(2)
    f = jit(lambda x: (x + b) * (2 if a.flags.writeable else 3) * (5 if b.flags.writeable else 7))
    found = [seen(f, X), seen(f, X)]
    a.setflags(write=False)
    found.append(seen(f, X))
    b.setflags(write=False)
    return [*found, seen(f, X)]


@case(bind="bound", error="raises")
def dtype_that_changes_in_place(jit):
    w = np.arange(2.0)
    f = jit(lambda x: x * float(w[1]))
    found = [seen(f, X), seen(f, X)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        w.dtype = np.int64
    return [*found, seen(f, X)]


@case(bind="bound", error="raises")
def order_of_the_elements(jit):
    w = np.arange(4.0).reshape(2, 2)
    f = jit(lambda x: (x + w) * (2 if w.flags.c_contiguous else 3))
    found = [seen(f, X), seen(f, X)]
    w = w.copy(order="F")
    return [*found, seen(f, X)]


@case(bind="raises", error="raises", cached=False)
def operand_that_is_written_and_restored(jit):
    w = np.array([1.0, 1.0])

    def fn(x):
        w[0] = 7.0
        made = x * w
        w[0] = 1.0
        return made

    f = jit(fn)
    return [seen(f, X), seen(f, X), w.tolist()]


@case(bind="raises", error="raises", cached=False)
def operand_that_is_written_afterwards(jit):
    w = np.array([1.0, 1.0])

    def fn(x):
        made = x * w
        w[0] += 6.0
        return made

    f = jit(fn)
    return [seen(f, X), seen(f, X), w.tolist()]


@case(bind="raises", error="raises", cached=False)
def part_that_is_set_to_what_is_traced(jit):
    w = np.array([1.0, 1.0])

    def fn(x):
        w[0] = x[1]
        return x * 2

    f = jit(fn)
    return [seen(f, X), w.tolist(), seen(f, X + 1), w.tolist()]


@case(bind="raises", error="raises", cached=False)
def part_that_is_increased_by_what_is_traced(jit):
    w = np.array([1.0, 1.0])

    def fn(x):
        w[:] += x
        return x * 2

    f = jit(fn)
    return [seen(f, X), w.tolist(), seen(f, X + 1), w.tolist()]


@case(bind="raises", error="raises", cached=False)
def nonlocal_array_that_is_increased(jit):
    w = np.array([1.0, 1.0])

    def fn(x):
        nonlocal w
        w += x
        return w * 1

    f = jit(fn)
    return [seen(f, X), seen(f, X), w.tolist()]


@case(bind="raises", error="raises", cached=False)
def argument_that_overlaps_a_captured_array(jit):
    w = np.array([1.0, 1.0, 1.0])

    def fn(x):
        made = x * 2
        w[0] += 6.0
        return made, x * 3

    f = jit(fn)
    return [seen(f, w[:2]), w.tolist(), seen(f, X), seen(f, w[1:])]


@arrays_of(np.array([4.0, 2.0]), np.array([4.0, 3.0]))
def shape_in_an_array(x, w):
    return np.broadcast_to(x, w.astype(int)), x.reshape(np.array([2, 1]))


@case(bind="bound", error="raises")
def shape_in_a_captured_array(jit):
    w = np.array([3, 2])
    f = jit(lambda x: (np.broadcast_to(x, w), np.tile(x, w)))
    found = [seen(f, X), seen(f, X)]
    w[0] = 4
    found.append(seen(f, X))
    w = np.array([2, 2])
    return [*found, seen(f, X)]


@case(bind="bound", error="raises")
def indices_and_masks(jit):
    at, mask = np.array([1, 0]), np.array([True, False])
    f = jit(lambda x: (x[at], x[mask] * 2, np.repeat(x, at + 1), np.where(mask, x, -x)))
    found = [seen(f, X), seen(f, X)]
    at, mask = np.array([1, 1]), np.array([True, True])
    found.append(seen(f, X))
    at[0], mask[0] = 0, False
    return [*found, seen(f, X)]
