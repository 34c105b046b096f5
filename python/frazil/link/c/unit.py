"""A C translation unit: kernels, the expressions of scalar ops, and the functions they call."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from frazil.link.c import syntax as c
from frazil.link.c.definitions import Definitions
from frazil.link.c.functions import C_TYPES, FUNCTIONS, PRELUDE
from frazil.link.c.literals import OWN, LiteralTable, literal_text
from frazil.link.c.runtime import OF_STEPS, of_one
from frazil.link.c.scalar_loop import LoopFunctions
from frazil.link.c.short_registers import OF_ELEMENTS, Form, short_form
from frazil.link.kernel.folded import AnyStatement, folded_values
from frazil.link.kernel.loop_kernel import Literal, LoweringError, Statement
from frazil.link.kernel.reduction import fold_operands, identity
from frazil.link.kernel.runtime_functions import OF_BLOCKS
from frazil.link.kernel.scalar_loop import body_of
from frazil.scalar import sub
from frazil.scalar.elementary import Elementary
from frazil.scalar.expression_text import PLACE, check_text
from frazil.scalar.float16 import STORED, computed_in
from frazil.scalar.loop import ScalarLoop, loop_result
from frazil.scalar.op import ScalarOp, lowering_for


@dataclass(frozen=True, slots=True)
class Expression:
    """The expression of an op on operands ``{0}``, ``{1}``, ...

    ``vector``: whether a loop over it can be vectorised.
    """

    text: str
    vector: bool


@dataclass
class Unit(Definitions):
    """One translation unit: kernels, and before them what they call."""

    kernels: list[str] = field(default_factory=list)
    loops: dict[ScalarLoop, LoopFunctions] = field(default_factory=dict)
    table: LiteralTable = field(default_factory=LiteralTable)
    foreign_texts: dict[str, str] = field(default_factory=dict)
    """The C texts of ops that are not frazil's own, for messages."""
    _expressions: dict[tuple[ScalarOp, tuple[str, ...], str], Expression] = field(
        default_factory=dict
    )

    def text(self) -> str:
        return "".join((PRELUDE, self.table.text(), *self.definitions.values(), *self.kernels))

    def add(self, kernel: c.Function) -> None:
        """Put a kernel behind those that the unit has."""
        self.kernels.append(c.text_of((kernel,)))

    # ------------------------------------------------------------ expressions

    def literals(
        self, literals: Sequence[Literal], first: int, statements: Iterable[AnyStatement]
    ) -> list[str]:
        """The expressions of literals, the first of which is value ``first`` of the statements."""
        kept = folded_values(statements)
        return [
            literal_text(literal) if at in kept else self.table.expression(literal)
            for at, literal in enumerate(literals, first)
        ]

    def identity(self, reduce: str, dtype: str) -> str:
        """The value that changes nothing when it is folded in."""
        return literal_text(Literal(dtype, identity(reduce, dtype)))

    def fold(self, reduce: str, dtype: str, so_far: str, value: str) -> str:
        """The expression that folds one more value into a reduction."""
        expression = self.expression(_fold_op(reduce), (dtype, dtype), dtype)
        return expression.text.format(*fold_operands(reduce, so_far, f"({value})"))

    def convert(self, expression: str, source: str, target: str) -> str:
        """The expression, of dtype ``source``, converted to ``target`` as ``astype`` does."""
        if source == target:
            return expression
        if source == STORED:
            wide = f"{self.function('from_half', source)}({expression})"
            return self.convert(wide, computed_in(source), target)
        if target == STORED:
            own = source if source in ("float32", "float64") else computed_in(target)
            given = self.convert(expression, source, own)
            return f"{self.function('to_half', own)}({given})"
        if target == "bool":
            return f"({expression} != 0)"
        if source.startswith("float") and np.dtype(target).kind in "iu":
            through = {"int64": "int64", "uint32": "int64", "uint64": "uint64"}.get(target, "int32")
            call = f"{self.function(f'to_{through}', source)}({expression})"
            return call if through == target else f"({C_TYPES[target]}){call}"
        if source == "bool":
            return f"({expression} ? ({C_TYPES[target]})1 : ({C_TYPES[target]})0)"
        if target.startswith("float") and np.dtype(source).itemsize < 4:
            # A conversion in one step is not vectorised.
            return f"({C_TYPES[target]})(i4){expression}"
        return f"({C_TYPES[target]}){expression}"

    def statement_expression(
        self, own: Statement, dtypes: Sequence[str], *, alone: bool = False
    ) -> Expression:
        """The expression of a statement; ``dtypes`` are the dtypes of all values.

        ``alone``: it is computed for one element, so nothing is lost if no loop is vectorised.
        """
        operands = tuple([dtypes[a] for a in own.args])
        is_of_runtime = own.op in OF_BLOCKS and own.dtype.startswith("float")
        if alone and self.has_wide_registers and is_of_runtime:
            return self._runtime_expression(own.op, operands, own.dtype)
        if self.has_short_registers and is_of_runtime:
            form = short_form(own.op, own.dtype)
            if form is Form.ELEMENTS:
                return self._written_out(own.op, operands, own.dtype)
            if alone and form is not None:
                return self._runtime_expression(own.op, operands, own.dtype)
        return self.expression(own.op, operands, own.dtype)

    def step_expression(self, own: Statement, dtypes: Sequence[str]) -> Expression:
        """The expression of a statement in the steps of a scan, which wait for each other."""
        operands = tuple([dtypes[a] for a in own.args])
        if own.op in OF_STEPS:
            return self._runtime_expression(own.op, operands, own.dtype)
        return self.expression(own.op, operands, own.dtype)

    def _written_out(self, op: ScalarOp, dtypes: tuple[str, ...], result: str) -> Expression:
        """The expression of the steps of an element that the runtime goes through."""
        (given,) = self._converted(dtypes, op.operand_dtypes(dtypes, result))
        name = self.written_out(str(op.table_name), result, OF_ELEMENTS[op][C_TYPES[result]])
        return Expression(f"{name}({given})", vector=self.vectorisable[name])

    def expression(self, op: ScalarOp, dtypes: tuple[str, ...], result: str) -> Expression:
        """The expression of an op; it converts the operands to the dtype that it computes in."""
        key = op, dtypes, result
        expression = self._expressions.get(key)
        if expression is None:
            expression = self._expressions[key] = self._make_expression(op, dtypes, result)
        return expression

    def _runtime_expression(self, op: ScalarOp, dtypes: tuple[str, ...], result: str) -> Expression:
        """The expression of a function that the runtime has for one element: the bits of blocks."""
        wanted = op.operand_dtypes(dtypes, result)
        name = of_one(self, op, wanted[0])
        return Expression(f"{name}({', '.join(self._converted(dtypes, wanted))})", vector=False)

    def loop(self, loop: ScalarLoop) -> LoopFunctions:
        """The functions of a scalar loop."""
        known = self.loops.get(loop)
        if known is None:
            body = body_of(loop)
            forms = [
                self.expression(own.op, tuple([body.dtypes[a] for a in own.args]), own.dtype)
                for own in body.statements
            ]
            made = LoopFunctions(
                self,
                body,
                f"loop_{OWN}{len(self.loops)}",
                self.literals(body.literals, body.first_literal, body.statements),
                [expression.text for expression in forms],
                vector=all(expression.vector for expression in forms),
            )
            known = self.loops.setdefault(loop, made)
        return known

    def _make_expression(self, op: ScalarOp, dtypes: tuple[str, ...], result: str) -> Expression:
        wanted = op.operand_dtypes(dtypes, result)
        if (part := loop_result(op)) is not None:
            texts = self._converted(dtypes, wanted)
            return Expression(f"{self.loop(part[0]).call(texts)}.r{part[1]}", vector=False)
        dtype = wanted[-1]
        template = lowering_for(op.c, dtype)
        if template is None:
            raise LoweringError(f"the C linker has no form of {op} for {dtype}")
        if not isinstance(op, Elementary):
            check_text(op, "C", template, FUNCTIONS)
            self.foreign_texts[str(op)] = template
            template = f"({template}\n)"  # a comment ends with its line
        texts = self._converted(dtypes, wanted)
        if op.rule == "comparison" and wanted[0] != wanted[1]:
            compare = self.function("compare", "int64")
            if wanted[0] == "int64":
                texts = [f"{compare}({texts[0]}, {texts[1]})", "0"]
            else:
                texts = ["0", f"{compare}({texts[1]}, {texts[0]})"]
        if op.converts_to is not None:
            return Expression(self.convert(texts[0], dtype, op.converts_to), vector=True)
        if op == sub and dtype.startswith("float") and not dtypes[1].startswith("float"):
            template = "{difference}({0}, {1})"
        return self._filled(template, texts, dtype)

    def _converted(self, dtypes: Sequence[str], wanted: Sequence[str]) -> list[str]:
        """The operands of an expression, converted to other dtypes."""
        pairs = enumerate(zip(dtypes, wanted, strict=True))
        return [self.convert(f"{{{k}}}", own, to) for k, (own, to) in pairs]

    def _filled(self, template: str, texts: Sequence[str], dtype: str) -> Expression:
        """The template, with its places filled with operands, types and functions."""
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

        parts = PLACE.split(template)
        between = [text.replace("{", "{{").replace("}", "}}") for text in parts[::2]]
        pairs = zip(between, [*map(resolve, parts[1::2]), ""], strict=True)
        return Expression("".join(part for pair in pairs for part in pair), vector)


@cache
def _fold_op(reduce: str) -> ScalarOp:
    """The op that folds a reduction."""
    return Elementary(reduce)
