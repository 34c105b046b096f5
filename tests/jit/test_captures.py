"""What compiled functions do with what they capture, compared with plain Python."""

import copy
import cProfile
import dataclasses
import gc
import operator
import os
import subprocess
import sys
import threading
import time
import trace
import warnings
from pathlib import Path

import captured_arrays
import captured_by_callbacks
import captured_containers
import captured_functions
import captured_names
import captured_objects
import captured_operands_read_otherwise
import captured_sharply
import captured_surroundings
import numpy as np
import pytest
import scipy
from capture_cases import CASES

import frazil as fz
import frazil.tensor as ft
from frazil.graph import background
from frazil.graph.garbage import no_collections

SUBJECTS = (
    captured_names,
    captured_arrays,
    captured_by_callbacks,
    captured_containers,
    captured_objects,
    captured_operands_read_otherwise,
    captured_sharply,
    captured_functions,
    captured_surroundings,
)


class Plainly:
    """Leaves functions as they are."""

    captures = "plain"

    def __call__(self, fn):
        return fn


class Compiled:
    """Compiles functions, and keeps them."""

    def __init__(self, captures):
        self.captures = captures
        self.made = []

    def __call__(self, fn):
        self.made.append(fz.jit(fn, captures=self.captures, mode="py"))
        return self.made[-1]


@pytest.mark.parametrize("name", CASES)
def test_guarded_functions_do_what_python_does(name):
    case = CASES[name]
    compiled = Compiled("guard")
    assert case.program(compiled) == case.program(Plainly())
    if case.cached is not None:
        info = compiled.made[-1].cache_info()
        assert (info.hits > 0) is case.cached, compiled.made[-1].explain()
        assert info.entries == 0 or case.cached
        if not case.cached:
            assert compiled.made[-1].explain().uncacheable


@pytest.mark.parametrize("captures", ["bind", "error"])
@pytest.mark.parametrize("name", CASES)
def test_other_policies_keep_or_refuse(name, captures):
    case = CASES[name]
    expected = case.bind if captures == "bind" else case.error
    if expected == "raises":
        with pytest.raises(fz.SharpEdgeError, match="captures="):
            case.program(Compiled(captures))
        return
    got, plain = case.program(Compiled(captures)), case.program(Plainly())
    assert (got == plain) is (expected == "same")


def test_there_are_many_cases():
    assert len(CASES) > 105
    told = {case.program.__module__ for case in CASES.values()}
    assert told == {subject.__name__ for subject in SUBJECTS}


def test_errors_name_kind_variable_line_and_function():
    lst = []

    def inner():
        nonlocal lst
        lst = [*lst, 1]
        return lst

    line = inner.__code__.co_firstlineno + 2
    for captures in ("bind", "error"):
        with pytest.raises(fz.SharpEdgeError) as raised:
            fz.jit(inner, captures=captures)()
        place = f"test_captures.py:{line} in inner"
        assert str(raised.value).startswith(f"nonlocal 'lst' (written), {place}")


def test_policies_of_names():
    a, b = 1.0, 2.0

    def f(x):
        return x * a + b

    compiled = fz.jit(f, captures={"a": "bind"}, mode="py")
    x = np.ones(2)
    assert compiled(x).tolist() == [3.0, 3.0]
    a, b = 10.0, 3.0
    assert compiled(x).tolist() == [13.0, 13.0]  # traced again for b, and so bound again
    a = 20.0
    assert compiled(x).tolist() == [13.0, 13.0]
    with pytest.raises(fz.SharpEdgeError, match=r"nonlocal 'a' \(read\)"):
        fz.jit(f, captures={"a": "error"})(x)
    with pytest.raises(ValueError, match="captures"):
        fz.jit(f, captures="never")
    with pytest.raises(ValueError, match=r"captures\['a'\]"):
        fz.jit(f, captures={"a": "never"})


