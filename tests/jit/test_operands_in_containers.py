"""Captured arrays in containers and loops: those that are only operands need no other trace."""

import argparse
import dataclasses
import inspect
import pathlib

import numpy as np
import pytest

import frazil as fz
from frazil.jit.code_names import nested
from frazil.jit.operand_flow import flow_of

X = np.array([0.1, 0.2, 0.3])


class Model:
    def __init__(self, rng):
        self.params = {"w": rng.normal(size=(3, 3)), "b": rng.normal(size=3)}
        self.layers = [[rng.normal(size=(3, 3)), rng.normal(size=3)] for _ in range(3)]
        self.pairs = (rng.normal(size=3), rng.normal(size=3))
        self.square = rng.normal(size=(3, 3))

    def __call__(self, x):
        for w, b in self.layers:
            x = x @ w + b
        return x * self.params["b"]

    def arrays(self):
        return [
            *self.params.values(),
            *(own for layer in self.layers for own in layer),
            self.square,
        ]

    def rebind(self, rng):
        self.params["w"] = rng.normal(size=(3, 3))
        self.layers[1][1] = rng.normal(size=3)
        self.square = rng.normal(size=(3, 3))


model = Model(np.random.default_rng(0))


def helper(b, x):
    return x * (b * 2)


def entries(x):
    return np.tanh(x @ model.params["w"] + model.params["b"])


def layers(x):
    for w, b in model.layers:
        x = np.maximum(x @ w + b, 0.01)
    return x.sum()


def numbered(x):
    for at, (w, b) in enumerate(model.layers):
        x = x @ w * at + b
    return x


def together(x):
    for (w, b), scale in zip(model.layers, model.pairs):  # noqa: B905
        x = (x @ w + b) * scale
    return x


def items(x):
    for key, value in model.params.items():
        x = x @ value if key == "w" else x + value
    return x


def elements(x):
    return (x @ model.layers[0][0] + model.layers[0][1]) * model.pairs[0]


def repeated(x):
    for _ in range(3):
        x = x @ model.square
    return x


def repeatedly_while(x):
    at = 0
    while at < 2:
        x = -x @ model.square
        at += 1
    return x


def called(x):
    return model(x)


def unless_none(x):
    for w, b in model.layers:
        x = x @ w
        if b is not None:
            x = x + b
    return x


def unless_none_and_no_more(x):
    return x @ model.square if model.params["b"] is not None else x


LIFTED = (
    *(entries, layers, numbered, together, items, elements, repeated, repeatedly_while, called),
    *(unless_none, unless_none_and_no_more),
)


def element_of_an_array(x):
    return x @ model.params["w"] * model.params["b"][0]


def product_before(x):
    scale = 1.0
    for _, b in model.layers:
        scale = scale * b
    return x * scale


def swapped(x):
    one, other = x, model.params["b"]
    for _ in range(3):
        one, other = other * 1.0, one
    return one + other


def read_by_a_function_within(x):
    params = model.params

    def total():
        return params["b"].sum()

    return x @ params["w"] + params["b"] + total()


def summed(x):
    return x * sum(b.sum() for _, b in model.layers)


def returned(x):
    return x @ model.params["w"], model.params["b"]


def handed_on(x):
    return helper(model.params["b"], x)


def through_a_list(x):
    kept = [model.params["b"]]
    return x + kept[0].max()


def traced_from_the_second_on(x):
    total = np.ones(3)
    for _, b in model.layers:
        total = total * b
        total = total + (x if b is model.layers[0][1] else 0)
    return total


def chosen(x):
    return x * model.params["b"] if model.params["b"].sum() > 0 else x


def element_in_a_loop(x):
    for w, b in model.layers:
        x = x @ w + b[0]
    return x


def rows(x):
    for row in model.params["w"]:
        x = x * row
    return x


def length(x):
    return x * model.params["b"] * len(model.params["b"])


def in_place(x):
    for _, b in model.layers:
        b += 1.0
        x = x * b
    return x


def compared_with_itself(x):
    return np.where(model.params["b"] > model.pairs[0], x, x * model.params["b"])


def of_other_names(x):
    np = FakeNumPy
    return np.add(model.params["b"], x)


