"""What others than frazil registered for their ops and linkers."""

from __future__ import annotations

from typing import Any

from frazil.cache.content import is_frazil
from frazil.link.components import components
from frazil.link.contract import inner_graphs
from frazil.link.in_place import ifelse_inputs, op_from_graph_inputs
from frazil.link.lowering.node import lower_node
from frazil.link.placement import updated_operand
from frazil.link.scan_contract import scan_in_place
from frazil.loop.hoisting import over_rows

_REGISTRIES = (
    *(components, ifelse_inputs, inner_graphs, lower_node),
    *(op_from_graph_inputs, over_rows, scan_in_place, updated_operand),
)


def users_rules() -> list[Any]:
    """The rules by which programs are made that are not frazil's, each after its class.

    Examples
    --------
    >>> from frazil.link.extensions import users_rules
    >>> isinstance(users_rules(), list)
    True
    """
    return [
        part
        for registry in _REGISTRIES
        for pair in registry.registry.items()
        if not is_frazil(pair[1])
        for part in pair
    ]
