"""Conversion to another data type."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

import frazil.scalar as scalar
from frazil._core import Variable, elemwise
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.docstrings import described


@described
def cast(x: TensorLike, dtype: npt.DTypeLike) -> Variable:
    """Return ``x`` converted to another data type, as :meth:`numpy.ndarray.astype` does.

    x (tensor_like): Any tensor.
    dtype (dtype_like): The data type wanted; a tensor that has it already is returned as it is.
    returns: Of the shape of ``x``; ``x`` itself if it has the dtype.
    example: [1.5, -1.5], "int64" -> [ 1, -1]
    """
    x = as_tensor(x)
    name = np.dtype(dtype).name
    return x if x.dtype == name else elemwise(scalar.cast(name), x)


astype = cast
