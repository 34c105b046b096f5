"""A plain evaluator of graphs: each node's ``perform``, its claims checked on the way."""

import numpy as np

from frazil import Constant, _core
from frazil.tensor.lengths import lengths


def evaluate(variable, given=None):
    """Return the value of ``variable``, computed node by node."""
    return evaluate_all([variable], given)[0]


def evaluate_all(variables, given=None):
    """Return the values of variables; what they share is computed once.

    Each node's values must be of its types and, if the op infers shapes, of the shape it infers;
    outputs share no memory with inputs that the op does not say they view.
    """
    values = {}
    for root, value in (given or {}).items():
        values[root] = np.asarray(value, dtype=root.dtype)
        assert fits(values[root], root.type), (values[root].shape, root.type)
    return [_value(variable, values) for variable in variables]


def fits(array, type):
    """Whether an array is of a type."""
    static = type.shape
    return (
        array.dtype == type.dtype
        and array.ndim == type.ndim
        and all(n in (None, m) for n, m in zip(static, array.shape, strict=True))
    )


def _value(variable, values):
    if isinstance(variable, Constant) or variable in values:
        return _leaf(variable, values)
    for node in _core.toposort([variable]):
        if node.outputs[0] in values:
            continue
        inputs = [_leaf(x, values) for x in node.inputs]
        before = [array.copy() for array in inputs]
        outputs = node.op.perform(node, inputs)
        for old, new in zip(before, inputs, strict=True):
            np.testing.assert_array_equal(old, new, err_msg=f"{node.op} changed an input")
        for output, array in zip(node.outputs, outputs, strict=True):
            assert isinstance(array, np.ndarray), (node.op, type(array))
            for position, operand in enumerate(inputs):
                viewed = position in node.op.view_map.get(output.index, ())
                assert viewed or not np.may_share_memory(array, operand), (node.op, position)
            assert fits(array, output.type), (node.op, output.type, array.dtype, array.shape)
            values[output] = array
        _check_inferred_shape(node, outputs, values)
    return _leaf(variable, values)


def _check_inferred_shape(node, outputs, values):
    inferred = node.op.infer_shape(node, [lengths(x) for x in node.inputs])
    for shape, array in zip(inferred, outputs, strict=True):
        if shape is None:
            continue  # only the value tells
        found = tuple(int(_value(length, values)) for length in shape)
        assert found == array.shape, (node.op, found, array.shape)


def _leaf(variable, values):
    return variable.data if isinstance(variable, Constant) else values[variable]
