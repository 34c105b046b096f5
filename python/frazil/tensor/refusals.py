"""Operations that variables refuse, as they have no values yet, and what to write instead.

The members of the class here are set on the core's ``Variable``, as the methods are.
"""

from __future__ import annotations

from typing import NoReturn

import frazil._core as _core


def _absent(name: str, advice: str) -> property:
    """An attribute that users of other libraries expect: its error says what to write instead."""

    def refuse(variable: object) -> NoReturn:
        raise AttributeError(f"a variable has no {name}: {advice}", name=name, obj=variable)

    return property(refuse)


_NO_VALUE = "it has no value before a function runs. Call x.eval({input: value}) to see one"
_SHARED = "only what fz.shared(value) makes has a value of its own"


class Refusals:
    """The protocols of Python that need a value."""

    __pandas_priority__ = 5000  # as operands, series and frames give way to variables

    numpy = _absent("numpy", _NO_VALUE)
    item = _absent("item", _NO_VALUE)
    tolist = _absent("tolist", _NO_VALUE)
    get_value = _absent("get_value", _SHARED)
    set_value = _absent("set_value", _SHARED)
    tag = _absent("tag", "graphs are immutable. Give a variable a name: ft.vector('x')")
    backward = _absent("backward", "write fz.grad(cost, x)")
    detach = _absent("detach", "write fz.gradient.disconnected_grad(x)")
    view = _absent(
        "view", "x.astype(dtype) converts the values; bytes are not read as another type"
    )

    def __setitem__(self: object, index: object, value: object) -> NoReturn:
        part = f"{self}[{_spelled(index)}]"
        raise TypeError(
            f"{part} cannot be assigned to: a variable does not change. Write y = "
            f"ft.set_subtensor({part}, value) for {part} = value, or y = "
            f"ft.inc_subtensor({part}, value) for {part} += value, and go on with y"
        )

    def __delitem__(self: object, index: object) -> NoReturn:
        raise TypeError(
            f"{self}[{_spelled(index)}] cannot be deleted: a variable does not change. Index what "
            "is to stay, as in x[1:], or join it with ft.concatenate"
        )

    def __contains__(self: object, value: object) -> NoReturn:
        raise TypeError(
            f"whether {value!r} is in {self} is not known before a function runs. Write "
            "ft.any(ft.eq(x, value)) for a variable that says so"
        )

    def __index__(self: object) -> NoReturn:
        raise TypeError(
            f"{self} is no number before a function runs, and an int is needed here. Where range() "
            "counts steps write fz.scan(..., n_steps=n) or ft.arange(n); instead of "
            "np.zeros(x.shape) write ft.zeros(x.shape) or ft.zeros_like(x); a length that is known "
            "now stands in the type, as in ft.vector('x', shape=(3,))"
        )

    def __int__(self: object) -> NoReturn:
        raise TypeError(_no_number(self, "int", "ft.cast(x, 'int64')"))

    def __float__(self: object) -> NoReturn:
        raise TypeError(
            _no_number(self, "float", "ft.cast(x, 'float64'), and ft.exp(x) for math.exp(x)")
        )

    def __complex__(self: object) -> NoReturn:
        raise TypeError(_no_number(self, "complex", "functions of real and imaginary parts"))

    def __format__(self: object, form: str) -> str:
        if form:
            raise TypeError(
                f"{self} has no value to format by {form!r} before a function runs. Write "
                "f'{x}' for its name, or format what a compiled function returns"
            )
        return str(self)


def _spelled(index: object) -> str:
    """An index as one writes it."""
    parts = index if isinstance(index, tuple) else (index,)
    return ", ".join(map(_spelled_one, parts))


def _spelled_one(index: object) -> str:
    if isinstance(index, slice):
        ends = ["" if end is None else str(end) for end in (index.start, index.stop)]
        return ":".join(ends if index.step is None else [*ends, str(index.step)])
    return "..." if index is ... else str(index)


def _no_number(variable: object, kind: str, instead: str) -> str:
    return (
        f"{variable} is no number before a function runs, and Python's {kind} takes numbers. Write "
        f"{instead} within a graph; outside, call a compiled function or x.eval({{input: value}})"
    )


def _install() -> None:
    inherent = {"__module__", "__doc__", "__dict__", "__weakref__", "__qualname__"}
    for name, member in vars(Refusals).items():
        if name not in inherent:
            setattr(_core.Variable, name, member)


_install()
