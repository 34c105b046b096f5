"""Functions that are written in C, static in the text of the kernels that call them."""

from __future__ import annotations

from frazil.graph.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class StaticFunction:
    """A function written in C. In its text ``$T`` is the operands' type, ``$self`` the function's
    own name, ``$name`` another function of that type and ``$name@f8`` one of another type.
    ``vector``: loops over it can be vectorised.
    """

    text: str
    vector: bool = True
