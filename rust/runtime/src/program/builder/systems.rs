//! Factors of matrices, and systems of equations.

use frazil_core::DType;

use crate::error::BuildError;
use crate::ids::Slot;
use crate::linalg::bands::BandForm;
use crate::linalg::decompositions::Decomposition;
use crate::linalg::lapack::{OnError, TriangularForm};
use crate::program::instr::InstrKind;

use super::{Builder, Built};

impl Builder {
    /// The lower (or upper) factor of a positive definite matrix; only that triangle is read.
    /// Here and below, matrices may be stacks of them.
    pub fn cholesky(&mut self, of: Slot, lower: bool, on_error: OnError) -> Built<Slot> {
        let (dtype, ndim) = self.check_matrices(of)?;
        self.made(dtype, ndim, |to| InstrKind::Cholesky { of, to, lower, on_error })
    }

    /// The gradient of a matrix whose lower triangle was factored, given the factor and its
    /// gradient, both read below the diagonal only.
    pub fn cholesky_gradient(&mut self, factor: Slot, gradient: Slot) -> Built<Slot> {
        let (dtype, ndim) = self.check_matrices(factor)?;
        self.check_rank(gradient, ndim, "a factor and its gradient have one rank")?;
        self.check_dtype(gradient, dtype)?;
        self.made(dtype, ndim, |to| InstrKind::CholeskyGradient { factor, gradient, to })
    }

    /// The solution of a system of equations; `b` has the vectors in columns, or is one where there
    /// is one matrix.
    pub fn solve_triangular(
        &mut self,
        a: Slot,
        b: Slot,
        form: TriangularForm,
        on_error: OnError,
    ) -> Built<Slot> {
        let ty = self.check_matrices(a)?;
        let ndim = self.check_right_side(b, ty)?;
        self.made(ty.0, ndim, |to| InstrKind::Solve { a, b, to, form, on_error })
    }

    /// The factors of a square matrix, in one matrix, and for each row the one that it changed
    /// places with, in an `int32` vector.
    pub fn lu(&mut self, of: Slot) -> Built<[Slot; 2]> {
        let (dtype, ndim) = self.check_matrices(of)?;
        let dynamic = self.depends([of], [])?;
        let to = self.result(dtype, ndim, dynamic)?;
        let pivots = self.result(DType::Int32, ndim - 1, dynamic)?;
        self.push(InstrKind::Lu { of, to, pivots, places: None }, dynamic);
        Ok([to, pivots])
    }

    /// As [`Builder::lu`], of a matrix with any number of rows and columns; and for each row its
    /// place in the product of the factors, in an `int64` vector.
    pub fn lu_of_any(&mut self, of: Slot) -> Built<[Slot; 3]> {
        let (dtype, ndim) = self.check_matrices(of)?;
        let dynamic = self.depends([of], [])?;
        let to = self.result(dtype, ndim, dynamic)?;
        let pivots = self.result(DType::Int32, ndim - 1, dynamic)?;
        let places = self.result(DType::Int64, ndim - 1, dynamic)?;
        self.push(InstrKind::Lu { of, to, pivots, places: Some(places) }, dynamic);
        Ok([to, pivots, places])
    }

    /// The solution of a system of equations (with the matrix transposed, if so), given what
    /// [`Builder::lu`] makes of its matrix, and `b`, as for [`Builder::solve_triangular`].
    pub fn lu_solve(
        &mut self,
        [factors, pivots, b]: [Slot; 3],
        transposed: bool,
        on_error: OnError,
    ) -> Built<Slot> {
        let ty = self.check_matrices(factors)?;
        self.check_dtype(pivots, DType::Int32)?;
        self.check_rank(pivots, ty.1 - 1, "partners of rows are a vector for each matrix")?;
        let ndim = self.check_right_side(b, ty)?;
        self.made(ty.0, ndim, |to| InstrKind::LuSolve {
            factors,
            pivots,
            b,
            to,
            transposed,
            on_error,
        })
    }

    /// The solution of a system of equations whose matrix has elements in a few diagonals; `b` is as
    /// for [`Builder::solve_triangular`].
    pub fn band_solve(
        &mut self,
        a: Slot,
        b: Slot,
        form: BandForm,
        on_error: OnError,
    ) -> Built<Slot> {
        let ty = self.check_matrices(a)?;
        let ndim = self.check_right_side(b, ty)?;
        self.made(ty.0, ndim, |to| InstrKind::BandSolve { a, b, to, form, on_error })
    }

    /// The decomposition of a matrix.
    pub fn decompose(
        &mut self,
        of: Slot,
        what: Decomposition,
        on_error: OnError,
    ) -> Built<Vec<Slot>> {
        let (dtype, ndim) = self.check_matrices(of)?;
        let dynamic = self.depends([of], [])?;
        let mut to = Vec::new();
        for dims in what.dims(0, 0) {
            to.push(self.result(dtype, ndim - 2 + dims.len(), dynamic)?);
        }
        let kind = InstrKind::Decompose { of, to: to[..].into(), what, on_error };
        self.push(kind, dynamic);
        Ok(to)
    }

    /// The rank of the right side of a system with matrices of this type and rank.
    fn check_right_side(&self, b: Slot, (dtype, ndim): (DType, usize)) -> Built<usize> {
        let given = self.info(b)?.ndim;
        if given != ndim && (ndim, given) != (2, 1) {
            let needed = "the right side of a system is a vector, or has the rank of the matrices";
            return Err(BuildError::Rank { slot: b, given, needed });
        }
        self.check_dtype(b, dtype)?;
        Ok(given)
    }
}
