"""From the Python text of kernels to LLVM's.

Kernels use a small part of Python: variables of one type each, arithmetic of numbers, ``if``,
``for`` over ranges, ``while``, and calls of the functions of :mod:`frazil.link.numba.functions`.
All types follow from the operands, so one walk over the text is enough: Numba would infer types,
analyse the control flow and lower in many passes, which takes it a second for a graph of a model's
size.

A value may be a vector, of a number for each of some elements. Then what is computed of it is one,
too: the same text is the work on one element, or on a block of elements.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from frazil.link.numba.instructions import Instructions
from frazil.link.numba.values import ITEMS, LLVM_TYPES, Value, constant, literal
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
        return writer.each_lane(
            args, self.params, lambda one: writer.call(self.name, self.params, self.result, one)
        )


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
        return writer.each_lane(
            args,
            self.params,
            lambda one: writer.call(name, params, self.result, [*one, writer.status()]),
        )


class Module:
    """Functions in LLVM's text."""

    def __init__(self, head: str = "") -> None:
        self._head = head
        self._declared: dict[str, str] = {}
        self._functions: dict[str, str] = {}
        self.elsewhere: dict[JittedFunction, str] = {}
        """Functions that others make, and their names."""

    @property
    def text(self) -> str:
        """All of the module."""
        parts = (*self._declared.values(), *self._functions.values())
        return "\n".join([self._head, *parts, ""])

    def declare(self, name: str, params: Iterable[str], result: str, told: str = "") -> None:
        """Say that there is a function elsewhere, of operands of these types."""
        self.declare_text(name, map(LLVM_TYPES.__getitem__, params), LLVM_TYPES[result], told)

    def declare_text(self, name: str, params: Iterable[str], result: str, told: str = "") -> None:
        """As :meth:`declare`, of types as LLVM writes them."""
        self._declared[name] = f'declare {result} @"{name}"({", ".join(params)}) {told}'.rstrip()

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


class Writer(Instructions):
    """Writes one function."""

    module: Module

    def __init__(self, module: Module, result: str, names: Mapping[str, Any]) -> None:
        super().__init__(module)
        self.result = result
        self._names = names
        self._ends: list[str] = []  # where ``break`` goes

    def status(self) -> Value:
        """The memory in which the function keeps its status."""
        kept = self._variables["status"]
        return Value("status", kept.text)

    def finished(
        self, linkage: str, name: str, params: Iterable[tuple[str, str]], told: str
    ) -> str:
        """The text of the function."""
        if not self._closed:
            self.line("ret void" if self.result == "void" else "unreachable")
        taken = ", ".join(f"{LLVM_TYPES[dtype]} %{own}" for dtype, own in params)
        head = f'define {linkage} {LLVM_TYPES[self.result]} @"{name}"({taken}) nounwind {told} {{'
        return "\n".join([head, *self._allocated, *self._lines, "}"])

    # ------------------------------------------------------------ statements

    def statements(self, nodes: Iterable[ast.stmt]) -> None:
        """Write statements one after the other."""
        for node in nodes:
            self._statement(node)

    def give(self, value: Value) -> None:
        """Return a value."""
        is_void = value.dtype == "void"
        self.line("ret void" if is_void else f"ret {self.cast(value, self.result).typed}")
        self._closed = True

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
                self._go(self._ends[-1])
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
        self._ends.append(end)
        self.statements(body)
        self._ends.pop()
        if not self._closed:
            following = self.value("int64", f"add nsw i64 {at.text}, {step.text}")
            self.line(f"store i64 {following.text}, i64* {counter}")
            self._go(head)
        self._open(end)

    def _while(self, node: ast.While) -> None:
        head, turn, end = self._label(), self._label(), self._label()
        self._open(head)
        self._branch(self.expression(node.test), turn, end)
        self._open(turn)
        self._ends.append(end)
        self.statements(node.body)
        self._ends.pop()
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

    def _named(self, name: str) -> Value:
        value = self.variable(name)
        return literal(self._names[name]) if value is None else value

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

    def _unary(self, op: type[ast.unaryop], x: Value) -> Value:
        if x.literal is not None:
            return literal(_FOLDED[op](x.literal))
        if op is ast.Not:
            held = self.cast(x, "bool")
            return self._instruction("xor", held, constant("bool", True, x.lanes))
        if op is ast.Invert:
            return self._instruction("xor", x, constant(x.dtype, -1, x.lanes))
        if x.is_float:
            return self.value(x.dtype, f"fneg {x.typed}", x.lanes)
        return self._instruction("sub", constant(x.dtype, 0, x.lanes), x)

    def _binary(self, op: type[ast.operator], x: Value, y: Value) -> Value:
        if x.literal is not None and y.literal is not None:
            return literal(_FOLDED[op](x.literal, y.literal))
        x, y = self._alike(x, y)
        if op is ast.Div and not x.is_float:
            x, y = self.cast(x, "float64"), self.cast(y, "float64")
        if op is ast.Div:
            return self._instruction("fdiv", x, y)
        if op in (ast.FloorDiv, ast.Mod):
            return self._divided(op, x, y)
        if op in _BITS:
            shift = {"u": "l", "b": "l"}.get(x.dtype[0], "a") if op is ast.RShift else ""
            return self._instruction(f"{shift}{_BITS[op]}", x, y)
        whole, real = _ARITHMETIC[op]
        if x.is_float:
            return self._instruction(real, x, y)
        # Positions and counts: what users compute has functions of its own, which wrap around.
        promised = "" if x.dtype[0] == "u" else " nsw"
        return self._instruction(f"{whole}{promised}", x, y)

    def _divided(self, op: type[ast.operator], x: Value, y: Value) -> Value:
        """The quotient of integers rounded down, or what remains."""
        if x.dtype[0] == "u":
            return self._instruction("udiv" if op is ast.FloorDiv else "urem", x, y)
        zero, lanes = constant(x.dtype, 0, x.lanes), x.lanes
        rest = self._instruction("srem", x, y)
        left = self.value("bool", f"icmp ne {rest.typed}, {zero.text}", lanes)
        signs = self._instruction("xor", rest, y)
        apart = self.value("bool", f"icmp slt {signs.typed}, {zero.text}", lanes)
        off = self._instruction("and", left, apart)
        if op is ast.Mod:
            return self._instruction("add", rest, self.select(off, y, zero))
        quotient = self._instruction("sdiv", x, y)
        return self._instruction("sub", quotient, self.cast(off, x.dtype))

    def _comparison(self, node: ast.Compare) -> Value:
        """A chain of comparisons holds where each does."""
        held: Value | None = None
        left = self.expression(node.left)
        for op, following in zip(node.ops, node.comparators, strict=True):
            right = self.expression(following)
            one = self._compared(type(op), left, right)
            held = one if held is None else self._instruction("and", *self.level([held, one]))
            left = right
        assert held is not None
        return held

    def _compared(self, op: type[ast.AST], x: Value, y: Value) -> Value:
        x, y = self._alike(x, y)
        whole, real = _ORDER[op]
        if x.is_float:
            return self.value("bool", f"fcmp {real} {x.typed}, {y.text}", x.lanes)
        sign = "" if whole in ("eq", "ne") else "u" if x.dtype[0] in "ub" else "s"
        return self.value("bool", f"icmp {sign}{whole} {x.typed}, {y.text}", x.lanes)

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
