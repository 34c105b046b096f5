"""One value or several: what counts as a sequence and a mapping, and that no lock is taken."""

from __future__ import annotations

from array import array
from collections import OrderedDict, UserDict, UserList, deque, namedtuple
from types import MappingProxyType

import numpy as np
import pytest

import frazil as fz
import frazil.tensor as ft
from frazil.graph.collection import is_mapping, is_sequence

Point = namedtuple("Point", "x y")
x = ft.matrix("x")

SEQUENCES = [(), (1,), [], Point(1, 2), range(2), deque([1]), array("i", [1]), UserList([1]), "ab"]
MAPPINGS = [{}, OrderedDict(), UserDict(), MappingProxyType({})]
NEITHER = [1, True, 2.5, 1j, None, np.int64(3), np.arange(3), x, {1}, frozenset(), iter(()), object]


@pytest.mark.parametrize("given", SEQUENCES, ids=repr)
def test_sequences(given):
    assert (is_sequence(given), is_mapping(given)) == (True, False)


@pytest.mark.parametrize("given", MAPPINGS, ids=repr)
def test_mappings(given):
    assert (is_sequence(given), is_mapping(given)) == (False, True)


@pytest.mark.parametrize(
    "given", NEITHER, ids=[f"{type(one).__name__}{k}" for k, one in enumerate(NEITHER)]
)
def test_what_is_neither(given):
    assert (is_sequence(given), is_mapping(given)) == (False, False)


@pytest.mark.parametrize("axes", [(0, 1), [0, 1], range(2), deque([0, 1]), (np.int64(0), 1)])
def test_axes_may_be_any_sequence(axes):
    assert ft.sum(x, axis=axes).ndim == 0
    assert ft.expand_dims(x, axes).type.shape == (1, 1, None, None)


def test_common_classes_ask_no_abstract_class(monkeypatch):
    asked = []
    monkeypatch.setattr("frazil.graph.collection.Mapping", Asking("Mapping", (), {"to": asked}))
    monkeypatch.setattr("frazil.graph.collection.Sequence", Asking("Sequence", (), {"to": asked}))
    for given in (0, (0,), [0], None):
        ft.sum(x, axis=given)
    ft.expand_dims(x, 0)
    ft.roll(x, 1, 0)
    fz.function([x], [x + 1.0], updates={}, givens={})
    state = fz.shared(0.0)
    fz.scan(lambda row, s: s + row.sum(), x, ft.constant(0.0))
    fz.function([], state, updates=[(state, state + 1.0)])
    assert asked == []
    assert not is_sequence({0})
    assert asked == [{0}]


class Asking(type):
    def __instancecheck__(cls, given):
        cls.to.append(given)
        return False
