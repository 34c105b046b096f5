"""The folder of compiled programs, where later processes find them again.

May import the extension module alone. Start reading at :mod:`frazil.cache.store`.
"""
