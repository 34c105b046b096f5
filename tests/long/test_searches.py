"""Each search, for some seconds: what runs for an hour on request must at least start."""

import os

import altered_bytes
import memory_growth
import pytest
import random_programs
import threads_and_forks
from search import Search


@pytest.mark.parametrize(("search", "cases"), [(random_programs, 12), (altered_bytes, 6)])
def test_search_finds_nothing(search, cases):
    found = Search(search.__name__, search.case)
    found.run(0, minutes=2, cases=cases)
    assert found.cases
    assert not found.faults


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_search_with_forks_finds_nothing():
    found = Search("threads and forks", threads_and_forks.case)
    found.run(0, minutes=2, cases=2)
    assert found.cases == 2
    assert not found.faults


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="nobody tells the memory here")
def test_search_of_growth_finds_nothing(monkeypatch):
    kinds = [(work, count // 100, filling) for work, count, filling in memory_growth.KINDS]
    monkeypatch.setattr(memory_growth, "KINDS", kinds)
    found = Search("memory growth", memory_growth.case)
    found.run(0, minutes=2, cases=len(kinds))
    assert found.cases == len(kinds)
    assert not found.faults
