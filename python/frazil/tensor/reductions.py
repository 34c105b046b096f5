"""Reductions: folding a tensor over axes.

The ops keep the dtype of their operand; the functions cast it first to the dtype that NumPy
accumulates in, and the cast costs nothing as it becomes part of the reduction's loop.
"""

from __future__ import annotations

import builtins
from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import ClassVar, Protocol

import numpy as np
import numpy.typing as npt

import frazil._core as _core
import frazil.scalar as scalar
from frazil._core import FrozenApply, TensorType, Variable
from frazil.graph.dataclass import dataclass
from frazil.graph.op import Array, Gradients, Variables
from frazil.scalar.constants import TensorLike, as_operand, as_tensor, as_written
from frazil.tensor.axes import axis_of_any, normalize_axes
from frazil.tensor.dims import expand_dims
from frazil.tensor.docstrings import documented
from frazil.tensor.lengths import Lengths
from frazil.tensor.rounding import RoundedOp

Axis = int | Sequence[int] | None


@dataclass(frozen=True, eq=False)
class Reduce(RoundedOp):
    """Base of the reductions over ``axes``, which are sorted and not negative.

    ``fold`` names the scalar op that joins two elements.
    """

    axes: tuple[int, ...]
    fold: ClassVar[str]
    ufunc: ClassVar[np.ufunc]
    bool_only: ClassVar[bool] = False
    needs_elements: ClassVar[bool] = False

    @staticmethod
    @abstractmethod
    def identity(dtype: str) -> bool | int | float:
        """Return the initial value of the fold."""

    def make_node(self, x: Variable) -> FrozenApply:
        shape = x.type.shape
        axes = self.axes
        if not axes or list(axes) != sorted({*axes}) or axes[0] < 0 or axes[-1] >= x.ndim:
            raise ValueError(
                f"axes {self.axes} must be sorted positions below {x.ndim}, at least one"
            )
        if self.bool_only and x.dtype != "bool":
            raise TypeError(f"{type(self).__name__} takes bool; given {x.type}. Cast it first.")
        if self.needs_elements and builtins.any(shape[axis] == 0 for axis in self.axes):
            raise ValueError(
                f"{type(self).__name__} of no elements: axes {self.axes} of shape {shape}"
            )
        kept = tuple(n for axis, n in enumerate(shape) if axis not in self.axes)
        return FrozenApply(self, [x], [TensorType(x.dtype, kept)])

    def perform(self, node: FrozenApply, inputs: Sequence[Array]) -> tuple[Array, ...]:
        (x,) = inputs
        with np.errstate(all="ignore"):
            return (np.asarray(self.ufunc.reduce(x, axis=self.axes, dtype=x.dtype)),)

    def infer_shape(self, node: FrozenApply, input_shapes: Sequence[Lengths]) -> tuple[Lengths]:
        return (tuple(n for axis, n in enumerate(input_shapes[0]) if axis not in self.axes),)

    def keep_dims(self, reduced: Variable) -> Variable:
        """Return ``reduced`` so that it broadcasts against the operand."""
        return expand_dims(reduced, self.axes) if reduced.ndim else reduced


@dataclass(frozen=True, eq=False)
class Sum(Reduce):
    """The sum over ``axes``."""

    takes_complex = True
    fold = "add"
    ufunc = np.add

    @staticmethod
    def identity(dtype: str) -> int:
        return 0

    def L_op(self, inputs: Variables, outputs: Variables, output_gradients: Variables) -> Gradients:
        return [self.keep_dims(output_gradients[0])]


