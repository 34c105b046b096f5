"""Fourier transforms, as NumPy computes them.

A transform of several dimensions is one of each, the last first. The lengths ``n`` and ``s`` may be
known to calls only: what a dimension has more is left out, what it lacks is filled with zeros.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

import numpy as np

import frazil.scalar as scalar
from frazil._core import FrozenApply, TensorType, Variable, elemwise
from frazil.graph.dataclass import dataclass
from frazil.graph.op import Array, Gradients, Op, Variables
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.axes import normalize_axis
from frazil.tensor.broadcasting import broadcast_to
from frazil.tensor.items import get_item
from frazil.tensor.joining import concatenate
from frazil.tensor.lengths import (
    LengthLike,
    Lengths,
    add,
    as_length,
    floor_divide,
    length,
    lengths,
    literal,
    maximum,
    minimum,
    multiply,
    static_length,
    subtract,
)
from frazil.tensor.ranges import arange
from frazil.tensor.realness import conj, real
from frazil.tensor.rearranging import roll
from frazil.tensor.reshaping import reshape

__all__ = [
    *("fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifft2", "ifftn"),
    *("ifftshift", "ihfft", "irfft", "irfft2", "irfftn", "rfft", "rfft2", "rfftfreq", "rfftn"),
]


def __dir__() -> list[str]:
    return __all__


Norm: TypeAlias = Literal["backward", "ortho", "forward"] | None
Counts: TypeAlias = Sequence[LengthLike] | None
Axes: TypeAlias = Sequence[int] | None

_SWAPPED = {"backward": "forward", "ortho": "ortho", "forward": "backward"}


@dataclass(frozen=True, eq=False)
class Fourier(Op):
    """The Fourier transform along a dimension, which is counted from the last: -1, -2, ...

    The matrix of the transform is symmetric: its gradient is the same transform.
    """

    axis: int
    inverse: bool
    norm: str
    takes_complex = True

    def make_node(self, x: Variable) -> FrozenApply:
        if x.type.numpy_dtype.kind != "c" or not -x.ndim <= self.axis < 0:
            raise TypeError(f"{self} takes complex numbers with that dimension; given {x.type}")
        return FrozenApply(self, [x], [x.type])

    def perform(self, node: FrozenApply, inputs: Sequence[Array]) -> tuple[Array, ...]:
        transform = np.fft.ifft if self.inverse else np.fft.fft
        return (_transformed(transform, inputs[0], node, self.axis, norm=self.norm),)

    def infer_shape(self, node: FrozenApply, input_shapes: Sequence[Lengths]) -> tuple[Lengths]:
        return (tuple(input_shapes[0]),)

    def L_op(self, inputs: Variables, outputs: Variables, output_gradients: Variables) -> Gradients:
        return [self(output_gradients[0])]


@dataclass(frozen=True, eq=False)
class RealFourier(Op):
    """The first half of the Fourier transform of real numbers; the rest mirrors it."""

    axis: int
    norm: str
    takes_complex = True

    def make_node(self, x: Variable) -> FrozenApply:
        if x.type.numpy_dtype.kind != "f" or not -x.ndim <= self.axis < 0:
            raise TypeError(f"{self} takes floats with that dimension; given {x.type}")
        shape = list(x.type.shape)
        n = shape[self.axis]
        shape[self.axis] = None if n is None else n // 2 + 1
        return FrozenApply(self, [x], [TensorType(_complex_of(x.dtype), tuple(shape))])

    def perform(self, node: FrozenApply, inputs: Sequence[Array]) -> tuple[Array, ...]:
        return (_transformed(np.fft.rfft, inputs[0], node, self.axis, norm=self.norm),)

    def infer_shape(self, node: FrozenApply, input_shapes: Sequence[Lengths]) -> tuple[Lengths]:
        shape = list(input_shapes[0])
        shape[self.axis] = _half(shape[self.axis])
        return (tuple(shape),)

    def L_op(self, inputs: Variables, outputs: Variables, output_gradients: Variables) -> Gradients:
        (x,), (g,) = inputs, output_gradients
        whole = _fitted(g, length(x, x.ndim + self.axis), g.ndim + self.axis)
        return [real(Fourier(self.axis, False, self.norm)(whole))]


@dataclass(frozen=True, eq=False)
class InverseRealFourier(Op):
    """The real numbers, as many as the second operand says, whose transform begins so.

    The first operand has half as many and one along the dimension.
    """

    axis: int
    norm: str
    takes_complex = True

    def make_node(self, x: Variable, n: Variable) -> FrozenApply:
        if x.type.numpy_dtype.kind != "c" or not -x.ndim <= self.axis < 0:
            raise TypeError(f"{self} takes complex numbers with that dimension; given {x.type}")
        shape = list(x.type.shape)
        shape[self.axis] = static_length(n)
        dtype = "float32" if x.dtype == "complex64" else "float64"
        return FrozenApply(self, [x, n], [TensorType(dtype, tuple(shape))])

    def perform(self, node: FrozenApply, inputs: Sequence[Array]) -> tuple[Array, ...]:
        x, n = inputs[0], int(inputs[1])
        return (_transformed(np.fft.irfft, x, node, self.axis, n=n, norm=self.norm),)

    def infer_shape(self, node: FrozenApply, input_shapes: Sequence[Lengths]) -> tuple[Lengths]:
        shape = list(input_shapes[0])
        shape[self.axis] = node.inputs[1]
        return (tuple(shape),)

    def L_op(self, inputs: Variables, outputs: Variables, output_gradients: Variables) -> Gradients:
        # Each number but the first, and but the middle one of an even length, stands for two. Of
        # the first and the middle one the imaginary part does not count, nor in this gradient.
        n, g = inputs[1], output_gradients[0]
        pulled = conj(RealFourier(self.axis, _SWAPPED[self.norm])(g))
        places = arange(_half(n))
        first = elemwise(scalar.eq, places, 0)
        middle = elemwise(scalar.eq, multiply(literal(2), places), n)
        once = elemwise(scalar.or_, first, middle)
        weights = as_tensor(elemwise(scalar.where, once, 1.0, 2.0), g.dtype)
        ones = (None,) * (-self.axis - 1)
        return [pulled * get_item(weights, (slice(None), *ones)), None]


def _transformed(
    transform: Callable[..., Array], x: Array, node: FrozenApply, axis: int, **how: object
) -> Array:
    """What a transform of NumPy's gives, in the dtype of the node, also for no vectors at all."""
    kind = node.output_types[0]
    count = x.shape[axis]
    if isinstance(node.op, RealFourier):
        count = count // 2 + 1
    count = int(how.get("n", count))  # type: ignore[call-overload]
    _check_length(min(count, x.shape[axis]))
    if not x.size:
        shape = list(x.shape)
        shape[axis] = count
        return np.empty(shape, kind.dtype)
    return transform(x, axis=axis, **how).astype(kind.dtype, copy=False)


