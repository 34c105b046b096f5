"""From the Python text of kernels to LLVM's.

Kernels use a small part of Python: variables of one type each, arithmetic of numbers, ``if``,
``for`` over ranges, ``while``, and calls of the functions of :mod:`frazil.link.numba.functions`.
All types follow from the operands, so one walk over the text is enough: Numba would infer types,
analyse the control flow and lower in many passes, which takes it a second for a graph of a model's
size.

A variable is memory of the function, of the type of its first value; LLVM makes registers of
variables.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from frazil.link.numba.halves import Halves
from frazil.link.numba.values import ITEMS, LLVM_TYPES, Value, constant, literal
from frazil.scalar.float16 import STORED, computed_in
from frazil.scalar.op import ScalarOp


class Callee(Protocol):
    """A function that the text may call by a name, with operands of these types; None: of any."""

    @property
    def params(self) -> tuple[str | None, ...]: ...
    def emit(self, writer: Writer, args: Sequence[Value]) -> Value:
        """Write the call; the result."""
        ...


@dataclass(frozen=True, slots=True)
class Defined:
    """A function that is itself text, which is written once a module.

    ``names`` are what its text refers to.
    """

    name: str
    params: tuple[str, ...]
    result: str
    text: str
    names: Mapping[str, Any] = field(default_factory=dict)

    def emit(self, writer: Writer, args: Sequence[Value]) -> Value:
        """Write the call; the result."""
        writer.module.define(self)
        return writer.call(self.name, self.params, self.result, args)


@dataclass(frozen=True, slots=True)
class JittedFunction:
    """A function that Numba makes from a user's function.

    It takes operands of types ``params`` and has a result of type ``result``.

    ``text`` is an expression of ``x0``, ``x1`` and so on; without one the op's ``impl`` is called.
    ``functions`` say by which name and for which type the text calls what kernels may call.
    """

    op: ScalarOp
    text: str | None
    params: tuple[str, ...]
    result: str
    functions: Mapping[str, tuple[str, str]] = field(default_factory=dict, compare=False)

    def emit(self, writer: Writer, args: Sequence[Value]) -> Value:
        """Write the call; the result."""
        name = writer.module.jitted(self)
        params = (*self.params, "status")
        return writer.call(name, params, self.result, [*args, writer.status()])


class Module:
    """Functions in LLVM's text."""

    def __init__(self, head: str = "") -> None:
        self._head = head
        self._declared: dict[str, str] = {}
        self._functions: dict[str, str] = {}
        self._metadata: list[str] = []
        self.elsewhere: dict[JittedFunction, str] = {}
        """Functions that others make, and their names."""

    @property
    def text(self) -> str:
        """All of the module."""
        metadata = [f"!{k} = {text}" for k, text in enumerate(self._metadata)]
        parts = (*self._declared.values(), *self._functions.values(), *metadata)
        return "\n".join([self._head, *parts, ""])

    def declare(self, name: str, params: Iterable[str], result: str) -> None:
        """Say that there is a function elsewhere, of operands of these types."""
        taken = ", ".join(LLVM_TYPES[dtype] for dtype in params)
        self._declared[name] = f'declare {LLVM_TYPES[result]} @"{name}"({taken})'

    def jitted(self, function: JittedFunction) -> str:
        """The name of a function that others make; it takes the place of the status, too."""
        name = self.elsewhere.setdefault(function, f"frazil.jitted.{len(self.elsewhere)}")
        self.declare(name, (*function.params, "status"), function.result)
        return name

    def define(self, function: Defined, *, linkage: str = "internal") -> None:
        """Write a function, unless it is there."""
        if function.name not in self._functions:
            self._functions[function.name] = ""  # a place of its own
            (node,) = ast.parse(function.text).body
            assert isinstance(node, ast.FunctionDef)
            writer = Writer(self, function.result, function.names)
            params = [argument.arg for argument in node.args.args]
            for name, dtype in zip(params, function.params, strict=True):
                writer.assign(name, Value(dtype, f"%{name}"))
            writer.statements(node.body)
            self._functions[function.name] = writer.finished(
                linkage, function.name, zip(function.params, params, strict=True), ""
            )

    def define_call(
        self, name: str, callee: Callee, given: Sequence[str]
    ) -> tuple[tuple[str, ...], str]:
        """Write a function that does no more than to call, for code that is no text of ours.

        Returns the types of its operands and of its result, where the operands ``given`` have
        these types.
        """
        params = tuple(own or dtype for own, dtype in zip(callee.params, given, strict=True))
        writer = Writer(self, "void", {})
        made = callee.emit(writer, [Value(own, f"%x{k}") for k, own in enumerate(params)])
        writer.result = made.dtype
        writer.give(made)
        named = [(dtype, f"x{k}") for k, dtype in enumerate(params)]
        self._functions[name] = writer.finished("", name, named, "alwaysinline")
        return params, made.dtype

    def metadata(self, text: str) -> int:
        """The number of a node of metadata; ``{}`` in its text is this number."""
        number = len(self._metadata)
        self._metadata.append(text.replace("{}", f"!{number}"))
        return number


