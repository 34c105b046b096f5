"""Scalar ops, a row each in modules by theme, and the op that applies one to all elements.

May import ``graph``. Start reading at :mod:`frazil.scalar.op`, and for the rows at
:mod:`frazil.scalar.arithmetic`.
"""

import typing as _typing

from frazil.scalar.arithmetic import abs as abs
from frazil.scalar.arithmetic import add as add
from frazil.scalar.arithmetic import ceil as ceil
from frazil.scalar.arithmetic import clip as clip
from frazil.scalar.arithmetic import floor as floor
from frazil.scalar.arithmetic import floordiv as floordiv
from frazil.scalar.arithmetic import fmax as fmax
from frazil.scalar.arithmetic import fmin as fmin
from frazil.scalar.arithmetic import fmod as fmod
from frazil.scalar.arithmetic import maximum as maximum
from frazil.scalar.arithmetic import minimum as minimum
from frazil.scalar.arithmetic import mod as mod
from frazil.scalar.arithmetic import mul as mul
from frazil.scalar.arithmetic import neg as neg
from frazil.scalar.arithmetic import pow as pow
from frazil.scalar.arithmetic import reciprocal as reciprocal
from frazil.scalar.arithmetic import rint as rint
from frazil.scalar.arithmetic import sign as sign
from frazil.scalar.arithmetic import sqr as sqr
from frazil.scalar.arithmetic import sub as sub
from frazil.scalar.arithmetic import truediv as truediv
from frazil.scalar.arithmetic import trunc as trunc
from frazil.scalar.bessel import i0 as i0
from frazil.scalar.bessel import i0e as i0e
from frazil.scalar.bessel import i1 as i1
from frazil.scalar.bessel import i1e as i1e
from frazil.scalar.bessel import iv as iv
from frazil.scalar.bessel import ive as ive
from frazil.scalar.bessel import j0 as j0
from frazil.scalar.bessel import j1 as j1
from frazil.scalar.bessel import jv as jv
from frazil.scalar.bessel import k0 as k0
from frazil.scalar.bessel import k0e as k0e
from frazil.scalar.bessel import k1 as k1
from frazil.scalar.bessel import k1e as k1e
from frazil.scalar.bessel import kv as kv
from frazil.scalar.bessel import kve as kve
from frazil.scalar.bessel import y0 as y0
from frazil.scalar.bessel import y1 as y1
from frazil.scalar.bessel import yv as yv
from frazil.scalar.complex import complex as complex
from frazil.scalar.complex import conj as conj
from frazil.scalar.complex import imag as imag
from frazil.scalar.complex import real as real
from frazil.scalar.composite import Composite as Composite
from frazil.scalar.elementary import Elementary as Elementary
from frazil.scalar.elementary import Row as Row
from frazil.scalar.elemwise import Elemwise as Elemwise
from frazil.scalar.exponential import cbrt as cbrt
from frazil.scalar.exponential import exp as exp
from frazil.scalar.exponential import exp2 as exp2
from frazil.scalar.exponential import expm1 as expm1
from frazil.scalar.exponential import hypot as hypot
from frazil.scalar.exponential import log as log
from frazil.scalar.exponential import log1p as log1p
from frazil.scalar.exponential import log2 as log2
from frazil.scalar.exponential import log10 as log10
from frazil.scalar.exponential import sqrt as sqrt
from frazil.scalar.floating import copysign as copysign
from frazil.scalar.floating import nextafter as nextafter
from frazil.scalar.floating import signbit as signbit
from frazil.scalar.gamma import beta as beta
from frazil.scalar.gamma import betaln as betaln
from frazil.scalar.gamma import binom as binom
from frazil.scalar.gamma import gamma as gamma
from frazil.scalar.gamma import poch as poch
from frazil.scalar.hypergeometric import hyp2f1 as hyp2f1
from frazil.scalar.hypergeometric import zeta as zeta
from frazil.scalar.incomplete import betainc as betainc
from frazil.scalar.incomplete import betaincinv as betaincinv
from frazil.scalar.incomplete import gammainc as gammainc
from frazil.scalar.incomplete import gammaincc as gammaincc
from frazil.scalar.incomplete import gammainccinv as gammainccinv
from frazil.scalar.incomplete import gammaincinv as gammaincinv
from frazil.scalar.logic import and_ as and_
from frazil.scalar.logic import cast as cast
from frazil.scalar.logic import disconnected_grad as disconnected_grad
from frazil.scalar.logic import eq as eq
from frazil.scalar.logic import ge as ge
from frazil.scalar.logic import gt as gt
from frazil.scalar.logic import identity as identity
from frazil.scalar.logic import invert as invert
from frazil.scalar.logic import isfinite as isfinite
from frazil.scalar.logic import isinf as isinf
from frazil.scalar.logic import isnan as isnan
from frazil.scalar.logic import le as le
from frazil.scalar.logic import left_shift as left_shift
from frazil.scalar.logic import lt as lt
from frazil.scalar.logic import neq as neq
from frazil.scalar.logic import or_ as or_
from frazil.scalar.logic import right_shift as right_shift
from frazil.scalar.logic import second as second
from frazil.scalar.logic import where as where
from frazil.scalar.logic import xor as xor
from frazil.scalar.logic import zero_grad as zero_grad
from frazil.scalar.loop import ScalarLoop as ScalarLoop
from frazil.scalar.normal import erfcinv as erfcinv
from frazil.scalar.normal import erfinv as erfinv
from frazil.scalar.normal import log_ndtr as log_ndtr
from frazil.scalar.normal import ndtr as ndtr
from frazil.scalar.normal import ndtri as ndtri
from frazil.scalar.normal import owens_t as owens_t
from frazil.scalar.op import ScalarOp as ScalarOp
from frazil.scalar.special import erf as erf
from frazil.scalar.special import erfc as erfc
from frazil.scalar.special import erfcx as erfcx
from frazil.scalar.special import gammaln as gammaln
from frazil.scalar.special import log1mexp as log1mexp
from frazil.scalar.special import log_sigmoid as log_sigmoid
from frazil.scalar.special import logaddexp as logaddexp
from frazil.scalar.special import polygamma as polygamma
from frazil.scalar.special import psi as psi
from frazil.scalar.special import sigmoid as sigmoid
from frazil.scalar.special import softplus as softplus
from frazil.scalar.special import tri_gamma as tri_gamma
from frazil.scalar.table import TABLE as TABLE
from frazil.scalar.trigonometric import arccos as arccos
from frazil.scalar.trigonometric import arccosh as arccosh
from frazil.scalar.trigonometric import arcsin as arcsin
from frazil.scalar.trigonometric import arcsinh as arcsinh
from frazil.scalar.trigonometric import arctan as arctan
from frazil.scalar.trigonometric import arctan2 as arctan2
from frazil.scalar.trigonometric import arctanh as arctanh
from frazil.scalar.trigonometric import cos as cos
from frazil.scalar.trigonometric import cosh as cosh
from frazil.scalar.trigonometric import sin as sin
from frazil.scalar.trigonometric import sinh as sinh
from frazil.scalar.trigonometric import tan as tan
from frazil.scalar.trigonometric import tanh as tanh

if not _typing.TYPE_CHECKING:  # checkers of types know by themselves what is public
    from frazil.graph.namespace import public_names as _public_names

    __all__ = _public_names(globals())

    def __dir__() -> list[str]:
        return __all__
