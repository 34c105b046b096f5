"""What others wrote takes part in a compilation: a program serves nobody whose code is another."""

import itertools
import json
import os
import subprocess
import sys
import textwrap
import types

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frazil.cache.content import digest
from frazil.cache.modules import Unknowable

HEAD = """
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial, singledispatch
import numpy as np
import frazil as fz
from frazil.scalar import ScalarOp
"""

OP = """
@dataclass(frozen=True, eq=False)
class Scaled({bases}):
    nin = 1
    rule = "arithmetic"
    {body}
"""

# Where the number is that an op multiplies by, and how the op comes by it.
PLACES = {
    "constant": ("", "ScalarOp", "def impl(self, x): return x * {number}"),
    "C text": (
        "",
        "ScalarOp",
        'c = "{{0}} * {number}"\n    def impl(self, x): return 0 * x',
    ),
    "Numba text": (
        "",
        "ScalarOp",
        'numba = {{"f": "{{0}} * {number}"}}\n    def impl(self, x): return 0 * x',
    ),
    "global": ("BY = {number}", "ScalarOp", "def impl(self, x): return x * BY"),
    "array": (
        "BY = np.array([1.0, {number}])",
        "ScalarOp",
        "def impl(self, x): return x * BY[1]",
    ),
    "default": ("", "ScalarOp", "def impl(self, x, by={number}): return x * by"),
    "keyword": ("", "ScalarOp", "def impl(self, x, *, by={number}): return x * by"),
    "closure": (
        "def scaled(by):\n    return lambda self, x: x * by",
        "ScalarOp",
        "impl = scaled({number})",
    ),
    "class attribute": ("", "ScalarOp", "by = {number}\n    def impl(self, x): return x * self.by"),
    "property": (
        "",
        "ScalarOp",
        "@property\n    def c(self): return '{{0}} * {number}'\n    def impl(self, x): return x",
    ),
    "base class": (
        "class Base(ScalarOp):\n    def impl(self, x): return x * {number}",
        "Base",
        "pass",
    ),
    "called function": (
        "def by(): return {number}\ndef times(x): return x * by()",
        "ScalarOp",
        "def impl(self, x): return times(x)",
    ),
    "nested function": (
        "",
        "ScalarOp",
        "def impl(self, x): return (lambda y: [y * {number} for _ in range(1)][0])(x)",
    ),
    "cached function": (
        "@lru_cache\ndef by(): return {number}",
        "ScalarOp",
        "def impl(self, x): return x * by()",
    ),
    "partial function": (
        "def times(by, x): return x * by\nit = partial(times, {number})",
        "ScalarOp",
        "def impl(self, x): return it(x)",
    ),
    "dispatching function": (
        "@singledispatch\ndef times(x): return x\n"
        "@times.register\ndef _(x: float): return x * {number}",
        "ScalarOp",
        "def impl(self, x): return times(x)",
    ),
    "compiled function": (
        "import numba\n@numba.njit\ndef times(x): return x * {number}",
        "ScalarOp",
        "def impl(self, x): return times(x)",
    ),
    "instance": (
        "class By:\n    def __init__(self, by): self.by = {{'it': [by]}}\nby = By({number})",
        "ScalarOp",
        "def impl(self, x): return x * by.by['it'][0]",
    ),
    "another op": (
        "@dataclass(frozen=True, eq=False)\nclass Other(fz.Op):\n    by: float\n"
        "other = Other({number})",
        "ScalarOp",
        "def impl(self, x): return x * other.by",
    ),
    "recursive function": (
        "def power(x, n): return x * {number} if n == 0 else power(x, n - 1)",
        "ScalarOp",
        "def impl(self, x): return power(x, 3)",
    ),
}


_numbers = itertools.count()


def module_of(text, name=None, **others):
    """A module of that text, as if it had been read from a file."""
    name = name or f"written_by_a_user_{next(_numbers)}"
    module = sys.modules[name] = types.ModuleType(name)
    vars(module).update(others)
    exec(compile(text, f"{name}.py", "exec"), vars(module))
    return module


def content(place, number, before=""):
    """The digest of an op that multiplies by a number, and that stands in a module of its own."""
    above, bases, body = PLACES[place]
    text = (
        HEAD
        + before
        + above.format(number=number)
        + OP.format(bases=bases, body=body.format(number=number))
    )
    module = module_of(text)
    try:
        return digest([module.Scaled()])
    finally:
        del sys.modules[module.__name__]


