"""Linear algebra: factors of matrices, systems of equations, determinants and norms.

May import what :mod:`frazil.tensor` may. Start reading at :mod:`frazil.tensor.linalg.cholesky`.
"""

from frazil.graph.namespace import publish as _publish
from frazil.tensor.contractions import cross as cross
from frazil.tensor.contractions import kron as kron
from frazil.tensor.contractions import vecdot as vecdot
from frazil.tensor.linalg.banded import SolveBanded as SolveBanded
from frazil.tensor.linalg.banded import solve_banded as solve_banded
from frazil.tensor.linalg.cholesky import Cholesky as Cholesky
from frazil.tensor.linalg.cholesky import CholeskyGradient as CholeskyGradient
from frazil.tensor.linalg.cholesky import cho_factor as cho_factor
from frazil.tensor.linalg.cholesky import cho_solve as cho_solve
from frazil.tensor.linalg.cholesky import cholesky as cholesky
from frazil.tensor.linalg.decompositions import QR as QR
from frazil.tensor.linalg.decompositions import SVD as SVD
from frazil.tensor.linalg.decompositions import Eig as Eig
from frazil.tensor.linalg.decompositions import Eigenvalues as Eigenvalues
from frazil.tensor.linalg.decompositions import Eigh as Eigh
from frazil.tensor.linalg.decompositions import SingularValues as SingularValues
from frazil.tensor.linalg.determinants import det as det
from frazil.tensor.linalg.determinants import slogdet as slogdet
from frazil.tensor.linalg.equations import Expm as Expm
from frazil.tensor.linalg.equations import SolveRiccati as SolveRiccati
from frazil.tensor.linalg.equations import SolveSylvester as SolveSylvester
from frazil.tensor.linalg.equations import expm as expm
from frazil.tensor.linalg.equations import solve_continuous_are as solve_continuous_are
from frazil.tensor.linalg.equations import solve_continuous_lyapunov as solve_continuous_lyapunov
from frazil.tensor.linalg.equations import solve_discrete_are as solve_discrete_are
from frazil.tensor.linalg.equations import solve_discrete_lyapunov as solve_discrete_lyapunov
from frazil.tensor.linalg.equations import solve_sylvester as solve_sylvester
from frazil.tensor.linalg.factors import eig as eig
from frazil.tensor.linalg.factors import eigh as eigh
from frazil.tensor.linalg.factors import eigvals as eigvals
from frazil.tensor.linalg.factors import eigvalsh as eigvalsh
from frazil.tensor.linalg.factors import qr as qr
from frazil.tensor.linalg.factors import svd as svd
from frazil.tensor.linalg.factors import svdvals as svdvals
from frazil.tensor.linalg.general import inv as inv
from frazil.tensor.linalg.general import solve as solve
from frazil.tensor.linalg.last_axes import diagonal as diagonal
from frazil.tensor.linalg.last_axes import trace as trace
from frazil.tensor.linalg.lu import LUFactor as LUFactor
from frazil.tensor.linalg.lu import LUSolve as LUSolve
from frazil.tensor.linalg.lu import Solve as Solve
from frazil.tensor.linalg.lu import lu_solve as lu_solve
from frazil.tensor.linalg.norms import cond as cond
from frazil.tensor.linalg.norms import matrix_norm as matrix_norm
from frazil.tensor.linalg.norms import norm as norm
from frazil.tensor.linalg.norms import vector_norm as vector_norm
from frazil.tensor.linalg.pivoted_lu import PivotedLU as PivotedLU
from frazil.tensor.linalg.pivoted_lu import lu as lu
from frazil.tensor.linalg.pivoted_lu import lu_factor as lu_factor
from frazil.tensor.linalg.powers import block_diag as block_diag
from frazil.tensor.linalg.powers import matrix_dot as matrix_dot
from frazil.tensor.linalg.powers import matrix_power as matrix_power
from frazil.tensor.linalg.powers import multi_dot as multi_dot
from frazil.tensor.linalg.pseudoinverse import PseudoInverse as PseudoInverse
from frazil.tensor.linalg.pseudoinverse import lstsq as lstsq
from frazil.tensor.linalg.pseudoinverse import matrix_rank as matrix_rank
from frazil.tensor.linalg.pseudoinverse import pinv as pinv
from frazil.tensor.linalg.structured import circulant as circulant
from frazil.tensor.linalg.structured import hankel as hankel
from frazil.tensor.linalg.structured import khatri_rao as khatri_rao
from frazil.tensor.linalg.structured import solve_toeplitz as solve_toeplitz
from frazil.tensor.linalg.structured import toeplitz as toeplitz
from frazil.tensor.linalg.tensors import tensorinv as tensorinv
from frazil.tensor.linalg.tensors import tensorsolve as tensorsolve
from frazil.tensor.linalg.triangular import SolveTriangular as SolveTriangular
from frazil.tensor.linalg.triangular import solve_triangular as solve_triangular
from frazil.tensor.products import matmul as matmul
from frazil.tensor.products import outer as outer
from frazil.tensor.products import tensordot as tensordot
from frazil.tensor.transposition import matrix_transpose as matrix_transpose

_publish(globals())