@dataclass(frozen=True, eq=False)
class Prod(Reduce):
    """The product over ``axes``."""

    takes_complex = True
    fold = "mul"
    ufunc = np.multiply

    @staticmethod
    def identity(dtype: str) -> int:
        return 1

    def L_op(self, inputs: Variables, outputs: Variables, output_gradients: Variables) -> Gradients:
        # The derivative by an element is the product of the others, written without division by 0
        # and so that its own derivative is right. Of two zeros, the product without one is the
        # other (the sum of the zeros less this one) times the rest.
        (x,), (y,) = inputs, outputs
        zero = _core.elemwise(scalar.eq, x, 0)
        nonzero = _core.elemwise(scalar.where, zero, 1, x)
        zeros = self.keep_dims(sum(zero, self.axes))
        rest = self.keep_dims(Prod(self.axes)(nonzero))
        vanishing = _core.elemwise(scalar.where, zero, x, 0)
        other_zero = self.keep_dims(Sum(self.axes)(vanishing)) - x
        one = _core.elemwise(scalar.eq, zeros, 1)
        two = _core.elemwise(scalar.eq, zeros, 2)
        without_zero = _core.elemwise(
            scalar.where, one, rest, _core.elemwise(scalar.where, two, other_zero * rest, 0)
        )
        others = _core.elemwise(scalar.where, zero, without_zero, self.keep_dims(y) / nonzero)
        return [self.keep_dims(output_gradients[0]) * others]


@dataclass(frozen=True, eq=False)
class _Extremum(Reduce):
    """Base of Max and Min. Every element that ties gets the whole gradient, as in PyTensor."""

    needs_elements = True

    def L_op(self, inputs: Variables, outputs: Variables, output_gradients: Variables) -> Gradients:
        chosen = _core.elemwise(scalar.eq, inputs[0], self.keep_dims(outputs[0]))
        g = self.keep_dims(output_gradients[0])
        return [_core.elemwise(scalar.where, chosen, g, 0)]


@dataclass(frozen=True, eq=False)
class Max(_Extremum):
    """The largest element over ``axes``; NaN where there is one."""

    fold = "maximum"
    ufunc = np.maximum

    @staticmethod
    def identity(dtype: str) -> bool | int | float:
        return _extremes(dtype)[0]


@dataclass(frozen=True, eq=False)
class Peak(Max):
    """The largest element over ``axes``; the least value of the dtype where there are none."""

    needs_elements = False

    def perform(self, node: FrozenApply, inputs: Sequence[Array]) -> tuple[Array, ...]:
        (x,) = inputs
        least = self.identity(x.dtype.name)
        return (np.asarray(self.ufunc.reduce(x, axis=self.axes, dtype=x.dtype, initial=least)),)


@dataclass(frozen=True, eq=False)
class Min(_Extremum):
    """The smallest element over ``axes``; NaN where there is one."""

    fold = "minimum"
    ufunc = np.minimum

    @staticmethod
    def identity(dtype: str) -> bool | int | float:
        return _extremes(dtype)[1]


@dataclass(frozen=True, eq=False)
class All(Reduce):
    """Whether all elements over ``axes`` are true."""

    fold = "and_"
    ufunc = np.logical_and
    bool_only = True

    @staticmethod
    def identity(dtype: str) -> bool:
        return True


@dataclass(frozen=True, eq=False)
class Any(Reduce):
    """Whether any element over ``axes`` is true."""

    fold = "or_"
    ufunc = np.logical_or
    bool_only = True

    @staticmethod
    def identity(dtype: str) -> bool:
        return False


def _extremes(dtype: str) -> tuple[bool | int | float, bool | int | float]:
    """Return the smallest and the largest value of ``dtype``."""
    match np.dtype(dtype).kind:
        case "b":
            return False, True
        case "f":
            return -np.inf, np.inf
    limits = np.iinfo(dtype)
    return int(limits.min), int(limits.max)


class Test(Protocol):
    """A function that tells something of the elements over axes."""

    def __call__(
        self,
        x: TensorLike,
        axis: Axis = None,
        keepdims: bool = False,
        *,
        where: TensorLike | None = None,
    ) -> Variable: ...


class Reduction(Protocol):
    """A function that reduces a tensor over axes."""

    def __call__(
        self,
        x: TensorLike,
        axis: Axis = None,
        keepdims: bool = False,
        *,
        initial: TensorLike | None = None,
        where: TensorLike | None = None,
    ) -> Variable: ...


