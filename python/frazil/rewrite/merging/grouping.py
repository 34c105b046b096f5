"""An order of nodes in which those that could be one are beside each other."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Hashable, Mapping, Sequence

from frazil._core import FrozenApply


def in_groups(
    order: Sequence[FrozenApply],
    kinds: Mapping[FrozenApply, Hashable],
    whole: Mapping[FrozenApply, FrozenApply] | None = None,
) -> list[list[FrozenApply]]:
    """Return the nodes in groups, each after those that it needs; of one node where it has no kind.

    Nodes of one kind are in one group if none of them needs another by way of a node that is
    outside of the group. Where groups of different kinds stand in each other's way, one is divided.
    The work grows with the number of nodes and operands.

    Parameters
    ----------
    order : sequence of node
        Each after those that it needs.
    kinds : mapping of node to hashable
        What nodes have in common that may be in one group.
    whole : mapping of node to node, optional
        Nodes that belong to one of ``kinds``: nobody needs them but that one, and others of the
        same. They are left out, and are where it is.

    Returns
    -------
    list of list of node
        In a group a node is after those whose results it takes.

    Examples
    --------
    >>> import frazil as fz
    >>> import frazil.tensor as ft
    >>> from frazil.rewrite.merging.grouping import in_groups
    >>> x = ft.vector("x")
    >>> graph = fz.FrozenFunctionGraph([x], [ft.sin(x), ft.exp(ft.sin(2 * x))])
    >>> order = graph.toposort()
    >>> groups = in_groups(order, {node: "sin" for node in order if str(node.op) == "sin"})
    >>> [[str(node.op) for node in group] for group in groups]
    [['mul'], ['sin', 'sin'], ['exp']]
    """
    whole = whole or {}
    waiting = dict.fromkeys((node for node in order if node not in whole), 0)
    users: dict[FrozenApply, list[FrozenApply]] = {node: [] for node in waiting}
    met: set[tuple[FrozenApply, FrozenApply]] = set()
    for node in order:
        user = whole.get(node, node)
        for x in node.inputs:
            owner = None if x.owner is None else whole.get(x.owner, x.owner)
            if owner in users and owner is not user and (owner, user) not in met:
                met.add((owner, user))
                users[owner].append(user)
                waiting[user] += 1

    groups: list[list[FrozenApply]] = []
    single: deque[FrozenApply] = deque()
    # By kind: what could be done now, and how many cannot yet.
    open_: dict[Hashable, list[FrozenApply]] = {}
    missing = Counter(kinds.values())
    begun: deque[Hashable] = deque()
    complete: deque[Hashable] = deque()

    def get_ready(node: FrozenApply) -> None:
        kind = kinds.get(node)
        if kind is None:
            single.append(node)
            return
        if not open_.setdefault(kind, []):
            begun.append(kind)
        open_[kind].append(node)
        missing[kind] -= 1
        if not missing[kind]:
            complete.append(kind)

    def release(node: FrozenApply) -> None:
        for user in users[node]:
            waiting[user] -= 1
            if not waiting[user]:
                get_ready(user)

    for node, count in list(waiting.items()):
        if not count:
            get_ready(node)
    while single or begun:
        if single:
            groups.append([single.popleft()])
            release(groups[-1][0])
            continue
        kind = complete.popleft() if complete else begun.popleft()
        group = open_[kind]
        # What takes results of the group alone comes to its end while that is gone through.
        for node in group:
            release(node)
        if group:
            groups.append(group)
            open_[kind] = []
    return groups
