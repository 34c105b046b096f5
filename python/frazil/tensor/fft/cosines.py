"""Cosine and sine transforms, and those of Hermitian numbers in several dimensions, as SciPy's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np

import frazil.scalar as scalar
from frazil._core import FrozenApply, Variable, elemwise
from frazil.graph.collection import is_sequence
from frazil.graph.dataclass import dataclass
from frazil.graph.op import Array, Gradients, Op, Variables
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.scalar.float16 import computed_in
from frazil.tensor.axes import normalize_axis
from frazil.tensor.docstrings import described, described_like
from frazil.tensor.fft.one_dimension import Norm, as_norm, fft, hfft, ifft, ihfft
from frazil.tensor.fft.operations import SWAPPED, check_length, check_operand, fitted
from frazil.tensor.fft.several_dimensions import Axes, Counts, dimensions, fftn, from_half, to_half
from frazil.tensor.index_syntax import get_item
from frazil.tensor.lengths import (
    LengthLike,
    Lengths,
    as_length,
    length,
    literal,
    static_length,
    subtract,
)
from frazil.tensor.ranges import arange

Kind: TypeAlias = Literal["dct", "dst"]

TRANSPOSED = {1: 1, 2: 3, 3: 2, 4: 4}
"""The type whose matrix is the transpose of a type's, but for weights at the ends; also that of the
inverse."""


@dataclass(frozen=True, eq=False)
class RealTransform(Op):
    """A cosine or sine transform along a dimension, which is counted from the last: -1, -2, ...

    ``norm`` is that of the transform forwards. An ``orthogonal`` one scales the numbers at the ends
    by roots of two, so that its matrix is orthogonal but for a factor.
    """

    kind: Kind
    type: int
    axis: int
    norm: str
    orthogonal: bool
    takes_complex = True

    def make_node(self, x: Variable) -> FrozenApply:
        check_operand(self, self.axis, x, "fc", "floats")
        return FrozenApply(self, [x], [x.type])

    def perform(self, node: FrozenApply, inputs: Sequence[Array]) -> tuple[Array, ...]:
        from scipy import fft as by_scipy

        (x,) = inputs
        check_length(x.shape[self.axis])
        if not x.size:
            return (np.empty_like(x),)
        transform = by_scipy.dct if self.kind == "dct" else by_scipy.dst
        made = transform(
            x, self.type, axis=self.axis, norm=self.norm, orthogonalize=self.orthogonal
        )
        return (made.astype(x.dtype, copy=False),)

    def infer_shape(self, node: FrozenApply, input_shapes: Sequence[Lengths]) -> tuple[Lengths]:
        return (tuple(input_shapes[0]),)

    def L_op(self, inputs: Variables, outputs: Variables, output_gradients: Variables) -> Gradients:
        (g,) = output_gradients
        back = RealTransform(
            self.kind, TRANSPOSED[self.type], self.axis, self.norm, self.orthogonal
        )
        if self.orthogonal or self.type == 4 or (self.kind == "dst" and self.type == 1):
            return [back(g)]  # the transpose, as it is
        # The first type counts what is within twice, the third what is not at its end.
        ends = self._ends(g)
        if self.type == 2:
            return [back(elemwise(scalar.where, ends, g + g, g))]
        if self.type == 3:
            made = back(g)
            return [elemwise(scalar.where, ends, made * _half(made), made)]
        made = back(elemwise(scalar.where, ends, g + g, g)) * _half(g)
        return [elemwise(scalar.where, ends, made, made + made)]

    def _ends(self, x: Variable) -> Variable:
        """Whether each number along the dimension is at an end, where numbers count once."""
        n = length(x, x.ndim + self.axis)
        places = arange(n)
        first = elemwise(scalar.eq, places, 0)
        last = elemwise(scalar.eq, places, subtract(n, literal(1)))
        if self.type == 1:
            ends = elemwise(scalar.or_, first, last)
        else:
            ends = first if self.kind == "dct" else last
        return get_item(ends, (slice(None), *(None,) * (-self.axis - 1)))


def _half(x: Variable) -> Variable:
    return as_tensor(0.5, "float32" if x.dtype in ("float32", "complex64") else "float64")


def _as_floats(x: TensorLike) -> Variable:
    given = as_tensor(x)
    if given.type.numpy_dtype.kind == "c":
        return given
    kept = given.type.numpy_dtype.kind == "f"
    return as_tensor(given, computed_in(given.dtype) if kept else "float64")


def _transform(
    kind: Kind,
    x: Variable,
    type: int,
    axis: int,
    norm: Norm,
    orthogonalize: bool | None,
    inverse: bool,
) -> Variable:
    """The transform of ``x``, which has the length that is wanted."""
    if type not in TRANSPOSED:
        raise ValueError(f"invalid {kind.upper()} type: 1 to 4 are there; given {type!r}")
    given = as_norm(norm)
    orthogonal = given == "ortho" if orthogonalize is None else bool(orthogonalize)
    if type == 4 or (kind == "dst" and type == 1):
        orthogonal = False  # these are so by themselves
    if inverse:
        type, given = TRANSPOSED[type], SWAPPED[given]
    op = RealTransform(kind, type, axis - x.ndim, given, orthogonal)
    made: Variable = op(x)
    return made


def _of_one(
    kind: Kind,
    x: TensorLike,
    type: int,
    n: LengthLike | None,
    axis: int,
    norm: Norm,
    orthogonalize: bool | None,
    inverse: bool,
) -> Variable:
    floats = _as_floats(x)
    if not floats.ndim:
        raise ValueError(f"a transform takes a tensor with dimensions; given {floats.type}")
    axis = normalize_axis(axis, floats.ndim)
    wanted = length(floats, axis) if n is None else as_length(n)
    check_length(static_length(wanted))
    floats = fitted(floats, wanted, axis)
    return _transform(kind, floats, type, axis, norm, orthogonalize, inverse)


def _of_several(
    kind: Kind,
    x: TensorLike,
    type: int,
    s: Counts | LengthLike,
    axes: Axes | int,
    norm: Norm,
    orthogonalize: bool | None,
    inverse: bool,
) -> Variable:
    floats = _as_floats(x)
    counts = s if s is None or is_sequence(s) else [s]
    over = [axes] if isinstance(axes, int) else axes
    if not floats.ndim or (over is not None and not len(over)):
        return floats
    for axis, n in reversed(dimensions(floats, counts, over)):
        floats = _of_one(kind, floats, type, n, axis, norm, orthogonalize, inverse)
    return floats


@described
def dct(
    x: TensorLike,
    type: int = 2,
    n: LengthLike | None = None,
    axis: int = -1,
    norm: Norm = None,
    *,
    orthogonalize: bool | None = None,
) -> Variable:
    """Return the discrete cosine transform along a dimension.

    x (tensor_like): Numbers; the parts of complex ones are transformed each for itself.
    type (int): Which of the four cosine transforms.
    n (int or 0-d integer variable): The number of numbers: the last ones are left out, or zeros
        follow. Default: all.
    axis (int): The dimension.
    norm ({"backward", "ortho", "forward"}): The direction that is scaled, or both by the root;
        default: "backward".
    orthogonalize (bool): Whether numbers at the ends are scaled so that the matrix of the transform
        is orthogonal. Default: for "ortho".
    returns: Of the dtype of ``x``, float64 for integers, as :func:`scipy.fft.dct` gives.
    raises ValueError: If there are no numbers along the dimension, or for another type or norm.

    >>> ft.fft.dct([1.0, 2.0, 4.0], type=1).eval()
    array([ 9., -3.,  1.])
    """
    return _of_one("dct", x, type, n, axis, norm, orthogonalize, False)


@described_like(dct)
def idct(
    x: TensorLike,
    type: int = 2,
    n: LengthLike | None = None,
    axis: int = -1,
    norm: Norm = None,
    *,
    orthogonalize: bool | None = None,
) -> Variable:
    """Return the inverse of :func:`dct`, whose parameters it has.

    returns: As :func:`scipy.fft.idct` gives.

    >>> ft.fft.idct(ft.fft.dct([1.0, 2.0, 3.0])).eval()
    array([1., 2., 3.])
    """
    return _of_one("dct", x, type, n, axis, norm, orthogonalize, True)


@described_like(dct)
def dst(
    x: TensorLike,
    type: int = 2,
    n: LengthLike | None = None,
    axis: int = -1,
    norm: Norm = None,
    *,
    orthogonalize: bool | None = None,
) -> Variable:
    """Return the discrete sine transform along a dimension.

    type (int): Which of the four sine transforms.
    returns: As :func:`scipy.fft.dst` gives.

    >>> ft.fft.dst([1.0, 2.0, 4.0], type=1).eval().round(4)
    array([11.0711, -6.    ,  3.0711])
    """
    return _of_one("dst", x, type, n, axis, norm, orthogonalize, False)


@described_like(dst)
def idst(
    x: TensorLike,
    type: int = 2,
    n: LengthLike | None = None,
    axis: int = -1,
    norm: Norm = None,
    *,
    orthogonalize: bool | None = None,
) -> Variable:
    """Return the inverse of :func:`dst`, whose parameters it has.

    returns: As :func:`scipy.fft.idst` gives.

    >>> ft.fft.idst(ft.fft.dst([1.0, 2.0, 3.0])).eval()
    array([1., 2., 3.])
    """
    return _of_one("dst", x, type, n, axis, norm, orthogonalize, True)


@described_like(dct)
def dctn(
    x: TensorLike,
    type: int = 2,
    s: Counts | LengthLike = None,
    axes: Axes | int = None,
    norm: Norm = None,
    *,
    orthogonalize: bool | None = None,
) -> Variable:
    """Return the cosine transform along several dimensions.

    s (int, 0-d integer variable, or sequence of them): The length of each dimension, as ``n`` for
        :func:`dct`.
    axes (int or sequence of int): The dimensions. Default: all, or the last ones if ``s`` is given.
    returns: As :func:`scipy.fft.dctn` gives.

    >>> ft.fft.dctn([[1.0, 2.0], [3.0, 4.0]], norm="ortho").eval()
    array([[ 5., -1.],
           [-2.,  0.]])
    """
    return _of_several("dct", x, type, s, axes, norm, orthogonalize, False)


@described_like(dctn)
def idctn(
    x: TensorLike,
    type: int = 2,
    s: Counts | LengthLike = None,
    axes: Axes | int = None,
    norm: Norm = None,
    *,
    orthogonalize: bool | None = None,
) -> Variable:
    """Return the inverse of :func:`dctn`, whose parameters it has.

    returns: As :func:`scipy.fft.idctn` gives.

    >>> ft.fft.idctn([[5.0, -1.0], [-2.0, 0.0]], norm="ortho").eval()
    array([[1., 2.],
           [3., 4.]])
    """
    return _of_several("dct", x, type, s, axes, norm, orthogonalize, True)


@described_like(dctn)
def dstn(
    x: TensorLike,
    type: int = 2,
    s: Counts | LengthLike = None,
    axes: Axes | int = None,
    norm: Norm = None,
    *,
    orthogonalize: bool | None = None,
) -> Variable:
    """Return the sine transform along several dimensions.

    type (int): Which of the four sine transforms.
    returns: As :func:`scipy.fft.dstn` gives.

    >>> ft.fft.dstn([[1.0, 2.0], [3.0, 4.0]], norm="ortho").eval()
    array([[ 5., -1.],
           [-2.,  0.]])
    """
    return _of_several("dst", x, type, s, axes, norm, orthogonalize, False)


@described_like(dstn)
def idstn(
    x: TensorLike,
    type: int = 2,
    s: Counts | LengthLike = None,
    axes: Axes | int = None,
    norm: Norm = None,
    *,
    orthogonalize: bool | None = None,
) -> Variable:
    """Return the inverse of :func:`dstn`, whose parameters it has.

    returns: As :func:`scipy.fft.idstn` gives.

    >>> ft.fft.idstn([[5.0, -1.0], [-2.0, 0.0]], norm="ortho").eval()
    array([[1., 2.],
           [3., 4.]])
    """
    return _of_several("dst", x, type, s, axes, norm, orthogonalize, True)


@described_like(fftn)
def hfftn(x: TensorLike, s: Counts = None, axes: Axes = None, norm: Norm = None) -> Variable:
    """Return the real Fourier transform of numbers that mirror each other, half of which are given.

    x (tensor_like): Numbers; along the last of the dimensions the first half.
    s (sequence of int or 0-d integer variable): The length of each dimension of the result.
    returns: Real numbers, as :func:`scipy.fft.hfftn` gives.

    >>> ft.fft.hfftn([[1.0, 2.0], [3.0, 4.0]]).eval()
    array([[10., -2.],
           [-4.,  0.]])
    """
    return from_half(hfft, fft, x, s, axes, norm)


@described_like(fftn)
def ihfftn(x: TensorLike, s: Counts = None, axes: Axes = None, norm: Norm = None) -> Variable:
    """Return the inverse of :func:`hfftn`.

    x (tensor_like): Real numbers.
    returns: Of a complex dtype, as :func:`scipy.fft.ihfftn` gives.

    >>> ft.real(ft.fft.ihfftn([[10.0, -2.0], [-4.0, 0.0]])).eval()
    array([[1., 2.],
           [3., 4.]])
    """
    return to_half(ihfft, ifft, x, s, axes, norm)


@described_like(hfftn)
def hfft2(x: TensorLike, s: Counts = None, axes: Axes = (-2, -1), norm: Norm = None) -> Variable:
    """Return :func:`hfftn` of the last two dimensions, or of ``axes``.

    axes (sequence of int): The dimensions.
    returns: As :func:`scipy.fft.hfft2` gives.

    >>> ft.fft.hfft2([[1.0, 2.0], [3.0, 4.0]]).eval()
    array([[10., -2.],
           [-4.,  0.]])
    """
    return hfftn(x, s, axes, norm)


@described_like(ihfftn)
def ihfft2(x: TensorLike, s: Counts = None, axes: Axes = (-2, -1), norm: Norm = None) -> Variable:
    """Return :func:`ihfftn` of the last two dimensions, or of ``axes``.

    axes (sequence of int): The dimensions.
    returns: As :func:`scipy.fft.ihfft2` gives.

    >>> ft.real(ft.fft.ihfft2([[10.0, -2.0], [-4.0, 0.0]])).eval()
    array([[1., 2.],
           [3., 4.]])
    """
    return ihfftn(x, s, axes, norm)


@described
def next_fast_len(target: int, real: bool = False) -> int:
    """Return the least number, ``target`` or above, whose transforms are fast.

    target (int): A number that is not negative.
    real (bool): Whether real numbers are transformed.
    returns (int): As :func:`scipy.fft.next_fast_len` gives.

    >>> ft.fft.next_fast_len(97)
    98
    """
    from scipy import fft as by_scipy

    return int(by_scipy.next_fast_len(target, real))