def _half(n: Variable) -> Variable:
    return add(floor_divide(n, literal(2)), literal(1))


def _complex_of(dtype: str) -> str:
    return np.result_type(dtype, np.complex64).name


def _fitted(x: Variable, n: Variable, axis: int) -> Variable:
    """``x`` with ``n`` numbers along a dimension: without the last ones, or with zeros behind."""
    own = length(x, axis)
    known, wanted = static_length(own), static_length(n)
    if own is n or (known is not None and known == wanted):
        return x
    if known is None or wanted is None or wanted < known:
        x = get_item(x, (*(slice(None),) * axis, slice(None, minimum(own, n))))
    if known is None or wanted is None or wanted > known:
        lacking = [*lengths(x)]
        lacking[axis] = maximum(subtract(n, own), literal(0))
        zeros = broadcast_to(as_tensor(0, x.dtype), lacking)
        x = concatenate([x, zeros], axis)
    if wanted is None or x.type.shape[axis] is not None:
        return x
    return reshape(x, [*lengths(x)[:axis], n, *lengths(x)[axis + 1 :]])


def _as_complex(x: Variable) -> Variable:
    kind = x.type.numpy_dtype.kind
    if kind == "c":
        return x
    return as_tensor(x, "complex64" if x.dtype == "float32" else "complex128")


