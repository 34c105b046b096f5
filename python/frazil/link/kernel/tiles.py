"""Kernels that fold rows and take several at a time: a tile of rows.

They take a few short rows through each of their passes. What happens once a row between passes is
then work on a vector of rows, and no row waits for the fold of the one before. Uniform values,
which are the same for all elements of a row, are kept for each row of the tile.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import frazil._core as _core
from frazil.link.kernel.cost import cost
from frazil.link.kernel.loop_kernel import BLOCK_BYTES, LoopKernel, RowFold, Statement, Write
from frazil.link.kernel.passes import Pass
from frazil.link.kernel.scalar_loop import scalar_loop_calls

TILE = _core.TILE
"""Rows of a tile: as many as buffers with a stride have room for."""

SHORT = 2 * TILE
"""The elements of the longest rows that are short: two blocks of a lane for each row of a tile."""


FOLDED = frozenset(("add", "mul", "maximum", "minimum"))
"""The reductions of rows that go side by side."""


def takes_tiles(kernel: LoopKernel) -> bool:
    """Whether a kernel takes its rows by tiles."""
    # Indices move from row to row, and may end the kernel in the middle of one.
    indexed = bool(kernel.sources or kernel.puts)
    return bool(kernel.folds) and kernel.lanes > 1 and not indexed


def kept_values(kernel: LoopKernel, passes: Sequence[Pass]) -> list[int]:
    """The uniform values that are kept for each row of a tile: those that a later loop uses.

    Literals are no such values.
    """
    uniform, n_reads = kernel.uniform, len(kernel.reads)
    loops: dict[int, int] = {}  # the loop over the rows that computes each value
    for at, row_pass in enumerate(passes):
        loops.update(dict.fromkeys(row_pass.folds, at + 1) | dict.fromkeys(row_pass.uniform, at))
    used = {write.value for write in kernel.writes}
    used.update(fold.arg for fold in kernel.folds.values())
    for k, own in kernel.ops.items():
        used.update(a for a in own.args if not uniform[k] or loops.get(a) != loops[k])
    literals = range(n_reads, n_reads + len(kernel.literals))
    return [k for k in sorted(used) if uniform[k] and k not in literals]


def busiest(kernel: LoopKernel, passes: Sequence[Pass]) -> Pass:
    """The pass in which there is the most time to fetch the operands of the next tile."""
    costs = []
    for row_pass in passes:
        own = (kernel.ops[k] for k in row_pass.varying)
        costs.append(sum(cost(op.op if isinstance(op, Statement) else op) for op in own))
    return passes[costs.index(max(costs))]


def gathers_rows(kernel: LoopKernel, row_pass: Pass) -> bool:
    """Whether a pass folds the rows of a tile into one row, and may take them block by block: each
    of its other values depends on those of its own element alone.
    """
    plain = all(isinstance(kernel.ops[k], Statement) for k in row_pass.varying)
    writes = [kernel.writes[k] for k in row_pass.writes]
    gathers = any(write.inner and write.reduce for write in writes)
    is_alone = not (row_pass.puts or row_pass.folds or scalar_loop_calls(kernel.ops))
    return gathers and plain and is_alone and kernel.lanes == TILE


def is_side_by_side(kernel: LoopKernel, passes: Sequence[Pass]) -> bool:
    """Whether short rows of a tile may go side by side, an element of each in a register: passes
    but the last only fold rows and keep values.
    """
    return kernel.lanes == TILE and all(_only_folds(kernel, one) for one in passes[:-1])


def folds_side_by_side(kernel: LoopKernel, passes: Sequence[Pass]) -> bool:
    """Whether a kernel does nothing but fold each row of floats into an element of its own, so that
    short ones may go side by side without any other pass.
    """
    if kernel.takes_rows or kernel.sources or kernel.lanes != TILE:
        return False
    [only] = passes
    return all(w.of_rows and _is_folded(w) for w in kernel.writes) and _is_plain(kernel, only)


def _only_folds(kernel: LoopKernel, row_pass: Pass) -> bool:
    """Whether a pass folds rows of floats, keeps values, and does nothing else."""
    folds = (kernel.folds[k] for k in row_pass.folds)
    return not row_pass.writes and _is_plain(kernel, row_pass) and all(map(_is_folded, folds))


def _is_plain(kernel: LoopKernel, row_pass: Pass) -> bool:
    """Whether what a pass computes depends on no other element, and operands fill columns."""
    if row_pass.puts or scalar_loop_calls(kernel.ops).keys() & row_pass.varying:
        return False
    moving = (*row_pass.reads, *row_pass.loads, *row_pass.stores)
    fills = all(np.dtype(kernel.dtypes[k]).itemsize * TILE == BLOCK_BYTES for k in moving)
    return fills and all(isinstance(kernel.ops[k], Statement) for k in row_pass.varying)


def _is_folded(own: RowFold | Write) -> bool:
    return own.dtype == "float64" and own.reduce in FOLDED