_FOLDED: Mapping[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.USub: operator.neg,
    ast.Not: operator.not_,
}
"""Operations on literals, whose results are computed at once."""

_ARITHMETIC: Mapping[type[ast.AST], tuple[str, str]] = {
    ast.Add: ("add", "fadd"),
    ast.Sub: ("sub", "fsub"),
    ast.Mult: ("mul", "fmul"),
}

_BITS: Mapping[type[ast.AST], str] = {
    ast.BitAnd: "and",
    ast.BitOr: "or",
    ast.BitXor: "xor",
    ast.RShift: "shr",
}

_ORDER: Mapping[type[ast.AST], tuple[str, str]] = {
    ast.Eq: ("eq", "oeq"),
    ast.NotEq: ("ne", "une"),
    ast.Lt: ("lt", "olt"),
    ast.LtE: ("le", "ole"),
    ast.Gt: ("gt", "ogt"),
    ast.GtE: ("ge", "oge"),
}


@dataclass(slots=True)
class _Loop:
    """A loop that is being written: where ``break`` goes, and the group of accesses that no turn
    shares with another.
    """

    end: str
    group: int | None = None


class Writer:
    """Writes one function."""

    def __init__(self, module: Module, result: str, names: Mapping[str, Any]) -> None:
        self.module = module
        self.result = result
        self._names = names
        self._variables: dict[str, Value] = {}
        self._allocated: list[str] = []
        self._lines: list[str] = []
        self._count = 0
        self._loops: list[_Loop] = []
        self._closed = False

    # ------------------------------------------------------------ lines

    def line(self, text: str) -> None:
        """Write an instruction."""
        self._lines.append(f"  {text}")

    def value(self, dtype: str, text: str) -> Value:
        """Write an instruction that makes a value."""
        name = self._name()
        self.line(f"{name} = {text}")
        return Value(dtype, name)

    def allocate(self, llvm_type: str, alignment: int | None = None) -> str:
        """Memory that lives as long as the call."""
        name = self._name()
        aligned = "" if alignment is None else f", align {alignment}"
        self._allocated.append(f"  {name} = alloca {llvm_type}{aligned}")
        return name

    def apart(self) -> str:
        """The mark of an access to memory that no other turn of the loop uses."""
        loop = self._loops[-1]
        if loop.group is None:
            loop.group = self.module.metadata("distinct !{ }")
        return f", !llvm.access.group !{loop.group}"

    def call(self, name: str, params: Sequence[str], result: str, args: Sequence[Value]) -> Value:
        """Write a call; the result."""
        given = ", ".join(
            self.cast(value, dtype).typed for value, dtype in zip(args, params, strict=True)
        )
        text = f'call {LLVM_TYPES[result]} @"{name}"({given})'
        if result == "void":
            self.line(text)
            return Value(result, "")
        return self.value(result, text)

    def status(self) -> Value:
        """The memory in which the function keeps its status."""
        kept = self._variables["status"]
        return Value("status", kept.text)

    def finished(
        self,
        linkage: str,
        name: str,
        params: Iterable[tuple[str, str]],
        told: str,
    ) -> str:
        """The text of the function."""
        if not self._closed:
            self.line("ret void" if self.result == "void" else "unreachable")
        taken = ", ".join(f"{LLVM_TYPES[dtype]} %{own}" for dtype, own in params)
        head = f'define {linkage} {LLVM_TYPES[self.result]} @"{name}"({taken}) nounwind {told} {{'
        return "\n".join([head, *self._allocated, *self._lines, "}"])

    def _name(self) -> str:
        self._count += 1
        return f"%.{self._count}"

    def _label(self) -> str:
        self._count += 1
        return f".{self._count}"

    def _open(self, label: str) -> None:
        self._go(label)
        self._lines.append(f'"{label}":')
        self._closed = False

    def _go(self, label: str, told: str = "") -> None:
        if not self._closed:
            self.line(f'br label %"{label}"{told}')
        self._closed = True

    def _branch(self, condition: Value, yes: str, no: str) -> None:
        text = self.cast(condition, "bool").text
        self.line(f'br i1 {text}, label %"{yes}", label %"{no}"')
        self._closed = True

    # ------------------------------------------------------------ statements

    def statements(self, nodes: Iterable[ast.stmt]) -> None:
        """Write statements one after the other."""
        for node in nodes:
            self._statement(node)

    def assign(self, name: str, value: Value) -> None:
        """Give a variable a value."""
        kept = self._variables.get(name)
        if kept is None:
            place = self.allocate(LLVM_TYPES[value.dtype])
            kept = self._variables[name] = Value(value.dtype, place)
        own = LLVM_TYPES[kept.dtype]
        self.line(f"store {self.cast(value, kept.dtype).typed}, {own}* {kept.text}")

    def give(self, value: Value) -> None:
        """Return a value."""
        self.line("ret void" if value.dtype == "void" else f"ret {self._as_result(value).typed}")
        self._closed = True

    def _as_result(self, value: Value) -> Value:
        return self.cast(value, self.result)

    def _statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self.assign(name, self.expression(value))
            case ast.AugAssign(target=ast.Name(id=name) as target, op=op, value=value):
                so_far = ast.Name(target.id)
                self.assign(name, self.expression(ast.BinOp(so_far, op, value)))
            case ast.Expr(value=value):
                self.expression(value)
            case ast.Return(value=value) if value is not None:
                self.give(self.expression(value))
            case ast.If():
                self._if(node)
            case ast.For(target=ast.Name(id=name), iter=ast.Call(args=args)):
                self._for(name, [self.expression(each) for each in args], node.body)
            case ast.While():
                self._while(node)
            case ast.Break():
                self._go(self._loops[-1].end)
            case _:
                raise NotImplementedError(f"kernels have no {ast.unparse(node)}")

    def _if(self, node: ast.If) -> None:
        yes, no, end = self._label(), self._label(), self._label()
        self._branch(self.expression(node.test), yes, no)
        self._open(yes)
        self.statements(node.body)
        self._go(end)
        self._open(no)
        self.statements(node.orelse)
        self._go(end)
        self._open(end)

    def _for(self, name: str, bounds: Sequence[Value], body: Sequence[ast.stmt]) -> None:
        """``for name in range(...)``; the step is a literal."""
        zero, one = constant("int64", 0), literal(1)
        start = zero if len(bounds) == 1 else self.cast(bounds[0], "int64")
        stop = self.cast(bounds[0] if len(bounds) == 1 else bounds[1], "int64")
        step = bounds[2] if len(bounds) == 3 else one
        assert step.literal
        counter = self.allocate("i64")
        head, turn, end = self._label(), self._label(), self._label()
        self.line(f"store i64 {start.text}, i64* {counter}")
        self._open(head)
        at = self.value("int64", f"load i64, i64* {counter}")
        compared = "slt" if step.literal > 0 else "sgt"
        self._branch(self.value("bool", f"icmp {compared} i64 {at.text}, {stop.text}"), turn, end)
        self._open(turn)
        self.assign(name, at)
        loop = _Loop(end)
        self._loops.append(loop)
        self.statements(body)
        self._loops.pop()
        if not self._closed:
            following = self.value("int64", f"add nsw i64 {at.text}, {step.text}")
            self.line(f"store i64 {following.text}, i64* {counter}")
            self._go(head, self._facts(loop))
        self._open(end)

    def _facts(self, loop: _Loop) -> str:
        """The notes for LLVM at the end of a loop's body.

        An element is written after it has been read for the last time, so no turn waits for
        another. LLVM sees operands that may lie in the same place, and would go one by one where
        they do. Loads and stores of elements are marked; what else a loop does to memory LLVM looks
        at itself.
        """
        if loop.group is None:
            return ""
        apart = self.module.metadata(f'!{{!"llvm.loop.parallel_accesses", !{loop.group}}}')
        told = self.module.metadata(f"distinct !{{{{}}, !{apart}}}")
        return f", !llvm.loop !{told}"

    def _while(self, node: ast.While) -> None:
        head, turn, end = self._label(), self._label(), self._label()
        self._open(head)
        self._branch(self.expression(node.test), turn, end)
        self._open(turn)
        self._loops.append(_Loop(end))
        self.statements(node.body)
        self._loops.pop()
        self._go(head)
        self._open(end)

    # ------------------------------------------------------------ expressions

    def expression(self, node: ast.expr) -> Value:
        """Write what computes an expression."""
        match node:
            case ast.Constant(value=bool() | int() | float() as value):
                return literal(value)
            case ast.Name(id=name):
                return self._named(name)
            case ast.BinOp(left=left, op=op, right=right):
                return self._binary(type(op), self.expression(left), self.expression(right))
            case ast.UnaryOp(op=op, operand=operand):
                return self._unary(type(op), self.expression(operand))
            case ast.Compare():
                return self._comparison(node)
            case ast.BoolOp():
                return self._either(node)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                condition = self.expression(test)
                return self.select(condition, self.expression(body), self.expression(orelse))
            case ast.Subscript(value=value, slice=index):
                return self._item(self.expression(value), self.expression(index))
            case ast.Call(func=ast.Name(id=name), args=args):
                return self._called(name, [self.expression(each) for each in args])
        raise NotImplementedError(f"kernels have no {ast.unparse(node)}")

    def cast(self, value: Value, dtype: str) -> Value:
        """The value converted, as C converts."""
        if value.literal is not None:
            return constant(dtype, value.literal)
        if value.dtype == dtype:
            return value
        if value.dtype == STORED:
            return self.cast(Halves(self.value).from_half(value), dtype)
        if dtype == STORED:
            wide = value if value.is_float else self.cast(value, computed_in(dtype))
            return Halves(self.value).to_half(wide)
        if dtype == "bool":
            zero = constant(value.dtype, 0).text
            compared = "fcmp une" if value.is_float else "icmp ne"
            return self.value("bool", f"{compared} {value.typed}, {zero}")
        unsigned = value.dtype[0] in "ub"
        if value.is_float:
            to_float = "fpext" if dtype == "float64" else "fptrunc"
            to_integer = "fptoui" if dtype[0] == "u" else "fptosi"
            done = to_float if dtype.startswith("float") else to_integer
        elif dtype.startswith("float"):
            done = "uitofp" if unsigned else "sitofp"
        else:
            wider = _bits(dtype) - _bits(value.dtype)
            if wider == 0:
                return Value(dtype, value.text)
            done = "trunc" if wider < 0 else "zext" if unsigned else "sext"
        return self.value(dtype, f"{done} {value.typed} to {LLVM_TYPES[dtype]}")

    def select(self, condition: Value, yes: Value, no: Value) -> Value:
        """``yes if condition else no``, without a branch."""
        yes, no = self._alike(yes, no)
        chosen = self.cast(condition, "bool")
        return self.value(yes.dtype, f"select {chosen.typed}, {yes.typed}, {no.typed}")

    def _named(self, name: str) -> Value:
        kept = self._variables.get(name)
        if kept is None:
            return literal(self._names[name])
        own = LLVM_TYPES[kept.dtype]
        return self.value(kept.dtype, f"load {own}, {own}* {kept.text}")

    def _item(self, table: Value, index: Value) -> Value:
        dtype = ITEMS[table.dtype]
        own = LLVM_TYPES[dtype]
        at = self.cast(index, "int64").typed
        place = self.value(table.dtype, f"getelementptr {own}, {table.typed}, {at}")
        return self.value(dtype, f"load {own}, {place.typed}")

    def _called(self, name: str, args: Sequence[Value]) -> Value:
        if name in LLVM_TYPES:
            (value,) = args
            return self.cast(value, name)
        if name in ("min", "max"):
            x, y = self._alike(*args)
            compared = self._compared(ast.Lt if name == "min" else ast.Gt, x, y)
            return self.select(compared, x, y)
        callee: Callee = self._names[name]
        return callee.emit(self, args)

    def _alike(self, x: Value, y: Value) -> tuple[Value, Value]:
        """Both, of one type."""
        if x.literal is not None and y.literal is not None:
            common = "float64" if x.is_float or y.is_float else x.dtype
        elif x.literal is not None:
            common = "float64" if x.is_float and not y.is_float else y.dtype
        elif y.literal is not None:
            common = "float64" if y.is_float and not x.is_float else x.dtype
        elif x.dtype == y.dtype:
            return x, y
        else:
            common = np.result_type(x.dtype, y.dtype).name
        return self.cast(x, common), self.cast(y, common)

    def _unary(self, op: type[ast.unaryop], x: Value) -> Value:
        if x.literal is not None:
            return literal(_FOLDED[op](x.literal))
        if op is ast.Not:
            held = self.cast(x, "bool")
            return self.value("bool", f"xor {held.typed}, true")
        if op is ast.Invert:
            return self.value(x.dtype, f"xor {x.typed}, -1")
        if x.is_float:
            return self.value(x.dtype, f"fneg {x.typed}")
        return self.value(x.dtype, f"sub {LLVM_TYPES[x.dtype]} 0, {x.text}")

    def _binary(self, op: type[ast.operator], x: Value, y: Value) -> Value:
        if x.literal is not None and y.literal is not None:
            return literal(_FOLDED[op](x.literal, y.literal))
        x, y = self._alike(x, y)
        if op is ast.Div and not x.is_float:
            x, y = self.cast(x, "float64"), self.cast(y, "float64")
        if op is ast.Div:
            return self.value(x.dtype, f"fdiv {x.typed}, {y.text}")
        if op in (ast.FloorDiv, ast.Mod):
            return self._divided(op, x, y)
        if op in _BITS:
            shift = {"u": "l", "b": "l"}.get(x.dtype[0], "a") if op is ast.RShift else ""
            return self.value(x.dtype, f"{shift}{_BITS[op]} {x.typed}, {y.text}")
        whole, real = _ARITHMETIC[op]
        if x.is_float:
            return self.value(x.dtype, f"{real} {x.typed}, {y.text}")
        # Positions and counts: what users compute has functions of its own, which wrap around.
        promised = "" if x.dtype[0] == "u" else "nsw "
        return self.value(x.dtype, f"{whole} {promised}{x.typed}, {y.text}")

    def _divided(self, op: type[ast.operator], x: Value, y: Value) -> Value:
        """The quotient of integers rounded down, or what remains."""
        own = LLVM_TYPES[x.dtype]
        if x.dtype[0] == "u":
            done = "udiv" if op is ast.FloorDiv else "urem"
            return self.value(x.dtype, f"{done} {x.typed}, {y.text}")
        rest = self.value(x.dtype, f"srem {x.typed}, {y.text}")
        left = self.value("bool", f"icmp ne {rest.typed}, 0")
        signs = self.value(x.dtype, f"xor {rest.typed}, {y.text}")
        apart = self.value("bool", f"icmp slt {signs.typed}, 0")
        off = self.value("bool", f"and {left.typed}, {apart.text}")
        if op is ast.Mod:
            more = self.value(x.dtype, f"select {off.typed}, {y.typed}, {own} 0")
            return self.value(x.dtype, f"add {rest.typed}, {more.text}")
        quotient = self.value(x.dtype, f"sdiv {x.typed}, {y.text}")
        down = self.cast(off, x.dtype)
        return self.value(x.dtype, f"sub {quotient.typed}, {down.text}")

    def _comparison(self, node: ast.Compare) -> Value:
        """A chain of comparisons holds where each does."""
        held: Value | None = None
        left = self.expression(node.left)
        for op, following in zip(node.ops, node.comparators, strict=True):
            right = self.expression(following)
            one = self._compared(type(op), left, right)
            held = one if held is None else self.value("bool", f"and {held.typed}, {one.text}")
            left = right
        assert held is not None
        return held

    def _compared(self, op: type[ast.AST], x: Value, y: Value) -> Value:
        x, y = self._alike(x, y)
        whole, real = _ORDER[op]
        if x.is_float:
            return self.value("bool", f"fcmp {real} {x.typed}, {y.text}")
        sign = "" if whole in ("eq", "ne") else "u" if x.dtype[0] in "ub" else "s"
        return self.value("bool", f"icmp {sign}{whole} {x.typed}, {y.text}")

    def _either(self, node: ast.BoolOp) -> Value:
        """``and`` and ``or``, which compute no more than they need."""
        kept, end = self.allocate("i1"), self._label()
        for at, each in enumerate(node.values):
            held = self.cast(self.expression(each), "bool")
            self.line(f"store {held.typed}, i1* {kept}")
            if at < len(node.values) - 1:
                following = self._label()
                ways = (following, end) if isinstance(node.op, ast.And) else (end, following)
                self._branch(held, *ways)
                self._open(following)
        self._open(end)
        return self.value("bool", f"load i1, i1* {kept}")


def _bits(dtype: str) -> int:
    return 1 if dtype == "bool" else 8 * np.dtype(dtype).itemsize
