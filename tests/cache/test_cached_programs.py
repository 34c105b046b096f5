"""Compiled programs on disk: another process finds them, and only those that it wants."""

import gc
import json
import os
import shutil
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft
from frazil.cache import entry, identity
from frazil.cache.store import find_store
from frazil.compile import cache_entries, programs
from frazil.compile.mode import find_linker
from frazil.link.cranelift import CraneliftCompiler
from frazil.link.fusion.registry import LoweredOps, find_fusion
from frazil.link.kernel.compiler import KernelCompileError
from frazil.link.linkers.native import CraneliftLinker
from frazil.link.toolchain import keeping
from frazil.scalar import Composite, ScalarLoop, ScalarOp

REFUSALS = (ValueError, LookupError, TypeError, KernelCompileError)


@pytest.fixture(autouse=True)
def own_cache(monkeypatch, tmp_path):
    """A cache for each test."""
    monkeypatch.setenv("FRAZIL_CACHE_DIR", str(tmp_path / "cache"))


def entries():
    """The files of compiled programs; a compiler's version is a small one."""
    keeping.finish()
    files = [stored.path for stored in find_store().entries() if stored.size > 500]
    return [path for path in files if not path.name.startswith(("unit-", "kernel-"))]


def compiled(*arguments, **options):
    """A function made with nothing in memory, and where its program came from."""
    gc.collect()
    function = fz.function(*arguments, **options)
    return function, function.compiled.found


def model():
    x, y, n = ft.matrix("x"), ft.vector("y"), ft.scalar("n", dtype="int64")
    cost = (ft.gammaln(ft.exp(x) + 1) * y).sum() + (x @ y).sum() + x[n:].sum() + 3 * n
    return [x, y, n], [cost, *fz.grad(cost, [x, y])]


def arguments():
    return np.linspace(0.0, 1.0, 12).reshape(3, 4), np.arange(4.0), 1


def same(results, expected):
    for result, wanted in zip(results, expected, strict=True):
        np.testing.assert_array_equal(result, wanted)


@pytest.mark.parametrize("mode", ["c", "py"])
def test_what_was_compiled_is_found_on_disk(mode):
    function, found = compiled(*model(), mode=mode)
    assert found == "made"
    expected, program = function(*arguments()), function.program.instructions
    del function
    function, found = compiled(*model(), mode=mode)
    assert found == "disk"
    assert function.program.instructions == program
    same(function(*arguments()), expected)


def test_a_loop_with_a_kernel_for_short_rows_is_found_on_disk():
    x = ft.matrix("x")
    graph = [x], ((x[:, None] - x) ** 2).sum(-1)
    values = [np.random.default_rng(4).normal(size=(9, terms)) for terms in (3, 20)]
    function, _ = compiled(*graph, mode="c")
    expected = [function(value) for value in values]
    del function
    function, found = compiled(*graph, mode="c")
    assert found == "disk"
    same([function(value) for value in values], expected)


def test_an_equal_graph_in_use_is_not_read_again():
    function, _ = compiled(*model(), mode="c")
    again, _ = compiled(*model(), mode="c")
    assert again.compiled is function.compiled


@dataclass(frozen=True, eq=False)
class Halved(ScalarOp):
    """No native code."""

    nin = 1
    rule = "arithmetic"

    def impl(self, x):
        return x / 2


@pytest.mark.parametrize("mode", ["c", "py"])
def test_composites_of_ops_without_native_code_are_found(mode):
    a = ft.dscalar("a")
    op = Composite(fz.FrozenFunctionGraph([a], [ft.exp(Halved()(ft.sin(a))), ft.cos(a)]))
    x = ft.dvector("x")
    outputs = op(x * 1.5)
    value = np.linspace(-1.0, 1.0, 5)
    made, found = compiled([x], outputs, mode=mode)
    assert found == "made"
    results, instructions = made(value), made.program.instructions
    composed = any(op is node.op.scalar_op for node in made.optimized.toposort())
    assert composed == (mode == "py")  # native linkers are given what it holds
    del made
    again, found = compiled([x], outputs, mode=mode)
    assert found == "disk"
    assert again.program.instructions == instructions
    same(again(value), results)
    np.testing.assert_allclose(results[0], np.exp(np.sin(1.5 * value) / 2))


