"""Modules of LLVM, linked and optimized."""

from __future__ import annotations

import ctypes
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

import llvmlite.binding as llvm

from frazil.link.toolchain.symbols import load_math

if TYPE_CHECKING:
    from numba.core.codegen import CodeLibrary


def link(
    module: llvm.ModuleRef,
    parts: Sequence[str],
    libraries: Sequence[CodeLibrary],
    names: Collection[str],
    context: object,
) -> None:
    """Adds texts to a module, and those of Numba's libraries that it then calls.

    Only functions of these names are seen from outside.
    """
    for part in parts:
        module.link_in(llvm.parse_assembly(part, context))
    for library in libraries:
        wanted = [function.name for function in module.functions if function.is_declaration]
        if any(_defines(library, name) for name in wanted):
            other = llvm.parse_assembly(library.get_llvm_str(), context)
            for function in other.functions:
                if not function.is_declaration:
                    function.linkage = "linkonce_odr"
            module.link_in(other)
    for function in module.functions:
        if not function.is_declaration and function.name not in names:
            function.linkage = "internal"
    module.verify()


def optimise(module: llvm.ModuleRef, machine: llvm.TargetMachine) -> None:
    """Makes a module faster."""
    # More than that takes LLVM longer, and loops no less time: their blocks are vectors already.
    options = llvm.create_pipeline_tuning_options(speed_level=1)
    options.loop_vectorization = True
    passes = llvm.create_pass_builder(machine, options)
    passes.getModulePassManager().run(module, passes)


def called(module: llvm.ModuleRef) -> Iterator[str]:
    """The functions that a module calls outside itself, without LLVM's own."""
    for function in module.functions:
        if function.is_declaration and not function.name.startswith("llvm."):
            yield function.name


@cache
def is_of_c(name: str) -> bool:
    """Whether the C library has a function of that name, also in a process without Numba."""
    load_math(vectors=False)
    return hasattr(ctypes.CDLL(None), name) and not name.startswith(("Py", "_Py"))


def _defines(library: CodeLibrary, name: str) -> bool:
    try:
        return not library.get_function(name).is_declaration
    except NameError:
        return False
