"""Adding and dropping dimensions of length 1."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import evaluate

import frazil.tensor as ft
from frazil import FrozenApply
from frazil.tensor.dims import DropDims, ExpandDims
from frazil.tensor.transposition import Transpose


@pytest.mark.parametrize("axis", [0, 1, -1, (0, 2), (0, -1), (1, 2, 4)])
def test_expand_dims(axis):
    x = np.arange(6.0).reshape(2, 3)
    found = evaluate(ft.expand_dims(x, axis))
    assert found.shape == np.expand_dims(x, axis).shape


def test_squeeze_drops_what_is_known():
    x = ft.tensor("x", shape=(1, None, 1))
    assert ft.squeeze(x).ndim == 1
    assert ft.squeeze(x, 1).type.shape == (1, 1)
    assert evaluate(ft.squeeze(x, (0, -1)), {x: np.zeros((1, 3, 1))}).shape == (3,)


def test_nothing_to_do_gives_the_tensor_itself():
    x = ft.vector("x")
    assert ft.expand_dims(x, ()) is ft.squeeze(x) is x


def test_errors():
    with pytest.raises(ValueError, match="axis 1 of a tensor of shape \\(1, 3\\) has length 3"):
        ft.squeeze(ft.tensor(shape=(1, 3)), 1)
    with pytest.raises(np.exceptions.AxisError):
        ft.expand_dims(ft.vector(), 3)
    with pytest.raises(ValueError, match="twice"):
        ft.expand_dims(ft.vector(), (0, 0))
    with pytest.raises(ValueError, match="sorted"):
        ExpandDims((2, 0))(ft.vector())
    with pytest.raises(ValueError, match="sorted"):
        DropDims((-1,))(ft.row())


@given(st.lists(st.sampled_from([None, 1, 2, 3]), max_size=4), st.data())
def test_types_of_views_are_those_of_numpys_results(shape, data):
    """The lengths are also those of NumPy's view of an array in which unknown ones are 1."""
    x = ft.tensor("x", shape=tuple(shape), dtype="int8")
    ndim = len(shape)
    new = tuple(sorted(data.draw(st.sets(st.integers(0, ndim + 1), min_size=2, max_size=2))))
    gone = tuple(
        axis for axis in range(ndim) if shape[axis] in (1, None) and data.draw(st.booleans())
    )
    order = tuple(data.draw(st.permutations(range(ndim))))
    array = np.empty([1 if n is None else n for n in shape], "int8")
    unknown = np.array([n is None for n in shape], bool)
    for op, viewed, kept in (
        (ExpandDims(new), np.expand_dims(array, new), lambda a: _inserted(a, new)),
        (DropDims(gone), np.squeeze(array, gone), lambda a: np.delete(a, gone)),
        (Transpose(order), array.transpose(order), lambda a: a[list(order)]),
    ):
        made = op(x)
        assert made.dtype == "int8"
        lengths = zip(viewed.shape, kept(unknown), strict=True)
        assert made.type.shape == tuple(None if any_length else n for n, any_length in lengths)
        assert op.make_node(x) is made.owner


def _inserted(unknown, axes):
    kept = [*unknown]
    for axis in axes:
        kept.insert(axis, False)
    return kept


@pytest.mark.parametrize(
    ("op", "message"),
    [
        (ExpandDims((3,)), r"axes \(3,\) must be sorted positions below 3"),
        (ExpandDims((1, 0)), r"axes \(1, 0\) must be sorted positions below 4"),
        (DropDims((-1,)), r"axes \(-1,\) must be sorted positions below 2"),
        (DropDims((0,)), r"axis 0 of a tensor of shape \(2, None\) has length 2"),
        (Transpose((1, -2)), r"axes \(1, -2\) must name each of the 2 dimensions once"),
        (Transpose((0,)), r"axes \(0,\) must name each of the 2 dimensions once"),
    ],
)
def test_views_refuse_axes_that_they_cannot_have(op, message):
    with pytest.raises(ValueError, match=message):
        op(ft.tensor("x", shape=(2, None)))


def test_views_take_variables():
    with pytest.raises(TypeError):
        ExpandDims((0,))(np.ones(2))
    with pytest.raises(TypeError):
        ExpandDims((0,))(ft.vector("x"), ft.vector("y"))


class OwnDims(ExpandDims):
    """What an import finds."""


class Tripled(ExpandDims):
    def make_node(self, x):
        return FrozenApply(self, [x], [ft.TensorType(x.dtype, (3,))])


def test_nodes_of_subclasses_are_typed_as_those_of_their_base():
    class Local(ExpandDims):
        """No import finds it."""

    @dataclass(frozen=True, eq=False)
    class Wider(ExpandDims):
        more: int

    x = ft.vector("x")
    for op in (OwnDims((0,)), Local((0,)), Wider((0,), 3)):
        y = op(x)
        assert y.type == ft.expand_dims(x, 0).type
        assert op.make_node(x).outputs[0] is y
        np.testing.assert_array_equal(y.eval({x: [1.0, 2.0]}), [[1.0, 2.0]])


def test_a_make_node_of_ones_own_makes_the_nodes():
    x, z = ft.vector("x"), ft.vector("z", shape=(5,))
    node = Tripled((0,))(x).owner
    assert node.outputs[0].type.shape == (3,)
    assert node.clone_with_new_inputs([z], strict=False).outputs[0].type.shape == (3,)
