"""Programs that begin with kernels of the extension and go on with C's: with the same bits."""

import functools
import gc
import os
import pickle
import platform
import re
import stat
import subprocess
import sys
import threading
import warnings
import weakref
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import frazil as fz
import frazil.tensor as ft
from frazil import _core
from frazil._core import elemwise, has_quick_functions, vector_bits
from frazil.cache.identity import processor
from frazil.compile import tiering
from frazil.link.c import CCompiler
from frazil.link.kernel.runtime_functions import OF_BLOCKS
from frazil.link.linkers.c_first import reason, reason_in_graph
from frazil.link.linkers.tiered import replaceable
from frazil.scalar import ScalarLoop
from frazil.scalar.elementary import Elementary
from frazil.scalar.op import ScalarOp
from frazil.scalar.table import TABLE

pytestmark = pytest.mark.skipif(CCompiler.find() is None, reason="C takes over nowhere")

# Without AVX-512, C's kernels call the C library for many functions, which have other bits.
of_runtime = pytest.mark.skipif(vector_bits() < 512, reason="C calls the C library")


@pytest.fixture(autouse=True)
def no_cache(monkeypatch):
    monkeypatch.setenv("FRAZIL_CACHE", "0")


def sums(number):
    """A function that no other test compiles, and arguments."""
    x, y = ft.vector("x"), ft.vector("y")
    outputs = [(x * y + x / number).sum(), ft.where(x > y, x - number, y) * x]
    return fz.function([x, y], outputs), np.random.default_rng(number).normal(size=(2, 1003))


def take_over(f):
    """Let C take over now."""
    tiering._on_heat(f.program)
    assert tiering._worker.wait(60)


def test_c_takes_over_with_the_same_bits():
    f, given = sums(3)
    before = f(*given)
    assert f.mode == "tiered"
    assert f.explain().waiting == f.explain().kernels > 0
    take_over(f)
    assert f.explain().waiting == 0
    assert [made.tobytes() for made in f(*given)] == [made.tobytes() for made in before]


def test_calls_that_take_long_enough_bring_c():
    f, given = sums(5)
    f.program.await_heat(1e-9)
    f(*given)
    assert tiering._worker.wait(60)
    assert not replaceable(f.program)


def test_a_call_alone_brings_nothing():
    f, given = sums(6)
    f(*given)
    assert tiering._worker.wait(60)
    assert replaceable(f.program)


def test_who_wants_no_tiers_gets_c_at_once():
    x = ft.vector("x")
    mode = fz.Mode(tiered=False)
    f = fz.function([x], x * 7.25, mode=mode)
    assert f.mode == "c"
    assert f.explain().untiered is None
    assert pickle.loads(pickle.dumps(f)).mode == "c"
    with pytest.raises(TypeError, match="tiered must be"):
        fz.Mode(tiered="c")


@dataclass(frozen=True, eq=False)
class Doubled(ScalarOp):
    """Its author wrote it in C."""

    nin = 1
    rule = "float"
    c = "2 * {0}"

    def impl(self, x):
        return 2 * x


def test_ops_that_c_alone_compiles_are_compiled_by_c_first():
    x = ft.vector("x")
    f = fz.function([x], Doubled()(x) * 3)
    assert f.mode == "c"
    assert f.explain().untiered == "Doubled is compiled by C alone"
    assert "C compiled first" in str(f.explain())
    looped = fz.scan(lambda v: Doubled()(v), sequences=[x])[0]
    assert reason_in_graph(fz.FrozenFunctionGraph([x], [looped])) is not None
    chosen = fz.ifelse(x[0] > 0, looped, x)
    held = fz.OpFromGraph([x], [chosen])(x)
    assert reason_in_graph(fz.FrozenFunctionGraph([x], [held])) is not None
    of_table = reason_in_graph(fz.FrozenFunctionGraph([x], [ft.exp(x)]))
    assert (of_table is None) == has_quick_functions()


