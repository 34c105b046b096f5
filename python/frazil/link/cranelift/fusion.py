"""The ops that kernels of the code generator fuse: those that it knows by name."""

from __future__ import annotations

from frazil.link.cranelift.compiler import CraneliftCompiler
from frazil.link.fusion.registry import LoweredOps, register_fusion


@register_fusion("cranelift")
def fusion() -> LoweredOps:
    """The ops of frazil's own, whether or not this machine runs the code."""
    # As for C: so the kernels of both are the same.
    return LoweredOps(
        CraneliftCompiler.lowers, statement_limit=150, refusal=CraneliftCompiler.refusal
    )
