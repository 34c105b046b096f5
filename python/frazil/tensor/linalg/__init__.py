"""Linear algebra: factors of matrices, systems of equations, determinants and norms."""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from frazil.tensor.linalg.cholesky import Cholesky as Cholesky
from frazil.tensor.linalg.cholesky import CholeskyGradient as CholeskyGradient
from frazil.tensor.linalg.cholesky import cho_solve as cho_solve
from frazil.tensor.linalg.cholesky import cholesky as cholesky
from frazil.tensor.linalg.determinants import det as det
from frazil.tensor.linalg.determinants import slogdet as slogdet
from frazil.tensor.linalg.general import inv as inv
from frazil.tensor.linalg.general import solve as solve
from frazil.tensor.linalg.lu import LUFactor as LUFactor
from frazil.tensor.linalg.lu import LUSolve as LUSolve
from frazil.tensor.linalg.lu import Solve as Solve
from frazil.tensor.linalg.lu import lu_factor as lu_factor
from frazil.tensor.linalg.lu import lu_solve as lu_solve
from frazil.tensor.linalg.norms import norm as norm
from frazil.tensor.linalg.triangular import SolveTriangular as SolveTriangular
from frazil.tensor.linalg.triangular import solve_triangular as solve_triangular

if not _TYPE_CHECKING:  # checkers of types know by themselves what is public
    from frazil.graph.namespace import public_names as _public_names

    __all__ = _public_names(globals())

    def __dir__() -> list[str]:
        return __all__