SHORT_REGISTERS = """
import sys
sys.path.insert(0, {folder!r})
import numpy as np, frazil as fz, frazil.tensor as ft
from test_tiers import replaceable, take_over
x, m = ft.vector("x"), ft.matrix("m")
whole = [ft.exp(x) - ft.softplus(x), ft.sigmoid(m) * ft.tanh(m - 1), ft.exp(m / 3).sum(axis=0)]
f = fz.function([x, m], whole)
given = np.linspace(-9, 9, 1003), np.random.default_rng(1).normal(size=(77, 30))
before = [made.tobytes() for made in f(*given)]
print(f.mode, f.explain().kernels, f.explain().waiting, f.explain().untiered)
take_over(f)
print([made.tobytes() for made in f(*given)] == before, f.explain().waiting)
alone = fz.function([x], ft.erf(x) + 1)
alone(given[0])
print(alone.mode, alone.explain().waiting)
at = ft.tensor(dtype="int64", shape=(None,))
again = fz.function([m], m - m.mean(axis=1, keepdims=True))
chosen = fz.function([x, at], (x[at] * 2, ft.inc_subtensor(x[at], 1.0)))
again(given[1]), chosen(given[0], np.arange(9))
print(again.mode, again.explain().waiting, chosen.mode, chosen.explain().waiting)
"""


@pytest.mark.skipif(not vector_bits(), reason="C compiles functions first")
def test_with_avx2_alone_some_kernels_stay():
    """As with AVX2 alone, where others of C's kernels are slower than the extension's."""
    script = SHORT_REGISTERS.format(folder=os.path.dirname(__file__))
    env = {**os.environ, "FRAZIL_REGISTERS": "256", "FRAZIL_CACHE": "0"}
    run = subprocess.run(
        [sys.executable, "-c", script], env=env, capture_output=True, text=True, check=True
    )
    stay = ["tiered 0", "tiered 0 tiered 0"]
    assert run.stdout.splitlines() == ["tiered 2 1 None", "True 0", *stay]


WITHOUT_REGISTERS = """
import frazil as fz, frazil.tensor as ft
x, m = ft.vector("x"), ft.matrix("m")
steps = fz.scan(lambda v, s: ft.tanh(v * s), sequences=[x], outputs_info=[x[0]])[0]
sums = fz.function([x, m], [(m * m / 3).sum(axis=0), x + 1])
functions = [fz.function([x], y) for y in (ft.exp(x), ft.logaddexp(x, 1), steps + ft.erf(x))]
for f in (sums, *functions):
    print(f.mode, f.explain().waiting > 0)
print(functions[0].explain().untiered)
"""


def test_c_compiles_functions_first_without_registers_for_them():
    env = {**os.environ, "FRAZIL_REGISTERS": "128", "FRAZIL_CACHE": "0"}
    run = subprocess.run(
        [sys.executable, "-c", WITHOUT_REGISTERS],
        env=env,
        capture_output=True,
        text=True,
        check=True,
    )
    *kinds, why = run.stdout.splitlines()
    assert kinds == ["tiered True", "c False", "tiered False", "c False"]
    assert why == "exp is slow in the extension without registers of AVX2"


def test_a_first_function_asks_the_system_for_no_list_of_processors():
    script = """
import frazil as fz, frazil.tensor as ft
from frazil.cache.identity import processor
x = ft.vector("x")
f = fz.function([x], x * 2 + 1)
print(f.mode, processor.cache_info().currsize)
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["tiered", "0"]


def test_wide_registers_are_those_that_compilers_are_told_of():
    wanted = {"avx512f", "avx512bw", "avx512dq", "avx512vl", "avx2", "fma", "bmi2"}
    known = {*processor().split()}
    assert (vector_bits() == 512) == (wanted <= known)
    assert (vector_bits() > 0) == ({"avx2", "fma"} <= known)
    fuses = platform.machine() in ("aarch64", "arm64")
    assert has_quick_functions() == (fuses or vector_bits() > 0)


@of_runtime
def test_powers_have_the_same_bits():
    x = ft.vector("x")
    f = fz.function([x], [x**2 + x**-1, x**0.5, x**2.5, x ** (x + 1), 0.5**x])
    assert f.explain().waiting == f.explain().kernels > 0


def test_the_cache_keeps_what_took_over(monkeypatch, tmp_path):
    monkeypatch.setenv("FRAZIL_CACHE", str(tmp_path / "cache"))
    script = f"""
