"""What many different values need goes with them."""

import gc
import weakref
from dataclasses import dataclass

import numpy as np
import pytest

import frazil as fz
import frazil.tensor as ft

LASTING = 4096 + 512
"""Ops of parameters alone that stay in any case: the first ones, and those made last."""


def living(references):
    gc.collect()
    return sum(reference() is not None for reference in references)


@pytest.mark.parametrize(
    "build",
    [lambda x, k: x[k], lambda x, k: x[k : 3 * k], lambda x, k: x[:: k + 2]],
    ids=["element", "part", "step"],
)
def test_ops_of_many_values_go(build):
    x = ft.vector("x")
    ops = [weakref.ref(build(x, k).owner.op) for k in range(2 * LASTING)]
    assert living(ops) <= LASTING


def test_an_op_that_went_comes_again():
    x = ft.vector("x")
    for k in range(2 * LASTING):
        x[k]
    kept = [x[-k] for k in range(2 * LASTING, 2 * LASTING + 50)]
    values = np.arange(3.0 * LASTING)
    for k, element in zip(range(2 * LASTING, 2 * LASTING + 50), kept, strict=True):
        # The Python object of the op is made again from its parameters, however often.
        assert element.owner.op is x[-k].owner.op
        assert x[-k] is element
    f = fz.function([x], kept[:5], mode="py")
    assert [float(y) for y in f(values)] == [
        values[-k] for k in range(2 * LASTING, 2 * LASTING + 5)
    ]


def test_op_classes_that_functions_define_go():
    def define(k):
        @dataclass(frozen=True, eq=False)
        class Times(fz.Op):
            factor: int

            def make_node(self, x):
                return fz.FrozenApply(self, [x], [x.type])

            def perform(self, node, inputs):
                return (inputs[0] * self.factor,)

        return Times

    x = ft.vector("x")
    classes = []
    for k in range(50):
        op_class = define(k)
        y = op_class(k)(x)
        # The class and its parameters make the op again while a node has it.
        assert y.owner.op.factor == k
        assert isinstance(y.owner.op, op_class)
        if k < 3:
            assert fz.function([x], y, mode="py")([2.0]) == [2.0 * k]
        classes.append(weakref.ref(op_class))
        del op_class, y
    assert living(classes[3:]) == 0


def test_code_that_ran_once_goes():
    x = ft.vector("x")
    codes = []
    for k in range(3 * LASTING):
        code = compile("x + 0.5", f"<cell {k}>", "eval")
        last = eval(code, {"x": x})
        codes.append(weakref.ref(code))
        del code
    assert living(codes) <= 2 * LASTING
    # The latest still tells where its node came from.
    assert codes[-1]() is not None
    assert last.owner.op is (x + 0.5).owner.op


def test_tables_get_smaller_after_a_peak():
    container = fz.Container()
    with container:
        x = ft.vector("x")
        few = [x + float(k) for k in range(100)]
        before = container.stats()
        many = [x * float(k) for k in range(100_000)]
        peak = container.stats()
        del many
        gc.collect()
        after = container.stats()
    assert len(few) == 100
    assert peak.nodes > 100_000
    assert after.nodes == before.nodes
    assert after.bytes < before.bytes + peak.bytes / 50
