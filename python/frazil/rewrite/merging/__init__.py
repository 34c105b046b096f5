"""Passes that merge nodes: ifelses of one condition, scalar loops with common work.

May import what :mod:`frazil.rewrite` may. Start reading at :mod:`frazil.rewrite.merging.grouping`.
"""