def test_explanations_say_what_keeps_changing():
    step = 1

    def f(x, scale):
        return x * step * scale

    compiled = fz.jit(f, mode="py", max_entries=3)
    x = np.ones(2)
    compiled(x, 2)
    step = 2
    compiled(x, 2)
    assert "nonlocal 'step': 1 -> 2" in compiled.explain().changes
    assert "nonlocal 'step'" in compiled.explain().forms[0].guarded
    compiled(x, 3)
    assert "scale = 2 -> scale = 3" in str(compiled.explain())
    with pytest.warns(UserWarning, match="more than 3 kinds of calls.* scale = 3 -> scale = 4"):
        compiled(x, 4)
    assert compiled.cache_info().entries == 3
    compiled.cache_clear()
    assert compiled.cache_info() == (0, 0, 0, 0)


def test_a_profiler_of_the_user_is_left_alone():
    entered = []
    compiled = fz.jit(lambda x: x * 2, mode="py")
    sys.setprofile(lambda frame, event, argument: entered.append(event))
    try:
        compiled(np.ones(2))
        assert sys.getprofile() is not None
    finally:
        sys.setprofile(None)
    assert entered
    assert "another profiler" in str(compiled.explain())
    assert compiled.cache_info().entries == 0


def test_debuggers_and_other_tools_are_left_alone():
    # They see the run that is traced, as any run, and are there afterwards.
    lines, monitoring = [], getattr(sys, "monitoring", None)

    def tracer(frame, event, argument):
        if frame.f_code is fn.__code__:
            lines.append(event)
        return tracer

    def fn(x):
        y = x * 2
        return y + 1

    taken = [] if monitoring is None else [k for k in range(6) if monitoring.get_tool(k) is None]
    for number in taken:
        monitoring.use_tool_id(number, f"tool {number}")
    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        compiled = fz.jit(fn, mode="py")
        found = [compiled(np.ones(2)).tolist() for _ in range(3)]
        assert sys.gettrace() is tracer
        assert all(monitoring.get_tool(k) == f"tool {k}" for k in taken)
    finally:
        sys.settrace(before)
        for number in taken:
            monitoring.free_tool_id(number)
    assert found == [[3.0, 3.0]] * 3
    assert compiled.cache_info().hits == 2
    assert lines == ["call", "line", "line", "return"]


def test_a_coverage_tool_counts_the_lines_of_a_traced_run():
    scale = 2.0

    def helper(x):
        if scale > 5:
            return x
        return x * scale

    def fn(x):
        total = x
        for k in range(3):
            total = total + helper(x) * k
        return total

    def lines_of(function):
        tool = trace.Trace(count=True, trace=False)
        result = tool.runfunc(function, np.ones(2))
        own = {at for at in tool.results().counts if at[0] == __file__}
        return result.tolist(), {at: tool.results().counts[at] for at in own}

    compiled = fz.jit(fn, mode="py")
    plain = lines_of(fn)
    assert lines_of(compiled) == plain
    assert lines_of(compiled) == (plain[0], {})  # by the compiled form
    assert compiled.cache_info()[:2] == (1, 1)
    scale = 7.0
    other = lines_of(fn)
    assert other[1].keys() - plain[1].keys()
    assert lines_of(compiled) == other


def test_derivatives_see_captures():
    scale = 2.0
    gradient = fz.grad(lambda x: (x**2).sum() * scale)
    x = np.array([1.0, 2.0])
    assert gradient(x).tolist() == [4.0, 8.0]
    scale = 3.0
    assert gradient(x).tolist() == [6.0, 12.0]
    calls = []

    def counted(x):
        calls.append(1)
        return (x**2).sum() * len(calls)

    gradient = fz.jit(fz.grad(counted), mode="py")
    assert [gradient(x).tolist() for _ in range(3)] == [[2.0, 4.0], [4.0, 8.0], [6.0, 12.0]]
    assert len(calls) == 3


