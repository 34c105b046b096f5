"""Fusion: which nodes one kernel computes, over which space, in whose memory.

May import ``link/kernel`` and what lies below. Start reading at
:mod:`frazil.link.fusion.fusion`.
"""
