"""What functions may read and write outside of them, each case as a small program.

A program takes ``jit``, which compiles a function or leaves it as it is, and gives what it saw. Its
expectations: with ``captures="bind"`` and ``"error"`` it is the ``same`` as in plain Python, the
first value stays (``bound``), or it ``raises`` SharpEdgeError. ``cached`` says whether a compiled
form serves calls under ``"guard"``.
"""

import collections
import contextlib
import copy
import dataclasses
import enum
import functools
import io
import itertools
import math
import operator
import os
import random
import re
import string
import sys
import threading
import time
import types
import weakref
from dataclasses import dataclass

import numpy as np

import frazil as fz

CASES = {}


@dataclass(frozen=True)
class Case:
    program: object
    bind: str
    error: str
    cached: bool | None


def case(bind="same", error="same", cached=True):
    def register(program):
        CASES[program.__name__] = Case(program, bind, error, cached)
        return program

    return register


def seen(fn, *args):
    """What a call gives, as text that tells types and signs; or the error."""
    try:
        return text(fn(*args))
    except fz.SharpEdgeError:
        raise
    except Exception as error:
        return type(error).__name__


def text(value):
    if isinstance(value, np.ndarray):
        return f"array({value.dtype}, {value.tolist()})"
    if isinstance(value, list | tuple):
        return f"{type(value).__name__}({', '.join(map(text, value))})"
    if isinstance(value, dict):
        return f"dict({', '.join(f'{key!r}: {text(own)}' for key, own in value.items())})"
    if isinstance(value, types.FunctionType):
        return "function"
    return f"{type(value).__name__}({value!r})"


X = np.array([1.0, 2.0])
g_number = 5
g_list = []
g_array = np.arange(2.0)
g_module = types.ModuleType("g_module")


class Box:
    def __init__(self, value):
        self.value = value


# ---------------------------------------------------------------- the five


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


def changes_of(values, bind="bound", error="raises"):
    def register(function):
        def program(jit):
            box = values[0]

            def f(x):
                return function(x, box)

            f = jit(f)
            found = [seen(f, X)]
            for box in [*values[1:], values[0], values[0]]:  # noqa: B007
                found.append(seen(f, X))
            return found

        program.__name__ = function.__name__
        return case(bind, error)(program)

    return register


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


# ---------------------------------------------------------------- containers


def mutations(make, *changes, bind="bound", error="raises", cached=True):
    def register(function):
        def program(jit):
            held = make()

            def f(x):
                return function(x, held)

            f = jit(f)
            found = [seen(f, X)]
            for change in changes:
                change(held)
                found.append(seen(f, X))
            return [*found, seen(f, X)]

        program.__name__ = function.__name__
        return case(bind, error, cached)(program)

    return register


@mutations(lambda: [1, 2], lambda c: c.append(3), lambda c: c.reverse(), lambda c: c.pop())
def list_contents(x, c):
    return sum(c), list(c)


@mutations(lambda: [1, 2], lambda c: c.__setitem__(0, 1.0), lambda c: c.__setitem__(0, True))
def list_of_other_types(x, c):
    return c[0]


@mutations(lambda: {"a": 1}, lambda c: c.update(a=2), lambda c: c.update(b=1))
def dict_contents(x, c):
    return dict(c)


@mutations(lambda: {"a": 1, "b": 2}, lambda c: c.update(a=c.pop("a")))
def dict_order(x, c):
    return list(c)


@mutations(lambda: {1: "a"}, lambda c: (c.clear(), c.update({True: "a"})))
def dict_key_of_other_type(x, c):
    return list(c)


@mutations(lambda: {1, 2}, lambda c: c.add(3), lambda c: c.discard(1))
def set_contents(x, c):
    return len(c), sorted(c), 1 in c


@mutations(lambda: {"p": [{"q": 1}]}, lambda c: c["p"][0].update(q=2), lambda c: c["p"].append(3))
def nested_containers(x, c):
    return c["p"][0]["q"] * x, len(c["p"])


@mutations(lambda: ([1],), lambda c: c[0].append(2))
def list_in_a_tuple(x, c):
    return sum(c[0])


@mutations(lambda: bytearray(b"ab"), lambda c: c.append(1), cached=False, bind="raises")
def captured_bytearray(x, c):
    return len(c)


