"""The rule for random variables: numbers of NumPy's generators, whose states the graph hands on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytensor.tensor.random.op import RandomVariable
from pytensor.tensor.type_other import NoneTypeT

import frazil.random
from frazil.interop.pytensor.foreign import performed
from frazil.interop.pytensor.integers import elements
from frazil.interop.pytensor.translation import Results, Translation, cast, rule

if TYPE_CHECKING:
    from pytensor.graph.basic import Apply
    from pytensor.graph.op import Op as PyTensorOp

_OTHERWISE = ("integers",)
"""Names of ops whose dtype or parameters are not those of NumPy's method."""


@rule(RandomVariable)
def _random(op: PyTensorOp, node: Apply, t: Translation) -> Results:
    rng, size, *parameters = node.inputs
    draw = getattr(frazil.random, op.name or "", None)
    numpys = type(op).rng_fn is RandomVariable.rng_fn and op.ndim_supp == 0
    lengths = None if isinstance(size.type, NoneTypeT) else elements(size, t)
    unknown = lengths is None and not isinstance(size.type, NoneTypeT)
    if draw is None or not numpys or unknown or op.name in _OTHERWISE:
        # PyTensor draws by SciPy, or by several calls of NumPy.
        return performed(node, t, warn=False)
    state, drawn = draw(t[rng], *(t[x] for x in parameters), size=lengths)
    return [state, cast(drawn, node.outputs[1].type.dtype)]
