"""Phases: the rules and passes that rewrite a graph before a linker compiles it, in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from frazil._core import FrozenFunctionGraph, RuleSet
from frazil.compile.failure import with_on_error, without_checks
from frazil.inner.inner_graph import HasInnerGraph
from frazil.inner.ops import ops_of
from frazil.inner.rebuild import Improve, expand_inline, rewrite_inner_graphs
from frazil.inner.sinking import sink_into_branches
from frazil.rewrite.catalog import BLAS, CANONICALIZE, SPECIALIZE, STABILIZE
from frazil.rewrite.definition import Rule
from frazil.rewrite.factors import searches_kept
from frazil.rewrite.merging.ifelse import merge_ifelses
from frazil.rewrite.merging.scalar_loops import optimize_scalar_loops
from frazil.rewrite.rewriting import rewrite_by, rule_sets
from frazil.rewrite.scan.passes import optimize_scans
from frazil.tensor.linalg.failure import OnError

PHASES: Mapping[str, tuple[Rule, ...]] = {
    "canonicalize": CANONICALIZE,
    "stabilize": STABILIZE,
    "specialize": SPECIALIZE,
    "blas": BLAS,
}
"""The phases of every linker, in order; each adds rules to the phases before it."""

SCAN = "scan"
"""The phase of passes over scans, which runs after the first of the others and has no rules.

Its passes over scalar loops run after the last of the others.
"""

CHECKS = "checks"
"""The checks of ``ft.assert_`` and ``ft.check_parameters``; if excluded, they are left out."""


Prepare: TypeAlias = Callable[[FrozenFunctionGraph, Improve], FrozenFunctionGraph]
"""A graph, and a function for the graphs that its ops hold, to the graph that a linker compiles."""


class Optimized(NamedTuple):
    """The graph that a linker compiles.

    ``cycles`` has the reasons for which rules left nodes as they are, and a message of each.
    """

    graph: FrozenFunctionGraph
    cycles: Mapping[str, str]


def optimize(
    graph: FrozenFunctionGraph,
    excluded: frozenset[str],
    prepare: Prepare = rewrite_inner_graphs,
    on_error: OnError | None = None,
    included: tuple[Rule, ...] = (),
) -> Optimized:
    """Return the graph that a linker compiles for ``graph``: the same one for equal graphs.

    Parameters
    ----------
    graph : FrozenFunctionGraph
        The graph to compile. It stays as it is.
    excluded : frozenset of str
        Names of phases and rules that are left out.
    prepare : callable, optional
        The linker's own changes, after all phases: :meth:`frazil.compile.mode.Linker.prepare`.
    on_error : {"raise", "nan"} or None
        The effect of matrices without factors; None: by each op's own ``on_error``.
    included : tuple of Rule
        Rules of users, which come before those of each phase.

    Examples
    --------
    >>> import frazil as fz, frazil.tensor as ft
    >>> from frazil.compile.phases import optimize
    >>> x = ft.vector("x")
    >>> graph = fz.FrozenFunctionGraph([x], [ft.log(1 + ft.exp(x))])
    >>> print(fz.pp(optimize(graph, frozenset()).graph))
    softplus(*0)
    """
    rules = rule_sets(_rules_of_phases(excluded, included))
    with searches_kept():
        descent = _Descent(rules, excluded, prepare, on_error)
        return Optimized(descent.optimized(graph), descent.cycles)


class _Descent:
    """The descent into a graph and the graphs that its ops hold, which go through all phases.

    Passes over scans move nodes out of inner graphs, so an inner graph becomes canonical before the
    scans around it are optimized; it goes through the other phases, and the linker's preparation,
    afterwards. Results are remembered by graph: ops that are applied several times hold one graph,
    which may hold such ops again.
    """

    def __init__(
        self,
        rules: tuple[RuleSet, ...],
        excluded: frozenset[str],
        prepare: Prepare,
        on_error: OnError | None,
    ) -> None:
        self._rules = rules
        self._canonicalizes = "canonicalize" not in excluded
        self._optimizes_scans = SCAN not in excluded
        self._checks = CHECKS not in excluded
        self._prepare = prepare
        self._on_error = on_error
        self.cycles: dict[str, str] = {}
        self._canonical: dict[FrozenFunctionGraph, FrozenFunctionGraph] = {}
        self._optimized: dict[FrozenFunctionGraph, FrozenFunctionGraph] = {}

    def optimized(self, graph: FrozenFunctionGraph) -> FrozenFunctionGraph:
        """``graph``, and all graphs within it, as the linker compiles them."""
        found = self._optimized.get(graph)
        if found is None:
            made = self._canonical_form(graph)
            for rules in self._rules:
                made = self._rewritten(made, rules)
            if self._optimizes_scans:
                made = optimize_scalar_loops(made)
            found = self._optimized[graph] = self._prepare(made, self.optimized)
        return found

    def _rewritten(self, graph: FrozenFunctionGraph, rules: RuleSet) -> FrozenFunctionGraph:
        made, cycles = rewrite_by(graph, rules)
        for why, message in cycles.items():
            self.cycles.setdefault(why, message)
        return made

    def _canonical_form(self, graph: FrozenFunctionGraph) -> FrozenFunctionGraph:
        """``graph``, and all graphs within it, canonical and with optimized scans."""
        if graph not in self._canonical:
            self._canonical[graph] = self._made_canonical(graph)
        return self._canonical[graph]

    def _made_canonical(self, graph: FrozenFunctionGraph) -> FrozenFunctionGraph:
        graph = expand_inline(graph)
        if not self._checks:
            graph = without_checks(graph)
        if self._on_error is not None:
            graph = with_on_error(graph, self._on_error)
        graph = sink_into_branches(graph)
        if not any(isinstance(op, HasInnerGraph) for op in ops_of(graph)):
            return graph
        if self._canonicalizes:
            graph = self._rewritten(graph, self._rules[0])
        graph = merge_ifelses(graph)
        graph = rewrite_inner_graphs(graph, self._canonical_form)
        return optimize_scans(graph) if self._optimizes_scans else graph


def check_names(names: Iterable[str]) -> None:
    """Raise ValueError unless each is the name of a phase or of a rule of one.

    Examples
    --------
    >>> from frazil.compile.phases import check_names
    >>> check_names(["stabilize", "neg_neg"])
    """
    rules = {rule.name for phase in PHASES.values() for rule in phase}
    for name in names:
        if name not in (*PHASES, SCAN, CHECKS, *rules):
            raise ValueError(
                f"no phase or rule is named {name!r}; the phases are {', '.join(PHASES)}, "
                f"{SCAN} and {CHECKS}, and fz.dprint(f) and fz.rewrite.rewrite(graph).trace show "
                "what rules did"
            )


@lru_cache(maxsize=32)
def _rules_of_phases(
    excluded: frozenset[str], included: tuple[Rule, ...]
) -> tuple[tuple[Rule, ...], ...]:
    """The rules that each phase in use adds to those before it."""
    phases = [
        tuple([rule for rule in rules if rule.name not in excluded]) if excluded else rules
        for name, rules in PHASES.items()
        if name not in excluded
    ]
    if included:
        phases[:1] = [included + (phases[0] if phases else ())]
    return tuple(phases)
