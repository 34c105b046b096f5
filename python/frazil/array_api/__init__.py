"""The Python array API standard, 2024.12, on arrays that are computed when a value is needed.

Libraries written for any array library that follows the standard run on it, and a chain of calls
becomes one compiled function.

May import ``compile`` and what lies below. Start reading at :mod:`frazil.array_api.array`;
:mod:`frazil.array_api.evaluation` computes values, and the other modules hold the standard's
functions by theme, each a call of ``frazil.tensor``.

Examples
--------
>>> import frazil.array_api as xp
>>> x = xp.linspace(0, 1, 5)
>>> xp.mean(x * x)
Array(0.375)
"""

from math import e as e
from math import inf as inf
from math import nan as nan
from math import pi as pi

from frazil.array_api import fft as fft
from frazil.array_api import linalg as linalg
from frazil.array_api.array import Array as Array
from frazil.array_api.creation import arange as arange
from frazil.array_api.creation import asarray as asarray
from frazil.array_api.creation import empty as empty
from frazil.array_api.creation import empty_like as empty_like
from frazil.array_api.creation import eye as eye
from frazil.array_api.creation import from_dlpack as from_dlpack
from frazil.array_api.creation import full as full
from frazil.array_api.creation import full_like as full_like
from frazil.array_api.creation import linspace as linspace
from frazil.array_api.creation import meshgrid as meshgrid
from frazil.array_api.creation import newaxis as newaxis
from frazil.array_api.creation import ones as ones
from frazil.array_api.creation import ones_like as ones_like
from frazil.array_api.creation import tril as tril
from frazil.array_api.creation import triu as triu
from frazil.array_api.creation import zeros as zeros
from frazil.array_api.creation import zeros_like as zeros_like
from frazil.array_api.data_types import astype as astype
from frazil.array_api.data_types import bool as bool
from frazil.array_api.data_types import can_cast as can_cast
from frazil.array_api.data_types import complex64 as complex64
from frazil.array_api.data_types import complex128 as complex128
from frazil.array_api.data_types import finfo as finfo
from frazil.array_api.data_types import float32 as float32
from frazil.array_api.data_types import float64 as float64
from frazil.array_api.data_types import iinfo as iinfo
from frazil.array_api.data_types import int8 as int8
from frazil.array_api.data_types import int16 as int16
from frazil.array_api.data_types import int32 as int32
from frazil.array_api.data_types import int64 as int64
from frazil.array_api.data_types import isdtype as isdtype
from frazil.array_api.data_types import result_type as result_type
from frazil.array_api.data_types import uint8 as uint8
from frazil.array_api.data_types import uint16 as uint16
from frazil.array_api.data_types import uint32 as uint32
from frazil.array_api.data_types import uint64 as uint64
from frazil.array_api.elementwise import abs as abs
from frazil.array_api.elementwise import acos as acos
from frazil.array_api.elementwise import acosh as acosh
from frazil.array_api.elementwise import add as add
from frazil.array_api.elementwise import asin as asin
from frazil.array_api.elementwise import asinh as asinh
from frazil.array_api.elementwise import atan as atan
from frazil.array_api.elementwise import atan2 as atan2
from frazil.array_api.elementwise import atanh as atanh
from frazil.array_api.elementwise import bitwise_and as bitwise_and
from frazil.array_api.elementwise import bitwise_invert as bitwise_invert
from frazil.array_api.elementwise import bitwise_left_shift as bitwise_left_shift
from frazil.array_api.elementwise import bitwise_or as bitwise_or
from frazil.array_api.elementwise import bitwise_right_shift as bitwise_right_shift
from frazil.array_api.elementwise import bitwise_xor as bitwise_xor
from frazil.array_api.elementwise import ceil as ceil
from frazil.array_api.elementwise import clip as clip
from frazil.array_api.elementwise import conj as conj
from frazil.array_api.elementwise import copysign as copysign
from frazil.array_api.elementwise import cos as cos
from frazil.array_api.elementwise import cosh as cosh
from frazil.array_api.elementwise import divide as divide
from frazil.array_api.elementwise import equal as equal
from frazil.array_api.elementwise import exp as exp
from frazil.array_api.elementwise import expm1 as expm1
from frazil.array_api.elementwise import floor as floor
from frazil.array_api.elementwise import floor_divide as floor_divide
from frazil.array_api.elementwise import greater as greater
from frazil.array_api.elementwise import greater_equal as greater_equal
from frazil.array_api.elementwise import hypot as hypot
from frazil.array_api.elementwise import imag as imag
from frazil.array_api.elementwise import isfinite as isfinite
from frazil.array_api.elementwise import isinf as isinf
from frazil.array_api.elementwise import isnan as isnan
from frazil.array_api.elementwise import less as less
from frazil.array_api.elementwise import less_equal as less_equal
from frazil.array_api.elementwise import log as log
from frazil.array_api.elementwise import log1p as log1p
from frazil.array_api.elementwise import log2 as log2
from frazil.array_api.elementwise import log10 as log10
from frazil.array_api.elementwise import logaddexp as logaddexp
from frazil.array_api.elementwise import logical_and as logical_and
from frazil.array_api.elementwise import logical_not as logical_not
from frazil.array_api.elementwise import logical_or as logical_or
from frazil.array_api.elementwise import logical_xor as logical_xor
from frazil.array_api.elementwise import maximum as maximum
from frazil.array_api.elementwise import minimum as minimum
from frazil.array_api.elementwise import multiply as multiply
from frazil.array_api.elementwise import negative as negative
from frazil.array_api.elementwise import nextafter as nextafter
from frazil.array_api.elementwise import not_equal as not_equal
from frazil.array_api.elementwise import positive as positive
from frazil.array_api.elementwise import pow as pow
from frazil.array_api.elementwise import real as real
from frazil.array_api.elementwise import reciprocal as reciprocal
from frazil.array_api.elementwise import remainder as remainder
from frazil.array_api.elementwise import round as round
from frazil.array_api.elementwise import sign as sign
from frazil.array_api.elementwise import signbit as signbit
from frazil.array_api.elementwise import sin as sin
from frazil.array_api.elementwise import sinh as sinh
from frazil.array_api.elementwise import sqrt as sqrt
from frazil.array_api.elementwise import square as square
from frazil.array_api.elementwise import subtract as subtract
from frazil.array_api.elementwise import tan as tan
from frazil.array_api.elementwise import tanh as tanh
from frazil.array_api.elementwise import trunc as trunc
from frazil.array_api.evaluation import compiled_by as compiled_by
from frazil.array_api.inspection import __array_namespace_info__  # noqa: F401  (of the standard)
from frazil.array_api.linalg import matmul as matmul
from frazil.array_api.linalg import matrix_transpose as matrix_transpose
from frazil.array_api.linalg import tensordot as tensordot
from frazil.array_api.linalg import vecdot as vecdot
from frazil.array_api.manipulation import broadcast_arrays as broadcast_arrays
from frazil.array_api.manipulation import broadcast_to as broadcast_to
from frazil.array_api.manipulation import concat as concat
from frazil.array_api.manipulation import expand_dims as expand_dims
from frazil.array_api.manipulation import flip as flip
from frazil.array_api.manipulation import moveaxis as moveaxis
from frazil.array_api.manipulation import nonzero as nonzero
from frazil.array_api.manipulation import permute_dims as permute_dims
from frazil.array_api.manipulation import repeat as repeat
from frazil.array_api.manipulation import reshape as reshape
from frazil.array_api.manipulation import roll as roll
from frazil.array_api.manipulation import squeeze as squeeze
from frazil.array_api.manipulation import stack as stack
from frazil.array_api.manipulation import take as take
from frazil.array_api.manipulation import take_along_axis as take_along_axis
from frazil.array_api.manipulation import tile as tile
from frazil.array_api.manipulation import unstack as unstack
from frazil.array_api.manipulation import where as where
from frazil.array_api.reductions import all as all
from frazil.array_api.reductions import any as any
from frazil.array_api.reductions import argmax as argmax
from frazil.array_api.reductions import argmin as argmin
from frazil.array_api.reductions import argsort as argsort
from frazil.array_api.reductions import count_nonzero as count_nonzero
from frazil.array_api.reductions import cumulative_prod as cumulative_prod
from frazil.array_api.reductions import cumulative_sum as cumulative_sum
from frazil.array_api.reductions import diff as diff
from frazil.array_api.reductions import max as max
from frazil.array_api.reductions import mean as mean
from frazil.array_api.reductions import min as min
from frazil.array_api.reductions import prod as prod
from frazil.array_api.reductions import searchsorted as searchsorted
from frazil.array_api.reductions import sort as sort
from frazil.array_api.reductions import std as std
from frazil.array_api.reductions import sum as sum
from frazil.array_api.reductions import unique_all as unique_all
from frazil.array_api.reductions import unique_counts as unique_counts
from frazil.array_api.reductions import unique_inverse as unique_inverse
from frazil.array_api.reductions import unique_values as unique_values
from frazil.array_api.reductions import var as var
from frazil.graph.namespace import publish as _publish

__array_api_version__ = "2024.12"

_publish(globals(), modules=["fft", "linalg"])