@pytest.mark.parametrize("place", PLACES)
@settings(max_examples=12)
@given(number=st.integers(2, 9), other=st.integers(2, 9), lines=st.integers(1, 30))
def test_code_is_known_by_what_it_holds_and_not_by_where_it_stands(place, number, other, lines):
    first = content(place, number)
    assert content(place, number, before="# moved\n" * lines) == first
    assert (content(place, other) == first) == (other == number)


@pytest.mark.parametrize(
    "reading",
    [
        "import {other}\ndef by(): return {other}.BY",
        "from {other} import BY\ndef by(): return BY",
        "import {other} as o\ndef by(): return o.BY",
        "def by():\n    import {other}\n    return {other}.BY",
        "def by():\n    from {other} import BY\n    return BY",
        "from {other} import by",
        "import {other}\nby = lambda: {other}.by()",
        "import {other}\nby = lambda: {other}.inner.BY",
    ],
)
def test_what_is_read_of_other_modules_counts(reading):
    def found(number):
        inner = module_of(f"BY = {number}", "inner_of_another")
        other = f"BY = {number}\ndef by(): return BY\nUNREAD = object()"
        module_of(other, "another", inner=inner)
        return digest([module_of(reading.format(other="another"), "reader").by])

    try:
        first, changed, again = map(found, (2, 3, 2))
    finally:
        for name in ("inner_of_another", "another", "reader"):
            del sys.modules[name]
    assert first == again != changed


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("def f(x): return eval('x')", "calls eval"),
        ("def f(x): return x.data(open(x))", "calls open"),
        ("import threading\nlock = threading.Lock()\ndef f(x): return lock", "lock"),
        ("def f(x):\n    import not_imported_yet\n    return x", "not imported yet"),
        ("big = np.zeros(10**7)\ndef f(x): return big", "too much data"),
        ("many = list(range(10**5))\ndef f(x): return many", "too many values"),
        ("u = np.frompyfunc(lambda x: x, 1, 1)\ndef f(x): return u(x)", "ufunc"),
    ],
)
def test_what_cannot_be_known_says_so(text, reason):
    with pytest.raises(Unknowable, match=reason):
        digest([module_of(HEAD + text).f])


@pytest.mark.parametrize(
    "text",
    [
        "def f(x): return x.open() + np.linalg.norm(x) + np.sin(x)",
        "import logging\nlog = logging.getLogger('mine')\ndef f(x): return log.info(x)",
        "import scipy.special\ndef f(x): return scipy.special.expit(x)",
        "import re\npattern = re.compile('a')\ndef f(x): return pattern.match(x)",
        "from pathlib import Path\ndef f(x): return Path(x), {1, 'a', (2.0, None)}",
        "import frazil.tensor as ft\ndef f(x): return ft.exp(x) + fz.grad(x, x)",
    ],
)
def test_what_is_installed_is_known_by_its_version(text):
    assert digest([module_of(HEAD + text).f]) == digest([module_of(HEAD + text).f])


# ------------------------------------------------------------ through the cache


SCRIPT = """
import json, os, sys
from pathlib import Path
sys.path.insert(0, "")
import frazil as fz, frazil.tensor as ft

for files, before, output, mode in json.loads(sys.argv[1]):
    for name, text in files.items():
        Path(name).write_text(text)
    if os.fork():
        os.wait()
        continue
    exec(before)
    x = ft.vector("x")
    f = fz.function([x], eval(output), mode=mode)
    print(f.compiled.found, f([1.0])[0], flush=True)
    sys.exit()
"""


