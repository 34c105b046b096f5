"""Arrays that are computed when a value is needed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

import frazil.tensor as ft
from frazil._core import Variable
from frazil.array_api import special_cases
from frazil.array_api.evaluation import Graph, over
from frazil.graph.op import Array as NumPyArray
from frazil.tensor import index_syntax

VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12")
"""The versions of the standard that the functions follow."""

DEVICE = "cpu"
"""The only device."""

Number: TypeAlias = bool | int | float | complex


class Array:
    """An array of the Array API standard: a graph, whose value is computed when it is asked for.

    ``asarray`` and the other functions of :mod:`frazil.array_api` make one. Its shape and dtype are
    known at once. Its elements are computed, in one compiled function with all that they depend on,
    by ``bool``, ``int``, ``float``, ``numpy.asarray``, ``repr``, DLPack, and where a shape depends
    on values, as that of ``x[x > 0]``; then they are kept.

    Attributes
    ----------
    dtype : numpy.dtype
        The type of the elements.
    shape : tuple of int
        The lengths.
    ndim, size : int
        The numbers of dimensions and of elements.
    device : str
        Always "cpu".
    T, mT : Array
        The transpose of a matrix, and of each matrix of a stack.

    Examples
    --------
    >>> import frazil.array_api as xp
    >>> x = xp.asarray([1.0, 2.0, 3.0])
    >>> y = xp.exp(x) * 2
    >>> y.shape, float(xp.sum(x * x))
    ((3,), 14.0)
    >>> x[1] = 5.0
    >>> x
    Array([1., 5., 3.])
    """

    __slots__ = ("__weakref__", "_graph")
    __hash__ = None  # type: ignore[assignment]
    __array_priority__ = 1000.0
    # NumPy's arrays leave operators between them and these to the methods below.
    __array_ufunc__ = None

    def __init__(self, graph: Graph) -> None:
        # Replaced as a whole, so that other threads never see halves of two.
        self._graph = graph

    # ------------------------------------------------------------ what is known at once

    @property
    def dtype(self) -> np.dtype[np.generic]:
        return self._graph.variable.type.numpy_dtype

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(length for length in self._graph.variable.type.shape if length is not None)

    @property
    def ndim(self) -> int:
        return self._graph.variable.ndim

    @property
    def size(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def device(self) -> str:
        return DEVICE

    @property
    def T(self) -> Array:
        if self.ndim != 2:
            raise ValueError(
                f"x.T is the transpose of a matrix; x has {self.ndim} dimensions. x.mT transposes "
                "each matrix of a stack, and permute_dims any dimensions"
            )
        return self.mT

    @property
    def mT(self) -> Array:
        return lifted(ft.matrix_transpose, self)

    def to_device(self, device: str, /, *, stream: object = None) -> Array:
        """Return the array itself: there is one device."""
        check_device(device)
        if stream is not None:
            raise ValueError(f"the device {DEVICE!r} has no streams; given {stream!r}")
        return self

    def __array_namespace__(self, /, *, api_version: str | None = None) -> ModuleType:
        if api_version not in (None, *VERSIONS):
            raise ValueError(
                f"the standard is followed as of {VERSIONS[-1]}; asked for {api_version!r}"
            )
        return sys.modules["frazil.array_api"]

    # ------------------------------------------------------------ what computes the elements

    def _value(self) -> NumPyArray:
        """The elements, which are kept: a read-only array."""
        graph = self._graph
        computed = graph.computed()
        if self._graph is graph:
            self._graph = computed
        return computed.value()

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> NumPyArray:
        return np.array(self._value(), dtype=dtype, copy=copy)

    def __dlpack__(
        self,
        /,
        *,
        stream: object = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> object:
        # Callers may write to their arrays; the value here never changes. Since version 1.0 DLPack
        # tells them that they must not.
        value = self._value()
        if copy is False and (max_version is None or max_version < (1, 0)):
            raise BufferError(
                "elements that must not be copied are read-only, which DLPack says since version "
                f"1.0; given max_version={max_version}"
            )
        lent = value if copy is False else value.copy()
        return lent.__dlpack__(stream=stream, max_version=max_version, dl_device=dl_device)

    def __dlpack_device__(self, /) -> tuple[int, int]:
        return self._value().__dlpack_device__()

    def _number(self, wanted: str) -> Any:
        if self.ndim:
            raise TypeError(
                f"{wanted} takes an array without dimensions; given one of shape {self.shape}"
            )
        return self._value()[()]

    def __bool__(self, /) -> bool:
        return bool(self._number("bool()"))

    def __int__(self, /) -> int:
        return int(self._number("int()"))

    def __float__(self, /) -> float:
        return float(self._number("float()"))

    def __complex__(self, /) -> complex:
        return complex(self._number("complex()"))

    def __index__(self, /) -> int:
        if self.dtype.kind not in "iu":
            raise TypeError(f"an index must be an integer; given an array of {self.dtype}")
        return int(self._number("an index"))

    def __repr__(self) -> str:
        return repr(np.asarray(self._value())).replace("array(", "Array(", 1)

    def __reduce__(self) -> tuple[object, ...]:
        return leaf, (np.array(self._value()),)

    def __len__(self) -> int:
        if not self.ndim:
            raise TypeError("len() of an array without dimensions")
        return self.shape[0]

    def __iter__(self) -> Iterator[Array]:
        return (self[at] for at in range(len(self)))

    # ------------------------------------------------------------ elements

    def __getitem__(self, key: object, /) -> Array:
        return lifted(_part, self, key)

    def __setitem__(self, key: object, value: object, /) -> None:
        if isinstance(value, Array) and not np.can_cast(value.dtype, self.dtype, "same_kind"):
            raise TypeError(
                f"elements of {value.dtype} cannot be stored in an array of {self.dtype}"
            )
        self._graph = lifted(_with_part, self, key, value)._graph


def leaf(value: NumPyArray) -> Array:
    """Return an array that holds ``value``, which must have no other owner."""
    return Array(Graph.of(value))


def _part(x: Variable, index: Any) -> Variable:
    """The elements at an index."""
    if _is_single_mask(index):
        return index_syntax.get_item(ft.expand_dims(x, 0), ft.expand_dims(index, 0))
    return index_syntax.get_item(x, index)


def _with_part(x: Variable, index: Any, value: Any) -> Variable:
    """``x`` with other elements at an index."""
    new = ft.astype(ft.as_tensor(value), x.dtype)
    if _is_single_mask(index):
        return ft.where(index, new, x)
    return ft.set_subtensor(index_syntax.get_item(x, index), new)


def _is_single_mask(index: object) -> bool:
    """Whether an index is one truth value, which takes all elements or none."""
    return isinstance(index, bool) or (
        isinstance(index, Variable) and index.dtype == "bool" and not index.ndim
    )


def _unwrapped(given: object) -> tuple[Any, list[Graph]]:
    """``given`` with variables in place of arrays, and the graphs of these arrays."""
    if isinstance(given, Array):
        graph = given._graph
        return graph.variable, [graph]
    if isinstance(given, tuple | list):
        parts = [_unwrapped(part) for part in given]
        kind = type(given)
        return kind(part for part, _ in parts), [each for _, found in parts for each in found]
    if isinstance(given, slice):
        bounds, found = _unwrapped((given.start, given.stop, given.step))
        return slice(*bounds), found
    return given, []


def lifted(function: Callable[..., object], /, *args: object, **kwargs: object) -> Array:
    """Return what ``function`` makes of the variables of arrays, which is one variable."""
    result, graphs = _applied(function, args, kwargs)
    return Array(over(result, graphs))


def lifted_all(
    function: Callable[..., object], /, *args: object, **kwargs: object
) -> tuple[Array, ...]:
    """Return what ``function`` makes of the variables of arrays, which are several variables."""
    results, graphs = _applied(function, args, kwargs)
    return tuple(Array(over(each, graphs)) for each in results)


def _applied(
    function: Callable[..., object], args: tuple[object, ...], kwargs: Mapping[str, object]
) -> tuple[Any, list[Graph]]:
    arguments, graphs = _unwrapped(args)
    named, more = _unwrapped(tuple(kwargs.values()))
    return function(*arguments, **dict(zip(kwargs, named, strict=True))), graphs + more


def check_device(device: object) -> None:
    """Raise ValueError unless ``device`` is None or the only one there is."""
    if device not in (None, DEVICE):
        raise ValueError(f"the only device is {DEVICE!r}; given {device!r}")


def _operator(
    function: Callable[..., object], reflected: bool
) -> Callable[[Array, object], object]:
    def apply(self: Array, other: object, /) -> Any:
        if not isinstance(other, Array | Number | np.ndarray | np.generic):
            return NotImplemented
        return lifted(function, other, self) if reflected else lifted(function, self, other)

    return apply


def _unary_operator(function: Callable[..., object]) -> Callable[[Array], object]:
    def apply(self: Array, /) -> Any:
        return lifted(function, self)

    return apply


_BINARY: dict[str, Callable[..., Any]] = {
    "add": ft.add,
    "sub": ft.subtract,
    "mul": ft.multiply,
    "truediv": ft.divide,
    "floordiv": special_cases.floor_divide,
    "mod": ft.remainder,
    "pow": ft.pow,
    "matmul": ft.matmul,
    "and": ft.bitwise_and,
    "or": ft.bitwise_or,
    "xor": ft.bitwise_xor,
    "lshift": ft.bitwise_left_shift,
    "rshift": ft.bitwise_right_shift,
}
_COMPARISONS: dict[str, Callable[..., Any]] = {
    "eq": ft.equal,
    "ne": ft.not_equal,
    "lt": ft.less,
    "le": ft.less_equal,
    "gt": ft.greater,
    "ge": ft.greater_equal,
}
_UNARY: dict[str, Callable[..., Any]] = {
    "abs": ft.abs,
    "neg": ft.negative,
    "pos": ft.positive,
    "invert": ft.bitwise_invert,
}


def _set(name: str, method: Callable[..., object]) -> None:
    method.__name__, method.__qualname__ = name, f"Array.{name}"
    setattr(Array, name, method)


for _name, _function in _BINARY.items():
    _set(f"__{_name}__", _operator(_function, reflected=False))
    _set(f"__r{_name}__", _operator(_function, reflected=True))
for _name, _function in _COMPARISONS.items():
    _set(f"__{_name}__", _operator(_function, reflected=False))
for _name, _function in _UNARY.items():
    _set(f"__{_name}__", _unary_operator(_function))
