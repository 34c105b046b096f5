"""What users wrote for Numba, as LLVM's text.

Numba's own engine keeps what it compiles as long as the process lives, and its machine code needs
Numba. So it is asked for the text alone.

Importing this module imports Numba.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from typing import Any

from llvmlite import ir
from numba.core import cgutils, compiler, errors, types
from numba.core.codegen import CodeLibrary
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target
from numba.extending import intrinsic

from frazil.link.kernel.compiler import KernelCompileError, texts_of
from frazil.link.numba.foreign import INF, Foreign
from frazil.link.numba.functions import callee
from frazil.link.numba.translation import LLVM_TYPES, Module

TYPES: Mapping[str, Any] = {
    dtype: types.boolean if dtype == "bool" else getattr(types, dtype)
    for dtype in LLVM_TYPES
    if dtype == "bool" or dtype.startswith(("int", "uint", "float"))
    if dtype != "integers"
}

_FAILED = 1
"""The status of a kernel in which Numba found a fault."""


def lower(module: Module) -> tuple[list[str], list[CodeLibrary]]:
    """What ``module`` calls and others make, as texts, and what these may call."""
    with global_compiler_lock:
        written = _Text("frazil")
        for foreign, name in module.elsewhere.items():
            _lower(foreign, name, module, written)
        return written.parts, list(dict.fromkeys(written.libraries))


class _Text(CodeLibrary):  # type: ignore[misc]
    """Keeps what Numba writes, and compiles nothing."""

    def __init__(self, name: str) -> None:
        super().__init__(cpu_target.target_context.codegen(), name)
        self.parts: list[str] = []
        self.libraries: list[CodeLibrary] = []

    def add_ir_module(self, ir_module: ir.Module) -> None:
        self.parts.append(str(ir_module))

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


def _lower(foreign: Foreign, name: str, module: Module, written: _Text) -> None:
    """Writes what the op does, and a function of that name which kernels can call."""
    typing, target = cpu_target.typing_context, cpu_target.target_context
    typing.refresh()
    target.refresh()
    operands = [TYPES[dtype] for dtype in foreign.params]
    result = TYPES[foreign.result]
    text, names = _definition(foreign, module)
    exec(compile(text, "<frazil op>", "exec"), names)
    try:
        made = compiler.compile_extra(
            typing, target, names["op"], operands, result, _flags(), {}, library=written
        ).fndesc
    except errors.NumbaError as error:
        told = texts_of({str(foreign.op): str(foreign.text)})
        raise KernelCompileError(
            f"Numba rejected a kernel.\n{text}\n{error}\n{told}".rstrip(), text
        ) from error
    own = written.create_ir_module(name)
    convention = target.call_conv
    inner = ir.Function(
        own, convention.get_function_type(made.restype, made.argtypes), made.llvm_func_name
    )
    status = ir.IntType(32)
    values = [target.get_value_type(operand) for operand in operands]
    kind = ir.FunctionType(target.get_value_type(result), [*values, status.as_pointer()])
    function = ir.Function(own, kind, name)
    function.attributes.add("alwaysinline")
    builder = ir.IRBuilder(function.append_basic_block())
    *given, place = function.args
    state, value = convention.call_function(builder, inner, made.restype, made.argtypes, given)
    so_far = builder.load(place)
    builder.store(builder.select(state.is_error, ir.Constant(status, _FAILED), so_far), place)
    builder.ret(value)
    written.add_ir_module(own)


def _definition(foreign: Foreign, module: Module) -> tuple[str, dict[str, Any]]:
    """The text of a Python function, and what it refers to."""
    params = ", ".join(f"x{k}" for k in range(len(foreign.params)))
    names: dict[str, Any] = {**TYPES, "bool": bool, INF: math.inf, "result": TYPES[foreign.result]}
    for own, (name, dtype) in foreign.functions.items():
        names[own] = _called(name, dtype, module)
    # A comment in the text ends with its line.
    return f"def op({params}):\n    return result({foreign.text}\n    )\n", names


def _called(name: str, dtype: str, module: Module) -> Any:
    """What kernels may call, as Numba calls it: a function of the kernels' module."""
    routine = callee(name, dtype)

    def typed(*given: Any) -> Any:
        dtypes = [_dtype(each) for each in given]
        symbol = ".".join(("frazil.call", name, dtype, *dtypes))
        params, result = module.define_call(symbol, routine, dtypes)
        made = TYPES[result](*(TYPES[each] for each in params))

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            kind = ir.FunctionType(
                context.get_value_type(made.return_type),
                [context.get_value_type(each) for each in made.args],
            )
            own = cgutils.get_or_insert_function(builder.module, kind, symbol)
            return builder.call(own, args)

        return made, codegen

    # Numba wants to see the names of operands.
    match len(routine.params):
        case 0:
            return intrinsic(lambda typingctx: typed())
        case 1:
            return intrinsic(lambda typingctx, x: typed(x))
        case 2:
            return intrinsic(lambda typingctx, x, y: typed(x, y))
        case _:
            return intrinsic(lambda typingctx, x, y, z: typed(x, y, z))


def _dtype(given: Any) -> str:
    dtype = "bool" if given is types.boolean else str(types.unliteral(given))
    if dtype not in TYPES:
        raise errors.TypingError(f"kernels compute with numbers, given {given}")
    return dtype


@cache
def _flags() -> Any:
    """What Numba is asked for."""
    flags = compiler.Flags()
    flags.no_compile = True
    flags.no_cpython_wrapper = True
    flags.no_cfunc_wrapper = True
    flags.error_model = "numpy"
    return flags
