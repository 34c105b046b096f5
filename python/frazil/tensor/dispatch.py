"""NumPy's functions on variables: the function of frazil for each, or the reason for none.

NumPy asks by ``__array_ufunc__`` and ``__array_function__``, which stand in the class body at the
end and are set on the core's ``Variable``. A function of NumPy has the counterpart of its name in
``frazil.tensor`` or ``frazil.tensor.linalg``; where name, order or meaning of the arguments differ,
``_OTHERS`` has one.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, NoReturn

import numpy as np

import frazil._core as _core
from frazil._core import Variable
from frazil.scalar import Elementary
from frazil.scalar.constants import as_tensor
from frazil.tensor.absent import IN_MODULES_OF_NUMPY, IN_NUMPY
from frazil.tensor.docstrings import described, renamed
from frazil.tensor.elementwise.definition import applied

Function = Callable[..., Any]

_OWN_PLACES = {
    "": "frazil.tensor",
    "linalg": "frazil.tensor.linalg",
    "fft": "frazil.tensor.fft",
    "lib.stride_tricks": "frazil.tensor",
    "scipy.special": "frazil.tensor",
}
_OF_USERS = "a ufunc of its own"


@described
def counterpart(function: Function, method: str = "__call__") -> Function:
    """Return what computes as ``function`` does, for variables.

    function (callable): A function or ufunc of NumPy, or a ufunc of ``scipy.special``.
    method (str): The method of a ufunc: "reduce", "accumulate" or "outer".
    returns (callable): It takes variables and all that they are made of, with NumPy's order and
        names of arguments.
    raises TypeError: If there is none, or if it is called with an argument that needs memory to
        write to.

    >>> import numpy as np
    >>> import frazil.tensor as ft
    >>> from frazil.tensor.dispatch import counterpart
    >>> counterpart(np.sum)(ft.as_tensor([[1.0, 2.0], [3.0, 4.0]]), axis=0).eval()
    array([4., 6.])
    """
    found = _found(function, method)
    if isinstance(found, str):
        raise TypeError(found)
    return found


@cache
def has_counterpart(function: Function) -> bool:
    """Whether :func:`counterpart` finds one.

    Examples
    --------
    >>> import numpy as np
    >>> from frazil.tensor.dispatch import has_counterpart
    >>> has_counterpart(np.add), has_counterpart(np.frompyfunc(abs, 1, 1))
    (True, False)
    """
    return not isinstance(_found(function, "__call__"), str)


@cache
def op_of(ufunc: np.ufunc) -> Elementary | None:
    """Return the op that a ufunc applies to variables; None if its counterpart does other things.

    Examples
    --------
    >>> import numpy as np
    >>> from frazil.tensor.dispatch import op_of
    >>> print(op_of(np.add), op_of(np.logical_and))
    add None
    """
    own = _own(*_place_and_name(ufunc))
    return None if ufunc.signature is not None or own is None else applied.get(own)


@cache
def _found(function: Function, method: str) -> Function | str:
    """The counterpart, or what to say where there is none."""
    place, name = _place_and_name(function)
    full = f"{place}.{name}" if place else name
    if method != "__call__":
        return _method(function, name, method)
    own = _own(place, name)
    if own is None:
        return _refusal(place, full)
    if isinstance(function, np.ufunc):
        return _of_ufunc(full, own)
    return _of_function(full, function, own)


def _own(place: str, name: str) -> Function | None:
    """Our function for NumPy's at a place and of a name."""
    full = f"{place}.{name}" if place else name
    if full in IN_NUMPY:
        return None
    return _OTHERS.get(full) or _of_equal_name(place, _ALIASES.get(full, name))


def _refusal(place: str, full: str) -> str:
    """The message about a function without a counterpart."""
    reason = IN_NUMPY.get(full) or IN_MODULES_OF_NUMPY.get(place.removeprefix("lib.").split(".")[0])
    if reason:
        return f"np.{full} takes no variables: {reason}"
    shown = f"np.{full}"
    if place in ("scipy.special", _OF_USERS):
        shown = full.removeprefix(f"{_OF_USERS}.")
    return (
        f"{shown} takes arrays, and a variable has no values before a function runs. "
        "frazil.tensor has no function of this name; write it in terms of those there "
        f"are, or compile with fz.function and call {shown} on the result"
    )


