"""Passes over scans: what is computed once, what nobody reads, which scans are one.

May import what :mod:`frazil.rewrite` may. Start reading at :mod:`frazil.rewrite.scan.passes`.
"""