def _as_real(x: Variable, name: str) -> Variable:
    kind = x.type.numpy_dtype.kind
    if kind == "c":
        raise TypeError(f"{name} takes real numbers; given {x.type}. Take ft.real of it, or fft")
    return x if kind == "f" else as_tensor(x, "float64")


def _norm(norm: Norm) -> str:
    given = "backward" if norm is None else norm
    if given not in _SWAPPED:
        raise ValueError(
            f'Invalid norm value {norm!r}; should be "backward", "ortho" or "forward".'
        )
    return given


def _along(x: Variable, n: LengthLike | None, axis: int) -> tuple[Variable, int]:
    """The numbers to transform, ``n`` along the dimension ``axis``, and that, counted from 0."""
    if not x.ndim:
        raise ValueError(f"a transform takes a tensor with dimensions; given {x.type}")
    axis = normalize_axis(axis, x.ndim)
    wanted = length(x, axis) if n is None else as_length(n)
    _check_length(static_length(wanted))
    return _fitted(x, wanted, axis), axis


def _check_length(n: int | None) -> None:
    if n is not None and n < 1:
        raise ValueError(f"Invalid number of FFT data points ({n}) specified.")


def _complex_transform(
    a: TensorLike, n: LengthLike | None, axis: int, norm: Norm, inverse: bool
) -> Variable:
    x, axis = _along(_as_complex(as_tensor(a)), n, axis)
    made: Variable = Fourier(axis - x.ndim, inverse, _norm(norm))(x)
    return made


def fft(a: TensorLike, n: LengthLike | None = None, axis: int = -1, norm: Norm = None) -> Variable:
    """Return the Fourier transform along a dimension.

    Parameters
    ----------
    a : tensor_like
        Numbers, real or complex.
    n : int or 0-d integer variable, optional
        How many of them: the last ones are left out, or zeros follow. Default: all.
    axis : int, default -1
        The dimension.
    norm : {"backward", "ortho", "forward"}, optional
        Which direction is scaled by ``1 / n``, or both by its root; default: "backward".

    Returns
    -------
    Variable
        Of complex64 for complex64 and float32, else complex128, as :func:`numpy.fft.fft` gives.

    Raises
    ------
    ValueError
        If there are no numbers along the dimension, or ``norm`` is another one.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.fft.fft([1.0, 0.0, -1.0, 0.0]).eval()
    array([0.+0.j, 2.+0.j, 0.+0.j, 2.+0.j])
    """
    return _complex_transform(a, n, axis, norm, False)


def ifft(a: TensorLike, n: LengthLike | None = None, axis: int = -1, norm: Norm = None) -> Variable:
    """Return the inverse of :func:`fft`, whose parameters it has.

    Parameters
    ----------
    a, n, axis, norm
        As for :func:`fft`.

    Returns
    -------
    Variable
        Of a complex dtype, as :func:`numpy.fft.ifft` gives.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.fft.ifft([0.0, 2.0, 0.0, 2.0]).eval()
    array([ 1.+0.j,  0.+0.j, -1.+0.j,  0.+0.j])
    """
    return _complex_transform(a, n, axis, norm, True)


def rfft(a: TensorLike, n: LengthLike | None = None, axis: int = -1, norm: Norm = None) -> Variable:
    """Return the first half of the Fourier transform of real numbers; the rest mirrors it.

    Parameters
    ----------
    a : tensor_like
        Real numbers.
    n, axis, norm
        As for :func:`fft`.

    Returns
    -------
    Variable
        Of length ``n // 2 + 1`` along the dimension, as :func:`numpy.fft.rfft` gives.

    Raises
    ------
    TypeError
        If ``a`` is complex.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.fft.rfft([1.0, 0.0, -1.0, 0.0]).eval()
    array([0.+0.j, 2.+0.j, 0.+0.j])
    """
    x, axis = _along(_as_real(as_tensor(a), "rfft"), n, axis)
    made: Variable = RealFourier(axis - x.ndim, _norm(norm))(x)
    return made