def run(folder, *steps, mode="c", before="import ops", output="ops.Scaled()(x)"):
    """Where processes find the program of an op, and what it computes, after each change of files.

    They are children of one that has imported frazil, and nothing else.
    """
    told = [
        (step.get("files", {}), textwrap.dedent(step.get("before", before)), output, mode)
        for step in steps
    ]
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, json.dumps(told)],
        cwd=folder,
        env={
            **os.environ,
            "FRAZIL_CACHE_DIR": str(folder / "cache"),
            "PYTHONDONTWRITEBYTECODE": "1",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return [(found, float(value)) for found, value in map(str.split, done.stdout.splitlines())]


def op(body, bases="ScalarOp", above=""):
    return HEAD + above + OP.format(bases=bases, body=body)


NATIVE = {
    "c": 'c = f"{{0}} * {settings.BY}"\n    def impl(self, x): return -x',
    "numba": 'numba = f"{{0}} * {settings.BY}"\n    def impl(self, x): return -x',
    "py": "def impl(self, x): return x * settings.BY",
}
CHANGED = [("made", 2.0), ("made", 3.0), ("disk", 2.0)]


@pytest.mark.parametrize("mode", ["c", "numba", "py"])
def test_a_constant_of_another_module_that_changed_compiles_anew(tmp_path, mode):
    (tmp_path / "ops.py").write_text(op(NATIVE[mode], above="import settings\n"))
    steps = [{"files": {"settings.py": f"BY = {number}\n"}} for number in (2.0, 3.0, 2.0)]
    assert run(tmp_path, *steps, mode=mode) == CHANGED


def test_a_base_class_of_another_module_that_changed_compiles_anew(tmp_path):
    (tmp_path / "ops.py").write_text(op("pass", "Base", "from bases import Base\n"))
    base = HEAD + 'class Base(ScalarOp):\n    c = "{{0}} * {}"\n    def impl(self, x): return -x\n'
    steps = [{"files": {"bases.py": base.format(number)}} for number in (2.0, 3.0, 2.0)]
    assert run(tmp_path, *steps) == CHANGED


def test_a_module_that_was_edited_after_its_import_serves_nobody_who_imports_it(tmp_path):
    text = op('c = "{{0}} * {}"\n    def impl(self, x): return -x')
    edited = f"import ops; Path('ops.py').write_text({text.format(3.0)!r})"
    moved = "# said better\n" + text.format(2.0)
    steps = [
        {"files": {"ops.py": text.format(2.0)}, "before": edited},
        {},
        {"files": {"ops.py": moved}},
    ]
    assert run(tmp_path, *steps) == CHANGED


def test_what_was_worked_out_when_compiling_is_that_of_the_op_as_it_is(tmp_path):
    text = op("def impl(self, x): return x * times.BY", above="import times\n")
    (tmp_path / "ops.py").write_text(text)
    steps = [{"files": {"times.py": f"BY = {number}\n"}} for number in (2.0, 4.0, 2.0)]
    assert run(tmp_path, *steps, output="x + ops.Scaled()(0.5)") == CHANGED


RULE = """
import ops
from frazil.link.lowering.node import lower_node
from frazil.link.linkers.py import call_perform

@lower_node.register
def _(op: ops.Scaled, node, lowering):
    [slot] = call_perform(lowering.builder, node, [lowering.slot(x) for x in node.inputs])
    lowering.set_slot(node.outputs[0], lowering.slot(node.inputs[0]) if {same} else slot)
"""


def test_a_rule_of_ones_own_that_changed_compiles_anew(tmp_path):
    (tmp_path / "ops.py").write_text(
        HEAD
        + """
@dataclass(frozen=True, eq=False)
class Scaled(fz.Op):
    def make_node(self, x):
        return fz.FrozenApply(self, [x], [x.type])

    def perform(self, node, inputs):
        return (2 * inputs[0],)
"""
    )
    steps = [{"before": RULE.format(same=same)} for same in (False, True, False)]
    assert run(tmp_path, *steps) == [("made", 2.0), ("made", 1.0), ("disk", 2.0)]


LINKER = """
import ops
from frazil.compile import register_linker
from frazil.link.linkers.py import PyLinker
from frazil.link.fusion.registry import register_fusion

@register_fusion("own")
class Nothing:
    statement_limit = 0
    def fuses(self, node): return False

@register_linker("own")
class Own(PyLinker):
    name = {name!r}
    def prepare(self, graph, inner):
        return fz.FrozenFunctionGraph(graph.inputs, [y * {number} for y in graph.outputs])
"""


def test_a_linker_of_ones_own_that_changed_compiles_anew(tmp_path):
    (tmp_path / "ops.py").write_text(op("def impl(self, x): return x"))
    numbers = (2.0, 3.0, 2.0)
    steps = [{"before": LINKER.format(name="own", number=number)} for number in numbers]
    assert run(tmp_path, *steps, mode="own") == CHANGED
    # Nor does it serve the linker that it is like.
    assert run(tmp_path, {}, mode="py") == [("made", 1.0)]


def test_code_that_cannot_be_known_is_not_kept(tmp_path):
    (tmp_path / "ops.py").write_text(op("def impl(self, x): return eval('2 * x')"))
    assert run(tmp_path, {}, {}) == [("made", 2.0)] * 2
