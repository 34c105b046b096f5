"""Traced arrays: variables of a trace that look like NumPy's arrays."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NoReturn, TypeGuard

import numpy as np

import frazil._core as _core
from frazil._core import Variable
from frazil.graph.op import Array
from frazil.jit.array_methods import METHODS, as_type, get_item, takes_both
from frazil.jit.at import At
from frazil.jit.errors import TracedValueError
from frazil.jit.identity import is_one_of
from frazil.jit.named_results import NAMED, named
from frazil.jit.operands import UNLIKE_ARRAYS, class_that_asks, deep, is_foreign
from frazil.jit.operators import AUGMENTED, SHIFTS, UFUNCS
from frazil.jit.repetition import typed
from frazil.jit.trace import (
    Trace,
    current_trace,
    leave,
    leave_if_changed,
    refuse,
    refuse_value,
    users_line,
)
from frazil.scalar.constants import as_tensor
from frazil.tensor.dispatch import counterpart, has_counterpart, op_of

_ATTRIBUTES = {np.shape: "shape", np.size: "size", np.ndim: "ndim"}
_PYTHONS_TRUTH = frozenset((np.allclose, np.array_equal, np.array_equiv))
"""Functions that return a bool of Python's."""
_PYTHONS_NUMBERS = (int, float, bool)
_WAY_OF_ITS_OWN = "an operand is {}, which has a way of its own"