def irfft(
    a: TensorLike, n: LengthLike | None = None, axis: int = -1, norm: Norm = None
) -> Variable:
    """Return the real numbers whose Fourier transform begins with ``a``: the inverse of ``rfft``.

    Parameters
    ----------
    a : tensor_like
        Numbers, of which the first, and the middle one of an even ``n``, count as real.
    n : int or 0-d integer variable, optional
        How many numbers there are in the result; default: twice one less than ``a`` has.
    axis, norm
        As for :func:`fft`.

    Returns
    -------
    Variable
        Of float32 for complex64 and float32, else float64, as :func:`numpy.fft.irfft` gives.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.fft.irfft([0.0, 2.0, 0.0]).eval()
    array([ 1.,  0., -1.,  0.])
    """
    x = _as_complex(as_tensor(a))
    if not x.ndim:
        raise ValueError(f"a transform takes a tensor with dimensions; given {x.type}")
    axis = normalize_axis(axis, x.ndim)
    own = length(x, axis)
    count = multiply(literal(2), subtract(own, literal(1))) if n is None else as_length(n)
    _check_length(static_length(count))
    if n is not None:
        x = _fitted(x, _half(count), axis)
    made: Variable = InverseRealFourier(axis - x.ndim, _norm(norm))(x, count)
    return made


def hfft(a: TensorLike, n: LengthLike | None = None, axis: int = -1, norm: Norm = None) -> Variable:
    """Return the Fourier transform, which is real, of numbers whose second half mirrors the first.

    Parameters
    ----------
    a : tensor_like
        The first half.
    n, axis, norm
        As for :func:`irfft`.

    Returns
    -------
    Variable
        Real numbers, as :func:`numpy.fft.hfft` gives.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.fft.hfft([1.0, 2.0, 3.0]).eval()
    array([ 8., -2.,  0., -2.])
    """
    return irfft(conj(_as_complex(as_tensor(a))), n, axis, _swapped(norm))


def ihfft(
    a: TensorLike, n: LengthLike | None = None, axis: int = -1, norm: Norm = None
) -> Variable:
    """Return the inverse of :func:`hfft`: the first half of numbers, which the second mirrors.

    Parameters
    ----------
    a : tensor_like
        Real numbers.
    n, axis, norm
        As for :func:`fft`.

    Returns
    -------
    Variable
        Of a complex dtype, as :func:`numpy.fft.ihfft` gives.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.real(ft.fft.ihfft([8.0, -2.0, 0.0, -2.0])).eval()
    array([1., 2., 3.])
    """
    return conj(rfft(a, n, axis, _swapped(norm)))


def _swapped(norm: Norm) -> Norm:
    swapped: Norm = _SWAPPED[_norm(norm)]  # type: ignore[assignment]
    return swapped


def _dimensions(x: Variable, s: Counts, axes: Axes) -> list[tuple[int, LengthLike | None]]:
    """Each dimension to transform, with the length that it is to have."""
    if s is not None and axes is None:
        axes = range(x.ndim - len(s), x.ndim)
    over = [normalize_axis(axis, x.ndim) for axis in (range(x.ndim) if axes is None else axes)]
    wanted: Sequence[LengthLike | None] = [None] * len(over) if s is None else list(s)
    if len(wanted) != len(over):
        raise ValueError(f"Shape and axes have different lengths: {len(wanted)}, {len(over)}")
    if not over:
        raise ValueError("a transform needs a dimension at least")
    own = (length(x, axis) for axis in over)
    lacking = [k if isinstance(n, int) and n == -1 else n for n, k in zip(wanted, own, strict=True)]
    return list(zip(over, lacking, strict=True))


