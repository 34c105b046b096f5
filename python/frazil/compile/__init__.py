"""From graphs to functions."""

from frazil.compile.mode import register_linker as register_linker
