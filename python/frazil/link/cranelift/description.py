"""Kernels as texts for the code generator of the extension, a line for each part.

A text depends neither on the machine nor on the process.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from frazil.link.kernel.loop_kernel import (
    Cumulate,
    Literal,
    LoopKernel,
    LoweringError,
    RowFold,
    Statement,
    Take,
)
from frazil.link.kernel.passes import Pass, plan
from frazil.link.kernel.scalar_loop import ScalarLoopBody, body_of
from frazil.link.kernel.scan_kernel import AnyKernel, ScanKernel
from frazil.link.toolchain.symbols import OF_SCIPY
from frazil.scalar.loop import ScalarLoop, loop_result
from frazil.scalar.op import ScalarOp
from frazil.scalar.scipy_functions import ARITIES


def describe(kernel: AnyKernel) -> str:
    """The text of a kernel.

    Examples
    --------
    >>> from frazil.link.cranelift.description import describe
    >>> from frazil.link.kernel.loop_kernel import LoopKernel, Read, Statement, Write
    >>> from frazil.scalar import exp
    >>> vector = Read("float64", inner=True)
    >>> statement = Statement(exp, (0,), "float64")
    >>> print(describe(LoopKernel((vector,), (), (statement,), (Write(1, "float64", True, None),))))
    loop 8 0
    read float64 1
    op exp float64 float64 0
    write 1 float64 1 -
    pass
    varying 1
    reads 0
    writes 0
    """
    lines = _loop(kernel) if isinstance(kernel, LoopKernel) else _scan(kernel)
    return "\n".join(lines)


def _loop(kernel: LoopKernel) -> Iterator[str]:
    passes = plan(kernel)
    yield f"loop {kernel.lanes} {kernel.takes_rows:d}"
    loops = _Loops(kernel.statements)
    yield from loops.lines
    for read in kernel.reads:
        yield f"read {read.dtype} {read.inner:d}"
    for source in kernel.sources:
        yield f"source {source.dtype} {source.inner:d} {source.indices}"
    yield from map(_literal, kernel.literals)
    dtypes = kernel.dtypes
    for own in kernel.statements:
        match own:
            case Statement():
                yield loops.statement(own, dtypes)
            case Take():
                yield f"take {own.source} {own.dtype} {_numbers(own.args)}"
            case Cumulate():
                yield f"cumulate {own.dtype} {own.reduce} {_numbers(own.args)}"
            case RowFold():
                yield f"fold {own.dtype} {own.reduce} {own.start} {own.arg}"
    for write in kernel.writes:
        yield f"write {write.value} {write.dtype} {write.inner:d} {write.reduce or '-'}"
    for put in kernel.puts:
        reduce = put.reduce or "-"
        yield f"put {put.value} {put.dtype} {put.inner:d} {reduce} {_numbers(put.args)}"
    if passes.buffers:
        yield f"buffers {_numbers(passes.buffers)}"
    for one in passes.passes:
        yield from _pass(one)


def _pass(one: Pass) -> Iterator[str]:
    yield "pass"
    for name in ("uniform", "varying", "reads", "loads", "stores", "folds", "writes", "puts"):
        if numbers := getattr(one, name):
            yield f"{name} {_numbers(numbers)}"


def _scan(kernel: ScanKernel) -> Iterator[str]:
    yield "scan"
    loops = _Loops(kernel.statements)
    yield from loops.lines
    for read in kernel.reads:
        yield f"read {read.dtype} {read.size} {read.walks:d}"
    for place, element in kernel.loads:
        yield f"load {place} {element}"
    yield from map(_literal, kernel.literals)
    for state in kernel.states:
        yield f"state {state.dtype} {state.start} {state.next}"
    dtypes = kernel.dtypes
    for k, own in enumerate(kernel.statements, kernel.first_statement):
        yield loops.statement(own, dtypes, same=kernel.constant[k])
    for write in kernel.writes:
        yield f"write {write.dtype} {write.walks:d} {_numbers(write.values)}"
    if kernel.condition is not None:
        yield f"condition {kernel.condition}"


class _Loops:
    """The loops that elements go through, among some statements, each with a number."""

    def __init__(self, statements: Iterable[object]) -> None:
        self._ops: dict[tuple[ScalarOp, tuple[str, ...], str], str] = {}
        # For each op the loop that it is a result of, and which one.
        self._parts: dict[ScalarOp, tuple[ScalarLoop, int] | None] = {}
        self.numbers: dict[ScalarLoop, int] = {}
        self.lines: list[str] = []
        for own in statements:
            if not isinstance(own, Statement) or own.op in self._parts:
                continue
            part = self._part(own.op)
            if part is not None and part[0] not in self.numbers:
                self.numbers[part[0]] = len(self.numbers)
                self.lines += self._body(body_of(part[0]))

    def _part(self, op: ScalarOp) -> tuple[ScalarLoop, int] | None:
        if op not in self._parts:
            self._parts[op] = loop_result(op)
        return self._parts[op]

    def _body(self, body: ScalarLoopBody) -> Iterator[str]:
        yield f"body {','.join(body.states) or '-'} {','.join(body.constants) or '-'}"
        yield from map(_literal, body.literals)
        for k, own in enumerate(body.statements, body.first_statement):
            yield self.statement(own, body.dtypes, same=body.constant[k])
        yield f"nexts {_numbers(body.nexts)}"
        if body.condition is not None:
            yield f"condition {body.condition}"
        yield "end"

    def statement(self, own: Statement, dtypes: Sequence[str], *, same: bool = False) -> str:
        """The line of a statement; ``same``: it has the same value in all steps."""
        op, args, result = own
        part = self._parts[op] if op in self._parts else self._part(op)
        numbers = " ".join(map(str, args))
        if part is not None:
            word = "same_result" if same else "result"
            return f"{word} {self.numbers[part[0]]} {part[1]} {numbers}"
        given = tuple([dtypes[a] for a in args])
        text = self._ops.get((op, given, result))
        if text is None:
            text = self._ops[op, given, result] = _op(op, given, result)
        return f"same {text} {numbers}" if same else f"op {text} {numbers}"


def _op(op: ScalarOp, dtypes: tuple[str, ...], result: str) -> str:
    """An op, the dtype of its result and those that its operands are converted to."""
    if op.table_name is None:
        raise LoweringError(f"the code generator does not know {op}")
    return f"{op.table_name} {result} {','.join(op.operand_dtypes(dtypes, result))}"


def _literal(literal: Literal) -> str:
    own = np.dtype(literal.dtype)
    bits = int.from_bytes(own.type(literal.value).tobytes(), "little")
    return f"literal {literal.dtype} {bits:x}"


def _numbers(numbers: Iterable[int]) -> str:
    return " ".join(map(str, numbers))


_OF_SCIPY = frozenset((*ARITIES, "log_ndtr"))


def scipy_functions(text: str) -> set[str]:
    """The functions of SciPy that the kernel of a text calls."""
    if _OF_SCIPY.isdisjoint(text.split(" ")):
        return set()  # most texts, found without a look at each line
    words = {
        line.split(" ", 2)[1] for line in text.splitlines() if line.startswith(("op ", "same "))
    }
    if "log_ndtr" in words:
        words.add("erfcx")
    return {f"{OF_SCIPY}{word}" for word in words if word in ARITIES}