def test_threads_get_results_that_python_could_give():
    scale, offset = 1.0, np.zeros(2)

    def f(x):
        return x * scale + offset

    compiled = fz.jit(f, mode="py")
    x = np.ones(2)
    compiled(x)
    stop = threading.Event()
    wrong = []

    def rebind():
        nonlocal scale, offset
        while not stop.is_set():
            scale, offset = 2.0, np.array([10.0, 10.0])
            scale, offset = 1.0, np.zeros(2)

    def call():
        for _ in range(60):
            found = compiled(x).tolist()
            if found not in ([1.0, 1.0], [2.0, 2.0], [11.0, 11.0], [12.0, 12.0]):
                wrong.append(found)

    rebinding = threading.Thread(target=rebind)
    threads = [threading.Thread(target=call) for _ in range(8)]
    rebinding.start()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    stop.set()
    rebinding.join()
    assert not wrong
    scale, offset = 5.0, np.ones(2)
    assert compiled(x).tolist() == [6.0, 6.0]
    scale, offset = 1.0, np.zeros(2)
    assert compiled(x).tolist() == [1.0, 1.0]


def test_frazils_own_threads_are_not_others():
    stop = threading.Event()

    def work():
        while not stop.is_set():
            sum(range(100))

    def idle():
        stop.wait()

    threads = [background.BackgroundThread(work, "frazil-tests"), threading.Thread(target=idle)]
    try:
        background.begin(work)
        for thread in threads:  # beside them a thread of the user's that does nothing
            thread.start()
            compiled = fz.jit(lambda x: sum(x * n for n in range(20)), mode="py")
            for _ in range(2):
                compiled(np.ones(2))
            assert compiled.cache_info()[:2] == (1, 1)
    finally:
        stop.set()
    for thread in threads:
        thread.join()


class Halved(fz.Op):
    """An op of the user's whose gradient reads a clock."""

    def make_node(self, x):
        x = ft.as_tensor(x)
        return fz.FrozenApply(self, [x], [x.type])

    def perform(self, node, inputs):
        return (inputs[0] / 2,)

    def L_op(self, inputs, outputs, output_gradients):
        return [output_gradients[0] / 2 + 0 * time.perf_counter()]


def noisy(x):
    return x * time.perf_counter()


@pytest.mark.parametrize(
    "call",
    [
        lambda x: fz.cond(x.sum() > 0, noisy, lambda a: a, x),
        lambda x: fz.fori_loop(0, 2, lambda i, state: noisy(state), x),
        lambda x: fz.vmap(noisy)(x),
        lambda x: fz.grad(lambda a: noisy(a).sum())(x),
        lambda x: fz.grad(lambda a: Halved()(a).sum())(x),
        lambda x: x.sum(axis=Axis()),
    ],
    ids=["cond", "fori_loop", "vmap", "grad", "L_op", "__index__"],
)
def test_code_that_frazil_calls_is_watched(call):
    compiled = fz.jit(call, mode="py")
    compiled(np.ones(2))
    assert "perf_counter is called" in str(compiled.explain())


class Axis:
    def __index__(self):
        return int(time.perf_counter() < 0)


def test_asserts_of_tests_leave_a_function_compiled():
    def cost(x):
        assert x.ndim == 1  # pytest has made calls of its own functions of it
        return np.sum(x**2)

    compiled = fz.jit(cost, mode="py")
    assert compiled(np.ones(2)) == compiled(np.ones(2)) == 2
    assert compiled.cache_info().hits == 1
    assert fz.grad(cost)(np.ones(2)).tolist() == [2.0, 2.0]


def test_pauses_of_collections_hold_until_the_outermost_ends():
    assert gc.isenabled()
    with no_collections():
        x = ft.dscalar("x")
        fz.function([x], x + 1, mode="py")
        within = gc.isenabled()
    assert not within
    assert gc.isenabled()


