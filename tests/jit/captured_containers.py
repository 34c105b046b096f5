"""Containers, arrays, iterators and references that functions capture."""

import collections
import copy
import dataclasses
import itertools
import threading
import weakref
from dataclasses import dataclass

import numpy as np
import scipy.sparse
from capture_cases import Box, X, case, mutations, seen, text

g_array = np.arange(2.0)

# ---------------------------------------------------------------- containers


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


# ---------------------------------------------------------------- iterators, references


@case(bind="raises", error="raises", cached=False)
def argument_list_that_is_there_twice(jit):
    def fn(tree):
        tree["a"].append(1.0)
        return tree["a"][0] * len(tree["b"])

    f = jit(fn)
    twice = [X]
    tree = {"a": twice, "b": twice}
    return [seen(f, tree), len(twice), seen(f, tree), len(twice)]


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


@mutations(
    lambda: scipy.sparse.csr_array(np.eye(2)),
    lambda c: c.data.__setitem__(0, 5.0),
    lambda c: setattr(c, "data", c.data * 2),
)
def sparse_arrays(x, c):
    return x * c.data.sum() + c.toarray()[0]


@mutations(lambda: np.poly1d([1.0, 2.0]), lambda c: c.coeffs.__setitem__(0, 3.0), error="same")
def polynomials(x, c):
    return x * c.coeffs[0]
