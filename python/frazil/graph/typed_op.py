"""Ops whose nodes the core types."""

from __future__ import annotations

from typing import Any, ClassVar

import frazil._core as _core
from frazil._core import FrozenApply, Variable
from frazil.graph.op import Op


class TypedOp(Op):
    """Base of ops whose nodes the core types, by a rule that it knows by name.

    Of a subclass with a ``make_node`` of its own, that makes the nodes, as of any other op.
    """

    rule: ClassVar[str]

    def make_node(self, *inputs: Variable) -> FrozenApply:
        node = _core.apply(self, *inputs).owner
        assert node is not None
        return node

    def __call__(self, *inputs: Any) -> Any:
        """The output of the op applied to ``inputs``."""
        return _core.apply(self, *inputs) if self._is_typed() else super().__call__(*inputs)

    def _rule(self) -> str | None:
        return self.rule if self._is_typed() else None

    def _is_typed(self) -> bool:
        return type(self).make_node is TypedOp.make_node