@pytest.mark.parametrize("mode", ["c", "cranelift", "numba", "py"])
def test_loops_of_elements_are_found(mode):
    a, b = ft.dscalar("a"), ft.dscalar("b")
    op = ScalarLoop([a, b], [a * 0.5 + b, ft.sin(a)], until=a > 3)
    x = ft.dvector("x")
    first, second, done = op(7, x, 1.0)
    outputs = [first, second, done, fz.grad(ft.sum(first), x)]
    value = np.linspace(-2.0, 2.0, 11)
    made, found = compiled([x], outputs, mode=mode)
    assert found == "made"
    results, optimized = made(value), made.optimized
    del made
    again, found = compiled([x], outputs, mode=mode)
    assert found == "disk"
    assert again.optimized is optimized
    same(again(value), results)


SCRIPT = """
import json, subprocess, sys
import numpy as np

started = []
sys.addaudithook(lambda event, _: event == "subprocess.Popen" and started.append(event))
sys.path.insert(0, {tests!r})
import frazil as fz
from cache.test_cached_programs import arguments, model

function = fz.function(*model(), mode={mode!r})
imported = [name for name in ("numba", "llvmlite") if name in sys.modules]
results = [np.asarray(value).tolist() for value in function(*arguments())]
try:
    function(np.ones((3, 4)), np.ones(5), 0)
except ValueError as error:
    message = str(error)
print(json.dumps([function.compiled.found, started, imported, results, message]))
"""


def in_process(mode):
    script = SCRIPT.format(tests=str(Path(__file__).parents[1]), mode=mode)
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def test_another_process_finds_it_without_compiler_or_imports():
    found, started, _, results, message = in_process("c")
    assert found == "made"
    assert started
    later_found, later_started, imported, later_results, later_message = in_process("c")
    assert (later_found, later_started, imported) == ("disk", [], [])
    assert later_results == results
    # Nodes that were read name the lines of the graph that asked for them.
    assert "test_cached_programs.py" in message
    assert later_message == message


def test_another_process_finds_what_numba_made_without_numba():
    found, _, imported, results, _ = in_process("numba")
    assert (found, imported) == ("made", ["llvmlite"])
    later_found, later_started, later_imported, later_results, _ = in_process("numba")
    assert (later_found, later_started, later_imported) == ("disk", [], ["llvmlite"])
    assert later_results == results


@st.composite
def small_graphs(draw):
    x, y = ft.matrix("x"), ft.vector("y")
    values = [x, y, x.sum(axis=0), ft.constant(draw(st.floats(-2, 2)))]
    for _ in range(draw(st.integers(1, 6))):
        a, b = draw(st.sampled_from(values)), draw(st.sampled_from(values))
        kind = draw(st.sampled_from(["add", "mul", "exp", "sum", "part", "turn"]))
        if kind == "add":
            values.append(a + b)
        elif kind == "mul":
            values.append(a * b)
        elif kind == "exp":
            values.append(ft.exp(-ft.abs(a)))
        elif kind == "sum":
            values.append(a.sum())
        elif kind == "part" and a.ndim:
            values.append(a[::-1])
        elif kind == "turn" and a.ndim == 2:
            values.append(ft.tanh(a.T).T)
    return [x, y], values


