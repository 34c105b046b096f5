"""Scalar ops: what happens to one element, told once for every linker.

A scalar op is its name (and, for a cast, a dtype). Everything else stands in its :class:`Row`: the
type rule, the NumPy function that is the reference, the C and the Numba expressions, and the
gradient. The rows are written in the modules of this package, one theme each.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from frazil.op import Op

Lowering: TypeAlias = str | Mapping[str, str]
"""An expression in which ``{0}``, ``{1}``, ... are the operands, ``{T}`` is the type that they are
computed in and ``{name}`` is a function of the target language. A mapping gives one for each NumPy
kind of that type: ``{"iu": "{0} * {1}", "f": "{pow}({0}, {1})"}``."""

Gradient: TypeAlias = Callable[[Sequence[Any], Any, Any], Sequence[Any]]
"""``(inputs, output, output_gradient)`` to one gradient an input; None: that input has none.

A gradient has the output's shape, or broadcasts to it; what was broadcast is summed back elsewhere.
What takes nodes to build may be a function without arguments, which is called only if that input's
gradient is wanted."""


@dataclass(frozen=True, slots=True)
class Row:
    """What is known of one scalar op.

    ``rule`` names the type rule by which the core types its nodes. ``ufunc`` computes the op with
    NumPy, on operands that have their computation dtype already. ``gradient`` is None for an op
    that cannot be differentiated.
    """

    name: str
    rule: str
    nin: int
    ufunc: Callable[..., Any]
    c: Lowering
    numba: Lowering
    gradient: Gradient | None
    commutative: bool = False


_ROWS: dict[str, Row] = {}


@dataclass(frozen=True, eq=False)
class ScalarOp(Op):
    """An op on single elements, known by its name; ``dtype`` is the target of a cast.

    Examples
    --------
    >>> from frazil.scalar import ScalarOp, add
    >>> ScalarOp("add") is add
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
            raise ValueError("a cast, and nothing else, takes a dtype: ScalarOp('cast', 'float32')")

    @property
    def row(self) -> Row:
        return _ROWS[self.name]

    @property
    def nin(self) -> int:
        return self.row.nin

    @property
    def rule(self) -> str:
        rule = self.row.rule
        return rule if self.dtype is None else f"{rule}:{self.dtype}"

    @property
    def ufunc(self) -> Callable[..., Any]:
        return self.row.ufunc

    @property
    def commutative(self) -> bool:  # type: ignore[override]
        return self.row.commutative

    @property
    def c(self) -> Lowering:
        return self.row.c

    @property
    def numba(self) -> Lowering:
        return self.row.numba

    @property
    def gradient(self) -> Gradient | None:
        return self.row.gradient

    def _on_intern(self) -> None:
        from frazil import _core
        from frazil.elemwise import Elemwise

        _core.register_elemwise(self, Elemwise(self))

    def __str__(self) -> str:
        return self.name if self.dtype is None else f"{self.name}{{{self.dtype}}}"

    def operand_dtypes(self, dtypes: Sequence[str], result: str) -> tuple[str, ...]:
        """The dtypes that operands are converted to before the op computes ``result``.

        Comparisons convert to the operands' common type, except that an int64 and a uint64 have
        none: these two stay as they are and are compared exactly.

        Examples
        --------
        >>> from frazil.scalar import lt, mul
        >>> mul.operand_dtypes(("int8", "float32"), "float32")
        ('float32', 'float32')
        >>> lt.operand_dtypes(("int8", "uint64"), "bool")
        ('int64', 'uint64')
        """
        match self.row.rule:
            case "cast" | "predicate":
                return tuple(dtypes)
            case "select":
                return ("bool", *[result] * (len(dtypes) - 1))
            case "comparison":
                if "uint64" in dtypes and any(np.dtype(d).kind == "i" for d in dtypes):
                    return tuple(d if d == "uint64" or d[0] == "f" else "int64" for d in dtypes)
                return (np.result_type(*dtypes).name,) * len(dtypes)
            case _:
                return (result,) * len(dtypes)

    def compute(self, result: str, *operands: Any) -> np.ndarray[Any, Any]:
        """The op applied by NumPy to whole arrays: the reference for every linker.

        Examples
        --------
        >>> import numpy as np
        >>> from frazil.scalar import sigmoid
        >>> sigmoid.compute("float64", np.array([0.0, np.inf]))
        array([0.5, 1. ])
        """
        arrays = [np.asarray(operand) for operand in operands]
        dtypes = self.operand_dtypes([array.dtype.name for array in arrays], result)
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            converted = [a.astype(d, copy=False) for a, d in zip(arrays, dtypes, strict=True)]
            if self.dtype is not None:
                return np.asarray(converted[0].astype(self.dtype))
            return np.asarray(self.row.ufunc(*converted)).astype(result, copy=False)

    def impl(self, *operands: Any) -> Any:
        """The op applied to Python or NumPy scalars.

        Examples
        --------
        >>> from frazil.scalar import maximum
        >>> float(maximum.impl(1.0, 2.0))
        2.0
        """
        if self.dtype is not None:
            return np.dtype(self.dtype).type(operands[0])
        return self.row.ufunc(*operands)


def define(
    name: str,
    rule: str,
    ufunc: Callable[..., Any],
    *,
    c: Lowering,
    numba: Lowering,
    gradient: Gradient | None,
    nin: int = 1,
    commutative: bool = False,
) -> ScalarOp:
    """The scalar op of a new row of the table."""
    row = Row(name, rule, nin, ufunc, c, numba, gradient, commutative)
    if _ROWS.setdefault(name, row) is not row:
        raise ValueError(f"a scalar op named {name!r} exists already")
    return ScalarOp(name)


def define_cast(*, c: Lowering, numba: Lowering, gradient: Gradient) -> Callable[[str], ScalarOp]:
    """The family of casts: a function from a dtype to the scalar op that converts to it."""
    _ROWS["cast"] = Row("cast", "cast", 1, np.asarray, c, numba, gradient)

    def cast(dtype: str) -> ScalarOp:
        """The scalar op that converts to ``dtype``.

        Examples
        --------
        >>> from frazil.scalar import cast
        >>> cast("float32").rule
        'cast:float32'
        """
        return ScalarOp("cast", np.dtype(dtype).name)

    return cast


def rows() -> Mapping[str, Row]:
    """Every row that is defined, by name."""
    return dict(_ROWS)


def lowering_for(lowering: Lowering, dtype: str) -> str | None:
    """The expression for operands of ``dtype``; None if the op has none for it.

    Examples
    --------
    >>> from frazil.scalar.op import lowering_for
    >>> lowering_for({"iu": "{0} % {1}", "f": "{fmod}({0}, {1})"}, "uint8")
    '{0} % {1}'
    """
    if isinstance(lowering, str):
        return lowering
    kind = np.dtype(dtype).kind
    return next((text for kinds, text in lowering.items() if kind in kinds), None)