@pytest.mark.parametrize("enabled", [True, False])
def test_what_collections_of_garbage_call_is_not_the_functions(enabled):
    seen, threshold, was_enabled = [], gc.get_threshold(), gc.isenabled()

    def on_collection(phase, info):
        seen.append(type(phase))

    def fn(x):
        for _ in range(50):
            x = x + np.sin(x)
        return x

    compiled = fz.jit(fn, mode="py")
    gc.callbacks.append(on_collection)
    try:
        gc.set_threshold(1)
        (gc.enable if enabled else gc.disable)()
        for n in range(1, 4):
            compiled(np.ones((n,) * n))
        assert gc.isenabled() == enabled
    finally:
        gc.callbacks.remove(on_collection)
        gc.set_threshold(*threshold)
        (gc.enable if was_enabled else gc.disable)()
    with_gil = getattr(sys, "_is_gil_enabled", lambda: True)()
    # Without the GIL, collections wait until the memory of the process has grown by a tenth.
    assert bool(seen) == enabled or (enabled and not with_gil)
    assert "uncacheable" not in str(compiled.explain())
    assert compiled.cache_info().entries == 3


def test_libraries_may_lie_anywhere(tmp_path):
    # As system packages in a virtual environment do, or those of PYTHONPATH.
    for library in (np, scipy):
        folder = Path(library.__file__).parent
        for own in (folder, folder.parent / f"{folder.name}.libs"):
            if own.exists():
                (tmp_path / own.name).symlink_to(own, target_is_directory=True)
    program = """
import numpy as np, scipy.sparse, frazil as fz
weights = np.ones(2)
compiled = fz.jit(lambda x: x @ weights, mode="py")
compiled(np.ones(2))
print(np.__file__, scipy.__file__, compiled.cache_info().entries, compiled.explain().uncacheable)
"""
    paths = os.pathsep.join([str(tmp_path), str(Path(fz.__file__).parent.parent)])
    command = [sys.executable, "-c", program]
    environment = {**os.environ, "PYTHONPATH": paths}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    numpys, scipys, *said = done.stdout.split(maxsplit=2)
    assert numpys.startswith(str(tmp_path))
    assert scipys.startswith(str(tmp_path))
    assert said == ["1 ()\n"]


def test_captured_operands_need_no_other_trace():
    traced, w, bias = [], np.ones(2), np.zeros(2)

    def scaled(x):
        return x * w

    def fn(x):
        return np.maximum(scaled(x) + scaled(x + 1), bias) @ w

    compiled = fz.jit(lambda x: (traced.append, fn(x))[1], mode="py")
    x = np.array([1.0, 2.0])
    for step in range(50):
        w[0] += step
        bias = np.full(2, step * 3.0)
        assert compiled(x) == pytest.approx(fn(x))
        w = w + 1
    assert compiled.cache_info()[1:] == (1, 0, 1)


class Layer:
    def __init__(self):
        self.w, self.b = np.ones(2), np.zeros(2)

    def __call__(self, x):
        return self.w * x + self.b


class SlottedLayer:
    __slots__ = ("b", "w")
    __init__ = Layer.__init__
    __call__ = Layer.__call__


@dataclasses.dataclass
class DataLayer:
    w: object = dataclasses.field(default_factory=lambda: np.ones(2))
    b: object = dataclasses.field(default_factory=lambda: np.zeros(2))
    __call__ = Layer.__call__


@pytest.mark.parametrize("kind", [Layer, SlottedLayer, DataLayer])
def test_attributes_that_are_operands_need_no_other_trace(kind):
    first, second = kind(), kind()

    def fn(x):
        return second(first(x)) * second.w

    compiled = fz.jit(fn, mode="py")
    x = np.array([1.0, 2.0])
    for step in range(20):
        assert compiled(x).tolist() == fn(x).tolist()
        first.w[0] += step
        first.b = np.full(2, step * 3.0)
        second.w = second.w + 1
    assert compiled.cache_info() == (19, 1, 0, 1)


