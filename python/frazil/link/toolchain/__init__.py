"""The toolchain: the libraries that native code calls, and the compilation of each kernel once.

May import ``link/kernel`` and what lies below. Start reading at
:mod:`frazil.link.toolchain.once`.
"""
