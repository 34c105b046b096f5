//! Eigenvectors and singular vectors of small matrices, with LAPACK's signs where no rounding decides them.
//!
//! A vector may be turned round, and which way LAPACK turns it follows from each reflection and rotation on its way.
//! So the same reflections and rotations are made here in the same order, by loops over a few elements: for matrices
//! of up to eight rows, calls cost LAPACK more than its work. Matrices whose elements are very large or small are left
//! to it: it scales them, and here squares of elements neither overflow nor vanish. `f32` is computed in `f64`, as NumPy does.

#![expect(clippy::needless_range_loop, reason = "an index is of several arrays")]

mod eigenvectors;
mod reflection;
mod rotation;
mod singular_vectors;
mod two_by_two;
mod way;

pub(crate) use eigenvectors::eigenvectors;
pub(crate) use singular_vectors::singular_vectors;

use std::ops::RangeInclusive;

use crate::linalg::small::SMALL;

const ROOM: usize = SMALL as usize;

/// A matrix of at most [`SMALL`] rows, column after column.
type Square = [[f64; ROOM]; ROOM];

/// A vector of that length.
type Line = [f64; ROOM];

/// Half the distance from 1 to the next float.
const ROUNDING: f64 = f64::EPSILON / 2.0;

/// The smallest float whose reciprocal is one.
const LEAST: f64 = f64::MIN_POSITIVE;

/// Singular values are found to within this: the eighth root of the roundings in 1, in roundings.
const TOLERANCE: f64 = 98.701_492_826_102_4 * ROUNDING;

/// The sizes of elements that need no scaling, but for zeros.
const SIZES: RangeInclusive<f64> = 1.0 / MOST..=MOST;
const MOST: f64 = (1u128 << 75) as f64 * (1u128 << 75) as f64;

/// Whether an element is finite and needs no scaling.
#[inline(always)]
fn fits(element: f64) -> bool {
    let size = element.abs();
    size == 0.0 || SIZES.contains(&size)
}

/// The identity.
fn identity() -> Square {
    let mut all = [[0.0; ROOM]; ROOM];
    for (at, column) in all.iter_mut().enumerate() {
        column[at] = 1.0;
    }
    all
}
