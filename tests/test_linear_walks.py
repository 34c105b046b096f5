"""What is done with a graph grows with the graph: calls are counted, which no other process slows.

Rust's walks are seen by the time that ``benches/growth_time.py`` takes for the same graphs.
"""

import gc
import sys

import pytest
from growing_graphs import FAMILIES

import frazil as fz
from frazil.compile.phases import optimize
from frazil.link.fusion.registry import find_fusion
from frazil.link.fusion.segments import Segmentation


def counted(work):
    """What ``work`` gives, and how many calls of Python and of built-in functions that took."""
    count = 0

    def add(frame, event, argument):
        nonlocal count
        count += event != "return" and event != "c_return"

    gc.disable()  # what is collected meanwhile is not the work's
    before = sys.getprofile()
    sys.setprofile(add)
    try:
        result = work()
    finally:
        sys.setprofile(before)
        gc.enable()
    return result, count


def calls(family, n):
    (inputs, outputs), build = counted(lambda: FAMILIES[family](n))
    graph = fz.FrozenFunctionGraph(inputs, outputs)
    optimized, improve = counted(lambda: optimize(graph, frozenset()).graph)
    return {
        "build": build,
        "optimize": improve,
        "cut": counted(lambda: Segmentation(optimized, find_fusion("c")))[1],
        "print": counted(lambda: (fz.pp(outputs), fz.dprint(outputs, file="str")))[1],
        "compile": counted(lambda: fz.function(inputs, outputs, mode="py"))[1],
    }


@pytest.mark.parametrize("family", FAMILIES)
def test_twice_the_graph_is_twice_the_work(family, monkeypatch):
    monkeypatch.setenv("FRAZIL_CACHE", "off")
    n = 12 if "in ops" in family else 40
    calls(family, 2)  # what is done once in a process
    small, large = calls(family, n), calls(family, 2 * n)
    grown = {what: large[what] / small[what] for what in small}
    assert max(grown.values()) < 2.5, grown
