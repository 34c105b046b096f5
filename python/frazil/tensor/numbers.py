"""Numbers that have names."""

from __future__ import annotations

import math

import numpy as np

pi = math.pi
e = math.e
inf = math.inf
nan = math.nan
euler_gamma = float(np.euler_gamma)
newaxis = None
