"""The ways that parts of captured containers go through code: which operations take them.

A loop over layers hands each of their arrays to the same instruction, and no note of a run tells
how often that ran. So the code itself is followed here, with the values that are sure to be traced:
traced arguments, and the results of operators and ufuncs on them.
"""

from __future__ import annotations

import dis
import operator
from collections.abc import Iterator
from functools import cache
from itertools import repeat
from types import CodeType
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from frazil.graph.dataclass import dataclass
from frazil.jit.instructions import Instruction, handled, instructions, repeated

Keys: TypeAlias = tuple[str | int | None, ...]
Part: TypeAlias = tuple[str, Keys]
"""A variable or an attribute, and the keys that lead into what it holds; None if any may be."""
_DEEPEST = 8


@dataclass(frozen=True, slots=True)
class Root:
    """A variable, or an attribute of objects, and the keys that lead from it to an array."""

    names: frozenset[str]
    is_attribute: bool
    keys: Keys

    def parts(self) -> list[Part]:
        """The array, for each name."""
        dot = "." if self.is_attribute else ""
        return [(f"{dot}{name}", self.keys) for name in self.names]


class _Value(NamedTuple):
    """The facts known of a value on the stack or in a local variable."""

    is_traced: bool = False
    """Whether it is a traced array in any case."""
    parts: frozenset[Part] = frozenset()
    """The parts of captured values that it may be."""
    path: tuple[str, ...] = ()
    """The names by which it was loaded, of a module's attribute; or of a method."""
    each: tuple[Any, ...] = ()
    """The parts of each tuple, for an iterator of tuples or such a tuple."""

    constant: tuple[object, ...] = ()
    """The constant that it is."""
    is_view: bool = False
    """Whether it has the parts of a container in another order or under other keys."""

    def step(self, key: str | int | None = None) -> _Value:
        """A part of it; the one under a key, if that is known."""
        return _Value(parts=frozenset((name, (*keys, key)) for name, keys in self.parts))


_OTHER, _TRACED = _Value(), _Value(is_traced=True)


@dataclass(frozen=True, slots=True)
class Taken:
    """An operation that takes a part, and a value that need not be traced."""

    part: Part
    at: int
    """The offset of the instruction."""
    to: int
    """The offset of the last two bytes of the instruction with its caches."""


@dataclass(frozen=True, slots=True)
class Flow:
    """The uses of captured values and their parts in code."""

    read: frozenset[Part]
    """Parts that are read: those further into them are not."""
    whole: frozenset[Part]
    """Parts that it does anything with, with all that is in them."""
    inside: frozenset[Part]
    """Parts that are operands; containers that are would be read."""
    asked: frozenset[Part]
    """Parts that it compares with None."""
    taken: frozenset[Taken]
    """Operations that show in a run whether the other operand was traced."""
    is_known: bool
    """Whether the stack is known at each instruction."""
    called: frozenset[tuple[str, ...]]
    """Names that must be those of builtins, or of NumPy's functions."""

    @property
    def parts(self) -> frozenset[Part]:
        """All parts that it does something with."""
        return self.read | self.whole | self.inside

    def uses(self, part: Part) -> bool:
        """Whether it may do more with an array at this place than to compute with traced ones."""
        return (
            not self.is_known
            or any(map(_is_same, self.read, repeat(part)))
            or any(map(_holds, self.whole, repeat(part)))
            or any(_holds(own, part) and len(own[1]) < len(part[1]) for own in self.inside)
        )

    def sees(self, part: Part) -> bool:
        """Whether it may tell an array at this place from another object, without an operation."""
        return self.uses(part) or any(map(_is_same, self.asked, repeat(part)))

    def operations(self, part: Part) -> list[Taken]:
        """The operations that take a part, and show in a run what the other operand was."""
        return [taken for taken in self.taken if _is_same(taken.part, part)]


