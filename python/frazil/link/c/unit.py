"""A C translation unit: expressions of scalar ops, and definitions of what they call."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from frazil.link.c.element_loop import ElementLoop
from frazil.link.c.functions import (
    BUILTINS,
    C_TYPES,
    FUNCTIONS,
    POINTERS,
    PRELUDE,
    SCALAR_MATH,
    VECTOR_SINCE,
    helper_for,
)
from frazil.link.kernel import Literal, LoweringError, Write
from frazil.link.reduction import identity
from frazil.scalar.elementary import Elementary
from frazil.scalar.expression_text import PLACE, check_text
from frazil.scalar.loop import ScalarLoop, loop_result
from frazil.scalar.op import ScalarOp, lowering_for

_DTYPES: Mapping[str, str] = {code: dtype for dtype, code in C_TYPES.items()}


@dataclass
class Unit:
    """One translation unit: kernels, and before them what they call."""

    vector_functions: frozenset[str]
    has_wide_registers: bool = False
    """Whether a register holds a block."""
    has_block_functions: bool = False
    """Whether functions of whole blocks, which are long, are defined."""
    definitions: dict[str, str] = field(default_factory=dict)
    kernels: list[str] = field(default_factory=list)
    pointers: dict[str, str] = field(default_factory=dict)
    vectorisable: dict[str, bool] = field(default_factory=dict)
    loops: dict[ScalarLoop, ElementLoop] = field(default_factory=dict)
    foreign_texts: dict[str, str] = field(default_factory=dict)
    """What ops that are not frazil's own have as C, for messages."""
    _forms: dict[tuple[ScalarOp, tuple[str, ...], str], tuple[str, bool]] = field(
        default_factory=dict
    )

    def text(self) -> str:
        return "".join((PRELUDE, *self.definitions.values(), *self.kernels))

    def function(self, name: str, dtype: str) -> str:
        """The C name of a function for operands of ``dtype``; the unit defines or declares it."""
        code = C_TYPES[dtype]
        suffix = "f" if dtype == "float32" else ""
        if name in BUILTINS:
            return self._known(f"__builtin_{name}{suffix}", "", vector=True)
        if (name in VECTOR_SINCE or name in SCALAR_MATH) and not dtype.startswith("float"):
            raise LoweringError(f"{name} is a function of floats, not of {dtype}")
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

    def native(self, name: str, result: str, operands: str) -> None:
        """Declare a function that the runtime has, reached by a pointer."""
        self.pointers[name] = name
        self.definitions.setdefault(name, f"{result} (*{name})({operands});\n")

    def define(self, text: str) -> None:
        """Put a definition before the kernels, once."""
        self.definitions.setdefault(text, text)

    def vector(self, dtype: str, lanes: int) -> str:
        """The C type of a block of elements in memory, which registers can hold.

        Its own objects are aligned; with ``_at`` behind its name it may be anywhere.
        """
        code = memory_type(dtype)
        name, size = f"{code}x{lanes}", np.dtype(dtype).itemsize
        self.define(
            f"typedef {code} {name} __attribute__((vector_size({lanes * size}), may_alias));\n"
            f"typedef {name} {name}_at __attribute__((aligned({size})));\n"
        )
        return name

    def identity(self, write: Write) -> str:
        """The value that changes nothing when it is folded in."""
        value = identity(str(write.reduce), write.dtype)
        return literal_text(Literal(write.dtype, value))

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

    def loop(self, loop: ScalarLoop) -> ElementLoop:
        """A loop of elements, of which the unit defines what is called."""
        if loop not in self.loops:
            made = ElementLoop(self, loop)
            self.loops.setdefault(loop, made)
        return self.loops[loop]

    def literal(self, literal: Literal) -> str:
        """The expression of a constant."""
        return literal_text(literal)

    def _make_form(self, op: ScalarOp, dtypes: tuple[str, ...], result: str) -> tuple[str, bool]:
        wanted = op.operand_dtypes(dtypes, result)
        if (part := loop_result(op)) is not None:
            texts = [
                self.convert(f"{{{k}}}", own, to)
                for k, (own, to) in enumerate(zip(dtypes, wanted, strict=True))
            ]
            return f"{self.loop(part[0]).call(texts)}.r{part[1]}", False
        dtype = wanted[-1]
        template = lowering_for(op.c, dtype)
        if template is None:
            raise LoweringError(f"the C linker has no form of {op} for {dtype}")
        if not isinstance(op, Elementary):
            check_text(op, "C", template, FUNCTIONS)
            template = f"({template}\n)"  # a comment ends with its line
            self.foreign_texts[str(op)] = str(lowering_for(op.c, dtype))
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

        def resolve(name: str) -> str:
            nonlocal vector
            if name.isdigit():
                return texts[int(name)]
            if name == "T":
                return C_TYPES[dtype]
            if name == "inf":
                return "__builtin_inf()"
            called = self.function(name, dtype)
            vector = vector and self.vectorisable[called]
            return called

        between, places = PLACE.split(template)[::2], PLACE.split(template)[1::2]
        own = [text.replace("{", "{{").replace("}", "}}") for text in between]
        pairs = zip(own, [*map(resolve, places), ""], strict=True)
        return "".join(part for pair in pairs for part in pair), vector

    def _known(self, name: str, definition: str, *, vector: bool) -> str:
        self.definitions.setdefault(name, definition)
        self.vectorisable[name] = vector
        return name


def literal_text(literal: Literal) -> str:
    """A constant, exact, as a C expression of its own type.

    Examples
    --------
    >>> from frazil.link.c.unit import literal_text
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


def load(dtype: str, pointer: str, index: str | int) -> str:
    """The element at an index of memory, as a C expression; a bool is a byte there."""
    text = f"((const {memory_type(dtype)} *){pointer})[{index}]"
    return f"({text} != 0)" if dtype == "bool" else text


def store(dtype: str, pointer: str, index: str | int, value: str) -> str:
    """The C statement that writes a value to memory."""
    return f"(({memory_type(dtype)} *){pointer})[{index}] = {value};"


def memory_type(dtype: str) -> str:
    """The C type of an element in memory; a bool is a byte there."""
    return "u1" if dtype == "bool" else C_TYPES[dtype]
