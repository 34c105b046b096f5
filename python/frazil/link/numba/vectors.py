"""The work on blocks of elements in LLVM's text: vectors in memory, masks and halves of vectors.

A mask says which lanes of a block are elements of a row. The lanes behind the end of a row are
loaded with copies of the first element of the block. What is computed in them is not written, and
sets no status.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial

import numpy as np

import frazil._core as _core
from frazil.graph.dataclass import dataclass
from frazil.link.numba.translation import Writer
from frazil.link.numba.values import Value, constant, llvm_type


@dataclass(frozen=True, slots=True)
class Routine:
    """The text in place of a call; operands are converted to the types ``params``, which
    are None where any will do.
    """

    write: Callable[[Writer, Sequence[Value]], Value]
    params: tuple[str | None, ...]

    def emit(self, writer: Writer, args: Sequence[Value]) -> Value:
        """Write the call; the result."""
        pairs = zip(args, self.params, strict=True)
        given = [value if own is None else writer.cast(value, own) for value, own in pairs]
        return self.write(writer, given)


@cache
def load(dtype: str, lanes: int) -> Routine:
    """``load(bytes, index)``: a block of an array of ``dtype``, from an index on."""

    def write(writer: Writer, args: Sequence[Value]) -> Value:
        kept, place, size = _block(writer, dtype, lanes, *args)
        own = llvm_type(kept, lanes)
        return writer.cast(writer.value(kept, f"load {own}, {place}, align {size}", lanes), dtype)

    return Routine(write, ("pointer", "int64"))


@cache
def load_some(dtype: str, lanes: int) -> Routine:
    """``load(bytes, index, mask)``: as :func:`load`, of the lanes in the mask, at least one.

    Where the processor has no masks, the variable ``count`` tells their number.
    """

    def write(writer: Writer, args: Sequence[Value]) -> Value:
        array, index, mask = args
        kept, place, size = _block(writer, dtype, lanes, array, index)
        own = llvm_type(kept, lanes)
        first = writer.load(kept, array, index)
        others = writer.spread(first, lanes)
        if not has_masks(size):
            return writer.cast(_gathered(writer, array, index, others), dtype)
        name = f"llvm.masked.load.{_mangled(kept, lanes)}.p0"
        types = (f"{own}*", "i32", mask.type, own)
        writer.module.declare_text(name, types, own)
        given = f"{place}, i32 {size}, {mask.typed}, {others.typed}"
        return writer.cast(writer.value(kept, f'call {own} @"{name}"({given})', lanes), dtype)

    return Routine(write, ("pointer", "int64", "bool"))


@cache
def store(dtype: str, lanes: int) -> Routine:
    """``store(bytes, index, value)``: set a block of an array of ``dtype``."""

    def write(writer: Writer, args: Sequence[Value]) -> Value:
        array, index, given = args
        kept, place, size = _block(writer, dtype, lanes, array, index)
        block = writer.spread(writer.cast(given, kept), lanes)
        writer.line(f"store {block.typed}, {place}, align {size}")
        return Value("void", "")

    return Routine(write, ("pointer", "int64", dtype))


@cache
def store_some(dtype: str, lanes: int) -> Routine:
    """``store(bytes, index, value, mask)``: as :func:`store`, of the lanes in the mask."""

    def write(writer: Writer, args: Sequence[Value]) -> Value:
        array, index, given, mask = args
        kept, place, size = _block(writer, dtype, lanes, array, index)
        block = writer.spread(writer.cast(given, kept), lanes)
        if not has_masks(size):
            _scattered(writer, array, index, block)
            return Value("void", "")
        name = f"llvm.masked.store.{_mangled(kept, lanes)}.p0"
        writer.module.declare_text(name, (block.type, f"{block.type}*", "i32", mask.type), "void")
        given_text = f"{block.typed}, {place}, i32 {size}, {mask.typed}"
        writer.line(f'call void @"{name}"({given_text})')
        return Value("void", "")

    return Routine(write, ("pointer", "int64", dtype, "bool"))


def _block(
    writer: Writer, dtype: str, lanes: int, array: Value, index: Value
) -> tuple[str, str, int]:
    """The type in which elements are kept, the typed address of a block, and an element's size."""
    kept = "uint8" if dtype == "bool" else dtype
    own, place = writer.element(kept, array, index)
    block = llvm_type(kept, lanes)
    first = writer.value("pointer", f"bitcast {own}* {place} to {block}*").text
    return kept, f"{block}* {first}", np.dtype(kept).itemsize


def has_masks(size: int) -> bool:
    """Whether the processor loads and stores some lanes of a vector, of elements of so many bytes.

    LLVM branches for each lane elsewhere: AVX2 knows masks of four and eight bytes alone.
    """
    return _core.vector_bits() >= (256 if size >= 4 else 512)


def _gathered(writer: Writer, array: Value, index: Value, others: Value) -> Value:
    """Some elements of an array, one by one, before lanes of another vector."""
    room, own = writer.spill(others), others.type

    def one(at: Value) -> None:
        where = writer.value("int64", f"add nsw {index.typed}, {at.text}")
        writer.store(writer.load(others.dtype, array, where), room, at)

    writer.turns(_count(writer), one)
    place = writer.value("pointer", f"bitcast {room.typed} to {own}*").text
    return writer.value(others.dtype, f"load {own}, {own}* {place}", others.lanes)


