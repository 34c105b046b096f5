"""From graphs to functions: phases rewrite a graph, a linker makes a program of it.

May import ``rewrite``, ``link``, ``cache`` and what lies below. Start reading at
:mod:`frazil.compile.function`, and for the order of phases at :mod:`frazil.compile.phases`.
"""

import typing as _typing

import frazil.compile.eval  # noqa: F401  (gives variables their method)
from frazil.compile.mode import register_linker as register_linker

if not _typing.TYPE_CHECKING:  # checkers of types know by themselves what is public
    from frazil.graph.namespace import public_names as _public_names

    __all__ = _public_names(globals())

    def __dir__() -> list[str]:
        return __all__
