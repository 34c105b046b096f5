"""Modules, chance, time, input and output that functions reach."""

import contextlib
import functools
import io
import itertools
import math
import operator
import os
import random
import string
import sys
import threading
import time
import types

import numpy as np
from capture_cases import X, case, seen

g_module = types.ModuleType("g_module")

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
    return [seen(f, X + 1), seen(f, X + 1)]


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


@case(bind="same", error="raises", cached=None)
def version_of_python(jit):
    f = jit(lambda: sys.version_info[0])
    return [seen(f), seen(f)]


@case(bind="bound", error="raises")
def attribute_that_a_module_lacks(jit):
    module = types.ModuleType("lacking")
    f = jit(lambda x: x * getattr(module, "scale", 1.0))
    found = [seen(f, X), seen(f, X)]
    module.scale = 3.0
    return [*found, seen(f, X), seen(f, X)]


@case(bind="raises", error="raises", cached=False)
def random_numbers_about_an_argument(jit):
    generator = np.random.default_rng(0)
    f = jit(lambda x: generator.normal(x) if x[0] > 0 else x)
    return [seen(f, X), seen(f, X)]


@case(bind="raises", error="raises", cached=False)
def errors_that_numpy_is_set_to_raise(jit):
    def fn(x):
        with np.errstate(divide="raise"):
            return 1 / (x - 1)

    f = jit(fn)
    return [seen(f, X), seen(f, X + 1)]
