"""An op that tells how often it was computed."""

from dataclasses import dataclass

import frazil as fz

COUNTS = {}


@dataclass(frozen=True, eq=False)
class Counted(fz.Op):
    """Twice its input; counts its calls, and those of its gradient, by its name."""

    name: str

    def make_node(self, x):
        return fz.FrozenApply(self, [x], [x.type])

    def perform(self, node, inputs):
        COUNTS[self.name] = COUNTS.get(self.name, 0) + 1
        return (inputs[0] * 2,)

    def infer_shape(self, node, input_shapes):
        return (input_shapes[0],)

    def L_op(self, inputs, outputs, output_gradients):
        return [Counted(f"gradient of {self.name}")(output_gradients[0])]


def counts(f, *values):
    COUNTS.clear()
    f(*values)
    return dict(COUNTS)
