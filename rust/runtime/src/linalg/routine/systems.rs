//! LAPACK's factors of any matrix, and its solutions of systems with any, and with one that has elements in a few
//! diagonals only.

use std::ffi::c_void;

use super::{Element, Found, Integers, MatrixOut};
use crate::error::Fault;

/// The solution for a matrix of `sizes[0]` rows, given by the diagonals below, on and above its
/// main one, which are used up; `x`, of `sizes[1]` columns, holds the right side first. If the
/// matrix is singular, the row of a pivot that is zero, counted from one.
///
/// # Safety
/// The diagonals have as many elements as such a matrix has there, `x` is as large as `sizes` says,
/// and all are apart from each other.
pub(crate) unsafe fn gtsv<T: Element>(
    sizes: [i32; 2],
    [below, on, above]: [*mut T; 3],
    x: MatrixOut<T>,
) -> Result<Option<i32>, Fault> {
    let [n, columns] = sizes;
    // SAFETY: `set_routine`'s caller promised the routine, this one's caller the operands.
    let info = unsafe {
        call_told!(T::GTSV.found()?,
            int n, int columns, at below, at on, at above, at x.at, int x.leading)
    };
    Ok(zero_pivot(info))
}

/// As [`gtsv`], for a matrix with `bands` diagonals below and above its main one. Columns of
/// `a` hold what columns of the matrix have there, after as many rows as there are diagonals below.
///
/// # Safety
/// As for `gtsv`; `a` has `leading` rows, no fewer than the diagonals and those below once more, and
/// `pivots` has room for an integer of the widest kind for each row.
pub(crate) unsafe fn gbsv<T: Element>(
    sizes: [i32; 2],
    [below, above]: [i32; 2],
    a: MatrixOut<T>,
    pivots: *mut u8,
    x: MatrixOut<T>,
) -> Result<Option<i32>, Fault> {
    let [n, columns] = sizes;
    // SAFETY: as for `gtsv`.
    let info = unsafe {
        call_told!(T::GBSV.found()?,
            int n, int below, int above, int columns, at a.at, int a.leading, at pivots, at x.at,
            int x.leading)
    };
    Ok(zero_pivot(info))
}

/// As [`gtsv`], for a matrix `a` of any kind, whose place is used up.
///
/// # Safety
/// As for `gbsv`, with all rows of `a`.
pub(crate) unsafe fn gesv<T: Element>(
    sizes: [i32; 2],
    a: MatrixOut<T>,
    pivots: *mut u8,
    x: MatrixOut<T>,
) -> Result<Option<i32>, Fault> {
    let [n, columns] = sizes;
    // SAFETY: as for `gtsv`.
    let info = unsafe {
        call_told!(T::GESV.found()?,
            int n, int columns, at a.at, int a.leading, at pivots, at x.at, int x.leading)
    };
    Ok(zero_pivot(info))
}

/// The row of the pivot that is zero, if one is.
fn zero_pivot(info: i32) -> Option<i32> {
    Some(info).filter(|&row| row != 0)
}

/// The factors of a matrix of `sizes` rows and columns, in its place, and in `pivots` for each row
/// the one that it changed places with, counted from one. A pivot may be zero.
///
/// # Safety
/// The matrix is as large as `sizes` says, `pivots` has an element for each row or column, whichever
/// are fewer.
pub(crate) unsafe fn getrf<T: Element>(
    sizes: [i32; 2],
    a: MatrixOut<T>,
    pivots: *mut i32,
) -> Result<(), Fault> {
    let routine = T::GETRF.found()?;
    let [m, n] = sizes;
    let call = |pivots: *mut c_void| {
        // SAFETY: as for `gtsv`; `pivots` points to an integer of the routine's for each exchange.
        unsafe { call_told!(routine, int m, int n, at a.at, int a.leading, at pivots) };
    };
    match routine.integers {
        Integers::Bits32 => call(pivots.cast()),
        Integers::Bits64 => {
            let mut wide = vec![0i64; m.min(n) as usize];
            call(wide.as_mut_ptr().cast());
            for (row, pivot) in wide.into_iter().enumerate() {
                // SAFETY: `pivots` has an element for each exchange.
                unsafe { pivots.add(row).write(pivot as i32) };
            }
        }
    }
    Ok(())
}
