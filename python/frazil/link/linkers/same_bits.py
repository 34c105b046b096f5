"""The kernels that C compiles first, and those that it computes as the extension does, bit by bit.

If all ops of a program do, it may begin with the extension's kernels and go on with C's: only the
speed changes. Sums have the same partial results in both, and both take functions of floats from
the runtime, for a block in registers of AVX-512. Where the processor has no such registers, C takes
them from the C library, whose last bits are others, and kernels with such functions stay the
extension's. The steps of scans, which wait for each other, take functions from the C library in
both.
"""

from __future__ import annotations

from collections.abc import Iterator

from frazil._core import FrozenFunctionGraph, vector_bits
from frazil.graph.op import Op
from frazil.inner.inner_graph import HasInnerGraph
from frazil.inner.ops import ops_of
from frazil.link.kernel.formulas import formula
from frazil.link.kernel.loop_kernel import Statement
from frazil.link.kernel.runtime_functions import OF_BLOCKS
from frazil.link.kernel.scalar_loop import body_of
from frazil.link.kernel.scan_kernel import AnyKernel, ScanKernel
from frazil.link.lowering.inner import inner_graphs
from frazil.scalar.elemwise import Elemwise
from frazil.scalar.graph import ScalarGraphOp
from frazil.scalar.loop import ScalarLoop, loop_result
from frazil.scalar.op import ScalarOp


def refusal(op: ScalarOp) -> str | None:
    """Why C has to compile a scalar op before the first call; None if the extension may begin.

    Examples
    --------
    >>> from frazil.link.linkers.same_bits import refusal
    >>> from frazil.scalar import mul
    >>> refusal(mul)
    """
    if op.table_name is None:
        return f"{op} is compiled by C alone"
    # For single elements, the runtime's functions take ten times as long as the C library's.
    slow = op in OF_BLOCKS and not vector_bits()
    return f"{op} is slow in the extension without registers of AVX2" if slow else None


def kernel_refusal(kernel: AnyKernel) -> str | None:
    """Why C has to compile a kernel before the first call; None if the extension may begin."""
    # The steps of scans call the C library, as C does.
    is_quick = vector_bits() > 0 or isinstance(kernel, ScanKernel)
    for own in _statements(kernel):
        if is_quick and own.op.table_name is not None:
            continue
        part = loop_result(own.op)
        found = refusal(own.op) if part is None else _loop_refusal(part[0])
        if found is not None:
            return found
    return None


def stays(text: str) -> bool:
    """Whether a kernel of the extension with this text keeps its place, as C gives other bits.

    Examples
    --------
    >>> from frazil.link.linkers.same_bits import stays
    >>> stays("loop 8 0\\nread float64 1\\nop neg float64 float64 0\\nwrite 1 float64 1 -\\npass")
    False
    """
    return vector_bits() < 512 and has_functions(text)


def has_functions(text: str) -> bool:
    """Whether the loop with this text has functions of floats that the runtime has for blocks.

    Examples
    --------
    >>> from frazil.link.linkers.same_bits import has_functions
    >>> start = "loop 8 0\\nread float64 1\\n"
    >>> [has_functions(f"{start}op {name} float64 float64 0") for name in ("neg", "exp")]
    [False, True]
    """
    if not text.startswith("loop "):
        return False
    if _NAMES.isdisjoint(text.split(" ")):
        return False  # most texts, found without a look at each line
    statements = (line.split(" ") for line in text.splitlines() if line.startswith("op "))
    return any(name in _NAMES and given.startswith("float") for _, name, _, given, *_ in statements)


_NAMES = frozenset(op.table_name for op in OF_BLOCKS)


def _statements(kernel: AnyKernel) -> Iterator[Statement]:
    return (own for own in kernel.statements if isinstance(own, Statement))


def _loop_refusal(loop: ScalarLoop) -> str | None:
    """Why C has to compile a loop for each element before the first call."""
    for own in body_of(loop).statements:
        is_of_floats = own.dtype[0] == "f" and own.op in OF_BLOCKS
        if is_of_floats or formula(own.op, own.dtype) is not None:
            return f"{own.op} in a loop of elements has other bits in C"
        part = loop_result(own.op)
        found = refusal(own.op) if part is None else _loop_refusal(part[0])
        if found is not None:
            return found
    return None


def graph_refusal(graph: FrozenFunctionGraph) -> str | None:
    """Why C has to compile a graph before the first call; None if no op in it says so.

    Rules may write other ops than the graph has, so its kernels are asked, too.

    Examples
    --------
    >>> import frazil as fz, frazil.tensor as ft
    >>> from frazil.link.linkers.same_bits import graph_refusal
    >>> x = ft.vector("x")
    >>> graph_refusal(fz.FrozenFunctionGraph([x], [2 * x]))
    """
    return next((found for own in _all_graphs(graph) if (found := _own_refusal(own))), None)


def _own_refusal(graph: FrozenFunctionGraph) -> str | None:
    """The answer for a graph without those that its ops hold."""
    if all(_op_refusal(op) is None for op in ops_of(graph)):
        return None
    # The first one, in an order that is the same in each process.
    return next(found for node in graph.toposort() if (found := _op_refusal(node.op)))


def _op_refusal(op: Op) -> str | None:
    if not isinstance(op, Elemwise) or isinstance(op.scalar_op, ScalarGraphOp):
        return None
    return refusal(op.scalar_op)


def _all_graphs(graph: FrozenFunctionGraph) -> Iterator[FrozenFunctionGraph]:
    seen = {graph}
    pending = [graph]
    while pending:
        current = pending.pop()
        yield current
        held = {op: own for op in ops_of(current) if (own := _held(op))}
        for node in current.toposort() if held else ():
            for inner in held.get(node.op, ()):
                if inner not in seen:
                    seen.add(inner)
                    pending.append(inner)


def _held(op: Op) -> list[FrozenFunctionGraph]:
    """The graphs that an op holds."""
    if isinstance(op, Elemwise):
        own = op.scalar_op
        return [own.fgraph] if isinstance(own, ScalarGraphOp) else []
    if isinstance(op, HasInnerGraph):
        return [op.fgraph]  # its programs are of graphs that differ in outputs alone
    return [inner for inner, _ in inner_graphs(op)]
