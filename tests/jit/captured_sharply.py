"""Reads and writes that a list of names and values does not show at first sight."""

import builtins
import collections
import decimal
import functools
import gc
import io

import numpy as np
from capture_cases import Box, X, case, seen, text

# ---------------------------------------------------------------- attributes that are not there yet


@case(bind="bound", error="raises")
def property_that_comes_before_an_attribute(jit):
    class Held:
        pass

    held = Held()
    held.value = 2.0
    f = jit(lambda x: x * held.value)
    found = [seen(f, X), seen(f, X)]
    Held.value = property(lambda self: 7.0)
    return [*found, seen(f, X), seen(f, X)]


@case(bind="bound", error="raises")
def class_attribute_that_hides_one_of_the_metaclass(jit):
    class Kind(type):
        value = 1.0

        @property
        def shown(cls):
            return cls.value

    class Held(metaclass=Kind):
        pass

    f = jit(lambda x: x * Held.shown)
    found = [seen(f, X), seen(f, X)]
    Kind.value = 4.0
    found += [seen(f, X), seen(f, X)]
    Held.value = 6.0
    return [*found, seen(f, X), seen(f, X)]


@case(bind="bound", error="raises")
def class_attribute_that_a_metaclass_makes_up(jit):
    class Kind(type):
        def __getattr__(cls, name):
            return 2.0

    class Held(metaclass=Kind):
        pass

    f = jit(lambda x: x * Held.missing)
    found = [seen(f, X), seen(f, X)]
    Held.missing = 8.0
    return [*found, seen(f, X), seen(f, X)]


@case(bind="bound", error="raises")
def attribute_that_a_class_makes_up(jit):
    class Held:
        def __getattr__(self, name):
            return 2.0

    held = Held()
    f = jit(lambda x: x * held.missing)
    found = [seen(f, X), seen(f, X)]
    held.missing = 8.0
    found += [seen(f, X), seen(f, X)]
    del held.missing
    Held.missing = 9.0
    return [*found, seen(f, X), seen(f, X)]


@case(bind="raises", error="raises", cached=False)
def attribute_that_is_added_and_never_read(jit):
    held = Box(1.0)
    calls = []

    def f(x):
        held.extra = x * 2
        return x

    f = jit(f)
    for _ in range(3):
        held.__dict__.pop("extra", None)
        calls += [seen(f, X), text(held.extra), type(held.extra).__name__]
    return calls


@case(bind="raises", error="raises", cached=False)
def class_attribute_that_is_added(jit):
    class Held:
        pass

    def f(x):
        Held.extra = 2
        return x

    f = jit(f)
    found = []
    for _ in range(3):
        found += [seen(f, X), text(Held.extra)]
        del Held.extra
    return found


@case(bind="raises", error="raises", cached=False)
def attribute_of_the_function_itself(jit):
    def f(x):
        f.calls = getattr(f, "calls", 0) + 1
        return x * f.calls

    compiled = jit(f)
    return [seen(compiled, X) for _ in range(4)]


# ---------------------------------------------------------------- names


@case(bind="bound", error="same")
def builtins_of_its_own(jit):
    scope = {"__builtins__": {"len": lambda x: 7}}
    exec("def f(x): return x * len(x)", scope)
    f = jit(scope["f"])
    found = [seen(f, X), seen(f, X)]
    scope["__builtins__"]["len"] = lambda x: 9
    found += [seen(f, X), seen(f, X)]
    return [*found, builtins.len(X)]


# ---------------------------------------------------------------- what is one object


@case(bind="raises", error="raises", cached=None)
def arguments_that_are_one_array(jit):
    f = jit(lambda a, b: (a is b, a + b))
    other = X.copy()
    return [seen(f, X, other), seen(f, X, X), seen(f, other, X), seen(f, X, X), seen(f, X, other)]


@case(bind="raises", error="raises", cached=None)
def arguments_that_are_one_list(jit):
    f = jit(lambda a, b: a is b)
    one, other = [1], [1]
    return [seen(f, one, other), seen(f, one, one), seen(f, one, other), seen(f, one, one)]


