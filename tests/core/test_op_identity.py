"""An op is what it holds: what a class cannot tell apart, it may not hold."""

from __future__ import annotations

import copy
import enum
import gc
import pickle
import sys
import types
import weakref
from collections import namedtuple
from dataclasses import FrozenInstanceError, dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pytest
from agreement import MODES
from hypothesis import given
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft
from frazil.graph.parameters import ops_kept
from frazil.scalar import ScalarOp


class Unary(fz.Op):
    def make_node(self, x: Any) -> fz.FrozenApply:
        x = ft.as_tensor(x)
        return fz.FrozenApply(self, [x], [x.type])


class AXPB(Unary):
    """As PyTensor's documentation writes it."""

    __props__ = ("a", "b")

    def __init__(self, a: float, b: float) -> None:
        self.a = a
        self.b = b
        super().__init__()

    def perform(self, node: fz.FrozenApply, inputs: Any) -> Any:
        return (self.a * inputs[0] + self.b,)


class Scaled(Unary):
    """What its constructor takes is not what it is known by."""

    __props__ = ("factor",)

    def __init__(self, numerator: float, denominator: float = 1.0) -> None:
        self.factor = numerator / denominator
        self.function = np.multiply

    def perform(self, node: fz.FrozenApply, inputs: Any) -> Any:
        return (self.function(inputs[0], self.factor),)


class Shifted(AXPB):
    """A subclass with another set of names."""

    __props__ = (*AXPB.__props__, "shift")

    def __init__(self, a: float, b: float, shift: float) -> None:
        super().__init__(a, b)
        self.shift = shift

    def perform(self, node: fz.FrozenApply, inputs: Any) -> Any:
        return (super().perform(node, inputs)[0] + self.shift,)


@dataclass(frozen=True, eq=False)
class Field(Unary):
    first: Any
    second: Any = field(default=1, kw_only=True)

    def perform(self, node: fz.FrozenApply, inputs: Any) -> Any:
        return (inputs[0] + self.first * self.second,)


@dataclass(frozen=True, eq=False, slots=True)
class Slotted(Unary):
    first: float

    def perform(self, node: fz.FrozenApply, inputs: Any) -> Any:
        return (inputs[0] + self.first,)


@dataclass(frozen=True)
class Compared(Unary):
    """With an ``__eq__`` of dataclasses."""

    first: float

    @cached_property
    def twice(self) -> float:
        return self.first * 2

    def __post_init__(self) -> None:
        assert self.twice == self.first * 2

    def perform(self, node: fz.FrozenApply, inputs: Any) -> Any:
        return (inputs[0] + self.twice,)


NUMBERS = st.floats(-4, 4)
MAKERS = (
    lambda a, b: AXPB(a, b),
    lambda a, b: Scaled(a * b),
    lambda a, b: Shifted(a, b, a),
    lambda a, b: Field(a, second=b),
    lambda a, b: Field((a, (b, "text", None, b"bytes"))),
    lambda a, b: Slotted(a),
    lambda a, b: Compared(b),
)


@given(st.sampled_from(MAKERS), st.lists(st.tuples(NUMBERS, NUMBERS), min_size=2, max_size=2))
def test_ops_are_one_exactly_if_their_parameters_are(make: Any, values: Any) -> None:
    one, other = (make(*pair) for pair in values)
    shown = [tuple(map(repr, op._params())) for op in (one, other)]
    assert (one is other) == (one == other) == (shown[0] == shown[1])
    assert one is make(*values[0])
    assert pickle.loads(pickle.dumps(one)) is one
    assert copy.deepcopy(one) is one


