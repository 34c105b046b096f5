"""What `infer_shape` says of a node is asked once while the node lives, in whichever graphs."""

import gc
from dataclasses import dataclass

import numpy as np
import pytest

import frazil as fz
import frazil.tensor as ft
from frazil.tensor.shapes import Shapes

asked = []


@dataclass(frozen=True, eq=False)
class Doubled(fz.Op):
    """Each element twice, one after the other."""

    def make_node(self, x):
        return fz.FrozenApply(self, [x], [fz.TensorType(x.dtype, (None,))])

    def perform(self, node, inputs):
        return (np.repeat(inputs[0], 2),)

    def infer_shape(self, node, input_shapes):
        asked.append(node)
        return ((2 * input_shapes[0][0],),)


def doubled(x):
    return Doubled().make_node(x).outputs[0]


@pytest.fixture(autouse=True)
def nothing_on_disk(monkeypatch):
    monkeypatch.setenv("FRAZIL_CACHE", "0")
    asked.clear()
    yield
    asked.clear()


@pytest.mark.parametrize("mode", ["c", "cranelift", "numba"])
def test_two_functions_ask_once(mode):
    with fz.Container():
        x = ft.vector("x")
        one = fz.function([x], doubled(x) + 1, mode=mode)
        assert len(asked) == 1
        other = fz.function([x], ft.exp(doubled(x) * 2), mode=mode)
        assert len(asked) == 1
        value = np.array([0.25, 0.5])
        np.testing.assert_allclose(one(value), [1.25, 1.25, 1.5, 1.5])
        np.testing.assert_allclose(other(value), np.exp([0.5, 0.5, 1.0, 1.0]))
        asked.clear()
        del one, other
        gc.collect()
        fz.function([x], doubled(x) - 1, mode=mode)
        assert len(asked) == 1, "nobody kept the node"


def test_what_is_found_is_in_terms_of_the_inputs():
    with fz.Container():
        x = ft.vector("x")
        graph = fz.FrozenFunctionGraph([x], [doubled(doubled(ft.exp(x)))])
        first, second = Shapes(graph.toposort()), Shapes(graph.toposort())
        assert len(asked) == 2
        (output,) = graph.outputs
        assert first.lengths(output) == second.lengths(output)
        [length] = first.lengths(output)
        assert output.owner.lengths == ((length,),)
        assert length.owner.inputs[1] is graph.outputs[0].owner.inputs[0].owner.lengths[0][0]


def test_lengths_go_with_their_nodes():
    with fz.Container() as container:
        x = ft.vector("x")
        function = fz.function([x], doubled(ft.exp(x)) + 1, mode="c")
        assert len(asked) == 1
        node = asked.pop()
        assert node.lengths is not None
        del node, function
        gc.collect()
        assert container.stats().nodes == 1


def test_lengths_that_a_node_does_not_keep():
    with fz.Container():
        x, y = ft.vector("x"), ft.matrix("y")
        node = doubled(x).owner
        assert node.lengths is None
        with pytest.raises(TypeError, match="0-d int64 for each dimension of each output"):
            node.remember_lengths([[]])
        with pytest.raises(TypeError, match="0-d int64"):
            node.remember_lengths([[x]])
        [own] = ft.shape(node.outputs[0])
        assert not node.remember_lengths([[own]])
        assert node.lengths is None
        assert node.remember_lengths([None])
        assert node.lengths == (None,)
        assert not node.remember_lengths([[ft.shape(y)[0]]])
        assert node.lengths == (None,)
    with fz.Container():
        foreign = ft.shape(ft.vector("z"))
        with fz.Container():
            node = doubled(ft.vector("x")).owner
            assert not node.remember_lengths([foreign])