@mutations(lambda: collections.deque([1]), lambda c: c.append(2), cached=False, bind="raises")
def captured_deque(x, c):
    return len(c)


@mutations(
    lambda: collections.defaultdict(int, a=1), lambda c: c.update(a=5), cached=False, bind="raises"
)
def captured_defaultdict(x, c):
    return c["a"]


@case(bind="raises", error="raises", cached=False)
def defaultdict_that_inserts(jit):
    held = collections.defaultdict(int)
    f = jit(lambda: (held["new"], len(held)))
    return [seen(f), seen(f), seen(f), dict(held)]


@mutations(
    lambda: collections.OrderedDict(a=1, b=2),
    lambda c: c.move_to_end("a"),
    cached=False,
    bind="raises",
)
def captured_ordered_dict(x, c):
    return list(c)


@mutations(lambda: collections.Counter("aab"), lambda c: c.update("b"))
def captured_counter(x, c):
    return c["a"], c["b"], c["z"]


@case(bind="raises", error="raises", cached=False)
def captured_list_is_mutated(jit):
    held = []

    def f(x):
        held.append(x * 2)
        return len(held)

    f = jit(f)
    found = [seen(f, X), seen(f, X), seen(f, X)]
    return [*found, text(held), [type(one) is np.ndarray for one in held]]


@case(bind="raises", error="raises", cached=False)
def captured_dict_is_mutated(jit):
    held = {}

    def f(x):
        held["last"] = x.sum()
        return x

    f = jit(f)
    return [seen(f, X), seen(f, X + 1), seen(f, X), text(held)]


@case(bind="same", error="raises", cached=True)
def alias_is_returned_itself(jit):
    held = [1]
    f = jit(lambda: (held, [held]))
    one, two = f(), f()
    return [one[0] is held, two[1][0] is held, text(two), seen(f)]


@case(bind="bound", error="raises", cached=True)
def rebound_to_an_equal_list(jit):
    held = [1]
    f = jit(lambda: held)
    found = [f() is held]
    held = [1]
    return [*found, f() is held, f() is held]


@case(cached=True)
def fresh_containers(jit):
    f = jit(lambda x: {"a": [x * 2], "b": {1, 2}})
    first = f(X)
    first["a"].append(1)
    first["b"].add(3)
    return [seen(f, X), seen(f, X)]


@case(cached=False)
def argument_container_is_mutated(jit):
    def f(d, x):
        d["n"] = d.get("n", 0) + 1
        d["x"] = x * 2
        return d["n"]

    f = jit(f)
    held = {}
    return [seen(f, held, X), text(held), seen(f, {"n": 3}, X), text(held), seen(f, {}, X)]


@case(cached=False)
def argument_list_is_mutated(jit):
    f = jit(lambda items, x: items.append(x.sum()))
    held = [1.0]
    return [seen(f, held, X), seen(f, held, X), text(held), seen(f, [], X), seen(f, [], X)]


# ---------------------------------------------------------------- objects


@mutations(lambda: Box(1), lambda c: setattr(c, "value", 2), lambda c: setattr(c, "value", 2.0))
def attribute(x, c):
    return x * c.value


@mutations(lambda: Box([1]), lambda c: c.value.append(2))
def list_in_an_attribute(x, c):
    return len(c.value)


@mutations(lambda: Box(Box(1)), lambda c: setattr(c.value, "value", 2))
def attribute_of_an_attribute(x, c):
    return c.value.value


@mutations(
    lambda: Box(1), lambda c: delattr(c, "value"), lambda c: setattr(c, "value", 3), cached=None
)
def deleted_attribute(x, c):
    return c.value


@mutations(lambda: Box(1), lambda c: setattr(c, "extra", 2))
def attribute_asked_for(x, c):
    return getattr(c, "extra", "none"), hasattr(c, "extra")


@mutations(lambda: Box(1), lambda c: setattr(c, "extra", 2))
def attribute_tried(x, c):
    try:
        return c.extra
    except AttributeError:
        return "none"


@mutations(lambda: Box(1), lambda c: setattr(c, "__class__", Tripled))
def class_of_an_object(x, c):
    return c.value * getattr(type(c), "factor", 1)


class Tripled(Box):
    factor = 3


