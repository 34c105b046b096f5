"""Kernels that differ only in constants are compiled once."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import evaluate

import frazil as fz
import frazil.tensor as ft
from frazil.link import compiled_kernels
from frazil.link.fusion.registry import find_fusion
from frazil.link.fusion.segments import Segmentation
from frazil.link.lowering import shared_kernels
from frazil.link.lowering.loop_kernels import kernel_calls
from frazil.link.lowering.shared_kernels import share_kernels


def kernels(function):
    loops = [line for line in str(function.explain()).splitlines() if " = loop " in line]
    return {line.split("loop ")[1].split("(")[0] for line in loops}


def many(build, constants, shape=(3,)):
    inputs = [ft.tensor(f"x{k}", shape=(None,) * len(shape)) for k in range(len(constants))]
    outputs = [build(x, constant) for x, constant in zip(inputs, constants, strict=True)]
    return inputs, outputs


CONSTANTS = st.sampled_from([0.5, -0.0, 0.0, 1.5, np.inf, np.nan, 2.0, -3.25])


@settings(max_examples=8)  # as all of them compile
@given(
    st.sampled_from(["c", "cranelift", "numba"]),
    st.lists(st.tuples(CONSTANTS, CONSTANTS), min_size=2, max_size=4),
)
def test_results_are_those_of_the_constants(mode, constants):
    def build(x, pair):
        a, b = (np.float64(one) for one in pair)
        shifted = (x * a - b) * ft.exp(-x * x)
        return shifted, ft.where(x > a, shifted + a, b).sum(0), ft.max(x * b / 3, 1)

    inputs, grouped = many(build, constants, (4, 5))
    outputs = [y for group in grouped for y in group]
    function = fz.function(inputs, outputs, mode=mode)
    rng = np.random.default_rng(1)
    values = [rng.normal(size=(4, 5)) for _ in inputs]
    for found, output in zip(function(*values), outputs, strict=True):
        expected = evaluate(output, dict(zip(inputs, values, strict=True)))
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_inputs_that_differ_in_a_constant_have_one_kernel():
    inputs, outputs = many(lambda x, c: (ft.exp(-c * x**2) + c).sum(), [0.3 + k for k in range(24)])
    function = fz.function(inputs, outputs, mode="c")
    assert kernels(function) == {"k0"}


def test_a_kernel_that_several_calls_share_is_made_once():
    inputs, outputs = many(lambda x, c: (ft.exp(-c * x**2) + c).sum(), [0.3 + k for k in range(5)])
    graph = fz.FrozenFunctionGraph(inputs, outputs)
    cut = Segmentation(graph, find_fusion("c"))
    calls = kernel_calls(cut)
    assert len({id(call.kernel) for call in calls.values()}) == 5
    assert len({id(call.kernel) for call in share_kernels(calls).values()}) == 1


def test_forms_are_compared_where_as_many_values_are_in_several_kernels(monkeypatch):
    asked, form = [], shared_kernels._form

    def counted(kernel):
        asked.append(kernel)
        return form(kernel)

    monkeypatch.setattr(shared_kernels, "_form", counted)
    x, y, z = ft.dvector("x"), ft.dmatrix("y"), ft.dvector("z")
    graph = fz.FrozenFunctionGraph(
        [x, y, z], [ft.exp(x) + 0.5, ft.exp(z) + 1.5, ft.sin(y).sum() * 2.5]
    )
    cut = Segmentation(graph, find_fusion("c"))
    calls = kernel_calls(cut)
    assert len(calls) == 4
    assert len({call.kernel for call in share_kernels(calls).values()}) == 3
    assert len(asked) == 2


def test_a_step_that_repeats_with_other_constants_has_one_kernel():
    def chain(x):
        for k in range(12):
            x = ft.exp(x * (1 + 0.1 * k)).cumsum() + k
        return x

    x = ft.vector("x")
    function = fz.function([x], chain(x), mode="c")
    assert len(kernels(function)) < 6


def test_what_compilers_make_of_constants_stays():
    inputs, outputs = many(lambda x, c: x**c / (2 + c), [2.0, 3.0, 2.5])
    function = fz.function(inputs, outputs, mode="c")
    assert len(kernels(function)) == 3


@pytest.mark.parametrize("dtype", ["int8", "float32", "bool"])
def test_constants_keep_their_dtypes(dtype, mode):
    inputs = [ft.vector(f"x{k}", dtype=dtype) for k in range(2)]
    outputs = [ft.where(x > x, x, ft.constant(k, dtype)) for k, x in enumerate(inputs)]
    found = fz.function(inputs, outputs, mode=mode)(*[np.ones(4, dtype)] * 2)
    for k, value in enumerate(found):
        np.testing.assert_array_equal(value, np.full(4, k, dtype), strict=True)


SIZED = {
    "elements": (1, lambda x: ft.exp(x) * 2 + x),
    "sum": (1, lambda x: (ft.exp(x) * x).sum()),
    "mean": (1, lambda x: ft.tanh(x).mean()),
    "rows": (2, lambda x: x - (x * x).mean(axis=1, keepdims=True)),
    "softmax": (2, lambda x: ft.softmax(x, axis=1)),
    "norm": (2, lambda x: (x - x.mean(1, keepdims=True)) / ft.sqrt(x.var(1, keepdims=True) + 1)),
    "columns": (2, lambda x: (x / x.shape[1]).sum(axis=0)),
    "running": (1, lambda x: (x * 0.5).cumsum()),
    "slices": (1, lambda x: x[1:] - x[:-1]),
    "numbers": (1, lambda x: x * ft.arange(x.shape[0])),
    "gradient": (1, lambda x: fz.grad((ft.tanh(x) ** 2).mean(), x)),
}
# A power of two is divided by in another way: its inverse is exact, and a factor.
LENGTHS = st.integers(33, 300).filter(lambda n: n & (n - 1))


@pytest.mark.parametrize("name", SIZED)
@settings(max_examples=2, deadline=None)  # as all of them compile
@given(
    st.sampled_from(["c", "cranelift", "numba"]),
    st.lists(LENGTHS, min_size=2, max_size=3, unique=True),
)
def test_kernels_that_differ_in_a_length_are_one_kernel(name, mode, lengths):
    ndim, build = SIZED[name]
    inputs = [ft.tensor(f"x{n}", shape=(n,) * ndim) for n in lengths]
    outputs = [build(x) for x in inputs]
    function = fz.function(inputs, outputs, mode=mode)
    alone = fz.function(inputs[:1], outputs[:1], mode=mode)
    assert len(kernels(function)) == len(kernels(alone))
    values = [np.random.default_rng(n).normal(size=x.type.shape) for n, x in enumerate(inputs)]
    for found, output in zip(function(*values), outputs, strict=True):
        expected = evaluate(output, dict(zip(inputs, values, strict=True)))
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("mode", ["c", "cranelift", "numba"])
def test_a_function_of_other_lengths_has_the_kernels_of_the_first(mode, monkeypatch):
    monkeypatch.setenv("FRAZIL_CACHE", "0")
    functions, compiled = [], []
    for length in (41, 50, 64, 107):
        x = ft.tensor("x", shape=(length, length))
        weights = ft.exp(0.3721 * x - ft.max(x, axis=1, keepdims=True))
        outputs = [weights / weights.sum(axis=1, keepdims=True), (x * x).sum(axis=0)]
        before = compiled_kernels()[mode]
        functions.append(fz.function([x], outputs, mode=mode))
        compiled.append(compiled_kernels()[mode] - before)
    assert compiled[0] > 0
    assert compiled[1:] == [0, 0, 0]
