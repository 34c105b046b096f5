"""Ops that hold a graph, and rebuilding graphs with replacements.

May import ``tensor`` and what lies below. Start reading at :mod:`frazil.inner.inner_graph`.
"""