@given(NUMBERS, NUMBERS, NUMBERS, NUMBERS)
def test_each_computes_its_own(a: float, b: float, c: float, d: float) -> None:
    x = ft.dvector("x")
    given = np.array([1.0, 2.0])
    outputs = [AXPB(a, b)(x), AXPB(c, d)(x), Scaled(a, 2.0)(x), Scaled(c)(x), Shifted(a, b, c)(x)]
    found = fz.function([x], outputs, mode="py")(given)
    expected = [
        a * given + b,
        c * given + d,
        given * (a / 2),
        given * c,
        a * given + b + c,
    ]
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def test_graphs_with_such_ops_come_back() -> None:
    x = ft.dvector("x")
    graph = fz.FunctionGraph([x], [AXPB(2.0, 3.0)(Field(1.0, second=2.0)(x))]).freeze()
    assert pickle.loads(pickle.dumps(graph)) is graph
    assert fz.load_graph(str(graph)) is graph if hasattr(fz, "load_graph") else True


class Plain(Unary):
    def __init__(self, data: Any) -> None:
        self.data = data


class PlainSlots(Unary):
    __slots__ = ("__hidden", "data")

    def __init__(self, data: Any) -> None:
        self.__hidden = data


@dataclass(eq=False)
class Thawed(Unary):
    data: int


@dataclass(frozen=True, eq=False)
class Smuggling(Unary):
    kept: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "data", [self.kept])


class Undecorated(Field):
    """A subclass of a dataclass that holds more than that."""

    def __init__(self, first: Any, data: Any) -> None:
        super().__init__(first)
        self.data = data


class Annotated(Unary):
    """Where ``@dataclass`` was forgotten."""

    data: int


class PlainScalar(ScalarOp):
    nin = 1
    rule = "float"

    def __init__(self, data: float) -> None:
        self.data = data

    def impl(self, x: Any) -> Any:
        return x * self.data