@case(bind="raises", error="raises", cached=None)
def argument_that_is_captured(jit):
    held = X.copy()
    f = jit(lambda x: (x is held, x * 1))
    return [seen(f, X), seen(f, held), seen(f, X), seen(f, held)]


@case(cached=False)
def list_that_is_returned_twice(jit):
    def f(x):
        made = [x * 2]
        return made, made

    f = jit(f)
    return [(first is second, text(first)) for first, second in (f(X), f(X), f(X))]


def told_class(x):
    if type(x) is not np.ndarray:
        raise TypeError("no array")
    return x * 2


@case(bind="raises", error="raises", cached=False)
def class_of_an_argument(jit):
    f = jit(lambda x: told_class(x))
    return [seen(f, X), seen(f, X), seen(f, 1.0)]


@case(bind="raises", error="raises", cached=False)
def class_of_what_is_computed(jit):
    def f(x):
        y = x * 2
        return type(y).__name__, type(x + 1) is np.ndarray

    f = jit(f)
    return [seen(f, X), seen(f, X), seen(f, 1.0)]


@case(cached=True)
def class_of_something_else(jit):
    def f(x, n):
        return x * 2 if type(n) is int else x

    f = jit(f)
    return [seen(f, X, 1), seen(f, X, 1.0), seen(f, X, 1), seen(f, X, True)]


# ---------------------------------------------------------------- code of users in containers


@case(bind="raises", error="raises", cached=False)
def set_that_is_walked_by_users(jit):
    class Odd(set):
        walks = 0

        def __iter__(self):
            Odd.walks += 1
            return iter([1, 2, 3])

    odd = Odd([5])
    f = jit(lambda x: x * sum(odd))
    return [seen(f, X), seen(f, X), Odd.walks]


# ---------------------------------------------------------------- surroundings


@case(bind="raises", error="raises", cached=False)
def context_of_decimals(jit):
    f = jit(lambda x: str(decimal.Decimal(1) / decimal.Decimal(3)))
    found = [seen(f, X), seen(f, X)]
    with decimal.localcontext() as context:
        context.prec = 3
        return [*found, seen(f, X), seen(f, X)]


@case(bind="raises", error="raises", cached=False)
def settings_of_numpy(jit):
    f = jit(lambda x: x * len(np.geterr()["divide"]))
    with np.errstate(divide="warn"):
        found = [seen(f, X), seen(f, X)]
    with np.errstate(divide="raise"):
        return [*found, seen(f, X), seen(f, X)]


@case(bind="raises", error="raises", cached=False)
def text_of_an_argument(jit):
    written = io.StringIO()

    def f(x):
        print(x * 2, f"{x.shape} {x.sum():.2f}", repr(x), str(x), "%s" % x, file=written)  # noqa: UP031
        return x

    f = jit(f)
    found = [seen(f, X), seen(f, X + 1)]
    return [*found, written.getvalue()]


@case()
def text_of_a_shape(jit):
    f = jit(lambda x: f"{x.shape} {len(x)} {x.dtype}")
    return [seen(f, X), seen(f, X), seen(f, np.ones(3)), seen(f, np.ones(3))]


# ---------------------------------------------------------------- errors, and what is left behind


@case(bind="same", error="raises", cached=None)
def error_after_a_write(jit):
    held = []

    def f(x):
        held.append(x * 2)
        raise KeyError(x.sum())

    f = jit(f)
    found = []
    for _ in range(2):
        try:
            f(X)
        except KeyError as error:
            found += [text(error.args), type(error.args[0]).__name__]
    return [*found, text(held), [type(x).__name__ for x in held]]


class Slotted:
    __slots__ = ("value",)


@case(bind="raises", error="raises", cached=False)
def arrays_left_behind(jit):
    slotted, queue, made = Slotted(), collections.deque(), {}

    def f(x):
        slotted.value = (x * 2, [x + 1])
        queue.append(x - 1)
        made["partial"] = functools.partial(np.add, x)
        made["default"] = lambda y=x * 3: y
        return x

    f = jit(f)
    f(X)
    gc.collect()
    left = [*slotted.value, *queue, made["partial"].args[0], made["default"]()]
    return [(type(x).__name__, text(x)) for x in left] + [type(slotted.value[1][0]).__name__]
