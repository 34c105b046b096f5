"""What the graphs of ops may do in place: a question for every such op, which linkers answer."""

from __future__ import annotations

from typing import Any

from frazil.ifelse import IfElse
from frazil.link.contract import in_place_contract
from frazil.op_from_graph import OpFromGraph


@in_place_contract
def op_from_graph_inputs(linker: Any, op: OpFromGraph) -> tuple[int, ...]:
    """The inputs of the graph whose memory a call of it may use up."""
    raise AssertionError("never called")


@in_place_contract
def ifelse_inputs(linker: Any, op: IfElse) -> tuple[int, ...]:
    """The inputs of the graph whose memory a branch may use up."""
    raise AssertionError("never called")