class TracedArray(_core.Traced):
    """An array within a compiled function, or what one leaves behind when it could not be compiled.

    Operators, methods and NumPy's functions compute with it as with the array that it stands for;
    once its trace is over they give plain arrays.
    """

    __slots__ = ()
    __array_priority__ = 1000.0
    __hash__ = None  # type: ignore[assignment]

    @property
    def __class__(self) -> type:
        """The class that NumPy would have here: of arrays, or of numbers for no dimensions."""
        if self._variable.ndim or self._shared:
            return np.ndarray
        return self._variable.type.numpy_dtype.type

    @__class__.setter
    def __class__(self, kind: type) -> None:
        raise TypeError("the class of an array does not change")

    # ------------------------------------------------------------ what NumPy asks for

    def __array_function__(
        self, function: Callable[..., object], types: object, args: Any, kwargs: Any
    ) -> Any:
        if function in _ATTRIBUTES and len(args) == 1 and not kwargs:
            return getattr(args[0], _ATTRIBUTES[function])
        return apply(function, args, kwargs)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        known = None if self.ndim else self._trace.concrete(self._variable)
        if self._trace.open and known is None:
            other = class_that_asks()
            if other is not None:
                leave(_WAY_OF_ITS_OWN.format(other))
            refuse(
                f"np.asarray of a traced array, {users_line()}: {self._variable.type} is an array "
                "without elements while the function is traced. Leave np.asarray or np.array out, "
                "which x.astype(dtype) replaces; for np.array([x, y]) write np.stack([x, y]), for "
                "out[i] = x out = out.at[i].set(x) on a traced array, for np.f(x, out=out) "
                "out = np.f(x). Functions that want plain arrays run outside of compiled ones"
            )
        value = np.asarray(plain(self), dtype)
        return value.copy() if copy else value

    # ------------------------------------------------------------ what is known of it

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """The dtype, NumPy's."""
        return self._variable.type.numpy_dtype

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self._variable.ndim

    @property
    def itemsize(self) -> int:
        """The number of bytes of an element."""
        return self._variable.type.itemsize

    @property
    def nbytes(self) -> Any:
        """The number of bytes of all elements."""
        return self.size * self.itemsize

    @property
    def shape(self) -> tuple[Any, ...]:
        """The lengths: ints where they are known to be 1, else numbers that the graph computes."""
        if not self._trace.open:
            return np.shape(plain(self))
        return tuple([_length(self._trace, self._variable, at) for at in range(self.ndim)])

    @shape.setter
    def shape(self, shape: object) -> None:
        raise AttributeError(
            f"the shape of a traced array does not change, {users_line()}: write x = "
            f"x.reshape(shape) for x.shape = shape; given {shape}"
        )

    @property
    def size(self) -> Any:
        """The number of elements."""
        size: Any = 1
        for length in self.shape:
            size = size * length
        return size

    @property
    def T(self) -> Any:
        """A view with the dimensions in reverse order."""
        return apply(np.transpose, (self,), {})

    @property
    def mT(self) -> Any:
        """A view with the last two dimensions swapped."""
        return apply(np.matrix_transpose, (self,), {})

    @property
    def real(self) -> Any:
        """The real parts: of an array that is not complex, itself."""
        return apply(np.real, (self,), {}) if self.dtype.kind == "c" else self

    @property
    def imag(self) -> Any:
        """The imaginary parts, which are zeros unless the array is complex."""
        return apply(np.imag, (self,), {})

    def conj(self) -> Any:
        """Return the conjugates: of an array that is not complex, itself."""
        return apply(np.conj, (self,), {}) if self.dtype.kind == "c" else self

    conjugate = conj

    def __copy__(self) -> TracedArray:
        return self.copy()

    def __deepcopy__(self, memo: object) -> TracedArray:
        return self.copy()

    def __reduce_ex__(self, protocol: object) -> Any:
        if self._trace.open:
            refuse(f"a pickle of a traced array, {users_line()}: it has no elements yet")
        return plain(self).__reduce_ex__(protocol)

    @property
    def __frazil_variable__(self) -> Variable:
        """The variable that functions on variables take in its place."""
        trace: Trace = self._trace
        if not trace.open or trace is not current_trace():
            raise AttributeError("__frazil_variable__")
        trace.symbolic = True
        return self._variable

    def __getattr__(self, name: str) -> Any:
        """Raise: a traced array lacks the attributes of NumPy's arrays that depend on memory."""
        if _is_special(name) or not hasattr(self.__class__, name):
            raise AttributeError(f"{self.__class__.__name__!r} object has no attribute {name!r}")
        return refuse_attribute(name) if self._trace.open else getattr(plain(self), name)

    @property
    def at(self) -> At:
        """``x.at[index].set(value)`` returns the array with a part replaced, ``add`` increased."""
        return At(self, apply)

    def __repr__(self) -> str:
        return self._text(repr)

    def __str__(self) -> str:
        return self._text(str)

    def _text(self, of: Callable[[object], str]) -> str:
        """The text of the array as it is in this call, for which the trace then stands alone."""
        if self._trace.depth and self._trace.open:
            return f"<traced {self._variable}: {self._variable.type}>"
        return of(self._read("a text is made of a traced array"))

    def _read(self, what: str) -> object:
        """The value of this call; the graph does not stand for others, unless lengths tell it."""
        if self._trace.open:
            known = None if self.ndim else self._trace.concrete(self._variable)
            if known is None:
                self._trace.consume(what)
        return plain(self)

    def __len__(self) -> int:
        if not self.ndim:
            raise TypeError("len() of unsized object")
        return int(self.shape[0])

    def __iter__(self) -> Iterator[Any]:
        if not self.ndim:
            raise TypeError("iteration over a 0-d array")
        return (self[at] for at in range(len(self)))

    def __bool__(self) -> bool:
        return bool(self._number("the truth of a traced array"))

    def __int__(self) -> int:
        return int(self._number("int() of a traced array"))

    def __float__(self) -> float:
        return float(self._number("float() of a traced array"))

    def __complex__(self) -> complex:
        return complex(self._number("complex() of a traced array"))

    def __round__(self, digits: int | None = None) -> Any:
        if digits is not None and type(self) is TracedArray:
            return apply(np.round, (self, digits), {})
        return round(self._number("round() of a traced array"), digits)

    def __index__(self) -> int:
        value = self._number("a traced array in the place of an int")
        return value.__index__()  # type: ignore[no-any-return]

    def item(self, *args: object) -> Any:
        """Raise, as numbers differ from call to call, unless they are lengths."""
        return self._number(".item() of a traced array").item(*args)

    def tolist(self) -> Any:
        """Raise, as numbers differ from call to call, unless they are lengths."""
        return self._number(".tolist() of a traced array").tolist()

    def __format__(self, form: str) -> str:
        return self._text(lambda value: format(value, form))

    def __contains__(self, value: object) -> bool:
        return bool((self == value).any())

    def _number(self, what: str) -> Any:
        if not self._trace.open:
            return plain(self)
        known = None if self.ndim else self._trace.concrete(self._variable)
        if known is None:
            refuse_value(what, self._variable)
        return known

    # ------------------------------------------------------------ parts

    def __getitem__(self, index: object) -> Any:
        return apply(get_item, (self, index), {})

    def __setitem__(self, index: object, value: object) -> None:
        raise TypeError(
            "x[index] = value: a traced array does not change, since views of it may be about. "
            "Write x = x.at[index].set(value), or x = x.at[index].add(value) for +="
        )

    def copy(self, order: str = "C") -> TracedArray:
        """Return the array by another name."""
        return self if not self._trace.open else TracedArray(self._trace, self._variable)

    def astype(
        self,
        dtype: Any,
        order: str = "K",
        casting: Any = "unsafe",
        subok: bool = True,
        copy: bool = True,
    ) -> Any:
        """Return the array in another dtype; ``order`` and ``copy`` tell of memory alone."""
        if not np.can_cast(self.dtype, dtype, casting):
            raise TypeError(
                f"Cannot cast array data from {self.dtype!r} to {np.dtype(dtype)!r} according to "
                f"the rule {casting!r}"
            )
        return apply(as_type, (self, dtype), {})

    def fill(self, value: object) -> None:
        """Raise: a traced array does not change."""
        self[...] = value


