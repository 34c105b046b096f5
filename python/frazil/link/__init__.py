"""From graphs to programs: fusion, sizes, and the kernel compilers."""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from frazil.link.fusion.registry import Fusion as Fusion
from frazil.link.fusion.registry import register_fusion as register_fusion
from frazil.link.toolchain.count import compiled_kernels as compiled_kernels

if not _TYPE_CHECKING:  # checkers of types know by themselves what is public
    from frazil.graph.namespace import public_names as _public_names

    __all__ = _public_names(globals())

    def __dir__() -> list[str]:
        return __all__
