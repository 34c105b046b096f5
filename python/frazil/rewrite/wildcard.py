"""Wildcards: ops of a pattern that match other ops."""

from __future__ import annotations

from typing import Any

from frazil._core import FrozenApply
from frazil.graph.dataclass import dataclass
from frazil.graph.op import Op
from frazil.scalar import ScalarOp
from frazil.scalar.elemwise import Elemwise
from frazil.tensor.docstrings import described


@dataclass(frozen=True, eq=False)
class Wildcard(Op):
    """Matches one of some ops (a tuple), any op of a kind (a name), or any pure op (None).

    Examples
    --------
    >>> from frazil import scalar
    >>> from frazil.rewrite import any_of
    >>> any_of("even", scalar.cos, scalar.cosh).name
    'even'
    """

    name: str
    stands_for: tuple[Op, ...] | str | None

    def make_node(self, *inputs: Any) -> FrozenApply:
        if isinstance(self.stands_for, tuple):
            types = self.stands_for[0].make_node(*inputs).output_types
        else:
            types = (inputs[0].type,)
        return FrozenApply(self, inputs, types)

    def __str__(self) -> str:
        return self.name


@described
def any_of(name: str, *ops: Op) -> Wildcard:
    """Return an op that matches one of ``ops`` in a rule, the same one in each place.

    name (str): Its name in printed rules.
    ops (Op): Ops that take the same operands; scalar ops mean their elementwise application.
    returns (Wildcard): To be applied like an op, within a rule.

    >>> from frazil import scalar
    >>> from frazil.rewrite import Float, any_of, rule
    >>> even = any_of("even", scalar.cos, scalar.cosh)
    >>> @rule
    ... def even_of_neg(x: Float):
    ...     '''f(-x) == f(x) if f is even.'''
    ...     return even(-x), even(x)
    """
    if not ops:
        raise ValueError("any_of needs at least one op")
    for op in ops:
        if not isinstance(op, Op):
            raise TypeError(
                "any_of takes a name and ops, as in any_of('even', scalar.cos), given "
                f"{getattr(op, '__name__', op)!r}"
            )
    return Wildcard(name, tuple(Elemwise(op) if isinstance(op, ScalarOp) else op for op in ops))


@described
def any_kind(kind: type[Op], name: str | None = None) -> Wildcard:
    """Return an op that matches any op of a class in a rule, whatever its parameters.

    It matches the same op in each place; a wildcard of another ``name`` may match another op.

    kind (type of Op): The class.
    name (str): Its name in printed rules; default: the name of the class.
    returns (Wildcard): To be applied like an op, within a rule.

    >>> from frazil.rewrite import any_kind
    >>> from frazil.tensor.transposition import Transpose
    >>> any_kind(Transpose).name
    'Transpose'
    """
    given: object = kind
    if not isinstance(given, type):
        own = f"; the class of this op is {type(given).__qualname__}"
        raise TypeError(
            f"any_kind takes a class of ops, given {given!r}{own if isinstance(given, Op) else ''}"
        )
    return Wildcard(name or kind.__name__, f"{kind.__module__}.{kind.__qualname__}")


anything = Wildcard("anything", None)
"""Matches any op whose outputs follow from its inputs and that writes over none of them."""
