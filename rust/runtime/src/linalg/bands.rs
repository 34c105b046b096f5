//! Systems of equations with matrices that have elements in a few diagonals only.

use frazil_core::DType;
use serde::{Deserialize, Serialize};

use crate::allocation::buffer::ALIGNMENT;
use crate::arrays::layout::Layout;
use crate::arrays::strided::TransferPlan;
use crate::error::Fault;
use crate::linalg::lapack::OnError;
use crate::linalg::matrix::blas_int;
use crate::linalg::routine::decompositions::INTEGER;
use crate::linalg::routine::systems::{gbsv, gesv, gtsv};
use crate::linalg::routine::{Element, MatrixOut};
use crate::threads::attention::Patience;

/// The elements of a matrix, and its layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BandForm {
    /// The numbers of diagonals below and above the main one that have elements; others are not read. `None`:
    /// a run finds out.
    pub bands: Option<[u32; 2]>,
    /// Rows of the operand are these diagonals, the highest first, each element in its column.
    /// Else it is the matrix.
    pub packed: bool,
    /// The transposed matrix is solved for.
    pub transposed: bool,
}

impl BandForm {
    /// The rows that a packed operand has.
    fn diagonals(self) -> i64 {
        self.bands.map_or(0, |[below, above]| i64::from(below) + i64::from(above) + 1)
    }

    /// The numbers of rows and columns of the matrix with the layout `a`.
    fn size(self, a: &Layout) -> Result<i64, Fault> {
        let &[.., rows, columns] = &a.dims[..] else { return Ok(0) };
        if self.packed && rows != self.diagonals() {
            return Err(Fault::Diagonals { needed: self.diagonals(), given: rows });
        }
        if !self.packed && rows != columns {
            return Err(Fault::NotSquare { what: "solve", dims: a.dims.to_vec() });
        }
        Ok(columns)
    }

    /// Checks the shapes of systems `a x = b`.
    pub(crate) fn check(self, a: &Layout, b: &Layout) -> Result<(), Fault> {
        if b.dims[a.ndim() - 2] == self.size(a)? {
            return Ok(());
        }
        let what = if self.packed { "solve_banded" } else { "solve" };
        Err(Fault::RightSide { what, a: a.dims.to_vec(), b: b.dims.to_vec() })
    }
}

/// The solution of a system of equations.
#[derive(Debug)]
pub(crate) struct BandPlan {
    dtype: DType,
    on_error: OnError,
    size: i32,
    /// The columns of the right side.
    columns: i32,
    /// Diagonals below and above the main one of the matrix that is solved for.
    bands: Option<[i32; 2]>,
    /// Bytes from where the operand starts to the first element of that matrix, from one row to the
    /// next and along a row.
    first: i64,
    steps: [i64; 2],
    /// The copy of the right side to the result, if it is not there.
    start: Option<TransferPlan>,
    /// Bytes of scratch memory for elements, before those for integers.
    elements: usize,
}

impl BandPlan {
    /// The plan for operands that [`BandForm::check`] admits; `None`: the right side is the solution that the
    /// result holds already. `result` is in Fortran order.
    pub(crate) fn new(
        dtype: DType,
        (form, on_error): (BandForm, OnError),
        a: &Layout,
        b: Option<&Layout>,
        result: &Layout,
    ) -> Result<BandPlan, Fault> {
        let size = blas_int(form.size(a)?)?;
        let mut steps = [a.strides[0], a.strides[1]];
        let mut first = 0;
        let mut bands = form.bands;
        if let (true, Some([_, above])) = (form.packed, bands) {
            // An element is in its column, and as many rows lower as it is below its diagonal.
            first = i64::from(above) * steps[0];
            steps = [steps[0], steps[1] - steps[0]];
        }
        if form.transposed {
            steps.reverse();
            bands = bands.map(|[below, above]| [above, below]);
        }
        let most = size.max(1) as u32 - 1;
        let bands = bands.map(|bands| bands.map(|count| count.min(most) as i32));
        let width = bands.map_or(i64::from(size), |bands| width(bands).min(size.into())).max(3);
        let bytes = width as usize * size as usize * dtype.itemsize();
        Ok(BandPlan {
            dtype,
            on_error,
            size,
            columns: blas_int(result.dims.get(1).copied().unwrap_or(1))?,
            bands,
            first,
            steps,
            start: b.map(|b| TransferPlan::copy(dtype, b, result)),
            elements: bytes.next_multiple_of(ALIGNMENT),
        })
    }

    /// The bytes of scratch memory that a run needs.
    pub(crate) fn scratch(&self) -> usize {
        self.elements + self.size as usize * INTEGER
    }

    /// Writes the solution.
    ///
    /// # Safety
    /// As for [`crate::linalg::stack::StackPlan::run`].
    pub(crate) unsafe fn run(&self, places: [*mut u8; 3], scratch: *mut u8) -> Result<(), Fault> {
        let [a, b, result] = places;
        if self.size == 0 || self.columns == 0 {
            return Ok(());
        }
        // SAFETY: by the caller's promise, the operands and the result have the layouts of the plan.
        unsafe {
            if let Some(start) = &self.start {
                start.run(result, b)?;
            }
            let done = match self.dtype {
                DType::Float32 => self.solve::<f32>(a, result, scratch),
                _ => self.solve::<f64>(a, result, scratch),
            };
            let count = i64::from(self.size) * i64::from(self.columns);
            self.on_error.settle(done, self.dtype, result, count)
        }
    }

