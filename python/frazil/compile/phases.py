"""Phases: which rules a graph is rewritten by before a linker sees it, and in which order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

from frazil._core import FrozenFunctionGraph
from frazil.inner.inner_graph import HasInnerGraph
from frazil.inner.rebuild import Improve, expand_inline, once_each, rewrite_inner_graphs
from frazil.inner.sinking import sink_into_branches
from frazil.rewrite.catalog import BLAS, CANONICALIZE, SPECIALIZE, STABILIZE
from frazil.rewrite.definition import Rule
from frazil.rewrite.merging.ifelse import merge_ifelses
from frazil.rewrite.merging.scalar_loops import optimize_scalar_loops
from frazil.rewrite.rewriting import rewrite
from frazil.rewrite.scan.passes import optimize_scans

PHASES: Mapping[str, tuple[Rule, ...]] = {
    "canonicalize": CANONICALIZE,
    "stabilize": STABILIZE,
    "specialize": SPECIALIZE,
    "blas": BLAS,
}
"""The phases of every linker, in order, and what each adds to the rules of those before it."""

SCAN = "scan"
"""The phase of passes over scans, which runs after the first of the others and has no rules.

Its passes over scalar loops run after the last of the others.
"""


def optimize(graph: FrozenFunctionGraph, excluded: frozenset[str]) -> FrozenFunctionGraph:
    """Return what the phases make of ``graph``: equal graphs become one and the same.

    Parameters
    ----------
    graph : FrozenFunctionGraph
        What to compile. It stays as it is.
    excluded : frozenset of str
        Names of phases and rules that are left out.

    Examples
    --------
    >>> import frazil as fz, frazil.tensor as ft
    >>> from frazil.compile.phases import optimize
    >>> x = ft.vector("x")
    >>> graph = fz.FrozenFunctionGraph([x], [ft.log(1 + ft.exp(x))])
    >>> print(fz.pp(optimize(graph, frozenset())))
    softplus(*0)
    """

    def improve_loops_first(graph: FrozenFunctionGraph, inner: Improve) -> FrozenFunctionGraph:
        return _canonical(graph, excluded, inner)

    canonical = once_each(improve_loops_first)

    def improve(graph: FrozenFunctionGraph, inner: Improve) -> FrozenFunctionGraph:
        graph = canonical(graph)
        for rules in _rules_of_phases(excluded):
            graph = rewrite(graph, rules, leave_cycles=True).graph
        if SCAN not in excluded:
            graph = optimize_scalar_loops(graph)
        return rewrite_inner_graphs(graph, inner)

    return once_each(improve)(graph)


def _canonical(
    graph: FrozenFunctionGraph, excluded: frozenset[str], inner: Improve
) -> FrozenFunctionGraph:
    """``graph`` and the graphs in it in the form that loops are improved in, and so improved."""
    graph = sink_into_branches(expand_inline(graph))
    if not any(isinstance(node.op, HasInnerGraph) for node in graph.toposort()):
        return graph
    if "canonicalize" not in excluded:
        rules = _rules_of_phases(excluded)[0]
        graph = rewrite(graph, rules, leave_cycles=True).graph
    graph = merge_ifelses(graph)
    graph = rewrite_inner_graphs(graph, inner)
    return graph if SCAN in excluded else optimize_scans(graph)


def check_names(names: Iterable[str]) -> None:
    """Raise ValueError unless each is the name of a phase or of a rule of one.

    Examples
    --------
    >>> from frazil.compile.phases import check_names
    >>> check_names(["stabilize", "neg_neg"])
    """
    rules = {rule.name for phase in PHASES.values() for rule in phase}
    for name in names:
        if name not in PHASES and name != SCAN and name not in rules:
            raise ValueError(
                f"no phase or rule is named {name!r}; the phases are {', '.join(PHASES)} and "
                f"{SCAN}, and fz.dprint(f) and fz.rewrite.rewrite(graph).trace show what rules did"
            )


@lru_cache(maxsize=32)
def _rules_of_phases(excluded: frozenset[str]) -> tuple[tuple[Rule, ...], ...]:
    """The rules of each phase that runs: its own after those of the phases before it."""
    phases: list[tuple[Rule, ...]] = []
    known: tuple[Rule, ...] = ()
    for name, rules in PHASES.items():
        if name not in excluded:
            known = (*known, *(rule for rule in rules if rule.name not in excluded))
            phases.append(known)
    return tuple(phases)
