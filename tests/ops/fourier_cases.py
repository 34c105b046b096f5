"""Fourier, cosine and sine transforms."""

import numpy as np
import scipy.fft
from drawn_operands import Operand, finite
from op_case import FLOATS, case

import frazil.tensor as ft


def _both(name, theirs, function, *operands, **options):
    options = {"dtypes": FLOATS, "tolerance": 1e-10} | options
    return case(
        name, lambda *x: function(ft.fft, *x), lambda *x: function(theirs, *x), *operands, **options
    )


FOURIER = [
    _both("fft", np.fft, lambda n, x: n.fft(x), Operand("mn", finite)),
    _both("ifft of columns", np.fft, lambda n, x: n.ifft(x, axis=0), Operand("mn", finite)),
    _both("rfft", np.fft, lambda n, x: n.rfft(x), Operand("mn", finite)),
    _both("irfft", np.fft, lambda n, x: n.irfft(n.rfft(x), 6), Operand("mn", finite)),
    _both("rfft2", np.fft, lambda n, x: n.rfft2(x), Operand("kmn", finite)),
    _both("dct", scipy.fft, lambda n, x: n.dct(x), Operand("mn", finite)),
    _both("idst", scipy.fft, lambda n, x: n.idst(x, axis=0), Operand("mn", finite)),
]
