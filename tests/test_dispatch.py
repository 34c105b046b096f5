"""Functions that have a form for each class of their first argument."""

import functools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frazil.graph.dispatch import singledispatch


class Base: ...


class Left(Base): ...


class Right(Base): ...


class Both(Left, Right): ...


class Number(int): ...


CLASSES = (Base, Left, Right, Both, Number, int, bool, str)


@given(st.lists(st.sampled_from(CLASSES), max_size=5), st.lists(st.sampled_from(CLASSES)))
def test_finds_the_form_that_the_standard_library_finds(first, then):
    made = [make(lambda x, *others, **named: ("any", others, named)) for make in MAKERS]
    for classes in (first, then):  # a form may come after calls
        for cls in classes:
            for one in made:
                one.register(cls, lambda x, *others, cls=cls: (cls, others))
        for cls in CLASSES:
            ours, theirs = made
            assert ours(cls(), 1) == theirs(cls(), 1)
            assert ours.dispatch(cls)(0) == theirs.dispatch(cls)(0)
    assert ours(None, 1, a=2) == ("any", (1,), {"a": 2})


MAKERS = (singledispatch, functools.singledispatch)


def test_a_form_says_its_class_by_its_annotation():
    @singledispatch
    def kind(x):
        """What it is."""
        return "any"

    @kind.register
    def _(x: Left | Number):
        return "known"

    assert [kind(Both()), kind(Number(1)), kind(1), kind(Right())] == [
        "known",
        "known",
        "any",
        "any",
    ]
    assert (kind.__name__, kind.__doc__) == ("kind", "What it is.")
    with pytest.raises(TypeError, match="annotate"):
        kind.register(lambda x: x)
