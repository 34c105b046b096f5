//! Columns of small matrices, and rotations of two of them.
//!
//! A sum of products is added up in the same order however the columns lie: the terms four rows apart, then what is two
//! apart, then the rest. A register along a column of one matrix does that, and so does one lane of many.

use std::marker::PhantomData;

#[cfg(target_arch = "x86_64")]
use super::rotations;
use super::rotations::{ROOM, rotated};
use super::turns::round_of_one;
use super::wide::{One, Wide};

/// The terms of a sum that are added up apart.
const APART: usize = 4;

/// The columns of a matrix in each lane, of at most [`SMALL`] rows.
///
/// # Safety
/// Rows and columns are below [`SMALL`]; the processor has the registers.
pub(super) trait Columns<V> {
    /// Zeros in so many rows.
    unsafe fn new(rows: usize) -> Self;
    unsafe fn set(&mut self, row: usize, column: usize, element: V);
    /// The sum of the products of the elements of two columns.
    unsafe fn product(&self, p: usize, q: usize) -> V;
    /// Turns two columns by an angle, given its sine and the tangent of its half.
    unsafe fn rotate(&mut self, p: usize, q: usize, sine: V, half: V);
    /// A round of rotations of symmetric matrices of so many rows. Whether any was due.
    unsafe fn round_of_symmetric(size: usize, a: &mut [[V; ROOM]; ROOM]) -> bool;
}

/// Columns of several matrices, an element of each in a register.
#[cfg(target_arch = "x86_64")]
pub(super) struct SideBySide<V> {
    rows: usize,
    columns: [[V; ROOM]; ROOM],
}

#[cfg(target_arch = "x86_64")]
impl<V: Wide<Item = f64>> Columns<V> for SideBySide<V> {
    #[inline(always)]
    unsafe fn new(rows: usize) -> SideBySide<V> {
        // SAFETY: by the caller's promise, the processor has the registers.
        SideBySide { rows, columns: unsafe { [[V::splat(0.0); ROOM]; ROOM] } }
    }

    #[inline(always)]
    unsafe fn set(&mut self, row: usize, column: usize, element: V) {
        self.columns[column][row] = element;
    }

    #[inline(always)]
    unsafe fn product(&self, p: usize, q: usize) -> V {
        let (x, y) = (&self.columns[p], &self.columns[q]);
        // SAFETY: by the caller's promise, the processor has the registers.
        unsafe {
            let mut sums = [x[0].times(y[0]); APART];
            for row in 1..self.rows.min(APART) {
                sums[row] = x[row].times(y[row]);
            }
            for row in APART..self.rows {
                sums[row - APART] = sums[row - APART].plus(x[row].times(y[row]));
            }
            let [a, b, c, d] = sums;
            match self.rows {
                1 => a,
                2 => a.plus(b),
                3 => a.plus(c).plus(b),
                _ => a.plus(c).plus(b.plus(d)),
            }
        }
    }

    #[inline(always)]
    unsafe fn rotate(&mut self, p: usize, q: usize, sine: V, half: V) {
        for row in 0..self.rows {
            let (x, y) = (self.columns[p][row], self.columns[q][row]);
            // SAFETY: by the caller's promise, the processor has the registers.
            let (x, y) = unsafe { rotated(sine, half, x, y) };
            (self.columns[p][row], self.columns[q][row]) = (x, y);
        }
    }

    #[inline(always)]
    unsafe fn round_of_symmetric(size: usize, a: &mut [[V; ROOM]; ROOM]) -> bool {
        // SAFETY: by the caller's promise, the processor has the registers.
        unsafe { rotations::round_of_symmetric(size, a) }
    }
}

/// Columns of one matrix, with zeros behind its last row, which change no sum. Loops over them are of a known length,
/// so that they become instructions on registers. The angles of rotations are computed in registers `W`.
pub(super) struct Alone<W> {
    columns: [[f64; ROOM]; ROOM],
    angles: PhantomData<W>,
}

impl<W: Wide<Item = f64>> Columns<One> for Alone<W> {
    #[inline(always)]
    unsafe fn new(_: usize) -> Alone<W> {
        Alone { columns: [[0.0; ROOM]; ROOM], angles: PhantomData }
    }

    #[inline(always)]
    unsafe fn round_of_symmetric(size: usize, a: &mut [[One; ROOM]; ROOM]) -> bool {
        // SAFETY: by the caller's promise, the processor has the registers.
        unsafe { round_of_one::<W>(size, a) }
    }

    #[inline(always)]
    unsafe fn set(&mut self, row: usize, column: usize, element: One) {
        self.columns[column][row] = element.get();
    }

    #[inline(always)]
    unsafe fn product(&self, p: usize, q: usize) -> One {
        let (x, y) = (&self.columns[p], &self.columns[q]);
        let mut sums = [0.0; APART];
        for row in 0..APART {
            sums[row] = x[row] * y[row] + x[row + APART] * y[row + APART];
        }
        let [a, b, c, d] = sums;
        One::of((a + c) + (b + d))
    }

    #[inline(always)]
    unsafe fn rotate(&mut self, p: usize, q: usize, sine: One, half: One) {
        let (mut x, mut y) = (self.columns[p], self.columns[q]);
        for row in 0..ROOM {
            // SAFETY: one lane needs no registers.
            let (a, b) = unsafe { rotated(sine, half, One::of(x[row]), One::of(y[row])) };
            (x[row], y[row]) = (a.get(), b.get());
        }
        (self.columns[p], self.columns[q]) = (x, y);
    }
}
