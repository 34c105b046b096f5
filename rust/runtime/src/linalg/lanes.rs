//! Factors and systems of many small matrices: side by side, one matrix a lane of a register.

mod columns;
#[cfg(target_arch = "x86_64")]
mod kernels;
mod rotations;
mod strip;
mod turns;
mod wide;

#[cfg(target_arch = "x86_64")]
use self::columns::SideBySide;
use self::columns::{Alone, Columns};
#[cfg(target_arch = "x86_64")]
use self::kernels::{cholesky, lu, lu_solve, place_rows, solve};
use self::strip::Strip;
#[cfg(target_arch = "x86_64")]
use self::wide::F64x4;
use self::wide::{One, Wide};

use frazil_core::DType;
use smallvec::SmallVec;

use crate::arrays::layout::Layout;
use crate::linalg::lapack::TriangularForm;
use crate::linalg::routine::Element;
use crate::linalg::small::SMALL;
use crate::processor::Level;

/// The operation on each matrix.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Work {
    /// The factor of a matrix, the lower or the upper one.
    Cholesky { lower: bool },
    /// The factors of a matrix, and the partners of its rows.
    Lu,
    /// The solution, given factors, partners and a right side.
    LuSolve { transposed: bool },
    /// The solution, given a triangle and a right side.
    Solve(TriangularForm),
    /// The eigenvalues of a symmetric matrix, of which one triangle is read.
    Eigenvalues { lower: bool },
    /// The singular values.
    SingularValues,
}

impl Work {
    /// Finds the values of one small matrix, of columns without gaps, with the bits that it has
    /// among many. Whether they were found; if not, nothing is written.
    ///
    /// # Safety
    /// The matrix has so many rows and columns, at most [`SMALL`], `values` as many elements as it
    /// has of those that are fewer.
    pub(crate) unsafe fn values_of_one<T: Element>(
        self,
        [rows, columns]: [usize; 2],
        matrix: *mut T,
        values: *mut T,
    ) -> bool {
        let matrix = Strip { at: matrix, down: 1, right: rows as isize, next: 0, count: 1 };
        let values = Strip { at: values, down: 1, right: 0, next: 0, count: 1 };
        #[cfg(target_arch = "x86_64")]
        if Level::best().is_some() {
            // SAFETY: by the caller's promise; the processor has AVX2.
            return unsafe { self.values_by_registers([rows, columns], matrix, values) };
        }
        // SAFETY: by the caller's promise; one lane needs no registers.
        unsafe { self.values::<One, Alone<One>, T>([rows, columns], matrix, values) }
    }

    /// As `values`, of one matrix.
    ///
    /// # Safety
    /// As for `values_of_one`, on a processor with AVX2.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    unsafe fn values_by_registers<T: Element>(
        self,
        dims: [usize; 2],
        matrix: Strip<T>,
        values: Strip<T>,
    ) -> bool {
        // SAFETY: by the caller's promise, the processor has AVX2, and the matrix and the values
        // are as large as `dims` says.
        unsafe { self.values::<One, Alone<F64x4>, T>(dims, matrix, values) }
    }

    /// # Safety
    /// The matrices have so many rows and columns, at most [`SMALL`]; the processor has the
    /// registers.
    #[inline(always)]
    unsafe fn values<V: Wide<Item = f64>, C: Columns<V>, T: Element>(
        self,
        [rows, columns]: [usize; 2],
        matrix: Strip<T>,
        values: Strip<T>,
    ) -> bool {
        // SAFETY: by the caller's promise, the processor has the registers, and the matrices are as
        // large as `dims` says.
        unsafe {
            match self {
                Work::Eigenvalues { lower } => {
                    let read = if lower { matrix } else { matrix.transposed() };
                    rotations::eigenvalues::<V, C, T>(rows, read, values)
                }
                Work::SingularValues if rows >= columns => {
                    rotations::singular_values::<V, C, T>([rows, columns], matrix, values)
                }
                Work::SingularValues => {
                    let turned = matrix.transposed();
                    rotations::singular_values::<V, C, T>([columns, rows], turned, values)
                }
                _ => false,
            }
        }
    }
}

/// The layouts of matrices of one size.
#[derive(Debug)]
pub(crate) struct LanePlan {
    work: Work,
    dtype: DType,
    size: usize,
    /// Of the right side, or of the matrices whose values are wanted.
    columns: usize,
    /// For each operand and result: elements from row to row and along a row.
    steps: SmallVec<[[isize; 2]; 4]>,
}

impl LanePlan {
    /// The plan for operands and results of these layouts behind `front` axes; `None` for matrices
    /// that are large, or have elements where none of their type is aligned, and on a processor
    /// without the registers.
    pub(crate) fn new(
        work: Work,
        dtype: DType,
        layouts: &[&Layout],
        front: usize,
    ) -> Option<LanePlan> {
        let size = layouts[0].dims[front];
        let is_square = !matches!(work, Work::Lu) || layouts[0].dims[front + 1] == size;
        if !(1..=SMALL).contains(&size) || !is_square || Level::best().is_none() {
            return None;
        }
        let mut steps = SmallVec::new();
        for (at, layout) in layouts.iter().enumerate() {
            let item = match (work, at) {
                (Work::Lu, 2) | (Work::LuSolve { .. }, 1) => 4,
                (Work::Lu, 3) => 8,
                _ => dtype.itemsize() as i64,
            };
            if layout.strides.iter().any(|stride| stride % item != 0) {
                return None;
            }
            let step = |axis: usize| layout.strides.get(axis).map_or(0, |&s| (s / item) as isize);
            steps.push([step(front), step(front + 1)]);
        }
        let right = match work {
            Work::Cholesky { .. } | Work::Lu => None,
            Work::LuSolve { .. } => layouts[2].dims.get(front + 1),
            Work::Solve(_) => layouts[1].dims.get(front + 1),
            Work::Eigenvalues { .. } | Work::SingularValues => layouts[0].dims.get(front + 1),
        };
        let columns = right.map_or(1, |&columns| columns as usize);
        Some(LanePlan { work, dtype, size: size as usize, columns, steps })
    }

