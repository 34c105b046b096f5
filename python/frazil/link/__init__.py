"""Linkers: they turn a graph into a program of native kernels and other instructions.

May import ``scan`` and what lies below, and ``cache``; never ``rewrite`` or ``gradient``. Start
reading at :mod:`frazil.link.linkers.native`.
"""

import typing as _typing

from frazil.link.fusion.registry import Fusion as Fusion
from frazil.link.fusion.registry import register_fusion as register_fusion
from frazil.link.lowering.native_form import native_form as native_form
from frazil.link.toolchain.count import compiled_kernels as compiled_kernels

if not _typing.TYPE_CHECKING:  # checkers of types know by themselves what is public
    from frazil.graph.namespace import public_names as _public_names

    __all__ = _public_names(globals())

    def __dir__() -> list[str]:
        return __all__
