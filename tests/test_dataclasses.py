"""Frozen dataclasses that are quick to define do what the standard library's do."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from dataclasses import FrozenInstanceError, field
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frazil.graph.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Slotted:
    """With slots."""

    kind: ClassVar[str] = "slots"
    first: Any
    second: Any = 2
    many: list[int] = field(default_factory=list, compare=False)


@dataclass(frozen=True)
class Plain:
    """Without."""

    first: Any
    second: Any = 2
    many: list[int] = field(default_factory=list, compare=False)

    def __post_init__(self):
        object.__setattr__(self, "seen", True)


@dataclass(frozen=True)
class Checked:
    """With a check of all fields."""

    first: Any
    second: Any = 2

    def __post_init__(self):
        object.__setattr__(self, "seen", (self.first, self.second))


@dataclass(frozen=True)
class Long:
    """With as many fields as a class has that every compilation makes."""

    a: Any
    b: Any
    c: Any
    d: Any
    e: Any
    f: Any
    g: Any
    h: Any = 8
    i: Any = 9


@dataclass(frozen=True)
class Derived(Plain):
    """With one field more."""

    third: int = 3


@dataclasses.dataclass(frozen=True)
class StandardDerived(Plain):
    """Made by the standard library."""

    third: int = 3


@dataclass(frozen=True)
class One:
    """Of one field."""

    only: Any


@dataclass(frozen=True, eq=False)
class Distinct:
    """Equal to itself alone."""

    first: int = 1


@dataclass(frozen=True)
class Own:
    """With methods of its own."""

    first: Any = 0

    def __eq__(self, other):
        return True

    def __hash__(self):
        return 1

    def __repr__(self):
        return "own"


def standard(cls, **options):
    """The same class, made by the standard library."""
    names = ("first", "second", "many")
    body = {name: getattr(cls, name) for name in ("__post_init__",) if hasattr(cls, name)}
    made = dataclasses.make_dataclass(
        cls.__name__,
        [
            ("first", Any),
            ("second", Any, 2),
            ("many", list, field(default_factory=list, compare=False)),
        ],
        namespace=body,
        frozen=True,
        **options,
    )
    assert tuple(one.name for one in dataclasses.fields(made)) == names
    return made


values = st.one_of(st.integers(-2, 2), st.text(max_size=1), st.none())
CLASSES = [(Slotted, standard(Slotted, slots=True)), (Plain, standard(Plain))]


@given(
    st.sampled_from(CLASSES),
    st.lists(values, min_size=1, max_size=2),
    st.lists(values, min_size=1, max_size=2),
)
def test_does_what_the_standard_library_does(classes, some, others):
    ours, theirs = classes
    a, b, same, c, d = ours(*some), ours(*others), ours(*some), theirs(*some), theirs(*others)
    assert dataclasses.astuple(a)[2] == dataclasses.astuple(c)[2] == []
    assert repr(a) == repr(c)
    assert a.__match_args__ == c.__match_args__
    assert (a == b) is (c == d)
    assert (a == same) is (c == theirs(*some))
    assert a != c
    assert hash(a) == hash(c) == hash(same)
    assert dataclasses.replace(a, second=5) == ours(some[0], 5)


@pytest.mark.parametrize("cls", [Slotted, Plain, Derived, StandardDerived, One, Own])
def test_is_frozen_copied_and_pickled(cls):
    made = cls([1])
    name = dataclasses.fields(cls)[0].name
    with pytest.raises(FrozenInstanceError, match=f"assign to field '{name}'"):
        setattr(made, name, 2)
    with pytest.raises(FrozenInstanceError, match=f"delete field '{name}'"):
        delattr(made, name)
    assert getattr(made, name) == [1]
    assert pickle.loads(pickle.dumps(made)) == made == copy.deepcopy(made)


def test_slots_hold_the_fields_alone():
    assert not hasattr(Slotted(1), "__dict__")
    assert Slotted.__slots__ == ("first", "second", "many")
    assert Slotted.kind == "slots"
    assert Plain(1).seen
    assert Plain(1).many is not Plain(1).many


def test_what_runs_after_the_fields_sees_them_all(monkeypatch):
    monkeypatch.setattr("frazil.graph.dataclass._written_init", None)  # no text is needed
    assert Checked(1).seen == (1, 2)
    assert (
        Checked(second=3, first=0).seen == dataclasses.replace(Checked(0), second=3).seen == (0, 3)
    )
    assert list(vars(Long(*range(7))).values()) == [*range(7), 8, 9]
    assert Long(*"abcdefgh", i=1) == Long(*"abcdefgh", 1)


def test_signatures_name_the_fields():
    assert list(inspect.signature(Derived).parameters) == ["first", "second", "many", "third"]
    assert inspect.signature(Derived.__init__).parameters["third"].default == 3
    assert Derived(1, 2, [], 4).third == StandardDerived(1, third=4).third == 4
    for wrong in ({}, {"first": 1, "fourth": 4}):
        with pytest.raises(TypeError, match="__init__"):
            Derived(**wrong)


def test_keeps_own_methods_and_identity():
    assert Own(1) == Own(2)
    assert hash(Own(3)) == 1
    assert repr(Own()) == "own"
    one = Distinct()
    assert one == one
    assert one != Distinct()
    assert hash(one) == object.__hash__(one)
    assert One(1) == One(1)
    assert hash(One(1)) == hash((1,))
    own: list[Any] = []
    own.append(One(own))
    assert "..." in repr(own[0])


def test_refuses_what_it_does_not_make():
    with pytest.raises(TypeError, match="only frozen"):
        dataclass(frozen=False)
    with pytest.raises(TypeError, match="says init, kw_only or hash"):

        @dataclass(frozen=True)
        class Computed:
            first: int = field(init=False, default=1)
