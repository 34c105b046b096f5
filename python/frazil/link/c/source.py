"""The C text of loop kernels.

A kernel walks its inner dimension in blocks of a fixed number of lanes. The loop over the lanes of
a block is the only one that the compiler has to vectorise, and since its length is known there is
no remainder loop: what is left at the end is copied to the stack, padded with its last element, and
goes through the same code. So an element's value never depends on where in an array it stands, and
half of the code that a vectoriser makes of an open loop, and half of its time, is saved.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from frazil.link.c.functions import (
    BUILTINS,
    C_TYPES,
    POINTERS,
    PRELUDE,
    SCALAR_MATH,
    VECTOR_SINCE,
    helper_for,
)
from frazil.link.kernel import Literal, LoopKernel, LoweringError, Write
from frazil.link.reduction import (
    COUNTING,
    LEVELS,
    SETS,
    TURNS,
    has_levels,
    identity,
    is_fold,
)
from frazil.scalar.elementary import Elementary
from frazil.scalar.op import ScalarOp, lowering_for

_DTYPES: Mapping[str, str] = {code: dtype for dtype, code in C_TYPES.items()}

# These are not worth vectorising: being cold tells the compiler to spend no time on them.
_PAD = """\
static COLD void pad{n}(void *to, const void *from, i8 count, i8 lanes) {{
  for (i8 k = 0; k < lanes; ++k) ((u{n} *)to)[k] = ((const u{n} *)from)[k < count ? k : count - 1];
}}
"""
_COPY = """\
static COLD void copy{n}(void *to, const void *from, i8 count) {{
  for (i8 k = 0; k < count; ++k) ((u{n} *)to)[k] = ((const u{n} *)from)[k];
}}
"""

_FILL = """\
static COLD void fill_{T}({T} *a, i8 count, {T} value) {{
  for (i8 k = 0; k < count; ++k) a[k] = value;
}}
"""
_CARRY = """\
static COLD void carry_{T}({T} *a, i8 turn, i8 width) {{
  for (i4 level = 1; level < {levels}; ++level, a += width, turn /= {turns}) {{
    for (i8 k = 0; k < width; ++k) {{ a[k + width] += a[k]; a[k] = -0.0; }}
    if (turn % {turns} != 0) return;
  }}
}}
"""
_FOLD = """\
static COLD {T} fold_{name}_{T}({T} *a, i8 count) {{
  for (i8 half = count / 2; half > 0; half /= 2)
    for (i8 k = 0; k < half; ++k) a[k] = {folded};
  return a[0];
}}
"""


@dataclass
class Unit:
    """One translation unit: kernels, and before them what they call."""

    vector_functions: frozenset[str]
    definitions: dict[str, str] = field(default_factory=dict)
    kernels: list[str] = field(default_factory=list)
    pointers: dict[str, str] = field(default_factory=dict)
    vectorisable: dict[str, bool] = field(default_factory=dict)
    _forms: dict[tuple[ScalarOp, tuple[str, ...], str], tuple[str, bool]] = field(
        default_factory=dict
    )

    def text(self) -> str:
        return "".join((PRELUDE, *self.definitions.values(), *self.kernels))

    def add(self, name: str, kernel: LoopKernel) -> None:
        """Append a kernel as the function ``name``."""
        self.kernels.append(_KernelWriter(self, kernel, name).text())

    def function(self, name: str, dtype: str) -> str:
        """The C name of a function for operands of ``dtype``; the unit defines or declares it."""
        code = C_TYPES[dtype]
        suffix = "f" if dtype == "float32" else ""
        if name in BUILTINS:
            return self._known(f"__builtin_{name}{suffix}", "", vector=True)
        if name in VECTOR_SINCE:
            vector = name in self.vector_functions
            arity = f"{code}, {code}" if name in ("pow", "atan2") else code
            prefix = "VECTOR " if vector else "extern "
            own = f"{name}{suffix}"
            return self._known(own, f"{prefix}{code} {own}({arity});\n", vector=vector)
        if name in SCALAR_MATH:
            own = f"{name}{suffix}"
            arity = f"{code}, i4 *" if name == "lgamma_r" else f"{code}, {code}"
            return self._known(own, f"extern {code} {own}({arity});\n", vector=False)
        if name in POINTERS:
            definition, exported = POINTERS[name]
            self.pointers[name] = exported
            return self._known(name, f"{definition}\n", vector=False)
        helper = helper_for(name, dtype)
        if helper is None:
            raise LoweringError(f"the C linker has no function {name} for {dtype}")
        own = f"{name}_{code}"
        if own not in self.definitions:
            vector = helper.vector

            def resolve(match: re.Match[str]) -> str:
                nonlocal vector
                if match[1] == "T":
                    return code
                if match[1] == "self":
                    return own
                called = self.function(match[1], _DTYPES[match[2]] if match[2] else dtype)
                vector = vector and self.vectorisable[called]
                return called

            text = re.sub(r"\$(\w+)(?:@(\w+))?", resolve, helper.text)
            self._known(own, text, vector=vector)
        return own

    def copier(self, template: str, dtype: str) -> int:
        """Define one of the functions that bring the end of an array to the stack and back; gives
        the item size, which its name ends with.
        """
        size = np.dtype(dtype).itemsize
        text = template.format(n=size)
        self.definitions.setdefault(text, text)
        return size

    def partials(self, write: Write) -> None:
        """Define the functions that handle the partial results of a reduction."""
        code = C_TYPES[write.dtype]
        folded = self.fold(write, "a[k]", "a[k + half]")
        fold = _FOLD.format(T=code, name=write.reduce, folded=folded)
        texts = [_FILL.format(T=code), fold]
        if has_levels(write):
            texts.append(_CARRY.format(T=code, turns=TURNS, levels=LEVELS))
        for text in texts:
            self.definitions.setdefault(text, text)

    def fold(self, write: Write, so_far: str, value: str) -> str:
        """The expression that folds one more value of the write's dtype into a reduction."""
        op = Elementary(str(write.reduce))
        operands = [(so_far, write.dtype), (f"({value})", write.dtype)]
        return self.apply(op, operands, write.dtype)

    def convert(self, expression: str, source: str, target: str) -> str:
        """The expression, of dtype ``source``, converted to ``target`` as ``astype`` does."""
        if source == target:
            return expression
        if target == "bool":
            return f"({expression} != 0)"
        if source.startswith("float") and np.dtype(target).kind in "iu":
            through = {"int64": "int64", "uint32": "int64", "uint64": "uint64"}.get(target, "int32")
            call = f"{self.function(f'to_{through}', source)}({expression})"
            return call if through == target else f"({C_TYPES[target]}){call}"
        if source == "bool":
            return f"({expression} ? ({C_TYPES[target]})1 : ({C_TYPES[target]})0)"
        if target.startswith("float") and np.dtype(source).itemsize < 4:
            # In one step it is not vectorised.
            return f"({C_TYPES[target]})(i4){expression}"
        return f"({C_TYPES[target]}){expression}"

    def apply(self, op: ScalarOp, operands: Sequence[tuple[str, str]], result: str) -> str:
        """The op's expression on operands, each an expression and its dtype."""
        form, _ = self.form(op, tuple(dtype for _, dtype in operands), result)
        return form.format(*(text for text, _ in operands))

    def form(self, op: ScalarOp, dtypes: tuple[str, ...], result: str) -> tuple[str, bool]:
        """The op's expression on ``{0}``, ``{1}``, ..., first converted to the dtype that it is
        computed in, and whether a loop over it can be vectorised.
        """
        key = op, dtypes, result
        if key not in self._forms:
            self._forms[key] = self._make_form(op, dtypes, result)
        return self._forms[key]

    def _make_form(self, op: ScalarOp, dtypes: tuple[str, ...], result: str) -> tuple[str, bool]:
        wanted = op.operand_dtypes(dtypes, result)
        dtype = wanted[-1]
        template = lowering_for(op.c, dtype)
        if template is None:
            raise LoweringError(f"the C linker has no form of {op} for {dtype}")
        texts = [
            self.convert(f"{{{k}}}", own, to)
            for k, (own, to) in enumerate(zip(dtypes, wanted, strict=True))
        ]
        if op.rule == "comparison" and wanted[0] != wanted[1]:
            compare = self.function("compare", "int64")
            if wanted[0] == "int64":
                texts = [f"{compare}({texts[0]}, {texts[1]})", "0"]
            else:
                texts = ["0", f"{compare}({texts[1]}, {texts[0]})"]
        if op.converts_to is not None:
            return self.convert(texts[0], dtype, op.converts_to), True
        vector = True

        def resolve(match: re.Match[str]) -> str:
            nonlocal vector
            name = match[1]
            if name.isdigit():
                return texts[int(name)]
            if name == "T":
                return C_TYPES[dtype]
            if name == "inf":
                return "__builtin_inf()"
            called = self.function(name, dtype)
            vector = vector and self.vectorisable[called]
            return called

        return re.sub(r"\{(\w+)\}", resolve, template), vector

    def _known(self, name: str, definition: str, *, vector: bool) -> str:
        self.definitions.setdefault(name, definition)
        self.vectorisable[name] = vector
        return name


