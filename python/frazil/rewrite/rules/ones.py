"""Single elements with dimensions become scalars in elementwise ops, for other rules to match."""

from __future__ import annotations

from collections.abc import Sequence

from frazil._core import Constant, FrozenApply, Variable
from frazil.rewrite.definition import Law, rule
from frazil.rewrite.guard import reads_one_element
from frazil.rewrite.sort import Tensor
from frazil.rewrite.wildcard import any_kind
from frazil.scalar.constants import constant
from frazil.scalar.elemwise import Elemwise
from frazil.tensor.dims import ExpandDims

elementwise = any_kind(Elemwise)


def _number(x: Variable) -> Variable:
    """The scalar that ``x`` is but for dimensions of length 1; ``x`` itself if it is none."""
    if isinstance(x, Constant):
        one = x.ndim > 0 and all(length == 1 for length in x.type.shape)
        return constant(x.data.reshape(())) if one else x
    node = x.owner
    if node is not None and isinstance(node.op, ExpandDims) and node.inputs[0].ndim == 0:
        return node.inputs[0]
    return x


def _of_numbers(
    node: FrozenApply, first: Variable, rest: Sequence[Variable]
) -> list[Variable] | None:
    inputs = [_number(x) for x in node.inputs]
    if inputs == list(node.inputs):
        return None
    made = node.op.make_node(*inputs).outputs
    # Dimensions that the other operands do not have have length 1.
    axes = tuple(range(node.outputs[0].ndim - made[0].ndim))
    return [ExpandDims(axes)(y) if axes else y for y in made]


@rule
def number_in_dimensions(x: Tensor, *rest: Tensor) -> Law:
    """f([s], x) == f(s, x), and f([s], t) == [f(s, t)]: one element is as good as a number."""
    return elementwise(x, *rest), _of_numbers, reads_one_element()


RULES = (number_in_dimensions,)
