"""The C text of loops of elements: functions that kernels call.

For a block of elements there are two forms. If all that a step does can be vectorised, the elements
of a block go through the steps together, and those that have ended keep what they have; else each
goes through its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from frazil.link.c.functions import C_TYPES
from frazil.link.element_loop import PATIENCE, LoopBody, LoopCall, body_of
from frazil.link.kernel import Status

if TYPE_CHECKING:
    from frazil.link.c.unit import Unit
    from frazil.scalar.loop import ScalarLoop

_MASKS = {64: "i1", 32: "i2", 16: "i4", 8: "i8"}
"""The integers of which so many fill a vector: a condition is as wide as what it chooses."""


class ElementLoop:
    """One loop in a unit, which defines what is called of it."""

    def __init__(self, unit: Unit, loop: ScalarLoop) -> None:
        self.unit = unit
        self.body: LoopBody = body_of(loop)
        body = self.body
        self.texts = [f"v{k}" for k in range(len(body.dtypes))]
        for k, literal in enumerate(body.literals, body.first_literal):
            self.texts[k] = unit.literal(literal)
        self.expressions: dict[int, str] = {}
        self.is_vector = True
        for k, own in enumerate(body.statements, body.first_statement):
            dtypes = tuple(body.dtypes[a] for a in own.args)
            form, vector = unit.form(own.op, dtypes, own.dtype)
            self.expressions[k] = form.format(*(self.texts[a] for a in own.args))
            self.is_vector = self.is_vector and vector
        self.name = f"loop_{len(unit.loops)}"
        unit.native("loop_stops", "i4", "void")

    # ------------------------------------------------------------ one element

    def call(self, operands: Sequence[str]) -> str:
        """The expression that runs the loop for one element: a struct, of results r0, r1, ..."""
        self.unit.define("".join(f"{line}\n" for line in self._element_lines()))
        return f"{self.name}({', '.join(operands)}, &status)"

    @property
    def struct(self) -> str:
        """The type of :meth:`call`."""
        return f"{self.name}_results"

    def _element_lines(self) -> Iterator[str]:
        body = self.body
        fields = "".join(f"{C_TYPES[dtype]} r{k}; " for k, dtype in enumerate(body.results))
        yield f"typedef struct {{ {fields}}} {self.struct};"
        given = (*body.states, *body.constants)
        operands = "".join(f", {C_TYPES[dtype]} v{k}" for k, dtype in enumerate(given))
        yield f"static {self.struct} {self.name}(i8 n{operands}, i4 *failed) {{"
        yield "i4 status = 0;"
        yield from self._statements(constant=True)
        if body.condition is not None:
            yield "u1 ends = 0;"
        yield from self._many_steps("n")
        yield from self._step()
        for k in range(len(body.states)):
            yield f"v{k} = n{k};"
        if body.condition is not None:
            yield "if (ends) break;"
        yield "}"
        yield from self._ask("n", "ends" if body.condition is not None else None)
        results = [f"v{k}" for k in range(len(body.states))]
        results += ["ends"] * (body.condition is not None)
        yield f"return ({self.struct}){{{', '.join(results)}}};"
        yield "}"

    @staticmethod
    def _many_steps(count: str) -> Iterator[str]:
        """Begin the loop over all steps, and that over the steps between which nobody asks whether
        to stop: beside a call nothing would stay in registers.
        """
        yield f"for (i8 step = 0; step < {count};) {{"
        yield f"const i8 pause = {count} - step > {PATIENCE} ? step + {PATIENCE} : {count};"
        yield "for (; step < pause; ++step) {"

    @staticmethod
    def _ask(count: str, ended: str | None) -> Iterator[str]:
        """Look whether to stop, where there are steps left, and end the loop over all steps."""
        if ended is not None:
            yield f"if ({ended}) break;"
        yield f"if (step < {count} && loop_stops()) {{"
        yield f"status = {Status.STOPPED:d};"
        yield "break;"
        yield "}"
        yield "}"
        yield "if (status) *failed = status;"

    def _statements(self, *, constant: bool) -> Iterator[str]:
        body = self.body
        for k, own in enumerate(body.statements, body.first_statement):
            if body.constant[k] is constant:
                yield f"const {C_TYPES[own.dtype]} v{k} = {self.expressions[k]};"

    def _step(self) -> Iterator[str]:
        """What a step makes of v0, v1, ...: n0, n1, ..., and ends."""
        body = self.body
        yield from self._statements(constant=False)
        for k, (dtype, value) in enumerate(zip(body.states, body.nexts, strict=True)):
            yield f"const {C_TYPES[dtype]} n{k} = {self.texts[value]};"
        if body.condition is not None:
            yield f"ends = {self.texts[body.condition]};"

    # ------------------------------------------------------------ a block of elements

    def block(self, lanes: int, results: Sequence[int], *, same_count: bool) -> str:
        """The function for a block: of the number of steps, or those of each element, an array of
        each other operand, and an array to write to for each of ``results``.
        """
        kind = "same" if same_count else "each"
        name = f"{self.name}_{lanes}_{kind}_{'_'.join(map(str, results))}"
        if name not in self.unit.definitions:
            body = self.body
            given = (*body.states, *body.constants)
            count = "i8 n" if same_count else "const i8 *restrict n"
            operands = [f"const {C_TYPES[dtype]} *restrict x{k}" for k, dtype in enumerate(given)]
            written = [f"{C_TYPES[body.results[k]]} *restrict r{k}" for k in results]
            arguments = ", ".join([count, *operands, *written, "i4 *failed"])
            lines = self._together if self.is_vector else self._one_by_one
            inside = "".join(f"{line}\n" for line in lines(lanes, results, same_count))
            self.unit.definitions[name] = f"static void {name}({arguments}) {{\n{inside}}}\n"
        return name

    def _one_by_one(self, lanes: int, results: Sequence[int], same_count: bool) -> Iterator[str]:
        given = (*self.body.states, *self.body.constants)
        operands = ["n" if same_count else "n[l]", *(f"x{k}[l]" for k in range(len(given)))]
        yield "i4 status = 0;"
        yield f"for (i4 l = 0; l < {lanes}; ++l) {{"
        yield f"const {self.struct} made = {self.call(operands)};"
        for k in results:
            yield f"r{k}[l] = made.r{k};"
        yield "}"
        yield "if (status) *failed = status;"

    def _together(self, lanes: int, results: Sequence[int], same_count: bool) -> Iterator[str]:
        body = self.body
        each = f"for (i4 l = 0; l < {lanes}; ++l) {{"
        masked = body.condition is not None or not same_count
        hoisted = [k for k in range(len(body.dtypes)) if self._is_hoisted(k)]
        mask = _MASKS.get(lanes, "i4")
        yield "i4 status = 0;"
        for k, dtype in enumerate(body.states):
            yield f"ALIGNED {C_TYPES[dtype]} s{k}[{lanes}];"
        for k in hoisted:
            yield f"ALIGNED {C_TYPES[body.dtypes[k]]} c{k}[{lanes}];"
        if body.condition is not None:
            yield f"ALIGNED {mask} ended[{lanes}];"
        if masked:
            yield f"ALIGNED {mask} live[{lanes}];"
        yield "i8 most = 0;" if not same_count else "const i8 most = n;"
        yield "#pragma omp simd reduction(max:most)" if not same_count else "#pragma omp simd"
        yield each
        for k in range(len(body.states)):
            yield f"s{k}[l] = x{k}[l];"
        yield from self._loads(constants_only=True)
        yield from self._statements(constant=True)
        for k in hoisted:
            yield f"c{k}[l] = v{k};"
        if body.condition is not None:
            yield "ended[l] = 0;"
        if not same_count:
            yield "live[l] = n[l] > 0;"
            yield "most = n[l] > most ? n[l] : most;"
        elif masked:
            yield "live[l] = n > 0;"
        yield "}"
        if masked:
            yield f"{mask} any = 0;"
        yield from self._many_steps("most")
        if masked:
            yield "any = 0;"
        yield "#pragma omp simd reduction(|:any)" if masked else "#pragma omp simd"
        yield each
        yield from self._loads(constants_only=False)
        for k in hoisted:
            yield f"const {C_TYPES[body.dtypes[k]]} v{k} = c{k}[l];"
        if body.condition is not None:
            yield "u1 ends;"
        yield from self._step()
        if masked:
            yield f"const {mask} goes = live[l];"
        for k in range(len(body.states)):
            yield f"s{k}[l] = goes ? n{k} : v{k};" if masked else f"s{k}[l] = n{k};"
        if masked:
            stays = "goes"
            if body.condition is not None:
                yield f"const {mask} stops = ends ? 1 : 0;"
                yield "ended[l] |= goes & stops;"
                stays += " & (stops ^ 1)"
            if not same_count:
                yield f"const {mask} more = step + 1 < n[l] ? 1 : 0;"
                stays += " & more"
            yield f"const {mask} stay = {stays};"
            yield "live[l] = stay;"
            yield "any |= stay;"
        yield "}"
        if masked:
            yield "if (!any) break;"
        yield "}"
        yield from self._ask("most", "!any" if masked else None)
        yield "#pragma omp simd"
        yield each
        for k in results:
            yield f"r{k}[l] = {f's{k}[l]' if k < len(body.states) else 'ended[l] != 0'};"
        yield "}"

    def _is_hoisted(self, k: int) -> bool:
        """Whether a value is computed before the steps and used in them."""
        body = self.body
        if k < body.first_statement or not body.constant[k]:
            return False
        used = [
            a
            for at, own in enumerate(body.statements, body.first_statement)
            if not body.constant[at]
            for a in own.args
        ]
        return k in (*used, *body.nexts, body.condition)

    def _loads(self, *, constants_only: bool) -> Iterator[str]:
        body = self.body
        for k, dtype in enumerate((*body.states, *body.constants)):
            if k >= len(body.states):
                yield f"const {C_TYPES[dtype]} v{k} = x{k}[l];"
            elif not constants_only:
                yield f"const {C_TYPES[dtype]} v{k} = s{k}[l];"


def call_lines(
    unit: Unit, call: LoopCall, k: int, texts: Sequence[str], dtypes: Sequence[str]
) -> Iterator[str]:
    """The lines by which value ``k`` of a kernel is a result of a loop, for one element.

    The loop runs at the first of its results. ``texts`` and ``dtypes`` are those of all values.
    """
    loop, first = unit.loop(call.loop), call.numbers[0]
    if k == first:
        operands = [
            unit.convert(texts[a], dtypes[a], to)
            for a, to in zip(call.args, call.operands, strict=True)
        ]
        yield f"const {loop.struct} g{k} = {loop.call(operands)};"
    result = call.results[call.numbers.index(k)]
    yield f"const {C_TYPES[dtypes[k]]} v{k} = g{first}.r{result};"
