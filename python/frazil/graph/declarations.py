"""Checks of what a class of ops says of itself, once a class: a mistake is told where it is.

The methods of frazil's own classes are checked by its tests.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping

_METHODS = (
    ("perform", 2, "(self, node, inputs) and return the outputs"),
    ("infer_shape", 2, "(self, node, input_shapes)"),
    ("L_op", 3, "(self, inputs, outputs, output_gradients)"),
    ("R_op", 2, "(self, inputs, tangents)"),
)


def check_class(cls: type) -> None:
    """Raise TypeError if methods of a class take other arguments, or its attributes are no such."""
    if cls.__module__.startswith("frazil."):
        return
    for name, count, form in _METHODS:
        check_method(cls, name, count, form)
    for name in ("view_map", "destroy_map"):
        given = getattr(cls, name)
        if not isinstance(given, Mapping) and not hasattr(given, "__get__"):
            raise TypeError(
                f"{cls.__qualname__}.{name} must be a dict from outputs to inputs, as in "
                f"{name} = {{0: [0]}}; given {given!r}"
            )
    for name in ("commutative", "pure", "distinct", "takes_complex"):
        given = getattr(cls, name)
        if not isinstance(given, bool) and not hasattr(given, "__get__"):
            raise TypeError(f"{cls.__qualname__}.{name} must be True or False, given {given!r}")


def check_method(cls: type, name: str, count: int, form: str) -> None:
    """Raise TypeError if a method, written in Python, does not take ``count`` arguments."""
    method = inspect.getattr_static(cls, name, None)
    if not inspect.isfunction(method) or method.__module__.startswith("frazil."):
        return
    signature = inspect.signature(method)
    try:
        signature.bind(*[None] * (count + 1))  # and the op
    except TypeError:
        raise TypeError(
            f"{cls.__qualname__}.{name} must take {form}; it takes "
            f"({', '.join(map(str, signature.parameters))})"
        ) from None
