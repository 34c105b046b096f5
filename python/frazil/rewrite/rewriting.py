"""Rewriting a graph by rules."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from operator import attrgetter, is_
from typing import Any, Generic, NamedTuple, TypeVar, overload

import frazil._core as _core
from frazil._core import (
    FrozenFunctionGraph,
    FunctionGraph,
    MissingInputError,
    RuleSet,
    Variable,
)
from frazil.graph.answers import strangers
from frazil.graph.call_site import users_level
from frazil.graph.dataclass import dataclass
from frazil.rewrite.catalog import CANONICALIZE
from frazil.rewrite.definition import Rule
from frazil.tensor.formulas import pp


@dataclass(frozen=True, slots=True)
class Step:
    """One application of a rule.

    Attributes
    ----------
    rule : str
        Its name.
    where : tuple of (str, int, str) or None
        File, line and function of the user's code that built ``before``.
    before, after : Variable
        The variable that the rule applied to, its operands in normal form, and its replacement.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> from frazil import pp
    >>> from frazil.rewrite import rewrite
    >>> step, = rewrite(-(-ft.vector("x"))).trace
    >>> step.rule, pp(step.before), pp(step.after)
    ('neg_neg', '--x', 'x')
    """

    rule: str
    where: tuple[str, int, str] | None
    before: Variable
    after: Variable

    def __str__(self) -> str:
        before, after = (pp(x).replace("\n", "; ") for x in (self.before, self.after))
        place = "" if self.where is None else f"  [{self.where[0]}:{self.where[1]}]"
        return f"{self.rule}: {before} -> {after}{place}"


class Trace(Sequence[Step]):
    """The steps of a rewriting, in order; computed when they are first read.

    It has every step, also those whose result was remembered from another graph. The rules'
    functions are called again for it.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> from frazil.rewrite import rewrite
    >>> [step.rule for step in rewrite(-(-ft.vector("x")) * 1).trace]
    ['neg_neg', 'mul_one']
    """

    def __init__(self, rules: RuleSet, outputs: Sequence[Variable]) -> None:
        self._rules = rules
        self._outputs = outputs
        self._steps: list[Step] | None = None

    def _known(self) -> list[Step]:
        if self._steps is None:
            self._steps = [
                Step(rule.name, where, before, after)
                for rule, where, before, after in self._rules.trace(self._outputs)
            ]
        return self._steps

    @overload
    def __getitem__(self, index: int) -> Step: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Step]: ...
    def __getitem__(self, index: int | slice) -> Step | Sequence[Step]:
        return self._known()[index]

    def __iter__(self) -> Iterator[Step]:
        return iter(self._known())

    def __len__(self) -> int:
        return len(self._known())

    def __str__(self) -> str:
        return "\n".join(map(str, self._known()))

    def __repr__(self) -> str:
        return f"<Trace of {len(self)} steps>"


GraphT = TypeVar("GraphT")
KindT = TypeVar("KindT", FunctionGraph, FrozenFunctionGraph)


class Rewriting(NamedTuple, Generic[GraphT]):
    """The result of :func:`rewrite`: the graph, and the trace of the steps that made it.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> from frazil import pp
    >>> from frazil.rewrite import rewrite
    >>> rewriting = rewrite(-(-ft.vector("x")) * 1)
    >>> pp(rewriting.graph), len(rewriting.trace)
    ('x', 2)
    """

    graph: GraphT
    trace: Trace


class RuleCycleWarning(UserWarning):
    """A part of a graph stays as it is, since the rules that apply to it would not end.

    The compiled function is right, but may be slower or less precise than it could be.

    Examples
    --------
    >>> import warnings
    >>> from frazil.rewrite import RuleCycleWarning
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", RuleCycleWarning)
    """


Graph = TypeVar("Graph", Variable, FunctionGraph, FrozenFunctionGraph)


@overload
def rewrite(
    graph: Graph, rules: Iterable[Rule] | None = None, *, leave_cycles: bool = False
) -> Rewriting[Graph]: ...
@overload
def rewrite(
    graph: Sequence[Variable], rules: Iterable[Rule] | None = None, *, leave_cycles: bool = False
) -> Rewriting[list[Variable]]: ...
def rewrite(
    graph: Variable | Sequence[Variable] | FunctionGraph | FrozenFunctionGraph,
    rules: Iterable[Rule] | None = None,
    *,
    leave_cycles: bool = False,
) -> object:
    """Rewrite a graph by rules until none applies.

    Parameters
    ----------
    graph : Variable, sequence of Variable, FunctionGraph or FrozenFunctionGraph
        The graph to rewrite, which stays as it is.
    rules : iterable of Rule, optional
        The rules; where several apply, the first wins. Default: :data:`CANONICALIZE`.
    leave_cycles : bool, default False
        Leave nodes as they are on which rules would not end, with a :class:`RuleCycleWarning`, as
        :func:`frazil.function` does.

    Returns
    -------
    graph
        The rewritten graph: a variable, a list, or a graph of the same kind over the same inputs.
    trace : Trace
        The steps: rule, where, before, after.

    Raises
    ------
    RuleCycleError
        If rules lead back to an earlier graph, or apply without end, unless ``leave_cycles``. The
        message names them.
    TypeError
        If a rule's function returns a variable of another dtype, rank or shape.

    Notes
    -----
    One sweep from the inputs up rebuilds the nodes that change. The result of a set of rules for a
    node is remembered, across graphs, while the node and the result are alive. So a rule must
    depend on nothing but the nodes that it matches.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> from frazil import pp
    >>> from frazil.rewrite import rewrite
    >>> x, y = ft.vector("x"), ft.vector("y")
    >>> graph, trace = rewrite(-(-x) * 1 + -y)
    >>> pp(graph)
    'x - y'
    >>> [step.rule for step in trace]
    ['neg_neg', 'mul_one', 'add_neg']
    """
    if rules is None:
        rules = CANONICALIZE
    compiled = _rule_set(tuple(rules))
    made: Rewriting[Any]
    if isinstance(graph, Variable):
        results, trace, cycles = _rewrite_outputs([graph], compiled, leave_cycles)
        made = Rewriting(results[0], trace)
    elif isinstance(graph, list | tuple):
        results, trace, cycles = _rewrite_outputs(graph, compiled, leave_cycles)
        made = Rewriting(results, trace)
    elif isinstance(graph, FunctionGraph | FrozenFunctionGraph):
        whole: Any = graph  # of one kind or the other, as the result is
        made, cycles = _rewrite_graph(whole, compiled, leave_cycles)
    else:
        raise TypeError(
            f"expected a variable, a sequence of variables or a graph, given {type(graph).__name__}"
        )
    warn_of_cycles(cycles)
    return made


def _rewrite_outputs(
    outputs: Sequence[Variable], rules: RuleSet, leave_cycles: bool
) -> tuple[list[Variable], Trace, Mapping[str, str]]:
    """The rewritten outputs, their trace, and a message for each reason to leave nodes."""
    trace = Trace(rules, outputs)
    if not leave_cycles:
        return rules.rewrite(outputs), trace, {}
    results, cycles = _leaving_cycles(outputs, rules)
    return results, trace, cycles


def _leaving_cycles(
    outputs: Sequence[Variable], rules: RuleSet
) -> tuple[list[Variable], dict[str, str]]:
    """The rewritten outputs, and a message for each reason to leave nodes as they are."""
    results, left = rules.rewrite_leaving_cycles(outputs)
    cycles: dict[str, str] = {}
    for variable, why in left:
        source = None if variable.owner is None else variable.owner.source
        place = "" if source is None else f" ({source[0]}:{source[1]})"
        cycles.setdefault(
            why,
            f"{variable}{place} is compiled as it is written: {why}; a mode that excludes these "
            "rules gives the same without a warning",
        )
    return results, cycles


def warn_of_cycles(cycles: Mapping[str, str]) -> None:
    """Warn the user of each reason for which rules left something as it is."""
    for message in cycles.values():
        warnings.warn(message, RuleCycleWarning, stacklevel=users_level())


def _rewrite_graph(
    graph: KindT, rules: RuleSet, leave_cycles: bool
) -> tuple[Rewriting[KindT], Mapping[str, str]]:
    # The nodes that an input is computed from do not belong to the graph.
    inputs: Sequence[Variable] = graph.inputs
    hidden = {x: x.type(str(x)) for x in inputs if x.owner is not None}
    outputs = _core.graph_replace(graph.outputs, hidden) if hidden else graph.outputs
    results, trace, cycles = _rewrite_outputs(outputs, rules, leave_cycles)
    if hidden:
        results = _core.graph_replace(results, {new: old for old, new in hidden.items()})
    return Rewriting(_with_outputs(graph, results, trace), trace), cycles


def _with_outputs(graph: KindT, outputs: Sequence[Variable], trace: Trace) -> KindT:
    try:
        if isinstance(graph, FrozenFunctionGraph):
            return FrozenFunctionGraph(graph.inputs, outputs)
        rewritten = graph.clone()
        rewritten.set_outputs(outputs)
        return rewritten
    except MissingInputError as error:
        for step in trace:
            if others := strangers([step.after], [step.before]):
                error.add_note(
                    f"rule {step.rule} gives what needs {', '.join(map(str, others))}: {step}. A "
                    "right side is made of the node and of what its parameters match"
                )
        raise


@lru_cache(maxsize=64)
def _rule_set(rules: tuple[Rule, ...]) -> RuleSet:
    """The compiled set of some rules, which remembers its results for the next graph."""
    if {*map(type, rules)} != {Rule}:  # a few hundred rules: asked at once
        for one in rules:
            if not isinstance(one, Rule):
                raise TypeError(f"expected rules, as @rewrite.rule makes them, given {one!r}")
    return RuleSet([*map(_compiled, rules)])


@lru_cache(maxsize=64)
def rule_sets(phases: tuple[tuple[Rule, ...], ...]) -> tuple[RuleSet, ...]:
    """The compiled sets of phases, each of which has the rules of those before it, then its own.

    What a phase leaves as it is, the next one tries its own rules on alone.
    """
    sets: list[RuleSet] = []
    for own in phases:
        sets.append(RuleSet([*map(_compiled, own)], sets[-1]) if sets else _rule_set(own))
    return tuple(sets)


def rewrite_by(
    graph: FrozenFunctionGraph, rules: RuleSet
) -> tuple[FrozenFunctionGraph, Mapping[str, str]]:
    """The graph, rewritten by a compiled set; nodes on which rules would not end stay.

    With it comes a message for each reason to leave nodes.
    """
    outputs = graph.outputs
    results, cycles = _leaving_cycles(outputs, rules)
    # Most phases find nothing to do in most graphs.
    if all(map(is_, results, outputs)):
        return graph, cycles
    return _with_outputs(graph, results, Trace(rules, outputs)), cycles


_compiled = attrgetter("compiled")
