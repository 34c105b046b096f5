"""Products of a matrix that stays the same and vectors that are joined or cut.

A recurrent network multiplies its weights by its input and its state, one behind the other. The
part of the weights that belongs to the input moves out of the scan, as one product for all steps;
and of the gradient by both, only the part that a step reads is computed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import reduce
from itertools import groupby

import frazil._core as _core
import frazil.scalar as scalar
from frazil._core import FrozenApply, Variable, elemwise
from frazil.scalar.elemwise import Elemwise
from frazil.scan.body import ScanBody, dependents
from frazil.scan.step_shapes import StepShapes
from frazil.tensor.basic_indexing import Subtensor
from frazil.tensor.declarations import specify_shape
from frazil.tensor.joining import Join
from frazil.tensor.lengths import length
from frazil.tensor.products import Dot, dot

WHOLE = (None, None, None)
"""All of a dimension, in a template of :class:`~frazil.tensor.basic_indexing.Subtensor`."""


def split_products(body: ScanBody) -> None:
    """Compute products with vectors that are joined, and those that are cut, part by part."""
    nodes = _core.toposort(body.outputs)
    if not any(isinstance(node.op, Dot) for node in nodes):
        return
    if any(isinstance(node.op, Subtensor) for node in nodes):
        _cut_results(body)
    if any(isinstance(node.op, Join) for node in nodes):
        _split_operands(body)


def _split_operands(body: ScanBody) -> None:
    """Multiply each part of a joined vector, where only some parts depend on states."""
    varying = dependents(body.outputs, body.varying)
    by_state = dependents(body.outputs, [state.inner for state in body.states])
    shapes = StepShapes.of(body)
    split: dict[Variable, Variable] = {}
    for node in shapes.order:
        operands = _fixed_and_moving(node, varying)
        if operands is not None:
            made = _of_parts(node, operands, by_state, shapes)
            if made is not None:
                _put(split, node.outputs[0], made)
    body.substitute(split)


def _put(made: dict[Variable, Variable], old: Variable, new: Variable) -> None:
    """Note what replaces a variable: what was noted before is replaced in it."""
    (made[old],) = _core.graph_replace([new], list(made.items())) if made else (new,)


def _fixed_and_moving(
    node: FrozenApply, varying: Collection[Variable]
) -> tuple[Variable, Variable] | None:
    """The matrix that stays the same and the vector, of a product of such."""
    if not isinstance(node.op, Dot):
        return None
    for matrix, vector in (node.inputs, node.inputs[::-1]):
        if matrix.ndim == 2 and vector.ndim == 1 and matrix not in varying and vector in varying:
            return matrix, vector
    return None


def _of_parts(
    node: FrozenApply,
    operands: tuple[Variable, Variable],
    by_state: Collection[Variable],
    shapes: StepShapes,
) -> Variable | None:
    """The product with a vector that is joined, as the sum of products with its parts."""
    matrix, vector = operands
    made = vector.owner
    if made is None or not isinstance(made.op, Join):
        return None
    groups = [list(parts) for _, parts in groupby(made.inputs, by_state.__contains__)]
    before = [x for parts in groups[:-1] for x in parts]
    if len(groups) == 1 or not all(map(shapes.is_told, before)):
        return None
    terms: list[Variable] = []
    start: Variable | None = None
    for parts in groups:
        own = [shapes.shapes.lengths(x)[0] for x in parts]
        end = None if parts is groups[-1] else _added(own if start is None else [start, *own])
        joined = parts[0] if len(parts) == 1 else made.op(*parts)
        terms.append(_product_with(node, matrix, slice(start, end), joined))
        start = end
    total = _added(terms)
    return total if node.output_types[0].accepts(total.type) else None


def _product_with(node: FrozenApply, matrix: Variable, part: slice, vector: Variable) -> Variable:
    """The product of a part of the matrix along the dimension that is summed over, and a vector."""
    if node.inputs[0] is matrix:
        return dot(matrix[:, part], vector)
    return dot(vector, matrix[part])


def _added(terms: Sequence[Variable]) -> Variable:
    return reduce(lambda a, b: elemwise(scalar.add, a, b), terms)


def _cut_results(body: ScanBody) -> None:
    """Compute only the parts of a product, or of a sum of products, that a step reads."""
    varying = dependents(body.outputs, body.varying)
    order = _core.toposort(body.outputs)
    reads = Counter(x for node in order for x in node.inputs)
    reads.update(body.outputs)
    cuts = Counter(node.inputs[0] for node in order if _is_cut(node))
    parts: dict[Variable, Variable] = {}
    for node in order:
        x = node.inputs[0] if node.inputs else None
        if x is None or not _is_cut(node) or cuts[x] != reads[x]:
            continue
        nodes = _made_of(x, varying, reads)
        made = _part(node, nodes, varying) if nodes else None
        if made is not None and node.output_types[0].accepts(made.type):
            _put(parts, node.outputs[0], made)
    body.substitute(parts)


def _is_cut(node: FrozenApply) -> bool:
    """Whether a node takes a slice of a vector."""
    is_part = isinstance(node.op, Subtensor) and node.inputs[0].ndim == 1
    return is_part and all(isinstance(item, tuple) for item in node.op.template)


def _is_sum(node: FrozenApply) -> bool:
    return isinstance(node.op, Elemwise) and node.op.scalar_op.table_name in ("add", "sub")


def _made_of(
    x: Variable, varying: Collection[Variable], reads: Mapping[Variable, int]
) -> list[FrozenApply]:
    """The sums and products that make ``x`` alone, the last first; none if other nodes do."""
    nodes: list[FrozenApply] = []
    pending = [x]
    while pending:
        y = pending.pop()
        node = y.owner
        if node is None:
            return []
        if _fixed_and_moving(node, varying) is None:
            if not _is_sum(node) or any(z.type != y.type or reads[z] != 1 for z in node.inputs):
                return []
            pending += node.inputs
        nodes.append(node)
    return nodes


def _part(
    node: FrozenApply, nodes: Sequence[FrozenApply], varying: Collection[Variable]
) -> Variable:
    """The part that a node takes of what sums and products make, the last of them first."""
    template, dynamic = node.op.template, node.inputs[1:]
    parts: dict[Variable, Variable] = {}
    size: Variable | None = None
    for made in reversed(nodes):
        operands = _fixed_and_moving(made, varying)
        if operands is None:
            parts[made.outputs[0]] = made.op(*(parts[y] for y in made.inputs))
            continue
        matrix, vector = operands
        first = made.inputs[0] is matrix
        # Parts of products that differ in length may fit, where adding these is an error.
        matrix = specify_shape(matrix, (size, None) if first else (None, size))
        size = length(matrix, 0 if first else 1) if size is None else size
        if first:
            part = dot(Subtensor(template)(matrix, *dynamic), vector)
        else:
            part = dot(vector, Subtensor((WHOLE, *template))(matrix, *dynamic))
        parts[made.outputs[0]] = part
    return parts[node.inputs[0]]
