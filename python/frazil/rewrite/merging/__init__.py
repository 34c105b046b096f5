"""Passes that merge: choices by one condition, loops over the same elements.

May import what :mod:`frazil.rewrite` may. Start reading at :mod:`frazil.rewrite.merging.grouping`.
"""
