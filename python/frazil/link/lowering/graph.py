"""From a graph cut into segments to a program of native loops, views and calls."""

from __future__ import annotations

from collections.abc import Sequence

from frazil._core import FrozenFunctionGraph, Program, Variable
from frazil.link.fusible import Fusion
from frazil.link.fusion import Loop
from frazil.link.kernel import KernelCompiler
from frazil.link.loops import kernel_call
from frazil.link.lowering.node import lower_node
from frazil.link.lowering.state import Lowering
from frazil.link.origin import Origin
from frazil.link.segment import Segmentation


def lower(
    graph: FrozenFunctionGraph,
    compiler: KernelCompiler,
    fusion: Fusion,
    donated: Sequence[Variable] = (),
    *,
    checked: bool = False,
) -> Program:
    """The program that computes ``graph``, cut by ``fusion``, with the kernels of ``compiler``.

    ``donated``: inputs whose memory calls may use up. ``checked``: runs look for faults.
    """
    cut = Segmentation(graph, fusion, donated)
    lowering = Lowering(graph, cut, donated, checked=checked)
    calls = {
        segment: kernel_call(segment.step, cut.stored, cut.views, cut.recompute)
        for segment in cut.segments
        if isinstance(segment.step, Loop)
    }
    # Equal kernels are compiled once.
    kernels = list(dict.fromkeys(call.kernel for call in calls.values()))
    native = dict(zip(kernels, compiler.compile(kernels), strict=True))
    for segment in cut.segments:
        call = calls.get(segment)
        if call is not None:
            lowering.run_loop(call, native[call.kernel])
        elif not isinstance(segment.step, Loop):
            lowering.builder.origin(Origin((segment.step,)))
            lower_node(segment.step.op, segment.step, lowering)
    return lowering.builder.finish([lowering.slot(output) for output in graph.outputs])
