"""The ops that Numba's kernels fuse: those with a form for Numba."""

from __future__ import annotations

from frazil.link.fusion.registry import LoweredOps, register_fusion
from frazil.link.kernel.compiler import STATEMENT_LIMIT
from frazil.link.numba.compiler import NumbaCompiler


@register_fusion("numba")
def fusion() -> LoweredOps:
    """The ops with a form for Numba."""
    return LoweredOps(NumbaCompiler.lowers, STATEMENT_LIMIT, NumbaCompiler.refusal)
