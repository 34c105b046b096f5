"""Linear algebra: factors of matrices, systems of equations, determinants and norms."""

from frazil.tensor.linalg.cholesky import Cholesky as Cholesky
from frazil.tensor.linalg.cholesky import CholeskyGradient as CholeskyGradient
from frazil.tensor.linalg.cholesky import cho_solve as cho_solve
from frazil.tensor.linalg.cholesky import cholesky as cholesky
from frazil.tensor.linalg.general import det as det
from frazil.tensor.linalg.general import inv as inv
from frazil.tensor.linalg.general import slogdet as slogdet
from frazil.tensor.linalg.general import solve as solve
from frazil.tensor.linalg.lu import LUFactor as LUFactor
from frazil.tensor.linalg.lu import LUSolve as LUSolve
from frazil.tensor.linalg.lu import Solve as Solve
from frazil.tensor.linalg.lu import lu_factor as lu_factor
from frazil.tensor.linalg.lu import lu_solve as lu_solve
from frazil.tensor.linalg.norms import norm as norm
from frazil.tensor.linalg.triangular import SolveTriangular as SolveTriangular
from frazil.tensor.linalg.triangular import solve_triangular as solve_triangular