class Accumulation(Protocol):
    """A function that reduces a tensor over axes, in a dtype that may be given."""

    def __call__(
        self,
        x: TensorLike,
        axis: Axis = None,
        dtype: npt.DTypeLike | None = None,
        keepdims: bool = False,
        *,
        initial: TensorLike | None = None,
        where: TensorLike | None = None,
    ) -> Variable: ...


_DOCSTRING = """Return {summary} over ``axis``.

{note}Parameters
----------
x : tensor_like
    {operand}
axis : int or tuple of int, optional
    The dimensions to reduce; default: all.
{dtype}keepdims : bool, default False
    Keep the reduced dimensions, with length 1.
{initial}where : tensor_like, optional
    Of bool, and broadcasts to ``x``: which elements count.{needed}

Returns
-------
Variable
    {result}
"""

_DTYPE = """dtype : dtype_like, optional
    The dtype to accumulate in. Default, as in :func:`numpy.{name}`: the dtype of ``x``, except that
    bool and short integers become int64, short unsigned integers uint64.
"""

_INITIAL = """initial : tensor_like, optional
    A number beside the elements, cast to the dtype of the result.
"""

_NEEDED = " Needs ``initial``, for where none does."

_TIES = """Where several elements tie, the gradient goes to each of them in full, as in PyTensor.

"""


def _reduce(reduction: type[Reduce], x: Variable, axis: Axis, keepdims: bool) -> Variable:
    axes = normalize_axes(axis_of_any(axis, x.ndim), x.ndim)
    if not axes:
        return x
    reduced = reduction(axes)(x)
    return expand_dims(reduced, axes) if keepdims else reduced


def _test(name: str, op: type[Reduce], summary: str, example: str, result: str) -> Test:
    """Return the function ``name``, which reduces by ``op`` whether elements are true."""
    neutral = bool(op.identity("bool"))

    def function(
        x: TensorLike, axis: Axis = None, keepdims: bool = False, *, where: TensorLike | None = None
    ) -> Variable:
        return _reduce(op, counted(as_tensor(x, "bool"), where, neutral), axis, keepdims)

    words = {"summary": summary, "operand": "Any tensor.", "dtype": "", "result": result}
    words |= {"note": "", "initial": "", "needed": ""}
    return documented(function, name, _DOCSTRING, example=example, **words)


def reduction(
    name: str,
    op: type[Reduce],
    summary: str,
    example: str,
    result: str,
    operand: str = "Any tensor.",
    note: str = "",
    *,
    numbers: Callable[[Variable], Variable] = as_tensor,
    without_initial: Callable[[Variable, Axis, bool], Variable] | None = None,
) -> Reduction:
    """Return the function ``name``, which reduces by ``op`` in the dtype of the operand.

    With ``initial`` it reduces what ``numbers`` makes of the operand. A function may stand for the
    other calls.
    """
    reduce = without_initial or partial(_reduce, op)
    join = scalar.maximum if op is Max else scalar.minimum

    def function(
        x: TensorLike,
        axis: Axis = None,
        keepdims: bool = False,
        *,
        initial: TensorLike | None = None,
        where: TensorLike | None = None,
    ) -> Variable:
        x = as_tensor(x)
        if initial is None:
            if where is not None:
                raise ValueError(f"{name} of elements where a mask is true needs initial=, too")
            return reduce(x, axis, keepdims)
        first = as_written(initial, x.dtype)
        x = counted(numbers(x), where, first)
        found = (peak if op is Max else _valley)(x, axis, keepdims)
        return _core.elemwise(join, found, first)

    words = {"summary": summary, "operand": operand, "dtype": "", "result": result, "note": note}
    words |= {"initial": _INITIAL, "needed": _NEEDED}
    return documented(function, name, _DOCSTRING, example=example, **words)


def peak(x: Variable, axis: Axis, keepdims: bool) -> Variable:
    """Return the largest element; the least value of the dtype where there are none."""
    return _reduce(Peak, x, axis, keepdims)


