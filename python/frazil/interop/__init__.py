"""Other libraries' graphs, translated to frazil's and back.

May import ``compile``, ``gradient`` and what lies below; nothing imports it. Start reading at
:mod:`frazil.interop.pytensor.translation`.
"""
