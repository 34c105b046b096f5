"""Scans: one graph applied step by step, and the functions by which users write it.

May import ``inner``, ``random`` and what lies below. Start reading at :mod:`frazil.scan.op`.
"""
