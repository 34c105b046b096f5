"""Fourier transforms, as NumPy computes them, and the cosine and sine transforms of SciPy.

A transform of several dimensions transforms one after the other, the last first. The lengths ``n``
and ``s`` may be known to calls only. A longer dimension is cut, a shorter one is filled with zeros.

May import what :mod:`frazil.tensor` may. Start reading at :mod:`frazil.tensor.fft.one_dimension`.
"""

from frazil.graph.namespace import publish as _publish
from frazil.tensor.fft.cosines import dct as dct
from frazil.tensor.fft.cosines import dctn as dctn
from frazil.tensor.fft.cosines import dst as dst
from frazil.tensor.fft.cosines import dstn as dstn
from frazil.tensor.fft.cosines import hfft2 as hfft2
from frazil.tensor.fft.cosines import hfftn as hfftn
from frazil.tensor.fft.cosines import idct as idct
from frazil.tensor.fft.cosines import idctn as idctn
from frazil.tensor.fft.cosines import idst as idst
from frazil.tensor.fft.cosines import idstn as idstn
from frazil.tensor.fft.cosines import ihfft2 as ihfft2
from frazil.tensor.fft.cosines import ihfftn as ihfftn
from frazil.tensor.fft.cosines import next_fast_len as next_fast_len
from frazil.tensor.fft.frequencies import fftfreq as fftfreq
from frazil.tensor.fft.frequencies import fftshift as fftshift
from frazil.tensor.fft.frequencies import ifftshift as ifftshift
from frazil.tensor.fft.frequencies import rfftfreq as rfftfreq
from frazil.tensor.fft.one_dimension import fft as fft
from frazil.tensor.fft.one_dimension import hfft as hfft
from frazil.tensor.fft.one_dimension import ifft as ifft
from frazil.tensor.fft.one_dimension import ihfft as ihfft
from frazil.tensor.fft.one_dimension import irfft as irfft
from frazil.tensor.fft.one_dimension import rfft as rfft
from frazil.tensor.fft.several_dimensions import fft2 as fft2
from frazil.tensor.fft.several_dimensions import fftn as fftn
from frazil.tensor.fft.several_dimensions import ifft2 as ifft2
from frazil.tensor.fft.several_dimensions import ifftn as ifftn
from frazil.tensor.fft.several_dimensions import irfft2 as irfft2
from frazil.tensor.fft.several_dimensions import irfftn as irfftn
from frazil.tensor.fft.several_dimensions import rfft2 as rfft2
from frazil.tensor.fft.several_dimensions import rfftn as rfftn

_publish(globals())
