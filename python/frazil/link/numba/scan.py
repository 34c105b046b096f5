"""The Python text of scan kernels, as Numba compiles it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from frazil.link.kernel.loop_kernel import LoopKernel, Status
from frazil.link.kernel.scan_kernel import ScanKernel
from frazil.link.numba.source import KernelSource


class ScanSource(KernelSource):
    """One scan as the text of a Python function, and the names that the text refers to."""

    def __init__(self, kernel: ScanKernel) -> None:
        self.scan = kernel
        super().__init__(LoopKernel((), (), (), ()))

    def _lines(self) -> Iterator[str]:
        kernel = self.scan
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
        kernel = self.scan
        for k, (read, element) in enumerate(kernel.loads):
            if kernel.constant[k] is constant:
                own = kernel.reads[read].dtype
                yield f"{indent}v{k} = {self.load(own, f'p{read}', f'{element}')}"

    def _stated(self, indent: str, *, constant: bool) -> Iterator[str]:
        kernel = self.scan
        for k, statement in enumerate(kernel.statements, kernel.first_statement):
            if kernel.constant[k] is constant:
                operands = [(f"v{a}", kernel.dtypes[a]) for a in statement.args]
                *lines, value = self.apply(statement.op, operands, statement.dtype)
                yield from (f"{indent}{line}" for line in lines)
                yield f"{indent}v{k} = {value}"

    def _stored(self, dtype: str, operand: int, element: int, value: str) -> str:
        return self.store(dtype, f"p{operand}", f"{element}", value)