def _scattered(writer: Writer, array: Value, index: Value, block: Value) -> None:
    """Store some lanes of a vector, one by one."""
    room = writer.spill(block)

    def one(at: Value) -> None:
        where = writer.value("int64", f"add nsw {index.typed}, {at.text}")
        writer.store(writer.load(block.dtype, room, at), array, where)

    writer.turns(_count(writer), one)


def _count(writer: Writer) -> Value:
    count = writer.variable("count")
    assert count is not None
    return count


def _lanes(lanes: int) -> Value:
    """The vector of the numbers of its lanes."""
    numbers = ", ".join(f"i64 {lane}" for lane in range(lanes))
    return Value("int64", f"<{numbers}>", lanes=lanes) if lanes > 1 else constant("int64", 0)


@cache
def first(lanes: int) -> Routine:
    """``first(count)``: the mask of so many lanes."""

    def write(writer: Writer, args: Sequence[Value]) -> Value:
        (count,) = args
        limit = writer.spread(count, lanes)
        return writer.value("bool", f"icmp ult {_lanes(lanes).typed}, {limit.text}", lanes)

    return Routine(write, ("int64",))


@cache
def spread(dtype: str, lanes: int) -> Routine:
    """``spread(value)``: a vector that has the value in each lane."""
    return Routine(lambda writer, args: writer.spread(args[0], lanes), (dtype,))


@cache
def spill(dtype: str, lanes: int) -> Routine:
    """``spill(value)``: memory that holds the elements of a vector; of a number, in each lane."""
    return Routine(lambda writer, args: writer.spill(writer.spread(args[0], lanes)), (dtype,))


def _prefetch(writer: Writer, args: Sequence[Value]) -> Value:
    """For reading, near the processor."""
    (place,) = args
    types = ("i8*", "i32", "i32", "i32")
    writer.module.declare_text("llvm.prefetch.p0", types, "void")
    writer.line(f'call void @"llvm.prefetch.p0"({place.typed}, i32 0, i32 3, i32 1)')
    return Value("void", "")


prefetch = Routine(_prefetch, ("pointer",))
"""``prefetch(bytes)``: ask for memory that will be read; it need not be there."""


def _any(writer: Writer, args: Sequence[Value]) -> Value:
    (mask,) = args
    if mask.lanes == 1:
        return mask
    bits = f"i{mask.lanes}"
    whole = writer.value("mask", f"bitcast {mask.typed} to {bits}").text
    return writer.value("bool", f"icmp ne {bits} {whole}, 0")


any_lane = Routine(_any, ("bool",))
"""``any_lane(mask)``: whether there is a lane in the mask."""


def _half(is_low: bool, writer: Writer, args: Sequence[Value]) -> Value:
    (value,) = args
    half = value.lanes // 2
    return writer.part(value, 0 if is_low else half, half)


low = Routine(partial(_half, True), (None,))
"""``low(vector)``: its first half; of two lanes, the number in the first."""

high = Routine(partial(_half, False), (None,))
"""``high(vector)``: its other half."""


@cache
def halves(width: int, *, is_low: bool) -> Routine:
    """``halves(x, y)``: of each group of so many lanes of two vectors, the first or the last half;
    the result has as many lanes as either.
    """

    def write(writer: Writer, args: Sequence[Value]) -> Value:
        x, y = args
        starts = range(0 if is_low else width // 2, 2 * x.lanes, width)
        places = [lane for start in starts for lane in range(start, start + width // 2)]
        return writer.shuffled(x, y, places)

    return Routine(write, (None, None))


@cache
def exchanged(apart: int, *, is_high: bool) -> Routine:
    """``exchanged(x, y)``: of each two groups of so many lanes, the first, or the second, of two
    vectors: a step of turning a square, whose rows are vectors.
    """

    def write(writer: Writer, args: Sequence[Value]) -> Value:
        x, y = args
        own = apart if is_high else 0
        places = [
            (lane & ~apart | own) + (x.lanes if lane & apart else 0) for lane in range(x.lanes)
        ]
        return writer.shuffled(x, y, places)

    return Routine(write, (None, None))


@cache
def gather_rows(dtype: str, rows: int) -> Routine:
    """``gather(bytes, stride, last)``: an element of each of some rows, so many bytes apart; after
    the last row its element again.
    """

    def write(writer: Writer, args: Sequence[Value]) -> Value:
        first, stride, last = args
        made = Value(dtype, "undef", lanes=rows)
        for row in range(rows):
            is_there = writer.value("bool", f"icmp slt {last.typed}, {row}")
            at = writer.select(is_there, last, constant("int64", row))
            offset = writer.value("int64", f"mul {at.typed}, {stride.text}")
            place = writer.value("pointer", f"getelementptr i8, {first.typed}, {offset.typed}")
            one = writer.load(dtype, place, constant("int64", 0))
            made = writer.value(dtype, f"insertelement {made.typed}, {one.typed}, i32 {row}", rows)
        return made

    return Routine(write, ("pointer", "int64", "int64"))


def _mangled(kept: str, lanes: int) -> str:
    """The type of a vector in the names of LLVM's own functions."""
    letter = "f" if kept in ("float32", "float64") else "i"
    return f"v{lanes}{letter}{8 * np.dtype(kept).itemsize}"
