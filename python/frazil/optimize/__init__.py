"""Minima and roots of expressions, found by SciPy and differentiated by what defines them.

May import ``compile``, ``gradient`` and what lies below. Start reading at
:mod:`frazil.optimize.solver`.
"""

from frazil.graph.namespace import publish as _publish
from frazil.optimize import lowering as _lowering  # noqa: F401  (says how linkers run the ops)
from frazil.optimize.minimization import Minimize as Minimize
from frazil.optimize.minimization import MinimizeScalar as MinimizeScalar
from frazil.optimize.minimization import minimize as minimize
from frazil.optimize.minimization import minimize_scalar as minimize_scalar
from frazil.optimize.roots import Root as Root
from frazil.optimize.roots import RootScalar as RootScalar
from frazil.optimize.roots import root as root
from frazil.optimize.roots import root_scalar as root_scalar

_publish(globals())
