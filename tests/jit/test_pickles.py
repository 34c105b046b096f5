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


@fz.grad
def slope(x):
    return (x**3).sum()


@fz.vmap
def largest(x):
    return x.max()


def cube(x):
    return (x**3).sum()


@pytest.mark.parametrize("made", [slope, largest])
def test_what_transformations_made_of_a_name_comes_back_as_itself(made):
    assert pickle.loads(pickle.dumps(made)) is made
    assert copy.deepcopy(made) is made


TRANSFORMED = {
    "grad": lambda: fz.grad(cube),
    "several": lambda: fz.grad(power, argnums=(0, 1)),
    "value_and_grad": lambda: fz.value_and_grad(cube),
    "hessian": lambda: fz.hessian(cube),
    "jacobian": lambda: fz.jacobian(np.exp),
    "vmap": lambda: fz.vmap(np.sum, in_axes=0, out_axes=0),
    "jit of grad": lambda: fz.jit(fz.grad(cube)),
    "jit of vmap": lambda: fz.jit(fz.vmap(fz.grad(cube)), static_shapes=True),
    "grad of jit": lambda: fz.grad(fz.jit(cube)),
}


@pytest.mark.parametrize("name", sorted(TRANSFORMED))
def test_transformed_functions_pickle_by_what_they_are_made_of(name):
    made = TRANSFORMED[name]()
    arguments = (2.0, 3.0) if name == "several" else (np.ones((2, 3)) if "vmap" in name else 2.0,)
    expected = made(*arguments)
    for found in (pickle.loads(pickle.dumps(made)), copy.deepcopy(made)):
        for one, other in zip(
            np.atleast_1d(found(*arguments)), np.atleast_1d(expected), strict=True
        ):
            np.testing.assert_array_equal(one, other)


def test_a_closure_goes_to_another_process():
    scale = 3.0
    blob = cloudpickle.dumps(fz.jit(lambda x: x * scale))
    program = "import sys, pickle; print(pickle.load(sys.stdin.buffer)(2.0))"
    run = subprocess.run([sys.executable, "-c", program], input=blob, capture_output=True)
    assert run.stdout.strip() == b"6.0", run.stderr
