"""What functions may read and write outside of them, each case as a small program.

A program takes ``jit``, which compiles a function or leaves it as it is, and gives what it saw. Its
expectations: with ``captures="bind"`` and ``"error"`` it is the ``same`` as in plain Python, the
first value stays (``bound``), or it ``raises`` SharpEdgeError. ``cached`` says whether a compiled
form serves calls under ``"guard"``. The cases are in the files ``captured_*.py``, a subject each.
"""

import types
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


class Box:
    def __init__(self, value):
        self.value = value


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

        program.__name__, program.__module__ = function.__name__, function.__module__
        return case(bind, error)(program)

    return register


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

        program.__name__, program.__module__ = function.__name__, function.__module__
        return case(bind, error, cached)(program)

    return register
