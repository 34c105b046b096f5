"""The graph that an op holds made better for a linker."""

from __future__ import annotations

from frazil.compile.mode import Linker, find_linker
from frazil.compile.phases import optimize
from frazil.inner.inner_graph import Holder, with_inner_graph


def rewrite_inner_graph(
    op: Holder, linker: Linker | str, excluded: frozenset[str] = frozenset()
) -> Holder:
    """Return the op that holds what ``linker`` is to compile for ``op``, which stays as it is.

    Parameters
    ----------
    op : HasInnerGraph or ScalarLoop
        Ops within its graph that hold graphs are made better, too.
    linker : Linker or str
        Whose program it will be part of, or its name.
    excluded : frozenset of str
        Names of phases and rules that are left out.

    Returns
    -------
    HasInnerGraph or ScalarLoop
        Like ``op``, with the better graph.

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
    return with_inner_graph(op, linker.prepare(optimize(op.fgraph, excluded)))
