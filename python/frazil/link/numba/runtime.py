"""Functions that Numba's kernels take from the runtime, of floats and of their partial sums."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from frazil.link.kernel.loop_kernel import BLOCK_BYTES
from frazil.link.kernel.runtime_functions import OF_BLOCKS
from frazil.link.numba.exponential import block_exponential
from frazil.link.numba.externals import address_of
from frazil.link.numba.translation import Writer
from frazil.link.numba.values import Value
from frazil.link.numba.vectors import Routine
from frazil.scalar.op import ScalarOp

OF_RUNTIME: Mapping[str, ScalarOp] = {
    str(op.table_name).replace("arc", "a"): op for op in sorted(OF_BLOCKS, key=str)
}
"""By the name in the texts of ops, which is C's."""

_CODES = {"float32": "f4", "float64": "f8"}

FACTS = "nounwind willreturn readnone"
"""They keep no state, raise nothing and come back."""


def of_runtime(name: str, dtype: str) -> Routine:
    """The function of that name for floats of that dtype."""
    op = OF_RUNTIME[name]
    own, code = op.table_name, _CODES[dtype]

    def write(writer: Writer, args: Sequence[Value]) -> Value:
        given = writer.level(args)
        lanes = given[0].lanes
        if lanes == 1:
            return writer.call_elsewhere(f"{own}_one_{code}", given, FACTS)
        block = f"{own}_block_{code}"
        is_block = lanes * np.dtype(dtype).itemsize == BLOCK_BYTES
        if is_block and address_of(block) is not None:
            if name == "exp":
                return block_exponential(writer, given[0])
            return writer.call_elsewhere(block, given, FACTS)
        return _in_memory(writer, f"{own}_many_{code}", given)

    return Routine(write, (dtype,) * op.nin)


def _in_memory(writer: Writer, symbol: str, given: Sequence[Value]) -> Value:
    """The function of many elements, which are given by their address."""
    x = given[0]
    room = writer.allocate(x.type, 64)
    result = writer.value("pointer", f"bitcast {x.type}* {room} to i8*")
    count = Value("int64", f"{x.lanes}")
    params = ("pointer",) * (1 + len(given))
    writer.module.declare(symbol, (*params, "int64"), "void", "nounwind")
    taken = [result, *map(writer.spill, given), count]
    writer.call(symbol, (*params, "int64"), "void", taken)
    return writer.value(x.dtype, f"load {x.type}, {x.type}* {room}", x.lanes)


def _fold_all(reduce: str, dtype: str) -> Routine:
    """``fold_all(partials, count, walked, lanes)``: the fold of partial results of floats."""
    symbol = f"fold_all_{reduce}_{_CODES[dtype]}"
    params = ("pointer", "int64", "int64", "int64")

    def write(writer: Writer, args: Sequence[Value]) -> Value:
        writer.module.declare(symbol, params, dtype, "nounwind")
        return writer.call(symbol, params, dtype, args)

    return Routine(write, params)


def fold_sums(dtype: str) -> Routine:
    """``fold(partials, count, walked, lanes)``: the sum of partial sums of floats."""
    return _fold_all("add", dtype)


def carry(dtype: str) -> Routine:
    """``carry(partials, turn, width)``: add partial sums of floats to the next level."""
    symbol, params = f"carry_{_CODES[dtype]}", ("pointer", "int64", "int64")

    def write(writer: Writer, args: Sequence[Value]) -> Value:
        writer.module.declare(symbol, params, "void", "nounwind")
        return writer.call(symbol, params, "void", args)

    return Routine(write, params)
