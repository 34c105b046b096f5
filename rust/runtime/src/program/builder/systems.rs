//! Factors of matrices, and systems of equations.

use frazil_core::DType;

use crate::error::BuildError;
use crate::ids::Slot;
use crate::linalg::lapack::{OnError, TriangularForm};
use crate::program::instr::InstrKind;

use super::{Builder, Built};

impl Builder {
    /// The lower (or upper) factor of a positive definite matrix, of which that triangle is read.
    pub fn cholesky(&mut self, of: Slot, lower: bool, on_error: OnError) -> Built<Slot> {
        let dtype = self.check_matrix(of)?;
        self.check_float(of)?;
        self.made(dtype, 2, |to| InstrKind::Cholesky { of, to, lower, on_error })
    }

    /// The gradient of a matrix whose lower triangle was factored, given the factor and its
    /// gradient, both read below the diagonal only.
    pub fn cholesky_gradient(&mut self, factor: Slot, gradient: Slot) -> Built<Slot> {
        let dtype = self.check_matrix(factor)?;
        self.check_float(factor)?;
        self.check_matrix(gradient)?;
        self.check_dtype(gradient, dtype)?;
        self.made(dtype, 2, |to| InstrKind::CholeskyGradient { factor, gradient, to })
    }

    /// The solution of a system of equations; `b` is a vector, or a matrix of them in columns.
    pub fn solve_triangular(
        &mut self,
        a: Slot,
        b: Slot,
        form: TriangularForm,
        on_error: OnError,
    ) -> Built<Slot> {
        let dtype = self.check_matrix(a)?;
        self.check_float(a)?;
        let ndim = self.check_right_side(b, dtype)?;
        self.made(dtype, ndim, |to| InstrKind::Solve { a, b, to, form, on_error })
    }

    /// The factors of a square matrix, in one matrix, and for each row the one that it changed
    /// places with, in an `int32` vector.
    pub fn lu(&mut self, of: Slot) -> Built<[Slot; 2]> {
        let dtype = self.check_matrix(of)?;
        self.check_float(of)?;
        let dynamic = self.depends([of], [])?;
        let to = self.result(dtype, 2, dynamic)?;
        let pivots = self.result(DType::Int32, 1, dynamic)?;
        self.push(InstrKind::Lu { of, to, pivots }, dynamic);
        Ok([to, pivots])
    }

    /// The solution of a system of equations (with the matrix transposed, if so), given what
    /// [`Builder::lu`] makes of its matrix, and `b`: a vector, or a matrix of them in columns.
    pub fn lu_solve(
        &mut self,
        [factors, pivots, b]: [Slot; 3],
        transposed: bool,
        on_error: OnError,
    ) -> Built<Slot> {
        let dtype = self.check_matrix(factors)?;
        self.check_float(factors)?;
        self.check_dtype(pivots, DType::Int32)?;
        self.check_rank(pivots, 1, "the partners of rows are a vector")?;
        let ndim = self.check_right_side(b, dtype)?;
        self.made(dtype, ndim, |to| InstrKind::LuSolve {
            factors,
            pivots,
            b,
            to,
            transposed,
            on_error,
        })
    }

    /// The rank of the right side of a system.
    fn check_right_side(&self, b: Slot, dtype: DType) -> Built<usize> {
        let given = self.info(b)?.ndim;
        if !(1..=2).contains(&given) {
            let needed = "the right side of a system is a vector or a matrix";
            return Err(BuildError::Rank { slot: b, given, needed });
        }
        self.check_dtype(b, dtype)?;
        Ok(given)
    }
}
