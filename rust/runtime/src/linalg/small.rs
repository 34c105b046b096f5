//! Products, factors and systems of small matrices, for which a call of BLAS or LAPACK costs more than its work.

use crate::arrays::layout::Layout;
use crate::linalg::routine::{Element, Triangle};
#[cfg(target_arch = "x86_64")]
use crate::processor::Level;

/// Rows and columns of what is small.
pub(crate) const SMALL: i64 = 8;

/// The product of two small operands of rank 1 or 2: a vector in front is a row, one behind a column.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SmallDot {
    rows: usize,
    inner: usize,
    columns: usize,
    /// Elements from row to row of the first operand, and along a row.
    a: [isize; 2],
    /// Elements from row to row of the second operand, and along a row.
    b: [isize; 2],
}

impl SmallDot {
    /// The product of operands whose shapes agree; `None` if one is large, or has elements where
    /// none of its type is aligned.
    pub(crate) fn new(a: &Layout, b: &Layout, item: usize) -> Option<SmallDot> {
        let item = item as i64;
        if a.dims.iter().chain(&b.dims).any(|&length| length > SMALL)
            || a.strides.iter().chain(&b.strides).any(|stride| stride % item != 0)
        {
            return None;
        }
        let step = |layout: &Layout, axis: usize| (layout.strides[axis] / item) as isize;
        let (rows, a_steps) = match a.ndim() {
            1 => (1, [0, step(a, 0)]),
            _ => (a.dims[0], [step(a, 0), step(a, 1)]),
        };
        let (columns, b_steps) = match b.ndim() {
            1 => (1, [step(b, 0), 1]),
            _ => (b.dims[1], [step(b, 0), step(b, 1)]),
        };
        Some(SmallDot {
            rows: rows as usize,
            inner: b.dims[0] as usize,
            columns: columns as usize,
            a: a_steps,
            b: b_steps,
        })
    }

    /// `result = alpha a b + beta result`, in C order. Where `beta` is zero, `result` may hold
    /// anything.
    ///
    /// # Safety
    /// The operands have the layouts of the product; `result` is as large as it, aligned and apart
    /// from them.
    pub(crate) unsafe fn run<T: Element>(
        &self,
        operands: [*const T; 2],
        scales: (T, T),
        result: *mut T,
    ) {
        // Wider registers take more columns at once; what is added to what stays the same.
        #[cfg(target_arch = "x86_64")]
        if Level::best().is_some() {
            // SAFETY: the processor has AVX2 at every level, and by the caller's promise.
            unsafe { self.run_wide(operands, scales, result) };
            return;
        }
        // SAFETY: by the caller's promise.
        unsafe { self.rows(operands, scales, result) };
    }

    /// # Safety
    /// As for `run`, on a processor with AVX2.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    unsafe fn run_wide<T: Element>(&self, operands: [*const T; 2], scales: (T, T), result: *mut T) {
        // SAFETY: by the caller's promise.
        unsafe { self.rows(operands, scales, result) };
    }

    /// # Safety
    /// As for `run`.
    #[inline(always)]
    unsafe fn rows<T: Element>(&self, operands: [*const T; 2], scales: (T, T), result: *mut T) {
        // SAFETY: by the caller's promise.
        unsafe {
            match self.columns {
                1 => self.columns::<T, 1>(operands, scales, result),
                2 => self.columns::<T, 2>(operands, scales, result),
                3 => self.columns::<T, 3>(operands, scales, result),
                4 => self.columns::<T, 4>(operands, scales, result),
                5 => self.columns::<T, 5>(operands, scales, result),
                6 => self.columns::<T, 6>(operands, scales, result),
                7 => self.columns::<T, 7>(operands, scales, result),
                _ => self.columns::<T, 8>(operands, scales, result),
            }
        }
    }

    /// # Safety
    /// As for `run`, where the result has `COLUMNS` columns.
    #[inline(always)]
    unsafe fn columns<T: Element, const COLUMNS: usize>(
        &self,
        [a, b]: [*const T; 2],
        scales: (T, T),
        result: *mut T,
    ) {
        for row in 0..self.rows {
            let a = a.wrapping_offset(row as isize * self.a[0]);
            let result = result.wrapping_add(row * COLUMNS);
            // SAFETY: by the caller's promise, for the row.
            unsafe {
                // A step that is known makes loads of whole rows of them.
                if self.b[1] == 1 {
                    self.row::<T, COLUMNS>(a, b, 1, scales, result);
                } else {
                    self.row::<T, COLUMNS>(a, b, self.b[1], scales, result);
                }
            }
        }
    }

    /// # Safety
    /// As for `run`, for one row of `a` and of the result, of `COLUMNS` columns.
    #[inline(always)]
    unsafe fn row<T: Element, const COLUMNS: usize>(
        &self,
        a: *const T,
        b: *const T,
        along: isize,
        (alpha, beta): (T, T),
        result: *mut T,
    ) {
        let mut sums = [T::ZERO; COLUMNS];
        for k in 0..self.inner as isize {
            // SAFETY: all positions are inside the operands.
            unsafe {
                let factor = a.wrapping_offset(k * self.a[1]).read();
                let line = b.wrapping_offset(k * self.b[0]);
                for (at, sum) in sums.iter_mut().enumerate() {
                    *sum = *sum + factor * line.wrapping_offset(at as isize * along).read();
                }
            }
        }
        for (at, &sum) in sums.iter().enumerate() {
            let place = result.wrapping_add(at);
            // SAFETY: the row of the result has so many elements.
            unsafe {
                let value =
                    if beta == T::ZERO { alpha * sum } else { alpha * sum + beta * place.read() };
                place.write(value);
            }
        }
    }
}

