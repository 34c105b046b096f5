"""The C text of recurrence kernels."""

from __future__ import annotations

from collections.abc import Iterator

from frazil.link.c.element_loop import call_lines
from frazil.link.c.functions import C_TYPES
from frazil.link.c.unit import Unit, literal_text, load, store
from frazil.link.element_loop import loop_calls
from frazil.link.kernel import Status
from frazil.link.recurrence import RecurrenceKernel


def add_recurrence(unit: Unit, name: str, kernel: RecurrenceKernel) -> None:
    """Append a kernel to the unit as the function ``name``."""
    unit.kernels.append("".join(f"{line}\n" for line in _lines(unit, name, kernel)))


def _lines(unit: Unit, name: str, kernel: RecurrenceKernel) -> Iterator[str]:
    texts = [f"v{k}" for k in range(len(kernel.dtypes))]
    for k, literal in enumerate(kernel.literals, kernel.first_literal):
        texts[k] = literal_text(literal)
    n_reads = len(kernel.reads)
    calls = loop_calls(dict(enumerate(kernel.statements, kernel.first_statement)))

    def loads(*, constant: bool) -> Iterator[str]:
        for k, (read, element) in enumerate(kernel.loads):
            if kernel.constant[k] is constant:
                own = kernel.reads[read].dtype
                yield f"const {C_TYPES[own]} v{k} = {load(own, f'p{read}', element)};"

    def statements(*, constant: bool) -> Iterator[str]:
        for k, statement in enumerate(kernel.statements, kernel.first_statement):
            if kernel.constant[k] is constant and k in calls:
                yield from call_lines(unit, calls[k], k, texts, kernel.dtypes)
            elif kernel.constant[k] is constant:
                operands = [(texts[a], kernel.dtypes[a]) for a in statement.args]
                value = unit.apply(statement.op, operands, statement.dtype)
                yield f"const {C_TYPES[statement.dtype]} v{k} = {value};"

    yield f"i4 {name}(char *const *ptr, i8 steps, i8 one, const i8 *stride) {{"
    yield "i4 status = 0;"
    for k in range(n_reads + len(kernel.writes) + kernel.counts_steps()):
        yield f"char *p{k} = ptr[{k}];"
    yield from loads(constant=True)
    yield from statements(constant=True)
    for k, state in enumerate(kernel.states, kernel.first_state):
        yield f"{C_TYPES[state.dtype]} v{k} = {texts[state.start]};"
    yield "i8 step = 0;"
    yield "for (; step < steps; ++step) {"
    yield from loads(constant=False)
    yield from statements(constant=False)
    for k, write in enumerate(kernel.writes, n_reads):
        if write.walks:
            for element, value in enumerate(write.values):
                yield store(write.dtype, f"p{k}", element, texts[value])
    for k, state in enumerate(kernel.states):
        yield f"const {C_TYPES[state.dtype]} n{k} = {texts[state.next]};"
    if kernel.condition is not None:
        yield f"const u1 ends = {texts[kernel.condition]};"
    for k in range(len(kernel.states)):
        yield f"v{kernel.first_state + k} = n{k};"
    for k, walks in enumerate(kernel.walks):
        if walks:
            yield f"p{k} += stride[{k}];"
    if kernel.condition is not None:
        yield f"if (ends) {{ ++step; status = status ? status : {Status.ENDED:d}; break; }}"
    yield "}"
    for k, write in enumerate(kernel.writes, n_reads):
        if not write.walks:
            for element, value in enumerate(write.values):
                yield store(write.dtype, f"p{k}", element, texts[value])
    if kernel.counts_steps():
        yield store("int64", f"p{n_reads + len(kernel.writes)}", 0, "step")
    yield "return status;"
    yield "}"
