"""Python's operators, by the names of their methods, as NumPy's ufuncs."""

import numpy as np

AUGMENTED = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "truediv": np.true_divide,
    "floordiv": np.floor_divide,
    "mod": np.remainder,
    "pow": np.power,
    "matmul": np.matmul,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}
"""Operators that have an augmented form, such as ``+=``."""

SHIFTS = {"lshift": np.left_shift, "rshift": np.right_shift}
"""Further ones that have it."""

UFUNCS = {
    **AUGMENTED,
    "divmod": np.divmod,
    "neg": np.negative,
    "pos": np.positive,
    "abs": np.absolute,
    "invert": np.invert,
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}
