"""Each search, for some seconds: what runs for an hour on request must at least start."""

import altered_bytes
import pytest
import random_programs
from search import Search


@pytest.mark.parametrize(("search", "cases"), [(random_programs, 12), (altered_bytes, 6)])
def test_search_finds_nothing(search, cases):
    found = Search(search.__name__, search.case)
    found.run(0, minutes=2, cases=cases)
    assert found.cases
    assert not found.faults