import sys
sys.path.insert(0, {os.path.dirname(__file__)!r})
from test_tiers import sums, take_over, replaceable
f, given = sums(9)
waiting = len(replaceable(f.program))
made = f(*given)
if waiting and "over" in sys.argv:
    take_over(f)
print(f.compiled.found, waiting, [part.tobytes().hex()[:64] for part in made])
"""
    asked = [(), ("over",), ()]
    said = [
        subprocess.run(
            [sys.executable, "-c", script, *how], capture_output=True, text=True, check=True
        ).stdout.split(" ", 2)
        for how in asked
    ]
    assert [(found, waits) for found, waits, _ in said] == [
        *(("made", "1"), ("disk", "1"), ("disk", "0"))
    ]
    assert said[0][2] == said[1][2] == said[2][2]


def test_threads_that_call_meanwhile_see_nothing():
    f, given = sums(11)
    known = [made.tobytes() for made in f(*given)]
    stop, wrong = threading.Event(), []

    def call():
        while not stop.is_set():
            if [made.tobytes() for made in f(*given)] != known:
                wrong.append(1)

    threads = [threading.Thread(target=call, daemon=True) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        take_over(f)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert not wrong
    assert not replaceable(f.program)


@pytest.fixture
def compiler(monkeypatch, tmp_path):
    """Make $CC a script; the process finds it as if it had begun anew."""
    from frazil.compile import mode
    from frazil.link.c import search as own

    def clear():
        for known in (own._search, mode._made):
            known.cache_clear()
        tiering._failed.clear()

    def make(script):
        path = tmp_path / "pretended-cc"
        path.write_text(f'#!/bin/sh\nif [ "$1" = --version ]; then echo 1.0; exit; fi\n{script}\n')
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("CC", str(path))
        clear()
        return path

    yield make
    monkeypatch.undo()
    clear()


def test_a_compiler_that_fails_costs_one_warning(compiler):
    compiler("echo no room >&2; exit 1")
    first, second = sums(13), sums(14)
    before = [made.tobytes() for made in first[0](*first[1])]
    with pytest.warns(RuntimeWarning, match="go on as they are(.|\n)*no room") as told:
        take_over(first[0])
    os.unlink(re.search(r"source kept in (\S+)", str(told[0].message))[1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        take_over(second[0])
        later, _ = sums(15)
    assert len(told) == 1
    assert replaceable(first[0].program)
    assert later.program not in tiering._AWAITED  # the compiler is not tried again
    assert [made.tobytes() for made in first[0](*first[1])] == before


def test_the_warning_says_why_a_compiler_was_refused(compiler):
    path = compiler("")
    path.write_text("#!/bin/sh\necho no licence >&2; exit 3\n")
    f, given = sums(29)
    f(*given)
    with pytest.warns(RuntimeWarning, match="no C compiler works\n.*ended with status 3: no lic"):
        take_over(f)


def test_no_compiler_is_started_before_the_first_result(compiler):
    path = compiler("")
    path.write_text(f"#!/bin/sh\ntouch {path}.started\n")
    f, given = sums(16)
    f(*given)
    assert f.mode == "tiered"
    assert not path.with_name(f"{path.name}.started").exists()


SLOW = """
import os, sys, time
sys.path.insert(0, {folder!r})
from test_tiers import sums, tiering
f, given = sums(17)
before = [made.tobytes() for made in f(*given)]
tiering._on_heat(f.program)
child = os.fork()
if child == 0:
    # The child has no thread; it computes, and compiles by itself.
    os._exit(0 if [made.tobytes() for made in f(*given)] == before else 1)
assert os.waitpid(child, 0)[1] == 0
for _ in range(3):  # the compiler is at work, and no call waits for it
    assert [made.tobytes() for made in f(*given)] == before
