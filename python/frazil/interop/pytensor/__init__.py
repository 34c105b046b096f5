"""PyTensor's graphs, and so PyMC's models, compiled by frazil: the mode ``"FRAZIL"``.

Importing this package registers the mode. From then on ``pytensor.function(..., mode="FRAZIL")``
and every function that takes one of PyTensor's modes compile by frazil;
``pytensor.config.mode = "FRAZIL"`` makes it the default. May import what :mod:`frazil.interop` may.
Start reading at :mod:`frazil.interop.pytensor.translation`.

Examples
--------
>>> import pytensor, pytensor.tensor as pt
>>> import frazil.interop.pytensor
>>> x = pt.dvector("x")
>>> float(pytensor.function([x], pt.exp(x).sum(), mode="FRAZIL")([0.0, 0.0]))
2.0
"""

import frazil.interop.pytensor.rules  # noqa: F401  (says what each of PyTensor's ops is)
from frazil.graph.namespace import publish as _publish
from frazil.interop.pytensor.back import to_pytensor as to_pytensor
from frazil.interop.pytensor.linker import FrazilLinker as FrazilLinker
from frazil.interop.pytensor.linker import compiled_function as compiled_function
from frazil.interop.pytensor.linker import register_mode as _register_mode
from frazil.interop.pytensor.translation import NoRule as NoRule
from frazil.interop.pytensor.translation import register as register
from frazil.interop.pytensor.variables import from_pytensor as from_pytensor

_register_mode()

_publish(globals())
