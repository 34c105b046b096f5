"""Ops of one's own as graphs of others, in linkers that make kernels."""

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import frazil as fz
import frazil.tensor as ft
from frazil.link import native_form
from frazil.scalar import ScalarOp


@dataclass(frozen=True, eq=False)
class Rotate(fz.Op):
    shift: int

    def make_node(self, x):
        return fz.FrozenApply(self, [x], [x.type])

    def perform(self, node, inputs):
        return (np.roll(inputs[0], self.shift),)


@dataclass(frozen=True, eq=False)
class Ends(fz.Op):
    """The first and the last element, of what Rotate gives."""

    def make_node(self, x):
        return fz.FrozenApply(self, [x], [fz.TensorType(x.dtype, ())] * 2)

    def perform(self, node, inputs):
        moved = np.roll(inputs[0], 1)
        return moved[0], moved[-1]


@native_form.register
def _(op: Rotate, x):
    return ft.roll(x, op.shift) if op.shift else None


@native_form.register
def _(op: Ends, x):
    moved = Rotate(1)(x)
    return moved[0], moved[-1]


@pytest.mark.parametrize("mode", ["py", "c", "cranelift", "debug"])
def test_a_form_computes_what_perform_does(mode):
    x = ft.vector("x")
    first, last = Ends()(x)
    steps, _ = fz.scan(lambda s: Rotate(2)(s) + 1, outputs_info=x, n_steps=2)
    outputs = [first + last, Rotate(1)(x) * 2, Rotate(0)(x), steps[-1]]
    f = fz.function([x], outputs, mode=mode)
    found = f([1.0, 2.0, 3.0, 4.0])
    assert_array_equal(found[0], 7.0)
    assert_array_equal(found[1], [8.0, 2.0, 4.0, 6.0])
    assert_array_equal(found[2], [1.0, 2.0, 3.0, 4.0])
    assert_array_equal(found[3], [3.0, 4.0, 5.0, 6.0])
    shown = fz.dprint(f, file="str")
    assert ("Ends" in shown) == (mode in ("py", "debug"))
    assert "Rotate{0}" in shown


def test_wrong_forms_are_told():
    @dataclass(frozen=True, eq=False)
    class Wrong(Rotate):
        pass

    @dataclass(frozen=True, eq=False)
    class Endless(Rotate):
        pass

    @dataclass(frozen=True, eq=False)
    class Number(Rotate):
        pass

    native_form.register(Wrong, lambda op, x: ft.sum(x))
    native_form.register(Endless, lambda op, x: Endless(op.shift + 1)(x))
    x = ft.vector("x")
    with pytest.raises(TypeError, match=r"native form of Wrong\{1\} must have the types"):
        fz.function([x], Wrong(1)(x), mode="c")
    native_form.register(Number, lambda op, x: 3)
    with pytest.raises(TypeError, match=r"form of Number\{1\} must be a variable.*given 3"):
        fz.function([x], Number(1)(x), mode="c")
    with pytest.raises(RuntimeError, match=r"without end, among those of Endless"):
        fz.function([x], Endless(1)(x), mode="c")


def test_an_error_of_a_form_names_the_node():
    @dataclass(frozen=True, eq=False)
    class Failing(Rotate):
        pass

    @native_form.register
    def _(op: Failing, x):
        raise ZeroDivisionError("mine")

    x = ft.vector("x")
    with pytest.raises(ZeroDivisionError) as failed:
        fz.function([x], Failing(1)(x), mode="cranelift")
    (note,) = failed.value.__notes__
    assert note.startswith("in the native form of Failing{1}(")
    assert __file__ in note


def test_a_form_of_other_inputs_is_named():
    other = ft.vector("other")

    @dataclass(frozen=True, eq=False)
    class Foreign(Rotate):
        pass

    @native_form.register
    def _(op: Foreign, x):
        return x + other

    x = ft.vector("x")
    with pytest.raises(fz.MissingInputError) as failed:
        fz.function([x], Foreign(1)(x), mode="cranelift")
    (note,) = failed.value.__notes__
    assert note.startswith("the native form of Foreign{1}(")
    assert "needs other;" in note


def test_explain_says_where_there_is_no_form():
    x = ft.vector("x")
    f = fz.function([x], Rotate(0)(x) * 2, mode="cranelift")
    assert "its native form is None for these inputs" in str(f.explain())
    assert "native form" not in str(fz.function([x], Rotate(1)(x), mode="cranelift").explain())


def test_a_form_of_a_scalar_op_is_refused():
    @dataclass(frozen=True, eq=False)
    class Half(ScalarOp):
        nin, rule = 1, "float"

        def impl(self, x):
            return x / 2

    def form(op: Half, x):
        return x / 2

    form.__annotations__["op"] = Half
    for register in (
        lambda: native_form.register(form),
        lambda: native_form.register(Half),
        lambda: native_form.register(Half, lambda op, x: x / 2),
        lambda: native_form.register(Rotate | Half, lambda op, x: x / 2),
    ):
        with pytest.raises(TypeError, match=r"Half is a scalar op.*texts c and numba"):
            register()
    assert native_form.dispatch(Half) is native_form.dispatch(object)
