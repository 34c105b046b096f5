"""From a frozen graph to a program of native loops, views and calls."""

from __future__ import annotations

from collections.abc import Sequence

from frazil._core import FrozenApply, FrozenFunctionGraph, Program, Variable
from frazil.elemwise import Elemwise
from frazil.link.alignment import can_loop
from frazil.link.fusion import Loop, from_memory, fuse
from frazil.link.inlining import inline_composites
from frazil.link.kernel import KernelCompiler
from frazil.link.loops import kernel_call
from frazil.link.lowering.node import lower_node
from frazil.link.lowering.scan import run_scan
from frazil.link.lowering.state import Lowering
from frazil.link.origin import Origin
from frazil.link.recompute import Recompute
from frazil.link.recurrence import AnyKernel
from frazil.link.scan_kernel import scan_call
from frazil.link.views import Views
from frazil.loop.op import Scan


def lower(
    graph: FrozenFunctionGraph,
    compiler: KernelCompiler,
    donated: Sequence[Variable] = (),
    *,
    linker: object,
    checked: bool = False,
) -> Program:
    """The program that computes ``graph`` with the kernels of ``compiler``.

    ``donated``: inputs whose memory calls may use up. ``checked``: a kernel for each node, and runs
    that look for faults. ``linker``: what is asked for programs of the graphs that ops hold.
    """
    graph = inline_composites(graph)
    lowering = Lowering(graph, donated, linker=linker, checked=checked)

    views = Views(lowering.placement.written)
    known: dict[tuple[object, ...], bool] = {}

    def fusible(node: FrozenApply) -> bool:
        if not isinstance(node.op, Elemwise):
            return can_loop(node)
        dtypes = tuple(x.dtype for x in node.inputs)
        question = (node.op, dtypes)
        if question not in known:
            result = node.output_types[0].dtype
            known[question] = compiler.lowers(node.op.scalar_op, dtypes, result)
        return known[question]

    written = lowering.placement.written
    again = () if checked else lowering.order
    recompute = Recompute(again, lowering.shapes, views, fusible, written)
    steps = fuse(
        lowering.order,
        graph.outputs,
        lowering.shapes,
        views,
        fusible,
        recompute,
        1 if checked else compiler.statement_limit,
        lowering.placement.before,
    )
    stored = from_memory(steps, lowering.shapes, views, recompute).union(graph.outputs)
    calls = {
        step: kernel_call(step, stored, views, recompute)
        for step in steps
        if isinstance(step, Loop)
    }
    # Equal kernels are compiled once.
    scans = {
        step: call
        for step in steps
        if not isinstance(step, Loop)
        and isinstance(step.op, Scan)
        and (call := scan_call(step.op, compiler)) is not None
    }
    kernels: list[AnyKernel] = [call.kernel for call in calls.values()]
    kernels = list(dict.fromkeys([*kernels, *(call.kernel for call in scans.values())]))
    native = dict(zip(kernels, compiler.compile(kernels), strict=True))
    for step in steps:
        if isinstance(step, Loop):
            lowering.run_loop(calls[step], native[calls[step].kernel])
        elif step in scans:
            run_scan(lowering, step, scans[step], native[scans[step].kernel])
        else:
            lowering.builder.origin(Origin((step,)))
            lower_node(step.op, step, lowering)
    return lowering.builder.finish([lowering.slot(output) for output in graph.outputs])
