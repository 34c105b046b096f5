"""Random graphs with updates, views, buffers of their own and loops."""

from hypothesis import strategies as st

import frazil.tensor as ft

N = 6


def draw_graph(data):
    """Two inputs, and a list of vectors and matrices computed from them by many kinds of ops."""
    x, y = ft.dvector("x"), ft.dmatrix("y")
    vectors, matrices = [x], [y]

    def vector():
        return data.draw(st.sampled_from(vectors))

    def matrix():
        return data.draw(st.sampled_from(matrices))

    def part(length):
        start = data.draw(st.integers(1, length - 1))
        step = data.draw(st.sampled_from([1, 1, 2, -1]))
        return slice(None, start, step) if step < 0 else slice(start, None, step)

    def updated(tensor):
        index = part(2) if tensor.ndim == 2 else part(N)
        target = tensor[index]
        other = matrix() if tensor.ndim == 2 else vector()
        value = data.draw(st.sampled_from([other[index], other[index] * 2.0, 3.0]))
        change = ft.set_subtensor if data.draw(st.booleans()) else ft.inc_subtensor
        return change(target, value)

    def scattered(tensor):
        length = 2 if tensor.ndim == 2 else N
        at = data.draw(st.lists(st.integers(-length, length - 1), min_size=1, max_size=4))
        other = matrix() if tensor.ndim == 2 else vector()
        value = data.draw(st.sampled_from([other[at], ft.exp(-other[0]), 3.0]))
        change = ft.set_subtensor if data.draw(st.booleans()) else ft.inc_subtensor
        return change(tensor[at], value)

    def fresh():
        made = st.sampled_from([ft.zeros(N), ft.full(N, x[0]), ft.distinct(vector())])
        return vectors.append(data.draw(made))

    steps = {
        "update": lambda: vectors.append(updated(vector())),
        "update rows": lambda: matrices.append(updated(matrix())),
        "scatter": lambda: vectors.append(scattered(vector())),
        "scatter rows": lambda: matrices.append(scattered(matrix())),
        "loop": lambda: vectors.append(ft.sin(vector()) + vector()),
        "loop over rows": lambda: matrices.append(matrix() - ft.cos(matrix())),
        "sum": lambda: vectors.append(vector() * vector().sum()),
        "view": lambda: vectors.append(vector()[::-1]),
        "transposed": lambda: matrices.append(matrix().T.reshape((2, N // 2))),
        "repeated": lambda: matrices.append(ft.broadcast_to(vector()[: N // 2], (2, N // 2))),
        "rows": lambda: matrices.append(vector().reshape((2, N // 2))),
        "row": lambda: vectors.append(matrix().reshape((N,))),
        "fresh": fresh,
        "product": lambda: vectors.append(ft.dot(matrix(), vector()[: N // 2]).sum() + vector()),
    }
    for _ in range(data.draw(st.integers(1, 10))):
        steps[data.draw(st.sampled_from(sorted(steps)))]()
    made = [*vectors[1:], *matrices[1:]]
    outputs = data.draw(st.lists(st.sampled_from(made), min_size=1, max_size=4))
    return [x, y], outputs
