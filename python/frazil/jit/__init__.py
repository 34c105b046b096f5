"""Python functions, compiled for the arrays that they are called with.

May import ``compile``, ``gradient``, ``batching`` and what lies below. Start reading at
:mod:`frazil.jit.function`.
"""
