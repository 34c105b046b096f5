"""Lengths in the steps of scans: they are read from an input of the step that has them.

Rewriting moves lengths before a scan, which hands them to its steps as numbers. A program knows the
shapes of its inputs before it runs, but not their values. So a step with a slice between two such
numbers would be bound anew each time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import frazil._core as _core
from frazil._core import Constant, FrozenApply, FrozenFunctionGraph, Variable
from frazil.inner.inner_graph import with_inner_graph
from frazil.inner.ops import ops_of
from frazil.inner.rebuild import replace_nodes
from frazil.link.fusion.operands import value_operands
from frazil.scan.body import ancestors
from frazil.scan.op import Scan
from frazil.tensor.lengths import LENGTH, Shape_i
from frazil.tensor.shapes import Shapes, find_after_operands, is_size_arithmetic

Lengths: TypeAlias = Mapping[Variable, Variable]
"""Maps variables to what stands for them in a step."""


def with_step_lengths(graph: FrozenFunctionGraph) -> FrozenFunctionGraph:
    """``graph`` with scans whose steps ask their inputs for lengths that they were handed."""
    if not any(isinstance(op, Scan) for op in ops_of(graph)):
        return graph
    order = graph.toposort()
    handed = {node: own for node in order if isinstance(node.op, Scan) and (own := _handed(node))}
    if not handed:
        return graph
    shapes = Shapes(order)
    found = {
        node: lengths
        for node, own in handed.items()
        if (lengths := _own_lengths(node, own, shapes))[0]
    }

    def formed(node: FrozenApply, inputs: list[Variable]) -> Sequence[Variable]:
        inner, (lengths, more) = node.op.fgraph, found[node]
        outputs = _core.graph_replace(inner.outputs, lengths)
        inner_inputs = [*inner.inputs, *more.values()]
        op: Scan = with_inner_graph(node.op, FrozenFunctionGraph(inner_inputs, outputs))
        return op.make_node(*inputs, *more).outputs

    return replace_nodes(graph, found.__contains__, formed)


def _handed(node: FrozenApply) -> list[Variable]:
    """The inputs of a scan's step that may be lengths."""
    inputs = node.op.non_sequences
    return [x for x in inputs if x.type == LENGTH and not isinstance(x, Constant)]


def _own_lengths(
    node: FrozenApply, handed: Sequence[Variable], shapes: Shapes
) -> tuple[Lengths, Lengths]:
    """For inputs of a step that are only lengths, the same lengths of its other inputs.

    And inputs of the graph that have lengths which no input of the step has: a step gets these,
    too, to ask for nothing but lengths. By each, the new input of the step.
    """
    op = node.op
    outer = dict(zip(op.fgraph.inputs, node.inputs[1:], strict=True))
    asked: dict[Variable, Variable | None] = {}
    for x, given in outer.items():
        lengths = shapes.lengths(given)[1:] if x in op.elements else shapes.lengths(given)
        for axis, length in enumerate(lengths):
            if not isinstance(length, Constant):
                asked.setdefault(length, Shape_i(axis)(x))
    read = _read_as_values(op.fgraph)
    wanted = {x: shapes.canonical(outer[x]) for x in handed if x not in read}
    more: dict[Variable, Variable] = {}
    for length in wanted.values():
        if _asked(length, dict(asked)) is None:
            for leaf in shapes.leaves_of([length]):
                if leaf.ndim and leaf.owner is None and not isinstance(leaf, Constant):
                    inner = more.setdefault(leaf, leaf.type(None))
                    for axis, own in enumerate(shapes.lengths(leaf)):
                        if not isinstance(own, Constant):
                            asked.setdefault(own, Shape_i(axis)(inner))
    answers = {x: _asked(length, asked) for x, length in wanted.items()}
    found = {x: own for x, own in answers.items() if own is not None}
    needed = ancestors(found.values())
    return found, {leaf: inner for leaf, inner in more.items() if inner in needed}


def _asked(length: Variable, asked: dict[Variable, Variable | None]) -> Variable | None:
    """A length before the scan, by the lengths that a step may ask for; None if it cannot."""

    def ask(current: Variable, operands: tuple[Variable, ...]) -> Variable | None:
        if isinstance(current, Constant):
            return current
        node = current.owner
        if node is None or not operands:
            return None
        own = [found for x in operands if (found := asked[x]) is not None]
        return _core.elemwise(node.op, *own) if len(own) == len(operands) else None

    return find_after_operands(length, asked, ask)


def _read_as_values(graph: FrozenFunctionGraph) -> set[Variable]:
    """The variables that outputs or nodes read as values, but for arithmetic of lengths."""
    read = set(graph.outputs)
    for node in graph.toposort():
        if not is_size_arithmetic(node.outputs[0]):
            read.update(value_operands(node))
    return read
