"""Functions that functions capture and call."""

import functools

import numpy as np
from capture_cases import X, case, seen, text

import frazil as fz


@case(bind="bound", error="same")
def helper_is_rebound(jit):
    def helper(x):
        return x * 2

    f = jit(lambda x: helper(x))
    found = [seen(f, X)]

    def helper(x):  # noqa: F811
        return x * 3

    return [*found, seen(f, X), seen(f, X)]


@case(bind="bound", error="same")
def code_is_swapped(jit):
    def helper(x):
        return x * 2

    def other(x):
        return x * 3

    f = jit(lambda x: helper(x))
    found = [seen(f, X)]
    helper.__code__ = other.__code__
    return [*found, seen(f, X), seen(f, X)]


@case(bind="bound", error="same")
def own_code_is_swapped(jit):
    def f(x):
        return x * 2

    compiled = jit(f)
    found = [seen(compiled, X)]
    f.__code__ = (lambda x: x * 3).__code__
    return [*found, seen(compiled, X), seen(compiled, X)]


@case(bind="bound", error="same")
def defaults_are_swapped(jit):
    def helper(x, c=2):
        return x * c

    f = jit(lambda x: helper(x))
    found = [seen(f, X)]
    helper.__defaults__ = (3,)
    return [*found, seen(f, X), seen(f, X)]


@case(bind="bound", error="same")
def keyword_defaults_are_swapped(jit):
    def helper(x, *, c=2):
        return x * c

    f = jit(lambda x: helper(x))
    found = [seen(f, X)]
    helper.__kwdefaults__ = {"c": 3}
    return [*found, seen(f, X), seen(f, X)]


@case(bind="raises", error="raises", cached=False)
def default_that_grows(jit):
    def f(x, held=[]):  # noqa: B006
        held.append(1)
        return x * len(held)

    f = jit(f)
    return [seen(f, X), seen(f, X), seen(f, X)]


@case(bind="bound", error="raises")
def attribute_of_a_function(jit):
    def helper():
        return helper.count

    helper.count = 1
    f = jit(lambda: helper())
    found = [seen(f)]
    helper.count = 2
    return [*found, seen(f), seen(f)]


@case(bind="bound", error="raises")
def helper_with_a_closure(jit):
    c = 2

    def helper(x):
        return x * c

    f = jit(lambda x: helper(x))
    found = [seen(f, X)]
    c = 3
    return [*found, seen(f, X), seen(f, X)]


@case(bind="same", error="raises")
def functions_in_a_dict(jit):
    table = {"a": lambda x: x * 2, "b": lambda x: x * 3}
    f = jit(lambda name, x: table[name](x))
    return [seen(f, "a", X), seen(f, "b", X), seen(f, "a", X)]


@case(bind="bound", error="raises")
def function_in_a_dict_is_replaced(jit):
    table = {"a": lambda x: x * 2}
    f = jit(lambda x: table["a"](x))
    found = [seen(f, X)]
    table["a"] = lambda x: x * 3
    return [*found, seen(f, X), seen(f, X)]


@case(bind="same", error="raises")
def captured_partial(jit):
    helper = functools.partial(np.multiply, 3.0)
    f = jit(lambda x: helper(x))
    return [seen(f, X), seen(f, X + 1)]


@case(bind="bound", error="same")
def partial_over_a_list(jit):
    held = [1]
    f = jit(functools.partial(lambda items, x: x * len(items), held))
    found = [seen(f, X)]
    held.append(2)
    return [*found, seen(f, X), seen(f, X)]


@case(bind="bound", error="raises")
def decorated(jit):
    c = 2

    def decorate(fn):
        @functools.wraps(fn)
        def wrapper(*args):
            return fn(*args) * c

        return wrapper

    @decorate
    def helper(x):
        return x + 1

    f = jit(lambda x: helper(x))
    found = [seen(f, X)]
    c = 3
    return [*found, seen(f, X), seen(f, X)]


@case(bind="raises", error="raises", cached=False)
def memoized(jit):
    @functools.lru_cache
    def helper(n):
        return n + 1

    f = jit(lambda x: x * helper(2))
    return [seen(f, X), seen(f, X), helper.cache_info().hits > 0, seen(f, X)]


@case(cached=None)
def generator(jit):
    def f(x):
        yield x * 2
        yield x * 3

    f = jit(f)
    return [text(list(f(X))), text(list(f(X)))]


@case(cached=True)
def generator_within(jit):
    def f(x):
        def parts():
            yield x * 2
            yield x * 3

        return sum(parts())

    f = jit(f)
    return [seen(f, X), seen(f, X + 1)]


@case(cached=True, bind="bound", error="raises")
def comprehension(jit):
    scales = [1, 2]
    f = jit(lambda x: [x * s for s in scales])
    found = [seen(f, X)]
    scales.append(3)
    return [*found, seen(f, X), seen(f, X)]


@case(cached=True)
def recursion(jit):
    def power(x, n):
        return x if n == 1 else x * power(x, n - 1)

    f = jit(lambda x, n: power(x, n))
    return [seen(f, X, 3), seen(f, X, 4), seen(f, X, 3)]


@case(cached=False)
def function_that_is_returned(jit):
    def f(x):
        doubled = x * 2
        return lambda: doubled

    f = jit(f)
    return [text(f(X)()), text(f(X + 1)()), text(f(X)())]


@case(cached=True, bind="bound", error="raises")
def function_as_an_argument(jit):
    c = 2

    def helper(x):
        return x * c

    f = jit(lambda fn, x: fn(x))
    found = [seen(f, np.exp, X * 0), seen(f, helper, X)]
    c = 3
    return [*found, seen(f, helper, X), seen(f, helper, X)]


@case(cached=True)
def star_arguments(jit):
    f = jit(lambda *args, **kwargs: (args[0] * len(args), sorted(kwargs)))
    return [seen(f, X), seen(f, X, 1), seen(functools.partial(f, k=1), X), seen(f, X)]


@case(cached=True, bind="bound", error="raises")
def compiled_function_within(jit):
    c = 2
    inner = fz.jit(lambda x: x * c)
    f = jit(lambda x: inner(x) + 1)
    found = [seen(f, X)]
    c = 3
    return [*found, seen(f, X), seen(f, X)]


@case(cached=True)
def class_that_is_made_within(jit):
    def f(x):
        class Local:
            def go(self):
                return x * 2

        return Local().go()

    f = jit(f)
    return [seen(f, X), seen(f, X + 1)]


@case(cached=True)
def exception_within(jit):
    def f(x, n):
        try:
            if n == 0:
                raise KeyError("n")
        except KeyError:
            return x
        else:
            return x * n

    f = jit(f)
    return [seen(f, X, 0), seen(f, X, 2), seen(f, X, 0)]


@case(cached=None)
def exception_that_leaves(jit):
    def f(x, n):
        raise ValueError(n)

    f = jit(f)
    return [seen(f, X, 0), seen(f, X, 0)]
