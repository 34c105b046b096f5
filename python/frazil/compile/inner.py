"""An op with its inner graph as a linker compiles it."""

from __future__ import annotations

from frazil.compile.mode import Linker, find_linker
from frazil.compile.phases import optimize
from frazil.inner.inner_graph import Holder, with_inner_graph
from frazil.rewrite.rewriting import warn_of_cycles


def rewrite_inner_graph(
    op: Holder, linker: Linker | str, excluded: frozenset[str] = frozenset()
) -> Holder:
    """Return an op like ``op`` that holds the graph which ``linker`` compiles for it.

    Parameters
    ----------
    op : HasInnerGraph or ScalarLoop
        It stays as it is. Ops within its graph that hold graphs are rewritten, too.
    linker : Linker or str
        The linker, or its name.
    excluded : frozenset of str
        Names of phases and rules that are left out.

    Returns
    -------
    HasInnerGraph or ScalarLoop
        The op with the rewritten graph.

    Examples
    --------
    >>> import frazil as fz, frazil.tensor as ft
    >>> x = ft.dvector("x")
    >>> op = fz.OpFromGraph([x], [ft.log(1 + ft.exp(x))])
    >>> print(fz.pp(fz.rewrite_inner_graph(op, "py").fgraph))
    softplus(*0)
    """
    if isinstance(linker, str):
        linker = find_linker(linker)
    graph, cycles = optimize(op.fgraph, excluded, linker.prepare)
    warn_of_cycles(cycles)
    return with_inner_graph(op, graph)
