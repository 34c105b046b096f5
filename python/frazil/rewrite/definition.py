"""Rules: laws that are written with the real operators and read from left to right."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias, get_args, get_type_hints

import frazil._core as _core
from frazil._core import RewriteRule, TensorType, Variable
from frazil.graph.cached_property import cached_property
from frazil.printing import pp
from frazil.rewrite.guard import Guard
from frazil.rewrite.sort import Sort
from frazil.rewrite.wildcard import Wildcard

Law: TypeAlias = tuple[Any, ...]
"""What a rule's function returns: its left side, its right side and its guards.

A left side is a variable, or a list of outputs of one node. A right side is a variable, a list of
as many, or a function of the matched node and of what stands for the parameters.
"""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a rule: its name, what it stands for, and whether for several operands."""

    name: str
    sort: Sort
    variadic: bool


@dataclass(frozen=True, slots=True)
class Sides:
    """What a rule says of some variables; ``right`` may be the function that gives right sides."""

    left: tuple[Variable, ...]
    right: tuple[Variable, ...] | Callable[..., Any]
    guards: tuple[Guard, ...]


class Rule:
    """A law, compiled once; :func:`rule` makes one.

    Attributes
    ----------
    name : str
        The name of the function that it was written as.
    law : str
        Why it holds: the first line of the function's docstring.
    parameters : tuple of Parameter
        What it is written over.
    unknowns : tuple of Variable
        A variable of the sample dtype for each.
    sides : Sides
        Its sides, over variables of the sample dtypes.
    compiled : RewriteRule
        What the core matches.

    Examples
    --------
    >>> from frazil.rewrite import ALGEBRA
    >>> law = next(rule for rule in ALGEBRA if rule.name == "neg_neg")
    >>> print(law)
    neg_neg: --x -> x if x: number
    >>> law.law
    '-(-x) == x, where integers wrap around too.'
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.name: str = function.__name__
        self.law: str = (inspect.getdoc(function) or "").partition("\n")[0]
        self.__doc__ = inspect.getdoc(function)
        self.__module__ = function.__module__
        if not self.law:
            raise ValueError(
                f"rule {self.name} must say its law in the first line of its docstring"
            )
        self.parameters = _parameters_of(function)
        self.unknowns = tuple(
            TensorType(p.sort.sample, (None,) * p.sort.ndim)(p.name) for p in self.parameters
        )
        self.sides = self.over(*self.unknowns)
        self.compiled = self._compile()

    def over(self, *variables: Variable) -> Sides:
        """What the rule says of these variables, one for each parameter."""
        written = self.function(*variables)
        if not isinstance(written, tuple) or len(written) < 2:
            raise TypeError(
                f"rule {self.name} must return its left side, its right side and its guards, "
                f"given {written!r}"
            )
        left, right, *guards = written
        lefts = tuple(left) if isinstance(left, list | tuple) else (left,)
        if not callable(right):
            right = tuple(right) if isinstance(right, list | tuple) else (right,)
        for what in (*lefts, *(right if isinstance(right, tuple) else ())):
            if not isinstance(what, Variable):
                raise TypeError(f"a side of rule {self.name} must be a Variable, given {what!r}")
        for guard in guards:
            if not isinstance(guard, Guard):
                raise TypeError(f"a guard of rule {self.name} must be a Guard, given {guard!r}")
        return Sides(lefts, right, tuple(guards))

    def _compile(self) -> RewriteRule:
        left, right, guards = self.sides.left, self.sides.right, self.sides.guards
        written = [*left, *(right if isinstance(right, tuple) else ())]
        wildcards = {
            node.op: node.op.stands_for
            for node in _core.toposort(written)
            if isinstance(node.op, Wildcard)
        }
        root = left[0].owner
        position = {x: at for at, x in enumerate(self.unknowns)}
        for guard in guards:
            for x in guard.variables:
                if x not in position:
                    raise ValueError(f"rule {self.name}: guard {guard} is not about its parameters")
        predicates = [
            (guard.predicate, [position[x] for x in guard.variables])
            for guard in guards
            if guard.predicate is not None
        ]

        def all_hold(*bindings: Any) -> bool:
            return all(
                predicate(*[bindings[at] for at in positions])
                for predicate, positions in predicates
            )

        return RewriteRule(
            name=self.name,
            lefts=list(left),
            rights=list(right) if isinstance(right, tuple) else None,
            unknowns=[
                (x, list(p.sort.dtypes), p.sort.constant, p.variadic)
                for x, p in zip(self.unknowns, self.parameters, strict=True)
            ],
            wildcards=list(wildcards.items()),
            checks=[
                (guard.name, [position[x] for x in guard.variables])
                for guard in guards
                if guard.predicate is None
            ],
            guard=all_hold if predicates else None,
            function=None if isinstance(right, tuple) else right,
            every_output=root is not None
            and isinstance(root.op, Wildcard)
            and not isinstance(root.op.stands_for, tuple),
        )

    @cached_property
    def text(self) -> str:
        """The rule in one line: ``name: left -> right if guards``."""
        left, right = self.sides.left, self.sides.right
        text = f"{self.name}: {'; '.join(map(_formula, left))} -> "
        if isinstance(right, tuple):
            text += "; ".join(map(_formula, right))
        else:
            text += f"{getattr(right, '__name__', 'function')}(...)"
        sorts = [f"{p.name}: {p.sort.name}" for p in self.parameters if p.sort.name != "tensor"]
        conditions = [*sorts, *map(str, self.sides.guards)]
        return text + (f" if {', '.join(conditions)}" if conditions else "")

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<Rule {self.text}>"


def rule(function: Callable[..., Any]) -> Rule:
    """Return the rule that a function writes.

    The function's parameters are what the law is about; their annotations say what each may stand
    for. It returns the left side, the right side, and guards if there are any. The first line of
    its docstring is the law.

    Parameters
    ----------
    function : callable
        Called once, with variables. What it does with them builds real nodes. A left side applies
        an op. Operands of commutative ops match in any order, a parameter that is used twice
        matches one variable, a number matches constants of this value in any dtype, and ``*xs``
        matches all operands that are left over. A right side may be a function: it is called with
        the matched node and what stands for each parameter, and returns a variable, or None if the
        rule does not apply.

    Returns
    -------
    Rule
        For :func:`rewrite`.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> from frazil.rewrite import Float, rewrite, rule
    >>> @rule
    ... def log_of_exp2(x: Float):
    ...     '''log2(exp2(x)) == x, where exp2 does not overflow.'''
    ...     return ft.log2(ft.exp2(x)), x
    >>> x = ft.vector("x")
    >>> rewrite(ft.log2(ft.exp2(x)) + 1, [log_of_exp2]).graph is x + 1
    True
    """
    return Rule(function)


def _parameters_of(function: Callable[..., Any]) -> tuple[Parameter, ...]:
    hints = get_type_hints(function, include_extras=True)
    parameters = []
    for name, parameter in inspect.signature(function).parameters.items():
        sorts = [extra for extra in get_args(hints.get(name)) if isinstance(extra, Sort)]
        if not sorts:
            raise TypeError(
                f"parameter {name} of rule {function.__name__} must be annotated with what it "
                "stands for, as in 'x: Integer'"
            )
        variadic = parameter.kind is inspect.Parameter.VAR_POSITIONAL
        parameters.append(Parameter(name, sorts[0], variadic))
    return tuple(parameters)


def _formula(x: Variable) -> str:
    return pp(x).replace("\n", "; ")
