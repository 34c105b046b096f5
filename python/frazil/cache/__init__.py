"""The folder of compiled programs, where later processes find them again.

May import ``frazil.version``. Start reading at :mod:`frazil.cache.store`.
"""
