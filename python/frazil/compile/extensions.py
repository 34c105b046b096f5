"""Rules that users registered for their own ops."""

from __future__ import annotations

from operator import attrgetter

from frazil.cache.modules import is_frazil, is_frazils
from frazil.link.lowering.inner import inner_graphs
from frazil.link.lowering.native_form import native_form
from frazil.link.lowering.node import lower_node
from frazil.link.lowering.scalarize import scalarize
from frazil.rewrite.scan.hoisting import over_rows
from frazil.tensor.updates import updated_operand

_REGISTRIES = (scalarize, inner_graphs, native_form, lower_node, over_rows, updated_operand)


def users_rules() -> list[object]:
    """Return the users' rules that take part in compiling, each after the class that it is for.

    Examples
    --------
    >>> from frazil.compile.extensions import users_rules
    >>> isinstance(users_rules(), list)
    True
    """
    return [
        part
        for registry in _REGISTRIES
        # Most often all are frazil's own, as the names of a few modules tell.
        if not all(map(is_frazils, {*map(_module, registry.registry.values())}))
        for pair in registry.registry.items()
        if not is_frazil(pair[1])
        for part in pair
    ]


_module = attrgetter("__module__")
