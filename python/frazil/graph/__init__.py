"""Graphs as Python sees them: ops, the containers that intern them, where nodes were written.

May import the extension module alone. Start reading at :mod:`frazil.graph.op`.
"""

import frazil.graph.user_code  # noqa: F401  (tells our code from the user's, before any node is built)
