"""From graphs to functions: phases rewrite a graph, a linker makes a program of it.

May import ``rewrite``, ``link``, ``cache`` and what lies below. Start reading at
:mod:`frazil.compile.function`, and for the order of phases at :mod:`frazil.compile.phases`.
"""

import frazil.compile.eval  # noqa: F401  (gives variables their method)
from frazil.compile.mode import register_linker as register_linker
from frazil.graph.namespace import publish as _publish

_publish(globals())
