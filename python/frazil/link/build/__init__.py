"""Building kernels: libraries they call, compiling each once, on several threads.

May import ``link/kernel`` and what lies below. Start reading at :mod:`frazil.link.build.pool`.
"""
