"""Rules that translate PyTensor's ops: one theme a module, one rule a class of ops.

May import what :mod:`frazil.interop.pytensor` may. Start reading at
:mod:`frazil.interop.pytensor.rules.elementwise`.
"""

import frazil.interop.pytensor.rules.blockwise
import frazil.interop.pytensor.rules.checks
import frazil.interop.pytensor.rules.control
import frazil.interop.pytensor.rules.elementwise
import frazil.interop.pytensor.rules.linear_algebra
import frazil.interop.pytensor.rules.random_variables
import frazil.interop.pytensor.rules.reductions
import frazil.interop.pytensor.rules.scans
import frazil.interop.pytensor.rules.shapes
import frazil.interop.pytensor.rules.subtensor  # noqa: F401
