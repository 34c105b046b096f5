//! Factors of square matrices with rows exchanged, and systems of equations with them.

use frazil_core::DType;

use crate::arrays::layout::Layout;
use crate::arrays::strided::TransferPlan;
use crate::error::Fault;
use crate::linalg::lanes::Work;
use crate::linalg::lapack::{OnError, fresh_in_columns};
use crate::linalg::matrix::blas_int;
#[cfg(target_arch = "x86_64")]
use crate::linalg::own::OwnLu;
use crate::linalg::portions::{trsm, trsv};
use crate::linalg::routine::systems::getrf;
use crate::linalg::routine::{Element, MatrixAt, MatrixOut, Side, Triangle};
use crate::linalg::small::{self, Grid, SMALL};
use crate::threads::attention::Patience;

/// The factors of a matrix: in one matrix the upper one and, below the diagonal, the lower one,
/// whose diagonal is of ones; and for each row the one that it changed places with.
#[derive(Debug)]
pub(crate) struct LuPlan {
    dtype: DType,
    rows: i32,
    columns: i32,
    /// The copy of the matrix to the result, if it is not there.
    start: Option<TransferPlan>,
}

/// The solution of a system of equations, given the factors of its matrix.
#[derive(Debug)]
pub(crate) struct LuSolvePlan {
    dtype: DType,
    size: i32,
    /// The columns of the right side; `None` for a vector.
    columns: Option<i32>,
    transposed: bool,
    on_error: OnError,
    /// The copy that brings factors into Fortran order.
    pack: Option<TransferPlan>,
    /// The copy of the right side to the result, if it is not there.
    start: Option<TransferPlan>,
    scratch: usize,
    /// Bytes from one row's partner to the next.
    pivot_step: i64,
}

impl LuPlan {
    /// The plan for a matrix; `None`: it is what the result holds already. `result` is laid out as
    /// [`fresh_in_columns`] says.
    pub(crate) fn new(dtype: DType, a: Option<&Layout>, result: &Layout) -> Result<LuPlan, Fault> {
        Ok(LuPlan {
            dtype,
            rows: blas_int(result.dims[0])?,
            columns: blas_int(result.dims[1])?,
            start: a.map(|a| TransferPlan::copy(dtype, a, result)),
        })
    }

    /// The operation.
    pub(crate) fn work(&self) -> (Work, DType) {
        (Work::Lu, self.dtype)
    }

    /// Writes the factors and the partners of the rows, and the place of each row in the product of
    /// the factors, if that is wanted.
    ///
    /// # Safety
    /// The operand and the result have the layouts of the plan, aligned, the result apart from the
    /// operand unless it holds it already; `pivots` has an element for each row or column, whichever
    /// are fewer, and `places` for each row.
    pub(crate) unsafe fn run(
        &self,
        a: *const u8,
        result: *mut u8,
        pivots: *mut i32,
        places: Option<*mut i64>,
    ) -> Result<(), Fault> {
        // SAFETY: by the caller's promise, operand and result have the layouts of the plan.
        unsafe {
            if let Some(start) = &self.start {
                start.run(result, a)?;
            }
            if self.dtype == DType::Float32 {
                self.factor::<f32>(result.cast(), pivots)?;
            } else {
                self.factor::<f64>(result.cast(), pivots)?;
            }
            if let Some(places) = places {
                self.place(pivots, places);
            }
        }
        Ok(())
    }

    /// Writes the place of each row: the exchanges, taken back from the last to the first.
    ///
    /// # Safety
    /// As for `run`, with the partners in `pivots`.
    unsafe fn place(&self, pivots: *const i32, places: *mut i64) {
        let [rows, columns] = [self.rows, self.columns].map(|length| length as usize);
        // SAFETY: by the caller's promise; a partner is a row of the matrix.
        unsafe {
            for row in 0..rows {
                places.add(row).write(row as i64);
            }
            for row in (0..rows.min(columns)).rev() {
                places.add(row).swap(places.add(pivots.add(row).read() as usize));
            }
        }
    }

    /// # Safety
    /// As for `run`, with elements of type `T`, and the matrix in the result.
    unsafe fn factor<T: Element>(&self, matrix: *mut T, pivots: *mut i32) -> Result<(), Fault> {
        let [rows, columns] = [self.rows, self.columns].map(|length| length as usize);
        if rows == 0 || columns == 0 {
            return Ok(());
        }
        // SAFETY: by the caller's promise; the result has no gaps.
        unsafe {
            if i64::from(self.rows.max(self.columns)) <= SMALL {
                small::factor([rows, columns], Grid::in_columns(matrix, rows), pivots);
                return Ok(());
            }
            #[cfg(target_arch = "x86_64")]
            if let Some(own) = OwnLu::new([rows, columns], size_of::<T>()) {
                own.run(matrix, pivots);
                return Ok(());
            }
            let matrix = MatrixOut { at: matrix, leading: self.rows };
            getrf([self.rows, self.columns], matrix, pivots)?;
            for row in 0..rows.min(columns) {
                let pivot = pivots.add(row);
                pivot.write(pivot.read() - 1);
            }
        }
        Ok(())
    }
}

