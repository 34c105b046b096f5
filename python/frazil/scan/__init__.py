"""Scans: a graph that is applied step by step, and how one writes it.

May import ``inner`` and what lies below. Start reading at :mod:`frazil.scan.op`.
"""
