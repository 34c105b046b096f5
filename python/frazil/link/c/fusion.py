"""The ops that C kernels fuse: those with a form in C."""

from __future__ import annotations

from frazil.link.c.compiler import CCompiler
from frazil.link.fusion.registry import LoweredOps, register_fusion


@register_fusion("c")
def fusion() -> LoweredOps:
    """The ops that have a form in C, whether or not this machine has a compiler."""
    # Longer kernels hold more operands than registers: gcc takes longer for each, and so do calls.
    return LoweredOps(CCompiler.lowers, statement_limit=150, refusal=CCompiler.refusal)