@mutations(lambda: Box(1), lambda c: setattr(c, "__dict__", {"value": 7}))
def dict_of_an_object(x, c):
    return c.value


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self):
        self.a = 1


@mutations(Slotted, lambda c: setattr(c, "a", 2))
def slots(x, c):
    return c.a


@mutations(Slotted, lambda c: setattr(c, "b", 5), lambda c: delattr(c, "b"))
def empty_slot(x, c):
    return hasattr(c, "b")


class WithProperty:
    factor = 2

    def __init__(self):
        self._value = 3

    @property
    def value(self):
        return self._value * self.factor

    @staticmethod
    def constant():
        return 10

    @classmethod
    def of_class(cls):
        return cls.factor

    def method(self, x):
        return x * self.value


@mutations(
    WithProperty,
    lambda c: setattr(c, "_value", 4),
    lambda c: setattr(c, "factor", 5),
)
def property_of_an_object(x, c):
    return c.value


@mutations(WithProperty, lambda c: setattr(c, "_value", 4))
def method_of_an_object(x, c):
    return c.method(x), c.constant(), c.of_class()


@case(bind="bound", error="raises")
def patched_method(jit):
    class Local:
        def go(self):
            return 1

    held = Local()
    f = jit(lambda: held.go())
    found = [seen(f)]
    Local.go = lambda self: 2
    found.append(seen(f))
    held.go = lambda: 3
    found.append(seen(f))
    return [*found, seen(f)]


@case(bind="bound", error="raises")
def patched_base_class(jit):
    class Base:
        def go(self):
            return 1

    class Local(Base):
        pass

    held = Local()
    f = jit(lambda: held.go())
    found = [seen(f)]
    Local.go = lambda self: 2
    found.append(seen(f))
    del Local.go
    Base.go = lambda self: 3
    return [*found, seen(f), seen(f)]


@case(bind="bound", error="raises")
def class_attribute(jit):
    class Local:
        scale = 2

    f = jit(lambda x: x * Local.scale)
    found = [seen(f, X)]
    Local.scale = 3
    return [*found, seen(f, X), seen(f, X)]


@case(bind="bound", error="raises")
def shadowed_class_attribute(jit):
    class Local:
        scale = 2

    held = Local()
    f = jit(lambda x: x * held.scale)
    found = [seen(f, X)]
    held.scale = 3
    return [*found, seen(f, X), seen(f, X)]


@case(bind="bound", error="raises")
def getattr_of_a_class(jit):
    class Local:
        def __init__(self):
            self.table = {"a": 1}

        def __getattr__(self, name):
            return self.table[name]

    held = Local()
    f = jit(lambda: held.a)
    found = [seen(f)]
    held.table["a"] = 2
    found.append(seen(f))
    return [*found, seen(f)]


@case(bind="bound", error="raises")
def getattr_that_is_added(jit):
    class Local:
        pass

    held = Local()

    def f():
        try:
            return held.a
        except AttributeError:
            return "none"

    f = jit(f)
    found = [seen(f)]
    Local.__getattr__ = lambda self, name: name
    return [*found, seen(f), seen(f)]


@case(bind="bound", error="raises")
def metaclass(jit):
    class Meta(type):
        offset = 1

        @property
        def total(cls):
            return cls.own + cls.offset

    class Local(metaclass=Meta):
        own = 1

    f = jit(lambda: Local.total)
    found = [seen(f)]
    Local.own = 2
    found.append(seen(f))
    Meta.offset = 5
    return [*found, seen(f), seen(f)]


@case(bind="bound", error="raises")
def operators_of_a_class(jit):
    class Local:
        def __add__(self, other):
            return 1

        def __len__(self):
            return 2

    held = Local()
    f = jit(lambda: (held + 1, len(held), bool(held)))
    found = [seen(f)]
    Local.__add__ = lambda self, other: 10
    Local.__bool__ = lambda self: False
    return [*found, seen(f), seen(f)]


@mutations(lambda: dataclass_of(1), lambda c: setattr(c, "a", 2))
def captured_dataclass(x, c):
    return c.a * x


def dataclass_of(a):
    @dataclass
    class Data:
        a: int

    return Data(a)


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


@changes_of([Colour.RED, Colour.BLUE])
def enumeration(x, c):
    return c is Colour.RED, c.value


