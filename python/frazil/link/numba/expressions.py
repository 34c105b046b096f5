"""The Python text of scalar ops on elements, as Numba compiles it."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from frazil.link.kernel.loop_kernel import LoweringError
from frazil.link.numba import functions
from frazil.link.numba.element_loop import write_loop
from frazil.link.numba.refusal import refusal
from frazil.link.numba.translation import JittedFunction
from frazil.link.numba.values import INF
from frazil.link.numba.written_out import WrittenOut, written_out
from frazil.scalar.elementary import Elementary
from frazil.scalar.expression_text import check_text
from frazil.scalar.float16 import STORED, computed_in
from frazil.scalar.loop import ScalarLoop, loop_result
from frazil.scalar.op import ScalarOp, lowering_for


class Expressions:
    """Writes scalar ops on expressions, and keeps the names that the text refers to."""

    def __init__(self) -> None:
        self.globals: dict[str, Any] = {"advance": functions.advance}
        self.temporaries = 0
        self.lanes = 1  # of the values that are being computed
        self.mask = ""  # the name of the mask of those lanes that may fail, unless all may
        self.loop_results: dict[ScalarLoop, frozenset[int]] = {}  # the used ones, if known
        self.jitted: dict[JittedFunction, str] = {}
        self.loops: dict[tuple[ScalarOp, tuple[str, ...]], tuple[str, ...]] = {}

    def apply(self, op: ScalarOp, operands: Sequence[tuple[str, str]], result: str) -> list[str]:
        """Lines of Python; the last is the op's expression, of dtype ``result``."""
        wanted = op.operand_dtypes([dtype for _, dtype in operands], result)
        dtype = wanted[-1]
        part = loop_result(op)
        template = lowering_for(op.numba, dtype)
        if part is None and template is None and (fault := refusal(op, wanted, result)):
            raise LoweringError(f"the numba linker has no form of {op} for {dtype}: {fault}")
        lines: list[str] = []
        texts = []
        for (text, own), to in zip(operands, wanted, strict=True):
            *before, text = self.convert(text, own, to)
            lines += before
            texts.append(text)
        if part is not None:
            # Its other results may have been asked for.
            key = part[0], tuple(texts)
            if key not in self.loops:
                before, self.loops[key] = write_loop(self, part[0], texts)
                lines += before
            return [*lines, self.loops[key][part[1]]]
        if op.rule == "comparison" and wanted[0] != wanted[1]:
            signed, unsigned = texts if wanted[0] == "int64" else reversed(texts)
            *before, text = self._call("compare", "int64", [signed, unsigned])
            lines += before
            texts = [text, "0"] if wanted[0] == "int64" else ["0", text]
            wanted = ("int32", "int32")
        if op.converts_to is not None:
            return [*lines, *self.convert(texts[0], dtype, op.converts_to)]
        if not isinstance(op, Elementary):
            return [*lines, self._jitted(op, template, dtype, wanted, result, texts)]
        *before, text = self._expand(str(template), dtype, texts)
        return [*lines, *before, f"{result}({text})"]

    def _jitted(
        self,
        op: ScalarOp,
        template: str | None,
        dtype: str,
        operands: Sequence[str],
        result: str,
        texts: Sequence[str],
    ) -> str:
        """A call of a function that a user wrote."""
        called: dict[str, tuple[str, str]] = {}

        def resolve(match: re.Match[str]) -> str:
            name = match[1]
            if name.isdigit():
                return f"x{name}"
            if name == "T":
                return dtype
            if name == INF:
                return INF
            own = f"{name}_{dtype}"
            called[own] = (name, dtype)
            functions.callee(name, dtype)
            return own

        text = None
        if template is not None:
            check_text(op, "Numba", template, functions.NAMES)
            text = re.sub(r"\{(\w+)\}", resolve, template).strip()
        function = JittedFunction(op, text, tuple(operands), result, called)
        name = self.jitted.setdefault(function, f"jitted{len(self.jitted)}")
        return f"{self._global(name, function)}({', '.join(texts)})"

    def convert(self, text: str, source: str, target: str) -> list[str]:
        """Lines of Python; the last is the expression, converted as NumPy's ``astype`` does."""
        if source == target:
            return [text]
        if source == STORED:
            return self.convert(f"{computed_in(source)}({text})", computed_in(source), target)
        if target == "bool":
            return [f"({text} != 0)"]
        if source.startswith("float") and np.dtype(target).kind in "iu":
            through = {"int64": "int64", "uint32": "int64", "uint64": "uint64"}.get(target, "int32")
            *before, call = self._call(f"to_{through}", source, [text])
            return [*before, f"{target}({call})"]
        return [f"{target}({text})"]

    def _call(self, name: str, dtype: str, texts: Sequence[str]) -> list[str]:
        operands = ", ".join(f"{{{k}}}" for k in range(len(texts)))
        return self._expand(f"{{{name}}}({operands})", dtype, texts)

    def _expand(self, template: str, dtype: str, texts: Sequence[str]) -> list[str]:
        """The template with its operands in place; what takes several steps in lines before."""
        whole = re.fullmatch(r"(-?)\{(\w+)\}\((.*)\)", template)
        own = written_out(whole[2], dtype) if whole else None
        if whole is not None and own is not None:
            given = [self._fill(part, dtype, texts) for part in whole[3].split(", ")]
            *lines, value = self._write_out(own, dtype, given)
            return [*lines, f"{whole[1]}({value})"]
        return [self._fill(template, dtype, texts)]

    def _write_out(self, function: WrittenOut, dtype: str, given: Sequence[str]) -> list[str]:
        """Its lines with names of their own; the last one is the value."""
        self.temporaries += 1
        local = [line.partition(" = ")[0] for line in function.lines]
        own = {
            name: f"t{self.temporaries}_{name}"
            for name in (*function.params, *local)
            if name != "status"
        }

        def renamed(line: str) -> str:
            line = re.sub(r"\b(?<!\{)[a-z]\w*\b", lambda match: own.get(match[0], match[0]), line)
            return self._fill(line, dtype, given)

        return [
            *(f"{own[p]} = {text}" for p, text in zip(function.params, given, strict=True)),
            *(self._masked(renamed(line)) for line in function.lines),
            renamed(function.value),
        ]

    def _masked(self, line: str) -> str:
        """The assignment; to the status, by the lanes in the mask alone."""
        name, _, value = line.partition(" = ")
        if name != "status" or not self.mask:
            return line
        select = self._global("select", functions.function("select", "bool"))
        return f"status = {select}({self.mask}, {value}, status)"

    def _fill(self, template: str, dtype: str, texts: Sequence[str]) -> str:
        """The template with operands, types and functions in place of the names in braces."""

        def resolve(match: re.Match[str]) -> str:
            name = match[1]
            if name.isdigit():
                return texts[int(name)]
            if name == "T":
                return dtype
            if name == INF:
                return self._global(INF, math.inf)
            try:
                return self._global(f"{name}_{dtype}", functions.function(name, dtype))
            except KeyError:
                raise LoweringError(f"the numba linker has no function {name}") from None

        return re.sub(r"\{(\w+)\}", resolve, template)

    def name(self, name: str, value: object) -> str:
        """The name, by which the text refers to a value."""
        return self._global(name, value)

    def _global(self, name: str, value: object) -> str:
        self.globals[name] = value
        return name
