"""Rows of whole blocks that indices choose: where kernels have a loop for them alone.

Where a row is a block or a few, what the walk does once a row takes several times as long as the
blocks: it looks for the end of the row, and for elements that do not lie side by side. So a kernel
that takes or puts rows has a second loop, for rows without an end. If the kernel folds rows, it is
for rows of a single block, and folds in the same order as the walk: the sets of partial results
that such a row does not reach are the identity.
"""

from __future__ import annotations

from frazil.link.kernel.cost import cost
from frazil.link.kernel.loop_kernel import LoopKernel, Statement, Write
from frazil.link.kernel.reduction import COUNTING, folds_row

MAX_COST = 64
"""The highest cost of the statements of a kernel that has the second loop: where a block costs
more, what is done once a row is not felt, and the compiler has no more time for it."""

AHEAD = 8
"""How many rows later the rows are used that are prefetched: the processor cannot foresee what
indices choose, and looks no further ahead than a few blocks."""


def has_whole_block_rows(kernel: LoopKernel) -> bool:
    """Whether a kernel has the second loop: it takes or puts rows, does little with an element, and
    what it folds are sums and products of single rows.
    """
    if kernel.takes_rows or not (kernel.row_takes or kernel.row_puts) or kernel.lanes == 1:
        return False
    varying = (k for k in kernel.takes if not kernel.uniform[k])
    if any(k not in kernel.row_takes for k in varying):
        return False
    if len(kernel.row_puts) < len(kernel.puts):
        return False
    folded = [write for write in kernel.writes if folds_row(write)]
    if not all(w.of_rows and w.reduce in COUNTING and _is_float(w) for w in folded):
        return False
    return (
        sum(cost(own.op) for own in kernel.ops.values() if isinstance(own, Statement)) <= MAX_COST
    )


def _is_float(write: Write) -> bool:
    return write.dtype in ("float32", "float64")
