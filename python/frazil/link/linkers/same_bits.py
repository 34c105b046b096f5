"""Which scalar ops give the same bits in C's kernels and in those of the extension.

Where all do, a program may begin with the extension's kernels and go on with C's, and nobody can
tell but by the clock. Sums have the same partial results in both. ``exp``, ``log`` and ``log1p`` go
the same steps in C, for a block in registers of AVX-512, and in the runtime, which C calls for one
element.
"""

from __future__ import annotations

from collections.abc import Iterator
from weakref import WeakKeyDictionary

from frazil._core import Constant, FrozenFunctionGraph
from frazil.graph.op import Op
from frazil.link.c.compiler import has_wide_registers
from frazil.link.c.stages import takes_blocks
from frazil.link.c.unit import OF_RUNTIME
from frazil.link.c.values import is_alone
from frazil.link.kernel.formulas import formula
from frazil.link.kernel.loop_kernel import Statement
from frazil.link.kernel.scalar_loop import body_of
from frazil.link.kernel.scan_kernel import AnyKernel, ScanKernel
from frazil.link.lowering.inner import inner_graphs
from frazil.scalar.elemwise import Elemwise
from frazil.scalar.graph import ScalarGraphOp
from frazil.scalar.loop import ScalarLoop, loop_result
from frazil.scalar.op import ScalarOp

OF_OTHER_BITS = frozenset(
    (
        *("arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "cbrt", "cos"),
        *("cosh", "erf", "erfc", "exp2", "expm1", "hypot", "log10", "log1mexp"),
        *("log2", "log_ndtr", "log_sigmoid", "logaddexp", "ndtr", "polygamma", "sigmoid"),
        *("sin", "sinh", "softplus", "tan", "tanh", "tri_gamma", "zeta"),
    )
)
"""Functions of floats that C takes from its own library, or computes by other steps.

Some of them are formulas in loops over arrays, and so none of their statements: there they have the
same bits.
"""


def difference(op: ScalarOp, operand: str) -> str | None:
    """Why a scalar op may give other bits in C for operands of that dtype; None if it does not.

    Examples
    --------
    >>> from frazil.link.linkers.same_bits import difference
    >>> from frazil.scalar import mul, tan
    >>> difference(mul, "float64"), difference(tan, "float64")
    (None, 'tan has other bits in C')
    """
    if op.table_name is None:
        return f"{op} is compiled by C alone"
    if op.table_name in OF_OTHER_BITS or (op in OF_RUNTIME and not has_wide_registers()):
        return f"{op} has other bits in C"
    if op.table_name == "pow" and operand.startswith("float"):
        return f"{op} of {operand} has other bits in C"
    return None


def kernel_difference(kernel: AnyKernel) -> str | None:
    """Why C's form of a kernel may give other bits; None if it gives the same."""
    for k, own in _statements(kernel):
        part = loop_result(own.op)
        if part is not None:
            found = _loop_difference(part[0])
        else:
            wanted = own.op.operand_dtypes([kernel.dtypes[a] for a in own.args], own.dtype)
            found = difference(own.op, wanted[-1])
            if found is None and own.op in OF_RUNTIME:
                found = _function_difference(kernel, k, own)
        if found is not None:
            return found
    return None


def needs_registers(kernel: AnyKernel) -> bool:
    """Whether a kernel has the same bits only where C's compiler knows registers of AVX-512."""
    return any(own.op in OF_RUNTIME for _, own in _statements(kernel))


def _statements(kernel: AnyKernel) -> Iterator[tuple[int, Statement]]:
    first = len(kernel.dtypes) - len(kernel.statements)
    for k, own in enumerate(kernel.statements, first):
        if isinstance(own, Statement):
            yield k, own


def _function_difference(kernel: AnyKernel, k: int, own: Statement) -> str | None:
    """Why C does not take the runtime's steps for a function: of one element, or of a block."""
    if isinstance(kernel, ScanKernel):
        # What a step waits for is quicker by the C library.
        return f"{own.op} in the steps of a scan has other bits in C"
    if is_alone(kernel, k) or takes_blocks(kernel, own):
        return None
    return f"{own.op} among elements of other sizes has other bits in C"


def _loop_difference(loop: ScalarLoop) -> str | None:
    """Why a loop for each element may give other bits in C."""
    body = body_of(loop)
    for own in body.statements:
        wanted = own.op.operand_dtypes([body.dtypes[a] for a in own.args], own.dtype)
        if own.op in OF_RUNTIME:
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
    >>> graph_difference(fz.FrozenFunctionGraph([x], [ft.tan(x)]))
    'tan has other bits in C'
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
    for node in graph.toposort():
        op = node.op
        if not isinstance(op, Elemwise) or isinstance(op.scalar_op, ScalarGraphOp):
            continue
        if op.scalar_op.table_name == "pow" and isinstance(node.inputs[1], Constant):
            continue  # rules make squares, roots and quotients of most of these
        dtypes = [x.dtype for x in node.inputs]
        if formula(op.scalar_op, dtypes, node.output_types[0].dtype) is not None:
            if not has_wide_registers():
                yield f"{op.scalar_op} has other bits in C"
            continue  # the ops of its steps have the same bits
        wanted = op.scalar_op.operand_dtypes(dtypes, node.output_types[0].dtype)
        if (found := difference(op.scalar_op, wanted[-1])) is not None:
            yield found


def _all_graphs(graph: FrozenFunctionGraph) -> Iterator[FrozenFunctionGraph]:
    seen = {graph}
    pending = [graph]
    while pending:
        current = pending.pop()
        yield current
        for node in current.toposort():
            for inner in _held(node.op):
                if inner not in seen:
                    seen.add(inner)
                    pending.append(inner)


def _held(op: Op) -> list[FrozenFunctionGraph]:
    """The graphs that an op holds."""
    if isinstance(op, Elemwise):
        own = op.scalar_op
        return [own.fgraph] if isinstance(own, ScalarGraphOp) else []
    return [inner for inner, _ in inner_graphs(op)]