def _place_and_name(function: Function) -> tuple[str, str]:
    """The module below numpy and the name, as people write them: ``("linalg", "inv")``."""
    name = function.__name__
    if isinstance(function, np.ufunc):
        known = (place for place in ("numpy", "scipy.special") if _has(place, name, function))
        return next(known, _OF_USERS).removeprefix("numpy"), name
    place = function.__module__.removeprefix("numpy").strip(".")
    return place, name


def _has(module: str, name: str, function: Function) -> bool:
    return getattr(sys.modules.get(module), name, None) is function


def _of_equal_name(place: str, name: str) -> Function | None:
    own = sys.modules.get(_OWN_PLACES.get(place, ""))
    found = vars(own).get(name) if own else None
    return found if callable(found) else None


# Ufuncs

_UFUNC_DEFAULTS = MappingProxyType(
    {"out": None, "where": True, "casting": "same_kind", "order": "K", "subok": True}
)


def _of_ufunc(name: str, own: Function) -> Function:
    taken = inspect.signature(own).parameters

    def call(*operands: object, **arguments: object) -> object:
        used = {}
        for key, value in arguments.items():
            if key in taken:
                used[key] = value
            elif key not in _UFUNC_DEFAULTS or not _same(value, _UFUNC_DEFAULTS[key]):
                _refuse_argument(name, key)
        return own(*operands, **used)

    return renamed(call, own.__name__)


_FOLDS = {
    "add": {"reduce": "sum", "accumulate": "cumsum"},
    "multiply": {"reduce": "prod", "accumulate": "cumprod"},
    "maximum": {"reduce": "max"},
    "minimum": {"reduce": "min"},
    "logical_and": {"reduce": "all"},
    "logical_or": {"reduce": "any"},
    "logaddexp": {"reduce": "logsumexp"},
}
"""The names of ufuncs' methods as functions."""


def _method(function: Function, name: str, method: str) -> Function | str:
    """The counterpart of ``np.add.reduce`` and its kin, or what to say."""
    full = f"{name}.{method}"
    if method == "outer":
        whole = counterpart(function)
        return lambda a, b, **arguments: whole(*_outer_operands(a, b), **arguments)
    own = _FOLDS.get(name, {}).get(method)
    if own is None:
        instead = {
            "at": "write ft.set_subtensor(x[index], value) or ft.inc_subtensor(x[index], value)",
            "reduceat": "reduce slices, as in ft.sum(x[:k])",
        }.get(method, "write it by the functions of frazil.tensor, or by fz.reduce")
        return f"np.{full} takes no variables: {instead}"
    fold = getattr(sys.modules["frazil.tensor"], own)
    taken = inspect.signature(fold).parameters

    def call(x: object, axis: object = 0, **arguments: object) -> object:
        for key, value in list(arguments.items()):
            if value is None and key in ("out", "dtype"):
                del arguments[key]
            elif key not in taken:
                _refuse_argument(full, key)
        return fold(x, axis=axis, **arguments)

    return renamed(call, own)


def _outer_operands(a: Any, b: Any) -> tuple[Variable, Variable]:
    a, b = as_tensor(a), as_tensor(b)
    return a[(..., *(None,) * b.ndim)], b


# Functions

_RENAMED: Mapping[str, Mapping[str, str]] = {
    "clip": {"a_min": "min", "a_max": "max"},
    "eye": {"N": "n", "M": "m"},
    "where": {"x": "x1", "y": "x2"},
}
"""Parameters of ours that have other names, where neither name nor position tells which it is."""

