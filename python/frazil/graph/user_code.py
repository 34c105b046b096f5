"""Whose code builds a node: what is below this folder is frazil's own, and never the user's.

Imported before anything that builds nodes, as the core remembers what it found out about code.
"""

from pathlib import Path

import frazil._core as _core

_core.set_internal_path(str(Path(__file__).parent.parent))
