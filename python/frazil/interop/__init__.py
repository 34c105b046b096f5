"""Doors from other libraries: each takes their graphs to frazil's own, and adds nothing to it."""
