"""Choices, loops and messages of compiled Python functions."""

import io
import sys
import threading
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import frazil as fz

x0 = np.array([1.0, -2.0, 3.0])


def collatz(n):
    def step(state):
        n, steps = state["n"], state["steps"]
        return {"n": np.where(n % 2 == 0, n // 2, 3 * n + 1), "steps": steps + 1}

    return fz.while_loop(lambda s: s["n"] != 1, step, {"n": n, "steps": np.int64(0)})["steps"]


COLLATZ = fz.jit(collatz, mode="py")


@settings(deadline=None, max_examples=8)
@given(st.integers(1, 40))
def test_while_loops_do_what_python_does(n):
    wanted, m = 0, n
    while m != 1:
        m = m // 2 if m % 2 == 0 else 3 * m + 1
        wanted += 1
    assert COLLATZ(np.int64(n)) == wanted
    assert collatz(np.int64(n)) == wanted


def test_loops_over_integers():
    def power(x, n):
        return fz.fori_loop(0, n, lambda i, state: state * x + i, x * 0)

    compiled = fz.jit(power, mode="py")
    for n in (0, 1, 4):
        np.testing.assert_allclose(compiled(x0, np.int64(n)), power(x0, n))


def squared_until_50(x):
    return fz.while_loop(lambda s: s < 50, lambda s: s * s, x, max_steps=20)


@pytest.mark.parametrize(
    "transform", [lambda f: f, fz.grad, fz.value_and_grad, lambda f: lambda x: fz.vmap(f)(x[None])]
)
def test_loops_that_do_not_end_are_errors(mode, transform):
    compiled = fz.jit(transform(squared_until_50), mode=mode)
    compiled(np.float64(1.5))
    with pytest.raises(ValueError, match="goes on after max_steps=20 steps"):
        compiled(np.float64(1.0))


def test_loops_that_do_not_end_are_errors_in_python():
    assert squared_until_50(2.0) == 256.0
    with pytest.raises(ValueError, match="goes on after max_steps=20 steps"):
        squared_until_50(1.0)
    # The last step that there may be is taken.
    for least, steps in ((20, 20), (0, 0)):
        ends = fz.while_loop(lambda s, least=least: s < least, lambda s: s + 1, 0, max_steps=steps)
        assert ends == least


def test_the_last_step_that_there_may_be(mode):
    count = fz.jit(
        lambda x: fz.while_loop(lambda s: s < x, lambda s: s + 1, np.int64(0), max_steps=20),
        mode=mode,
    )
    assert count(np.int64(20)) == 20
    with pytest.raises(ValueError, match="max_steps=20"):
        count(np.int64(21))


def power(x, n):
    return fz.fori_loop(0, n, lambda i, s: s * x + i, 1.0)


def test_loops_over_integers_end_with_these(mode):
    compiled = fz.jit(power, mode=mode)
    for n in (-3, 0, 1, 6):
        assert compiled(np.float64(1.5), np.int64(n)) == power(1.5, n)
    if mode != "py":
        more = fz.jit(lambda x: fz.fori_loop(0, 1_500_000, lambda i, s: s + 1, x), mode=mode)
        assert more(np.float64(0.0)) == 1_500_000.0


def test_batches_of_loops_over_integers(mode):
    xs, ns = np.array([1.5, 0.5, 2.0, 3.0]), np.array([0, 3, -1, 5])
    found = fz.jit(fz.vmap(power), mode=mode)
    np.testing.assert_array_equal(found(xs, ns), list(map(power, xs, ns)))
    assert found(xs[:0], ns[:0]).shape == (0,)
    slopes = fz.jit(fz.vmap(fz.grad(lambda x: power(x, 4))), mode=mode)(xs)
    np.testing.assert_allclose(slopes, 4 * xs**3 + 2 * xs + 2)


def test_one_branch_is_taken():
    def fn(x):
        return fz.cond(
            x.sum() > 0, lambda a: {"y": np.sqrt(a * a), "n": 1}, lambda a: {"y": a, "n": 1}, x
        )

    compiled = fz.jit(fn, mode="py")
    for x in (x0, -x0):
        assert compiled(x)["y"].tolist() == fn(x)["y"].tolist()
        assert compiled(x)["n"] == 1
    gradient = fz.grad(lambda x: fz.cond(x > 0, lambda a: a**2, lambda a: 3 * a, x))
    assert [float(gradient(np.float64(x))) for x in (2.0, -2.0)] == [4.0, 3.0]


@pytest.mark.parametrize(
    ("fn", "says"),
    [
        (lambda x: fz.cond(x.sum() > 0, lambda: x, lambda: (x, x)), "structure"),
        (lambda x: fz.cond(x.sum() > 0, lambda: "a", lambda: "b"), "'a'"),
        (lambda x: fz.while_loop(lambda s: s.sum() < 9, lambda s: (s, s), x), "structure"),
        (lambda x: fz.while_loop(lambda s: s.sum() < 9, lambda s: s > 0, x), "type in a step"),
        (lambda x: fz.cond(x.sum() > 0, lambda: fz.debug.print("{}", x), lambda: None), "fz.debug"),
    ],
)
def test_errors_say_what_is_wrong(fn, says):
    with pytest.raises(TypeError, match=says):
        fz.jit(fn)(x0)


def test_messages_come_in_order_at_each_call(capsys):
    @fz.jit
    def fn(x):
        fz.debug.print("first {}", x.sum())
        fz.debug.print("second {x}", x=x * 2)
        return x + 1

    for _ in range(2):
        fn(np.ones(2))
    assert capsys.readouterr().out == "first 2.0\nsecond [2. 2.]\n" * 2
    assert fn.cache_info().hits == 1


def test_messages_are_flushed(monkeypatch):
    class Stream(io.StringIO):
        flushed = ""

        def flush(self):
            self.flushed = self.getvalue()

    stream = Stream()
    monkeypatch.setattr(sys, "stdout", stream)
    fn = fz.jit(lambda x: [fz.debug.print("{}", x), fz.debug.callback(seen), x][2], mode="py")
    found = []

    def seen():
        found.append(stream.flushed)

    fn(np.float64(1.0)), fn(np.float64(2.0))
    assert found == ["1.0\n", "1.0\n2.0\n"]


def test_callbacks_take_trees():
    seen = []
    fn = fz.jit(lambda x: fz.debug.callback(seen.append, {"x": x * 2, "name": "a"}), mode="py")
    for x in (x0, x0 + 1):
        fn(x)
    assert [one["x"].tolist() for one in seen] == [(x0 * 2).tolist(), (x0 * 2 + 2).tolist()]
    assert seen[0]["name"] == "a"


def test_callbacks_of_mapped_functions_are_made_for_each_element(capsys):
    def fn(x, y):
        fz.debug.print("{} {}", x, y)
        fz.debug.print("then {}", x + 1)
        return x * y

    mapped = fz.vmap(fz.vmap(fn, in_axes=(0, None)), in_axes=(None, 0))
    for count in (2, 3):
        mapped(np.arange(2.0), np.arange(float(count)))
        shown = capsys.readouterr().out.splitlines()
        wanted = [(x, y) for y in range(count) for x in range(2)]
        assert shown == [line for x, y in wanted for line in (f"{x}.0 {y}.0", f"then {x + 1}.0")]


def test_a_callback_that_changes_what_is_read_is_refused_where_nothing_showed_it():
    weights = np.ones(3)
    hidden = [weights.__setitem__]

    def change(value):
        if value > 30:
            hidden[0](0, 7.0)

    def fn(x):
        fz.debug.callback(change, x.sum())
        return x * weights

    compiled = fz.jit(fn)
    assert compiled(x0).tolist() == x0.tolist()
    with pytest.raises(fz.SharpEdgeError, match="changed by a callback"):
        compiled(x0 + 20)
    assert compiled(x0).tolist() == (x0 * weights).tolist()
    assert "changed by a callback" in compiled.explain().uncacheable[0]
    assert compiled.cache_info().plain == 1


def test_a_change_that_another_thread_may_have_made_is_read_by_plain_python():
    weights, told = np.ones(3), []
    hidden = [weights.__setitem__]

    def change(value):
        told.append(value)
        if value > 30:
            hidden[0](0, 7.0)

    def fn(x):
        fz.debug.callback(change, x.sum())
        return x * weights

    compiled = fz.jit(fn)
    compiled(x0)
    done = threading.Event()
    other = threading.Thread(target=done.wait)
    other.start()
    try:
        assert compiled(x0 + 20).tolist() == ((x0 + 20) * weights).tolist()
    finally:
        done.set()
        other.join()
    assert weights[0] == 7.0
    assert told == [2.0, 62.0]
    assert compiled.cache_info().entries == 1


def test_threads_with_callbacks_get_results_that_python_could_give():
    told, held, layers = [], {"scale": 1.0}, [np.ones(2), np.ones(2)]

    def fn(x):
        fz.debug.callback(told.append, x.sum())
        for layer in layers:
            x = x * layer
        return x * held["scale"]

    compiled, found, x = fz.jit(fn, mode="py"), [], np.ones(2)
    compiled(x)

    def call():
        found.extend([float(compiled(x)[0]) for _ in range(60)])

    callers = [threading.Thread(target=call) for _ in range(8)]
    for thread in callers:
        thread.start()
    step = 0
    while any(thread.is_alive() for thread in callers):
        step += 1
        held["scale"] = float(1 + step % 3)
        layers[1] = np.full(2, float(1 + step % 2))
    for thread in callers:
        thread.join()
    assert set(found) <= {scale * layer for scale in (1.0, 2.0, 3.0) for layer in (1.0, 2.0)}
    assert len(found) == 480
    assert len(told) == 481


def test_a_callback_cannot_change_arrays_that_it_is_given():
    fn = fz.jit(lambda x: [fz.debug.callback(lambda a: a.fill(0.0), x), x][1])
    with pytest.raises(fz.SharpEdgeError, match="in place"):
        fn(x0)


@dataclass
class Box:
    value: object
    name: str


@pytest.mark.parametrize(
    ("make", "change"),
    [
        (lambda x: [x], lambda box: box.append(1.0)),
        (lambda x: {"a": x, "b": 2.0}, lambda box: box.update(a=5.0)),
        (lambda x: {"a": [x, 1.0]}, lambda box: box["a"].pop()),
        (lambda x: Box(x, "t"), lambda box: setattr(box, "name", "u")),
        (lambda x: {"a": 1.0, "b": x}, lambda box: box.update(a=box.pop("a"))),
    ],
)
def test_a_callback_cannot_change_containers_that_it_is_given(make, change):
    def fn(x):
        box = make(x)
        fz.debug.callback(change, box)
        return x * 2

    for _ in range(2):
        with pytest.raises(fz.SharpEdgeError, match="changed a container or object"):
            fz.jit(fn)(np.ones(2))


@pytest.mark.parametrize(
    "make", [lambda x: [x, 2.5, "t"], lambda x: {"a": (x, 1e300)}, lambda x: Box(x, "t")]
)
def test_callbacks_may_read_containers(make):
    seen = []
    fn = fz.jit(lambda x: [fz.debug.callback(lambda box: seen.append(str(box)), make(x)), x][1])
    for _ in range(3):
        fn(np.ones(2))
    assert len(seen) == 3
    assert fn.cache_info().misses == 1


def test_without_messages_no_python_is_called():
    def fn(x, say):
        if say:
            fz.debug.print("{}", x.sum())
        return np.exp(x) * 2

    compiled = fz.jit(fn, mode="cranelift")
    assert "call Callback" in compiled.lower(np.ones(3), True)
    assert "call" not in compiled.lower(np.ones(3), False)
