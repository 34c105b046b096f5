"""Generators move on: no number is drawn twice, whatever is compiled, copied, looped or called."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Thread

import numpy as np
import pytest
from distributions import BIT_GENERATORS
from hypothesis import given
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft
from frazil import random

SEED = 42


@pytest.fixture
def generator():
    return np.random.default_rng(SEED)


@pytest.mark.parametrize("kind", BIT_GENERATORS)
@given(seed=st.integers(0, 2**64), drawn=st.integers(0, 700), halves=st.integers(0, 3))
def test_a_state_is_the_whole_generator(kind, seed, drawn, halves):
    generator = np.random.Generator(kind(seed))
    generator.random(drawn)
    for _ in range(halves):
        generator.integers(5, dtype="uint32")
    state = random.state_of(generator)
    again = random.generator_of(state)
    assert type(again.bit_generator) is kind
    assert random.state_of(again).tobytes() == state.tobytes()
    for method in (lambda g: g.integers(9, size=3, dtype="uint8"), lambda g: g.random(3)):
        assert method(again).tolist() == method(generator).tolist()


def test_other_bit_generators_are_refused():
    class Own(np.random.PCG64):
        pass

    with pytest.raises(TypeError, match="no array form"):
        random.state_of(Own(1))


def test_calls_go_on_where_the_last_one_stopped(mode, generator):
    stream = random.default_rng(SEED)
    f = fz.function([], [stream.normal(size=2), stream.integers(5), stream.random(3)], mode=mode)
    for _ in range(3):
        a, b, c = f()
        assert a.tolist() == generator.normal(size=2).tolist()
        assert b == generator.integers(5)
        assert c.tolist() == generator.random(3).tolist()
    assert stream.rng.get_value().tolist() == random.state_of(generator).tolist()
    assert stream.generator.random() == generator.random()


def test_functions_of_one_stream_share_it(generator):
    stream = random.default_rng(SEED)
    x, y = stream.random(2), stream.random(2)
    f, g = fz.function([], x), fz.function([], y)
    assert f().tolist() == generator.random(2).tolist()
    generator.random(2)  # stands before y
    assert g().tolist() == generator.random(2).tolist()
    assert f().tolist() == generator.random(2).tolist()


def test_updates_that_are_given_hold():
    rng = random.shared_rng(SEED)
    next_rng, x = random.random(rng)
    still = fz.function([], x, updates={rng: rng})
    assert still() == still()
    _, other = random.random(next_rng)
    both = fz.function([], x, updates={rng: random.random(next_rng)[0]})
    generator = np.random.default_rng(SEED)
    first = both()
    assert first == generator.random()
    generator.random()
    assert fz.function([], other, updates={rng: rng})() != first
    assert both() == generator.random()


def test_one_state_twice_is_refused_unless_it_is_meant():
    rng = random.shared_rng(SEED)
    a, b = random.random(rng)[1], random.normal(rng)[1]
    with pytest.raises(ValueError, match="from which another draw starts"):
        fz.function([], a + b)
    f = fz.function([], [a, random.random(rng)[1]], updates={rng: random.random(rng)[0]})
    first, second = f()
    assert first == second
    assert f()[0] != first


def test_a_state_without_a_variable_gives_the_same_numbers():
    state = random.state_of(SEED)
    f = fz.function([], random.random(state, 3)[1], mode="c")
    assert f().tolist() == f().tolist() == np.random.default_rng(SEED).random(3).tolist()
    assert "draw" in str(f.explain())  # it is not folded to an array of the program


def test_a_scan_carries_the_state(mode, generator):
    rng = random.shared_rng(SEED)

    def step(x, state):
        state, noise = random.normal(state)
        return x + noise, state

    (walk, states), _ = fz.scan(step, outputs_info=[ft.constant(0.0), rng], n_steps=5)
    f = fz.function([], walk, updates={rng: states[-1]}, mode=mode)
    for _ in range(2):
        expected = np.cumsum([generator.normal() for _ in range(5)])
        assert f().tolist() == expected.tolist()


def test_a_scan_of_draws_is_differentiated_with_the_numbers_it_drew(mode):
    rng, scale = random.shared_rng(SEED), ft.dscalar("scale")

    def step(x, state, scale):
        state, z = random.standard_normal(state)
        return x / 2 + scale * z, state

    start = [ft.constant(0.0), rng]
    (xs, states), _ = fz.scan(step, outputs_info=start, non_sequences=[scale], n_steps=4)
    outputs = [xs[-1], fz.grad(xs[-1], scale)]
    f = fz.function([scale], outputs, updates={rng: states[-1]}, mode=mode)
    for _ in range(2):
        x, slope = f(2.0)
        assert x != 0
        assert x / 2 == pytest.approx(slope)


@pytest.mark.parametrize("kind", [random.default_rng, random.RandomStream])
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))])
def test_a_copy_of_a_stream_goes_on_from_where_it_was(kind, copied):
    stream = kind(SEED)
    first = stream.normal(size=2)
    other = copied(stream)
    draws = [each.normal(size=2) for each in (stream, other)]
    f, g = (fz.function([], draw) for draw in draws)
    wanted = f().tolist()
    assert g().tolist() == wanted != fz.function([], first)().tolist()
    assert [len(each.updates()) for each in (stream, other)] == [len(stream.updates())] * 2
    stream.seed(1)
    assert g().tolist() != wanted
    other.seed(1)
    assert g().tolist() == f().tolist()


def test_a_pickle_keeps_what_a_stream_drew():
    stream = random.default_rng(SEED)
    stream, x, y = pickle.loads(pickle.dumps((stream, stream.normal(), stream.normal())))
    f = fz.function([], [x, y])
    assert f() == list(np.random.default_rng(SEED).normal(size=2))
    assert stream.generator.normal() == np.random.default_rng(SEED).normal(size=3)[2]


def test_a_stream_within_a_scan_is_refused():
    stream = random.default_rng(SEED)
    for step in (lambda x: x + stream.normal(), lambda x: stream.normal(x)):
        with pytest.raises(ValueError, match="a state of the scan"):
            fz.scan(step, sequences=ft.dvector())
    assert stream.next_rng is stream.rng


def test_the_state_of_a_generator_within_a_scan_is_refused_unless_it_is_updated():
    rng, xs = random.shared_rng(SEED), ft.dvector("xs")
    ys, _ = fz.scan(lambda x: random.normal(rng, x)[1], sequences=xs)
    with pytest.raises(ValueError, match="draws in its inner graph"):
        fz.function([xs], ys)
    f = fz.function([xs], ys, updates={rng: rng})  # the same number in each step
    assert np.ptp(f([1.0, 1.0])) == 0


def test_a_step_may_update_the_generator(mode, generator):
    rng, xs = random.shared_rng(SEED), ft.dvector("xs")

    def step(x):
        next_rng, y = random.normal(rng, x)
        return y, {rng: next_rng}

    ys, updates = fz.scan(step, sequences=xs)
    f = fz.function([xs], ys, updates=updates, mode=mode)
    for _ in range(2):
        assert f([1.0, 5.0]).tolist() == generator.normal([1.0, 5.0]).tolist()


def test_an_op_from_graph_moves_the_generator_on(mode, generator):
    rng, state, scale = random.shared_rng(SEED), random.shared_rng(0).type("state"), ft.scalar()
    middle, x = random.normal(state, 0, scale, size=2)
    after, y = random.random(middle, 3)
    op = fz.OpFromGraph([scale, state], [y, after, x])
    outer = fz.OpFromGraph([state, scale], [*op(scale, state)])
    for build in (lambda s, r: op(s, r), lambda s, r: outer(r, s)):
        rng.set_value(random.shared_rng(SEED).get_value())
        wanted = np.random.Generator(type(generator.bit_generator)(0))
        wanted.bit_generator.state = np.random.default_rng(SEED).bit_generator.state
        numbers, next_rng, normal = build(scale, rng)
        _, last = random.normal(next_rng)
        f = fz.function([scale], [normal, numbers, last], mode=mode)
        for _ in range(2):
            found = f(2.0)
            expected = [wanted.normal(0, 2, 2), wanted.random(3), wanted.normal()]
            for one, other in zip(found, expected, strict=True):
                assert one.tolist() == np.asarray(other).tolist()


def test_an_op_from_graph_that_keeps_the_state_is_refused():
    rng, state = random.shared_rng(SEED), random.shared_rng(0).type("state")
    hidden = fz.OpFromGraph([state], [random.normal(state)[1]])
    two = fz.OpFromGraph([state], [*random.normal(state), random.random(state)[1]])
    stream = random.default_rng(SEED)
    x = ft.scalar("x")
    within = fz.OpFromGraph([x], [x + stream.normal()])
    for outputs, inputs in ((hidden(rng), []), (two(rng), []), (within(x), [x])):
        with pytest.raises(
            ValueError, match="returns the one after its last draw needs no updates"
        ):
            fz.function(inputs, outputs)
    (one, other) = (op(rng)[1] for op in (fz.OpFromGraph([state], random.normal(state)),) * 2)
    assert one is other


def test_branches_draw_from_their_states(mode, generator):
    stream, wanted = random.default_rng(SEED), ft.scalar("wanted", dtype="bool")
    x = fz.ifelse(wanted, stream.normal(size=2), stream.random(2))
    f = fz.function([wanted], x, mode=mode)
    for value in (True, False, True):
        both = generator.normal(size=2), generator.random(2)
        assert f(value).tolist() == both[not value].tolist()


@pytest.mark.parametrize("mode", ["py", "c"])
def test_no_number_twice_in_eight_threads(mode):
    stream = random.default_rng(SEED)
    f = fz.function([], stream.random(2), mode=mode)
    with ThreadPoolExecutor(8) as pool:
        calls = list(pool.map(lambda _: f().tolist(), range(64)))
    expected = np.random.default_rng(SEED).random((64, 2)).tolist()
    assert sorted(calls) == sorted(expected)


def test_no_state_twice_in_eight_threads_that_build():
    stream = random.default_rng(SEED)
    drawn = []
    threads = [
        Thread(target=lambda: drawn.extend(stream.random() for _ in range(10))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    values = fz.function([], drawn, mode="py")()
    assert sorted(map(float, values)) == sorted(np.random.default_rng(SEED).random(80).tolist())


def test_functions_and_states_pickle(generator):
    stream = random.default_rng(SEED)
    f = fz.function([], stream.normal(size=3))
    f()
    generator.normal(size=3)
    again = pickle.loads(pickle.dumps(f))
    expected = generator.normal(size=3).tolist()
    assert again().tolist() == expected
    assert f().tolist() == expected  # each has a generator of its own


def test_generators_of_their_own(mode):
    def expected(seed, calls):
        seeds = np.random.SeedSequence(seed).spawn(2)
        own = [np.random.default_rng(seed) for seed in seeds]
        return [(own[0].normal(size=2).tolist(), own[1].random()) for _ in range(calls)]

    stream = random.RandomStream(SEED)
    x, y = stream.normal(size=2), stream.random()
    f = fz.function([], [x, y], mode=mode)
    assert [(a.tolist(), float(b)) for a, b in (f(), f())] == expected(SEED, 2)
    stream.seed(1)
    only_y = fz.function([], y, mode=mode)
    assert only_y() == expected(1, 1)[0][1]
    (a, b), (_, after) = f(), expected(1, 2)[1]
    assert (a.tolist(), float(b)) == (expected(1, 1)[0][0], after)
    assert [rng for rng, _ in stream.updates()] == [x.owner.inputs[0], y.owner.inputs[0]]
    with pytest.raises(ValueError, match="a state of the scan"):
        fz.scan(lambda x: x + stream.normal(), sequences=ft.dvector())


def test_a_mode_that_checks_every_node_finds_no_fault():
    stream = random.default_rng(SEED)
    drawn = [stream.normal(size=3), stream.multinomial(5, [0.2, 0.8]), stream.permutation(4)]
    f = fz.function([], drawn, mode="debug")
    generator = np.random.default_rng(SEED)
    for _ in range(2):
        expected = [generator.normal(size=3), generator.multinomial(5, [0.2, 0.8])]
        expected.append(generator.permutation(4))
        assert [x.tolist() for x in f()] == [x.tolist() for x in expected]


def test_parts_of_what_is_drawn_are_drawn_together():
    # A draw of fewer numbers would leave another state.
    stream = random.default_rng(SEED)
    f = fz.function([], stream.normal(size=10)[:2], mode="c")
    generator = np.random.default_rng(SEED)
    for _ in range(2):
        assert f().tolist() == generator.normal(size=10)[:2].tolist()


PROGRAM = """
import frazil as fz
from frazil import random

f = fz.function([], random.default_rng(42).normal(size=2), mode="c")
print(f().tolist())
assert not f.program.functions
"""


def test_another_process_draws_by_the_program_of_the_cache(tmp_path, generator):
    environment = os.environ | {"FRAZIL_CACHE_DIR": str(tmp_path / "cache")}
    for _ in range(2):
        command = [sys.executable, "-c", PROGRAM]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, env=environment, cwd=tmp_path
        )
        assert done.stdout == f"{generator.normal(size=2).tolist()}\n", done.stderr
        generator = np.random.default_rng(SEED)
        entries = sorted(path.name for path in (tmp_path / "cache").rglob("*") if path.is_file())
        assert entries