@settings(max_examples=settings.default.max_examples // 2)
@given(small_graphs(), st.sampled_from(["c", "py"]))
def test_any_program_comes_back(graph, mode):
    inputs, outputs = graph
    function, _ = compiled(inputs, outputs, mode=mode)
    x, y = np.linspace(-1, 1, 9).reshape(3, 3), np.array([0.5, -0.5, 2.0])
    expected = function(x, y)
    del function
    function, found = compiled(inputs, outputs, mode=mode)
    assert found == "disk"
    same(function(x, y), expected)


def test_an_entry_serves_no_other_graph():
    x = ft.vector("x")
    compiled([x], x + 1, mode="c")
    [first] = entries()
    content = first.read_bytes()
    compiled([x], x + 2, mode="c")
    [second] = [path for path in entries() if path != first]
    # As if the digests of both were the same.
    second.write_bytes(content)
    function, found = compiled([x], x + 2, mode="c")
    assert found == "made"
    same([function([1.0])], [[3.0]])
    del function
    assert compiled([x], x + 2, mode="c")[1] == "disk"


def request(graph, mode="c"):
    return cache_entries.Request(graph, find_linker(mode), "me")


@pytest.mark.parametrize("mode", ["c", "py"])
def test_an_entry_that_was_cut_is_refused(mode):
    function, _ = compiled(*model(), mode=mode)
    wanted = request(function.fgraph, mode)
    content = cache_entries.encode(wanted, function.optimized, function.program)
    assert cache_entries.decode(content, wanted) is not None
    for end in range(len(content)):
        with pytest.raises(ValueError, match="an entry"):
            cache_entries.decode(content[:end], wanted)


@given(st.data(), st.sampled_from(["c", "py"]))
def test_an_altered_entry_is_refused_or_another_program(data, mode):
    function, _ = compiled(*model(), mode=mode)
    wanted = request(function.fgraph, mode)
    parts = entry.unpack(cache_entries.encode(wanted, function.optimized, function.program))
    # Machine code is run as it is; what surrounds it is checked.
    at = data.draw(st.sampled_from([at for at in range(min(len(parts), 8)) if parts[at]]))
    part = bytearray(parts[at])
    for _ in range(data.draw(st.integers(1, 3))):
        part[data.draw(st.integers(0, len(part) - 1))] = data.draw(st.integers(0, 255))
    parts[at] = bytes(part)
    try:
        read = cache_entries.decode(entry.pack(parts), wanted)
    except REFUSALS:
        return
    if read is not None:
        assert isinstance(read[0].instructions, list)


def test_parts_that_are_missing_are_refused():
    function, _ = compiled(*model(), mode="c")
    wanted = request(function.fgraph)
    parts = entry.unpack(cache_entries.encode(wanted, function.optimized, function.program))
    for count in range(len(parts)):
        with pytest.raises(REFUSALS):
            cache_entries.decode(entry.pack(parts[:count]), wanted)
    with pytest.raises(KernelCompileError, match="could not be loaded"):
        cache_entries.decode(entry.pack([*parts[:-2], b"no library", parts[-1]]), wanted)


def test_another_version_of_anything_compiles_anew(monkeypatch):
    x = ft.vector("x")
    assert compiled([x], x + 1, mode="c")[1] == "made"
    with monkeypatch.context() as changed:
        changed.setattr(programs, "frazil_build", lambda: "another frazil")
        assert compiled([x], x + 1, mode="c")[1] == "made"
    compiler = find_linker("c")._compiler
    with monkeypatch.context() as changed:
        changed.setattr(type(compiler), "identity", "another compiler")
        assert compiled([x], x + 1, mode="c")[1] == "made"
    assert compiled([x], x + 1, mode="c")[1] == "disk"
    assert len(entries()) == 3


CHANGING = """
import os
import frazil as fz, frazil.tensor as ft

x = ft.vector("x")
changed = os.path.join(os.path.dirname(fz.__file__), "rewrite", "rules", "ring.py")
if {change}:
    with open(changed, "a") as file:
        print(file=file)
print(fz.function([x], ft.exp(x), mode="c").compiled.found)
"""


def test_what_was_imported_before_a_change_serves_nobody_after_it(tmp_path):
    package = tmp_path / "frazil"
    shutil.copytree(Path(fz.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}

    def found(change):
        script = CHANGING.format(change=change)
        run = subprocess.run(
            [sys.executable, "-c", script], env=environment, capture_output=True, text=True
        )
        assert run.returncode == 0, run.stderr
        return run.stdout.strip()

    assert found(change=False) == "made"
    assert found(change=True) == "disk"
    assert found(change=False) == "made"
    (package / "cache" / "__init__.py").write_text("# as it is after an update\n")
    assert found(change=True) == "made"
    assert found(change=False) == "made"


def test_an_op_that_means_nothing_elsewhere_is_not_kept(mode):
    @dataclass(frozen=True, eq=False)
    class Twice(fz.Op):
        def make_node(self, x):
            return fz.FrozenApply(self, [x], [x.type])

        def perform(self, node, inputs):
            return (2 * inputs[0],)

    x = ft.vector("x")
    for _ in range(2):
        function, found = compiled([x], Twice()(x + 1), mode=mode)
        assert found == "made"
        same([function([1.0])], [[4.0]])
        del function
    assert entries() == []


def test_without_a_cache_nothing_is_kept(monkeypatch):
    monkeypatch.setenv("FRAZIL_CACHE", "off")
    x = ft.vector("x")
    for _ in range(2):
        assert compiled([x], x + 1, mode="c")[1] == "made"
    monkeypatch.delenv("FRAZIL_CACHE")
    assert entries() == []


def test_processes_that_compile_the_same_agree():
    script = textwrap.dedent(
        """
        import numpy as np
        import frazil as fz, frazil.tensor as ft
        x = ft.vector("x")
        f = fz.function([x], ft.exp(x).sum() * 2, mode="c")
        assert np.isclose(f(np.zeros(5)), 10.0)
        print(f.compiled.found)
        """
    )
    command = [sys.executable, "-c", script]
    running = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for _ in range(4)]
    assert [process.wait() for process in running] == [0] * 4
    # Not in this process: rules that other tests registered in it are part of what code is kept by.
    assert subprocess.run(command, capture_output=True, text=True).stdout == "disk\n"
    assert not [name for name in os.listdir(find_store().path) if name.startswith("unfinished")]


def nested_model():
    x, c = ft.vector("x"), ft.iscalar("c")
    body = fz.OpFromGraph([x], [ft.tanh(ft.cumsum(x)) * ft.sum(x), x[:2] @ x[1:3]])
    y, z = body(x * 2)
    cost = ft.sum(fz.ifelse(c, y, ft.cumsum(body(y)[0]))) + z
    return [x, c], [cost, fz.grad(cost, x)]


@pytest.mark.parametrize("mode", ["c", "py"])
def test_programs_within_programs_are_found_on_disk(mode):
    inputs, outputs = nested_model()
    function, found = compiled(inputs, outputs, mode=mode)
    assert found == "made"
    values = np.linspace(-1.0, 1.0, 4), 0
    expected, program = function(*values), function.program.instructions
    with pytest.raises(ValueError, match=r"dot|matmul") as first:
        function(np.ones(2), 1)
    del function, inputs, outputs
    function, found = compiled(*nested_model(), mode=mode)
    assert found == "disk"
    assert function.program.instructions == program
    same(function(*values), expected)
    with pytest.raises(ValueError, match=r"dot|matmul") as second:
        function(np.ones(2), 1)
    assert str(second.value) == str(first.value)
    assert getattr(second.value, "__notes__", []) == getattr(first.value, "__notes__", [])


@pytest.mark.parametrize("mode", ["c", "py"])
def test_searches_are_kept_with_the_linker_that_they_ask(mode):
    code = f"""
        import frazil as fz, frazil.tensor as ft
        from frazil.optimize import root
        x, a = ft.vector("x"), ft.vector("a")
        solution, _ = root(x**2 - a, x)
        f = fz.function([x, a], [solution, fz.grad(solution.sum(), a)], mode={mode!r})
        values = [value.round(6).tolist() for value in f([1.0, 1.0], [4.0, 9.0])]
        calls = [type(one).__name__ for one in f.compiled.program.functions]
        print(f.compiled.found, calls, values)
    """
    lines = [
        subprocess.run(
            [sys.executable, "-c", textwrap.dedent(code)],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for _ in range(3)
    ]
    assert [line.split()[0] for line in lines] == ["made", "disk", "disk"]
    assert len({line.split(maxsplit=1)[1] for line in lines}) == 1
    assert ("Solving" in lines[0]) == (mode == "c")


def test_texts_of_kernels_serve_any_processor():
    told = identity.processor()
    assert told in find_linker("c").identity
    assert told not in find_linker("cranelift").identity
    assert told not in find_linker("tiered").identity


def test_linkers_of_frazil_and_of_users_are_told_apart():
    def lowers(op, operands, result):
        return True

    compiler, limit = CraneliftCompiler(), find_fusion("cranelift").statement_limit
    fusions = [
        LoweredOps(CraneliftCompiler.lowers, limit),
        LoweredOps(CraneliftCompiler.lowers, limit, CraneliftCompiler.refusal),
        LoweredOps(CraneliftCompiler.lowers, limit - 1),
        LoweredOps(lowers, limit),
    ]
    own = [CraneliftLinker(compiler, fusion).identity for fusion in fusions]
    assert len({*own}) == 4
    again = LoweredOps(CraneliftCompiler.lowers, limit)
    assert CraneliftLinker(compiler, again).identity == own[0]