def literal_text(literal: Literal) -> str:
    """A constant, exact, as a C expression of its own type.

    Examples
    --------
    >>> from frazil.link.c.source import literal_text
    >>> from frazil.link.kernel import Literal
    >>> literal_text(Literal("float64", 0.1)), literal_text(Literal("int8", -3))
    ('0x1.999999999999ap-4', '((i1)-3)')
    """
    dtype, value = literal.dtype, literal.value
    if dtype == "bool":
        return "1" if value else "0"
    if dtype.startswith("float"):
        return _float_text(float(value), "f" if dtype == "float32" else "")
    number = int(value)
    code = C_TYPES[dtype]
    if number == -(2**63):
        return "((i8)-0x7fffffffffffffffLL - 1)"
    return f"(({code}){number}{'ULL' if number >= 2**63 else 'LL' if abs(number) >= 2**31 else ''})"


def _float_text(value: float, suffix: str) -> str:
    if math.isnan(value):
        return f'__builtin_nan{suffix}("")'
    if math.isinf(value):
        return f"{'-' if value < 0 else ''}__builtin_inf{suffix}()"
    text = value.hex().replace("0000000000000p", "p")
    return f"({text}{suffix})" if text.startswith("-") else f"{text}{suffix}"


LIGHT = 4
"""The number of statements, none of them a function, up to which a kernel is light."""