def matched_by_place(x, layer):
    match layer:
        case DataLayer(w, _):
            return layer.w * x + w.sum()


READERS = {
    "method": lambda x, layer: layer.w * x + layer.w.sum(),
    "getattr": lambda x, layer: layer.w * x + getattr(layer, "w")[0],  # noqa: B009
    "attrgetter": lambda x, layer: layer.w * x + operator.attrgetter("w")(layer)[0],
    "vars": lambda x, layer: layer.w * x + sum(own[0] for own in vars(layer).values()),
    "loop": lambda x, layer: sum(layer.w * x for _ in range(2)),
    "copy": lambda x, layer: layer.w * x + copy.copy(layer).w[0],
    "asdict": lambda x, layer: layer.w * x + dataclasses.asdict(layer)["w"][0],
    "astuple": lambda x, layer: layer.w * x + dataclasses.astuple(layer)[0][0],
    "branch": lambda x, layer: layer.w * x if layer.w[0] < 4 else layer.w * x * 100,
    "match": matched_by_place,
}


@pytest.mark.parametrize("name", READERS)
def test_attributes_that_are_read_otherwise_too_are_compared(name):
    layer = DataLayer()

    def fn(x):
        return READERS[name](x, layer)

    compiled = fz.jit(fn, mode="py")
    x = np.array([1.0, 2.0])
    for step in range(6):
        assert compiled(x).tolist() == fn(x).tolist()
        layer.w = np.full(2, step + 2.0)
    assert compiled.cache_info().hits == 0


def test_elements_that_python_reads_need_another_trace_and_no_other_compilation(monkeypatch):
    made = []

    def counted(*args, **kwargs):
        made.append(args)
        return compile_function(*args, **kwargs)

    entry = sys.modules["frazil.jit.entry"]
    compile_function = entry.function
    monkeypatch.setattr(entry, "function", counted)
    w = np.ones(2)
    compiled = fz.jit(lambda x: x * w if w[1] > 0 else x, mode="py")
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # not "compiled for more than 32 kinds of calls"
        for step in range(40):
            w[0] += step
            assert compiled(np.ones(2)).tolist() == w.tolist()
    assert compiled.cache_info()[1:] == (40, 0, 4)
    assert len({fz.FrozenFunctionGraph(*args[:2]) for args in made}) == 1


def test_a_change_back_finds_the_old_form():
    scale = 1.0
    compiled = fz.jit(lambda x: x * scale, mode="py")
    for scale in (1.0, 2.0, 1.0, 2.0, 1.0):
        assert compiled(np.ones(1)) == scale
    assert compiled.cache_info()[:2] == (3, 2)


def test_policies_of_names_that_are_written():
    count = 0

    def fn(x):
        nonlocal count
        count += 1
        return x * count

    for policy in ("bind", "error"):
        with pytest.raises(fz.SharpEdgeError, match=r"nonlocal 'count' \((written|read)\)"):
            fz.jit(fn, captures={"count": policy}, mode="py")(np.ones(1))
    assert fz.jit(fn, captures={"other": "error"}, mode="py")(np.ones(1)) == count


def test_the_profiler_of_the_library_counts_on():
    compiled = fz.jit(lambda x: x * 2, mode="py")
    profiler = cProfile.Profile()
    found = [profiler.runcall(compiled, np.ones(1)) for _ in range(3)]
    profiler.enable()
    found.append(compiled(np.ones(2)))
    noted = helper_of_the_profiled()
    profiler.disable()
    assert [one.tolist() for one in found] == [[2.0]] * 3 + [[2.0, 2.0]]
    names = {own.code.co_name for own in profiler.getstats() if not isinstance(own.code, str)}
    assert noted in names


def helper_of_the_profiled():
    return "helper_of_the_profiled"
