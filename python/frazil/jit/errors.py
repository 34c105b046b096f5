"""Errors that compiled Python functions raise."""

from __future__ import annotations


class TracedValueError(TypeError):
    """Python code asks for the value of a traced array, which differs from call to call."""


class SharpEdgeError(RuntimeError):
    """A compiled function reads or writes what its policy of captures does not allow."""