    /// The number of matrices that are worked on at once.
    pub(crate) fn lanes(&self) -> i64 {
        let is_wide = matches!(self.work, Work::Eigenvalues { .. } | Work::SingularValues);
        if self.dtype == DType::Float32 && !is_wide { 8 } else { 4 }
    }
}

#[cfg(not(target_arch = "x86_64"))]
impl LanePlan {
    /// There are no such plans.
    ///
    /// # Safety
    /// None is needed.
    pub(crate) unsafe fn run(&self, _: &[*mut u8], _: &[i64], _: usize) -> bool {
        false
    }
}

#[cfg(target_arch = "x86_64")]
impl LanePlan {
    /// Does it for `count` matrices, at most [`LanePlan::lanes`]: `places` are the places of the operands
    /// and results of the first, `next` the bytes to those of the next. Returns whether it did; where
    /// one of the matrices cannot be factored, nothing is written.
    ///
    /// # Safety
    /// All matrices have the layouts of the plan, aligned, the results apart from the operands but
    /// for one that is the operand; nothing else writes to the results.
    pub(crate) unsafe fn run(&self, places: &[*mut u8], next: &[i64], count: usize) -> bool {
        // SAFETY: there are plans on processors with AVX2 alone; else by the caller's promise.
        unsafe {
            match (self.work, self.dtype) {
                (Work::Eigenvalues { .. } | Work::SingularValues, DType::Float32) => {
                    self.values::<f32>(places, next, count)
                }
                (Work::Eigenvalues { .. } | Work::SingularValues, _) => {
                    self.values::<f64>(places, next, count)
                }
                (_, DType::Float32) => self.sized::<wide::F32x8>(places, next, count),
                _ => self.sized::<F64x4>(places, next, count),
            }
        }
    }

    /// # Safety
    /// As for `run`, on a processor with AVX2.
    #[target_feature(enable = "avx2")]
    #[inline(never)]
    unsafe fn values<T: Element>(&self, places: &[*mut u8], next: &[i64], count: usize) -> bool {
        let matrix = self.strip::<T>(places, next, count, 0);
        let values = self.strip::<T>(places, next, count, 1);
        // SAFETY: by the caller's promise, the processor has AVX2, and the matrices are those of `run`.
        unsafe {
            let dims = [self.size, self.columns];
            self.work.values::<F64x4, SideBySide<F64x4>, T>(dims, matrix, values)
        }
    }

    /// # Safety
    /// As for `run`, on a processor with AVX2.
    #[inline(always)]
    unsafe fn sized<V: Wide>(&self, places: &[*mut u8], next: &[i64], count: usize) -> bool {
        // SAFETY: by the caller's promise; the size is at most eight.
        unsafe {
            match self.size {
                1 => self.of_size::<V, 1>(places, next, count),
                2 => self.of_size::<V, 2>(places, next, count),
                3 => self.of_size::<V, 3>(places, next, count),
                4 => self.of_size::<V, 4>(places, next, count),
                5 => self.of_size::<V, 5>(places, next, count),
                6 => self.of_size::<V, 6>(places, next, count),
                7 => self.of_size::<V, 7>(places, next, count),
                _ => self.of_size::<V, 8>(places, next, count),
            }
        }
    }

    /// # Safety
    /// As for `sized`, for matrices of `N` rows.
    #[inline(always)]
    unsafe fn of_size<V: Wide, const N: usize>(
        &self,
        places: &[*mut u8],
        next: &[i64],
        count: usize,
    ) -> bool {
        let strip = |at: usize| self.strip::<V::Item>(places, next, count, at);
        // SAFETY: by the caller's promise, the matrices have `N` rows.
        unsafe {
            match self.work {
                Work::Cholesky { lower: true } => cholesky::<V, N>(strip(0), strip(1)),
                Work::Cholesky { lower: false } => {
                    cholesky::<V, N>(strip(0).transposed(), strip(1).transposed())
                }
                Work::Lu => {
                    let pivots = self.strip(places, next, count, 2);
                    lu::<V, N>(strip(0), strip(1), pivots);
                    // The places of rows, if they are wanted.
                    if self.steps.len() > 3 {
                        place_rows(N, pivots, self.strip(places, next, count, 3));
                    }
                    true
                }
                Work::LuSolve { transposed } => {
                    let pivots = self.strip(places, next, count, 1);
                    let sides = [strip(2), strip(3)];
                    lu_solve::<V, N>(strip(0), pivots, sides, self.columns, transposed)
                }
                Work::Solve(form) => {
                    solve::<V, N>(strip(0), [strip(1), strip(2)], self.columns, form)
                }
                Work::Eigenvalues { .. } | Work::SingularValues => false,
            }
        }
    }

    #[inline(always)]
    fn strip<T>(&self, places: &[*mut u8], next: &[i64], count: usize, at: usize) -> Strip<T> {
        let [down, right] = self.steps[at];
        let next = next[at] as isize / size_of::<T>() as isize;
        Strip { at: places[at].cast(), down, right, next, count }
    }
}
