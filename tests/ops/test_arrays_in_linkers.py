"""Each op on arrays gives in every linker what NumPy or SciPy gives, or raises what these raise.

A case is compiled once for a linker and a dtype, and then called with the arrays that are drawn.
"""

import importlib.util
from pathlib import Path

import pytest
import spoilt_cases
from agreement import MODES
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from op_case import NUMBERS, OTHERS, bits_differ, compile_together
from topics import TOPICS

from frazil import _core

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

ACCURACY = {"float16": 2e-3, "float32": 2e-5, "complex64": 2e-5}


def _groups():
    """The cases of a topic that take one of the usual dtypes, each with it."""
    return [
        pytest.param(chosen, id=f"{topic} of {dtype}")
        for dtype in NUMBERS
        for topic, cases in TOPICS.items()
        if (chosen := [(one, dtype) for one in cases if one.takes(dtype)])
    ]


TURNS = 3


def _turns():
    """The cases of a topic, each with one of the other dtypes that it takes.

    In its few turns, a case meets as many dtypes, and those of a topic meet all. Searches at
    random take every dtype.
    """
    every = not settings.default.derandomize
    return [
        pytest.param(chosen, id=f"{topic}, turn {turn}")
        for turn in range(len(OTHERS) if every else TURNS)
        for topic, cases in TOPICS.items()
        if (
            chosen := [
                (one, dtype)
                for at, one in enumerate(cases)
                for dtype in _dealt(one, at, turn, every)
            ]
        )
    ]


def _dealt(case, at, turn, every):
    taken = case.others()
    if every:
        return taken[turn : turn + 1]
    return [taken[(at * TURNS + turn) % len(taken)]] if taken else []


ELSEWHERE = {
    "Draw": "tests/random compares its draws with NumPy's, bit by bit",
    "MultivariateNormal": "tests/random",
    "WeightedSample": "tests/random",
    "Print": "tests/tensor/test_checks.py reads what it writes",
}
"""Ops without a case."""


def test_every_op_has_a_case():
    cases = [one for topic in TOPICS.values() for one in topic]
    outputs = [y for one in cases for y in one.outputs(one.inputs(one.dtypes[0]))]
    found = {type(node.op).__name__ for node in _core.toposort(outputs)}
    wanted = {op.__name__ for op in _ops_page().array_ops()}
    assert sorted(wanted - found) == sorted(ELSEWHERE), "add a case to a module of tests/ops"


def _ops_page():
    path = Path(__file__).parent.parent.parent / "benches" / "ops_page.py"
    spec = importlib.util.spec_from_file_location("ops_page", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("chosen", _groups())
def test_values_and_errors_are_those_of_numpy(chosen):
    _check_all(chosen, settings.default.max_examples // 2)


@pytest.mark.parametrize("chosen", _turns())
def test_values_of_other_dtypes_are_those_of_numpy(chosen):
    _check_all(chosen, settings.default.max_examples // 8)


@pytest.mark.parametrize("topic", TOPICS)
def test_values_of_known_lengths_are_those_of_numpy(topic):
    chosen = [one for one in TOPICS[topic] if one.static and "float64" in one.dtypes]
    known = [(one.with_known_lengths(), "float64") for one in chosen]
    _check_all(known, settings.default.max_examples // 8)


def test_spoilt_matrices_spoil_what_those_of_numpy_do():
    chosen = [(one, "float64") for one in spoilt_cases.SPOILT]
    _check_all(chosen, settings.default.max_examples // 5)


def _check_all(chosen, examples):
    kept = compile_together(chosen, MODES)
    for one, dtype in chosen:
        try:
            check(one, dtype, examples)
        except BaseException as error:
            error.add_note(f"in the case {one.name!r} of {dtype}")
            raise
    del kept


def check(case, dtype, examples):
    functions = {mode: case.compiled(dtype, mode) for mode in MODES}

    # Other tests may keep the processors busy.
    @settings(max_examples=examples, suppress_health_check=[HealthCheck.too_slow])
    @given(st.data())
    def agrees(data):
        arrays = case.drawn(data.draw, dtype)
        try:
            compare(case, functions, arrays)
        except BaseException as error:
            error.add_note("\n".join(f"{x.shape} {x.strides}\n{x!r}" for x in arrays))
            raise

    agrees()


def compare(case, functions, arrays):
    expected = case.expected(arrays)
    results = {}
    for mode, function in functions.items():
        try:
            if isinstance(expected, Exception):
                with pytest.raises(type(expected)):
                    function(*arrays)
                continue
            results[mode] = function(*arrays)
            for one, array in zip(results[mode], expected, strict=True):
                case.agreement(one, array, max(case.tolerance, ACCURACY.get(array.dtype.name, 0)))
        except BaseException as error:
            error.add_note(f"in mode {mode}")
            raise
    chosen = [results[mode] for mode in case.same_bits if mode in results]
    for found in chosen[1:]:
        for one, other in zip(chosen[0], found, strict=True):
            assert not bits_differ(one, other), (one, other)
