"""Ops whose nodes the core types."""

from __future__ import annotations

from typing import Any, ClassVar

import frazil._core as _core
from frazil._core import FrozenApply, Variable
from frazil.graph.op import Op


class TypedOp(Op):
    """Base of ops whose nodes the core types, by a rule that it knows by name."""

    rule: ClassVar[str]

    def make_node(self, *inputs: Variable) -> FrozenApply:
        node = _core.apply(self, *inputs).owner
        assert node is not None
        return node

    def __call__(self, *inputs: Any) -> Any:
        """The output of the op applied to ``inputs``."""
        return _core.apply(self, *inputs)

    def _rule(self) -> str:
        return self.rule
