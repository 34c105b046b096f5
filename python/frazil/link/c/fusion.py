"""The ops that C kernels fuse: those with a form in C."""

from __future__ import annotations

from frazil.link.c.compiler import CCompiler
from frazil.link.fusion.registry import LoweredOps, register_fusion
from frazil.link.kernel.compiler import STATEMENT_LIMIT


@register_fusion("c")
def fusion() -> LoweredOps:
    """The ops that have a form in C, whether or not this machine has a compiler."""
    return LoweredOps(CCompiler.lowers, STATEMENT_LIMIT, CCompiler.refusal)