@changes_of([collections.namedtuple("P", "a b")(1, 2), (1, 2)])
def captured_namedtuple(x, c):
    return c[0], type(c).__name__


@case(bind="raises", error="raises", cached=False)
def captured_object_is_changed(jit):
    held = Box(0)

    def f(x):
        held.value += 1
        return x * held.value

    f = jit(f)
    return [seen(f, X), seen(f, X), seen(f, X), held.value]


@case(bind="raises", error="raises", cached=False)
def captured_object_keeps_an_array(jit):
    held = Box(None)

    def f(x):
        held.value = x * 2
        return x.sum()

    f = jit(f)
    return [seen(f, X), type(held.value).__name__, seen(f, X), text(held.value), seen(f, X)]


@case(bind="raises", error="raises", cached=False)
def class_is_changed(jit):
    class Local:
        count = 0

    def f():
        Local.count += 1
        return Local.count

    f = jit(f)
    return [seen(f), seen(f), seen(f)]


@case(cached=True)
def object_that_is_local(jit):
    def f(x):
        box = Box(x)
        box.value = box.value * 2
        return box.value

    f = jit(f)
    return [seen(f, X), seen(f, X + 1)]


@case(cached=False)
def object_that_is_returned(jit):
    f = jit(lambda x: Box(x * 2))
    one, two = f(X), f(X)
    return [one is two, text(one.value), text(two.value), type(f(X)).__name__]


@case(bind="bound", error="same")
def object_as_an_argument(jit):
    f = jit(lambda box, x: x * box.value)
    held = Box(2)
    found = [seen(f, held, X)]
    held.value = 3
    return [*found, seen(f, held, X), seen(f, held, X)]


@case(cached=False, bind="raises", error="raises")
def argument_object_is_changed(jit):
    def f(box, x):
        box.value += 1
        return x * box.value

    f = jit(f)
    held = Box(2)
    return [seen(f, held, X), seen(f, held, X), held.value, seen(f, held, X)]


# ---------------------------------------------------------------- functions


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


# ---------------------------------------------------------------- modules


@case(bind="bound", error="raises")
def attribute_of_a_module(jit):
    g_module.rate = 2
    f = jit(lambda x: x * g_module.rate)
    found = [seen(f, X)]
    g_module.rate = 3
    return [*found, seen(f, X), seen(f, X)]


@case(bind="bound", error="same")
def function_of_a_module_is_patched(jit):
    g_module.go = lambda x: x * 2
    f = jit(lambda x: g_module.go(x))
    found = [seen(f, X)]
    g_module.go = lambda x: x * 3
    return [*found, seen(f, X), seen(f, X)]


@case(bind="raises", error="raises", cached=False)
def module_is_written(jit):
    g_module.count = 0

    def f():
        g_module.count += 1
        return g_module.count

    f = jit(f)
    return [seen(f), seen(f), seen(f)]


@case()
def constants_of_math(jit):
    f = jit(lambda x: x * math.pi + math.sqrt(4.0))
    return [seen(f, X), seen(f, X)]


@case(bind="bound", error="same")
def patched_numpy(jit):
    f = jit(lambda x: np.exp(x * 0))
    found = [seen(f, X)]
    kept, np.exp = np.exp, np.cos
    try:
        np.exp = np.sin
        found.append(seen(f, X))
    finally:
        np.exp = kept
    return [*found, seen(f, X)]


@case()
def import_within(jit):
    def f(x):
        import math as m

        return x * m.floor(2.5)

    f = jit(f)
    return [seen(f, X), seen(f, X)]


@case(bind="bound", error="raises", cached=None)
def environment(jit):
    os.environ["FRAZIL_CASE"] = "a"
    f = jit(lambda: os.environ.get("FRAZIL_CASE"))
    found = [seen(f)]
    os.environ["FRAZIL_CASE"] = "b"
    found.append(seen(f))
    del os.environ["FRAZIL_CASE"]
    return [*found, seen(f)]


@case(bind="same", error="same")
def functions_of_the_library(jit):
    def f(x):
        pairs = list(itertools.pairwise([1, 2, 3]))
        return x * functools.reduce(operator.add, [a * b for a, b in pairs])

    f = jit(f)
    return [seen(f, X), seen(f, X)]


