"""The ops that Numba's kernels fuse: those with a form for Numba."""

from __future__ import annotations

from frazil.link.fusion.registry import LoweredOps, register_fusion
from frazil.link.numba.compiler import NumbaCompiler


@register_fusion("numba")
def fusion() -> LoweredOps:
    """The ops with a form for Numba."""
    # LLVM takes longer per statement the more there are in a loop.
    return LoweredOps(NumbaCompiler.lowers, statement_limit=60, refusal=NumbaCompiler.refusal)
