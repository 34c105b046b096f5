"""``x.at[index]``: a tensor with a part changed, written from left to right."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from frazil._core import Variable
from frazil.graph.dataclass import dataclass
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.elementwise.table import divide, maximum, minimum, multiply, power
from frazil.tensor.index_syntax import get_item, with_item


@dataclass(frozen=True, eq=False)
class At:
    """The value of ``x.at``: index it by the elements to change."""

    x: Variable

    def __getitem__(self, index: object) -> Part:
        return Part(self.x, index)


@dataclass(frozen=True, eq=False)
class Part:
    """A part of a tensor, ``x.at[index]``: its methods return the tensor with that part changed.

    Where arrays in the index name an element several times, ``set`` leaves the last value and
    ``add`` adds all. The other methods need each element to be named once: with arrays of integers
    say so by ``unique_indices=True``.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> x = ft.as_tensor([1.0, 2.0, 3.0])
    >>> x.at[0].set(5.0).eval()
    array([5., 2., 3.])
    >>> x.at[[0, 0]].add(1.0).eval()
    array([3., 2., 3.])
    >>> x.at[1:].multiply(10.0).eval()
    array([ 1., 20., 30.])
    """

    x: Variable
    index: Any

    def get(self) -> Variable:
        """Return the part."""
        return get_item(self.x, self.index)

    def set(self, values: TensorLike) -> Variable:
        """Return the tensor with new values in the part; see :func:`set_subtensor`."""
        return with_item(self.x, self.index, values, replace=True)

    def add(self, values: TensorLike) -> Variable:
        """Return the tensor with the part increased; see :func:`inc_subtensor`."""
        return with_item(self.x, self.index, values, replace=False)

    def subtract(self, values: TensorLike) -> Variable:
        """Return the tensor with the part decreased."""
        return self.add(-as_tensor(values))

    def multiply(self, values: TensorLike, *, unique_indices: bool = False) -> Variable:
        """Return the tensor with the part multiplied."""
        return self._by(multiply, values, unique_indices)

    def divide(self, values: TensorLike, *, unique_indices: bool = False) -> Variable:
        """Return the tensor with the part divided."""
        return self._by(divide, values, unique_indices)

    def power(self, values: TensorLike, *, unique_indices: bool = False) -> Variable:
        """Return the tensor with the part raised to powers."""
        return self._by(power, values, unique_indices)

    def min(self, values: TensorLike, *, unique_indices: bool = False) -> Variable:
        """Return the tensor with the smaller of the part and the values."""
        return self._by(minimum, values, unique_indices)

    def max(self, values: TensorLike, *, unique_indices: bool = False) -> Variable:
        """Return the tensor with the larger of the part and the values."""
        return self._by(maximum, values, unique_indices)

    def _by(
        self, function: Callable[..., Variable], values: TensorLike, unique_indices: bool
    ) -> Variable:
        items = self.index if isinstance(self.index, tuple) else (self.index,)
        if not unique_indices and any(map(_may_repeat, items)):
            raise TypeError(
                "an array of integers may name an element several times, and only set and add say "
                "what happens then. Pass unique_indices=True if it names each element once"
            )
        return self.set(function(self.get(), values))


def _may_repeat(item: object) -> bool:
    if item is None or isinstance(item, slice | int | np.integer) or item is Ellipsis:
        return False
    array = as_tensor(item)  # type: ignore[arg-type]  # an index that is none of those
    return array.ndim > 0 and array.dtype != "bool"
