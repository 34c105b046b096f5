"""Arrays that traced functions leave behind: plain ones take their place."""

import gc
import sys
import threading
from collections import deque, namedtuple
from dataclasses import dataclass

import numpy as np
import pytest

import frazil as fz
from frazil._core import replace_held


@pytest.fixture
def quick_switches():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def in_threads(work, count=4):
    """Do ``work`` in threads at once; the errors that came of it."""
    errors = []

    def guarded(number):
        try:
            work(number)
        except Exception as error:
            errors.append(f"{type(error).__name__}: {error}")

    threads = [threading.Thread(target=guarded, args=(at,)) for at in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return errors


def test_threads_that_leave_arrays_behind(quick_switches):
    def work(factor):
        for _ in range(30):
            box = []

            def f(x, box=box):
                for _ in range(10):
                    x = x * 1.5 + factor
                box.append((x, [x.sum()]))
                return x.sum()

            result = fz.jit(f, mode="py")(np.ones(3))
            want = np.ones(3)
            for _ in range(10):
                want = want * 1.5 + factor
            assert result == want.sum()
            ((left, (total,)),) = box
            assert type(left) is np.ndarray
            assert left.tolist() == want.tolist()
            assert type(total) is np.float64

    assert in_threads(work) == []


def test_threads_that_build_tuples_of_what_is_left_behind(quick_switches):
    shared = []
    done = threading.Event()

    def build():
        while not done.is_set():
            made = tuple(value for value in [*shared, *range(20)])
            assert len(made) >= 20

    def trace():
        for _ in range(60):
            shared.clear()

            def f(x):
                shared.append(x * 2)
                return x

            fz.jit(f, mode="py")(np.ones(3))
            assert type(shared[0]) is np.ndarray
        done.set()

    def work(number):
        try:
            trace() if number == 0 else build()
        finally:
            done.set()

    assert in_threads(work, 3) == []


class Plain:
    last = None


class Slotted:
    __slots__ = ("value",)


@dataclass(frozen=True)
class Frozen:
    value: object


Pair = namedtuple("Pair", "one other")


def kept_by_default(value, kept):
    kept.append(lambda own=value: own)
    return kept[0]


HOLDERS = {
    "list": lambda x, kept: kept.append(x) or (lambda: kept[0]),
    "dict": lambda x, kept: kept.append({"x": x}) or (lambda: kept[0]["x"]),
    "tuple": lambda x, kept: kept.append((1, (x, 2))) or (lambda: kept[0][1][0]),
    "pair": lambda x, kept: kept.append(Pair(x, (x,))) or (lambda: kept[0].one),
    "deque": lambda x, kept: kept.append(deque([1, x])) or (lambda: kept[0][1]),
    "slots": lambda x, kept: kept.append(Slotted()) or setattr(kept[0], "value", x),
    "frozen": lambda x, kept: kept.append(Frozen(x)) or (lambda: kept[0].value),
    "default": kept_by_default,
}


@pytest.mark.parametrize("name", HOLDERS)
def test_holders_of_what_is_left_behind(name):
    kept, readers = [], []

    def f(x):
        readers.append(HOLDERS[name](x * 2, kept))
        return x

    fz.jit(f, mode="py")(np.ones(2))
    left = readers[0]() if readers[0] is not None else kept[0].value
    assert type(left) is np.ndarray
    assert left.tolist() == [2.0, 2.0]
    if name == "pair":
        assert type(kept[0]) is Pair
        assert type(kept[0].other[0]) is np.ndarray


def test_an_attribute_of_a_class_is_left_behind():
    """CPython remembers lookups of attributes of classes."""

    def f(x):
        Plain.last = x * 2
        return x + Plain.last

    assert fz.jit(f, mode="py")(np.ones(2)).tolist() == [3.0, 3.0]
    assert [type(Plain.last), type(Plain().last)] == [np.ndarray, np.ndarray]


def test_tuples_of_tuples_and_tuples_that_meet_are_replaced_once():
    old, new = (
        Plain(),
        Plain(),
    )  # the garbage collector shows no tuple of objects without attributes
    inner = (old, 1)
    kept = {"outer": (inner, old, (inner,)), "inner": inner, "other": [inner]}
    replace_held([old], [new], [])
    assert kept["outer"] == ((new, 1), new, ((new, 1),))
    assert kept["other"][0] is kept["inner"]
    assert kept["outer"][0] is kept["inner"]


def test_holders_that_the_garbage_collector_does_not_show():
    gc.collect()
    held, attributes = [None, 0], Slotted()
    gc.freeze()  # for good: tests/conftest.py has frozen all that is older

    def f(x):
        nonlocal last
        held[0], attributes.value, last = x * 2, (x * 3,), x * 4
        Plain.last = x * 5
        return x

    last = None
    fz.jit(f, mode="py")(np.ones(2))
    left = [held[0], *attributes.value, last, Plain.last]
    assert [type(x) for x in left] == [np.ndarray] * 4
    assert [x[0] for x in left] == [2.0, 3.0, 4.0, 5.0]


@pytest.mark.parametrize("shown", [True, False])
def test_an_attribute_of_a_class_is_replaced_where_lookups_are_remembered(shown):
    kind = type("Kind", (), {"last": [1]})
    old = kind.last
    assert kind().last is old
    replace_held([old], [(2,)], [] if shown else [kind])
    assert kind.last == kind().last == (2,)
