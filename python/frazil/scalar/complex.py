"""Complex numbers: built from their parts, and taken apart.

The gradient of a real ``f`` by ``z = x + iy`` is ``df/dx - i df/dy``, as in JAX: so the gradients
of functions like ``exp``, which are differentiable in the complex plane, are written as those of
real numbers. Those of the functions here follow from ``df = Re(gradient * dz)``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import frazil._core as _core
from frazil._core import Variable, elemwise
from frazil.graph.dataclass import dataclass
from frazil.graph.op import Array, Variables
from frazil.scalar.elemwise import Elemwise
from frazil.scalar.op import Partial, ScalarOp


@dataclass(frozen=True, eq=False)
class _OfComplex(ScalarOp):
    """Base of the ops here, which real numbers have no need of."""

    nin = 1
    takes_complex = True

    def _on_intern(self) -> None:
        _core.register_elemwise(self, Elemwise(self))

    def __str__(self) -> str:
        return type(self).__name__.lower()

    def impl(self, *operands: object) -> Any:
        assert self.ufunc is not None
        return self.ufunc(*operands)


def _of_real(inputs: Variables, output: Variable, g: Variable) -> list[Partial]:
    return [g]


def _of_imag(inputs: Variables, output: Variable, g: Variable) -> list[Partial]:
    return [lambda: elemwise(complex, 0.0, -g)]


def _of_conj(inputs: Variables, output: Variable, g: Variable) -> list[Partial]:
    return [lambda: conjugate(g)]


def _of_complex(inputs: Variables, output: Variable, g: Variable) -> list[Partial]:
    return [lambda: elemwise(real, g), lambda: -elemwise(imag, g)]


def _real_part(x: Array) -> Array:
    return np.array(np.real(x))  # a copy: NumPy gives a view


def _imaginary_part(x: Array) -> Array:
    return np.array(np.imag(x))


def _complex(x: Array, y: Array) -> Array:
    x, y = np.asarray(x), np.asarray(y)
    shape = np.broadcast_shapes(x.shape, y.shape)
    made = np.empty(shape, np.result_type(x.dtype, np.complex64))
    made.real, made.imag = x, y
    return made


@dataclass(frozen=True, eq=False)
class Real(_OfComplex):
    """The real part."""

    rule = "part"
    ufunc = staticmethod(_real_part)
    gradient = staticmethod(_of_real)


@dataclass(frozen=True, eq=False)
class Imag(_OfComplex):
    """The imaginary part."""

    rule = "part"
    ufunc = staticmethod(_imaginary_part)
    gradient = staticmethod(_of_imag)


@dataclass(frozen=True, eq=False)
class Conj(_OfComplex):
    """The conjugate."""

    rule = "arithmetic_no_bool"
    ufunc = np.conjugate
    gradient = staticmethod(_of_conj)


@dataclass(frozen=True, eq=False)
class Complex(_OfComplex):
    """The complex number with these parts."""

    nin = 2
    rule = "complex"
    ufunc = staticmethod(_complex)
    gradient = staticmethod(_of_complex)


real, imag, conj, complex = Real(), Imag(), Conj(), Complex()


def conjugate(x: Variable) -> Variable:
    """The conjugates of complex numbers, and real ones as they are."""
    return elemwise(conj, x) if is_complex(x) else x


def is_complex(x: Variable) -> bool:
    """Whether the elements are complex numbers."""
    return x.type.numpy_dtype.kind == "c"


def refuse_complex(x: Variable, who: str) -> Variable:
    """Return ``x`` if it is real; ``who`` says in the message what takes no complex numbers."""
    if is_complex(x):
        raise TypeError(
            f"{who} takes real numbers; given {x.type}. Take the parts by ft.real and ft.imag, or "
            "the sizes by ft.abs"
        )
    return x
