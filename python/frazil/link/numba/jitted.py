"""Functions that users wrote for Numba, as LLVM's text.

Numba's own engine keeps machine code as long as the process lives, and this code needs Numba. So
Numba is only asked for the text.

Importing this module imports Numba.
"""

from __future__ import annotations

import inspect
import math
import re
from collections import namedtuple
from collections.abc import Mapping
from functools import cache
from typing import Any

import llvmlite.binding as llvm
import numba
from llvmlite import ir
from numba.core import cgutils, compiler, errors, types
from numba.core.codegen import CodeLibrary
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target
from numba.extending import intrinsic

from frazil.link.kernel.compiler import KernelCompileError, texts_of
from frazil.link.numba.functions import callee
from frazil.link.numba.impl import function_of, held
from frazil.link.numba.linking import called, is_of_c, link, optimise
from frazil.link.numba.machine import target_machine
from frazil.link.numba.translation import JittedFunction, Module
from frazil.link.numba.values import INF, LLVM_TYPES
from frazil.scalar.op import ScalarOp

TYPES: Mapping[str, Any] = {
    dtype: types.boolean if dtype == "bool" else getattr(types, dtype)
    for dtype in LLVM_TYPES
    if dtype == "bool" or dtype.startswith(("int", "uint", "float"))
    if dtype != "integers"
}

_FAILED = 1
"""The status of a kernel in which Numba found a fault."""


def lower(module: Module) -> tuple[list[str], list[CodeLibrary]]:
    """The functions that ``module`` calls, as texts, and the libraries that these may call."""
    with global_compiler_lock:
        written = _Text("frazil")
        for function, name in module.elsewhere.items():
            _lower(function, name, module, written)
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


def fault(op: ScalarOp, params: tuple[str, ...], result: str) -> str | None:
    """Why Numba cannot compile an op's ``impl``, or not so that it computes what Python does.

    Where it may raise an exception, Python has to run it, and tell of it. That is asked of LLVM,
    which knows what can be reached.
    """
    module, name = Module(), "op"
    with global_compiler_lock, llvm.create_context() as context:
        written = _Text("frazil")
        try:
            _lower(JittedFunction(op, None, params, result), name, module, written)
        except _WrongResult as error:
            return str(error)
        except Exception as error:  # Numba refuses in many ways, and fails in others
            return f"Numba cannot compile its impl: {_first_line(error.__cause__ or error)}"
        with llvm.parse_assembly("", context) as linked:
            link(linked, written.parts, list(dict.fromkeys(written.libraries)), [name], context)
            optimise(linked, target_machine())
            strange = [one for one in called(linked) if not is_of_c(one)]
            if strange:
                return f"its impl needs what only Numba has: {strange[0]}"
            text = str(linked.get_function(name))
    if re.search(r"\bstore .* %status\b", text):
        return "its impl may raise an exception, which Python has to tell of"
    return None


class _WrongResult(Exception):
    """A value of an ``impl`` is no result of its op. It would replace errors of Numba's own."""


def _first_line(error: BaseException) -> str:
    """The error, without the stages of Numba that it went through."""
    lines = [line.strip() for line in str(error).splitlines()]
    told = [line for line in lines if line and not line.startswith(("Failed in", "During", "-"))]
    return told[0] if told else type(error).__name__


def _lower(function: JittedFunction, name: str, module: Module, written: _Text) -> None:
    """Writes the op's function, and a function of that name which kernels can call."""
    typing, target = cpu_target.typing_context, cpu_target.target_context
    typing.refresh()
    target.refresh()
    operands = [TYPES[dtype] for dtype in function.params]
    result = TYPES[function.result]
    text, names = _definition(function, module)
    exec(compile(text, "<frazil op>", "exec"), names)
    try:
        made = compiler.compile_extra(
            typing, target, names["op"], operands, result, _flags(), {}, library=written
        ).fndesc
    except errors.NumbaError as error:
        told = texts_of({str(function.op): function.text or "its impl"})
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
    outer = ir.Function(own, kind, name)
    outer.attributes.add("alwaysinline")
    builder = ir.IRBuilder(outer.append_basic_block())
    *given, place = outer.args
    place.name = "status"
    state, value = convention.call_function(builder, inner, made.restype, made.argtypes, given)
    so_far = builder.load(place)
    builder.store(builder.select(state.is_error, ir.Constant(status, _FAILED), so_far), place)
    builder.ret(value)
    written.add_ir_module(own)


def _definition(function: JittedFunction, module: Module) -> tuple[str, dict[str, object]]:
    """The text of a Python function, and what it refers to."""
    params = [f"x{k}" for k in range(len(function.params))]
    names: dict[str, Any] = {**TYPES, "bool": bool, INF: math.inf, "result": TYPES[function.result]}
    head = f"def op({', '.join(params)}):\n"
    if function.text is None:
        names.update(_impl(function.op))
        # As Python has them: no number has less than 64 bits.
        given = [
            own if dtype == "bool" else f"{'float64' if dtype[0] == 'f' else 'int64'}({own})"
            for own, dtype in zip(params, function.params, strict=True)
        ]
        first = ["held"] if "held" in names else []
        return f"{head}    return result(checked(impl({', '.join([*first, *given])})))\n", {
            **names,
            "checked": _checked(function.result),
        }
    for own, (name, dtype) in function.functions.items():
        names[own] = _called(name, dtype, module)
    # A comment in the text ends with its line.
    return f"{head}    return result({function.text}\n    )\n", names


def _impl(op: ScalarOp) -> dict[str, object]:
    """An op's ``impl`` as Numba calls it, and what stands for the op in it."""
    function = function_of(op)
    assert function is not None
    own = numba.njit(error_model="numpy", no_cpython_wrapper=True)(function)
    if isinstance(inspect.getattr_static(op, "impl"), staticmethod):
        return {"impl": own}
    attributes = held(op)
    return {"impl": own, "held": namedtuple("Held", attributes)(**attributes) if attributes else 0}


@cache
def _checked(result: str) -> object:
    """Passes a value on that may be a result of that type: Python refuses NaN as an integer."""

    @intrinsic
    def check(typingctx: object, value: object) -> object:
        kind = types.unliteral(value)
        wanted = (
            types.Integer | types.Boolean
            if result[0] in "iu"
            else (types.Integer | types.Boolean | types.Float)
        )
        if not isinstance(kind, wanted):
            raise _WrongResult(f"its impl gives {kind} for a result of {result}")
        return kind(kind), lambda context, builder, signature, args: args[0]

    return check


def _called(name: str, dtype: str, module: Module) -> object:
    """A function of the kernels' module, which Numba calls."""
    routine = callee(name, dtype)

    def typed(*given: Any) -> Any:
        dtypes = [_dtype(each) for each in given]
        symbol = ".".join(("frazil.call", name, dtype, *dtypes))
        params, result = module.define_call(symbol, routine, dtypes)
        made = TYPES[result](*(TYPES[each] for each in params))

        def codegen(context: Any, builder: Any, signature: object, args: object) -> object:
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


def _dtype(given: object) -> str:
    dtype = "bool" if given is types.boolean else str(types.unliteral(given))
    if dtype not in TYPES:
        raise errors.TypingError(f"kernels compute with numbers, given {given}")
    return dtype


@cache
def _flags() -> object:
    """A request to Numba."""
    flags = compiler.Flags()
    flags.no_compile = True
    flags.no_cpython_wrapper = True
    flags.no_cfunc_wrapper = True
    flags.error_model = "numpy"
    return flags
