"""The methods of variables: tensor functions in their other spelling.

The members of the class here are set on the core's ``Variable`` when the package is imported.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable, Iterator, Sequence
from types import FunctionType
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

import frazil._core as _core
from frazil.graph.op import Array
from frazil.scalar.constants import TensorLike
from frazil.tensor import (
    creation,
    cumulation,
    diagonals,
    dims,
    items,
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
from frazil.tensor.elementwise import arithmetic, casting, choice, steps
from frazil.tensor.lengths import LengthLike
from frazil.tensor.linalg import norms

if TYPE_CHECKING:
    from frazil._core import Variable
    from frazil.tensor.reductions import Axis


class _Methods(_core.Variable):
    @property
    def shape(self) -> tuple[Variable, ...]:
        """The lengths, 0-d int64 variables; constants where the type knows them."""
        return lengths.lengths(self)

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

    def sum(
        self,
        axis: Axis = None,
        dtype: npt.DTypeLike | None = None,
        keepdims: bool = False,
        *,
        initial: TensorLike | None = None,
        where: TensorLike | None = None,
    ) -> Variable:
        """Return the sum of elements over ``axis``; see :func:`frazil.tensor.sum`."""
        return reductions.sum(self, axis, dtype, keepdims, initial=initial, where=where)

    def prod(
        self,
        axis: Axis = None,
        dtype: npt.DTypeLike | None = None,
        keepdims: bool = False,
        *,
        initial: TensorLike | None = None,
        where: TensorLike | None = None,
    ) -> Variable:
        """Return the product of elements over ``axis``; see :func:`frazil.tensor.prod`."""
        return reductions.prod(self, axis, dtype, keepdims, initial=initial, where=where)

    def mean(
        self,
        axis: Axis = None,
        dtype: npt.DTypeLike | None = None,
        keepdims: bool = False,
        *,
        where: TensorLike | None = None,
    ) -> Variable:
        """Return the mean of elements over ``axis``; see :func:`frazil.tensor.mean`."""
        return moments.mean(self, axis, dtype, keepdims, where=where)

    def var(
        self,
        axis: Axis = None,
        ddof: float = 0,
        keepdims: bool = False,
        *,
        correction: float | None = None,
        dtype: npt.DTypeLike | None = None,
        where: TensorLike | None = None,
    ) -> Variable:
        """Return the variance of elements over ``axis``; see :func:`frazil.tensor.var`."""
        return moments.var(
            self, axis, ddof, keepdims, correction=correction, dtype=dtype, where=where
        )

    def std(
        self,
        axis: Axis = None,
        ddof: float = 0,
        keepdims: bool = False,
        *,
        correction: float | None = None,
        dtype: npt.DTypeLike | None = None,
        where: TensorLike | None = None,
    ) -> Variable:
        """Return the standard deviation over ``axis``; see :func:`frazil.tensor.std`."""
        return moments.std(
            self, axis, ddof, keepdims, correction=correction, dtype=dtype, where=where
        )

    def max(
        self,
        axis: Axis = None,
        keepdims: bool = False,
        *,
        initial: TensorLike | None = None,
        where: TensorLike | None = None,
    ) -> Variable:
        """Return the largest element over ``axis``; see :func:`frazil.tensor.max`."""
        return reductions.max(self, axis, keepdims, initial=initial, where=where)

    def min(
        self,
        axis: Axis = None,
        keepdims: bool = False,
        *,
        initial: TensorLike | None = None,
        where: TensorLike | None = None,
    ) -> Variable:
        """Return the smallest element over ``axis``; see :func:`frazil.tensor.min`."""
        return reductions.min(self, axis, keepdims, initial=initial, where=where)

    def all(
        self, axis: Axis = None, keepdims: bool = False, *, where: TensorLike | None = None
    ) -> Variable:
        """Return whether all elements over ``axis`` are true; see :func:`frazil.tensor.all`."""
        return reductions.all(self, axis, keepdims, where=where)

    def any(
        self, axis: Axis = None, keepdims: bool = False, *, where: TensorLike | None = None
    ) -> Variable:
        """Return whether any element over ``axis`` is true; see :func:`frazil.tensor.any`."""
        return reductions.any(self, axis, keepdims, where=where)

    def argmax(self, axis: int | None = None, keepdims: bool = False) -> Variable:
        """Return the positions of the largest elements; see :func:`frazil.tensor.argmax`."""
        return searching.argmax(self, axis, keepdims)

    def argmin(self, axis: int | None = None, keepdims: bool = False) -> Variable:
        """Return the positions of the smallest elements; see :func:`frazil.tensor.argmin`."""
        return searching.argmin(self, axis, keepdims)

    def argsort(
        self, axis: int | None = -1, *, descending: bool = False, stable: bool = True
    ) -> Variable:
        """Return the positions that sort along ``axis``; see :func:`frazil.tensor.argsort`."""
        return sorting.argsort(self, axis, descending=descending, stable=stable)

    def nonzero(self) -> tuple[Variable, ...]:
        """Return the positions of elements that are not zero; see :func:`frazil.tensor.nonzero`."""
        return searching.nonzero(self)

    def cumsum(self, axis: int | None = None, dtype: npt.DTypeLike | None = None) -> Variable:
        """Return the cumulative sum along ``axis``; see :func:`frazil.tensor.cumsum`."""
        return cumulation.cumsum(self, axis, dtype)

    def cumprod(self, axis: int | None = None, dtype: npt.DTypeLike | None = None) -> Variable:
        """Return the cumulative product along ``axis``; see :func:`frazil.tensor.cumprod`."""
        return cumulation.cumprod(self, axis, dtype)

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Variable:
        """Return a diagonal; see :func:`frazil.tensor.diagonal`."""
        return diagonals.diagonal(self, offset, axis1, axis2)

    def trace(
        self,
        offset: int = 0,
        axis1: int = 0,
        axis2: int = 1,
        dtype: npt.DTypeLike | None = None,
    ) -> Variable:
        """Return the sum of a diagonal; see :func:`frazil.tensor.trace`."""
        return diagonals.trace(self, offset, axis1, axis2, dtype)

    def take(self, indices: TensorLike, axis: int | None = None, mode: str = "raise") -> Variable:
        """Return the elements at some positions; see :func:`frazil.tensor.take`."""
        return taking.take(self, indices, axis, mode)

    def repeat(self, repeats: TensorLike, axis: int | None = None) -> Variable:
        """Return each element repeated; see :func:`frazil.tensor.repeat`."""
        return repetition.repeat(self, repeats, axis)

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
        self, *shape: LengthLike | Sequence[LengthLike], ndim: int | None = None
    ) -> Variable:
        """Return the elements under another shape, given as one sequence or as several lengths;
        see :func:`frazil.tensor.reshape`.
        """
        return reshaping.reshape(self, _unpacked(shape), ndim)

    def ravel(self) -> Variable:
        """Return the elements as a vector; see :func:`frazil.tensor.ravel`."""
        return reshaping.ravel(self)

    def flatten(self, ndim: int = 1) -> Variable:
        """Return a view with the last dimensions joined; see :func:`frazil.tensor.flatten`."""
        return reshaping.flatten(self, ndim)

    def squeeze(self, axis: Axis = None) -> Variable:
        """Return a view without dimensions of length 1; see :func:`frazil.tensor.squeeze`."""
        return dims.squeeze(self, axis)

    def transpose(self, *axes: int | Sequence[int]) -> Variable:
        """Return a view with the dimensions permuted (default: reversed), the axes given as one
        sequence or as several ints; see :func:`frazil.tensor.permute_dims`.
        """
        return transposition.permute_dims(self, _unpacked(axes) if axes else None)

    def swapaxes(self, axis1: int, axis2: int) -> Variable:
        """Return a view with two dimensions swapped; see :func:`frazil.tensor.swapaxes`."""
        return transposition.swapaxes(self, axis1, axis2)

    def dimshuffle(self, *pattern: int | str) -> Variable:
        """Return a view with dimensions permuted, dropped and added;
        see :func:`frazil.tensor.dimshuffle`.
        """
        return transposition.dimshuffle(self, *pattern)

    def astype(self, dtype: npt.DTypeLike) -> Variable:
        """Return the elements converted to ``dtype``; see :func:`frazil.tensor.cast`."""
        return casting.cast(self, dtype)

    def clip(self, min: TensorLike | None = None, max: TensorLike | None = None) -> Variable:
        """Return the elements limited to an interval; see :func:`frazil.tensor.clip`."""
        return choice.clip(self, min, max)

    def round(self, decimals: int = 0) -> Variable:
        """Return the nearest numbers with so many decimals; see :func:`frazil.tensor.round`."""
        return arithmetic.round(self, decimals)

    def copy(self) -> Variable:
        """Return the variable itself: a value never changes, so nothing needs copying."""
        return self

    def set(self, y: TensorLike) -> Variable:
        """Return the tensor that this is a part of with new values in this part;
        see :func:`frazil.tensor.set_subtensor`.
        """
        return items.set_subtensor(self, y)

    def inc(self, y: TensorLike) -> Variable:
        """Return the tensor that this is a part of with this part increased;
        see :func:`frazil.tensor.inc_subtensor`.
        """
        return items.inc_subtensor(self, y)

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

    def sort(
        self, axis: int | None = -1, *, descending: bool = False, stable: bool = True
    ) -> Variable:
        """Return the elements sorted along ``axis``; see :func:`frazil.tensor.sort`."""
        return sorting.sort(self, axis, descending=descending, stable=stable)

    def zeros_like(self, dtype: npt.DTypeLike | None = None) -> Variable:
        """Return zeros of this shape; see :func:`frazil.tensor.zeros_like`."""
        return creation.zeros_like(self, dtype)

    def ones_like(self, dtype: npt.DTypeLike | None = None) -> Variable:
        """Return ones of this shape; see :func:`frazil.tensor.ones_like`."""
        return creation.ones_like(self, dtype)

    def searchsorted(
        self, v: TensorLike, side: str = "left", sorter: TensorLike | None = None
    ) -> Variable:
        """Return where ``v`` belongs among these; see :func:`frazil.tensor.searchsorted`."""
        return positions.searchsorted(self, v, side, sorter)

    def ptp(self, axis: Axis = None, keepdims: bool = False) -> Variable:
        """Return the largest less the smallest elements; see :func:`frazil.tensor.ptp`."""
        return statistics.ptp(self, axis, keepdims)

    def norm(self, ord: float | str | None = None, axis: Axis = None) -> Variable:
        """Return the norm over ``axis``; see :func:`frazil.tensor.linalg.norm`."""
        return norms.norm(self, ord, axis)

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
        return items.get_item(self, index)

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

    def __array__(self, *args: object, **kwargs: object) -> Array:
        """Raise TypeError: a variable has no value yet."""
        asks = sys._getframe(1).f_globals.get("__name__", "")
        if asks.startswith("scipy.sparse"):
            # A sparse array's operators give way to objects of which NumPy makes a single object.
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


_OF_ONE = (
    *("arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh", "ceil", "conj", "conjugate"),
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


def _install() -> None:
    for name in _OF_ONE:
        setattr(_core.Variable, name, _method(name))
    inherent = {"__module__", "__doc__", "__dict__", "__weakref__", "__qualname__"}
    for name, member in vars(_Methods).items():
        if name not in inherent:
            if isinstance(member, FunctionType):
                member.__qualname__ = f"Variable.{name}"  # as messages of Python name it
            setattr(_core.Variable, name, member)


_install()
