"""Kernels that differ only in constants are compiled once."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import evaluate

import frazil as fz
import frazil.tensor as ft
from frazil.link.fusion.registry import find_fusion
from frazil.link.fusion.segments import Segmentation
from frazil.link.lowering import shared_kernels
from frazil.link.lowering.loop_kernels import kernel_call
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
    calls = {
        part: kernel_call(part.task, cut.stored, cut.views, cut.recompute) for part in cut.segments
    }
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
    calls = {
        part: kernel_call(part.task, cut.stored, cut.views, cut.recompute) for part in cut.segments
    }
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
