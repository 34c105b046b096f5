"""Large loops on several threads: the same bits at any number, and nothing that hangs."""

import os
import subprocess
import sys
import threading
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft
from frazil import FrozenApply, Op

COUNTS = (1, 2, 3, 8)
every_mode = pytest.mark.parametrize("mode", ["py", "c", "cranelift", "numba"])
NUMBERS = np.random.default_rng(0).normal(size=1 << 18)


def run_script(script, timeout=120, **environment):
    """What a script prints that runs in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@st.composite
def arrays(draw):
    """Arrays large enough to be cut, of any rank, order and step."""
    shape = draw(st.sampled_from([(200_000,), (400, 500), (3, 70_001), (70_001, 3), (50, 60, 70)]))
    dtype = draw(st.sampled_from(["float64", "float32", "int64", "int8", "bool"]))
    array = np.resize(NUMBERS, [2 * n for n in shape[:1]] + list(shape[1:]))
    array = array[:: draw(st.sampled_from([1, 2, -1]))][: shape[0]]
    array = (array > 0) if dtype == "bool" else np.asarray(10 * array).astype(dtype)
    return array.transpose(draw(st.permutations(range(array.ndim))))


def assert_same_bits(inputs, outputs, mode, *values):
    """Each number of threads gives the same bytes; the results at the end."""
    results = []
    for threads in (*COUNTS, None):
        f = fz.function(inputs, outputs, mode=mode, threads=threads, on_unused_input="ignore")
        results.append(f(*values))
    for other in results[1:]:
        for one, result in zip(results[0], other, strict=True):
            assert (one.dtype, one.shape) == (result.dtype, result.shape)
            assert one.tobytes() == result.tobytes()
    return results[0]


@every_mode
@given(arrays())
@settings(max_examples=8)
def test_elementwise_work_has_the_same_bits_on_any_number_of_threads(mode, array):
    x = ft.tensor("x", dtype=array.dtype.name, shape=(None,) * array.ndim)
    y = x.astype("float64")
    outputs = [ft.exp(-abs(y)) + y, ft.tanh(y) * y, x]
    results = assert_same_bits([x], outputs, mode, array)
    known = array.astype("float64")
    np.testing.assert_allclose(results[0], np.exp(-abs(known)) + known, atol=1e-14)
    np.testing.assert_array_equal(results[2], array)


@every_mode
@given(arrays(), st.data())
@settings(max_examples=6)
def test_reductions_have_the_same_bits_on_any_number_of_threads(mode, array, data):
    x = ft.tensor("x", dtype=array.dtype.name, shape=(None,) * array.ndim)
    axes = data.draw(st.sets(st.integers(0, array.ndim - 1), min_size=1).map(tuple))
    other = data.draw(st.sets(st.integers(0, array.ndim - 1), min_size=1).map(tuple))
    y = x.astype("float64")
    outputs = [x.max(axis=axes), x.min(axis=other), (y * y).sum(axis=axes), y.sum(axis=other)]
    outputs += [(x > 0).all(axis=axes), (x > 2).any(axis=other), y + 1.0]
    results = assert_same_bits([x], outputs, mode, array)
    known = array.astype("float64")
    np.testing.assert_array_equal(results[0], array.max(axis=axes))
    np.testing.assert_array_equal(results[1], array.min(axis=other))
    np.testing.assert_allclose(results[2], (known * known).sum(axis=axes), rtol=1e-12)
    size = abs(known).sum(axis=other)
    np.testing.assert_array_less(abs(results[3] - known.sum(axis=other)), 1e-12 * size + 1e-300)
    np.testing.assert_array_equal(results[4], (array > 0).all(axis=axes))
    np.testing.assert_array_equal(results[5], (array > 2).any(axis=other))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("columns", [1, 10, 50])
@pytest.mark.parametrize("mode", ["c", "cranelift", "numba"])
def test_products_with_vectors_have_the_same_bits_on_any_number_of_threads(mode, columns, dtype):
    rows = 30_001
    values = [np.resize(NUMBERS, n).astype(dtype) for n in (rows * columns, columns, rows)]
    values[0] = values[0].reshape(rows, columns)
    x = ft.matrix("x", dtype=dtype)
    b, r = ft.vector("b", dtype=dtype), ft.vector("r", dtype=dtype)
    outputs = [ft.dot(x, b), ft.dot(r, x), b - 0.5 * ft.dot(x.T, r[::-1]), ft.dot(x[::2], b)]
    found = assert_same_bits([x, b, r], outputs, mode, *values)
    xs, bs, rs = (value.astype("float64") for value in values)
    expected = [xs @ bs, rs @ xs, bs - 0.5 * (xs.T @ rs[::-1]), xs[::2] @ bs]
    bound = 10 * rows * np.finfo(dtype).eps  # of sums of so many terms
    for result, known in zip(found, expected, strict=True):
        np.testing.assert_allclose(result, known, rtol=0, atol=bound)


@every_mode
@given(arrays())
@settings(max_examples=8)
def test_copies_and_updates_have_the_same_bits_on_any_number_of_threads(mode, array):
    x = ft.tensor("x", dtype=array.dtype.name, shape=(None,) * array.ndim)
    outputs = [x.reshape((-1,)), ft.set_subtensor(x[1::2], x[0]), ft.inc_subtensor(x[:-1], x[1:])]
    results = assert_same_bits([x], outputs, mode, array)
    np.testing.assert_array_equal(results[0], array.reshape(-1))
    expected = array.copy()
    expected[1::2] = array[0]
    np.testing.assert_array_equal(results[1], expected)


@pytest.mark.parametrize("width", [24, 33, 128])
@every_mode
def test_rows_that_indices_choose_have_the_same_bits_on_any_number_of_threads(mode, width):
    rows, words = 3_000, 70
    rng = np.random.default_rng(7)
    at = rng.integers(-words, words, rows)
    given, table, weights = (np.resize(NUMBERS, n * width) for n in (rows, words, 1))
    i, g, t, w = ft.lvector("i"), ft.matrix("g"), ft.matrix("t"), ft.vector("w")
    zeros, y = ft.zeros_like(t)[i], t[i] ** 2
    kept = ft.sqrt(abs(t[i]))
    outputs = [
        ft.inc_subtensor(zeros, g),
        ft.set_subtensor(zeros, g),
        ft.inc_subtensor(zeros, y * w),
        # Of values that are in memory anyway.
        kept @ w,
        ft.inc_subtensor(t[i], kept * w),
    ]
    values = at, given.reshape(rows, width), table.reshape(words, width), weights
    results = assert_same_bits([i, g, t, w], outputs, mode, *values)
    added, last, summed = (np.zeros((words, width)) for _ in range(3))
    np.add.at(added, at, values[1])
    last[at] = values[1]
    np.add.at(summed, at, values[2][at] ** 2 * weights)
    more = values[2].copy()
    np.add.at(more, at, np.sqrt(abs(values[2][at])) * weights)
    np.testing.assert_array_equal(results[0], added)
    np.testing.assert_array_equal(results[1], last)
    np.testing.assert_array_equal(results[2], summed)
    np.testing.assert_array_equal(results[4], more)


@st.composite
def additions(draw):
    """An array, indices along its first axis that repeat, and what is added there."""
    dtype = draw(st.sampled_from(["float64", "float32", "int32", "uint8", "bool", "complex64"]))
    words = draw(st.sampled_from([1, 7, 400]))
    row = draw(st.sampled_from([(), (1,), (3,), (40,)]))
    count = draw(st.sampled_from([0, 1, 50, 300_000 // max([1, *row])]))
    at = np.random.default_rng(words).integers(-words, words, count)
    table = np.resize(np.asarray(-0.0 * NUMBERS[:words]), (words, *row)).astype(dtype)
    added = np.resize(NUMBERS * 9, (count, *row)).astype(dtype)
    return table, np.where(at == 0, -1, at), added


@every_mode
@given(additions())
@settings(max_examples=8)
def test_what_is_added_where_indices_say_has_the_same_bits_on_any_number_of_threads(mode, values):
    table, at, added = values
    t, x = (ft.tensor(dtype=a.dtype.name, shape=(None,) * a.ndim) for a in (table, added))
    i = ft.lvector("i")
    outputs = [ft.inc_subtensor(t[i], x), ft.inc_subtensor(t[i], x * x), ft.set_subtensor(t[i], x)]
    results = assert_same_bits([t, i, x], outputs, mode, *values)
    sums, squares, last = table.copy(), table.copy(), table.copy()
    np.add.at(sums, at, added)
    np.add.at(squares, at, added * added)
    last[at] = added
    if table.dtype.kind in "fc":
        size = np.zeros(table.shape)
        np.add.at(size, at, abs(added).astype("float64") ** 2 + abs(added))
        bound = 1e4 * np.finfo(table.dtype).eps * size
        for result, known in ((results[0], sums), (results[1], squares)):
            assert (abs(result.astype("complex128") - known) <= bound).all()
    else:
        np.testing.assert_array_equal(results[0], sums)
        np.testing.assert_array_equal(results[1], squares)
    np.testing.assert_array_equal(results[2], last)
    if table.dtype.kind == "f":
        # A zero to which nothing is added keeps its sign.
        np.testing.assert_array_equal(np.signbit(results[0][0]), np.signbit(sums[0]))


@every_mode
def test_scans_have_the_same_bits_on_any_number_of_threads(mode):
    rng = np.random.default_rng(11)
    rows, size = 4, 70_001
    given = [np.resize(NUMBERS, (rows, size)), np.resize(NUMBERS[7:], size)]
    given.append(rng.integers(-size, size, size))
    x, start, at = ft.matrix("x"), ft.vector("start"), ft.lvector("at")

    def step(row, state, at):
        moved = ft.concatenate([state[1:], state[:1]]) * row
        added = ft.inc_subtensor((0.5 * state)[at], ft.sin(moved))
        return ft.tanh(added - state[at]) + moved.mean()

    states, _ = fz.scan(step, x, start, at)
    cost = (states[-1] ** 2).sum()
    # Of the first, all states are kept; of the second, none: its steps go by blocks of elements.
    last = fz.scan(lambda s, r: 0.5 * s + ft.sin(s) * r, None, start, x[0], n_steps=9)[0][-1]
    outputs = [states, last, *fz.grad(cost, [x, start])]
    found, last, *_ = assert_same_bits([x, start, at], outputs, mode, *given)
    state, at = given[1], given[2]
    for row, own in zip(given[0], found, strict=True):
        moved, added = np.roll(state, -1) * row, 0.5 * state
        np.add.at(added, at, np.sin(moved))
        state = np.tanh(added - state[at]) + moved.mean()
        np.testing.assert_allclose(own, state, rtol=1e-9, atol=1e-11)
    state = given[1]
    for _ in range(9):
        state = 0.5 * state + np.sin(state) * given[0][0]
    np.testing.assert_allclose(last, state, rtol=1e-9, atol=1e-11)


@every_mode
@pytest.mark.parametrize("row", [(), (64,)])
def test_the_first_index_out_of_range_is_named_on_any_number_of_threads(mode, row):
    t = ft.tensor("t", dtype="float64", shape=(None,) * (1 + len(row)))
    i, count = ft.lvector("i"), 300_000 // (1 + sum(row))
    table, at = np.ones((5, *row)), np.zeros(count, "int64")
    at[[-1, -2, count // 2]] = 9, -8, 6
    for output in (ft.exp(t[i]), t[i].sum(), ft.inc_subtensor(t[i], ft.exp(t[i])) * 2.0):
        for threads in COUNTS:
            f = fz.function([t, i], output, mode=mode, threads=threads)
            with pytest.raises(IndexError, match=r"\b6 is out of bounds"):
                f(table, at)
            assert np.isfinite(f(table, at % 5)).all()


def test_a_nan_in_the_last_piece_is_the_maximum():
    x = ft.vector("x")
    array = np.arange(300_000.0)
    array[-1] = np.nan
    f = fz.function([x], [x.max(), x.min(), x.sum()], threads=3)
    assert all(np.isnan(result) for result in f(array))


@pytest.mark.parametrize("threads", COUNTS)
def test_sums_of_many_elements_are_accurate(threads):
    x = ft.vector("x")
    array = np.full(3_000_000, 0.1)
    given = fz.function([x], x.sum(), threads=threads)(array)
    np.testing.assert_allclose(given, 300_000.0, rtol=1e-15)


@pytest.mark.parametrize("threads", COUNTS)
def test_a_kernel_that_fails_in_one_piece_fails_the_call(threads):
    x = ft.vector("x", dtype="int64")
    f = fz.function([x], 2**x, threads=threads)
    exponents = np.ones(500_000, dtype="int64")
    exponents[400_000] = -1
    with pytest.raises(ValueError, match="negative integer powers"):
        f(exponents)
    assert (f(abs(exponents)) == 2).all()


@pytest.mark.parametrize("threads", [0, -1, True, 1.5, "2"])
def test_the_number_of_threads_is_a_positive_integer(threads):
    x = ft.vector("x")
    with pytest.raises((ValueError, TypeError)):
        fz.function([x], x, threads=threads)


def test_the_default_follows_the_environment():
    script = "import frazil as fz, frazil.tensor as ft; print(fz.function([], ft.ones(3)).threads)"
    assert run_script(script, OMP_NUM_THREADS="3") == "3"
    assert run_script(script, OMP_NUM_THREADS="5,2") == "5"
    assert int(run_script(script, OMP_NUM_THREADS="none")) >= 1
    x = ft.vector("x")
    assert fz.function([x], x, threads=7).threads == 7


def test_many_python_threads_share_the_threads_that_help(mode):
    x = ft.matrix("x")
    f = fz.function([x], [ft.exp(x) + x, ft.exp(x).sum(), x.sum(axis=0)], mode=mode, threads=4)
    operands = [NUMBERS.reshape(512, 512) * (1 + k) / 8 for k in range(8)]
    expected = [f(operand) for operand in operands]
    failures = []

    def work(k):
        for turn in range(12):
            at = (k + turn) % 8
            for one, other in zip(f(operands[at]), expected[at], strict=True):
                if one.tobytes() != other.tobytes():
                    failures.append((k, turn))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


depths: list[int] = []


@dataclass(frozen=True, eq=False)
class Nested(Op):
    """Twice the operand, after the function of the test has called itself within."""

    def make_node(self, x):
        return FrozenApply(self, [x], [x.type])

    def infer_shape(self, node, input_shapes):
        return (input_shapes[0],)

    def perform(self, node, inputs):
        (x,) = inputs
        depths.append(len(depths))
        if len(depths) < 5:
            nested["f"](x)
        return (2 * x,)


nested = {}


def test_a_function_may_call_itself_from_an_op(mode):
    x = ft.vector("x")
    total = fz.shared(0.0)
    y = Nested()(ft.tanh(x))
    f = fz.function([x], [y + 1.0, y.sum()], mode=mode, updates={total: total + 1.0}, threads=3)
    nested["f"] = f
    depths.clear()
    array = NUMBERS[:100_000]
    first, second = f(array)
    np.testing.assert_allclose(first, 2 * np.tanh(array) + 1.0, atol=1e-14)
    np.testing.assert_allclose(second, (2 * np.tanh(array)).sum(), rtol=1e-10)
    assert len(depths) == 5
    # Each call read the value before any of them stored one.
    assert total.get_value() == 1.0


FORK = """
import os
import numpy as np
import frazil as fz, frazil.tensor as ft
x = ft.vector("x")
f = fz.function([x], [ft.exp(x), ft.exp(x).sum()], threads=3)
array = np.linspace(0, 1, 400_000)
expected = [result.tobytes() for result in f(array)]
for _ in range(3):
    child = os.fork()
    if child == 0:
        again = [result.tobytes() for result in f(array)]
        grandchild = os.fork()
        if grandchild == 0:
            os._exit([result.tobytes() for result in f(array)] != expected)
        code = os.waitstatus_to_exitcode(os.waitpid(grandchild, 0)[1])
        os._exit(code or again != expected)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert [result.tobytes() for result in f(array)] == expected