/// A matrix, by the elements from row to row and along a row.
#[derive(Clone, Copy)]
pub(crate) struct Grid<T> {
    pub(crate) at: *mut T,
    pub(crate) down: usize,
    pub(crate) right: usize,
}

impl<T: Element> Grid<T> {
    /// In column-major order.
    pub(crate) fn in_columns(at: *mut T, leading: usize) -> Grid<T> {
        Grid { at, down: 1, right: leading }
    }

    pub(crate) fn transposed(self) -> Grid<T> {
        Grid { at: self.at, down: self.right, right: self.down }
    }

    fn place(self, row: usize, column: usize) -> *mut T {
        self.at.wrapping_add(row * self.down + column * self.right)
    }

    /// # Safety
    /// The position is inside the matrix.
    unsafe fn get(self, row: usize, column: usize) -> T {
        // SAFETY: by the caller's promise.
        unsafe { self.place(row, column).read() }
    }

    /// # Safety
    /// The position is inside the matrix, which is written by nobody else.
    unsafe fn set(self, row: usize, column: usize, value: T) {
        // SAFETY: by the caller's promise.
        unsafe { self.place(row, column).write(value) };
    }

    /// Swaps two rows.
    ///
    /// # Safety
    /// The matrix has both rows and so many columns, and is written by nobody else.
    pub(crate) unsafe fn swap_rows(self, one: usize, other: usize, columns: usize) {
        if one != other {
            for column in 0..columns {
                // SAFETY: by the caller's promise.
                unsafe { self.place(one, column).swap(self.place(other, column)) };
            }
        }
    }
}

/// The lower Cholesky factor of the lower triangle of a matrix of `size` rows, in its place. If it
/// has none, the order of the first leading minor that is not positive.
///
/// # Safety
/// The matrix has so many rows and columns, and is written by nobody else.
pub(crate) unsafe fn factor_positive<T: Element>(size: usize, a: Grid<T>) -> Option<i32> {
    for column in 0..size {
        // SAFETY: all positions are inside the matrix.
        unsafe {
            let mut pivot = a.get(column, column);
            for k in 0..column {
                pivot = pivot - a.get(column, k) * a.get(column, k);
            }
            if pivot <= T::ZERO {
                return Some(column as i32 + 1);
            }
            let root = pivot.sqrt();
            a.set(column, column, root);
            for row in column + 1..size {
                let mut sum = a.get(row, column);
                for k in 0..column {
                    sum = sum - a.get(row, k) * a.get(column, k);
                }
                a.set(row, column, sum / root);
            }
        }
    }
    None
}

/// The factors of a matrix of `size` rows, in its place: as LAPACK's `getrf`, but with rows counted
/// from zero in `pivots`.
///
/// # Safety
/// The matrix has so many rows and columns, `pivots` so many elements; nobody else writes to them.
pub(crate) unsafe fn factor<T: Element>(size: usize, a: Grid<T>, pivots: *mut i32) {
    for column in 0..size {
        // SAFETY: all positions are inside the matrix.
        unsafe {
            let mut best = column;
            for row in column + 1..size {
                if a.get(row, column).abs() > a.get(best, column).abs() {
                    best = row;
                }
            }
            pivots.add(column).write(best as i32);
            a.swap_rows(column, best, size);
            let pivot = a.get(column, column);
            if pivot == T::ZERO {
                continue;
            }
            for row in column + 1..size {
                a.set(row, column, a.get(row, column) / pivot);
            }
            for other in column + 1..size {
                let above = a.get(column, other);
                for row in column + 1..size {
                    a.set(row, other, a.get(row, other) - a.get(row, column) * above);
                }
            }
        }
    }
}

/// Solves `a x = b` for a triangle `a` of `size` rows; `x`, of so many columns, holds `b` first.
///
/// # Safety
/// The operands are as large as `size` and `columns` say; `x` is apart from `a`, and written by
/// nobody else.
pub(crate) unsafe fn solve<T: Element>(
    size: usize,
    columns: usize,
    triangle: Triangle,
    a: Grid<T>,
    x: Grid<T>,
) {
    for column in 0..columns {
        for turn in 0..size {
            let row = if triangle.lower { turn } else { size - 1 - turn };
            let known = if triangle.lower { 0..row } else { row + 1..size };
            // SAFETY: all positions are inside the matrices.
            unsafe {
                let mut sum = x.get(row, column);
                for k in known {
                    sum = sum - a.get(row, k) * x.get(k, column);
                }
                x.set(row, column, if triangle.unit { sum } else { sum / a.get(row, row) });
            }
        }
    }
}