    /// # Safety
    /// As for `run`, with elements of type `T` and the right side in the result.
    unsafe fn solve<T: Element>(
        &self,
        a: *const u8,
        result: *mut u8,
        scratch: *mut u8,
    ) -> Result<(), Fault> {
        let matrix = Strided { at: a.wrapping_offset(self.first as isize), steps: self.steps };
        let x = MatrixOut { at: result.cast::<T>(), leading: self.size };
        let at = scratch.cast::<T>();
        let pivots = scratch.wrapping_add(self.elements);
        let sizes = [self.size, self.columns];
        // SAFETY: by the caller's promise; the scratch memory is as large as each of these needs.
        let failed = unsafe {
            let bands = match self.bands {
                Some(bands) => bands,
                None => matrix.bands::<T>(self.size)?,
            };
            let n = self.size as usize;
            if bands.iter().all(|&count| count <= 1) {
                // As if columns were elements of the three diagonals, the highest first.
                at.write_bytes(0, 3 * n);
                matrix.copy::<T>(self.size, bands, [n as isize, 1 - n as isize], at.add(n))?;
                gtsv(sizes, [at.add(2 * n), at.add(n), at.add(1)], x)?
            } else if width(bands) < self.size.into() {
                let leading = width(bands) as i32;
                let steps = [1, leading as isize - 1];
                let first = at.add((bands[0] + bands[1]) as usize);
                matrix.copy::<T>(self.size, bands, steps, first)?;
                gbsv(sizes, bands, MatrixOut { at, leading }, pivots, x)?
            } else {
                at.write_bytes(0, n * n);
                matrix.copy::<T>(self.size, bands, [1, n as isize], at)?;
                gesv(sizes, MatrixOut { at, leading: self.size }, pivots, x)?
            }
        };
        match failed {
            None => Ok(()),
            Some(row) => Err(Fault::SingularMatrix { row: i64::from(row) - 1 }),
        }
    }
}

/// The rows that LAPACK works in.
fn width([below, above]: [i32; 2]) -> i64 {
    2 * i64::from(below) + i64::from(above) + 1
}

/// A matrix, by the bytes from row to row and along a row.
#[derive(Clone, Copy)]
struct Strided {
    at: *const u8,
    steps: [i64; 2],
}

impl Strided {
    /// # Safety
    /// There is such an element.
    unsafe fn get<T: Element>(self, row: i32, column: i32) -> T {
        let offset = i64::from(row) * self.steps[0] + i64::from(column) * self.steps[1];
        // SAFETY: by the caller's promise, there is such an element.
        unsafe { self.at.wrapping_offset(offset as isize).cast::<T>().read() }
    }

    /// The number of diagonals below and above the main one with elements that are not zero.
    ///
    /// # Safety
    /// The matrix has so many rows and columns.
    unsafe fn bands<T: Element>(self, size: i32) -> Result<[i32; 2], Fault> {
        let [down, right] = self.steps.map(i64::abs);
        if down < right {
            let turned = Strided { steps: [self.steps[1], self.steps[0]], ..self };
            // SAFETY: by the caller's promise, the matrix has so many rows and columns.
            let [above, below] = unsafe { turned.bands_of_rows::<T>(size)? };
            return Ok([below, above]);
        }
        // SAFETY: by the caller's promise, the matrix has so many rows and columns.
        unsafe { self.bands_of_rows::<T>(size) }
    }

    /// # Safety
    /// As for `bands`.
    unsafe fn bands_of_rows<T: Element>(self, size: i32) -> Result<[i32; 2], Fault> {
        let (mut below, mut above) = (0, 0);
        let mut patience = Patience::new();
        for row in 0..size {
            // SAFETY: all positions are inside the matrix.
            let has = |column: &i32| unsafe { self.get::<T>(row, *column) != T::ZERO };
            if let Some(column) = (0..row - below).find(has) {
                below = row - column;
            }
            if let Some(column) = (row + above + 1..size).rev().find(has) {
                above = column - row;
            }
            patience.spend(size.into())?;
        }
        Ok([below, above])
    }

    /// Copies the elements of these diagonals to where `steps` say, from `first` on.
    ///
    /// # Safety
    /// The matrix has so many rows and columns, and there is a place for each of these elements.
    unsafe fn copy<T: Element>(
        self,
        size: i32,
        [below, above]: [i32; 2],
        steps: [isize; 2],
        first: *mut T,
    ) -> Result<(), Fault> {
        let mut patience = Patience::new();
        for column in 0..size {
            let (top, bottom) = ((column - above).max(0), (column + below).min(size - 1));
            for row in top..=bottom {
                let offset = row as isize * steps[0] + column as isize * steps[1];
                // SAFETY: by the caller's promise, the matrix has the element, and there is a place for it.
                unsafe { first.wrapping_offset(offset).write(self.get::<T>(row, column)) };
            }
            patience.spend((bottom - top + 1).into())?;
        }
        Ok(())
    }
}
