//! LAPACK's decompositions. Each needs working memory; a first call returns its length.

use std::ffi::c_char;

use super::{Element, Found, MatrixOut, Triangle};
use crate::error::Fault;

/// The singular vectors that are wanted, or whether eigenvectors are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Vectors {
    None,
    /// As many as there are values.
    Some,
    /// Vectors of both sides: as many as the matrix has rows, and columns.
    All,
}

impl Vectors {
    fn of_svd(self) -> c_char {
        (match self {
            Vectors::None => b'N',
            Vectors::Some => b'S',
            Vectors::All => b'A',
        }) as c_char
    }

    fn of_eigh(self) -> c_char {
        (if self == Vectors::None { b'N' } else { b'V' }) as c_char
    }
}

/// Memory that a routine works with; of a length that is not positive where it is asked for.
#[derive(Clone, Copy)]
pub(crate) struct Work<T> {
    pub(crate) at: *mut T,
    pub(crate) length: i32,
}

impl<T: Element> Work<T> {
    /// Asks `routine`, which writes to the first element how many it wants.
    fn asked(routine: impl FnOnce(Work<T>) -> Result<(), Fault>) -> Result<i32, Fault> {
        let mut wanted = T::ZERO;
        routine(Work { at: &raw mut wanted, length: -1 })?;
        Ok(wanted.count().max(1) as i32)
    }
}

/// The bytes of an integer of the widest kind.
pub(crate) const INTEGER: usize = 8;

/// The factors of a matrix of `sizes` rows and columns in its place: a triangle, and below it, with
/// `scales`, what [`orgqr`] takes.
///
/// # Safety
/// The matrix is as large as `sizes` says, `scales` has an element for each column or row, whichever
/// are fewer, and `work` is as long as it says, 1 at least and as many as there are columns.
pub(crate) unsafe fn geqrf<T: Element>(
    sizes: [i32; 2],
    a: MatrixOut<T>,
    scales: *mut T,
    work: Work<T>,
) -> Result<(), Fault> {
    let [m, n] = sizes;
    // SAFETY: `set_routine`'s caller promised the routine, this one's caller the operands.
    unsafe {
        call_told!(T::GEQRF.found()?,
            int m, int n, at a.at, int a.leading, at scales, at work.at, int work.length)
    };
    Ok(())
}

/// The first columns of an orthogonal matrix, written over the `sizes[2]` reflections that it is
/// the product of, as [`geqrf`] gave them.
///
/// # Safety
/// The matrix has `sizes[0]` rows and `sizes[1]` columns, no more than rows and no fewer than
/// `sizes[2]`; the others as for `geqrf`.
pub(crate) unsafe fn orgqr<T: Element>(
    sizes: [i32; 3],
    a: MatrixOut<T>,
    scales: *const T,
    work: Work<T>,
) -> Result<(), Fault> {
    let [m, n, k] = sizes;
    // SAFETY: as for `geqrf`.
    unsafe {
        call_told!(T::ORGQR.found()?,
            int m, int n, int k, at a.at, int a.leading, at scales, at work.at, int work.length)
    };
    Ok(())
}

/// The singular values of a matrix of `sizes` rows and columns, whose place is used up, and the
/// vectors that are wanted. Whether they were found.
///
/// # Safety
/// The matrices are as large as `sizes` and `vectors` say; `integers` has room for eight integers of
/// the widest kind for each value; `work` as for `geqrf`.
pub(crate) unsafe fn gesdd<T: Element>(
    (vectors, sizes): (Vectors, [i32; 2]),
    a: MatrixOut<T>,
    values: *mut T,
    [u, vt]: [MatrixOut<T>; 2],
    work: Work<T>,
    integers: *mut u8,
) -> Result<bool, Fault> {
    let [m, n] = sizes;
    // SAFETY: as for `geqrf`.
    let info = unsafe {
        call_told!(T::GESDD.found()?,
            letter vectors.of_svd(), int m, int n, at a.at, int a.leading, at values, at u.at,
            int u.leading, at vt.at, int vt.leading, at work.at, int work.length, at integers)
    };
    Ok(info == 0)
}

/// The eigenvalues of a symmetric matrix of `size` rows, given by a triangle, in ascending order;
/// in its place the vectors, if they are wanted. Whether they were found.
///
/// # Safety
/// The matrix is as large as `size` says, `values` has an element for each row, `integers` room for
/// so many integers of the widest kind; `work` as for `geqrf`.
pub(crate) unsafe fn syevd<T: Element>(
    (vectors, triangle): (Vectors, Triangle),
    size: i32,
    a: MatrixOut<T>,
    values: *mut T,
    work: Work<T>,
    (integers, room): (*mut u8, i32),
) -> Result<bool, Fault> {
    // SAFETY: as for `geqrf`.
    let info = unsafe {
        call_told!(T::SYEVD.found()?,
            letter vectors.of_eigh(), letter triangle.part(), int size, at a.at, int a.leading,
            at values, at work.at, int work.length, at integers, int room)
    };
    Ok(info == 0)
}

/// The working memory of [`geqrf`] and [`orgqr`] for matrices of these sizes.
pub(crate) fn work_of_qr<T: Element>([m, n, q]: [i32; 3]) -> Result<i32, Fault> {
    let a = nothing(m);
    let nowhere = std::ptr::null_mut();
    // SAFETY: a call that asks reads nothing but lengths.
    let first = Work::asked(|work| unsafe { geqrf::<T>([m, n], a, nowhere, work) })?;
    // SAFETY: as above.
    let second =
        Work::asked(|work| unsafe { orgqr::<T>([m, q, m.min(n).min(q)], a, nowhere, work) })?;
    Ok(first.max(second).max(n).max(q))
}

/// The working memory of [`gesdd`].
pub(crate) fn work_of_svd<T: Element>(vectors: Vectors, sizes: [i32; 2]) -> Result<i32, Fault> {
    let [m, n] = sizes;
    let nowhere = std::ptr::null_mut();
    let mut integers = [0u8; INTEGER];
    let rows = if vectors == Vectors::All { n } else { m.min(n) };
    Work::asked(|work| {
        let sides = [nothing(m), nothing(rows)];
        // SAFETY: a call that asks reads nothing but lengths.
        unsafe {
            gesdd::<T>((vectors, sizes), nothing(m), nowhere, sides, work, integers.as_mut_ptr())?;
        }
        Ok(())
    })
}

/// The working memory of [`syevd`], and its integers.
pub(crate) fn work_of_eigh<T: Element>(vectors: Vectors, size: i32) -> Result<[i32; 2], Fault> {
    let nowhere = std::ptr::null_mut();
    let mut integers = [0u8; INTEGER];
    let kind = (vectors, Triangle { lower: true, unit: false });
    let room = (integers.as_mut_ptr(), -1);
    let work = Work::asked(|work| {
        // SAFETY: a call that asks reads nothing but lengths, and writes two.
        unsafe { syevd::<T>(kind, size, nothing(size), nowhere, work, room) }.map(|_| ())
    })?;
    let wanted = i64::from_ne_bytes(integers);
    Ok([work, T::SYEVD.found()?.take(wanted).max(1)])
}

/// A matrix that is not there, of so many rows.
fn nothing<T>(rows: i32) -> MatrixOut<T> {
    MatrixOut { at: std::ptr::null_mut(), leading: rows.max(1) }
}