@case(bind="same", error="same")
def constants_of_the_library(jit):
    f = jit(lambda: string.ascii_lowercase[:3])
    return [seen(f), seen(f)]


# ---------------------------------------------------------------- chance, time, input and output


@case(bind="raises", error="raises", cached=False)
def random_numbers(jit):
    f = jit(lambda x: x * random.random())
    found = []
    for _ in range(3):
        random.seed(1)
        found.append(seen(f, X))
        found.append(seen(f, X))
    return found


@case(bind="raises", error="raises", cached=False)
def random_numbers_of_numpy(jit):
    f = jit(lambda x: x + np.random.normal(size=2))
    found = []
    for _ in range(3):
        np.random.seed(1)
        found.append(seen(f, X))
        found.append(seen(f, X))
    return found


@case(bind="raises", error="raises", cached=False)
def captured_generator_of_numbers(jit):
    rng = np.random.default_rng(1)
    f = jit(lambda x: x + rng.normal())
    return [seen(f, X), seen(f, X), seen(f, X)]


@case(bind="raises", error="raises", cached=False)
def random_object(jit):
    rng = random.Random(1)
    f = jit(lambda x: x + rng.random())
    return [seen(f, X), seen(f, X), seen(f, X)]


@case(bind="raises", error="raises", cached=False)
def clock(jit):
    f = jit(lambda: time.perf_counter())
    one, two, three = f(), f(), f()
    return [one < two < three]


@case(bind="raises", error="raises", cached=False)
def printing(jit):
    f = jit(lambda x: print("called", len(x)))
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        found = [seen(f, X), seen(f, X), seen(f, X)]
    return [*found, out.getvalue()]


@case(bind="raises", error="raises", cached=False)
def writing_to_a_file(jit):
    out = io.StringIO()

    def f(x):
        out.write("called ")
        return x

    f = jit(f)
    return [seen(f, X), seen(f, X), seen(f, X), out.getvalue()]


@case(bind="raises", error="raises", cached=False)
def process_number(jit):
    f = jit(lambda: os.getpid())
    return [seen(f), seen(f)]


@case(bind="raises", error="raises", cached=False)
def address(jit):
    f = jit(lambda x: id(X) == id(X))
    return [seen(f, X), seen(f, X)]


@case(bind="raises", error="raises", cached=False)
def evaluated_text(jit):
    c = 2  # noqa: F841
    f = jit(lambda: eval("1 + 1"))
    return [seen(f), seen(f)]


@case(bind="raises", error="raises", cached=False)
def dict_of_globals(jit):
    f = jit(lambda: globals()["g_number"])
    globals()["g_number"] = 1
    found = [seen(f)]
    globals()["g_number"] = 2
    return [*found, seen(f), seen(f)]


@case(bind="raises", error="raises", cached=False)
def thread_within(jit):
    held = []

    def f(x):
        thread = threading.Thread(target=held.append, args=(1,))
        thread.start()
        thread.join()
        return x * len(held)

    f = jit(f)
    return [seen(f, X), seen(f, X), seen(f, X)]


# ---------------------------------------------------------------- iterators, references


@case(bind="raises", error="raises", cached=False)
def captured_iterator(jit):
    held = iter([1, 2, 3])
    f = jit(lambda x: x * next(held))
    return [seen(f, X), seen(f, X), seen(f, X)]


@case(bind="raises", error="raises", cached=False)
def captured_count(jit):
    held = itertools.count()
    f = jit(lambda: next(held))
    return [seen(f), seen(f), seen(f)]


@case(bind="raises", error="raises", cached=False)
def captured_generator_object(jit):
    def numbers():
        yield 1
        yield 2

    held = numbers()
    f = jit(lambda: next(held, None))
    return [seen(f), seen(f), seen(f)]


@case(bind="raises", error="raises", cached=False)
def weak_reference(jit):
    held = Box(1)
    ref = weakref.ref(held)
    f = jit(lambda: ref() is None)
    found = [seen(f), seen(f)]
    del held
    return [*found, seen(f)]


@case(bind="raises", error="raises", cached=False)
def captured_lock(jit):
    lock = threading.Lock()

    def f(x):
        with lock:
            return x * 2

    f = jit(f)
    return [seen(f, X), seen(f, X), lock.locked()]


