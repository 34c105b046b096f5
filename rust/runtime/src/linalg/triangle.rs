//! The elements of square matrices on one side of the diagonal.

use std::ops::Range;

use frazil_core::DType;

use crate::arrays::layout::Layout;
use crate::arrays::rows::copy_row;
use crate::threads::attention::Patience;
use crate::threads::conduct::Halt;

/// The plan to copy the elements of a square matrix on and below (or above) the diagonal, and set the
/// others to zero.
#[derive(Debug)]
pub(crate) struct TrianglePlan {
    item: usize,
    size: usize,
    /// Bytes from one line of the source to the next, and along one; `None` where the destination
    /// holds the elements already. A line is a row or a column: what has no gaps in the destination.
    from: Option<[i64; 2]>,
    /// A line keeps its elements up to the diagonal; else from the diagonal on.
    head: bool,
}

impl TrianglePlan {
    /// The plan for square matrices of one size, the destination without gaps.
    pub(crate) fn new(
        dtype: DType,
        lower: bool,
        from: Option<&Layout>,
        to: &Layout,
    ) -> TrianglePlan {
        let in_columns = to.strides[0] < to.strides[1];
        let [line, along] = if in_columns { [1, 0] } else { [0, 1] };
        TrianglePlan {
            item: dtype.itemsize(),
            size: to.dims[0] as usize,
            from: from.map(|from| [from.strides[line], from.strides[along]]),
            head: lower != in_columns,
        }
    }

    /// The positions of a line that are kept, and those that are not.
    fn parts(&self, line: usize) -> (Range<usize>, Range<usize>) {
        if self.head { (0..line + 1, line + 1..self.size) } else { (line..self.size, 0..line) }
    }

    fn place(&self, to: *mut u8, line: usize, position: usize) -> *mut u8 {
        to.wrapping_add((line * self.size + position) * self.item)
    }

    /// Does it.
    ///
    /// # Safety
    /// Both matrices have the layouts of the plan, aligned, and do not overlap unless they are one.
    pub(crate) unsafe fn run(&self, to: *mut u8, from: *const u8) -> Result<(), Halt> {
        let mut patience = Patience::new();
        for line in 0..self.size {
            let (kept, _) = self.parts(line);
            patience.spend(kept.len() as i64)?;
            if let Some([down, along]) = self.from {
                let start = line as i64 * down + kept.start as i64 * along;
                let source = from.wrapping_offset(start as isize);
                let place = self.place(to, line, kept.start);
                // SAFETY: by the caller's promise; the elements are inside both matrices.
                unsafe {
                    let item = self.item as i64;
                    copy_row(self.item, place, item, source, along, kept.len() as i64);
                }
            }
        }
        // SAFETY: by the caller's promise, the memory has the layout of the plan.
        unsafe { self.clear(to) }
    }

    /// Sets the elements on the other side of the diagonal to zero.
    ///
    /// # Safety
    /// The destination has the layout of the plan.
    pub(crate) unsafe fn clear(&self, to: *mut u8) -> Result<(), Halt> {
        let mut patience = Patience::new();
        for line in 0..self.size {
            let (_, cleared) = self.parts(line);
            patience.spend(cleared.len() as i64)?;
            // SAFETY: the elements are inside the matrix; a zero of every type is all zero bytes.
            unsafe {
                self.place(to, line, cleared.start).write_bytes(0, cleared.len() * self.item);
            }
        }
        Ok(())
    }
}