_WITHOUT_MEANING: Mapping[str, tuple[object, ...]] = {
    "assume_unique": (True, False),
    "copy": (None, True, False),
    "subok": (True, False),
    "overwrite_input": (True, False),
    "order": (None, "C", "K", "A"),
    "device": (None, "cpu"),
    "kind": (None, "quicksort", "stable", "mergesort", "heapsort", "introselect"),
    "casting": ("same_kind", "unsafe"),
    "stable": (None, True, False),
    "sorted": (True, False),
}
"""Values of arguments that say how memory is used, or how the same result is found."""


def _of_function(name: str, function: Function, own: Function) -> Function:
    try:
        theirs = inspect.signature(function)
    except ValueError:  # older releases of NumPy know no signatures of C functions
        return own
    ours = inspect.signature(own)
    pairs = _pairs(theirs, ours, _RENAMED.get(name, {}))
    alike = _alike(theirs, ours, pairs)

    def call(*args: object, **kwargs: object) -> object:
        if not kwargs and len(args) <= alike:
            return own(*args)
        used = {}
        given = theirs.bind(*args, **kwargs).arguments
        for key, parameter in theirs.parameters.items():
            if parameter.kind is parameter.VAR_KEYWORD:  # what NumPy hands on
                given |= given.pop(key, {})
        for key, value in given.items():
            if key in pairs or key in ours.parameters:
                used[pairs.get(key, key)] = value
            elif not _says_nothing(key, value, _default(theirs, key)):
                _refuse_argument(name, key)
        bound = inspect.BoundArguments(ours, used)
        return own(*bound.args, **bound.kwargs)

    return renamed(call, own.__name__)


def _pairs(
    theirs: inspect.Signature, ours: inspect.Signature, renamed: Mapping[str, str]
) -> dict[str, str]:
    """For parameters of NumPy's the names of ours.

    Those of one name belong together, and so do those that must be given and stand at one place.
    """
    own_names = list(ours.parameters)
    pairs = {name: own for name, own in renamed.items() if name in theirs.parameters}
    pairs |= {name: name for name in theirs.parameters if name in own_names}
    left = [name for name in own_names if name not in pairs.values()]
    for position, (name, parameter) in enumerate(theirs.parameters.items()):
        if name in pairs or position >= len(own_names) or own_names[position] not in left:
            continue
        own = ours.parameters[own_names[position]]
        if own.default is own.empty and own.kind not in (own.KEYWORD_ONLY, own.VAR_KEYWORD):
            several = own.VAR_POSITIONAL in (own.kind, parameter.kind)
            if not several or own.kind is parameter.kind:
                pairs[name] = own.name
    return pairs


def _alike(theirs: inspect.Signature, ours: inspect.Signature, pairs: Mapping[str, str]) -> int:
    """The number of arguments by position that mean the same for both functions."""
    taken = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    count = 0
    for one, other in zip(theirs.parameters.values(), ours.parameters.values(), strict=False):
        if one.kind not in taken or other.kind not in taken or pairs.get(one.name) != other.name:
            break
        count += 1
    return count


def _default(function: inspect.Signature, key: str) -> object:
    parameter = function.parameters.get(key)
    return parameter.default if parameter else inspect.Parameter.empty


def _says_nothing(key: str, value: object, default: object) -> bool:
    meaningless = (default, *_WITHOUT_MEANING.get(key, ()))
    return any(_same(value, one) for one in meaningless)


def _same(value: object, other: object) -> bool:
    return value is other or (type(value) is type(other) and value in (other,))


def _refuse_argument(name: str, argument: str) -> NoReturn:
    advice = {
        "out": "a variable has no memory to write to. Go on with what np."
        f"{name}(...) returns; for a += x write a = a + x",
        "where": "write ft.where(mask, x, y) to choose elements",
        "order": "a variable has no layout of memory. Transpose it before and after, by x.T",
        "dtype": f"write np.{name}(...).astype(dtype), or cast the operands",
        "copy": "a variable does not change. Go on with what the function returns",
    }.get(argument, "leave it out")
    raise TypeError(f"np.{name} of variables takes no {argument}=: {advice}")


