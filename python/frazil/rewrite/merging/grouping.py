"""Grouping of nodes that could be merged into one, in an order in which the groups can run."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Hashable, Mapping, Sequence

from frazil._core import FrozenApply


def in_groups(
    order: Sequence[FrozenApply],
    kinds: Mapping[FrozenApply, Hashable],
    whole: Mapping[FrozenApply, FrozenApply] | None = None,
) -> list[list[FrozenApply]]:
    """Return the nodes in groups, operands before users; a node without a kind is a group.

    Nodes of one kind are in one group if none depends on another through a node outside the group.
    Where groups of different kinds would have to wait for each other, one is divided. The work
    grows with the number of nodes and operands.

    Parameters
    ----------
    order : sequence of node
        All nodes, operands before users.
    kinds : mapping of node to hashable
        The kind of each node that may share a group with others of that kind.
    whole : mapping of node to node, optional
        For a node that belongs to a node of ``kinds``: that node. Only that node, and others that
        belong to it, use its results. It is left out of the groups.

    Returns
    -------
    list of list of node
        In a group too, operands stand before users.

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
    return _Grouping(order, kinds, whole or {}).groups()


class _Grouping:
    """The nodes that wait for others, and those that are ready, by kind."""

    def __init__(
        self,
        order: Sequence[FrozenApply],
        kinds: Mapping[FrozenApply, Hashable],
        whole: Mapping[FrozenApply, FrozenApply],
    ) -> None:
        self.kinds = kinds
        self.waiting = dict.fromkeys((node for node in order if node not in whole), 0)
        self.users: dict[FrozenApply, list[FrozenApply]] = {node: [] for node in self.waiting}
        met: set[tuple[FrozenApply, FrozenApply]] = set()
        for node in order:
            user = whole.get(node, node)
            for x in node.inputs:
                owner = None if x.owner is None else whole.get(x.owner, x.owner)
                if owner in self.users and owner is not user and (owner, user) not in met:
                    met.add((owner, user))
                    self.users[owner].append(user)
                    self.waiting[user] += 1
        self.single: deque[FrozenApply] = deque()
        # For each kind: the nodes that are ready, and the number of those that are not yet.
        self.ready: dict[Hashable, list[FrozenApply]] = {}
        self.missing = Counter(kinds.values())
        self.begun: deque[Hashable] = deque()
        self.complete: deque[Hashable] = deque()

    def _get_ready(self, node: FrozenApply) -> None:
        kind = self.kinds.get(node)
        if kind is None:
            self.single.append(node)
            return
        if not self.ready.setdefault(kind, []):
            self.begun.append(kind)
        self.ready[kind].append(node)
        self.missing[kind] -= 1
        if not self.missing[kind]:
            self.complete.append(kind)

    def _release(self, node: FrozenApply) -> None:
        """Make the users ready that waited for this node alone."""
        for user in self.users[node]:
            self.waiting[user] -= 1
            if not self.waiting[user]:
                self._get_ready(user)

    def groups(self) -> list[list[FrozenApply]]:
        """The groups, in an order in which they can run."""
        groups: list[list[FrozenApply]] = []
        for node, count in list(self.waiting.items()):
            if not count:
                self._get_ready(node)
        while self.single or self.begun:
            if self.single:
                groups.append([self.single.popleft()])
                self._release(groups[-1][0])
                continue
            kind = self.complete.popleft() if self.complete else self.begun.popleft()
            group = self.ready[kind]
            # The group grows while it is walked: by users of its own results alone.
            for node in group:
                self._release(node)
            if group:
                groups.append(group)
                self.ready[kind] = []
        return groups
