"""From kernels to an object file: their text is translated to LLVM's, and LLVM does the rest.

Numba is imported only for ops of users, which may be written in everything that Numba compiles.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import llvmlite.binding as llvm

from frazil.link.kernel.image import Image
from frazil.link.kernel.loop_kernel import LoopKernel
from frazil.link.kernel.scan_kernel import AnyKernel
from frazil.link.numba.externals import exported
from frazil.link.numba.linking import called, link, optimise
from frazil.link.numba.machine import target_machine
from frazil.link.numba.scan import ScanSource
from frazil.link.numba.source import KernelSource
from frazil.link.numba.translation import Defined, Module

_OPERANDS = ("pointers", "int64", "int64", "integers")


def build(kernels: Sequence[AnyKernel], names: Sequence[str]) -> Image:
    """The object file that has these kernels under these names."""
    machine = target_machine()
    head = f'target datalayout = "{machine.target_data}"\ntarget triple = "{machine.triple}"'
    module = Module(head)
    for kernel, name in zip(kernels, names, strict=True):
        source = KernelSource(kernel) if isinstance(kernel, LoopKernel) else ScanSource(kernel)
        function = Defined(name, _OPERANDS, "int32", source.text, source.globals)
        module.define(function, linkage="")
    parts: list[str] = []
    libraries: list[Any] = []
    if module.elsewhere:
        # Only here, since Numba takes longer to import than many kernels to compile.
        from frazil.link.numba.jitted import lower

        parts, libraries = lower(module)
    # LLVM keeps constants and types as long as their context.
    with llvm.create_context() as context, llvm.parse_assembly(module.text, context) as linked:
        link(linked, parts, libraries, names, context)
        optimise(linked, machine)
        outside = {symbol: exported(symbol) for symbol in sorted(called(linked))}
        return Image(machine.emit_object(linked), outside)