def _holds(one: Part, other: Part) -> bool:
    """Whether a part may be another one, or hold it."""
    (name, keys), (own, others) = one, other
    if name != own or len(keys) > len(others):
        return False
    return all(None in pair or pair[0] == pair[1] for pair in zip(keys, others, strict=False))


def _is_same(one: Part, other: Part) -> bool:
    return len(one[1]) == len(other[1]) and _holds(one, other)


@cache
def flow_of(code: CodeType, traced: frozenset[str]) -> Flow:
    """Return what code does with captured values, if these arguments are traced.

    Examples
    --------
    >>> from frazil.jit.operand_flow import flow_of
    >>> def f(x):
    ...     for w, b in layers:
    ...         x = x @ w + b
    ...     return x + layers[0][1]
    >>> flow_of(f.__code__, frozenset("x")).uses(("layers", (1, 0)))
    False
    >>> flow_of(f.__code__, frozenset("x")).uses(("layers", (1,)))
    True
    """
    stored = {name for one in instructions(code) if "STORE_FAST" in one.opname for name in _of(one)}
    locals_ = dict.fromkeys({*traced, *(stored - set(_arguments(code)))}, _TRACED)
    while True:
        walk = _Walk(code, locals_)
        walk.run()
        after = {
            name: _join(known, walk.stored[name]) if name in walk.stored else known
            for name, known in {**dict.fromkeys(walk.stored, _OTHER), **locals_}.items()
        }
        if after == locals_:
            return walk.flow()
        locals_ = after


def _arguments(code: CodeType) -> tuple[str, ...]:
    both = code.co_flags & 4, code.co_flags & 8
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + sum(map(bool, both))]


def _of(one: Instruction) -> list[str]:
    return one.name.split(", ")


def _join(one: _Value, other: _Value) -> _Value:
    path = one.path if one.path == other.path else ()
    each: tuple[_Value, ...] = ()
    if len(one.each) == len(other.each):
        each = tuple(map(_join, one.each, other.each))
    # Equal constants may be 1 and True, which are the same key.
    constant = one.constant if one.constant == other.constant else ()
    traced = one.is_traced and other.is_traced
    is_view = one.is_view or other.is_view
    return _Value(traced, one.parts | other.parts, path, each, constant, is_view)


_MADE_OF_TRACED = frozenset(
    (
        *("dot", "sum", "mean", "prod", "std", "var", "max", "min", "cumsum", "cumprod", "clip"),
        *("reshape", "transpose", "ravel", "squeeze", "swapaxes", "astype", "copy", "conj"),
    )
)
"""Methods of traced arrays that return traced arrays."""
_VIEWS = frozenset(("items", "values", "get"))
"""Methods that take dicts apart."""
_WALKS = frozenset(("enumerate", "zip", "reversed", "iter", "list", "tuple"))
"""Builtins that take containers apart."""
_NONE = frozenset(
    (
        *("RESUME", "NOP", "PRECALL", "COPY_FREE_VARS", "MAKE_CELL", "EXTENDED_ARG", "NOT_TAKEN"),
        *("JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT", "KW_NAMES"),
    )
)
"""Instructions that leave the stack alone."""
_ENDS = frozenset(("RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE"))
_SUBSCRIPT = 26
"""The argument of ``BINARY_OP`` for ``x[y]``, in releases without ``BINARY_SUBSCR``."""


