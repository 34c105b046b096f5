"""Names and small values that functions capture."""

import re

import numpy as np
from capture_cases import X, case, changes_of, seen, text

g_number = 5
g_list = []

# ---------------------------------------------------------------- numbers, lists and closures


@case(bind="bound", error="raises")
def global_number(jit):
    global g_number
    g_number = 5

    def f():
        return g_number

    f = jit(f)
    found = [seen(f)]
    g_number = 6
    found.append(seen(f))
    g_number = 5
    return [*found, seen(f), seen(f)]


@case()
def closure_over_an_argument(jit):
    def f(x):
        def inner(y):
            return x * y

        return inner(2.0)

    f = jit(f)
    return [seen(f, X), seen(f, X + 1)]


@case(cached=None)
def deleted_nonlocal(jit):
    def f():
        a = 1

        def inner():
            nonlocal a
            del a

        inner()
        return a

    f = jit(f)
    return [seen(f), seen(f)]


@case(bind="raises", error="raises", cached=False)
def nonlocal_list_that_grows(jit):
    lst = None

    def inner():
        nonlocal lst
        lst = lst or []
        lst.append("#")
        return lst

    inner = jit(inner)
    return [seen(inner), seen(inner), seen(inner)]


@case()
def nonlocal_list_within(jit):
    def outer():
        lst = None

        def inner():
            nonlocal lst
            lst = lst or []
            lst.append("#")
            return lst

        inner()
        return inner()

    outer = jit(outer)
    first = outer()
    first.append("mine")
    return [text(first), seen(outer), seen(outer)]


@case(bind="raises", error="raises", cached=False)
def helper_that_aliases_a_global_list(jit):
    global g_list
    g_list = []

    def make():
        alias = g_list

        def helper():
            alias.append(len(alias))
            return alias

        return helper

    helper = make()

    def f():
        return helper()

    f = jit(f)
    return [f() is g_list, seen(f), f() is g_list, text(g_list)]


# ---------------------------------------------------------------- scalars, by type and bits


@changes_of([5, 6, 5.0, True])
def number_of_other_type(x, c):
    return x * c, c


@changes_of([1, True])
def one_and_true(x, c):
    return c


@changes_of([0.0, -0.0])
def signed_zero(x, c):
    return np.copysign(1.0, c), c


@changes_of([float("nan"), 1.0, float("inf")])
def not_a_number(x, c):
    return x + c


@changes_of([None, 1.0])
def none_and_number(x, c):
    return x if c is None else x + c


@changes_of(["a", "b", ""])
def captured_text(x, c):
    return c + "!" if c else x


@changes_of([b"a", "a"])
def bytes_and_text(x, c):
    return c


@changes_of([2j, 1 + 2j])
def complex_number(x, c):
    return c * 2


@changes_of([10**30, 10**30 + 1])
def large_int(x, c):
    return c % 7


@changes_of([(1, 2), (1, 2.0), (2, 1), (1, (2, -0.0))])
def captured_tuple(x, c):
    return c[0], c[1], c


@changes_of([np.float32(2.0), np.float64(2.5), np.int64(2)])
def numpy_number(x, c):
    return x * c


@changes_of([np.dtype("float32"), np.dtype("int64")])
def captured_dtype(x, c):
    return x.astype(c)


@changes_of([slice(0, 1), slice(1, 2)])
def captured_slice(x, c):
    return x[c]


@changes_of([range(2), range(3)])
def captured_range(x, c):
    return list(c)


@changes_of([..., None])
def ellipsis(x, c):
    return c is ...


@changes_of([frozenset({1, 2}), frozenset({1})])
def captured_frozenset(x, c):
    return sorted(c)


@changes_of([re.compile("a"), re.compile("b")])
def captured_pattern(x, c):
    return bool(c.match("a"))


# ---------------------------------------------------------------- names that come and go


@case(cached=None, error="raises", bind="bound")
def name_that_goes_and_comes(jit):
    scope = {"c": 1}
    exec("def f(): return c + 1", scope)
    f = jit(scope["f"])
    found = [seen(f)]
    del scope["c"]
    found.append(seen(f))
    scope["c"] = 5
    return [*found, seen(f)]


@case(cached=True, bind="bound", error="same")
def builtin_that_is_shadowed(jit):
    scope = {}
    exec("def f(x): return len(x)", scope)
    f = jit(scope["f"])
    found = [seen(f, "abc")]
    scope["len"] = lambda x: -1
    found.append(seen(f, "abc"))
    del scope["len"]
    return [*found, seen(f, "abc")]


@case(cached=None)
def empty_cell(jit):
    def outer():
        def f():
            return later

        compiled = jit(f)
        found = [seen(compiled)]
        later = 3
        return [*found, later]

    return outer()


@case(bind="raises", error="raises", cached=False)
def global_store(jit):
    global g_number
    g_number = 1

    def f():
        global g_number
        g_number += 1
        return g_number

    f = jit(f)
    return [seen(f), seen(f), seen(f), g_number]


@case(bind="raises", error="raises", cached=False)
def global_delete(jit):
    scope = {"c": 1}
    exec("def f():\n    global c\n    del c\n    return 1", scope)
    f = jit(scope["f"])
    return [seen(f), seen(f)]


@case(bind="raises", error="raises", cached=False)
def nonlocal_counter(jit):
    count = 0

    def f(x):
        nonlocal count
        count += 1
        return x * count

    f = jit(f)
    return [seen(f, X), seen(f, X), seen(f, X), count]


@case(bind="raises", error="raises", cached=True)
def computed_once(jit):
    cached = None

    def f(x):
        nonlocal cached
        if cached is None:
            cached = 3.0
        return x * cached

    f = jit(f)
    return [seen(f, X), seen(f, X), seen(f, X), cached]
