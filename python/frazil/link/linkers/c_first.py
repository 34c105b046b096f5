"""Whether C has to compile a program before its first call, and why.

If it has not, the program begins with the extension's kernels and may go on with C's. An op that
users wrote for C is C's alone; others are C's where the extension is slow, or where a kernel with
an op in it would have other bits later.
"""

from __future__ import annotations

from collections.abc import Iterator

from frazil._core import FrozenFunctionGraph, has_quick_functions
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


def reason(op: ScalarOp) -> str | None:
    """Why C has to compile a scalar op before the first call; None if the extension may begin.

    Examples
    --------
    >>> from frazil.link.linkers.c_first import reason
    >>> from frazil.scalar import mul
    >>> reason(mul)
    """
    if op.table_name is None:
        return f"{op} is compiled by C alone"
    # For single elements, the runtime's functions take ten times as long as the C library's.
    slow = op in OF_BLOCKS and not has_quick_functions()
    return f"{op} is slow in the extension without registers of AVX2" if slow else None


def reason_in_kernel(kernel: AnyKernel) -> str | None:
    """Why C has to compile a kernel before the first call; None if the extension may begin."""
    # The steps of scans call the C library, as C does.
    is_quick = has_quick_functions() or isinstance(kernel, ScanKernel)
    for own in _statements(kernel):
        if is_quick and own.op.table_name is not None:
            continue
        part = loop_result(own.op)
        found = reason(own.op) if part is None else _reason_in_loop(part[0])
        if found is not None:
            return found
    return None


def _statements(kernel: AnyKernel) -> Iterator[Statement]:
    return (own for own in kernel.statements if isinstance(own, Statement))


def _reason_in_loop(loop: ScalarLoop) -> str | None:
    """Why C has to compile a loop for each element before the first call."""
    for own in body_of(loop).statements:
        is_of_floats = own.dtype[0] == "f" and own.op in OF_BLOCKS
        if is_of_floats or formula(own.op, own.dtype) is not None:
            return f"{own.op} in a loop of elements has other bits in C"
        part = loop_result(own.op)
        found = reason(own.op) if part is None else _reason_in_loop(part[0])
        if found is not None:
            return found
    return None


def reason_in_graph(graph: FrozenFunctionGraph) -> str | None:
    """Why C has to compile a graph before the first call; None if no op in it says so.

    Rules may write other ops than the graph has, so its kernels are asked, too.

    Examples
    --------
    >>> import frazil as fz, frazil.tensor as ft
    >>> from frazil.link.linkers.c_first import reason_in_graph
    >>> x = ft.vector("x")
    >>> reason_in_graph(fz.FrozenFunctionGraph([x], [2 * x]))
    """
    return next((found for own in _all_graphs(graph) if (found := _reason_in_own(own))), None)


def _reason_in_own(graph: FrozenFunctionGraph) -> str | None:
    """The answer for a graph without those that its ops hold."""
    if all(_reason_in_op(op) is None for op in ops_of(graph)):
        return None
    # The first one, in an order that is the same in each process.
    return next(found for node in graph.toposort() if (found := _reason_in_op(node.op)))


def _reason_in_op(op: Op) -> str | None:
    if not isinstance(op, Elemwise) or isinstance(op.scalar_op, ScalarGraphOp):
        return None
    return reason(op.scalar_op)


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
