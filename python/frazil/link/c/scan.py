"""The C function of a whole scan whose steps work on a few numbers."""

from __future__ import annotations

from collections.abc import Iterator

from frazil.link.c import syntax as c
from frazil.link.c.definitions import load, place
from frazil.link.c.functions import C_TYPES
from frazil.link.c.unit import Unit
from frazil.link.c.values import results_of
from frazil.link.kernel.loop_kernel import Status
from frazil.link.kernel.scalar_loop import scalar_loop_calls
from frazil.link.kernel.scan_kernel import ScanKernel, ScanWrite


def add_scan(unit: Unit, name: str, kernel: ScanKernel) -> None:
    """Append a kernel to the unit as the function ``name``."""
    unit.add(_ScanWriter(unit, kernel).function(name))


class _ScanWriter:
    """Writes one kernel."""

    def __init__(self, unit: Unit, kernel: ScanKernel) -> None:
        self.unit = unit
        self.kernel = kernel
        self.n_reads = len(kernel.reads)
        self.texts = [f"v{k}" for k in range(len(kernel.dtypes))]
        self.texts[kernel.first_literal : kernel.first_state] = unit.literals(
            kernel.literals, kernel.first_literal, kernel.statements
        )
        self.calls = scalar_loop_calls(dict(enumerate(kernel.statements, kernel.first_statement)))

    def function(self, name: str) -> c.Function:
        """The function of the kernel."""
        kernel = self.kernel
        counted = kernel.counts_steps()
        n_pointers = self.n_reads + len(kernel.writes) + counted
        steps = place("int64", f"p{n_pointers - 1}", 0)
        return c.Function(
            "i4",
            name,
            ("char *const *ptr", "i8 steps", "i8 one", "const i8 *stride"),
            [
                c.Declare("i4", "status", "0"),
                *(c.Declare("char", f"*p{k}", f"ptr[{k}]") for k in range(n_pointers)),
                *self._computed(constant=True),
                *self._first_states(),
                c.Declare("i8", "step", "0"),
                c.For("", "step < steps", "++step", [*self._step()]),
                *self._written(walks=False),
                *([c.Assign(steps, "step")] if counted else []),
                c.Return("status"),
            ],
        )

    def _first_states(self) -> Iterator[c.Statement]:
        kernel = self.kernel
        for k, state in enumerate(kernel.states, kernel.first_state):
            yield c.Declare(C_TYPES[state.dtype], f"v{k}", self.texts[state.start])

    def _step(self) -> Iterator[c.Statement]:
        """The body of the loop over the steps."""
        kernel = self.kernel
        yield from self._computed(constant=False)
        yield from self._written(walks=True)
        for k, state in enumerate(kernel.states):
            yield c.Const(C_TYPES[state.dtype], f"n{k}", self.texts[state.next])
        if kernel.condition is not None:
            yield c.Const("u1", "ends", self.texts[kernel.condition])
        for k in range(len(kernel.states)):
            yield c.Assign(f"v{kernel.first_state + k}", f"n{k}")
        for k, walks in enumerate(kernel.walks):
            if walks:
                yield c.Assign(f"p{k}", f"stride[{k}]", "+=")
        if kernel.condition is not None:
            status = c.Assign("status", f"status ? status : {Status.ENDED:d}")
            yield c.If("ends", [c.Do("++step"), status, c.Break()])

    def _computed(self, *, constant: bool) -> Iterator[c.Statement]:
        """The loads and statements that are constant, or those that each step computes."""
        kernel = self.kernel
        for k, (read, element) in enumerate(kernel.loads):
            if kernel.constant[k] is constant:
                own = kernel.reads[read].dtype
                yield c.Const(C_TYPES[own], f"v{k}", load(own, f"p{read}", element))
        for k, statement in enumerate(kernel.statements, kernel.first_statement):
            if kernel.constant[k] is not constant:
                continue
            if k in self.calls:
                yield from results_of(self.unit, self.calls[k], k, self.texts, kernel.dtypes)
                continue
            expression = self.unit.step_expression(statement, kernel.dtypes)
            value = expression.text.format(*[self.texts[a] for a in statement.args])
            yield c.Const(C_TYPES[statement.dtype], f"v{k}", value)

    def _written(self, *, walks: bool) -> Iterator[c.Statement]:
        """The writes of each step, or those after the last."""
        for k, write in enumerate(self.kernel.writes, self.n_reads):
            if write.walks is walks:
                yield from self._row(k, write)

    def _row(self, k: int, write: ScanWrite) -> Iterator[c.Statement]:
        for element, value in enumerate(write.values):
            yield c.Assign(place(write.dtype, f"p{k}", element), self.texts[value])