impl LuSolvePlan {
    /// The plan for factors and a right side of as many rows; `None`: that is what the result holds
    /// already. `result` is in Fortran order.
    pub(crate) fn new(
        dtype: DType,
        (transposed, on_error): (bool, OnError),
        factors: &Layout,
        pivots: &Layout,
        b: Option<&Layout>,
        result: &Layout,
    ) -> Result<LuSolvePlan, Fault> {
        let lies = fresh_in_columns(&factors.dims, dtype.itemsize())?;
        let pack = (*factors != lies).then(|| TransferPlan::copy(dtype, factors, &lies));
        Ok(LuSolvePlan {
            dtype,
            size: blas_int(factors.dims[0])?,
            columns: result.dims.get(1).map(|&columns| blas_int(columns)).transpose()?,
            transposed,
            on_error,
            scratch: if pack.is_some() { factors.len() as usize * dtype.itemsize() } else { 0 },
            pack,
            start: b.map(|b| TransferPlan::copy(dtype, b, result)),
            pivot_step: pivots.strides[0],
        })
    }

    /// The operation.
    pub(crate) fn work(&self) -> (Work, DType) {
        (Work::LuSolve { transposed: self.transposed }, self.dtype)
    }

    /// The bytes of scratch memory that a run needs.
    pub(crate) fn scratch(&self) -> usize {
        self.scratch
    }

    /// Writes the solution.
    ///
    /// # Safety
    /// The operands (factors, partners of rows, right side) and the result have the layouts of the
    /// plan, aligned, the result apart from the operands unless it holds the right side already;
    /// `scratch` is aligned and as large as [`LuSolvePlan::scratch`] says.
    pub(crate) unsafe fn run(&self, places: [*mut u8; 4], scratch: *mut u8) -> Result<(), Fault> {
        let [factors, pivots, b, result] = places;
        if self.size == 0 {
            return Ok(());
        }
        // A right side without columns needs no solution; that there is none it tells all the same.
        let mut at = factors;
        // SAFETY: by the caller's promise, operands, result and scratch memory are as the plan
        // says.
        unsafe {
            if let Some(pack) = &self.pack {
                pack.run(scratch, factors)?;
                at = scratch;
            }
            if let Some(start) = &self.start {
                start.run(result, b)?;
            }
            let done = if self.dtype == DType::Float32 {
                self.solve::<f32>(at.cast(), pivots, result.cast())
            } else {
                self.solve::<f64>(at.cast(), pivots, result.cast())
            };
            let count = i64::from(self.size) * i64::from(self.columns.unwrap_or(1));
            self.on_error.settle(done, self.dtype, result, count)
        }
    }

    /// # Safety
    /// As for `run`, with elements of type `T`, the right side in the result and the factors in
    /// Fortran order.
    unsafe fn solve<T: Element>(
        &self,
        factors: *const T,
        pivots: *const u8,
        result: *mut T,
    ) -> Result<(), Fault> {
        let size = self.size as usize;
        for row in 0..size {
            // SAFETY: an element of the diagonal.
            if unsafe { factors.add(row * (size + 1)).read() } == T::ZERO {
                return Err(Fault::SingularMatrix { row: row as i64 });
            }
        }
        let lower = Triangle { lower: true, unit: true };
        let upper = Triangle { lower: false, unit: false };
        // SAFETY: by the caller's promise, factors, partners and right side have the size of the
        // plan.
        unsafe {
            if self.transposed {
                // u' l' p' x = b
                self.solve_triangle(upper, factors, result)?;
                self.solve_triangle(lower, factors, result)?;
                self.exchange((0..size).rev(), pivots, result)
            } else {
                self.exchange(0..size, pivots, result)?;
                self.solve_triangle(lower, factors, result)?;
                self.solve_triangle(upper, factors, result)
            }
        }
    }

    /// Has each of these rows change places with its partner.
    ///
    /// # Safety
    /// As for `solve`.
    unsafe fn exchange<T: Element>(
        &self,
        rows: impl Iterator<Item = usize>,
        pivots: *const u8,
        result: *mut T,
    ) -> Result<(), Fault> {
        let size = self.size as usize;
        let x = Grid::in_columns(result, size);
        let columns = self.columns.unwrap_or(1);
        let mut patience = Patience::new();
        for row in rows {
            let place = pivots.wrapping_offset((row as i64 * self.pivot_step) as isize);
            // The partners may be any numbers, and another thread may write there meanwhile: so each is
            // read once, checked and used.
            // SAFETY: there is a partner for each row.
            let partner = unsafe { place.cast::<i32>().read_volatile() };
            let Some(partner) = usize::try_from(partner).ok().filter(|&at| at < size) else {
                return Err(Fault::Partner { row: row as i64, partner: partner.into() });
            };
            // SAFETY: both rows exist.
            unsafe { x.swap_rows(row, partner, columns as usize) };
            patience.spend(columns.into())?;
        }
        Ok(())
    }

    /// # Safety
    /// As for `solve`.
    unsafe fn solve_triangle<T: Element>(
        &self,
        triangle: Triangle,
        factors: *const T,
        result: *mut T,
    ) -> Result<(), Fault> {
        let size = self.size as usize;
        // SAFETY: by the caller's promise; neither matrix has gaps.
        unsafe {
            if i64::from(self.size) <= SMALL {
                let (mut a, mut seen) = (Grid::in_columns(factors.cast_mut(), size), triangle);
                if self.transposed {
                    a = a.transposed();
                    seen.lower = !triangle.lower;
                }
                let columns = self.columns.unwrap_or(1) as usize;
                small::solve(size, columns, seen, a, Grid::in_columns(result, size));
                return Ok(());
            }
            let a = MatrixAt { at: factors, leading: self.size, transposed: self.transposed };
            match self.columns {
                None => trsv(self.size, triangle, a, result),
                Some(columns) => {
                    let x = MatrixOut { at: result, leading: self.size };
                    trsm((Side::Left, triangle), [self.size, columns], a, x)
                }
            }
        }
    }
}
