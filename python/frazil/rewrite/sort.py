"""Sorts: annotations of a rule's parameters, which say which variables each may match.

A parameter annotated ``Integer`` is a variable to Python and to type checkers, so the real
operators apply to it; in the rule it matches any variable with an integer dtype.
"""

from __future__ import annotations

from typing import Annotated, TypeAlias

from frazil._core import Variable
from frazil.graph.dataclass import dataclass

SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
FLOATS = ("float32", "float64")
DTYPES = ("bool", *SIGNED, *UNSIGNED, *FLOATS)


@dataclass(frozen=True, slots=True)
class Sort:
    """The variables that a parameter of a rule may match.

    Attributes
    ----------
    name : str
        Its name in printed rules.
    dtypes : tuple of str
        The dtypes that match.
    sample : str
        The dtype of the variable that the rule's function is called with. Numbers beside that
        variable take this dtype; in the compiled rule they match numbers of any dtype.
    constant : bool
        Whether only constants match.
    ndim : int
        The rank of the variable that the rule's function is called with. If it is not 0, only
        variables of this rank match, without a dimension whose length is known to be 1: such a one
        repeats beside others, so that a sum, say, is another. If it is 0, those of any rank match:
        for elementwise ops.
    any_rank : bool
        Whether variables of any rank match though the function is called with one of ``ndim``. It
        must apply ops that mean the same at each rank then.

    Examples
    --------
    >>> from typing import Annotated
    >>> import frazil as fz
    >>> from frazil.rewrite import Sort
    >>> Matrix = Annotated[fz.Variable, Sort("matrix", ("float32", "float64"), "float64", ndim=2)]
    """

    name: str
    dtypes: tuple[str, ...]
    sample: str
    constant: bool = False
    ndim: int = 0
    any_rank: bool = False


Tensor: TypeAlias = Annotated[Variable, Sort("tensor", DTYPES, "float64")]
"""Any variable."""

Number: TypeAlias = Annotated[Variable, Sort("number", (*SIGNED, *UNSIGNED, *FLOATS), "float64")]
"""An integer or a float."""

Float: TypeAlias = Annotated[Variable, Sort("float", FLOATS, "float64")]
"""A float."""

Integer: TypeAlias = Annotated[Variable, Sort("integer", (*SIGNED, *UNSIGNED), "int64")]
"""An integer; it wraps around."""

Signed: TypeAlias = Annotated[Variable, Sort("signed", (*SIGNED, *FLOATS), "float64")]
"""A number with a sign."""

SignedInteger: TypeAlias = Annotated[Variable, Sort("signed integer", SIGNED, "int64")]
"""An integer with a sign."""

Unsigned: TypeAlias = Annotated[Variable, Sort("unsigned", ("bool", *UNSIGNED), "uint64")]
"""A bool or an integer without a sign."""

Bool: TypeAlias = Annotated[Variable, Sort("bool", ("bool",), "bool")]
"""A bool."""

Discrete: TypeAlias = Annotated[Variable, Sort("discrete", ("bool", *SIGNED, *UNSIGNED), "bool")]
"""A bool or an integer, as bitwise operators take them; it is never NaN."""

Known: TypeAlias = Annotated[Variable, Sort("known", DTYPES, "float64", constant=True)]
"""A constant."""

KnownFloat: TypeAlias = Annotated[Variable, Sort("known float", FLOATS, "float64", constant=True)]
"""A constant float."""

KnownInteger: TypeAlias = Annotated[
    Variable, Sort("known integer", (*SIGNED, *UNSIGNED), "int64", constant=True)
]
"""A constant integer."""
