"""The C text of kernels of every kind, as files that a reviewer reads.

``c_texts/name.c`` has the kernels of the function ``name`` below for any processor, and
``c_texts/name.avx512.c`` those for one whose registers hold a block, ``c_texts/name.avx2.c`` those
for one whose registers hold half of it, where they differ.
"""

import os
import sys
from pathlib import Path

import pytest

import frazil as fz
import frazil.tensor as ft
from frazil.compile import register_linker
from frazil.link import register_fusion
from frazil.link.c import CCompiler
from frazil.link.c.functions import VECTOR_SINCE
from frazil.link.c.translation import translate
from frazil.link.fusion.registry import find_fusion
from frazil.link.kernel.compiler import NativeKernel
from frazil.link.linkers.native import CLinker
from frazil.scalar import ScalarLoop

FOLDER = Path(__file__).with_name("c_texts")
CHANGED = (
    "the C text of kernels is not that of {}; if that is meant, run "
    "UPDATE_GOLDEN=1 python -m pytest tests/link/test_c_texts.py, and read the difference"
)

written = []
"""The kernels that were last compiled for ``c_texts``."""


class Recorder:
    """Keeps the kernels that it is to compile; the programs that have them cannot be called."""

    name = "c_texts"
    identity = "c_texts"
    step_limit = CCompiler.step_limit
    lowers = staticmethod(CCompiler.lowers)

    def compile(self, kernels):
        written.extend(kernels)
        return [NativeKernel(1, kernel) for kernel in kernels]

    def symbol(self, keepalive):
        return None


@register_fusion("c_texts")
def fusion():
    return find_fusion("c")


@register_linker("c_texts")
def linker():
    return CLinker(Recorder())


x, y, f = ft.dvector("x"), ft.dvector("y"), ft.fvector("f")
m, k, n, flag = ft.dmatrix("m"), ft.lvector("k"), ft.lvector("n"), ft.vector("flag", dtype="bool")
small, index = ft.vector("small", dtype="int8"), ft.lvector("index")


def elementwise():
    """One loop over vectors, without functions."""
    return [ft.sqrt(x) * 2.5 + y, ft.maximum(x, y)]


def broadcasting():
    """A value of each row and a row of values: rows may be short."""
    return [m * x[:, None] + y]


def sum_of_rows():
    """One sum a row, and one of all."""
    return [(m * m).sum(axis=1), f.sum()]


def sum_of_columns():
    """Rows are added to one row."""
    return [(m * y).sum(axis=0)]


def softmax():
    """Three passes over a tile of rows."""
    return [ft.softmax(m, axis=1)]


def logsumexp():
    """A value of each row goes into another pass over it."""
    return [ft.logsumexp(m, axis=1)]


def functions_under_a_choice():
    """Functions on vectors, of whole blocks and of single elements take turns."""
    return [ft.where(x > 0, ft.log1p(x) + ft.tanh(y), ft.gammaln(ft.exp(x)))]


def indexed():
    """Elements that indices find, and elements that are put where they say."""
    return [ft.exp(x[index]) + 1, ft.inc_subtensor(y[index], ft.sin(x)), m[index].sum(axis=0)]


def indexed_rows():
    """Rows that indices choose, taken and put."""
    return [ft.softmax(m[index], axis=1), ft.inc_subtensor(m[index], m[k] * x[:, None])]


