"""Kernels in C: their text, and the system's compiler that makes machine code of it.

May import ``link/lowering`` and what lies below. Start reading at :mod:`frazil.link.c.source`,
which writes the function of a loop kernel, and :mod:`frazil.link.c.syntax`, whose tree it builds.

From the outside in: :mod:`~frazil.link.c.rows` goes through the rows, :mod:`~frazil.link.c.ends`
copies their ends, :mod:`~frazil.link.c.walk` goes along a row and stops for
:mod:`~frazil.link.c.pauses`, :mod:`~frazil.link.c.stages` cuts the work on a block into stages,
and :mod:`~frazil.link.c.lanes` writes their loops, with bools and the like widened as
:mod:`~frazil.link.c.narrow` says. :mod:`~frazil.link.c.row_folds` has reductions, over the
functions of :mod:`~frazil.link.c.partials`; :mod:`~frazil.link.c.indices` takes and puts;
:mod:`~frazil.link.c.operands` and :mod:`~frazil.link.c.values` name pointers and values.
:mod:`~frazil.link.c.scan` writes scans, :mod:`~frazil.link.c.scalar_loop` loops of single elements.

Expressions of scalar ops belong to a :mod:`~frazil.link.c.unit`, over its
:mod:`~frazil.link.c.definitions`: the :mod:`~frazil.link.c.functions` of the table, and those of
whole blocks (:mod:`~frazil.link.c.exponential`, :mod:`~frazil.link.c.logarithm`, over
:mod:`~frazil.link.c.wide`), and :mod:`~frazil.link.c.literals` constants.
:mod:`~frazil.link.c.translation` makes units of kernels. :mod:`~frazil.link.c.compiler` looks for
what was :mod:`~frazil.link.c.made` before and has the rest made by :mod:`~frazil.link.c.build`,
with the compiler that :mod:`~frazil.link.c.search` finds (where it is gcc, by its programs:
:mod:`~frazil.link.c.driver`); :mod:`~frazil.link.c.library` loads what came out.
"""

from frazil.link.c import fusion as fusion  # registers what C fuses
from frazil.link.c.compiler import CCompiler as CCompiler
