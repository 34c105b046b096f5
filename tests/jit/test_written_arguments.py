"""Containers that a function was given and changes: the caller's change as in plain Python."""

from collections import namedtuple
from dataclasses import dataclass, field

import numpy as np
import pytest

import frazil as fz

Pair = namedtuple("Pair", "first second")


@dataclass
class Layer:
    weights: np.ndarray
    name: str = "layer"
    more: list = field(default_factory=list)


@dataclass(slots=True)
class Slotted:
    weights: np.ndarray


class Checked(Layer):
    """Its attributes are set by code of its own."""

    def __setattr__(self, name, value):
        if name == "name" and not isinstance(value, str):
            raise TypeError("a name is text")
        object.__setattr__(self, name, value)


class Registered:
    def __init__(self, weights):
        self.weights = weights


fz.register_pytree(
    Registered, lambda tree: ([tree.weights], None), lambda aux, parts: Registered(*parts)
)


def doubled_attribute(tree):
    tree.weights = tree.weights * 2
    return tree.weights.sum()


def doubled_within(tree):
    tree["layers"][0].weights = tree["layers"][0].weights * 2
    return tree["layers"][1].weights.sum()


def appended(tree):
    tree.append(Layer(tree[0].weights + 1, "new"))
    return tree[0].weights.sum()


def appended_twice(tree):
    new = Layer(tree[0].weights + 1, "new")
    tree.append(new)
    tree[0].more.append(new)
    return tree[0].weights.sum()


def swapped(tree):
    tree[0], tree[1] = tree[1], tree[0]
    return tree[0].weights.sum()


def moved(tree):
    tree["b"] = tree.pop("a")
    return tree["b"].weights.sum()


def in_a_namedtuple(tree):
    tree.second.weights = tree.first.weights + tree.second.weights
    return tree.first.weights.sum()


def new_attribute(tree):
    tree.norm = np.sqrt(tree.weights @ tree.weights)
    return tree.norm


def deleted(tree):
    total = tree.weights.sum()
    del tree.weights
    return total


def within_itself(tree):
    tree.append(tree)
    return tree[0].weights.sum()


CAPTURED = [1.0, 2.0]


def captured(tree):
    tree.more = CAPTURED
    return tree.weights.sum() + len(CAPTURED)


def returned(tree):
    tree.weights = tree.weights - 1
    return tree


def layers(kind=Layer, count=2):
    return [kind(np.arange(3.0) + at) for at in range(count)]


CASES = {
    "an attribute": (doubled_attribute, lambda: layers()[0]),
    "an attribute in a slot": (doubled_attribute, lambda: Slotted(np.ones(2))),
    "an attribute with a check": (doubled_attribute, lambda: layers(Checked)[0]),
    "of a registered class": (doubled_attribute, lambda: Registered(np.ones(2))),
    "of a registered class in a list": (
        lambda tree: doubled_attribute(tree[0]),
        lambda: [Registered(np.ones(2))],
    ),
    "within a dict": (doubled_within, lambda: {"layers": layers()}),
    "a new element": (appended, layers),
    "a new element in two places": (appended_twice, layers),
    "places changed": (swapped, layers),
    "another key": (moved, lambda: {"a": layers()[0]}),
    "in a namedtuple": (in_a_namedtuple, lambda: Pair(*layers())),
    "a new attribute": (new_attribute, lambda: layers()[0]),
    "no attribute any more": (deleted, lambda: layers()[0]),
    "within itself": (within_itself, layers),
    "a captured list": (captured, lambda: layers()[0]),
    "returned": (returned, lambda: layers()[0]),
}


def objects(value, found):
    """Every container and array that can be reached, in one order, each once."""
    if id(value) in {id(one) for one in found}:
        return found
    if isinstance(value, dict):
        found.append(value)
        for key, part in value.items():
            objects((key, part), found)
    elif isinstance(value, list | tuple):
        found.append(value)
        for part in value:
            objects(part, found)
    elif isinstance(value, Layer | Registered):
        found.append(value)
        objects(vars(value), found)
    elif isinstance(value, Slotted):
        found.append(value)
        objects(value.weights, found)
    elif isinstance(value, np.ndarray):
        found.append(value)
    return found


def told(value, known, above=()):
    """A tree as text: contents, and which of the objects known before stands where."""
    place = next((at for at, one in enumerate([CAPTURED, *known]) if one is value), "new")
    if id(value) in above:
        return f"above {place}"
    inner = (*above, id(value))
    if isinstance(value, dict):
        return place, [(key, told(part, known, inner)) for key, part in value.items()]
    if isinstance(value, list | tuple):
        return type(value), place, [told(part, known, inner) for part in value]
    if isinstance(value, Layer | Registered):
        return type(value), place, told(dict(sorted(vars(value).items())), [], inner)
    if isinstance(value, Slotted):
        return place, told(value.weights, known)
    if isinstance(value, np.ndarray | np.generic):
        return type(value), np.asarray(value).tolist()
    return type(value), value


@pytest.mark.parametrize("calls", [1, 3])
@pytest.mark.parametrize("case", CASES)
def test_arguments_change_as_in_plain_python(case, calls):
    fn, make = CASES[case]
    compiled = fz.jit(fn, mode="py")
    outcomes = []
    for function in (fn, compiled):
        for _ in range(calls):
            tree = make()
            known = objects(tree, [])
            result = function(tree)
        outcomes.append((told(result, known), told(tree, known)))
    assert outcomes[0] == outcomes[1]