class TracedLength(TracedArray):
    """A length, or arithmetic of Python's on lengths: Python code may ask for its value."""

    __slots__ = ()

    @property
    def __class__(self) -> type:
        return type(self._zero)

    @__class__.setter
    def __class__(self, kind: type) -> None:
        raise TypeError("the class of an int does not change")

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(self._number("the hash of a traced number"))

    @property
    def _zero(self) -> complex | float | bool:
        """A number of Python's that arithmetic takes as it takes this one."""
        zeros: dict[str, complex | float | bool]
        zeros = {"bool": False, "float64": 0.0, "complex128": 0j}
        return zeros.get(self._variable.dtype, 0)


def _length(trace: Trace, variable: Variable, axis: int) -> object:
    static = variable.type.shape[axis]
    if static is not None:
        return static
    return TracedLength(trace, variable.shape[axis])


def plain(value: object) -> Any:
    """Return the value of a traced array as NumPy has it: numbers where nothing has dimensions."""
    if not is_traced(value):
        return value
    array = value._trace.value(value._variable)
    if type(value) is TracedLength:
        return array.item()
    return array if array.ndim or value._shared else array[()]


def refuse_attribute(name: str) -> NoReturn:
    """Raise: what NumPy's arrays tell by this attribute, traced ones do not."""
    refuse(
        f".{name} of a traced array, {users_line()}: a traced array has no memory of its own. "
        "Use functions of NumPy and methods that give new arrays, or compute this outside of the "
        "compiled function"
    )


