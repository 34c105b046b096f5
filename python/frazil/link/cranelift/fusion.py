"""The ops that kernels of the code generator fuse: those that it knows by name."""

from __future__ import annotations

from frazil.link.cranelift.compiler import CraneliftCompiler
from frazil.link.fusion.registry import LoweredOps, register_fusion
from frazil.link.kernel.compiler import STATEMENT_LIMIT


@register_fusion("cranelift")
def fusion() -> LoweredOps:
    """The ops of frazil's own, whether or not this machine runs the code."""
    return LoweredOps(CraneliftCompiler.lowers, STATEMENT_LIMIT, CraneliftCompiler.refusal)
