"""Some cases of each search: what runs for an hour on request must at least start.

A number of cases ends these, never the clock: a slow machine tries the same ones.
"""

import os

import altered_bytes
import memory_growth
import numpy as np
import pytest
import random_programs
import threads_and_forks
from drawn_programs import Program, Step
from search import Search


@pytest.mark.parametrize(("search", "cases"), [(random_programs, 12), (altered_bytes, 6)])
def test_search_finds_nothing(search, cases):
    found = Search(search.__name__, search.case)
    found.run(0, cases=cases)
    assert found.cases == cases
    assert not found.faults


@pytest.mark.parametrize("seed", [90327, 90977])
def test_rounding_of_float32_in_a_float64_is_no_fault(seed):
    random_programs.case(seed)


def test_a_float64_is_known_as_well_as_the_coarsest_that_it_is_computed_from():
    fine, coarse = np.ones(3), np.ones(3, "float32")
    steps = [
        Step("fine", lambda _, x: x * 2, (0,)),
        Step("mixed", lambda _, x, y: x * y, (1, 2)),
        Step("later", lambda _, x: x + 1, (3,)),
    ]
    program = Program([fine, coarse], [(3,), (3,)], steps)
    eps = {dtype: float(np.finfo(dtype).eps) for dtype in ("float32", "float64")}
    values = program.on_numpy(program.inputs, None)
    units = program.units(values)
    assert units == [eps[name] for name in ("float64", "float32", "float64", "float32", "float32")]
    for at, off, known in [(2, 1e-9, True), (2, 1e-15, False), (4, 1e-9, False), (4, 1e-3, True)]:
        found, exact = values[at] + off, values[at]
        try:
            random_programs.compare(found, exact, [exact], units[at], "here")
        except AssertionError:
            assert known
        else:
            assert not known


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_search_with_forks_finds_nothing():
    found = Search("threads and forks", threads_and_forks.case)
    found.run(0, cases=2)
    assert found.cases == 2
    assert not found.faults


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="nobody tells the memory here")
@pytest.mark.parametrize(
    "seed", range(len(memory_growth.KINDS)), ids=[kind[0].__name__ for kind in memory_growth.KINDS]
)
def test_no_memory_is_kept_for_values(seed, monkeypatch):
    kinds = [(work, count // 100, filling) for work, count, filling in memory_growth.KINDS]
    monkeypatch.setattr(memory_growth, "KINDS", kinds)
    memory_growth.case(seed)
