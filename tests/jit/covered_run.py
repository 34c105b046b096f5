"""Counts lines by coverage.py, and prints those of plain and traced runs."""

import json

import coverage
import covered_model
import numpy as np

import frazil as fz


def lines_of(function, scale):
    """The lines that one call runs."""
    tool = coverage.Coverage(data_file=None, include=[covered_model.__file__])
    tool.set_option("run:disable_warnings", ["no-data-collected"])  # by compiled forms
    covered_model.scale = scale
    tool.start()
    try:
        result = function(np.ones(2))
    finally:
        cores.add(dict(tool.sys_info())["core"])
        tool.stop()
    found = tool.get_data().lines(covered_model.__file__)
    return float(result), sorted(found or ())


cores = set()
compiled = fz.jit(covered_model.fn, mode="py")
told = {
    "plain": [lines_of(covered_model.fn, scale) for scale in (2.0, 7.0)],
    "traced": [lines_of(compiled, scale) for scale in (2.0, 7.0)],
    "compiled": [lines_of(compiled, scale) for scale in (2.0, 7.0)],
    "calls": compiled.cache_info()[:3],
}
print(json.dumps({**told, "cores": sorted(cores)}))
