"""Code written for other libraries: PyTensor's graphs, and what follows the array API standard.

May import ``compile``, ``gradient`` and what lies below; nothing imports it. Start reading at
:mod:`frazil.interop.pytensor.translation` or :mod:`frazil.interop.array_api.array`.
"""
