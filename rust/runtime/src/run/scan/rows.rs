//! The values of all steps of an output: one a row.
//!
//! A scan that may end early takes no memory in advance for all its steps. Its first rows lie in the
//! memory of the instruction; if these do not suffice, a block for twice as many is allocated. The last
//! block has room for all steps.

use crate::allocation::buffer::Buffer;
use crate::arrays::layout::Layout;
use crate::arrays::strided::copy_bytes;
use crate::error::Fault;
use crate::ids::Slot;

/// The bytes of rows that need no block.
const FEW: i64 = 1 << 16;

/// The results of one output that are kept.
pub(super) struct Rows {
    pub(super) data: *mut u8,
    pub(super) stride: i64,
    /// The layout of a row.
    pub(super) layout: usize,
    /// The rows that there is room for.
    pub(super) capacity: i64,
    /// The memory, if it is neither that of the result nor that of the instruction.
    pub(super) block: Buffer,
}

impl Rows {
    /// The address of the row of a step.
    pub(super) fn at(&self, step: i64) -> *mut u8 {
        self.data.wrapping_offset((step * self.stride) as isize)
    }

    /// Makes room for more rows, of so many steps at most. Where the rows were before, and how many
    /// bytes.
    pub(super) fn grow(&mut self, steps: i64) -> Result<(*mut u8, usize), Fault> {
        let capacity = grown(steps, self.capacity);
        let bytes = capacity.checked_mul(self.stride).ok_or(Fault::TooLarge)?;
        let block = Buffer::new(bytes as usize)?;
        let before = (self.data, (self.capacity * self.stride) as usize);
        // SAFETY: the rows before have so many bytes, the block is larger and apart from them.
        unsafe { copy_bytes(block.as_ptr(), before.0, before.1)? };
        self.data = block.as_ptr();
        self.capacity = capacity;
        self.block = block;
        Ok(before)
    }
}

/// The rows that lie in the memory of the instruction, of so many steps.
pub(super) fn first_rows(steps: i64, stride: i64) -> i64 {
    let mut rows = steps;
    while rows > 1 && rows.saturating_mul(stride) > FEW {
        rows = half(rows);
    }
    rows
}

/// The number of rows that the next block has room for, where the last one had room for `before`.
fn grown(steps: i64, before: i64) -> i64 {
    let mut rows = steps;
    while half(rows) > before {
        rows = half(rows);
    }
    rows
}

fn half(rows: i64) -> i64 {
    rows / 2 + rows % 2
}

/// The layouts of the rows of a scan that does all its steps, and the bytes that it takes for them while it runs.
pub(crate) struct Growth {
    pub(crate) most: usize,
    pub(crate) rows: Vec<(Slot, Layout)>,
}

/// The bytes that rows of these sizes take beside the memory of the instruction while a scan does so
/// many steps: old rows are there until new ones have them.
pub(super) fn most_bytes(steps: i64, strides: &[i64]) -> usize {
    let mut capacities: Vec<i64> =
        strides.iter().map(|&stride| first_rows(steps, stride)).collect();
    let mut held = vec![0usize; strides.len()];
    let mut most = 0;
    // Those that are full first grow first.
    while let Some(next) =
        (0..strides.len()).filter(|&at| capacities[at] < steps).min_by_key(|&at| capacities[at])
    {
        capacities[next] = grown(steps, capacities[next]);
        let bytes = capacities[next].saturating_mul(strides[next]) as usize;
        most = most.max(held.iter().fold(bytes, |sum, &held| sum.saturating_add(held)));
        held[next] = bytes;
    }
    most
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn rows_grow_up_to_all_steps(steps in 1i64..1_000_000, stride in 1i64..1_000_000) {
            let mut rows = first_rows(steps, stride);
            prop_assert!(rows >= 1 && (rows == 1 || rows * stride <= FEW));
            while rows < steps {
                let more = grown(steps, rows);
                prop_assert!(more > rows && more <= 2 * rows);
                rows = more;
            }
            prop_assert_eq!(rows, steps);
        }
    }
}
