"""The exponential of a block, written out in the kernel for registers of AVX-512.

The steps are those of the runtime and of C's kernels, so the bits are, too. Written out, it keeps
no other value from its register: a function that is called may change all of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from frazil.link.kernel.exponential import EXPONENTIALS, REDUCED_TO
from frazil.link.numba.translation import Writer
from frazil.link.numba.values import Value, constant

_SUFFIX = {"float32": "ps", "float64": "pd"}
_INTEGERS = {"float32": "int32", "float64": "int64"}

_SMALLER_SIZE = 6
"""The instruction ``range`` takes the number of the smaller size."""


def block_exponential(writer: Writer, x: Value) -> Value:
    """Write the steps for a block that fills a register."""
    dtype, lanes = x.dtype, x.lanes
    own = EXPONENTIALS[dtype]

    def all_lanes(text: str, sign: int = 1) -> Value:
        return constant(dtype, sign * float.fromhex(text), lanes)

    def fma(a: Value, b: Value, c: Value) -> Value:
        symbol = f"llvm.fma.v{lanes}f{512 // lanes}"
        return writer.call_elsewhere(symbol, (a, b, c))

    magic = all_lanes(own.magic)
    t = fma(x, all_lanes(own.per_log2), magic)
    k = writer.value(dtype, f"fsub {t.typed}, {magic.text}", lanes)
    near = fma(k, all_lanes(own.log2_high, -1), x)
    wide = fma(k, all_lanes(own.log2_low, -1), near)
    r = _masked(writer, "range", (wide, all_lanes(REDUCED_TO.hex())), f"i32 {_SMALLER_SIZE}")
    s = writer.value(dtype, f"fmul {r.typed}, {r.text}", lanes)
    terms = [*map(all_lanes, own.polynomial)]
    q = fma(r, terms[1], terms[0])
    if len(terms) > 2:
        # As a sum of short chains: what is waited for is the last of many steps.
        high = fma(s, terms[4], fma(r, terms[3], terms[2]))
        q = fma(s, high, q)
    power, rest = _taken(writer, t, own.powers), _taken(writer, t, own.rests)
    tail = fma(s, q, rest)
    more = writer.value(dtype, f"fadd {r.typed}, {tail.text}", lanes)
    return _masked(writer, "scalef", (fma(power, more, power), k))


def _masked(writer: Writer, name: str, args: Sequence[Value], *more: str) -> Value:
    """An instruction of AVX-512 for all lanes of a register, rounding as usual."""
    x = args[0]
    symbol = f"llvm.x86.avx512.mask.{name}.{_SUFFIX[x.dtype]}.512"
    mask = f"i{x.lanes}"
    given = [*(value.typed for value in args), *more, x.typed, f"{mask} -1", "i32 4"]
    types = [each.rsplit(" ", 1)[0] if each.startswith("i") else x.type for each in given]
    writer.module.declare_text(symbol, types, x.type)
    return writer.value(x.dtype, f'call {x.type} @"{symbol}"({", ".join(given)})', x.lanes)


def _taken(writer: Writer, t: Value, table: Sequence[str]) -> Value:
    """The entry of a table for each lane, by the last four bits of ``t``."""
    lanes, suffix = t.lanes, _SUFFIX[t.dtype]
    integers = _INTEGERS[t.dtype]
    index = Value(integers, "", lanes=lanes)
    at = writer.value(integers, f"bitcast {t.typed} to {index.type}", lanes)
    parts = [
        Value(t.dtype, _listed(t.dtype, table[start : start + lanes]), lanes=lanes)
        for start in range(0, len(table), lanes)
    ]
    if len(parts) == 2:
        symbol = f"llvm.x86.avx512.vpermi2var.{suffix}.512"
        return writer.call_elsewhere(symbol, (parts[0], at, parts[1]))
    symbol = f"llvm.x86.avx512.permvar.{'sf' if suffix == 'ps' else 'df'}.512"
    return writer.call_elsewhere(symbol, (parts[0], at))


def _listed(dtype: str, numbers: Sequence[str]) -> str:
    return f"<{', '.join(constant(dtype, float.fromhex(number)).typed for number in numbers)}>"
