"""Tells the core which files are frazil's own, so that a node names the user's line that built it.

It is imported before anything builds a node, as the core remembers its answer for each file.
"""

from pathlib import Path

import frazil._core as _core

_core.set_internal_path(str(Path(__file__).parent.parent))
