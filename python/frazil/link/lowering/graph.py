"""From a frozen graph to a program of native loops, views and calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from frazil._core import FrozenApply, FrozenFunctionGraph, Program, Variable
from frazil.elemwise import Elemwise
from frazil.link.alignment import can_loop
from frazil.link.contract import Inner, inner_graphs
from frazil.link.fusion import Loop, from_memory, fuse
from frazil.link.inlining import inline_composites
from frazil.link.kernel import KernelCompiler, NativeKernel
from frazil.link.loops import kernel_call
from frazil.link.lowering.inner import RemembersPrograms, plan_inner
from frazil.link.lowering.node import lower_node
from frazil.link.lowering.scan import run_scan
from frazil.link.lowering.state import Lowering
from frazil.link.origin import Origin
from frazil.link.recompute import Recompute
from frazil.link.recurrence import AnyKernel
from frazil.link.scan_kernel import scan_call
from frazil.link.views import Views
from frazil.loop.op import Scan


class Plan:
    """A graph on its way to a program: cut into steps, its kernels known and not compiled."""

    def __init__(
        self,
        graph: FrozenFunctionGraph,
        linker: RemembersPrograms,
        compiler: KernelCompiler,
        donated: Sequence[Variable],
        *,
        checked: bool,
    ) -> None:
        graph = inline_composites(graph)
        self.lowering = lowering = Lowering(graph, donated, checked=checked)
        lowering.linker = linker
        self.outputs = graph.outputs

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
        self.steps = steps = fuse(
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
        self.calls = {
            step: kernel_call(step, stored, views, recompute)
            for step in steps
            if isinstance(step, Loop)
        }
        self.scans = {
            step: call
            for step in steps
            if not isinstance(step, Loop)
            and isinstance(step.op, Scan)
            and (call := scan_call(step.op, compiler)) is not None
        }
        others = (step for step in steps if not isinstance(step, Loop) and step not in self.scans)
        self.inner = list(
            dict.fromkeys(inner for step in others for inner in inner_graphs(step.op, linker))
        )

    @property
    def kernels(self) -> list[AnyKernel]:
        """What is to be compiled."""
        loops: list[AnyKernel] = [call.kernel for call in self.calls.values()]
        return [*loops, *(call.kernel for call in self.scans.values())]

    def finish(
        self, native: Mapping[AnyKernel, NativeKernel], programs: Mapping[Inner, Program]
    ) -> Program:
        """The program, given the kernels and the programs of inner graphs."""
        lowering = self.lowering
        lowering.programs = programs
        for step in self.steps:
            if isinstance(step, Loop):
                lowering.run_loop(self.calls[step], native[self.calls[step].kernel])
            elif step in self.scans:
                run_scan(lowering, step, self.scans[step], native[self.scans[step].kernel])
            else:
                lowering.builder.origin(Origin((step,)))
                lower_node(step.op, step, lowering)
        return lowering.builder.finish([lowering.slot(output) for output in self.outputs])


def lower(
    graph: FrozenFunctionGraph,
    linker: RemembersPrograms,
    compiler: KernelCompiler,
    donated: Sequence[Variable] = (),
    *,
    checked: bool = False,
) -> Program:
    """The program that computes ``graph`` with the kernels of ``compiler``.

    ``donated``: inputs whose memory calls may use up. ``checked``: a kernel for each node, and runs
    that look for faults. ``linker``: whose program it is; it remembers those of inner graphs.
    """

    def plan(graph: FrozenFunctionGraph, donated: Sequence[Variable]) -> Plan:
        return Plan(graph, linker, compiler, donated, checked=checked)

    whole = plan(graph, donated)
    programs, plans = plan_inner(whole.inner, linker.inner_programs, plan)
    # Equal kernels are compiled once, and those of inner graphs with the others.
    kernels = [kernel for part in (*plans.values(), whole) for kernel in part.kernels]
    kernels = list(dict.fromkeys(kernels))
    native = dict(zip(kernels, compiler.compile(kernels), strict=True))
    for inner, part in plans.items():
        programs[inner] = linker.inner_programs[inner] = part.finish(native, programs)
    return whole.finish(native, programs)