class _KernelWriter:
    """Writes one kernel.

    The statements fall into stages: those that can be vectorised have even numbers, the others odd
    ones, and each stage is a loop of its own over the lanes, so that one call of ``lgamma`` does
    not keep the rest from being vectorised. What a later stage needs of an earlier one goes through
    the stack. Writes belong to the last stage: when an output shares its buffer with an operand,
    that has been read.
    """

    def __init__(self, unit: Unit, kernel: LoopKernel, name: str) -> None:
        self.unit = unit
        self.kernel = kernel
        self.name = name
        self.n_reads = len(kernel.reads)
        self.first_statement = self.n_reads + len(kernel.literals)
        self.lanes = kernel.lanes
        self.folding = [(k, w) for k, w in enumerate(kernel.writes, self.n_reads) if is_fold(w)]
        self.moving = [
            *(
                _Moving(k, read.dtype, is_read=True, is_written=False)
                for k, read in enumerate(kernel.reads)
                if read.inner
            ),
            *(
                _Moving(k, w.dtype, w.reduce is not None, is_written=True)
                for k, w in enumerate(kernel.writes, self.n_reads)
                if w.inner
            ),
        ]
        self.stages = [0] * len(kernel.dtypes)
        self.texts = [""] * len(kernel.dtypes)
        self._lower()

    def _lower(self) -> None:
        """The expression of every value, and its stage."""
        kernel, unit = self.kernel, self.unit
        for k in range(self.n_reads):
            self.texts[k] = f"v{k}"
        for k, literal in enumerate(kernel.literals, self.n_reads):
            self.texts[k] = literal_text(literal)
        self.expressions: dict[int, str] = {}
        for k, statement in enumerate(kernel.statements, self.first_statement):
            operands = [(self.texts[a], kernel.dtypes[a]) for a in statement.args]
            self.expressions[k] = unit.apply(statement.op, operands, statement.dtype)
            own = tuple(kernel.dtypes[a] for a in statement.args)
            _, vector = unit.form(statement.op, own, statement.dtype)
            self.texts[k] = f"v{k}"
            if not kernel.uniform[k]:
                earliest = max(self.stages[a] for a in statement.args)
                self.stages[k] = earliest + (earliest % 2 == (1 if vector else 0))
        self.last_stage = max(self.stages, default=0)

    def text(self) -> str:
        return "".join(f"{line}\n" for line in self._lines())

    def _lines(self) -> Iterator[str]:
        yield f"i4 {self.name}(char *const *ptr, i8 n_outer, i8 n_inner, const i8 *outer_stride) {{"
        yield "i4 status = 0;"
        yield "if (n_outer <= 0 || n_inner <= 0) return status;"
        operands = (*self.kernel.reads, *self.kernel.writes)
        for k in range(len(operands)):
            yield f"char *p{k} = ptr[{k}];"
        yield from self._declare_partials()
        yield "for (i8 outer = 0; outer < n_outer; ++outer) {"
        yield from self._uniform_values()
        yield from self._blocks()
        yield from self._fold_partials()
        for k in range(len(operands)):
            yield f"p{k} += outer_stride[{k}];"
        yield "}"
        yield "return status;"
        yield "}"

    # ------------------------------------------------------------ values

    def _uniform_values(self) -> Iterator[str]:
        """What is computed once a row: operands that do not move, and what follows from them."""
        kernel = self.kernel
        for k, read in enumerate(kernel.reads):
            if not read.inner:
                yield f"const {C_TYPES[read.dtype]} v{k} = {_load(read.dtype, f'p{k}', '0')};"
        for k, statement in enumerate(kernel.statements, self.first_statement):
            if kernel.uniform[k]:
                yield f"const {C_TYPES[statement.dtype]} v{k} = {self.expressions[k]};"
        for k, write in enumerate(kernel.writes, self.n_reads):
            if not write.inner and write.reduce is None:
                if not kernel.uniform[write.value]:
                    raise ValueError("a write that does not move needs a value that does not")
                yield _store(write.dtype, f"p{k}", "0", self._written(write))

    def _written(self, write: Write) -> str:
        """The expression of what is written, of the write's dtype."""
        text, own = self.texts[write.value], self.kernel.dtypes[write.value]
        return self.unit.convert(text, own, write.dtype)

    # ------------------------------------------------------------ blocks

    def _blocks(self) -> Iterator[str]:
        """The loop over the blocks of a row."""
        if not self.moving and not self.folding:
            return
        lanes = self.lanes
        yield "i8 i = 0;"
        if self._is_light():
            yield from self._strides()
        yield f"for (; i < n_inner; i += {lanes}) {{"
        for operand in self.moving:
            yield f"char *q{operand.k} = {operand.here};"
        for k, write in self.folding:
            code = C_TYPES[write.dtype]
            yield f"{code} *c{k} = a{k} + (blocks{k} & {SETS - 1}) * {lanes};"
        if lanes > 1:
            yield "const i8 count = n_inner - i;"
            yield from self._enter_remainder()
        yield from self._stage_loops(lanes)
        if lanes > 1:
            yield from self._leave_remainder()
        yield from self._advance_partials(1)
        yield "}"

    def _is_light(self) -> bool:
        """Whether what is folded is had so cheaply that the time between blocks is felt."""
        varying = [
            statement.op.rule
            for k, statement in enumerate(self.kernel.statements, self.first_statement)
            if not self.kernel.uniform[k]
        ]
        return (
            bool(self.folding and self.moving)
            and self.last_stage == 0
            and len(varying) <= LIGHT
            and "float" not in varying
        )

    def _strides(self) -> Iterator[str]:
        """As many blocks at once as there are sets, each to its own."""
        wide = SETS * self.lanes
        aligned = " && ".join(f"(blocks{k} & {SETS - 1}) == 0" for k, _ in self.folding)
        yield f"if ({aligned})"
        yield f"for (; i + {wide} <= n_inner; i += {wide}) {{"
        for operand in self.moving:
            yield f"char *q{operand.k} = {operand.here};"
        for k, write in self.folding:
            yield f"{C_TYPES[write.dtype]} *c{k} = a{k};"
        yield from self._stage_loops(wide)
        yield from self._advance_partials(SETS)
        yield "}"

    def _enter_remainder(self) -> Iterator[str]:
        """Of less than a block: let operands be padded copies, and remember what sums had."""
        lanes = self.lanes
        for operand in self.moving:
            yield f"u{operand.size} e{operand.k}[{lanes}];"
        counting = [(k, write) for k, write in self.folding if write.reduce in COUNTING]
        for k, write in counting:
            yield f"{C_TYPES[write.dtype]} kept{k}[{lanes}];"
        yield f"if (count < {lanes}) {{"
        for operand in self.moving:
            k, size = operand.k, operand.size
            if operand.is_read:
                self.unit.copier(_PAD, operand.dtype)
                yield f"pad{size}(e{k}, q{k}, count, {lanes});"
            yield f"q{k} = (char *)e{k};"
        for k, write in counting:
            yield f"copy{self.unit.copier(_COPY, write.dtype)}(kept{k}, c{k}, {lanes});"
        yield "}"

    def _leave_remainder(self) -> Iterator[str]:
        """Copy results back, and take the padding out of sums; other reductions do not mind it."""
        lanes = self.lanes
        yield f"if (count < {lanes}) {{"
        for operand in self.moving:
            if operand.is_written:
                self.unit.copier(_COPY, operand.dtype)
                yield f"copy{operand.size}({operand.here}, e{operand.k}, count);"
        for k, write in self.folding:
            if write.reduce in COUNTING:
                size = self.unit.copier(_COPY, write.dtype)
                yield f"copy{size}(c{k} + count, kept{k} + count, {lanes} - count);"
        yield "}"

    def _stage_loops(self, lanes: int) -> Iterator[str]:
        """For every stage a loop over the lanes of a block."""
        kernel = self.kernel
        needed = self._needed()
        kept = self._kept(needed)
        for k in sorted(k for values in kept.values() for k in values):
            yield f"{C_TYPES[kernel.dtypes[k]]} s{k}[{lanes}];"
        for stage in sorted(needed):
            if stage % 2 == 0 and lanes > 1:
                yield "#pragma omp simd"
            yield f"for (i4 l = 0; l < {lanes}; ++l) {{"
            for k in sorted(needed[stage]):
                dtype = kernel.dtypes[k]
                if k < self.n_reads:
                    value = _load(dtype, f"q{k}", "l")
                elif self.stages[k] == stage:
                    value = self.expressions[k]
                else:
                    value = f"s{k}[l]"
                yield f"const {C_TYPES[dtype]} v{k} = {value};"
                if k in kept.get(stage, ()):
                    yield f"s{k}[l] = v{k};"
            if stage == self.last_stage:
                yield from self._write_lane()
            yield "}"

    def _needed(self) -> dict[int, set[int]]:
        """For every stage, the varying values that it computes, loads or takes from the stack."""
        kernel = self.kernel
        needed: dict[int, set[int]] = {}
        for k, statement in enumerate(kernel.statements, self.first_statement):
            if not kernel.uniform[k]:
                here = needed.setdefault(self.stages[k], set())
                here.add(k)
                here.update(a for a in statement.args if not kernel.uniform[a])
        last = needed.setdefault(self.last_stage, set())
        last.update(w.value for w in kernel.writes if not kernel.uniform[w.value])
        return needed

    def _kept(self, needed: Mapping[int, set[int]]) -> dict[int, list[int]]:
        """For every stage, the values it computes that a later one needs."""
        kept: dict[int, list[int]] = {}
        for k in range(self.first_statement, len(self.stages)):
            own = self.stages[k]
            if any(k in values for stage, values in needed.items() if stage > own):
                kept.setdefault(own, []).append(k)
        return kept

    def _write_lane(self) -> Iterator[str]:
        """Writes and reductions of one lane."""
        for k, write in enumerate(self.kernel.writes, self.n_reads):
            value = self._written(write)
            if is_fold(write):
                yield f"c{k}[l] = {self.unit.fold(write, f'c{k}[l]', value)};"
            elif write.inner and write.reduce is None:
                yield _store(write.dtype, f"q{k}", "l", value)
            elif write.inner:
                folded = self.unit.fold(write, _load(write.dtype, f"q{k}", "l"), value)
                yield _store(write.dtype, f"q{k}", "l", folded)

    # ------------------------------------------------------------ reductions of rows

    def _declare_partials(self) -> Iterator[str]:
        """The partial results of what is folded, and how many of them will be used."""
        lanes, width = self.lanes, SETS * self.lanes
        for k, write in self.folding:
            code = C_TYPES[write.dtype]
            self.unit.partials(write)
            yield f"{code} a{k}[{width * (LEVELS if has_levels(write) else 1)}];"
            yield f"i8 blocks{k} = 0;"
            yield (
                f"const i8 total{k} = "
                f"((n_inner - 1) / {lanes} + 1) * (outer_stride[{k}] ? 1 : n_outer);"
            )
            most = str(width)
            if has_levels(write):
                most = (
                    f"total{k} < {SETS * TURNS} ? {width} : "
                    f"total{k} < {SETS * TURNS**2} ? {2 * width} : {LEVELS * width}"
                )
            yield f"const i8 used{k} = total{k} < 3 ? {lanes} * total{k} : {most};"
            yield f"fill_{code}(a{k}, used{k}, {self._identity(write)});"

    def _identity(self, write: Write) -> str:
        value = identity(str(write.reduce), write.dtype)
        return literal_text(Literal(write.dtype, value))

    def _advance_partials(self, blocks: int) -> Iterator[str]:
        """Let the next block have the next set, and the next level what this one has gathered."""
        for k, write in self.folding:
            yield f"blocks{k} += {blocks};"
            if has_levels(write):
                code, width = C_TYPES[write.dtype], SETS * self.lanes
                turns = SETS * TURNS
                yield f"if ((blocks{k} & {turns - 1}) == 0)"
                yield f"carry_{code}(a{k}, blocks{k} / {turns}, {width});"

    def _fold_partials(self) -> Iterator[str]:
        """Fold the partial results into the output where it moves on, or at the end."""
        for k, write in self.folding:
            code = C_TYPES[write.dtype]
            yield f"if (blocks{k} == total{k}) {{"
            folded = f"fold_{write.reduce}_{code}(a{k}, used{k})"
            folded = self.unit.fold(write, _load(write.dtype, f"p{k}", "0"), folded)
            yield _store(write.dtype, f"p{k}", "0", folded)
            yield "if (outer < n_outer - 1) {"
            yield f"fill_{code}(a{k}, used{k}, {self._identity(write)});"
            yield f"blocks{k} = 0;"
            yield "}}"


@dataclass(frozen=True, slots=True)
class _Moving:
    """An operand that moves along the inner dimension."""

    k: int
    dtype: str
    is_read: bool
    is_written: bool

    @property
    def size(self) -> int:
        return np.dtype(self.dtype).itemsize

    @property
    def here(self) -> str:
        """Where the block starts."""
        return f"p{self.k} + i * {self.size}"


def _memory(dtype: str) -> str:
    """The C type of an element in memory, where a bool is a byte."""
    return "u1" if dtype == "bool" else C_TYPES[dtype]


def _load(dtype: str, pointer: str, index: str) -> str:
    text = f"((const {_memory(dtype)} *){pointer})[{index}]"
    return f"({text} != 0)" if dtype == "bool" else text


def _store(dtype: str, pointer: str, index: str, value: str) -> str:
    return f"(({_memory(dtype)} *){pointer})[{index}] = {value};"
