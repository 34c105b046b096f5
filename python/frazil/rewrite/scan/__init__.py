"""Passes over scans: loop-invariant code motion, dead code, scans merged into one.

May import what :mod:`frazil.rewrite` may. Start reading at :mod:`frazil.rewrite.scan.passes`.
"""
