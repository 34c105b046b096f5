"""What Numba's kernels fuse: what has a form for Numba."""

from __future__ import annotations

from frazil.link.fusible import LoweredOps, register_fusion
from frazil.link.numba.compiler import NumbaCompiler


@register_fusion("numba")
def fusion() -> LoweredOps:
    """What has a form for Numba."""
    # Type inference and LLVM take longer per statement the more there are: for 800 in loops of 60
    # a third more time than in loops of 40, but a chain of 40 inputs is then two loops.
    return LoweredOps(NumbaCompiler.lowers, statement_limit=60)
