"""From a graph to a program: cut into segments, compile the kernels, write the instructions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from frazil._core import FrozenFunctionGraph, Program, Variable
from frazil.link.fusion.alignment import has_complex, has_stored
from frazil.link.fusion.fused_loop import FusedLoop
from frazil.link.fusion.registry import Fusion
from frazil.link.fusion.segments import Segmentation
from frazil.link.kernel.compiler import KernelCompiler, NativeKernel
from frazil.link.kernel.scan_kernel import AnyKernel
from frazil.link.lowering.inner import Inner, RemembersPrograms, inner_graphs, plan_inner
from frazil.link.lowering.loop_kernels import kernel_calls
from frazil.link.lowering.moves import moves
from frazil.link.lowering.node import call_op, lower_node
from frazil.link.lowering.origin import Origin
from frazil.link.lowering.presumed_scans import presumed_scan
from frazil.link.lowering.scan import run_presumed, run_scan
from frazil.link.lowering.scan_kernels import scan_call
from frazil.link.lowering.shared_kernels import share_kernels
from frazil.link.lowering.state import Lowering
from frazil.scan.op import Scan


class Plan:
    """A graph cut into segments, with its kernels, which are not compiled yet."""

    def __init__(
        self,
        graph: FrozenFunctionGraph,
        compiler: KernelCompiler,
        fusion: Fusion,
        donated: Sequence[Variable],
        *,
        checked: bool,
        settled: set[FrozenFunctionGraph],
    ) -> None:
        self.cut = cut = Segmentation(graph, fusion, donated)
        self.lowering = Lowering(graph, cut, donated, checked=checked)
        self.outputs = graph.outputs
        self.calls = share_kernels(kernel_calls(cut))
        nodes = [part.task for part in cut.segments if not isinstance(part.task, FusedLoop)]
        # A checked run goes step by step, so that it can name the step and the node in it.
        scans = [] if checked else [node for node in nodes if isinstance(node.op, Scan)]
        self.scans = {
            node: call for node in scans if (call := scan_call(node.op, compiler)) is not None
        }
        others = [node for node in scans if node not in self.scans]
        self.presumed = {
            node: presumed
            for node in ([] if graph in settled else others)
            if (presumed := presumed_scan(node, cut.shapes, compiler)) is not None
        }
        # Their scans are what is left to be done otherwise.
        settled.update(presumed.written for presumed in self.presumed.values())
        wanted: list[Inner] = []
        for node in nodes:
            if node in self.presumed:
                wanted += self.presumed[node].inner
            elif node not in self.scans:
                wanted += inner_graphs(node.op)
        self.inner = list(dict.fromkeys(wanted))

    @property
    def kernels(self) -> list[AnyKernel]:
        """The kernels to compile."""
        loops: list[AnyKernel] = [
            kernel
            for call in self.calls.values()
            for kernel in (call.kernel, call.short)
            if kernel is not None
        ]
        return [*loops, *(call.kernel for call in self.scans.values())]

    def finish(
        self, native: Mapping[AnyKernel, NativeKernel], programs: Mapping[Inner, Program]
    ) -> Program:
        """The program, made with the compiled kernels and the programs of inner graphs."""
        lowering = self.lowering
        lowering.programs = programs
        for segment in self.cut.segments:
            task = segment.task
            if isinstance(task, FusedLoop):
                call = self.calls[segment]
                short = None if call.short is None else native[call.short]
                lowering.run_loop(call, native[call.kernel], short)
            elif task in self.scans:
                run_scan(lowering, task, self.scans[task], native[self.scans[task].kernel])
            elif task in self.presumed:
                run_presumed(lowering, task, self.presumed[task])
            else:
                lowering.builder.origin(Origin((task,)))
                is_foreign = has_complex(task) or (has_stored(task) and not moves(task.op))
                lower = call_op if is_foreign else lower_node
                lower(task.op, task, lowering)
        return lowering.builder.finish([lowering.slot(output) for output in self.outputs])


def lower(
    graph: FrozenFunctionGraph,
    linker: RemembersPrograms,
    compiler: KernelCompiler,
    fusion: Fusion,
    donated: Sequence[Variable] = (),
    *,
    checked: bool = False,
) -> Program:
    """The program that computes ``graph``, cut by ``fusion``, with the kernels of ``compiler``.

    ``donated`` are the inputs whose memory calls may use up. Runs of a ``checked`` program look
    for faults. ``linker`` remembers the programs of inner graphs.
    """

    settled: set[FrozenFunctionGraph] = set()

    def plan(graph: FrozenFunctionGraph, donated: Sequence[Variable]) -> Plan:
        return Plan(graph, compiler, fusion, donated, checked=checked, settled=settled)

    whole = plan(graph, donated)
    programs, plans = plan_inner(whole.inner, linker.inner_programs, plan)
    # All kernels are compiled together, with those of inner graphs, and equal ones once.
    kernels = _kernels(whole, plans)
    native = dict(zip(kernels, compiler.compile(kernels), strict=True))
    for inner, part in plans.items():
        programs[inner] = linker.inner_programs[inner] = part.finish(native, programs)
    return whole.finish(native, programs)


def kernels_of(
    graph: FrozenFunctionGraph,
    compiler: KernelCompiler,
    fusion: Fusion,
    donated: Sequence[Variable] = (),
) -> list[AnyKernel]:
    """The kernels that :func:`lower` compiles for ``graph`` and all its inner graphs."""

    settled: set[FrozenFunctionGraph] = set()

    def plan(graph: FrozenFunctionGraph, donated: Sequence[Variable]) -> Plan:
        return Plan(graph, compiler, fusion, donated, checked=False, settled=settled)

    whole = plan(graph, donated)
    return _kernels(whole, plan_inner(whole.inner, {}, plan)[1])


def _kernels(whole: Plan, plans: Mapping[Inner, Plan]) -> list[AnyKernel]:
    """The kernels of a plan and of its inner graphs, each once."""
    kernels = (kernel for part in (*plans.values(), whole) for kernel in part.kernels)
    return list(dict.fromkeys(kernels))
