"""The parts of numbers, all of which are real, and the sign as it is."""

from __future__ import annotations

from frazil._core import Variable
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.creation import zeros_like


def positive(x: TensorLike, /) -> Variable:
    """Return ``x`` as it is: ``+x``.

    Parameters
    ----------
    x : tensor_like
        Numbers.

    Returns
    -------
    Variable
        ``x`` itself.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.positive([1.0, -1.0]).eval()
    array([ 1., -1.])
    """
    x = as_tensor(x)
    if x.dtype == "bool":
        raise TypeError(f"positive takes numbers; given {x.type}. Cast it first.")
    return x


def real(x: TensorLike, /) -> Variable:
    """Return the real part, which is all of ``x``.

    Parameters
    ----------
    x : tensor_like
        Any tensor; there are no complex ones.

    Returns
    -------
    Variable
        ``x`` itself, as :func:`numpy.real` gives.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.real([1.0, -1.0]).eval()
    array([ 1., -1.])
    """
    return as_tensor(x)


def imag(x: TensorLike, /) -> Variable:
    """Return the imaginary part, which is zero.

    Parameters
    ----------
    x : tensor_like
        Any tensor; there are no complex ones.

    Returns
    -------
    Variable
        Zeros of the shape and dtype of ``x``, as :func:`numpy.imag` gives.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.imag([1.0, -1.0]).eval()
    array([0., 0.])
    """
    return zeros_like(as_tensor(x))


def conj(x: TensorLike, /) -> Variable:
    """Return the conjugate, which is ``x``.

    Parameters
    ----------
    x : tensor_like
        Any tensor; there are no complex ones.

    Returns
    -------
    Variable
        ``x`` itself, as :func:`numpy.conj` gives.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.conj([1.0, -1.0]).eval()
    array([ 1., -1.])
    """
    return as_tensor(x)


conjugate = conj
