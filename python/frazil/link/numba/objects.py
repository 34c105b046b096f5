"""From kernels to an object file: Numba types them and writes LLVM's text, LLVM does the rest.

Numba's own engine keeps what it compiles as long as the process lives, and its machine code needs
Numba. So it is asked for the text alone.

Importing this module imports Numba.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir
from numba.core import compiler, errors, types
from numba.core.codegen import CodeLibrary
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target

from frazil.link.image import Image
from frazil.link.kernel import LoopKernel
from frazil.link.kernel_compiler import KernelCompileError, texts_of
from frazil.link.numba.externals import exported, with_vector_forms
from frazil.link.numba.functions import BYTES, PARALLEL
from frazil.link.numba.machine import target_machine
from frazil.link.numba.recurrence import RecurrenceSource
from frazil.link.numba.source import KernelSource
from frazil.link.recurrence import AnyKernel

_OPERANDS = (types.CPointer(BYTES), types.int64, types.int64, types.CPointer(types.int64))

_FAILED = 1
"""The status of a kernel in which Numba found a fault."""


def build(kernels: Sequence[AnyKernel], names: Sequence[str]) -> Image:
    """The object file that has these kernels under these names."""
    # What LLVM knows of constants and types it keeps as long as their context.
    with global_compiler_lock, llvm.create_context() as context:
        return _build(kernels, names, context)


def _build(kernels: Sequence[AnyKernel], names: Sequence[str], context: Any) -> Image:
    with llvm.parse_assembly("", context) as module:
        libraries: dict[CodeLibrary, None] = {}
        for kernel, name in zip(kernels, names, strict=True):
            text = _Text(name)
            _lower(kernel, name, text)
            libraries.update(dict.fromkeys(text.libraries))
            for part in text.parts:
                module.link_in(llvm.parse_assembly(part, context))
        _link(module, libraries, context)
        for function in module.functions:
            if not function.is_declaration and function.name not in names:
                function.linkage = "internal"
        module.verify()
        machine = target_machine()
        options = llvm.create_pipeline_tuning_options(speed_level=3)
        options.loop_vectorization = True
        passes = llvm.create_pass_builder(machine, options)
        passes.getModulePassManager().run(module, passes)
        return Image(machine.emit_object(module), _externals(module))


class _Text(CodeLibrary):  # type: ignore[misc]
    """Keeps what Numba writes, and compiles nothing."""

    def __init__(self, name: str) -> None:
        super().__init__(cpu_target.target_context.codegen(), name)
        self.parts: list[str] = []
        self.libraries: list[CodeLibrary] = []

    def add_ir_module(self, ir_module: ir.Module) -> None:
        self.parts.append(with_vector_forms(_with_parallel_loops(str(ir_module))))

    def add_linking_library(self, library: CodeLibrary) -> None:
        self.libraries.append(library)

    def finalize(self) -> None:
        self._finalized = True

    def get_function(self, name: str) -> Any:
        raise NameError(name)

    def get_llvm_str(self) -> str:
        return "\n".join(self.parts)

    def get_asm_str(self) -> str:
        raise NotImplementedError("no machine code is made here")


def _lower(kernel: AnyKernel, name: str, text: _Text) -> None:
    """Writes the kernel, and a function of that name which C can call."""
    source = KernelSource(kernel) if isinstance(kernel, LoopKernel) else RecurrenceSource(kernel)
    namespace: dict[str, Any] = dict(source.globals)
    exec(compile(source.text, "<frazil kernel>", "exec"), namespace)
    typing, target = cpu_target.typing_context, cpu_target.target_context
    typing.refresh()
    target.refresh()

    flags = _flags(rewrites=bool(source.foreign_texts))

    def lower(function: Any, operands: Sequence[Any], result: Any) -> Any:
        return compiler.compile_extra(
            typing, target, function, operands, result, flags, {}, library=text
        ).fndesc

    try:
        if isinstance(source, RecurrenceSource):
            for function in source.called:
                exec(compile(function.text, "<frazil function>", "exec"), namespace)
                signature = function.signature
                source.compiled[function] = lower(
                    namespace[function.name], signature.args, signature.return_type
                )
        made = lower(namespace["kernel"], _OPERANDS, types.int32)
    except errors.NumbaError as error:
        told = texts_of(source.foreign_texts)
        raise KernelCompileError(
            f"Numba rejected a kernel.\n{source.text}\n{error}\n{told}".rstrip(), source.text
        ) from error
    module = text.create_ir_module(name)
    convention = target.call_conv
    inner = ir.Function(
        module, convention.get_function_type(made.restype, made.argtypes), made.llvm_func_name
    )
    status = ir.IntType(32)
    kind = ir.FunctionType(status, [target.get_value_type(operand) for operand in _OPERANDS])
    builder = ir.IRBuilder(ir.Function(module, kind, name).append_basic_block())
    state, result = convention.call_function(
        builder, inner, made.restype, made.argtypes, builder.function.args
    )
    builder.ret(builder.select(state.is_error, ir.Constant(status, _FAILED), result))
    text.add_ir_module(module)


@cache
def _flags(*, rewrites: bool) -> Any:
    """What Numba is asked for. Its ``rewrites`` are of use to the text of users' ops alone."""
    flags = compiler.Flags()
    flags.no_compile = True
    flags.no_cpython_wrapper = True
    flags.no_cfunc_wrapper = True
    flags.error_model = "numpy"
    flags.no_rewrites = not rewrites
    return flags


def _with_parallel_loops(text: str) -> str:
    """The text of a module in which LLVM knows which loops it may take several turns of at once.

    An element is written after it has been read for the last time, so no turn waits for another.
    LLVM sees operands that may lie in the same place, and would go one by one where they do. Loads
    and stores of elements are marked; what else a loop does to memory LLVM looks at itself.
    """
    mark = f", !{PARALLEL} "
    if mark not in text:
        return text
    numbers = [int(number) for number in re.findall(r"^!(\d+) = ", text, flags=re.MULTILINE)]
    group, accesses = max(numbers, default=-1) + 1, max(numbers, default=-1) + 2
    added = [
        f"!{group} = distinct !{{}}",
        f'!{accesses} = !{{!"llvm.loop.parallel_accesses", !{group}}}',
    ]
    lines = []
    marked = False
    for line in text.splitlines():
        if mark in line:
            marked = True
            line = re.sub(rf", !{re.escape(PARALLEL)} !\d+", f", !llvm.access.group !{group}", line)
        elif marked and line.startswith("  br label "):
            # The end of the loop's body, which goes back to its head.
            loop = accesses + len(added) - 1
            added.append(f"!{loop} = distinct !{{!{loop}, !{accesses}}}")
            line = f"{line}, !llvm.loop !{loop}"
        if not line.startswith("  "):
            marked = False
        lines.append(line)
    return "\n".join([*lines, *added, ""])


def _link(module: Any, libraries: Iterable[CodeLibrary], context: Any) -> None:
    """Adds those of the libraries that the module calls."""
    for library in libraries:
        wanted = [function.name for function in module.functions if function.is_declaration]
        if any(_defines(library, name) for name in wanted):
            other = llvm.parse_assembly(library.get_llvm_str(), context)
            for function in other.functions:
                if not function.is_declaration:
                    function.linkage = "linkonce_odr"
            module.link_in(other)


def _defines(library: CodeLibrary, name: str) -> bool:
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
