//! The elements of matrices on one side of a diagonal.

use frazil_core::DType;

use crate::layout::Layout;
use crate::strided::copy_row;

/// How to copy the elements of a matrix on and below (or above) a diagonal, with zeros elsewhere.
#[derive(Debug)]
pub(crate) struct TrianglePlan {
    item: usize,
    /// Lines of the destination, and the elements of each.
    lines: i64,
    length: i64,
    /// Bytes from line to line: of the destination, whose lines have no gaps, and of the source.
    down: [i64; 2],
    /// Bytes from one element of a line of the source to the next.
    along: i64,
    /// A line keeps its head up to this position, counted from that of the line's number; else the
    /// tail that begins there.
    head: bool,
    diagonal: i64,
}

impl TrianglePlan {
    /// The plan for matrices of one shape, the destination without gaps along its rows or columns;
    /// diagonal `k` lies `k` columns right of the main one.
    pub(crate) fn new(
        dtype: DType,
        lower: bool,
        k: i64,
        from: &Layout,
        to: &Layout,
    ) -> TrianglePlan {
        // Lines are those of the destination that are contiguous.
        let in_columns = to.strides[0].abs() < to.strides[1].abs();
        let (line, along) = if in_columns { (1, 0) } else { (0, 1) };
        TrianglePlan {
            item: dtype.itemsize(),
            lines: to.dims[line],
            length: to.dims[along],
            down: [to.strides[line], from.strides[line]],
            along: from.strides[along],
            head: lower != in_columns,
            // Of row i the columns up to i + k are below, of column j the rows from j - k on.
            diagonal: if in_columns { k.saturating_neg() } else { k },
        }
    }

    /// Does it.
    ///
    /// # Safety
    /// Both matrices have the layouts of the plan, aligned, and do not overlap.
    pub(crate) unsafe fn run(&self, to: *mut u8, from: *const u8) {
        for line in 0..self.lines {
            let end = if self.head { line.saturating_add(1) } else { line };
            let cut = end.saturating_add(self.diagonal).clamp(0, self.length);
            let (kept, cleared) = if self.head {
                ((0, cut), (cut, self.length))
            } else {
                ((cut, self.length), (0, cut))
            };
            let item = self.item as i64;
            let to = to.wrapping_offset((line * self.down[0]) as isize);
            let target = |position: i64| to.wrapping_offset((position * item) as isize);
            let start = line * self.down[1] + kept.0 * self.along;
            let source = from.wrapping_offset(start as isize);
            let count = kept.1 - kept.0;
            // SAFETY: by the caller's promise; a zero of every element type is all zero bytes.
            unsafe {
                copy_row(self.item, target(kept.0), item, source, self.along, count);
                let bytes = (cleared.1 - cleared.0) as usize * self.item;
                target(cleared.0).write_bytes(0, bytes);
            }
        }
    }
}
