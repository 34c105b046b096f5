"""What an import of frazil does besides."""

import subprocess
import sys

import pytest

IMPORT = """
import gc
{before}
import frazil
print(sum(gc.get_count()), gc.get_freeze_count())
"""


def run(before=""):
    done = subprocess.run(
        [sys.executable, "-c", IMPORT.format(before=before)],
        capture_output=True,
        text=True,
        check=True,
    )
    return [int(number) for number in done.stdout.split()]


def test_what_is_imported_is_not_searched_for_garbage_at_once():
    young, frozen = run()
    assert young < 1000
    assert frozen == 0


def test_what_a_program_has_frozen_stays_so():
    _, frozen = run("gc.freeze()")
    assert frozen > 0


@pytest.mark.parametrize("before", ["gc.disable()", "gc.enable()"])
def test_collections_go_on_as_they_were(before):
    code = f"import gc\n{before}\nwas = gc.isenabled()\nimport frazil\nassert gc.isenabled() == was"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_everything_works_without_docstrings():
    code = """
import pkgutil, sys
import numpy as np
import frazil as fz, frazil.tensor as ft
from frazil.rewrite import Float, rule

for module in pkgutil.walk_packages(fz.__path__, "frazil."):
    if not module.name.endswith("__main__") and "pytensor" not in module.name:
        __import__(module.name)
if fz.function.__doc__ is not None:
    sys.exit("docstrings are there")

@rule
def twice(x: Float):
    return x * 2, x + x

x = ft.dvector("x")
rows = fz.scan(lambda s: ft.tanh(s) + ft.linalg.norm(x), outputs_info=x, n_steps=3)[0]
inputs, outputs = [x], [ft.sum(rows), fz.grad(ft.sum(rows), x)]
value = np.arange(3.0)
expected = fz.function(inputs, outputs, mode="py")(value)
for mode in ["c", "cranelift", "numba", fz.Mode("cranelift").including(twice)]:
    for found, one in zip(fz.function(inputs, outputs, mode=mode)(value), expected):
        np.testing.assert_allclose(found, one)
np.testing.assert_allclose(fz.jit(lambda u: np.exp(u).sum())(value), np.exp(value).sum())
stream = fz.random.default_rng(1)
np.testing.assert_array_equal(stream.normal(size=3).eval(), np.random.default_rng(1).normal(size=3))
help(ft.sum)
"""
    subprocess.run([sys.executable, "-OO", "-c", code], check=True, stdout=subprocess.DEVNULL)
