"""C statements as a tree, which is printed.

Expressions, types and names are texts. The name of a pointer has a star, as in C:
``Declare("char", "*p0", "ptr[0]")``.
"""

from __future__ import annotations

from collections.abc import Sequence

from frazil.graph.dataclass import dataclass

SIMD = "omp simd"
"""The pragma of a loop that is to be vectorised."""


class Statement:
    """A statement, or a function."""

    __slots__ = ()

    def print(self, indent: str, lines: list[str]) -> None:
        """Append the lines of the statement, indented."""
        raise NotImplementedError


class Line(Statement):
    """A statement of one line."""

    __slots__ = ()

    def text(self) -> str:
        """The line."""
        raise NotImplementedError

    def print(self, indent: str, lines: list[str]) -> None:
        lines.append(f"{indent}{self.text()}")


@dataclass(frozen=True, slots=True)
class Const(Line):
    """A name for a value that does not change."""

    type: str
    name: str
    value: str

    def text(self) -> str:
        return f"const {self.type} {self.name} = {self.value};"


@dataclass(frozen=True, slots=True)
class Declare(Line):
    """A variable, and its first value if there is one."""

    type: str
    name: str
    value: str | None = None

    def text(self) -> str:
        first = "" if self.value is None else f" = {self.value}"
        return f"{self.type} {self.name}{first};"


@dataclass(frozen=True, slots=True)
class Array(Line):
    """An array on the stack, aligned for the widest registers."""

    type: str
    name: str
    length: int

    def text(self) -> str:
        return f"ALIGNED {self.type} {self.name}[{self.length}];"


@dataclass(frozen=True, slots=True)
class Assign(Line):
    """An assignment; ``operator`` may be one like ``+=``."""

    target: str
    value: str
    operator: str = "="

    def text(self) -> str:
        return f"{self.target} {self.operator} {self.value};"


@dataclass(frozen=True, slots=True)
class Do(Line):
    """An expression that is evaluated for its effect: a call, an increment."""

    expression: str

    def text(self) -> str:
        return f"{self.expression};"


@dataclass(frozen=True, slots=True)
class Return(Line):
    """The end of a function, and its result."""

    value: str

    def text(self) -> str:
        return f"return {self.value};"


@dataclass(frozen=True, slots=True)
class Break(Line):
    """The end of the innermost loop."""

    def text(self) -> str:
        return "break;"


@dataclass(frozen=True, slots=True)
class If(Statement):
    """A choice."""

    condition: str
    then: Sequence[Statement]
    otherwise: Sequence[Statement] = ()

    def print(self, indent: str, lines: list[str]) -> None:
        head = f"if ({self.condition})"
        if len(self.then) == 1 and not self.otherwise and isinstance(self.then[0], Line):
            lines.append(f"{indent}{head} {self.then[0].text()}")
            return
        _print_scope(f"{head} ", self.then, indent, lines)
        if self.otherwise:
            lines.pop()
            _print_scope("} else ", self.otherwise, indent, lines)


@dataclass(frozen=True, slots=True)
class For(Statement):
    """A loop; ``start`` and ``step`` may be empty, as in C."""

    start: str
    condition: str
    step: str
    body: Sequence[Statement]
    pragma: str | None = None

    def print(self, indent: str, lines: list[str]) -> None:
        if self.pragma is not None:
            lines.append(f"#pragma {self.pragma}")
        step = f" {self.step}" if self.step else ""
        head = f"for ({self.start}; {self.condition};{step}) "
        _print_scope(head, self.body, indent, lines)


@dataclass(frozen=True, slots=True)
class Block(Statement):
    """A scope of its own."""

    body: Sequence[Statement]

    def print(self, indent: str, lines: list[str]) -> None:
        _print_scope("", self.body, indent, lines)


@dataclass(frozen=True, slots=True)
class Function(Statement):
    """A function; ``operands`` are declarations such as ``i8 n``."""

    result: str
    name: str
    operands: Sequence[str]
    body: Sequence[Statement]

    def print(self, indent: str, lines: list[str]) -> None:
        head = f"{self.result} {self.name}({', '.join(self.operands)}) "
        _print_scope(head, self.body, indent, lines)


def simd(lanes: int) -> str | None:
    """The pragma of a loop over so many lanes."""
    return SIMD if lanes > 1 else None


def lanes_loop(
    count: int | str, body: Sequence[Statement], *, index: str = "i4", pragma: str | None = None
) -> For:
    """The loop of ``l``, of type ``index``, over so many lanes."""
    return For(f"{index} l = 0", f"l < {count}", "++l", body, pragma)


def text_of(statements: Sequence[Statement]) -> str:
    """The text of statements.

    Examples
    --------
    >>> from frazil.link.c.syntax import Assign, Const, If, Return, text_of
    >>> double = [Const("f8", "y", "2 * x"), Assign("x", "y")]
    >>> print(text_of([If("x < 1", double), If("x < 0", [Return("0")])]), end="")
    if (x < 1) {
      const f8 y = 2 * x;
      x = y;
    }
    if (x < 0) return 0;
    """
    lines: list[str] = []
    for own in statements:
        own.print("", lines)
    lines.append("")
    return "\n".join(lines)


def _print_scope(head: str, body: Sequence[Statement], indent: str, lines: list[str]) -> None:
    lines.append(f"{indent}{head}{{")
    deeper = f"{indent}  "
    for own in body:
        own.print(deeper, lines)
    lines.append(f"{indent}}}")
