"""Fusion: which nodes one loop kernel computes, over which lengths, and which updates are in place.

May import ``link/toolchain``, ``link/kernel`` and what lies below. Start reading at
:mod:`frazil.link.fusion.segments`.
"""
