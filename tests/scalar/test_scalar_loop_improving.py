"""Loops of elements made better in the graphs that use them: results stay, loops become fewer."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft
from frazil.scalar import ScalarLoop
from frazil.scalar.elemwise import Elemwise

MODES = ("py", "c", "cranelift", "numba", "debug")


def loops_of(f):
    return [
        node.op.scalar_op
        for node in f.optimized.toposort()
        if isinstance(node.op, Elemwise) and isinstance(node.op.scalar_op, ScalarLoop)
    ]


def as_written(mode="py"):
    return fz.Mode(linker=mode).excluding("scan")


@st.composite
def systems(draw):
    """Two loops that take the same steps: the second has the states of the first and others."""
    states = [ft.scalar() for _ in range(draw(st.integers(1, 3)))]
    more = [ft.scalar() for _ in range(draw(st.integers(0, 2)))]
    constants = [ft.scalar() for _ in range(draw(st.integers(0, 2)))]

    def drawn(of):
        x, y = draw(st.sampled_from(of)), draw(st.sampled_from(of))
        return draw(st.sampled_from([x * 0.5 + y, x - y, ft.maximum(x, y), x]))

    own = [*states, *constants]
    updates = [drawn(own) for _ in states]
    further = [drawn([*own, *more]) for _ in more]
    until = draw(st.sampled_from(own)) > 2 if draw(st.booleans()) else None
    first = ScalarLoop(states, updates, constants, until)
    order = draw(st.permutations(range(len(states) + len(more))))
    both, all_updates = [*states, *more], [*updates, *further]
    second = ScalarLoop(
        [both[at] for at in order], [all_updates[at] for at in order], constants, until
    )
    return first, second, order, len(constants)


def applied(op, *operands):
    made = op(*operands)
    return made if isinstance(made, list) else [made]


@settings(max_examples=20)
@given(systems(), st.integers(-1, 5), st.data())
def test_loops_that_take_the_same_steps_become_one(system, n_steps, data):
    first, second, order, n_constants = system
    x = [ft.vector() for _ in range(data.draw(st.integers(1, 3)))]
    starts = [x[0], *(data.draw(st.sampled_from([*x, 1.5])) for _ in order[1:])]
    constants = [data.draw(st.sampled_from(x)) for _ in range(n_constants)]
    a = applied(first, n_steps, *starts[: first.n_states], *constants)
    b = applied(second, n_steps, *(starts[at] for at in order), *constants)
    values = [np.linspace(-2, 3, 9) * (k + 1) for k in range(len(x))]

    def compiled(mode):
        return fz.function(x, [*a, *b], mode=mode, on_unused_input="ignore")

    assert len(loops_of(compiled("py"))) == 1
    wanted = compiled(as_written())
    for mode in ("py", "c", "cranelift", "numba"):
        for got, want in zip(compiled(mode)(*values), wanted(*values), strict=True):
            np.testing.assert_array_equal(got, want)


def test_a_value_and_its_gradients_are_one_loop():
    s, c = ft.scalar(), ft.scalar()
    op = ScalarLoop([s], [ft.sin(s) * c], [c], until=ft.abs(s) < 1e-3)
    x, y = ft.vector(), ft.vector()
    value, done = op(10, x, y)
    gradients = [fz.grad(ft.sum(value), [x])[0], fz.grad(ft.sum(value), [y])[0]]
    given = np.linspace(0.5, 2, 7), np.linspace(1, 2, 7)
    wanted = fz.function([x, y], [value, done, *gradients], mode=as_written())
    assert len(loops_of(wanted)) == 3
    for mode in MODES:
        f = fz.function([x, y], [value, done, *gradients], mode=mode)
        for got, want in zip(f(*given), wanted(*given), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-10)
    (loop,) = loops_of(fz.function([x, y], [value, done, *gradients], mode="py"))
    assert loop.n_states == 3


def test_a_loop_of_another_ones_results_stays_apart():
    s = ft.scalar()
    op = ScalarLoop([s, t := ft.scalar()], [s * 0.5, s + t])
    x = ft.vector()
    first, second = op(4, x, x)
    again = op(4, x, second)[1]
    for mode in MODES:
        f = fz.function([x], [first, second, again], mode=mode)
        got = f([1.0, 2.0])
        np.testing.assert_allclose(got[0], [0.0625, 0.125])
        np.testing.assert_allclose(got[2], got[1] + got[1] - [1.0, 2.0])


def test_loops_that_end_differently_stay_apart():
    s, c = ft.scalar(), ft.scalar()
    x = ft.vector()
    made = [ScalarLoop([s], [s * 2], until=s * 2 > limit)(50, x)[0] for limit in (10.0, 100.0)] + [
        ScalarLoop([s], [s * 2], [c], until=s * 2 > c)(50, x, limit)[0] for limit in (10.0, x)
    ]
    for mode in MODES:
        f = fz.function([x], made, mode=mode)
        np.testing.assert_array_equal(f([1.0, 3.0]), [[16, 12], [128, 192], [16, 12], [2, 6]])


def test_loops_that_have_little_in_common_stay_apart():
    s, k = ft.scalar(), ft.scalar()
    x = ft.vector()
    made = [
        ScalarLoop([s, k], [body(s, k), k + 1])(5, x, 0.0)[0]
        for body in (lambda s, k: ft.sin(s * k) + ft.exp(-s), lambda s, k: ft.cos(k - s) * s * 2)
    ]
    f = fz.function([x], made, mode="py")
    assert [loop.n_states for loop in loops_of(f)] == [2, 2]
    wanted = fz.function([x], made, mode=as_written())([0.5, 1.0])
    for mode in MODES:
        for got, want in zip(fz.function([x], made, mode=mode)([0.5, 1.0]), wanted, strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-12)


@pytest.mark.parametrize("mode", MODES)
def test_states_that_nobody_needs_go(mode):
    s, t, u = ft.scalar(), ft.scalar(), ft.scalar()
    op = ScalarLoop([s, t, u], [s * 0.5, t + s, u + ft.exp(t)], until=t > 1e6)
    x, y = ft.vector(), ft.vector()
    f = fz.function([x, y], op(3, x, y, y)[0], mode=mode)
    assert f([8.0, 16.0], [0.0, 1.0]).tolist() == [1, 2]
    g = fz.function([x, y], op(3, x, y, y)[0], mode="py")
    assert [loop.n_states for loop in loops_of(g)] == [2]  # t ends the loop
    with pytest.raises(ValueError, match="lengths"):
        g([8.0, 16.0], [0.0, 1.0, 2.0])
    with pytest.raises(ValueError, match="length"):
        f([8.0, 16.0], [0.0, 1.0, 2.0])
    row = ft.tensor(shape=(1,))
    h = fz.function([x, row], op(3, row, x, x)[0], mode=mode)
    assert h([1.0, 2.0, 3.0], [8.0]).tolist() == [1, 1, 1]


def test_only_the_condition_of_a_loop():
    s = ft.scalar()
    x = ft.vector()
    done = ScalarLoop([s, ft.scalar()], [s * 2, s], until=s > 5)(4, x, 0.0)[-1]
    for mode in MODES:
        assert fz.function([x], done, mode=mode)([0.1, 1.0]).tolist() == [False, True]
