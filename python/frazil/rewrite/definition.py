"""Rules: laws written with the real operators, which apply from left to right."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias, get_args

import frazil._core as _core
from frazil._core import FrozenApply, RewriteRule, TensorType, Variable
from frazil.graph.answers import note_place
from frazil.graph.cached_property import cached_property
from frazil.graph.dataclass import dataclass
from frazil.rewrite.guard import Guard
from frazil.rewrite.ranks import REFUSALS, OtherMeaning, without_dimensions
from frazil.rewrite.sort import Sort
from frazil.rewrite.wildcard import Wildcard
from frazil.scalar.elemwise import Elemwise
from frazil.tensor.docstrings import described
from frazil.tensor.formulas import pp

RightSide: TypeAlias = Callable[..., Variable | Sequence[Variable] | None]
"""A function of the matched node and variables, which returns the right side, or None."""

Law: TypeAlias = tuple[Variable | Sequence[Variable] | RightSide | Guard, ...]
"""The value of a rule's function: its left side, its right side and its guards.

A left side is a variable, or a list of outputs of one node. A right side is a variable, a list of
as many, or a function.
"""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a rule."""

    name: str
    sort: Sort
    variadic: bool
    """Whether it matches several operands."""


@dataclass(frozen=True, slots=True)
class Sides:
    """The sides and guards of a rule over some variables; ``right`` may be a function."""

    left: tuple[Variable, ...]
    right: tuple[Variable, ...] | RightSide
    guards: tuple[Guard, ...]


class Rule:
    """A law, compiled once; made by :func:`rule`.

    Attributes
    ----------
    name : str
        The name of its function.
    law : str
        Why it holds: the first line of the function's docstring.
    parameters : tuple of Parameter
        The parameters of its function.
    unknowns : tuple of Variable
        A variable of the sample dtype for each parameter.
    sides : Sides
        Its sides, over the unknowns.
    compiled : RewriteRule
        The pattern and template for the core.

    Examples
    --------
    >>> from frazil.rewrite import ALGEBRA
    >>> law = next(rule for rule in ALGEBRA if rule.name == "neg_neg")
    >>> print(law)
    neg_neg: --x -> x if x: number
    >>> law.law
    '-(-x) == x, where integers wrap around too.'
    """

    def __init__(self, function: Callable[..., Law]) -> None:
        self.function = function
        self.name: str = function.__name__
        self.law: str = (inspect.getdoc(function) or "").partition("\n")[0]
        self.__doc__ = inspect.getdoc(function)
        self.__module__ = function.__module__
        if not self.law and sys.flags.optimize < 2:  # Python -OO leaves docstrings out
            raise ValueError(
                f"rule {self.name} must say its law in the first line of its docstring"
            )
        self.parameters = _parameters_of(function)
        self.unknowns = tuple(
            TensorType(p.sort.sample, (None,) * p.sort.ndim)(p.name) for p in self.parameters
        )
        try:
            self.sides = self.over(*self.unknowns)
        except Exception as error:
            error.add_note(
                f"in rule {self.name}, whose parameters have no dimensions while it is written, "
                "unless their sort has a rank"
            )
            raise
        self._check_sides()
        self.compiled = self._compile(self._ranks())

    def over(self, *variables: Variable) -> Sides:
        """The sides of the rule over these variables, one for each parameter."""
        written = self.function(*variables)
        if not isinstance(written, tuple) or len(written) < 2:
            raise TypeError(
                f"rule {self.name} must return its left side, its right side and its guards, "
                f"given {written!r}"
            )
        left, right = self._side(written[0]), written[1]
        guards = []
        for guard in written[2:]:
            if not isinstance(guard, Guard):
                raise TypeError(
                    f"a guard of rule {self.name} must be a Guard, given {guard!r}: "
                    "holds(predicate, x, ...) makes one of a function of matched variables"
                )
            guards.append(guard)
        return Sides(left, right if callable(right) else self._side(right), tuple(guards))

    def _check_sides(self) -> None:
        left, right = self.sides.left, self.sides.right
        if callable(right):
            return
        if len(left) != len(right):
            raise TypeError(
                f"rule {self.name}: its left side has {len(left)} outputs and its right side "
                f"{len(right)}; each is to take the place of one"
            )
        for x, y in zip(left, right, strict=True):
            # Elementwise sides may have one type for other dtypes than those of the samples.
            is_typed = y.owner is None or isinstance(y.owner.op, Elemwise)
            if not is_typed and (x.ndim, x.dtype) != (y.ndim, y.dtype):
                raise TypeError(
                    f"rule {self.name}: its right side, {_formula(y)}, has type {y.type} where its "
                    f"left side, {_formula(x)}, has {x.type}; what takes the place of a variable "
                    "has its dtype and its rank"
                )

    def _ranks(self) -> list[tuple[int, int]]:
        """The positions of parameters that match one rank only, and the rank.

        frazil's own laws are checked by a test, as this takes its time.
        """
        of_one = [
            (at, p.sort.ndim)
            for at, p in enumerate(self.parameters)
            if p.sort.ndim and not p.sort.any_rank
        ]
        if self.__module__.startswith("frazil."):
            return of_one
        return of_one + [(at, 0) for at in self.without_dimensions()]

    def without_dimensions(self) -> list[int]:
        """The positions of parameters that can have no dimensions: an op of the law takes none.

        Raises
        ------
        TypeError
            If the law says something else of variables with dimensions.
        """

        def over(variables: Sequence[Variable]) -> tuple[tuple[Variable, ...], ...]:
            sides = self.over(*variables)
            right = () if callable(sides.right) else sides.right
            return (sides.left, right, *(guard.variables for guard in sides.guards))

        free = [at for at, p in enumerate(self.parameters) if not p.sort.ndim]
        try:
            return without_dimensions(self.unknowns, free, over)
        except OtherMeaning as found:
            by, kind = "", "Class"
            if found.ops:
                by, kind = f" (by {', '.join(found.ops)})", found.ops[0]
            raise TypeError(
                f"rule {self.name}: its parameters have no dimensions while it is written, though "
                f"they match variables of any rank. So it says {found.flat}, which would be "
                f"{found.deep} of matrices{by}. A law is for elementwise ops: apply another op by "
                f"its class, any_kind({kind})(...), with a function as the right side, or give the "
                'parameter a rank, as in Annotated[Variable, Sort("matrix", ("float64",), '
                '"float64", ndim=2)]'
            ) from None

    def _side(self, written: object) -> tuple[Variable, ...]:
        side = tuple(written) if isinstance(written, list | tuple) else (written,)
        for x in side:
            if not isinstance(x, Variable):
                raise TypeError(f"a side of rule {self.name} must be a Variable, given {x!r}")
        return side

    def _compile(self, ranks: Sequence[tuple[int, int]]) -> RewriteRule:
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
        predicates: list[tuple[Callable[..., object], list[int]]] = [
            *((partial(_has_rank, rank), [at]) for at, rank in ranks),
            *(
                (guard.predicate, [position[x] for x in guard.variables])
                for guard in guards
                if guard.predicate is not None
            ),
        ]

        def all_hold(*bindings: Variable | Sequence[Variable]) -> bool:
            try:
                return all(
                    predicate(*[bindings[at] for at in positions])
                    for predicate, positions in predicates
                )
            except Exception as error:
                error.add_note(f"in a guard of rule {self.name}, for {bindings}")
                raise

        return RewriteRule(
            name=self.name,
            lefts=list(left),
            rights=None if callable(right) else list(right),
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
            function=self._function(right),
            every_output=callable(right)
            and root is not None
            and isinstance(root.op, Wildcard)
            and not isinstance(root.op.stands_for, tuple),
        )

    def _function(self, right: tuple[Variable, ...] | RightSide) -> Callable[..., object] | None:
        """The function that gives right sides; None if wildcards are in them, for the core."""
        if callable(right):
            return self._named(right)
        ops = [node.op for node in _core.toposort(right)]
        return None if any(isinstance(op, Wildcard) for op in ops) else self._written_again

    def _written_again(
        self, node: FrozenApply, *bindings: Variable | Sequence[Variable]
    ) -> Variable | list[Variable] | None:
        """The right side over matched variables, which the core asks for where ops type themselves.

        None if an op of the law refuses the types of the variables.
        """
        matched: list[Variable] = []
        for binding in bindings:
            matched += [binding] if isinstance(binding, Variable) else binding
        try:
            right = self.over(*matched).right
        except REFUSALS:
            return None
        except Exception as error:
            note_place(error, f"the right side of rule {self.name}, for", node)
            raise
        assert not callable(right)
        return right[0] if len(right) == 1 else [*right]

    def _named(self, right: RightSide) -> RightSide:
        """A right side whose errors name the rule and the node."""

        def answer(
            node: FrozenApply, *bindings: Variable | Sequence[Variable]
        ) -> Variable | Sequence[Variable] | None:
            try:
                return right(node, *bindings)
            except Exception as error:
                note_place(error, f"the right side of rule {self.name}, for", node)
                raise

        # frazil's own are called thousands of times while a function is compiled.
        return right if self.__module__.startswith("frazil.") else answer

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

    def __reduce__(self) -> str | tuple[object, ...]:
        name = self.function.__qualname__
        module = sys.modules.get(self.__module__)
        if module is not None and self.__module__ != "__main__" and vars(module).get(name) is self:
            return name
        return Rule, (self.function,)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<Rule {self.text}>"