def integers():
    """Division that takes no zero, and powers that may fail."""
    return [k // n, k % n, k**n]


def scan():
    """A few numbers, from step to step."""
    states, _ = fz.scan(lambda e, s: ft.tanh(s) * 0.5 + e, x, ft.constant(0.25))
    return [states]


def scan_until():
    """Steps that a condition ends."""
    states, _ = fz.scan(
        lambda s, c: (s * c, fz.until(s > 100)), None, ft.constant(1.5), [x[0]], n_steps=50
    )
    return [states, states[-1]]


def element_loops():
    """A loop for each element: of as many steps, of its own number of them, until it has ended."""
    state, factor = ft.dscalar("state"), ft.dscalar("factor")
    fixed = ScalarLoop([state], [state * factor + 1], [factor])
    until = ScalarLoop([state], [ft.sin(state) * factor], [factor], until=ft.abs(state) < 1e-3)
    return [fixed(9, x, y), fixed(k, x, y), until(50, x, y)[0], until(k, x, 0.5)[1]]


def narrow_elements():
    """Bools and short integers beside floats."""
    heavy = ft.where(flag, ft.sin(x) * ft.cos(x), ft.cast(small, "float64"))
    return [heavy, heavy > y, ft.any(heavy > x)]


def fold_of_bools():
    """A fold that one element may decide."""
    return [ft.any(x > y)]


def arithmetic_of_short_integers():
    """Blocks as long as those of the narrowest elements."""
    return [small + ft.cast(f, "int8")]


def integer_reductions():
    """Reductions whose functions the kernel brings along."""
    whole = ft.cast(m, "int64")
    return [k.sum(), small.max(), (whole - ft.min(whole, axis=1, keepdims=True)).sum(axis=1)]


def prefixes():
    """Sums of all elements so far."""
    return [ft.cumsum(x) * 2]


CASES = (
    *(elementwise, broadcasting, sum_of_rows, sum_of_columns, softmax, logsumexp),
    *(functions_under_a_choice, indexed, indexed_rows, integers, scan, scan_until),
    *(element_loops, narrow_elements, fold_of_bools, arithmetic_of_short_integers, prefixes),
    integer_reductions,
)


def texts(case):
    """The texts of a case by their file names."""
    written.clear()
    inputs = [x, y, f, m, k, n, flag, small, index]
    fz.function(inputs, case(), mode="c_texts", on_unused_input="ignore")
    kernels = tuple(written)
    assert kernels
    plain, short, wide = (
        translate(kernels, vector_functions=frozenset(VECTOR_SINCE), register_bits=bits).text()
        for bits in (0, 256, 512)
    )
    head = f"/* {case.__doc__} */\n"
    made = {f"{case.__name__}.c": head + plain}
    if short != plain:
        made[f"{case.__name__}.avx2.c"] = head + short
    if wide != plain:
        made[f"{case.__name__}.avx512.c"] = head + wide
    return made


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_kernels_have_the_text_of_their_file(case):
    made = texts(case)
    if os.environ.get("UPDATE_GOLDEN"):
        for name, text in made.items():
            (FOLDER / name).write_text(text)
    for name, text in made.items():
        assert text == (FOLDER / name).read_text(), CHANGED.format(name)


def test_each_file_is_of_a_kernel():
    names = {name for case in CASES for name in texts(case)}
    if os.environ.get("UPDATE_GOLDEN"):
        for path in FOLDER.iterdir():
            if path.name not in names:
                path.unlink()
    assert {path.name for path in FOLDER.iterdir()} == names


def test_texts_are_the_same_each_time():
    assert texts(softmax) == texts(softmax)


def calls_to_write(nodes):
    """The calls of Python functions that write the kernel of a chain."""
    written.clear()
    value = x
    for at in range(nodes // 2):
        value = ft.sin(value) * (1.5 + at)
    fz.function([x], value, mode="c_texts")
    (kernel,) = written
    assert len(kernel.statements) == nodes
    count = 0

    def profile(frame, event, argument):
        nonlocal count
        count += event == "call"

    sys.setprofile(profile)
    try:
        translate([kernel], vector_functions=frozenset(VECTOR_SINCE), register_bits=512)
    finally:
        sys.setprofile(None)
    return count


def test_writing_takes_time_as_a_kernel_is_long():
    short, long = calls_to_write(40), calls_to_write(120)
    assert long < 3.3 * short


def characters_of_rows(count):
    """The length of the text of a kernel that changes so many rows, each an operand of its own."""
    written.clear()
    rows = ft.exp(x)
    for at in range(count):
        rows = ft.set_subtensor(rows[at], x[at] * 2.0)
    fz.function([x], rows, mode="c_texts")
    (kernel,) = (own for own in written if len(own.writes) == count)
    return len(translate([kernel], vector_functions=frozenset(), register_bits=256).text())


def test_the_text_grows_as_the_operands_do():
    # Each result compared with each operand was an expression for which gcc took a minute.
    assert characters_of_rows(80) < 2.2 * characters_of_rows(40)
