"""The scalar ops that give the same bits in C's kernels and in the extension's kernels.

If all ops of a program do, it may begin with the extension's kernels and go on with C's: only the
speed changes. Sums have the same partial results in both, and both take functions of floats from
the runtime, for a block in registers of AVX-512. The steps of scans, which wait for each other,
take functions from the C library in both.
"""

from __future__ import annotations

from collections.abc import Iterator
from weakref import WeakKeyDictionary

from frazil._core import FrozenFunctionGraph, has_wide_registers
from frazil.graph.op import Op
from frazil.inner.inner_graph import HasInnerGraph
from frazil.inner.ops import ops_of
from frazil.link.kernel.formulas import formula
from frazil.link.kernel.loop_kernel import LoopKernel, Statement
from frazil.link.kernel.runtime_functions import OF_BLOCKS
from frazil.link.kernel.scalar_loop import body_of
from frazil.link.kernel.scan_kernel import AnyKernel, ScanKernel
from frazil.link.lowering.inner import inner_graphs
from frazil.scalar.elemwise import Elemwise
from frazil.scalar.graph import ScalarGraphOp
from frazil.scalar.loop import ScalarLoop, loop_result
from frazil.scalar.op import ScalarOp


def difference(op: ScalarOp, operand: str) -> str | None:
    """Why a scalar op may give other bits in C for operands of that dtype; None if it does not.

    Examples
    --------
    >>> from frazil.link.linkers.same_bits import difference
    >>> from frazil.scalar import mul
    >>> difference(mul, "float64")
    """
    if op.table_name is None:
        return f"{op} is compiled by C alone"
    other = operand[0] == "f" and op in OF_BLOCKS and not has_wide_registers()
    return f"{op} of {operand} has other bits in C" if other else None


def kernel_difference(kernel: AnyKernel) -> str | None:
    """Why C's form of a kernel may give other bits; None if it gives the same."""
    known_to_agree = has_wide_registers() or isinstance(kernel, ScanKernel)
    for own in _statements(kernel):
        if known_to_agree and own.op.table_name is not None:
            continue
        part = loop_result(own.op)
        if part is not None:
            found = _loop_difference(part[0])
        else:
            wanted = own.op.operand_dtypes([kernel.dtypes[a] for a in own.args], own.dtype)
            found = difference(own.op, wanted[-1])
        if found is not None:
            return found
    return None


def needs_registers(kernel: AnyKernel) -> bool:
    """Whether a kernel has the same bits only where C's compiler knows registers of AVX-512."""
    return isinstance(kernel, LoopKernel) and any(
        own.op in OF_BLOCKS and own.dtype[0] == "f" for own in _statements(kernel)
    )


def _statements(kernel: AnyKernel) -> Iterator[Statement]:
    return (own for own in kernel.statements if isinstance(own, Statement))


def _loop_difference(loop: ScalarLoop) -> str | None:
    """Why a loop for each element may give other bits in C."""
    body = body_of(loop)
    for own in body.statements:
        wanted = own.op.operand_dtypes([body.dtypes[a] for a in own.args], own.dtype)
        is_of_floats = own.dtype[0] == "f" and own.op in OF_BLOCKS
        if is_of_floats or formula(own.op, own.dtype) is not None:
            return f"{own.op} in a loop of elements has other bits in C"
        part = loop_result(own.op)
        found = difference(own.op, wanted[-1]) if part is None else _loop_difference(part[0])
        if found is not None:
            return found
    return None


def graph_difference(graph: FrozenFunctionGraph) -> str | None:
    """Why C's programs of a graph may give other bits; None if no op in it does.

    Rules may write other ops than the graph has, so its kernels are asked, too.

    Examples
    --------
    >>> import frazil as fz, frazil.tensor as ft
    >>> from frazil.link.linkers.same_bits import graph_difference
    >>> x = ft.vector("x")
    >>> graph_difference(fz.FrozenFunctionGraph([x], [2 * x]))
    """
    return next((found for own in _all_graphs(graph) if (found := _known(own)) is not None), None)


_KNOWN: WeakKeyDictionary[FrozenFunctionGraph, tuple[str | None]] = WeakKeyDictionary()


def _known(graph: FrozenFunctionGraph) -> str | None:
    """The answer for a graph without those that its ops hold."""
    known = _KNOWN.get(graph)
    if known is None:
        known = _KNOWN[graph] = (next(_differences(graph), None),)
    return known[0]


def _differences(graph: FrozenFunctionGraph) -> Iterator[str]:
    if has_wide_registers() and all(map(_is_of_table, ops_of(graph))):
        return  # as of most graphs: asked once for each op, and not for each node
    for node in graph.toposort():
        op = node.op
        if not isinstance(op, Elemwise) or isinstance(op.scalar_op, ScalarGraphOp):
            continue
        if has_wide_registers() and op.scalar_op.table_name is not None:
            continue
        dtypes = [x.dtype for x in node.inputs]
        if formula(op.scalar_op, node.output_types[0].dtype) is not None:
            if not has_wide_registers():
                yield f"{op.scalar_op} has other bits in C"
            continue  # the ops of its steps have the same bits
        wanted = op.scalar_op.operand_dtypes(dtypes, node.output_types[0].dtype)
        if (found := difference(op.scalar_op, wanted[-1])) is not None:
            yield found


def _is_of_table(op: Op) -> bool:
    """Whether the op has the same bits in C where there are wide registers, whatever its types."""
    if not isinstance(op, Elemwise) or isinstance(op.scalar_op, ScalarGraphOp):
        return True
    return op.scalar_op.table_name is not None


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
