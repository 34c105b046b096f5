"""Random graphs of all that linkers fuse and of what they do not."""

from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft


class Doubled(fz.Op):
    """What no linker but ``py`` knows."""

    def make_node(self, x):
        return fz.FrozenApply(self, [x], [x.type])

    def perform(self, node, inputs):
        return (inputs[0] * 2.0,)

    def infer_shape(self, node, shapes):
        return shapes


KINDS = {
    "apply": lambda a, b: ft.tanh(a) + b,
    "cheap": lambda a, b: a * 0.5 - b,
    "softmax": lambda a, b: ft.softmax(a, axis=-1),
    "centred": lambda a, b: (a - a.mean(axis=1, keepdims=True)) * b,
    "columns": lambda a, b: a / (1.0 + ft.exp(b).sum(axis=0)),
    "total": lambda a, b: a * ft.sin(b).sum(),
    "outer": lambda a, b: a[:, 0][:, None] * b[0][None, :],
    "product": lambda a, b: ft.dot(a, b.T) @ b * 1e-3,
    "gather": lambda a, b: ft.tanh(b)[ft.arange(a.shape[0]) % 2 - 1] + a,
    "scatter": lambda a, b: ft.inc_subtensor(a[ft.arange(2) % a.shape[0]], b[0] * 0.5),
    "update": lambda a, b: ft.set_subtensor(a[1:], b[:-1]),
    "running": lambda a, b: ft.cumsum(a, axis=1) - b,
    "filled": lambda a, b: ft.full_like(a, 0.25) + ft.zeros((a.shape[0], 1)) * b,
    "turned": lambda a, b: a.T.reshape(a.shape) + b[::-1],
    "foreign": lambda a, b: Doubled()(a) - b,
}
STEP = st.tuples(st.sampled_from(sorted(KINDS)), st.integers(0, 63), st.integers(0, 63))
RECIPES = st.tuples(
    st.lists(STEP, min_size=1, max_size=8), st.lists(st.integers(0, 63), min_size=1, max_size=3)
)


def build(recipe):
    """Two matrices of one shape, and some of what the recipe makes of them."""
    steps, chosen = recipe
    inputs = [ft.dmatrix("x"), ft.dmatrix("y")]
    made = list(inputs)
    for kind, left, right in steps:
        made.append(KINDS[kind](made[left % len(made)], made[right % len(made)]))
    return inputs, [made[at % len(made)] for at in chosen]
