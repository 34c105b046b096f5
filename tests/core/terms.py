"""A plain model of graphs: terms, built from a recipe, with all that is slow and obvious."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft


@dataclass(frozen=True, eq=False)
class Fresh(fz.Op):
    """Its operand, in a buffer of its own."""

    distinct = True

    def make_node(self, x):
        return fz.FrozenApply(self, [x], [x.type])

    def perform(self, node, inputs):
        return (inputs[0].copy(),)


@dataclass(frozen=True, eq=False)
class Update(fz.Op):
    """Writes its second operand over its first."""

    destroy_map = {0: [0]}  # noqa: RUF012

    def make_node(self, x, y):
        return fz.FrozenApply(self, [x, y], [x.type])


FUNCTIONS = {
    "add": lambda a, b: a + b,
    "mul": lambda a, b: a * b,
    "exp": lambda a, b: ft.exp(a),
    "fresh": lambda a, b: Fresh()(a),
    "two": lambda a, b: ft.constant(2.0),
}
ARITY = {"add": 2, "mul": 2, "exp": 1, "fresh": 1, "two": 0}
STEP = st.tuples(st.sampled_from(sorted(FUNCTIONS)), st.integers(0, 63), st.integers(0, 63))


def recipes(size=12):
    """Lists of steps: a function, and which of the variables so far it takes."""
    return st.lists(STEP, min_size=1, max_size=size)


def roots():
    return [ft.dscalar(name) for name in "xyz"]


def build(inputs, recipe):
    """The inputs, then what each step makes, as variables."""
    made = list(inputs)
    for name, left, right in recipe:
        made.append(FUNCTIONS[name](made[left % len(made)], made[right % len(made)]))
    return made


def terms(recipe, inputs="xyz"):
    """The same as terms: (function, serial of a distinct application or None, operands)."""
    made = [("input", name, ()) for name in inputs]
    for serial, (name, left, right) in enumerate(recipe):
        operands = (made[left % len(made)], made[right % len(made)])[: ARITY[name]]
        made.append((name, serial if name == "fresh" else None, operands))
    return made


def substitute(term, pairs):
    """``term`` with each key of ``pairs`` replaced; what is put in is not searched."""
    if term in pairs:
        return pairs[term]
    name, serial, operands = term
    return name, serial, tuple(substitute(operand, pairs) for operand in operands)


def canonical(outputs, fold=False):
    """Equal exactly for isomorphic graphs: distinct terms are numbered as a walk meets them."""
    numbers = {}

    def walk(term):
        name, serial, operands = term
        walked = tuple(walk(operand) for operand in operands)
        if name == "fresh":
            key = walked if fold else serial
            serial = numbers.setdefault(key, len(numbers))
        return name, serial, walked

    return [walk(output) for output in outputs]


@dataclass(frozen=True, eq=False)
class Run(fz.Op):
    """The outputs of a graph."""

    fgraph: fz.FrozenFunctionGraph

    def make_node(self, *inputs):
        return fz.FrozenApply(self, inputs, [output.type for output in self.fgraph.outputs])

    def perform(self, node, inputs):
        graph = self.fgraph.unfreeze()
        run = fz.function(list(graph.inputs), list(graph.outputs), mode="py")
        return tuple(np.asarray(value) for value in run(*inputs))


def read_elsewhere(value, script):
    """Return what ``script`` prints in a process of its own that reads the pickle of ``value``."""
    path = os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)])
    run = subprocess.run(
        [sys.executable, "-c", script],
        input=pickle.dumps(value),
        capture_output=True,
        check=True,
        env={**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": "7"},
    )
    return run.stdout.decode()
