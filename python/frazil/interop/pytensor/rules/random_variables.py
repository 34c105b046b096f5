"""The rule for random variables: NumPy draws them, from a state that the graph hands on."""

from __future__ import annotations

from typing import Any

from pytensor.tensor.random.op import RandomVariable

from frazil.interop.pytensor.foreign import performed
from frazil.interop.pytensor.translation import Results, Translation, rule


@rule(RandomVariable)
def _random(op: Any, node: Any, t: Translation) -> Results:
    return performed(node, t, warn=False)