assert not tiering._worker.wait(0)
print("ends")
"""


def test_neither_a_call_nor_a_fork_nor_an_exit_waits_for_a_slow_compiler(compiler):
    path = compiler("exec sleep 100")
    script = SLOW.format(folder=os.path.dirname(__file__))
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "CC": str(path)},
        stdout=subprocess.PIPE,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout == "ends\n"


def test_a_child_does_what_its_parent_had_begun():
    worker = tiering._Worker()
    f, _ = sums(19)
    awaited = tiering._AWAITED.pop(f.program)
    worker._at_work = tiering._Job(f.program, awaited, replaceable(f.program))
    worker._thread = threading.current_thread()
    worker.begin_anew()
    worker._start()
    assert worker.wait(60)
    assert not replaceable(f.program)


def negation():
    return _core.compile_kernels(
        [
            "loop 8 0\nread float64 1\nop neg float64 float64 0\n"
            "write 1 float64 1 -\npass\nvarying 1\nreads 0\nwrites 0"
        ],
        {},
    )


class Successor:
    """What replaces a kernel."""

    def __init__(self, address):
        self.address = address


def test_kernels_are_replaced_by_something():
    code = negation()
    for at, address in ((1, 4096), (0, 0)):
        with pytest.raises(ValueError, match="no kernel"):
            code.replace(at, Successor(address))
    with pytest.raises(AttributeError, match="address"):
        code.replace(0, 4096)


def test_what_replaces_a_kernel_lives_as_long_as_the_jump_to_it():
    code, other = negation(), negation()
    successor = Successor(*other.addresses())
    known = weakref.ref(successor)
    code.replace(0, successor)
    del successor
    gc.collect()
    assert known() is not None
    del code
    gc.collect()
    assert known() is None


def hard_values(dtype):
    if np.dtype(dtype).kind == "i":
        return np.array([0, 1, -1, 2, -7, 63, 64, 100, -(2**63), 2**63 - 1])
    info = np.finfo(dtype)
    edges = (info.smallest_subnormal, info.tiny, info.max, np.inf)
    some = (0.0, 1.0, 1.5, 0.1, 7.0)
    return np.array([*some, *edges, *(-x for x in (*some, *edges)), np.nan], dtype)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
def test_ops_of_the_same_bits_have_them(dtype):
    """Every row of the table that is not named, on hard values and others, in both."""
    values = hard_values(dtype)
    rng = np.random.default_rng(1)
    more = (rng.normal(size=300) * 20).astype(dtype)
    if np.dtype(dtype).kind == "f":
        integer = np.dtype(dtype.replace("float", "uint"))
        some = rng.integers(0, np.iinfo(integer).max, 2000, integer, endpoint=True)
        small = values[6] * rng.normal(size=50) * 30  # and subnormal
        more = np.concatenate([more, some.view(dtype), small.astype(dtype)])
    first, second = np.meshgrid(values, values)
    pairs = [np.concatenate([own.ravel(), more]) for own in (first, second)]
    x, y = ft.vector("x", dtype=dtype), ft.vector("y", dtype=dtype)
    outputs = {}
    for name, row in TABLE.items():
        op = None if name == "cast" else Elementary(name)
        if op is None or row.nin > 2:
            continue
        try:
            outputs[name] = elemwise(op, *(x, y)[: row.nin])
        except TypeError:
            continue  # the op takes no such numbers
        if name == "pow" and dtype[0] in "iu":
            del outputs[name]  # negative powers of integers are refused
        elif not replaceable(
            fz.function([x, y], outputs[name], mode="tiered", on_unused_input="ignore").program
        ):
            del outputs[name]
    with np.errstate(all="ignore"):
        made = {
            mode: fz.function([x, y], outputs, mode=mode, on_unused_input="ignore")(*pairs)
            for mode in ("c", "cranelift")
        }
    assert len(outputs) > 20
    for name in outputs:
        a, b = made["c"][name], made["cranelift"][name]
        same = (a == b) & (np.signbit(a) == np.signbit(b)) if a.dtype.kind == "f" else a == b
        assert np.all(same | (a != a) & (b != b)), name


@of_runtime
def test_functions_have_the_same_bits_wherever_they_stand():
    """Of one element, the same along a row, of rows that are no whole blocks."""
    a, m = ft.dscalar("a"), ft.matrix("m")
    f4 = ft.matrix("f4", dtype="float32")
    outputs = [
        ft.exp(a) * ft.log1p(a * a) - ft.tanh(a) * ft.ndtr(a),
        ft.tanh(m.sum(1, keepdims=True)) + ft.sin(m) * ft.erf(m[0]),
        ft.cos(ft.expm1(f4)),
        ft.log(ft.exp(m - m.max(1, keepdims=True)).sum(1)),
        m * ft.exp(m.sum(1, keepdims=True)),
        ft.log1p(f4 * f4) + ft.exp(f4),
        ft.tanh(f4[:, :7]) * ft.exp(m[:3, :7]),
    ]
    rng = np.random.default_rng(2)
    given = (0.3, rng.normal(size=(5, 21)))
    given += (rng.normal(size=(3, 37)).astype("float32"),)
    bits = [
        [made.tobytes() for made in fz.function([a, m, f4], outputs, mode=mode)(*given)]
        for mode in ("c", "cranelift")
    ]
    assert bits[0] == bits[1]


@functools.cache
def formulas(mode, dtype):
    """The functions that kernels compute by formulas: on arrays, in sums, and of one element."""
    x, y, m = (
        ft.vector("x", dtype=dtype),
        ft.vector("y", dtype=dtype),
        ft.matrix("m", dtype=dtype),
    )
    outputs = [ft.sigmoid(x), ft.softplus(x), ft.log_sigmoid(x), ft.logaddexp(x, y)]
    outputs += [ft.hypot(x, y), ft.arctan2(y, x), ft.hypot(x, 0.5), ft.arctan2(x[0], y[-1:])]
    outputs += [ft.power(x, y), ft.power(x, 2.7), ft.power(0.3, y), ft.power(x[0], y[-1:])]
    outputs += [ft.softplus(m).sum(1), ft.sigmoid(m.max(1, keepdims=True)) * m]
    return fz.function([x, y, m], outputs, mode=mode)


def bits(arrays):
    """Their bits, of all NaNs the same."""
    return [np.where(made != made, np.nan, made).astype(made.dtype).tobytes() for made in arrays]


@st.composite
def operands(draw):
    """Two rows and a matrix of them, of any floats."""
    dtype = draw(st.sampled_from(["float64", "float32"]))
    width = 64 if dtype == "float64" else 32
    any_float, moderate = st.floats(width=width), st.floats(-40, 40, width=width)
    length = draw(st.integers(1, 40))
    x, y = (
        draw(hnp.arrays(dtype, length, elements=st.one_of(any_float, moderate))) for _ in range(2)
    )
    return dtype, (x, y, np.stack([x, y, -y]))


@of_runtime
@drawn(operands())
@settings(max_examples=40, deadline=None)
def test_formulas_have_the_same_bits(known):
    dtype, given = known
    with np.errstate(all="ignore"):
        made, other = (bits(formulas(mode, dtype)(*given)) for mode in ("c", "cranelift"))
    assert made == other


@of_runtime
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_formulas_have_the_same_bits_at_every_exponent(dtype):
    """Numbers of all sizes, signs and infinities: their bits are drawn."""
    integer = np.dtype(dtype.replace("float", "uint"))
    rng = np.random.default_rng(4)
    drawn_bits = rng.integers(0, np.iinfo(integer).max, (2, 5003), integer, endpoint=True)
    x, y = drawn_bits.view(dtype)
    with np.errstate(all="ignore"):
        y[:2000] = x[:2000] + rng.normal(size=2000).astype(dtype)
    given = (x, y, np.stack([y, np.full_like(x, 0.3)]))
    assert bits(formulas("c", dtype)(*given)) == bits(formulas("cranelift", dtype)(*given))


@of_runtime
def test_a_logistic_regression_is_tiered():
    x, weights = ft.matrix("x"), ft.vector("weights")
    logits = x @ weights
    value = (x[:, 0] * logits - ft.softplus(logits)).sum()
    f = fz.function([x, weights], [value, fz.grad(value, weights)])
    rng = np.random.default_rng(5)
    given = rng.normal(size=(77, 3)), rng.normal(size=3)
    assert f.explain().untiered is None
    assert f.explain().waiting == f.explain().kernels > 0
    before = bits(f(*given))
    take_over(f)
    assert bits(f(*given)) == before


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_functions_in_the_steps_of_a_scan_have_the_same_bits(dtype):
    x = ft.vector("x", dtype=dtype)
    ops = sorted((op for op in OF_BLOCKS if op.nin == 1), key=str)
    ops = [*ops, *map(Elementary, ("gammaln", "tri_gamma", "log_ndtr"))]
    two = [Elementary(name) for name in ("arctan2", "hypot", "logaddexp", "pow")]

    def step(v, *states):
        half = np.asarray(0.5, dtype)
        made = [elemwise(op, v - s * half) for op, s in zip(ops, states, strict=False)]
        return *made, *(elemwise(op, v - half, s) for op, s in zip(two, states[-4:], strict=True))

    first = [x[0] * 0 for _ in [*ops, *two]]
    made = fz.scan(step, sequences=[x], outputs_info=first)[0]
    rng = np.random.default_rng(6)
    given = np.concatenate([rng.normal(size=200) * 3, rng.normal(size=100) * 300]).astype(dtype)
    with np.errstate(all="ignore"):
        c, quick = (fz.function([x], made, mode=mode) for mode in ("c", "cranelift"))
        first, second = bits(c(given)), bits(quick(given))
    assert any(kernel.text.startswith("scan") for kernel, _ in quick.program.kernels)
    both = zip(map(str, [*ops, *two]), first, second, strict=True)
    assert [name for name, a, b in both if a != b] == []


def test_equal_steps_of_formulas_are_one_statement():
    """A function and its slope share the exponential."""
    x = ft.vector("x")
    f = fz.function([x], [ft.softplus(x), ft.sigmoid(x)], mode="cranelift")
    ((made, _),) = f.program.kernels
    assert made.text.count("op exp ") == 1


def test_functions_in_loops_of_elements_are_c_first():
    x, state = ft.vector("x"), ft.dscalar("state")
    for step in (ft.exp(-state), ft.hypot(state, 0.5)):
        f = fz.function([x], ScalarLoop([state], [step])(3, x), mode="tiered")
        assert not replaceable(f.program)


@of_runtime
def test_functions_of_operands_that_are_converted_have_the_same_bits():
    x, n, small = ft.vector("x"), ft.vector("n", dtype="int64"), ft.vector("s", dtype="float32")
    flag = ft.vector("flag", dtype="bool")
    outputs = [ft.exp(n) * x, ft.logaddexp(n, small), ft.hypot(x, small), ft.arctan2(n, x)]
    outputs += [
        x**n,
        ft.power(small, x),
        n ** x[0],
        ft.sigmoid(n),
        ft.tanh(flag),
        ft.erf(n).sum(),
        ft.hypot(n[0], small),
    ]
    inputs = [x, n, small, flag]
    assert replaceable(fz.function(inputs, outputs, mode="tiered").program)
    rng = np.random.default_rng(7)
    given = (
        rng.normal(size=1003),
        rng.integers(-40, 40, 1003),
        rng.normal(size=1003).astype("float32"),
        rng.random(1003) < 0.5,
    )
    c, quick = (fz.function(inputs, outputs, mode=mode)(*given) for mode in ("c", "cranelift"))
    assert bits(c) == bits(quick)


EDGES = (0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.5, 1e-45, 3e38, 1e-310, 5e-324, -1.7e308)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", ["hypot", "arctan2", "power"])
def test_functions_of_two_floats_at_edges(name, dtype):
    """Zeros, infinities and the least and the largest numbers, with their signs."""
    with np.errstate(all="ignore"):
        edges = np.array(EDGES).astype(dtype)
        given = [np.ravel(each) for each in np.meshgrid(edges, edges)]
        wanted = getattr(np, name)(*given)
    x, y = ft.vector("x", dtype=dtype), ft.vector("y", dtype=dtype)
    made = fz.function([x, y], getattr(ft, name)(x, y), mode="cranelift")(*given)
    with np.errstate(all="ignore"):
        np.testing.assert_array_max_ulp(made, wanted, maxulp=3)
    numbers = ~np.isnan(wanted)
    np.testing.assert_array_equal(np.signbit(made)[numbers], np.signbit(wanted)[numbers])


@pytest.mark.skipif(not has_quick_functions(), reason="C compiles functions first")
def test_all_ops_may_begin_in_the_extension():
    assert {reason(Elementary(name)) for name in set(TABLE) - {"cast"}} == {None}


def test_nobody_is_warned_of_tiers():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        f, given = sums(23)
        f(*given)
        take_over(f)
