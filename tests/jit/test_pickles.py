"""Pickles of compiled Python functions: a name, or the function and its options."""

import copy
import pickle
import subprocess
import sys

import cloudpickle
import numpy as np
import pytest

import frazil as fz


@fz.jit
def doubled(x):
    return x * 2


def power(x, n):
    return x**n


class Layer:
    @fz.jit
    def call(self, x):
        return x + 1


OPTIONS = [
    {"static_argnames": "n"},
    {"static_argnums": [-1], "captures": "bind", "mode": "py"},
    {"static_argnums": 1, "static_shapes": True, "max_entries": 2},
    {"static_argnames": ["n"], "captures": {"scale": "error"}},
]


@pytest.mark.parametrize("compiled", [doubled, Layer.call])
def test_a_function_that_its_module_names_comes_back_as_itself(compiled):
    for protocol in range(4, pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(compiled, protocol)) is compiled
    assert copy.deepcopy(compiled) is compiled


@pytest.mark.parametrize("options", OPTIONS)
def test_options_come_back(options):
    compiled = fz.jit(power, **options)
    compiled(np.ones(3), 2)
    found = pickle.loads(pickle.dumps(compiled))
    np.testing.assert_array_equal(found(np.arange(3.0), 3), np.arange(3.0) ** 3)
    for name in ("_policies", "_mode", "_static", "_max_entries", "_static_shapes"):
        assert getattr(found, name) == getattr(compiled, name)


def test_a_closure_goes_to_another_process():
    scale = 3.0
    blob = cloudpickle.dumps(fz.jit(lambda x: x * scale))
    program = "import sys, pickle; print(pickle.load(sys.stdin.buffer)(2.0))"
    run = subprocess.run([sys.executable, "-c", program], input=blob, capture_output=True)
    assert run.stdout.strip() == b"6.0", run.stderr