def _dtypes(values: Iterable[object]) -> list[Any]:
    return [x.type.numpy_dtype if isinstance(x, Variable) else x for x in values]


def _tensor() -> Any:
    return sys.modules["frazil.tensor"]


def _split(ary: object, indices_or_sections: object, axis: int = 0) -> object:
    if isinstance(indices_or_sections, int | np.integer):
        return _tensor().split(ary, indices_or_sections, axis=axis)
    return _tensor().array_split(ary, indices_or_sections, axis)


def _einsum(*operands: object, optimize: object = None) -> object:
    subscripts, *tensors = operands
    return _tensor().einsum(subscripts, *tensors, optimize=optimize)


def _nan_to_num(
    x: object, copy: bool = True, nan: object = 0.0, posinf: object = None, neginf: object = None
) -> object:
    if not copy:
        _refuse_argument("nan_to_num", "copy")
    return _tensor().nan_to_num(x, nan, posinf, neginf)


_ALIASES: Mapping[str, str] = {"amax": "max", "amin": "min", "around": "round", "fix": "trunc"}
"""Functions of NumPy that have another name here."""

_OTHERS: Mapping[str, Function] = {
    "array": lambda object, dtype=None: as_tensor(object, dtype),
    "asanyarray": as_tensor,
    "asarray": as_tensor,
    "ascontiguousarray": as_tensor,
    "asfortranarray": as_tensor,
    "common_type": lambda *arrays: np.common_type(
        *(np.empty(0, np.result_type(dtype)) for dtype in _dtypes(arrays))
    ),
    "copy": lambda a: as_tensor(a),
    "einsum": _einsum,
    "identity": lambda n, dtype=None: _tensor().eye(n, dtype=dtype),
    "iscomplexobj": lambda x: as_tensor(x).type.numpy_dtype.kind == "c",
    "isrealobj": lambda x: as_tensor(x).type.numpy_dtype.kind != "c",
    "linalg.cross": lambda x1, x2, /, *, axis=-1: _tensor().cross(x1, x2, axis=axis),
    "linalg.matmul": lambda x1, x2, /: _tensor().matmul(x1, x2),
    "linalg.matrix_transpose": lambda x, /: _tensor().matrix_transpose(x),
    "linalg.outer": lambda x1, x2, /: _tensor().outer(x1, x2),
    "linalg.tensordot": lambda x1, x2, /, *, axes=2: _tensor().tensordot(x1, x2, axes),
    "linalg.vecdot": lambda x1, x2, /, *, axis=-1: _tensor().vecdot(x1, x2, axis=axis),
    "nan_to_num": _nan_to_num,
    "ndim": lambda a: as_tensor(a).ndim,
    "split": _split,
    "take_along_axis": lambda arr, indices, axis=-1: _tensor().take_along_axis(arr, indices, axis),
}
"""Counterparts of functions whose arguments differ from ours."""


# What NumPy calls


class Protocols:
    """The methods by which NumPy asks a variable to take over."""

    def __array_ufunc__(
        self: object, function: np.ufunc, method: str, *inputs: object, **kwargs: object
    ) -> Any:
        if _is_left_to_others(map(type, inputs)):
            return NotImplemented
        return counterpart(function, method)(*inputs, **kwargs)

    def __array_function__(
        self: object,
        function: Function,
        types: Iterable[type],
        args: tuple[object, ...],
        kwargs: Mapping[str, object],
    ) -> Any:
        if _is_left_to_others(types):
            return NotImplemented
        return counterpart(function)(*args, **kwargs)


def _is_left_to_others(types: Iterable[type]) -> bool:
    """Whether an operand is of a class that wants to come first, by its ``__array_priority__``."""
    ranks = (getattr(other, "__array_priority__", None) for other in types)
    own = Variable.__array_priority__
    return any(isinstance(rank, int | float) and rank > own for rank in ranks)


for _name in ("__array_ufunc__", "__array_function__"):
    setattr(_core.Variable, _name, vars(Protocols)[_name])
