"""The methods of variables: tensor functions in their other spelling.

The members of the class here are set on the core's ``Variable`` when the package is imported.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import FunctionType
from typing import TYPE_CHECKING, Any, cast

import numpy as np

import frazil._core as _core
from frazil.graph.op import Array
from frazil.scalar.constants import TensorLike
from frazil.tensor import (
    creation,
    cumulation,
    diagonals,
    dims,
    index_syntax,
    lengths,
    moments,
    positions,
    products,
    realness,
    reductions,
    repetition,
    reshaping,
    searching,
    sorting,
    statistics,
    taking,
    transposition,
)
from frazil.tensor.at import At
from frazil.tensor.elementwise import casting, choice, rounding, steps
from frazil.tensor.lengths import LengthLike
from frazil.tensor.linalg import norms

if TYPE_CHECKING:
    from frazil._core import Variable


class _Methods(_core.Variable):
    @property
    def shape(self) -> tuple[Variable, ...]:
        """The lengths, 0-d int64 variables; constants where the type knows them."""
        return lengths.lengths(self)

    @shape.setter
    def shape(self, shape: object) -> None:
        raise AttributeError(
            f"the shape of {self} does not change: write y = x.reshape(shape) for x.shape = shape, "
            f"and go on with y; given {shape}"
        )

    @property
    def size(self) -> Variable:
        """The number of elements, a 0-d int64 variable."""
        return lengths.size(self)

    @property
    def T(self) -> Variable:
        """A view with the dimensions in reverse order."""
        return transposition.permute_dims(self)

    @property
    def mT(self) -> Variable:
        """A view with the last two dimensions swapped."""
        return transposition.matrix_transpose(self)

    def dot(self, other: TensorLike) -> Variable:
        """Return the product with ``other``; see :func:`frazil.tensor.dot`."""
        return products.dot(self, other)

    def __matmul__(self, other: TensorLike, /) -> Variable:
        """Return ``self @ other``; see :func:`frazil.tensor.matmul`."""
        return products.matmul(self, other)

    def __rmatmul__(self, other: TensorLike, /) -> Variable:
        """Return ``other @ self``; see :func:`frazil.tensor.matmul`."""
        return products.matmul(other, self)

    def reshape(
        self,
        *shape: LengthLike | Sequence[LengthLike],
        ndim: int | None = None,
        order: reshaping.Order = "C",
    ) -> Variable:
        """Return the elements under another shape, given as one sequence or as several lengths;
        see :func:`frazil.tensor.reshape`.
        """
        return reshaping.reshape(self, _unpacked(shape), ndim, order=order)

    def transpose(self, *axes: int | Sequence[int]) -> Variable:
        """Return a view with the dimensions permuted (default: reversed), the axes given as one
        sequence or as several ints; see :func:`frazil.tensor.permute_dims`.
        """
        return transposition.permute_dims(self, _unpacked(axes) if axes else None)

    def copy(self) -> Variable:
        """Return the variable itself: a value never changes, so nothing needs copying."""
        return self

    @property
    def real(self) -> Variable:
        """The real part; the variable itself if it is real."""
        return realness.real(self)

    @property
    def imag(self) -> Variable:
        """The imaginary part; zeros if the variable is real."""
        return realness.imag(self)

    @property
    def at(self) -> At:
        """Index it for the tensor with a part changed: ``x.at[i].set(v)``."""
        return At(self)

    def __divmod__(self, other: TensorLike, /) -> tuple[Variable, Variable]:
        """Return ``self // other`` and ``self % other``."""
        return steps.divmod(self, other)

    def __rdivmod__(self, other: TensorLike, /) -> tuple[Variable, Variable]:
        """Return ``other // self`` and ``other % self``."""
        return steps.divmod(other, self)

    def __getitem__(self, index: object, /) -> Variable:
        """Return a part: integers, slices, ``...``, ``None`` and 0-d integer variables in the place
        of integers make a view; arrays of integers and of bool pick elements.
        """
        return index_syntax.get_item(self, index)

    def __iter__(self) -> Iterator[Variable]:
        """Iterate over the first dimension, whose length must be static."""
        return (self[position] for position in range(len(self)))

    def __len__(self) -> int:
        """Return the static length of the first dimension."""
        if self.ndim == 0:
            raise TypeError(f"a tensor without dimensions has no length and no items: {self}")
        static = self.type.shape[0]
        if static is None:
            raise TypeError(
                f"the length of {self} is not known before a call. Use x.shape[0] for the length "
                "as a variable, or declare it: ft.tensor(shape=(3, ...))."
            )
        return static

    def __deepcopy__(self, memo: dict[int, object]) -> Variable:
        """Return the expression over copies of its shared variables; itself where it has none."""
        roots = _core.root_inputs([self])
        shared = [x for x in roots if isinstance(x, _core.SharedVariable)]
        if not shared:
            return self
        copies = [(x, copy.deepcopy(x, memo)) for x in shared]
        (made,) = _core.graph_replace([self], copies)
        if self.name is not None and made.name is None:
            made.name = self.name
        return made

    def __pos__(self) -> Variable:
        """Return the variable as it is; of bool, TypeError as NumPy raises."""
        return realness.positive(self)

    def conj(self) -> Variable:
        """Return ``ft.conj(self)``; bool as it is, as NumPy's method, not its function, does."""
        return self if self.dtype == "bool" else realness.conj(self)

    def conjugate(self) -> Variable:
        """Return ``self.conj()``."""
        return self.conj()

    def __array__(self, *args: object, **kwargs: object) -> Array:
        """Raise TypeError: a variable has no value yet."""
        asks = sys._getframe(1).f_globals.get("__name__", "")
        if asks.startswith("scipy.sparse"):
            # A sparse array's operators give way to whatever becomes an array of one object.
            single = np.empty((), dtype=object)
            single[()] = self
            return single
        raise TypeError(
            f"{self} is a variable without a value, and NumPy functions take arrays. Use the "
            "function of this name in frazil.tensor, or compile with frazil.function and call "
            "the result."
        )


