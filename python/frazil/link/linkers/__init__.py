"""Linkers: ``py`` calls each op's ``perform``, native ones compile kernels, ``debug`` checks.

May import everything else in ``link``. Start reading at :mod:`frazil.link.linkers.native`.
"""
