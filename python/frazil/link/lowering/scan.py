"""Loops, each as one kernel."""

from __future__ import annotations

from frazil._core import FrozenApply
from frazil.link.kernel import NativeKernel
from frazil.link.lowering.index import Index
from frazil.link.lowering.state import Lowering
from frazil.link.origin import Origin
from frazil.link.scan_kernel import ScanCall
from frazil.tensor.lengths import static_length


def run_scan(lowering: Lowering, node: FrozenApply, call: ScanCall, native: NativeKernel) -> None:
    """Adds a loop that is one kernel."""
    builder, op, kernel = lowering.builder, node.op, call.kernel
    builder.origin(Origin((node,)))
    steps = lowering.size(node.inputs[0])
    if static_length(node.inputs[0]) is None:
        one = builder.size_literal(1)
        some = builder.size_binary("le", builder.size_literal(0), steps)
        builder.require_equal(some, one, f"{op}: the number of steps cannot be negative")
    reads = [
        (lowering.slot(x), row.walks, shape)
        for x, row, shape in zip(node.inputs[1:], kernel.reads, call.reads, strict=True)
    ]
    for position, x in enumerate(node.inputs[1 : 1 + op.n_sequences]):
        rows = lowering.size(lowering.shapes.lengths(x)[0])
        if rows != steps:
            message = f"sequence {position} of {op}: not as many elements as there are steps"
            builder.require_equal(rows, steps, message)
    writes = [
        (write.dtype, write.walks, shape)
        for write, shape in zip(kernel.writes, call.writes, strict=False)
    ]
    if op.until:
        writes.append(("int64", False, ()))
    slots = builder.recurrence(native.address, native.keepalive, steps, reads, writes, op.backwards)
    if op.until:
        done = builder.size_value(slots[-1])
        for at, write in enumerate(kernel.writes):
            if write.walks:
                one = builder.size_literal(1)
                index: Index = [(None, done, one), *[(None, None, one)] * len(call.writes[at])]
                slots[at] = builder.slice(slots[at], index)
    for output, slot in zip(node.outputs, slots, strict=True):
        lowering.place(output, slot)
