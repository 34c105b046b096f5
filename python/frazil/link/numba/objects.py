"""From kernels to an object file: their text becomes LLVM's, and LLVM does the rest.

Numba is imported for ops of users alone, which may be written in all that it compiles.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from typing import Any

import llvmlite.binding as llvm

from frazil.link.kernel.image import Image
from frazil.link.kernel.loop_kernel import LoopKernel
from frazil.link.kernel.scan_kernel import AnyKernel
from frazil.link.numba.externals import exported, with_vector_forms
from frazil.link.numba.machine import target_machine
from frazil.link.numba.recurrence import RecurrenceSource
from frazil.link.numba.source import KernelSource
from frazil.link.numba.translation import Defined, Module

_OPERANDS = ("pointers", "int64", "int64", "integers")


def build(kernels: Sequence[AnyKernel], names: Sequence[str]) -> Image:
    """The object file that has these kernels under these names."""
    machine = target_machine()
    head = f'target datalayout = "{machine.target_data}"\ntarget triple = "{machine.triple}"'
    module = Module(head)
    for kernel, name in zip(kernels, names, strict=True):
        source = (
            KernelSource(kernel) if isinstance(kernel, LoopKernel) else RecurrenceSource(kernel)
        )
        function = Defined(name, _OPERANDS, "int32", source.text, source.globals)
        module.define(function, linkage="")
    parts: list[str] = []
    libraries: list[Any] = []
    if module.elsewhere:
        # Only here, since Numba takes longer to import than many kernels to compile.
        parts, libraries = importlib.import_module("frazil.link.numba.jitted").lower(module)
    # What LLVM knows of constants and types it keeps as long as their context.
    with llvm.create_context() as context:
        text = with_vector_forms(module.text)
        with llvm.parse_assembly(text, context) as linked:
            for part in parts:
                linked.link_in(llvm.parse_assembly(part, context))
            _link(linked, libraries, context)
            return _compiled(linked, names, machine)


def _compiled(module: Any, names: Sequence[str], machine: Any) -> Image:
    """The machine code of the functions of these names."""
    for function in module.functions:
        if not function.is_declaration and function.name not in names:
            function.linkage = "internal"
    module.verify()
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    options.loop_vectorization = True
    passes = llvm.create_pass_builder(machine, options)
    passes.getModulePassManager().run(module, passes)
    return Image(machine.emit_object(module), _externals(module))


def _link(module: Any, libraries: Sequence[Any], context: Any) -> None:
    """Adds those of Numba's libraries that the module calls."""
    for library in libraries:
        wanted = [function.name for function in module.functions if function.is_declaration]
        if any(_defines(library, name) for name in wanted):
            other = llvm.parse_assembly(library.get_llvm_str(), context)
            for function in other.functions:
                if not function.is_declaration:
                    function.linkage = "linkonce_odr"
            module.link_in(other)


def _defines(library: Any, name: str) -> bool:
    try:
        return not library.get_function(name).is_declaration
    except NameError:
        return False


def _externals(module: Any) -> dict[str, str]:
    """What the module calls outside itself, with the names under which that is exported."""
    return {symbol: exported(symbol) for symbol in sorted(_called(module))}


def _called(module: Any) -> Iterator[str]:
    for function in module.functions:
        if function.is_declaration and not function.name.startswith("llvm."):
            yield function.name