class NamedScalar(PlainScalar):
    __props__ = ("data",)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Plain([1]), r"Plain holds 'data', which is no parameter"),
        (lambda: PlainSlots(1), r"PlainSlots holds '_PlainSlots__hidden'"),
        (lambda: Thawed(1), r"Thawed is a dataclass that is not frozen.*frozen=True, eq=False"),
        (lambda: Smuggling(1), r"Smuggling holds 'data'.*frozen dataclass.*__props__"),
        (lambda: Undecorated(1, 2), r"Undecorated holds 'data'"),
        (lambda: Annotated(1), r"Annotated takes no arguments.*frozen dataclass"),
        (lambda: PlainScalar(1.0), r"PlainScalar holds 'data'"),
    ],
)
def test_state_that_is_no_parameter_is_refused(make: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        make()


class OneName(AXPB):
    __props__ = "a"


class Missing(AXPB):
    __props__ = ("a", "c")


def test_props_that_make_no_sense() -> None:
    with pytest.raises(TypeError, match=r"OneName.__props__ must be a tuple.*given \'a\'"):
        OneName(1, 2)
    with pytest.raises(TypeError, match=r"Missing has no attribute 'c'.*__init__ must set it"):
        Missing(1, 2)


def test_a_scalar_op_may_have_props() -> None:
    assert NamedScalar(2.0) is NamedScalar(2.0)
    assert NamedScalar(2.0) is not NamedScalar(3.0)
    x = ft.dvector("x")
    for mode in MODES:
        f = fz.function([x], NamedScalar(2.0)(x) + NamedScalar(3.0)(x), mode=mode)
        assert f([1.0]).tolist() == [5.0]


class Mode(enum.IntEnum):
    FAST = 1


Pair = namedtuple("Pair", "a b")


@pytest.mark.parametrize(
    "value",
    [np.zeros(2), [1], {}, {1}, len, lambda: 1, Mode.FAST, Pair(1, 2), np.longdouble(1), object],
)
def test_what_can_change_or_says_more_is_no_parameter(value: Any) -> None:
    for make in (Field, lambda value: Field((1, value))):
        with pytest.raises(TypeError, match=r"parameter first of Field is of <.*op\(x, data\)"):
            make(value)
    with pytest.raises(TypeError, match="parameter b of AXPB is of <"):
        AXPB(1.0, value)


def test_scalars_of_numpy_are_those_of_python() -> None:
    for value, plain in [
        (np.int16(3), 3),
        (np.bool_(True), True),
        (np.float64(0.5), 0.5),
        (np.float32(0.5), 0.5),
        (np.str_("text"), "text"),
    ]:
        op = Field((value, value))
        assert op is Field((plain, plain))
        assert type(op.first[0]) is type(plain)
    assert Field(np.int64(2)) is not Field(np.float64(2))


def test_what_an_op_holds_stays() -> None:
    op, field_op, scaled = AXPB(5.0, 6.0), Field(1), Scaled(2.0)
    for change in (
        lambda: setattr(op, "a", 7.0),
        lambda: delattr(op, "a"),
        lambda: setattr(field_op, "first", 2),
        lambda: setattr(field_op, "other", 2),
        lambda: setattr(ft.exp(ft.dvector()).owner.op, "other", 2),
    ):
        with pytest.raises(FrozenInstanceError):
            change()
    assert op.a == 5.0
    scaled.remembered = 3  # __props__ does not name it, so it does not count


def test_classes_of_one_name_are_not_one() -> None:
    module = types.ModuleType("frazil_test_module")
    sys.modules[module.__name__] = module

    def define(factor: float) -> type:
        def perform(self: Any, node: Any, inputs: Any) -> Any:
            return (inputs[0] * factor,)

        return type("Op", (Unary,), {"perform": perform, "__module__": module.__name__})

    try:
        module.Op = define(2.0)
        first = module.Op()
        # As when the module is loaded again; and classes that no module has.
        module.Op = define(3.0)
        ops = [first, module.Op(), define(4.0)(), define(5.0)()]
        assert len({op.digest for op in ops}) == 4
        assert ops[1] is module.Op()
        x = ft.dvector("x")
        found = fz.function([x], [op(x) for op in ops], mode="py")([1.0])
        assert [y.tolist() for y in found] == [[2.0], [3.0], [4.0], [5.0]]
    finally:
        del sys.modules[module.__name__]


def test_a_black_box_gets_its_data_as_an_input() -> None:
    class LogLikelihood(fz.Op):
        def make_node(self, mean: Any, data: Any) -> fz.FrozenApply:
            inputs = [ft.as_tensor(mean), ft.as_tensor(data)]
            return fz.FrozenApply(self, inputs, [inputs[0].type])

        def perform(self, node: fz.FrozenApply, inputs: Any) -> Any:
            mean, data = inputs
            return (np.asarray(-0.5 * ((data - mean) ** 2).sum()),)

    mean = ft.dscalar("mean")
    data = [np.array([1.0, 2.0]), np.array([3.0, 5.0])]
    found = fz.function([mean], [LogLikelihood()(mean, values) for values in data])(0.0)
    assert [float(y) for y in found] == [-2.5, -17.0]


def test_ops_that_are_made_again_stay_while_they_are_kept():
    x = ft.vector("x")
    node = fz.OpFromGraph([x], [ft.exp(x)])(x).owner
    alone = weakref.ref(node.op)
    assert alone() is None
    with ops_kept():
        with ops_kept():
            kept = weakref.ref(node.op)
        lives = kept() is node.op
    assert lives
    assert kept() is None


@pytest.mark.parametrize("more", [False, True])
def test_ops_stay_one_object_in_a_program_that_makes_many(more: bool) -> None:
    """The first few thousand ops stay for good; later ones go, and are made again."""
    many = [AXPB(float(k), 0.5) for k in range(5_000)]
    op = AXPB(-1.5, 0.25 + more)
    if more:
        op.more = "than its parameters"  # type: ignore[attr-defined]
    held = pickle.dumps(op)
    assert pickle.loads(held) is op
    assert copy.deepcopy(op) is op
    assert AXPB(-1.5, 0.25 + more) is op
    del op
    gc.collect()
    again = pickle.loads(held)
    assert getattr(again, "more", None) == ("than its parameters" if more else None)
    assert AXPB(-1.5, 0.25 + more) is again
    assert pickle.loads(pickle.dumps(again)) is again
    assert many[-1] is AXPB(4_999.0, 0.5)
