"""Arrays in containers that are operands of traced ones, and which code reads otherwise, too."""

import numpy as np
from capture_cases import Box, X, case, seen


def calls(jit, f, w):
    """What calls give while an array changes in place."""
    f = jit(f)
    found = [seen(f, X)]
    for _ in range(3):
        w[0] += 1.0
        found += [seen(f, X), seen(f, X)]
    return found


@case("bound", "raises")
def container_that_is_a_default_too(jit):
    weights = [np.ones(2)]

    def f(x, other=weights):
        return x * weights[0] + other[0].sum()

    return calls(jit, f, weights[0])


@case("bound", "raises")
def array_that_is_a_default_too(jit):
    w = np.ones(2)
    weights = [w]

    def f(x, other=w):
        return x * weights[0] + float(other.sum())

    return calls(jit, f, w)


@case("bound", "raises")
def container_whose_method_is_captured_too(jit):
    weights = [np.ones(2)]
    element = weights.__getitem__

    def f(x):
        return x * weights[0] + element(0).sum()

    return calls(jit, f, weights[0])


@case("bound", "raises")
def container_that_the_body_of_a_class_reads(jit):
    weights = [np.ones(2)]

    def f(x):
        class Local:
            total = weights[0].sum()

        return x * weights[0] + Local.total

    return calls(jit, f, weights[0])


@case("bound", "raises")
def array_of_a_class_above(jit):
    class Base:
        weights = np.ones(2)

        def scaled(self, x):
            return x * self.weights

    class Model(Base):
        def __call__(self, x):
            return self.scaled(x) + super().weights.sum()

    return calls(jit, Model().__call__, Base.weights)


@case("bound", "raises")
def element_that_is_compared_with_none_alone(jit):
    params = {"w": np.ones(2), "bias": np.ones(2)}
    f = jit(lambda x: x * params["w"] if params["bias"] is None else x * params["w"] + 1)
    found = [seen(f, X), seen(f, X)]
    params["bias"] = None
    found += [seen(f, X), seen(f, X)]
    params["bias"] = np.zeros(2)
    return [*found, seen(f, X)]


@case("bound", "raises")
def attribute_and_element_that_may_be_none(jit):
    box = Box([(np.ones(2), None), (np.ones(2), np.ones(2))])
    box.shift = np.ones(2)

    def f(x):
        if box.shift is not None:
            x = x + 1
        for w, b in box.value:
            if b is not None:
                x = x + w
        return x

    f = jit(f)
    found = [seen(f, X), seen(f, X)]
    box.value[1] = (np.ones(2), None)
    found += [seen(f, X), seen(f, X)]
    box.shift = None
    return [*found, seen(f, X), seen(f, X)]


@case("bound", "raises")
def attribute_that_a_text_formats(jit):
    box, form = Box(np.ones(2)), "{.value[0]}"

    def f(x):
        return x * box.value + float(form.format(box))

    return calls(jit, f, box.value)