def _unpacked(given: tuple[object, ...]) -> Any:
    """Return the one sequence that was given, or several values as one."""
    return given[0] if len(given) == 1 else given


_SPELLED: Mapping[str, tuple[Callable[..., object], str]] = {
    "sum": (reductions.sum, "the sum of elements over ``axis``"),
    "prod": (reductions.prod, "the product of elements over ``axis``"),
    "mean": (moments.mean, "the mean of elements over ``axis``"),
    "var": (moments.var, "the variance of elements over ``axis``"),
    "std": (moments.std, "the standard deviation over ``axis``"),
    "max": (reductions.max, "the largest element over ``axis``"),
    "min": (reductions.min, "the smallest element over ``axis``"),
    "all": (reductions.all, "whether all elements over ``axis`` are true"),
    "any": (reductions.any, "whether any element over ``axis`` is true"),
    "argmax": (searching.argmax, "the positions of the largest elements"),
    "argmin": (searching.argmin, "the positions of the smallest elements"),
    "argsort": (sorting.argsort, "the positions that sort along ``axis``"),
    "nonzero": (searching.nonzero, "the positions of elements that are not zero"),
    "cumsum": (cumulation.cumsum, "the cumulative sum along ``axis``"),
    "cumprod": (cumulation.cumprod, "the cumulative product along ``axis``"),
    "diagonal": (diagonals.diagonal, "a diagonal"),
    "trace": (diagonals.trace, "the sum of a diagonal"),
    "take": (taking.take, "the elements at some positions"),
    "repeat": (repetition.repeat, "each element repeated"),
    "ravel": (reshaping.ravel, "the elements as a vector"),
    "flatten": (reshaping.flatten, "a view with the last dimensions joined"),
    "squeeze": (dims.squeeze, "a view without dimensions of length 1"),
    "swapaxes": (transposition.swapaxes, "a view with two dimensions swapped"),
    "dimshuffle": (transposition.dimshuffle, "a view with dimensions permuted, dropped and added"),
    "astype": (casting.cast, "the elements converted to ``dtype``"),
    "clip": (choice.clip, "the elements limited to an interval"),
    "round": (rounding.round, "the nearest numbers with so many decimals"),
    "set": (
        index_syntax.set_subtensor,
        "the tensor that this is a part of with new values in this part",
    ),
    "inc": (
        index_syntax.inc_subtensor,
        "the tensor that this is a part of with this part increased",
    ),
    "sort": (sorting.sort, "the elements sorted along ``axis``"),
    "zeros_like": (creation.zeros_like, "zeros of this shape"),
    "ones_like": (creation.ones_like, "ones of this shape"),
    "searchsorted": (positions.searchsorted, "where ``v`` belongs among these"),
    "ptp": (statistics.ptp, "the largest less the smallest elements"),
    "norm": (norms.norm, "the norm over ``axis``"),
}
"""Methods with the arguments of a function: that function, and a text on its result."""

_OF_ONE = (
    *("arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh", "ceil"),
    *("cos", "cosh", "deg2rad", "exp", "exp2", "expm1", "floor", "log", "log10", "log1p", "log2"),
    *("rad2deg", "sin", "sinh", "sqrt", "tan", "tanh", "trunc"),
)
"""Functions of one tensor that are methods, too."""


def _method(name: str) -> Callable[[Variable], Variable]:
    def method(self: Variable) -> Variable:
        function = getattr(sys.modules["frazil.tensor"], name)
        return cast("Variable", function(self))

    method.__name__ = name
    method.__qualname__ = f"Variable.{name}"
    method.__doc__ = f"Return ft.{name}(self); see :func:`frazil.tensor.{name}`."
    return method


def _spelled(name: str, function: Callable[..., object], what: str) -> FunctionType:
    """Return a function under the name of a method; its first parameter is ``self``."""
    made = cast(FunctionType, function)
    code = made.__code__
    first, full = code.co_varnames[0], f"Variable.{name}"
    code = code.replace(
        co_name=name,
        co_qualname=full,
        co_varnames=("self", *code.co_varnames[1:]),
        co_cellvars=tuple("self" if x == first else x for x in code.co_cellvars),
    )
    method = FunctionType(code, made.__globals__, name, made.__defaults__, made.__closure__)
    method.__kwdefaults__, method.__annotations__ = made.__kwdefaults__, made.__annotations__
    method.__qualname__ = full
    package = "linalg." if ".linalg." in made.__module__ else ""
    method.__doc__ = f"Return {what}; see :func:`frazil.tensor.{package}{made.__name__}`."
    return method


def _install() -> None:
    for name, (function, what) in _SPELLED.items():
        setattr(_core.Variable, name, _spelled(name, function, what))
    for name in _OF_ONE:
        setattr(_core.Variable, name, _method(name))
    inherent = {"__module__", "__doc__", "__dict__", "__weakref__", "__qualname__"}
    for name, member in vars(_Methods).items():
        if name not in inherent:
            if isinstance(member, FunctionType):
                member.__qualname__ = f"Variable.{name}"  # as messages of Python name it
            setattr(_core.Variable, name, member)


_install()
