"""LLVM's view of this machine. Numba is not imported for it."""

from __future__ import annotations

from functools import cache

import llvmlite.binding as llvm


def target_machine() -> llvm.TargetMachine:
    """The processor of this machine, for LLVM; the engine that runs code takes it over."""
    return _target().create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        opt=3,
        reloc="pic",
        codemodel="default",
        jit=True,
    )


@cache
def _target() -> llvm.Target:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_triple(llvm.get_process_triple())


def new_engine() -> llvm.ExecutionEngine:
    """An empty engine for machine code; it gives its memory back when it is dropped."""
    return llvm.create_mcjit_compiler(llvm.parse_assembly(""), target_machine())
