"""Instructions of a function in LLVM's text, on numbers and on vectors of numbers.

A variable is memory of the function, of the type of its first value; LLVM makes registers of
variables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

import numpy as np

from frazil.link.numba.halves import Halves
from frazil.link.numba.values import LLVM_TYPES, Value, constant, llvm_type, repeated
from frazil.scalar.float16 import STORED, computed_in


class Declarations(Protocol):
    """The module that a function is a part of."""

    def declare_text(self, name: str, params: Iterable[str], result: str, told: str = "") -> None:
        """Say that there is a function elsewhere, of operands of these types."""
        ...


class Instructions:
    """Writes the instructions of one function."""

    def __init__(self, module: Declarations) -> None:
        self.module = module
        self._variables: dict[str, Value] = {}
        self._allocated: list[str] = []
        self._lines: list[str] = []
        self._count = 0
        self._closed = False

    def line(self, text: str) -> None:
        """Write an instruction."""
        self._lines.append(f"  {text}")

    def value(self, dtype: str, text: str, lanes: int = 1) -> Value:
        """Write an instruction that makes a value."""
        name = self._name()
        self.line(f"{name} = {text}")
        return Value(dtype, name, lanes=lanes)

    def allocate(self, llvm_type: str, alignment: int | None = None) -> str:
        """Memory that lives as long as the call."""
        name = self._name()
        aligned = "" if alignment is None else f", align {alignment}"
        self._allocated.append(f"  {name} = alloca {llvm_type}{aligned}")
        return name

    def call(self, name: str, params: Sequence[str], result: str, args: Sequence[Value]) -> Value:
        """Write a call; the result."""
        given = ", ".join(
            self.cast(value, dtype).typed for value, dtype in zip(args, params, strict=True)
        )
        lanes = max((value.lanes for value in args), default=1)
        text = f'call {llvm_type(result, lanes)} @"{name}"({given})'
        if result == "void":
            self.line(text)
            return Value(result, "")
        return self.value(result, text, lanes)

    def call_elsewhere(self, symbol: str, args: Sequence[Value], told: str = "") -> Value:
        """Declare a function whose result has the first operand's type, and write its call."""
        x = args[0]
        self.module.declare_text(symbol, [value.type for value in args], x.type, told)
        given = ", ".join(value.typed for value in args)
        return self.value(x.dtype, f'call {x.type} @"{symbol}"({given})', x.lanes)

    # ------------------------------------------------------------ variables

    def assign(self, name: str, value: Value) -> None:
        """Give a variable a value."""
        kept = self._variables.get(name)
        if kept is None:
            place = self.allocate(value.type)
            kept = self._variables[name] = Value(value.dtype, place, lanes=value.lanes)
        if name == "status" and value.lanes > 1:
            value = self._largest(value)
        given = self.spread(self.cast(value, kept.dtype), kept.lanes)
        self.line(f"store {given.typed}, {kept.type}* {kept.text}")

    def variable(self, name: str) -> Value | None:
        """The value of a variable; None if there is none of that name."""
        kept = self._variables.get(name)
        if kept is None:
            return None
        return self.value(kept.dtype, f"load {kept.type}, {kept.type}* {kept.text}", kept.lanes)

    def _largest(self, value: Value) -> Value:
        """The largest of the elements of a vector, which are integers."""
        symbol = f"llvm.vector.reduce.smax.v{value.lanes}i{_bits(value.dtype)}"
        own = LLVM_TYPES[value.dtype]
        self.module.declare_text(symbol, [value.type], own)
        return self.value(value.dtype, f'call {own} @"{symbol}"({value.typed})')

    # ------------------------------------------------------------ numbers

    def cast(self, value: Value, dtype: str) -> Value:
        """The value converted, as C converts."""
        if value.literal is not None:
            return constant(dtype, value.literal)
        if value.dtype == dtype:
            return value
        if value.dtype == STORED:
            return self.cast(Halves(self.value, value.lanes).from_half(value), dtype)
        if dtype == STORED:
            wide = value if value.is_float else self.cast(value, computed_in(dtype))
            return Halves(self.value, value.lanes).to_half(wide)
        if dtype == "bool":
            zero = constant(value.dtype, 0, value.lanes).text
            compared = "fcmp une" if value.is_float else "icmp ne"
            return self.value("bool", f"{compared} {value.typed}, {zero}", value.lanes)
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
                return Value(dtype, value.text, lanes=value.lanes)
            done = "trunc" if wider < 0 else "zext" if unsigned else "sext"
        target = llvm_type(dtype, value.lanes)
        return self.value(dtype, f"{done} {value.typed} to {target}", value.lanes)

    def select(self, condition: Value, yes: Value, no: Value) -> Value:
        """``yes if condition else no``, without a branch."""
        yes, no = self._alike(yes, no)
        chosen, yes, no = self.level([self.cast(condition, "bool"), yes, no])
        return self.value(yes.dtype, f"select {chosen.typed}, {yes.typed}, {no.typed}", yes.lanes)

    def _alike(self, x: Value, y: Value) -> tuple[Value, Value]:
        """Both, of one type, and both vectors if one is."""
        x, y = self._of_one_dtype(x, y)
        x, y = self.level([x, y])
        return x, y

    def _of_one_dtype(self, x: Value, y: Value) -> tuple[Value, Value]:
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

    def _instruction(self, name: str, x: Value, y: Value) -> Value:
        """The result of an instruction on two operands of one type, which is of that type, too."""
        return self.value(x.dtype, f"{name} {x.typed}, {y.text}", x.lanes)

    # ------------------------------------------------------------ vectors

    def spread(self, value: Value, lanes: int) -> Value:
        """The vector that has a number in each lane; a vector is that itself."""
        if value.lanes == lanes:
            return value
        if not value.text.startswith("%"):
            return repeated(Value(value.dtype, value.text), lanes)
        own = llvm_type(value.dtype, lanes)
        one = self.value(value.dtype, f"insertelement {own} undef, {value.typed}, i32 0", lanes)
        places = f"<{lanes} x i32> zeroinitializer"
        return self.value(value.dtype, f"shufflevector {one.typed}, {own} undef, {places}", lanes)

    def level(self, values: Iterable[Value]) -> list[Value]:
        """Numbers beside vectors as vectors."""
        values = [*values]
        lanes = max(value.lanes for value in values)
        return [self.spread(value, lanes) for value in values]

    def part(self, value: Value, start: int, lanes: int) -> Value:
        """Some lanes of a vector; one lane is a number."""
        if lanes == value.lanes:
            return value
        if lanes == 1:
            return self.value(value.dtype, f"extractelement {value.typed}, i32 {start}")
        undefined = Value(value.dtype, "undef", lanes=value.lanes)
        return self.shuffled(value, undefined, range(start, start + lanes))

    def joined(self, low: Value, high: Value) -> Value:
        """The vector of the lanes of two."""
        return self.shuffled(low, high, range(2 * low.lanes))

    def shuffled(self, x: Value, y: Value, lanes: Sequence[int]) -> Value:
        """The vector of these lanes of two, one after the other."""
        places = ", ".join(f"i32 {lane}" for lane in lanes)
        text = f"shufflevector {x.typed}, {y.typed}, <{len(lanes)} x i32> <{places}>"
        return self.value(x.dtype, text, len(lanes))

    def each_lane(
        self, args: Sequence[Value], params: Sequence[str], make: Callable[[Sequence[Value]], Value]
    ) -> Value:
        """The result of a function of numbers, lane by lane where operands are vectors.

        The variable ``count`` says of how many lanes, if there is one.
        """
        args = [self.cast(value, dtype) for value, dtype in zip(args, params, strict=True)]
        lanes = max((value.lanes for value in args), default=1)
        if lanes == 1:
            return make(args)
        places = [self.spill(value) if value.lanes > 1 else None for value in args]
        start = len(self._lines)
        made: list[tuple[Value, str]] = []

        def turn(at: Value) -> None:
            one = [
                value if place is None else self.load(value.dtype, place, at)
                for value, place in zip(args, places, strict=True)
            ]
            result = make(one)
            own = llvm_type("uint8" if result.dtype == "bool" else result.dtype, lanes)
            made.append((result, self.allocate(own, 64)))
            self.store(result, self._bytes(own, made[0][1]), at)

        self.turns(self.variable("count") or constant("int64", lanes), turn)
        [(result, room)] = made
        kept = "uint8" if result.dtype == "bool" else result.dtype
        own = llvm_type(kept, lanes)
        # Lanes that are not computed hold some number, not none.
        self._lines.insert(start, f"  store {own} zeroinitializer, {own}* {room}")
        return self.cast(self.value(kept, f"load {own}, {own}* {room}", lanes), result.dtype)

    # ------------------------------------------------------------ memory

    def spill(self, value: Value) -> Value:
        """Memory of the function that holds the elements of a vector, as arrays hold them."""
        kept = self.cast(value, "uint8") if value.dtype == "bool" else value
        place = self.allocate(kept.type, 64)
        self.line(f"store {kept.typed}, {kept.type}* {place}")
        return self._bytes(kept.type, place)

    def _bytes(self, llvm_type: str, place: str) -> Value:
        return self.value("pointer", f"bitcast {llvm_type}* {place} to i8*")

    def load(self, dtype: str, array: Value, index: Value) -> Value:
        """The element of an array."""
        kept = "uint8" if dtype == "bool" else dtype
        own, place = self.element(kept, array, index)
        return self.cast(self.value(kept, f"load {own}, {own}* {place}"), dtype)

    def store(self, value: Value, array: Value, index: Value) -> None:
        """Set the element of an array."""
        kept = self.cast(value, "uint8") if value.dtype == "bool" else value
        own, place = self.element(kept.dtype, array, index)
        self.line(f"store {kept.typed}, {own}* {place}")

    def element(self, kept: str, array: Value, index: Value) -> tuple[str, str]:
        """The type of an array's elements, and the address of one."""
        own = LLVM_TYPES[kept]
        first = self.value("pointer", f"bitcast {array.typed} to {own}*").text
        place = self.value("pointer", f"getelementptr {own}, {own}* {first}, {index.typed}")
        return own, place.text

    # ------------------------------------------------------------ branches

    def turns(self, count: Value, body: Callable[[Value], None]) -> None:
        """Write a loop that goes so many turns; ``body`` writes one, and is given its number."""
        counter, head, turn, end = self.allocate("i64"), *(self._label() for _ in range(3))
        self.line(f"store i64 0, i64* {counter}")
        self._open(head)
        at = self.value("int64", f"load i64, i64* {counter}")
        self._branch(self.value("bool", f"icmp slt {at.typed}, {count.text}"), turn, end)
        self._open(turn)
        body(at)
        following = self.value("int64", f"add nsw {at.typed}, 1")
        self.line(f"store {following.typed}, i64* {counter}")
        self._go(head)
        self._open(end)

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

    def _go(self, label: str) -> None:
        if not self._closed:
            self.line(f'br label %"{label}"')
        self._closed = True

    def _branch(self, condition: Value, yes: str, no: str) -> None:
        text = self.cast(condition, "bool").text
        self.line(f'br i1 {text}, label %"{yes}", label %"{no}"')
        self._closed = True


def _bits(dtype: str) -> int:
    return 1 if dtype == "bool" else 8 * np.dtype(dtype).itemsize
