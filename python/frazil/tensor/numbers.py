"""Numbers that have names, and the data types under their names."""

from __future__ import annotations

import math

import numpy as np

pi = math.pi
e = math.e
inf = math.inf
nan = math.nan
euler_gamma = float(np.euler_gamma)
newaxis = None

bool = np.dtype("bool")
int8 = np.dtype("int8")
int16 = np.dtype("int16")
int32 = np.dtype("int32")
int64 = np.dtype("int64")
uint8 = np.dtype("uint8")
uint16 = np.dtype("uint16")
uint32 = np.dtype("uint32")
uint64 = np.dtype("uint64")
float16 = np.dtype("float16")
float32 = np.dtype("float32")
float64 = np.dtype("float64")
complex64 = np.dtype("complex64")
complex128 = np.dtype("complex128")