class FakeNumPy:
    @staticmethod
    def add(one, other):
        return other * one[0]


READ = (
    *(element_of_an_array, product_before, swapped, read_by_a_function_within, summed, returned),
    *(handed_on, through_a_list, traced_from_the_second_on, chosen, element_in_a_loop, rows),
    *(length, in_place, compared_with_itself, of_other_names),
)


def results_of_changes(fn, steps=8):
    """What calls return while arrays change, in place and by others in their place."""
    rng = np.random.default_rng(1)
    model.__init__(np.random.default_rng(0))
    found = []
    for step in range(steps):
        found.append(np.concatenate([np.ravel(own) for own in np.atleast_1d(fn(X))]))
        changed = model.arrays()[step % len(model.arrays())]
        changed += rng.normal(size=changed.shape)
        if step % 3 == 2:
            model.rebind(rng)
    return found


@pytest.mark.parametrize("fn", [*LIFTED, *READ], ids=lambda fn: fn.__name__)
def test_results_are_those_of_python(fn):
    def flat(compiled):
        def call(x):
            found = compiled(x)
            return np.concatenate(found) if isinstance(found, tuple) else found

        return call

    compiled, plain = results_of_changes(flat(fz.jit(fn, mode="py"))), results_of_changes(flat(fn))
    for one, other in zip(compiled, plain, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


@pytest.mark.parametrize("fn", LIFTED, ids=lambda fn: fn.__name__)
def test_operands_need_no_other_trace(fn):
    compiled = fz.jit(fn, mode="py")
    model.__init__(np.random.default_rng(0))
    for _ in range(4):
        compiled(X)
        for own in model.arrays():
            own += 0.125
        model.layers[0][1] = model.layers[0][1] * 1.5
        model.params["w"] = model.params["w"] * 1.5
        model.square = model.square + 1
    assert compiled.cache_info() == (3, 1, 0, 1), compiled.explain()


@pytest.mark.parametrize("fn", READ, ids=lambda fn: fn.__name__)
def test_what_python_reads_is_traced_again(fn):
    compiled = fz.jit(fn, mode="py")
    model.__init__(np.random.default_rng(0))
    for _ in range(3):
        compiled(X)
        for own in model.arrays():
            own += 0.125
    assert compiled.cache_info().hits == 0


@pytest.mark.parametrize("module", [argparse, dataclasses, pathlib, inspect, np.linalg._linalg])
def test_the_stack_is_known_in_any_code(module):
    code = compile(inspect.getsource(module), module.__name__, "exec", dont_inherit=True)
    for each in nested(code):
        assert flow_of(each, frozenset(each.co_varnames[: each.co_argcount])).is_known, each


def mixed(x):
    return (x @ settings["w"]) * settings["scale"] + settings["layers"][1]


def from_the_end(x):
    return x * settings["layers"][-1] + settings["layers"][0].sum()


def in_another_order(x):
    return x * tuple(reversed(settings["layers"]))[1][0]


def values_by_number(x):
    return x * list(settings.values())[2][0].sum()


def transposed(x):
    return x * settings["layers"][0].T + settings["layers"][1].real


def product_of_an_unpacked_one(x):
    first, _ = settings["layers"]
    return x + first * 1 + settings["layers"][-1] * 1


settings = {"w": np.ones((3, 3)), "scale": 2.0, "layers": [np.ones(3), np.ones(3)]}


@pytest.mark.parametrize(
    ("fn", "misses"),
    [
        (mixed, 2),
        (from_the_end, 6),
        (in_another_order, 6),
        (values_by_number, 6),
        (transposed, 6),
        (product_of_an_unpacked_one, 6),
    ],
)
def test_keys_tell_parts_of_a_container_apart(fn, misses):
    compiled = fz.jit(fn, mode="py")
    settings["scale"] = 2.0
    for step in range(6):
        assert compiled(X).tolist() == pytest.approx(fn(X).tolist())
        settings["w"] = settings["w"] + 1
        settings["layers"][0] += 1
        settings["layers"][1] = settings["layers"][1] * 1.5
        if step == 2:
            settings["scale"] = 3.0
    assert compiled.cache_info().misses == misses
