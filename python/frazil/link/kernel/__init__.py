"""Kernels: the computations of native code, as data for kernel compilers.

May import ``scan`` and what lies below, and ``cache``. Start reading at
:mod:`frazil.link.kernel.loop_kernel`.
"""
