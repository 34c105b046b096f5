"""Elementary ops: those of the table, each known by its name.

An elementary op is its name (and, for a cast, a dtype). Everything else stands in its :class:`Row`:
the type rule, the NumPy function that is the reference, the C and the Numba expressions, and the
gradient. The rows are written in the modules of this package, one theme each.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import frazil._core as _core
from frazil._core import TensorType
from frazil.graph.cached_property import cached_property
from frazil.graph.dataclass import dataclass
from frazil.scalar.elemwise import Elemwise
from frazil.scalar.op import GradientFunction, NativeText, ScalarOp


@dataclass(frozen=True, slots=True)
class Row:
    """The definition of one elementary op.

    ``rule`` names the type rule by which the core types its nodes. ``ufunc`` computes the op with
    NumPy, on operands that have their computation dtype already. ``gradient`` is None for an op
    that cannot be differentiated.
    """

    name: str
    rule: str
    nin: int
    ufunc: Callable[..., Any]
    c: NativeText
    numba: NativeText
    gradient: GradientFunction | None
    commutative: bool = False
    takes_complex: bool = False


_ROWS: dict[str, Row] = {}


@dataclass(frozen=True, eq=False)
class Elementary(ScalarOp):
    """An op of the table, known by its name; ``dtype`` is the target of a cast.

    Examples
    --------
    >>> from frazil.scalar import Elementary, add
    >>> Elementary("add") is add
    True
    >>> add.rule
    'arithmetic'
    """

    name: str
    dtype: str | None = None

    def __post_init__(self) -> None:
        row = _ROWS.get(self.name)
        if row is None:
            raise ValueError(f"there is no scalar op named {self.name!r}")
        if (row.rule == "cast") != (self.dtype is not None):
            raise ValueError(
                "a cast, and nothing else, takes a dtype: Elementary('cast', 'float32')"
            )
        if self.dtype is not None:
            # Raises for an unknown dtype, so that no op is made without a type rule.
            TensorType(self.dtype, ())

    @cached_property
    def row(self) -> Row:
        return _ROWS[self.name]

    @property
    def nin(self) -> int:
        return self.row.nin

    @cached_property
    def rule(self) -> str:  # asked for each node, several times
        rule = self.row.rule
        return rule if self.dtype is None else f"{rule}:{self.dtype}"

    @property
    def ufunc(self) -> Callable[..., Any]:
        return self.row.ufunc

    @property
    def commutative(self) -> bool:  # type: ignore[override]
        return self.row.commutative

    @property
    def takes_complex(self) -> bool:  # type: ignore[override]
        return self.row.takes_complex

    @property
    def c(self) -> NativeText:
        return self.row.c

    @property
    def numba(self) -> NativeText:
        return self.row.numba

    @cached_property
    def gradient(self) -> GradientFunction | None:  # asked for each node
        return self.row.gradient

    @property
    def table_name(self) -> str:
        return self.name

    @property
    def converts_to(self) -> str | None:
        return self.dtype

    def _on_intern(self) -> None:
        _core.register_elemwise(self, Elemwise(self))

    def __str__(self) -> str:
        return self.name if self.dtype is None else f"{self.name}{{{self.dtype}}}"

    def impl(self, *operands: object) -> Any:
        """The op applied to Python or NumPy scalars.

        Examples
        --------
        >>> from frazil.scalar import maximum
        >>> float(maximum.impl(1.0, 2.0))
        2.0
        """
        if self.dtype is not None:
            return np.asarray(operands[0]).astype(self.dtype)[()]
        return self.row.ufunc(*operands)


def define(
    name: str,
    rule: str,
    ufunc: Callable[..., object],
    *,
    c: NativeText,
    numba: NativeText | None = None,
    gradient: GradientFunction | None = None,
    nin: int = 1,
    commutative: bool = False,
    takes_complex: bool = False,
) -> Elementary:
    """The elementary op of a new row of the table; without ``numba``, that is as ``c``."""
    numba = c if numba is None else numba
    row = Row(name, rule, nin, ufunc, c, numba, gradient, commutative, takes_complex)
    if _ROWS.setdefault(name, row) is not row:
        raise ValueError(f"a scalar op named {name!r} exists already")
    return Elementary(name)


def function(
    name: str,
    ufunc: Callable[..., object],
    gradient: GradientFunction,
    *,
    call: str | None = None,
    nin: int = 1,
    commutative: bool = False,
    takes_complex: bool = False,
) -> Elementary:
    """The op of a row that calls a function of floating numbers, ``call`` in C and in Numba."""
    operands = ", ".join(f"{{{at}}}" for at in range(nin))
    text = f"{{{call or name}}}({operands})"
    return define(
        name,
        "float",
        ufunc,
        c=text,
        gradient=gradient,
        nin=nin,
        commutative=commutative,
        takes_complex=takes_complex,
    )


def operator(
    name: str,
    rule: str,
    ufunc: Callable[..., object],
    sign: str,
    *,
    commutative: bool = False,
    takes_complex: bool = False,
) -> Elementary:
    """The op of a row that C and Python write with a sign between two operands; no gradient."""
    text = f"{{0}} {sign} {{1}}"
    return define(
        name, rule, ufunc, c=text, nin=2, commutative=commutative, takes_complex=takes_complex
    )


def define_cast(gradient: GradientFunction) -> Callable[[str], Elementary]:
    """The family of casts: a function from a dtype to the scalar op that converts to it."""
    _ROWS["cast"] = Row("cast", "cast", 1, np.asarray, "{0}", "{0}", gradient, takes_complex=True)

    def cast(dtype: str) -> Elementary:
        """Return the scalar op that converts to ``dtype``.

        Parameters
        ----------
        dtype : str
            The name of a frazil dtype.

        Returns
        -------
        Elementary
            The same object for the same dtype.

        Examples
        --------
        >>> from frazil.scalar import cast
        >>> cast("float32").rule
        'cast:float32'
        """
        return Elementary("cast", np.dtype(dtype).name)

    return cast


def rows() -> Mapping[str, Row]:
    """Every row that is defined, by name."""
    return dict(_ROWS)
