"""Callbacks of compiled functions that read and change what the function reads."""

from dataclasses import dataclass

import numpy as np
from capture_cases import X, case, seen

import frazil as fz

CALLS = (X, X * 2, X * 20, X)
scale = 2.0


@dataclass
class Settings:
    scale: float


def calls(jit, f, told=()):
    f = jit(f)
    return [[seen(f, x), *map(float, told)] for x in (*CALLS, *CALLS)]


def calls_that_read_a_global_twice(jit, change):
    global scale
    scale = 2.0

    def f(x):
        before = x * scale
        fz.debug.callback(change, x.sum())
        return before + scale

    return calls(jit, f)


@case("raises", "raises", cached=False)
def callback_that_rebinds_a_global(jit):
    def change(value):
        global scale
        scale += float(value)

    return calls_that_read_a_global_twice(jit, change)


@case("bound", "raises", cached=False)
def callback_that_rebinds_a_global_for_some_values(jit):
    def change(value):
        global scale
        if value > 10:
            scale += 1.0

    return calls_that_read_a_global_twice(jit, change)


@case("raises", "raises", cached=False)
def callback_that_changes_a_captured_array(jit):
    weights = np.ones(2)

    def change(value):
        weights[0] += float(value)

    def f(x):
        before = x * weights
        fz.debug.callback(change, x.sum())
        return before + x * weights

    return calls(jit, f)


@case("same", "same", cached=False)
def callback_that_tells_the_call(jit):
    def f(x):
        total = 0.0

        def keep(value):
            nonlocal total
            total = float(value)

        fz.debug.callback(keep, x.sum())
        return x * total

    return calls(jit, f)


@case("same", "same", cached=False)
def callback_that_fills_a_list_of_the_call(jit):
    def f(x):
        large = []
        fz.debug.callback(lambda value: large.append(1) if value > 10 else None, x.sum())
        return x * len(large)

    return calls(jit, f)


@case("same", "raises")
def callback_that_appends_to_a_list(jit):
    told = []
    return calls(jit, lambda x: [fz.debug.callback(told.append, x.sum()), x * 2][1], told)


@case("raises", "raises", cached=False)
def callback_that_appends_to_a_list_that_is_read(jit):
    told = []

    def f(x):
        fz.debug.callback(told.append, x.sum())
        return x * len(told)

    return calls(jit, f, told)


@case("raises", "raises", cached=False)
def callback_that_is_given_a_list_and_appends_to_it(jit):
    told = []

    def f(x):
        fz.debug.callback(lambda own, value: own.append(value), told, x.sum())
        return x * len(told)

    return calls(jit, f, told)


@case("raises", "raises", cached=False)
def callback_that_is_given_a_dataclass_and_changes_it(jit):
    settings = Settings(1.0)

    def double(own):
        own.scale *= 2

    def f(x):
        fz.debug.callback(double, settings)
        return x * settings.scale

    return calls(jit, f)


@case("same", "raises")
def callback_that_is_given_a_list_that_it_alone_reads(jit):
    told = []

    def f(x):
        fz.debug.callback(lambda own, value: own.append(value), told, x.sum())
        return x * 2

    return calls(jit, f, told)


@case("same", "raises")
def callback_with_state_of_its_own(jit):
    told, count = [], 0

    def note(value):
        nonlocal count
        count += 1
        told.append(count * value)

    def f(x):
        fz.debug.callback(note, x.sum())
        return x * 2

    return calls(jit, f, told)


@case("same", "same")
def method_as_callback(jit):
    class Model:
        def __init__(self):
            self.weights, self.told = np.ones(2), []

        def note(self, value):
            self.told.append(value)

        def step(self, x):
            fz.debug.callback(self.note, (x * self.weights).sum())
            return x * self.weights

    model = Model()
    return calls(jit, model.step, model.told)


@case("same", "raises")
def callback_that_raises(jit):
    told = []

    def check(value):
        told.append(value)
        if value > 10:
            raise ValueError("too large")

    def f(x):
        fz.debug.callback(check, x.sum())
        return x * 2

    return calls(jit, f, told)


@case("same", "same", cached=False)
def error_of_a_callback_that_is_handled(jit):
    def check(value):
        if value > 10:
            raise ValueError("too large")

    def f(x):
        try:
            fz.debug.callback(check, x.sum())
        except ValueError:
            return -x
        return x * 2

    return calls(jit, f)


@case("same", "raises", cached=False)
def callback_that_reads_a_variable_of_the_loop(jit):
    told = []

    def note(value):
        told.append(value)

    def f(x):
        for i in range(2):
            fz.debug.callback(lambda value: note(value + i), x.sum())  # noqa: B023
        return x * 2

    return calls(jit, f, told)


@case("raises", "raises", cached=False)
def callback_that_refers_to_a_traced_array(jit):
    told = []

    def f(x):
        y = x * 2
        fz.debug.callback(lambda: told.append(y.sum()))
        return y

    return calls(jit, f, told)


@case("same", "raises")
def callbacks_before_an_error_of_lengths(jit):
    told = []

    def f(x, y):
        fz.debug.callback(told.append, x.sum())
        both = x + y
        fz.debug.callback(told.append, both.sum())
        return both

    f = jit(f)
    found = [seen(f, X, y) for y in (X, X, np.ones(3), X)]
    return found, list(map(float, told))
