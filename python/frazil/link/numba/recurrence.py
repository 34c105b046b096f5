"""The Python text of recurrence kernels, as Numba compiles it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from frazil.link.kernel import LoopKernel, Status
from frazil.link.numba.blocks import LONG, Call, Function, block, param
from frazil.link.numba.source import KernelSource
from frazil.link.recurrence import RecurrenceKernel
from frazil.scalar.op import ScalarOp


class RecurrenceSource(KernelSource):
    """One recurrence as the text of a Python function, and the names that the text refers to."""

    def __init__(self, kernel: RecurrenceKernel) -> None:
        self.recurrence = kernel
        self.functions: dict[tuple[ScalarOp, tuple[str, ...], str], Function] = {}
        """Ops as functions, by op and dtypes."""
        self.called: dict[Function, None] = {}
        """Those that blocks call."""
        self.compiled: dict[Function, Any] = {}
        """What is known of these once they are compiled, which is before the kernel is."""
        self.blocks = 0
        super().__init__(LoopKernel((), (), (), ()))

    def _lines(self) -> Iterator[str]:
        kernel = self.recurrence
        n_reads = len(kernel.reads)
        yield "def kernel(pointers, steps, one, strides):"
        yield "    status = int32(0)"
        for k in range(n_reads + len(kernel.writes) + kernel.counts_steps()):
            yield f"    p{k} = pointers[{k}]"
        for k, literal in enumerate(kernel.literals, kernel.first_literal):
            value = np.dtype(literal.dtype).type(literal.value).item()
            text = self._global(f"c{k}", value) if isinstance(value, float) else repr(value)
            yield f"    v{k} = {literal.dtype}({text})"
        yield from self._loaded("    ", constant=True)
        yield from self._stated("    ", constant=True)
        for k, state in enumerate(kernel.states, kernel.first_state):
            yield f"    v{k} = v{state.start}"
        yield "    done = int64(0)"
        yield "    for step in range(steps):"
        yield from self._loaded("        ", constant=False)
        yield from self._stated("        ", constant=False)
        for k, write in enumerate(kernel.writes, n_reads):
            if write.walks:
                for element, value in enumerate(write.values):
                    yield f"        {self._stored(write.dtype, k, element, f'v{value}')}"
        for k, state in enumerate(kernel.states):
            yield f"        n{k} = v{state.next}"
        if kernel.condition is not None:
            yield f"        ends = v{kernel.condition}"
        for k in range(len(kernel.states)):
            yield f"        v{kernel.first_state + k} = n{k}"
        for k, walks in enumerate(kernel.walks):
            if walks:
                yield f"        p{k} = advance(p{k}, strides[{k}])"
        yield "        done = step + 1"
        if kernel.condition is not None:
            yield "        if ends:"
            yield "            if status == 0:"
            yield f"                status = int32({Status.ENDED:d})"
            yield "            break"
        for k, write in enumerate(kernel.writes, n_reads):
            if not write.walks:
                for element, value in enumerate(write.values):
                    yield f"    {self._stored(write.dtype, k, element, f'v{value}')}"
        if kernel.counts_steps():
            yield f"    {self._stored('int64', n_reads + len(kernel.writes), 0, 'done')}"
        yield "    return status"

    def _loaded(self, indent: str, *, constant: bool) -> Iterator[str]:
        kernel = self.recurrence
        for k, (read, element) in enumerate(kernel.loads):
            if kernel.constant[k] is constant:
                own = kernel.reads[read].dtype
                yield f"{indent}v{k} = {self._load(own, f'p{read}', f'{element}')}"

    def _stated(self, indent: str, *, constant: bool) -> Iterator[str]:
        kernel = self.recurrence
        run: list[int] = []
        for k in range(len(kernel.statements)):
            if kernel.constant[kernel.first_statement + k] is not constant:
                continue
            if self._can_fail(k):
                yield from self._run(indent, run)
                run = []
                yield from self._plain(indent, k)
            else:
                run.append(k)
        yield from self._run(indent, run)

    def _can_fail(self, k: int) -> bool:
        return any(re.search(r"\bstatus\b", line) for line in self._function(k).lines)

    def _function(self, k: int) -> Function:
        """The op of a statement as a function."""
        kernel = self.recurrence
        statement = kernel.statements[k]
        dtypes = tuple(kernel.dtypes[a] for a in statement.args)
        key = (statement.op, dtypes, statement.dtype)
        if key not in self.functions:
            operands = [(param(at), dtype) for at, dtype in enumerate(dtypes)]
            lines = self.apply(statement.op, operands, statement.dtype)
            name = f"f{len(self.functions)}"
            self.functions[key] = Function(name, tuple(lines), dtypes, statement.dtype)
        return self.functions[key]

    def _plain(self, indent: str, k: int) -> Iterator[str]:
        kernel = self.recurrence
        statement = kernel.statements[k]
        operands = [(f"v{a}", kernel.dtypes[a]) for a in statement.args]
        *lines, value = self.apply(statement.op, operands, statement.dtype)
        yield from (f"{indent}{line}" for line in lines)
        yield f"{indent}v{kernel.first_statement + k} = {value}"

    def _run(self, indent: str, run: Sequence[int]) -> Iterator[str]:
        """Statements one after the other, as a block if these are many."""
        if len(run) < LONG:
            for k in run:
                yield from self._plain(indent, k)
            return
        kernel = self.recurrence
        first = kernel.first_statement
        own = {first + k for k in run}
        calls = [Call(first + k, self._function(k), kernel.statements[k].args) for k in run]
        self.called.update(dict.fromkeys(call.function for call in calls))
        inputs = list(dict.fromkeys(a for call in calls for a in call.args if a not in own))
        elsewhere = {value for write in kernel.writes for value in write.values}
        elsewhere.update(state.next for state in kernel.states)
        elsewhere.update(state.start for state in kernel.states)
        for k, statement in enumerate(kernel.statements, first):
            if k not in own:
                elsewhere.update(statement.args)
        if kernel.condition is not None:
            elsewhere.add(kernel.condition)
        outputs = sorted(own & elsewhere)
        name = self._global(f"b{self.blocks}", block(calls, inputs, outputs, self.compiled))
        self.blocks += 1
        given, made = ("".join(f"v{value}, " for value in of) for of in (inputs, outputs))
        yield f"{indent}{made}= {name}(({given}))"

    def _stored(self, dtype: str, operand: int, element: int, value: str) -> str:
        return self._store(dtype, f"p{operand}", f"{element}", value)