def _is_special(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def is_traced(value: object) -> TypeGuard[TracedArray]:
    """Whether a value is a traced array; ``isinstance`` answers as for an array of NumPy's."""
    return issubclass(type(value), TracedArray)


def apply(
    function: Callable[..., object],
    args: tuple[object, ...],
    kwargs: dict[str, object],
    method: str = "__call__",
    *,
    is_operator: bool = False,
) -> Any:
    """Return the result of a function of NumPy for traced arrays, by its counterpart in frazil.

    An operator of Python's on Python's numbers returns a Python number. A function that takes no
    complex numbers here ends the run, as NumPy may take them.
    """
    try:
        return _applied(function, args, kwargs, method, is_operator)
    except TypeError as error:
        trace = current_trace()
        if trace is None or isinstance(error, TracedValueError):
            raise
        leave_if_changed(trace)
        if trace.read_plainly((args, kwargs)):  # a shape or an axis, maybe
            return apply(function, args, kwargs, method, is_operator=is_operator)
        if _has_complex((args, kwargs)):
            leave(f"frazil computes no {function.__name__} of these complex numbers")
        raise


def _has_complex(values: object) -> bool:
    """Whether there are traced arrays of complex numbers among operands."""
    found = False

    def look(value: object) -> object:
        nonlocal found
        found = found or (is_traced(value) and value.dtype.kind == "c")
        return value

    deep(look, values)
    return found


def _applied(
    function: Callable[..., object],
    args: tuple[object, ...],
    kwargs: dict[str, object],
    method: str,
    is_operator: bool,
) -> Any:
    trace = current_trace()
    if trace is None:
        own = function if method == "__call__" else getattr(function, method)
        return own(*deep(plain, args), **deep(plain, kwargs))
    unlike = is_operator and any(is_one_of(type(x), UNLIKE_ARRAYS) for x in args)
    if unlike and function in _EQUALITIES:
        return _all_unequal(next(x for x in args if is_traced(x)), function is np.not_equal)
    if type(function) is np.ufunc and not has_counterpart(function):
        leave(f"frazil has no counterpart of the ufunc {function.__name__}")
    if method == "__call__" and not kwargs and type(function) is np.ufunc:
        made = _of_arrays(trace, function, args)
        if made is not None:
            return made
    own = function if takes_both(function) else counterpart(function, method)
    operands: list[TracedArray] = []

    def variable(value: object) -> object:
        if is_traced(value):
            if value._trace is not trace:
                return plain(value)
            operands.append(value)
            return value._variable
        if is_foreign(value, is_operator):
            leave(_WAY_OF_ITS_OWN.format(f"a {type(value).__qualname__}"))
        return trace.lift(value) if type(value) is np.ndarray else value

    given = deep(variable, args)
    keywords = deep(variable, kwargs)
    if isinstance(function, np.ufunc):
        given = tuple(_weakened(given, args))
    given = tuple(typed(trace, function, given, keywords))
    numbers = is_operator and all(
        type(x) is TracedLength or is_one_of(type(x), (*_PYTHONS_NUMBERS, complex)) for x in args
    )
    result: Any = own(*given, **keywords)
    if function in _PYTHONS_TRUTH:
        return TracedLength(trace, result)
    wrapped = _wrapped(trace, result, operands, numbers)
    return named(function, wrapped) if function in NAMED else wrapped


def _of_arrays(trace: Trace, ufunc: np.ufunc, args: tuple[Any, ...]) -> object:
    """The result of a ufunc for traced arrays, captured ones and numbers; None for other operands.

    For arrays with known lengths other than 1, Rust computes it.
    """
    shapes = trace.shapes_now
    operands: list[TracedArray] = []
    given: list[Any] = []
    ranked, now = 0, None
    for x in args:
        kind = type(x)
        if kind is TracedArray and x._trace is trace:
            operands.append(x)
            own = x._variable
            shape = shapes.get(own)
        elif is_one_of(kind, _PYTHONS_NUMBERS):
            given.append(x)
            continue
        elif kind is np.ndarray:
            own, shape = trace.lift(x), x.shape
        else:
            return None
        given.append(own)
        if own.ndim:
            ranked += 1
            now = shape if ranked == 1 or shape == now else None
    if ranked > 1 and (now is None or 1 in now):
        given = trace.aligned(given)
    result = _counterpart(ufunc)(*given)
    if not isinstance(result, Variable) or ufunc.signature is not None:
        return _wrapped(trace, result, operands)
    if now is not None:
        shapes[result] = now
    traced = TracedArray(trace, result)
    if result.ndim and _is_view(result, operands):
        _share(traced, *operands)
    return traced


_counterpart = cache(counterpart)
_EQUALITIES = (np.equal, np.not_equal)


def _all_unequal(x: TracedArray, answer: bool) -> object:
    """The result of ``x == None`` and ``x != "text"``."""
    if not x.ndim and not x._shared:
        return answer
    return apply(np.full_like, (x, answer), {"dtype": bool})


def _weakened(given: tuple[Any, ...], args: tuple[Any, ...]) -> list[object]:
    """Operands; lengths take the dtype of the others, as numbers of Python's do."""
    if not any(type(arg) is TracedLength for arg in args):
        return list(given)
    weak = [x._zero if type(x) is TracedLength else getattr(x, "dtype", x) for x in args]
    dtype = np.result_type(*[0 if type(x) is list else x for x in weak])
    return [
        as_tensor(own, dtype)
        if type(arg) is TracedLength and own.dtype not in ("bool", dtype)
        else own
        for own, arg in zip(given, args, strict=True)
    ]


def _wrapped(
    trace: Trace, result: object, operands: list[TracedArray], numbers: bool = False
) -> Any:
    """The result of a function of variables, with traced arrays in their place."""
    if isinstance(result, (tuple, list)):
        made = [_wrapped(trace, part, operands, numbers) for part in result]
        if hasattr(result, "_fields"):
            return type(result)(*made)
        return tuple(made) if isinstance(result, tuple) else made
    if not isinstance(result, Variable):
        return result
    if numbers and result.dtype in ("int64", "bool", "float64", "complex128"):
        return TracedLength(trace, result)
    traced = TracedArray(trace, result)
    if result.ndim and _is_view(result, operands):
        _share(traced, *operands)
    return traced


def _share(*arrays: TracedArray) -> None:
    for one in arrays:
        one._shared = one._shared or one.ndim > 0


def _is_view(result: Variable, operands: list[TracedArray]) -> bool:
    for x in operands:
        if x._variable is result:
            return True
    node = result.owner
    return node is not None and bool(node.op.view_map)


def _augmented(name: str, ufunc: np.ufunc) -> Callable[[Any, object], object]:
    """``x += y``: what else names the array sees it too, as in NumPy."""
    plainly = getattr(operator, f"__{name}__")

    def method(self: TracedArray, other: object) -> object:
        made = plainly(self, other)
        if not is_traced(made) or (not self.ndim and not self._shared):
            return made  # numbers do not change: the name gets another one
        if self._shared:
            raise TypeError(
                f"{users_line()}: this changes an argument in place, or an array that has views. "
                f"Write x = np.{ufunc.__name__}(x, y), which makes another array"
            )
        if not np.can_cast(made.dtype, self.dtype, "same_kind"):
            raise TypeError(
                f"Cannot cast ufunc {ufunc.__name__!r} output from {made.dtype!r} to "
                f"{self.dtype!r} with casting rule 'same_kind'"
            )
        if made.ndim != self.ndim:
            raise ValueError(f"an array of {self.ndim} dimensions cannot take {made.ndim}")
        self._become(as_tensor(made._variable, self.dtype), made)
        return self

    return method


def _install() -> None:
    for name, ufunc in (AUGMENTED | SHIFTS).items():
        setattr(TracedArray, f"__i{name}__", _augmented(name, ufunc))
    for name, ufunc in SHIFTS.items():

        def shift(self: TracedArray, other: object, own: np.ufunc = ufunc) -> object:
            return apply(own, (self, other), {}, is_operator=True)

        def shifted(self: TracedArray, other: object, own: np.ufunc = ufunc) -> object:
            return apply(own, (other, self), {}, is_operator=True)

        setattr(TracedArray, f"__{name}__", shift)
        setattr(TracedArray, f"__r{name}__", shifted)
    for name, function in METHODS.items():
        setattr(
            TracedArray,
            name,
            lambda self, *args, own=function, **kwargs: own(self, *args, **kwargs),
        )
    _core.set_traced(TracedArray, apply, op_of, UFUNCS)


_install()