def fftn(a: TensorLike, s: Counts = None, axes: Axes = None, norm: Norm = None) -> Variable:
    """Return the Fourier transform along several dimensions.

    Parameters
    ----------
    a : tensor_like
        Numbers, real or complex.
    s : sequence of int or 0-d integer variable, optional
        The length of each dimension, as ``n`` for :func:`fft`.
    axes : sequence of int, optional
        The dimensions. Default: all, or the last ones if ``s`` is given.
    norm : {"backward", "ortho", "forward"}, optional
        As for :func:`fft`.

    Returns
    -------
    Variable
        Of a complex dtype, as :func:`numpy.fft.fftn` gives.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.real(ft.fft.fftn([[1.0, 2.0], [3.0, 4.0]])).eval()
    array([[10., -2.],
           [-4.,  0.]])
    """
    x = as_tensor(a)
    for axis, n in reversed(_dimensions(x, s, axes)):
        x = fft(x, n, axis, norm)
    return x


def ifftn(a: TensorLike, s: Counts = None, axes: Axes = None, norm: Norm = None) -> Variable:
    """Return the inverse of :func:`fftn`, whose parameters it has.

    Parameters
    ----------
    a, s, axes, norm
        As for :func:`fftn`.

    Returns
    -------
    Variable
        Of a complex dtype, as :func:`numpy.fft.ifftn` gives.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.real(ft.fft.ifftn([[10.0, -2.0], [-4.0, 0.0]])).eval()
    array([[1., 2.],
           [3., 4.]])
    """
    x = as_tensor(a)
    for axis, n in reversed(_dimensions(x, s, axes)):
        x = ifft(x, n, axis, norm)
    return x


def rfftn(a: TensorLike, s: Counts = None, axes: Axes = None, norm: Norm = None) -> Variable:
    """Return the Fourier transform of real numbers along several dimensions, half of the last.

    Parameters
    ----------
    a : tensor_like
        Real numbers.
    s, axes, norm
        As for :func:`fftn`.

    Returns
    -------
    Variable
        Of a complex dtype, as :func:`numpy.fft.rfftn` gives.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.real(ft.fft.rfftn([[1.0, 2.0, 3.0], [3.0, 4.0, 5.0]])).eval()
    array([[18., -3.],
           [-6.,  0.]])
    """
    x = as_tensor(a)
    *others, (last, n) = _dimensions(x, s, axes)
    x = rfft(x, n, last, norm)
    for axis, n in reversed(others):
        x = fft(x, n, axis, norm)
    return x


def irfftn(a: TensorLike, s: Counts = None, axes: Axes = None, norm: Norm = None) -> Variable:
    """Return the inverse of :func:`rfftn`.

    Parameters
    ----------
    a : tensor_like
        Numbers, as for :func:`irfft`.
    s : sequence of int or 0-d integer variable, optional
        The length of each dimension of the result.
    axes, norm
        As for :func:`fftn`.

    Returns
    -------
    Variable
        Real numbers, as :func:`numpy.fft.irfftn` gives.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.fft.irfftn([[10.0, -2.0], [-4.0, 0.0]]).eval()
    array([[1., 2.],
           [3., 4.]])
    """
    x = as_tensor(a)
    *others, (last, n) = _dimensions(x, s, axes)
    for axis, count in others:
        x = ifft(x, count, axis, norm)
    return irfft(x, n, last, norm)


def fft2(a: TensorLike, s: Counts = None, axes: Axes = (-2, -1), norm: Norm = None) -> Variable:
    """Return :func:`fftn` of the last two dimensions, or of ``axes``.

    Parameters
    ----------
    a, s, axes, norm
        As for :func:`fftn`.

    Returns
    -------
    Variable
        As :func:`numpy.fft.fft2` gives.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.real(ft.fft.fft2([[1.0, 2.0], [3.0, 4.0]])).eval()
    array([[10., -2.],
           [-4.,  0.]])
    """
    return fftn(a, s, axes, norm)


def ifft2(a: TensorLike, s: Counts = None, axes: Axes = (-2, -1), norm: Norm = None) -> Variable:
    """Return :func:`ifftn` of the last two dimensions, or of ``axes``.

    Parameters
    ----------
    a, s, axes, norm
        As for :func:`fftn`.

    Returns
    -------
    Variable
        As :func:`numpy.fft.ifft2` gives.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.real(ft.fft.ifft2([[10.0, -2.0], [-4.0, 0.0]])).eval()
    array([[1., 2.],
           [3., 4.]])
    """
    return ifftn(a, s, axes, norm)


