"""What takes the place of a variable has the lengths that its type told, whatever that is."""

import numpy as np
import pytest

import frazil as fz
import frazil.tensor as ft
from frazil.inner.successors import Successors
from frazil.rewrite import Float, rewrite, rule

LINKERS = ["c", "cranelift", "numba", "py"]
V, C = ft.dvector("v"), ft.iscalar("c")
THREE = ft.tensor(dtype="float64", shape=(3,))
SUMS = fz.OpFromGraph([THREE], [ft.cumsum(THREE)])
ZERO = ft.constant(0.0)


def scan(step, sequences=None, start=None, **options):
    return fz.scan(step, sequences, start, return_updates=False, **options)


# Scans of three steps along a vector of any length, and what they give.
SCANS = {
    "of elements": (lambda: scan(ft.sin, V, n_steps=3), lambda v: np.sin(v[:3])),
    "of nothing": (lambda: scan(lambda x: x, V, n_steps=3), lambda v: v[:3]),
    "backwards": (
        lambda: scan(ft.sin, V, n_steps=3, go_backwards=True),
        lambda v: np.sin(v[:-4:-1]),
    ),
    "with a state": (
        lambda: scan(lambda x, s: s + x, V, ZERO, n_steps=3),
        lambda v: np.cumsum(v[:3]),
    ),
    "within an op": (
        lambda: fz.OpFromGraph([V], [scan(ft.sin, V, n_steps=3)])(V),
        lambda v: np.sin(v[:3]),
    ),
}
# Ops that take three numbers and nothing else.
USES = {
    "an op": (SUMS, np.cumsum),
    "a choice": (lambda y: fz.ifelse(C, y, ft.cumsum(y)), lambda y: y),
    "a choice of an op": (lambda y: fz.ifelse(C, SUMS(y), y), np.cumsum),
    "the same in all steps": (
        lambda y: scan(lambda s: s + SUMS(y), None, ft.zeros(3), n_steps=2)[-1],
        lambda y: 2 * np.cumsum(y),
    ),
    "the start": (lambda y: scan(SUMS, None, y, n_steps=2)[-1], lambda y: np.cumsum(np.cumsum(y))),
    "the sequence": (lambda y: scan(lambda a, s: s + a, y, ZERO), np.cumsum),
}


@pytest.mark.parametrize("linker", LINKERS)
@pytest.mark.parametrize("name", SCANS)
def test_a_scan_of_known_steps_along_an_unknown_length_goes_anywhere(name, linker):
    make, expected = SCANS[name]
    y = make()
    assert y.type.shape == (3,)
    outputs = [use(y) for use, _ in USES.values()]
    gradients = [fz.grad((one**2).sum(), V) for one in (y, SUMS(y))]
    outputs += [fz.grad((g**3).sum(), V) for g in gradients]
    f = fz.function([C, V], outputs, mode=linker)
    g = fz.function([C, V], outputs, mode=fz.Mode("py").excluding("all"))
    v = np.array([0.5, -1.0, 2.0, 0.25])
    if name == "backwards":
        v = v[:3]
    made = expected(v)
    found = f(1, v)
    for (use, (_, value)), one in zip(USES.items(), found, strict=False):
        np.testing.assert_allclose(one, value(made), err_msg=use)
    for one, plain in zip(found, g(1, v), strict=True):
        np.testing.assert_allclose(one, plain)


@pytest.mark.parametrize("linker", LINKERS)
def test_a_sequence_of_fewer_elements_than_known_steps_is_an_error(linker):
    f = fz.function([V], SCANS["of elements"][0](), mode=linker)
    with pytest.raises(ValueError, match=r"length (is )?2"):
        f(np.ones(2))


@pytest.mark.parametrize("linker", LINKERS)
def test_what_was_dropped_and_added_again_is_told_to_have_length_one(linker):
    X = ft.dmatrix("X")
    f = fz.function([X], ft.stack([ft.squeeze(X[:1], 0)]), mode=linker)
    np.testing.assert_array_equal(f(np.ones((2, 3))), np.ones((1, 3)))


def test_a_right_side_that_says_less_is_not_taken():
    @rule
    def forget(x: Float):
        """exp(x) is some vector."""
        return ft.exp(x), lambda node, x: ft.dvector("y")

    known, unknown = ft.exp(THREE), ft.exp(V)
    assert rewrite(known, [forget]).graph is known
    assert rewrite(unknown, [forget]).graph is not unknown

    @rule
    def mistake(x: Float):
        """exp(x) is four numbers."""
        return ft.exp(x), lambda node, x: ft.tensor("y", dtype="float64", shape=(4,))

    with pytest.raises(TypeError, match="rule mistake gives a variable of type"):
        rewrite(known, [mistake])


def test_no_successor_says_less():
    y = ft.exp(THREE)
    made = Successors()
    made.put([THREE], [V])
    made.apply(y.owner)
    assert made[THREE].type == THREE.type
    assert made[y].type == y.type
    assert Successors(after=made)[y] is made[y]
    for other in (ft.fvector(), ft.dmatrix(), ft.tensor(dtype="float64", shape=(4,))):
        with pytest.raises(TypeError, match="cannot take the place"):
            made.put([THREE], [other])


@pytest.mark.parametrize("linker", ["py", "c", "cranelift"])
def test_an_op_with_a_graph_takes_a_state_of_which_a_step_says_less(linker):
    x, v, order = ft.tensor("x", shape=(3,)), ft.tensor(shape=(3,)), ft.lvector("order")
    double = fz.OpFromGraph([v], [v * 2])

    def step(state):
        return double(state)[order]

    rows = fz.scan(step, outputs_info=x, n_steps=2, return_updates=False)
    f = fz.function([x, order], rows, mode=linker)
    np.testing.assert_array_equal(f([1.0, 2.0, 3.0], [1, 2, 0]), [[4, 6, 2], [12, 4, 8]])
    with pytest.raises(ValueError, match="state"):
        f([1.0, 2.0, 3.0], [1, 2])
