"""docs/ops.md is what benches/ops_page.py makes of the ops, and the precision it tells holds."""

import importlib.util
import json
import math
from pathlib import Path

import numpy as np
import pytest

import frazil as fz
import frazil.tensor as ft
from frazil._core import elemwise
from frazil.scalar import TABLE, Elementary

ROOT = Path(__file__).parent.parent
MEASURED = json.loads((ROOT / "docs" / "precision.json").read_text())
VECTORS = 4
"""Units of the last place that other processors' functions on vectors may be off."""


def ops_page():
    path = ROOT / "benches" / "ops_page.py"
    spec = importlib.util.spec_from_file_location("ops_page", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_current():
    made = ops_page()
    assert made.PAGE.read_text() == made.page(), "run: python benches/ops_page.py"


def test_a_hole_must_be_explained():
    with pytest.raises(LookupError, match="say why in WHY"):
        ops_page().why("exp", "vjp")


def test_every_function_of_floats_is_measured():
    floats = {name for name, row in TABLE.items() if row.rule == "float"}
    assert floats - set(MEASURED) <= {"copysign", "nextafter", "rint"}


def test_the_precision_is_what_the_page_tells():
    names = sorted(MEASURED)
    inputs, given, results = [], [], []
    for name in names:
        own = [ft.vector() for _ in range(TABLE[name].nin)]
        inputs += own
        given += [*np.array(MEASURED[name]["checked"]).T[:-1]]
        results.append(elemwise(Elementary(name), *own))
    found = fz.function(inputs, results, mode="c")(*given)
    for name, values in zip(names, found, strict=True):
        right = [point[-1] for point in MEASURED[name]["checked"]]
        errors = [abs(a - b) / math.ulp(b) for a, b in zip(values.tolist(), right, strict=True)]
        # What is right is itself rounded.
        assert max(errors) <= MEASURED[name]["ulp"] * 1.1 + 1 + VECTORS, name