def _valley(x: Variable, axis: Axis, keepdims: bool) -> Variable:
    """The smallest element; the largest value of the dtype where there are none."""
    turn = scalar.neg if x.type.numpy_dtype.kind == "f" else scalar.invert
    return _core.elemwise(turn, peak(_core.elemwise(turn, x), axis, keepdims))


def counted(x: Variable, where: TensorLike | None, neutral: TensorLike) -> Variable:
    """Return ``x`` with a neutral element where ``where`` is false."""
    if where is None:
        return x
    mask = as_tensor(where, "bool")
    masked = _core.elemwise(scalar.where, mask, x, as_operand(neutral))
    if masked.ndim != x.ndim:
        raise ValueError(f"where= must broadcast to {x.type}; given {mask.type}")
    return masked


def accumulation(
    name: str,
    op: type[Reduce],
    summary: str,
    example: str,
    result: str,
    note: str = "",
    *,
    numbers: Callable[[Variable], Variable] = as_tensor,
) -> Accumulation:
    """Return the function ``name``, which reduces by ``op`` in a wide dtype, or in a given one.

    It reduces what ``numbers`` makes of the operand.
    """
    join = scalar.add if op is Sum else scalar.mul

    def function(
        x: TensorLike,
        axis: Axis = None,
        dtype: npt.DTypeLike | None = None,
        keepdims: bool = False,
        *,
        initial: TensorLike | None = None,
        where: TensorLike | None = None,
    ) -> Variable:
        x = as_accumulator(numbers(as_tensor(x)), dtype)
        x = counted(x, where, int(op.identity("int64")))
        found = _reduce(op, x, axis, keepdims)
        if initial is None:
            return found
        return _core.elemwise(join, found, as_written(initial, found.dtype))

    words = {"summary": summary, "operand": "Any tensor.", "result": result, "note": note}
    words |= {"initial": _INITIAL, "needed": ""}
    wanted = _DTYPE.format(name=name)
    return documented(function, name, _DOCSTRING, example=example, dtype=wanted, **words)


sum = accumulation(
    "sum",
    Sum,
    "the sum of elements",
    "[[1.0, 2.0], [3.0, 4.0]], axis=0 -> [4., 6.]",
    "The sum; 0 where there are no elements.",
)
prod = accumulation(
    "prod",
    Prod,
    "the product of elements",
    "[[1.0, 2.0], [3.0, 4.0]], axis=1 -> [ 2., 12.]",
    "The product; 1 where there are no elements.",
    "The gradient is right where elements are zero, too.\n\n",
)
max = reduction(
    "max",
    Max,
    "the largest element",
    "[[1.0, 2.0], [3.0, 4.0]], axis=0 -> [3., 4.]",
    "Of the dtype of ``x``.",
    "Any tensor; NaN wins, as in :func:`numpy.max`. No elements is an error.",
    _TIES,
)
min = reduction(
    "min",
    Min,
    "the smallest element",
    "[[1.0, 2.0], [3.0, 4.0]], axis=1 -> [1., 3.]",
    "Of the dtype of ``x``.",
    "Any tensor; NaN wins, as in :func:`numpy.min`. No elements is an error.",
    _TIES,
)
all = _test(
    "all",
    All,
    "whether all elements are true (not zero)",
    "[[True, False], [True, True]], axis=1 -> [False,  True]",
    "Of bool, as :func:`numpy.all` gives; True where there are no elements.",
)
any = _test(
    "any",
    Any,
    "whether any element is true (not zero)",
    "[[True, False], [False, False]], axis=1 -> [ True, False]",
    "Of bool, as :func:`numpy.any` gives; False where there are no elements.",
)


def as_accumulator(x: TensorLike, dtype: npt.DTypeLike | None) -> Variable:
    x = as_tensor(x)
    if dtype is None and x.type.itemsize < 8:
        dtype = {"b": "int64", "i": "int64", "u": "uint64"}.get(x.type.numpy_dtype.kind)
    return as_tensor(x, dtype)