class _Walk:
    """One walk through code, along all ways, for what is known of the local variables."""

    def __init__(self, code: CodeType, locals_: dict[str, _Value]) -> None:
        self.stored: dict[str, _Value] = {}
        self._code, self._locals = code, locals_
        self._read: set[Part] = set()
        self._whole: set[Part] = set()
        self._inside: set[Part] = set()
        self._asked: set[Part] = set()
        self._taken: set[Taken] = set()
        self._called: set[tuple[str, ...]] = set()
        self._loops = repeated(code)
        self._list = instructions(code)
        self._number = {one.offset: at for at, one in enumerate(self._list)}
        self._names_of_call = False
        self._is_known = True
        self._stack: list[_Value] = []

    def run(self) -> None:
        """Follow all ways until nothing new is found."""
        known: dict[int, list[_Value]] = {}
        pending: list[tuple[int, list[_Value]]] = [(0, [])]
        pending += [(at, [_OTHER] * depth) for at, depth in self._handlers()]
        while pending:
            at, stack = pending.pop()
            before = known.get(at)
            if before is not None:
                if len(before) != len(stack):
                    self._is_known = False
                    return
                stack = list(map(_join, before, stack))
                if stack == before:
                    continue
            known[at] = stack
            pending += self._after(at, list(stack))

    def flow(self) -> Flow:
        """The uses that were found."""
        return Flow(
            frozenset(self._read),
            frozenset(self._whole),
            frozenset(self._inside),
            frozenset(self._asked),
            frozenset(self._taken),
            self._is_known,
            frozenset(self._called),
        )

    def _handlers(self) -> Iterator[tuple[int, int]]:
        for part in handled(self._code):
            yield self._at(part.target), part.depth + 1 + part.keeps_place

    def _after(self, at: int, stack: list[_Value]) -> Iterator[tuple[int, list[_Value]]]:
        """The instructions that may follow one, each with the stack that it finds."""
        one = self._list[at]
        if one.opname == "FOR_ITER":
            effect = dis.stack_effect(dis.opmap["FOR_ITER"], one.arg, jump=True)
            ended = stack[:-1] if effect < 0 else [*stack, _OTHER]
            yield self._target(at), ended
            self._read |= stack[-1].parts
            element = _TRACED if stack[-1].is_traced else self._further(stack[-1])
            yield at + 1, [*stack, element._replace(each=stack[-1].each)]
            return
        if one.is_jump and one.opname not in _NONE:
            if one.opname.endswith("NONE"):
                self._asked |= stack[-1].parts
            else:
                self._misuse(*stack[-1:])
            yield self._target(at), stack[: len(stack) + _effect(one, jump=True)]
            yield at + 1, stack[: len(stack) + _effect(one, jump=False)]
            return
        if one.opname in _ENDS:
            self._misuse(*stack[-1:])
            return
        self._stack = stack
        self._apply(one, at)
        yield (self._target(at) if one.is_jump else at + 1), self._stack

    def _target(self, at: int) -> int:
        one = self._list[at]
        after = self._offset_after(at)
        way = -1 if "BACKWARD" in one.opname else 1
        return self._at(after + way * 2 * one.arg)

    def _at(self, offset: int) -> int:
        """The number of the instruction at an offset, which may be a prefix of its argument."""
        while offset not in self._number:
            offset += 2
        return self._number[offset]

    def _offset_after(self, at: int) -> int:
        """The offset behind an instruction and what it remembers."""
        own = self._list[at].offset + 2
        units = self._code.co_code
        while own < len(units) and units[own] == 0:
            own += 2
        return own

    # ------------------------------------------------------------ what instructions do

    def _apply(self, one: Instruction, at: int) -> None:
        name = one.opname
        if name in _NONE:
            self._names_of_call = self._names_of_call or name == "KW_NAMES"
        elif "_FAST" in name and name.startswith(("LOAD_FAST", "STORE_FAST")):
            self._local(one)
        elif name == "LOAD_CONST":
            self._stack.append(_Value(constant=(self._code.co_consts[one.arg],)))
        elif name == "LOAD_SMALL_INT":
            self._stack.append(_Value(constant=(one.arg,)))
        elif name in ("PUSH_NULL", "LOAD_CLOSURE", "MAKE_FUNCTION"):
            self._stack = [*self._stack[: len(self._stack) + _effect(one) - 1], _OTHER]
        elif name in ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_CLASSDEREF"):
            self._load(one)
        elif name in ("LOAD_ATTR", "LOAD_METHOD"):
            self._attribute(one)
        elif name == "BINARY_SUBSCR" or (name == "BINARY_OP" and one.arg == _SUBSCRIPT):
            self._subscript()
        elif name in ("BINARY_OP", "COMPARE_OP"):
            second, first = self._stack.pop(), self._stack.pop()
            if one.is_augmented:
                self._misuse(first)
            self._stack.append(self._operation(at, [first, second]))
        elif name in ("CALL", "CALL_KW"):
            self._call(one, at)
        elif name in ("UNARY_NEGATIVE", "UNARY_INVERT") and self._stack[-1].is_traced:
            pass
        elif name == "COPY":
            self._stack.append(self._stack[-one.arg])
        elif name == "SWAP":
            stack = self._stack
            stack[-1], stack[-one.arg] = stack[-one.arg], stack[-1]
        elif name in ("POP_TOP", "END_FOR", "POP_ITER"):
            self._stack = self._stack[: len(self._stack) + _effect(one)]
        elif name == "GET_ITER":
            self._read |= self._stack[-1].parts
            self._stack[-1] = self._stack[-1]._replace(path=())
        elif name == "UNPACK_SEQUENCE":
            value = self._stack.pop()
            if len(value.each) == one.arg:
                self._stack += reversed(value.each)
            else:
                self._read |= value.parts
                part = _TRACED if value.is_traced else self._further(value)
                self._stack += [part] * one.arg
        else:
            self._misuse(*self._stack)
            if name.startswith("LOAD_"):  # in the body of a class, or of a class above
                self._whole |= {(one.name, ()), (f".{one.name}", ())}
            count = len(self._stack) + _effect(one)
            self._stack = [_OTHER] * max(count, 0)

    def _local(self, one: Instruction) -> None:
        parts = _of(one)
        for way, name in zip(_ways(one.opname, len(parts)), parts, strict=True):
            if way == "STORE":
                value = self._stack.pop()
                known = self.stored.get(name)
                self.stored[name] = value if known is None else _join(known, value)
            elif name in self._code.co_freevars or name in self._code.co_cellvars:
                self._stack.append(_OTHER)  # the cell itself, for a function that is made
            else:
                self._stack.append(self._locals.get(name, _OTHER)._replace(path=()))

    def _load(self, one: Instruction) -> None:
        if one.opname == "LOAD_GLOBAL" and one.arg & 1:
            self._stack.append(_OTHER)
        own = one.name in self._code.co_cellvars
        parts = frozenset() if own else frozenset([(one.name, ())])
        path = (one.name,) if one.opname in ("LOAD_GLOBAL", "LOAD_NAME") else ()
        self._stack.append(_Value(parts=parts, path=path))

    def _attribute(self, one: Instruction) -> None:
        owner = self._stack.pop()
        self._read |= owner.parts
        if owner.is_traced:
            made = _Value(one.name in ("T", "mT"), path=("", one.name))
        elif owner.path[:1] and owner.path[0]:
            made = _Value(parts=owner.parts | {(f".{one.name}", ())}, path=(*owner.path, one.name))
        else:
            made = _Value(parts=owner.parts | {(f".{one.name}", ())}, path=("", one.name))
        is_called = one.opname == "LOAD_METHOD" or _effect(one) == 1
        self._stack += [_OTHER, made] if is_called else [made]

    def _subscript(self) -> None:
        index, value = self._stack.pop(), self._stack.pop()
        if value.is_traced:
            self._inside |= index.parts
            self._stack.append(_TRACED)
            return
        self._misuse(index)
        if index.is_traced:
            self._misuse(value)
        self._read |= value.parts
        key = index.constant[0] if index.constant and not value.is_view else None
        self._stack.append(self._further(value, key if _is_key(key) else None))

    def _further(self, value: _Value, key: Any = None) -> _Value:
        made = value.step(key)
        deep = frozenset(part for part in made.parts if len(part[1]) > _DEEPEST)
        self._whole |= {(name, ()) for name, _ in deep}
        return _Value(parts=made.parts - deep)

    def _operation(self, at: int, operands: list[_Value]) -> _Value:
        """An operation that computes a traced array if one operand is traced."""
        parts = frozenset().union(*[one.parts for one in operands if not one.is_traced])
        if any(one.is_traced for one in operands):
            self._inside |= parts
            return _TRACED
        offset = self._list[at].offset
        once = not any(start <= offset <= end for start, end in self._loops)
        if parts and once and sum(bool(one.parts) for one in operands) == 1:
            to = self._offset_after(at) - 2
            self._taken |= {Taken(part, offset, to) for part in parts}
            self._inside |= parts
        else:
            self._misuse(*operands)
        return _OTHER

    def _call(self, one: Instruction, at: int) -> None:
        named = self._names_of_call or one.opname == "CALL_KW"
        self._names_of_call = False
        count = one.arg + 2 + (one.opname == "CALL_KW")
        group, self._stack = self._stack[-count:], self._stack[:-count]
        called = next((own for own in group[:2] if own.path), _OTHER)
        rest = [own for own in group if own is not called]
        made = None if named else self._known_call(called, rest, one, at)
        if made is None:
            self._misuse(called)
            made = _OTHER
            if any(own.parts for own in rest):
                made = self._operation(at, [own._replace(is_traced=False) for own in rest])
        self._stack.append(made)

    def _known_call(
        self, called: _Value, rest: list[_Value], one: Instruction, at: int
    ) -> _Value | None:
        """The result of a function or method, if its name tells that."""
        path = called.path
        if path[:1] == ("",) and not called.parts and path[-1] in _MADE_OF_TRACED:
            given = [own for own in rest if own.parts]
            if path[-1] != "dot":
                self._misuse(*given)
            self._inside |= frozenset().union(*[own.parts for own in given])
            return _TRACED
        if len(path) > 1 and called.parts and path[-1] in _VIEWS:
            owner = _Value(parts=frozenset(own for own in called.parts if own[0] != f".{path[-1]}"))
            self._read |= owner.parts
            self._misuse(*rest)
            if path[-1] == "get":
                return owner.step()
            pair = (_OTHER, owner.step()) if path[-1] == "items" else ()
            return owner._replace(each=pair, is_view=True)
        if len(path) == 1 and path[0] in _WALKS:
            parts = frozenset().union(*[own.parts for own in rest])
            self._read |= parts
            self._called.add(path)
            each = [_TRACED if own.is_traced else own.step() for own in rest[-one.arg :]]
            if path[0] == "enumerate":
                each = [_OTHER, *each[:1]]
            pairs = path[0] in ("enumerate", "zip")
            return _Value(parts=parts, each=tuple(each) if pairs else (), is_view=True)
        if _is_ufunc(called.path) and any(own.is_traced for own in rest):
            self._called.add(called.path)
            return self._operation(at, rest)
        return None

    def _misuse(self, *values: _Value) -> None:
        for one in values:
            self._whole |= one.parts


def _ways(opname: str, count: int) -> list[str]:
    """For each variable of an instruction on local ones, whether it is loaded or stored."""
    if count == 1:
        return [opname[: opname.index("_")]]
    second = "STORE" if opname.count("STORE") == 2 else "LOAD"
    return [opname[: opname.index("_")], second]


def _effect(one: Instruction, jump: bool | None = None) -> int:
    op = dis.opmap[one.opname]
    return dis.stack_effect(op, one.arg if op >= dis.HAVE_ARGUMENT else None, jump=jump)


def _is_key(key: object) -> bool:
    """Whether a key tells a part from others: an index from the end does not."""
    return type(key) is str or (type(key) is int and key >= 0)


def _is_ufunc(path: tuple[str, ...]) -> bool:
    if len(path) < 2 or path[0] not in ("np", "numpy"):
        return False
    try:
        return isinstance(operator.attrgetter(".".join(path[1:]))(np), np.ufunc)
    except AttributeError:
        return False