def rfft2(a: TensorLike, s: Counts = None, axes: Axes = (-2, -1), norm: Norm = None) -> Variable:
    """Return :func:`rfftn` of the last two dimensions, or of ``axes``.

    Parameters
    ----------
    a, s, axes, norm
        As for :func:`rfftn`.

    Returns
    -------
    Variable
        As :func:`numpy.fft.rfft2` gives.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.real(ft.fft.rfft2([[1.0, 2.0], [3.0, 4.0]])).eval()
    array([[10., -2.],
           [-4.,  0.]])
    """
    return rfftn(a, s, axes, norm)


def irfft2(a: TensorLike, s: Counts = None, axes: Axes = (-2, -1), norm: Norm = None) -> Variable:
    """Return :func:`irfftn` of the last two dimensions, or of ``axes``.

    Parameters
    ----------
    a, s, axes, norm
        As for :func:`irfftn`.

    Returns
    -------
    Variable
        As :func:`numpy.fft.irfft2` gives.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.fft.irfft2([[10.0, -2.0], [-4.0, 0.0]]).eval()
    array([[1., 2.],
           [3., 4.]])
    """
    return irfftn(a, s, axes, norm)


def fftfreq(n: LengthLike, d: TensorLike = 1.0) -> Variable:
    """Return the frequencies of the results of :func:`fft`.

    Parameters
    ----------
    n : int or 0-d integer variable
        How many numbers are transformed.
    d : tensor_like, default 1.0
        What lies between two of them.

    Returns
    -------
    Variable
        Of float64, as :func:`numpy.fft.fftfreq` gives.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.fft.fftfreq(4, 0.5).eval()
    array([ 0. ,  0.5, -1. , -0.5])
    """
    count = as_length(n)
    positive = arange(floor_divide(add(count, literal(1)), literal(2)))
    negative = arange(subtract(literal(0), floor_divide(count, literal(2))), literal(0))
    return concatenate([positive, negative]) * (1.0 / (count * as_tensor(d)))


def rfftfreq(n: LengthLike, d: TensorLike = 1.0) -> Variable:
    """Return the frequencies of the results of :func:`rfft`.

    Parameters
    ----------
    n : int or 0-d integer variable
        How many numbers are transformed.
    d : tensor_like, default 1.0
        What lies between two of them.

    Returns
    -------
    Variable
        Of float64, as :func:`numpy.fft.rfftfreq` gives.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.fft.rfftfreq(4, 0.5).eval()
    array([0. , 0.5, 1. ])
    """
    count = as_length(n)
    return arange(_half(count)) * (1.0 / (count * as_tensor(d)))


def fftshift(x: TensorLike, axes: int | Axes = None) -> Variable:
    """Return ``x`` with the frequency zero in the middle of dimensions.

    Parameters
    ----------
    x : tensor_like
        Any tensor.
    axes : int or sequence of int, optional
        The dimensions; default: all.

    Returns
    -------
    Variable
        As :func:`numpy.fft.fftshift` gives.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.fft.fftshift([0, 1, 2, -2, -1]).eval()
    array([-2, -1,  0,  1,  2])
    """
    return _shifted(as_tensor(x), axes, back=False)


def ifftshift(x: TensorLike, axes: int | Axes = None) -> Variable:
    """Return the inverse of :func:`fftshift`, whose parameters it has.

    Parameters
    ----------
    x, axes
        As for :func:`fftshift`.

    Returns
    -------
    Variable
        As :func:`numpy.fft.ifftshift` gives.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.fft.ifftshift([-2, -1, 0, 1, 2]).eval()
    array([ 0,  1,  2, -2, -1])
    """
    return _shifted(as_tensor(x), axes, back=True)


def _shifted(x: Variable, axes: int | Axes, back: bool) -> Variable:
    given = range(x.ndim) if axes is None else [axes] if isinstance(axes, int) else axes
    for axis in given:
        axis = normalize_axis(axis, x.ndim)
        half = floor_divide(length(x, axis), literal(2))
        x = roll(x, subtract(literal(0), half) if back else half, axis)
    return x
