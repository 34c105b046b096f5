"""Arrays of numbers at which a case is defined, away from its edges."""

import numpy as np
from drawn_operands import finite, values

LENGTHS = (2, 3, 4, 5)


def points(case, dtype):
    """Arrays on which NumPy's function is defined: real numbers where any will do.

    A length is 1 where no other is taken: a standard deviation of one number has no gradient.
    """
    for seed in range(100):
        rng = np.random.default_rng(seed)
        lengths = LENGTHS if seed < 50 else (1, *LENGTHS)
        known = {letter: rng.choice(lengths) for one in case.operands for letter in one.dims}
        arrays = []
        for one in case.operands:
            shape = tuple(int(c) if c.isdigit() else known[c] for c in one.dims)
            own = one.dtype or dtype
            made = rng.normal(size=shape) if moves(one, own) else one.fill(rng, shape, own)
            arrays.append(np.asarray(made, own))
        expected = case.expected(arrays)
        if not isinstance(expected, Exception) and all(np.isfinite(y).all() for y in expected):
            return arrays
    raise AssertionError(f"nothing drawn is in the domain of {case.name!r}")


def moves(operand, dtype):
    """Whether any number near that of a point is as good."""
    return operand.fill in (values, finite) and np.dtype(dtype).kind == "f"
