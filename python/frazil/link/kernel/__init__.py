"""Kernels: what native code computes, as data that a compiler reads.

May import ``scan`` and what lies below, and ``cache``. Start reading at
:mod:`frazil.link.kernel.loop_kernel`.
"""
