//! Where many small matrices of one size lie.

// The code of iterators is compiled for no instruction set but the plain one, unless it
// happens to be inlined.
#![expect(clippy::needless_range_loop, reason = "loops over indices keep the instruction set")]

use super::wide::{MOST, Wide};
use crate::linalg::routine::Element;

/// A matrix of each lane.
#[derive(Clone, Copy)]
pub(crate) struct Strip<T> {
    pub(crate) at: *mut T,
    /// Elements from row to row, and along a row.
    pub(crate) down: isize,
    pub(crate) right: isize,
    /// Elements from one matrix to the next.
    pub(crate) next: isize,
    pub(crate) count: usize,
}

impl<T> Strip<T> {
    #[inline(always)]
    pub(super) fn place(&self, row: usize, column: usize) -> *mut T {
        self.at.wrapping_offset(row as isize * self.down + column as isize * self.right)
    }

    #[inline(always)]
    pub(crate) fn transposed(self) -> Strip<T> {
        Strip { down: self.right, right: self.down, ..self }
    }
}

impl<T: Element> Strip<T> {
    /// # Safety
    /// The matrices have such an element, and the processor the registers.
    #[inline(always)]
    pub(super) unsafe fn get<V: Wide<Item = T>>(&self, row: usize, column: usize) -> V {
        // SAFETY: by the caller's promise, the matrices have such an element.
        unsafe { V::gather(self.place(row, column), self.next, self.count) }
    }

    /// # Safety
    /// As for `get`; no other thread writes to the matrices.
    #[inline(always)]
    pub(super) unsafe fn set<V: Wide<Item = T>>(&self, row: usize, column: usize, values: V) {
        // SAFETY: by the caller's promise, the matrices have such an element, to which no other thread writes.
        unsafe { values.scatter(self.place(row, column), self.next, self.count) };
    }

    /// The elements as `f64`.
    ///
    /// # Safety
    /// As for `get`.
    #[inline(always)]
    pub(super) unsafe fn get_wide<V: Wide<Item = f64>>(&self, row: usize, column: usize) -> V {
        let mut all = [0.0; MOST];
        let mut at = self.place(row, column).cast_const();
        // SAFETY: by the caller's promise, the matrices have such an element.
        unsafe {
            for lane in 0..V::COUNT {
                all[lane] = at.read().to_f64();
                if lane + 1 < self.count {
                    at = at.wrapping_offset(self.next);
                }
            }
            V::gather(all.as_ptr(), 1, V::COUNT)
        }
    }

    /// Writes elements that are given as `f64`.
    ///
    /// # Safety
    /// As for `set`.
    #[inline(always)]
    pub(super) unsafe fn set_wide<V: Wide<Item = f64>>(
        &self,
        row: usize,
        column: usize,
        values: V,
    ) {
        let mut all = [0.0; MOST];
        let to = self.place(row, column);
        // SAFETY: by the caller's promise, the matrices have such an element, to which no other thread writes.
        unsafe {
            values.scatter(all.as_mut_ptr(), 1, V::COUNT);
            for lane in 0..V::COUNT {
                if lane < self.count {
                    to.wrapping_offset(lane as isize * self.next).write(T::from_f64(all[lane]));
                }
            }
        }
    }
}