@described
def rule(function: Callable[..., Law]) -> Rule:
    """Return the rule that a function defines.

    The function's parameters are the variables of the law; their annotations say which variables
    each may match. The function returns the left side, the right side, and any guards. The first
    line of its docstring is the law.

    function (callable): Called with variables, to build real nodes. A left side applies an
        op. Operands of commutative ops match in any order, a parameter that is used twice matches
        one variable, a number matches constants of this value in any dtype, and ``*xs`` matches all
        other operands. A right side may be a function: it is called with the matched node and the
        variables that the parameters matched, and returns a variable, or None if the rule does not
        apply.
    returns (Rule): For :func:`rewrite`.

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


def _parameters_of(function: Callable[..., Law]) -> tuple[Parameter, ...]:
    parameters = []
    for name, parameter in inspect.signature(function, eval_str=True).parameters.items():
        sorts = [extra for extra in get_args(parameter.annotation) if isinstance(extra, Sort)]
        if not sorts:
            raise TypeError(
                f"parameter {name} of rule {function.__name__} must be annotated with its sort, "
                "as in 'x: Integer'"
            )
        variadic = parameter.kind is inspect.Parameter.VAR_POSITIONAL
        parameters.append(Parameter(name, sorts[0], variadic))
    return tuple(parameters)


def _has_rank(rank: int, binding: Variable | Sequence[Variable]) -> bool:
    """Whether variables have a rank, and, as the unknowns of a law, no dimension that repeats."""
    matched = [binding] if isinstance(binding, Variable) else binding
    return all(x.ndim == rank and True not in x.broadcastable for x in matched)


def _formula(x: Variable) -> str:
    return pp(x).replace("\n", "; ")