print("done")
"""


def test_a_forked_child_has_threads_of_its_own():
    assert run_script(FORK) == "done"


INTERRUPT = """
import os, signal, threading
import numpy as np
import frazil as fz, frazil.tensor as ft

def interrupt_soon():
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()

def is_interrupted(f, *arguments):
    interrupt_soon()
    try:
        f(*arguments)
    except KeyboardInterrupt:
        return True
    return False

mode, threads = os.environ["MODE"], int(os.environ["THREADS"])
total = fz.shared(np.zeros(3), name="total")
x, m = ft.vector("x"), ft.matrix("m")

y = x
for k in range(60):
    y = ft.gammaln(ft.exp(ft.sin(y)) + k)
loop = fz.function([x], y.sum(), mode=mode, threads=threads, updates={total: total + y[:3]})
assert is_interrupted(loop, np.linspace(0, 1, 10_000_000))
assert (total.get_value() == 0).all()
assert np.isfinite(loop(np.linspace(0, 1, 1000)))
assert (total.get_value() != 0).all()

before = total.get_value()
p = m
for k in range(400):
    p = ft.dot(p, m) / 1000.0
products = fz.function([m], p, mode=mode, threads=threads, updates={total: total + p[0, :3]})
assert is_interrupted(products, np.ones((1000, 1000)))
assert (total.get_value() == before).all()
assert products(np.ones((4, 4))).shape == (4, 4)
print("done")
"""


@pytest.mark.parametrize("threads", [1, 2])
def test_an_interrupt_ends_a_long_call_and_leaves_shared_variables_alone(mode, threads):
    assert run_script(INTERRUPT, MODE=mode, THREADS=str(threads)) == "done"


def test_the_process_ends_while_a_call_runs():
    script = (
        "import threading, time, numpy as np, frazil as fz, frazil.tensor as ft\n"
        "x = ft.vector('x'); y = x\n"
        "for k in range(40): y = ft.gammaln(ft.exp(ft.sin(y)) + k)\n"
        "f = fz.function([x], y, threads=2); f(np.ones(100_000))\n"
        "array = np.ones(20_000_000)\n"
        "threading.Thread(target=f, args=(array,), daemon=True).start()\n"
        "time.sleep(0.2); print('done')"
    )
    assert run_script(script, timeout=30) == "done"