@case(bind="raises", error="raises", cached=False)
def thread_local(jit):
    held = threading.local()
    held.value = 1
    f = jit(lambda: held.value)
    found = [seen(f)]
    held.value = 2
    return [*found, seen(f)]


# ---------------------------------------------------------------- arrays


@case(bind="bound", error="raises")
def captured_array(jit):
    global g_array
    g_array = np.array([1.0, 2.0])
    f = jit(lambda x: x * g_array)
    found = [seen(f, X)]
    g_array = np.array([3.0, 4.0])
    found.append(seen(f, X))
    g_array[0] = 7.0
    found.append(seen(f, X))
    g_array = np.array([1, 2], dtype=np.int32)
    found.append(seen(f, X))
    g_array = np.array([5.0])
    return [*found, seen(f, X), seen(f, X)]


@case(bind="bound", error="raises")
def array_that_plain_numpy_reads(jit):
    held = np.array([1.0, 2.0])
    f = jit(lambda x: x * held.sum() + float(held[0]))
    found = [seen(f, X)]
    held[0] = 5.0
    return [*found, seen(f, X), seen(f, X)]


@case(bind="bound", error="raises")
def array_that_python_branches_on(jit):
    held = np.array([1.0, 2.0])
    f = jit(lambda x: x * held if held[0] > 0 else x)
    found = [seen(f, X)]
    held[0] = -5.0
    return [*found, seen(f, X), seen(f, X)]


@case(bind="bound", error="raises")
def arrays_in_containers(jit):
    held = {"w": np.ones(2), "more": [np.ones(2)]}
    f = jit(lambda x: x * held["w"] + held["more"][0])
    found = [seen(f, X)]
    held["w"] = np.zeros(2)
    found.append(seen(f, X))
    held["more"][0] = np.array([4.0, 5.0])
    found.append(seen(f, X))
    held["more"][0][1] = 9.0
    return [*found, seen(f, X), seen(f, X)]


@case(bind="bound", error="raises")
def array_in_an_attribute(jit):
    held = Box(np.ones(2))
    f = jit(lambda x: x @ held.value)
    found = [seen(f, X)]
    held.value = np.arange(2.0)
    return [*found, seen(f, X), seen(f, X)]


@case(bind="same", error="raises")
def array_that_is_returned(jit):
    held = np.ones(2)
    f = jit(lambda x: (x * 2, held))
    one = f(X)
    held[0] = 5.0
    two = f(X)
    return [one[1] is held, two[1] is held, text(two), seen(f, X)]


@case(bind="raises", error="raises", cached=False)
def captured_array_is_written(jit):
    held = np.zeros(2)

    def f(x):
        held[0] += 1
        return x * 2

    f = jit(f)
    return [seen(f, X), seen(f, X), seen(f, X), text(held)]


@case(cached=True)
def array_that_is_made_within(jit):
    def f(x):
        made = np.zeros(2)
        made[0] = 3.0
        return made, x * made

    f = jit(f)
    first = f(X)
    first[0][1] = 100.0
    return [seen(f, X), seen(f, X)]


@case(bind="bound", error="raises")
def two_names_of_one_array(jit):
    one = np.ones(2)
    two = one
    f = jit(lambda x: x * one + two)
    found = [seen(f, X)]
    two = np.zeros(2)
    found.append(seen(f, X))
    one = two
    return [*found, seen(f, X), seen(f, X)]


@case(bind="raises", error="raises", cached=False)
def array_of_objects(jit):
    held = np.array([1, "a"], dtype=object)
    f = jit(lambda: held[0])
    found = [seen(f)]
    held[0] = 2
    return [*found, seen(f), seen(f)]


@case(bind="raises", error="raises", cached=False)
def copies(jit):
    f = jit(lambda x: copy.copy([x, 1]))
    return [seen(f, X), seen(f, X)]


@case(cached=True)
def replaced_dataclass(jit):
    held_class = Point

    def f(x):
        return dataclasses.replace(held_class(x, 1), b=2).b

    f = jit(f)
    return [seen(f, X), seen(f, X)]


@dataclass
class Point:
    a: object
    b: int


@case(bind="same", error="raises", cached=None)
def version_of_python(jit):
    f = jit(lambda: sys.version_info[0])
    return [seen(f), seen(f)]
