//! Operands whose inner step is not the kernel's: they go through contiguous blocks.

use smallvec::SmallVec;

use super::{Access, KernelFn, LoopNest, Role};
use crate::arrays::rows::copy_row;
use crate::arrays::walk::Pointers;
use crate::threads::attention::{Patience, STOPPED};

/// An operand that goes through a contiguous block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pack {
    pub(super) operand: usize,
    pub(super) access: Access,
    /// The start of its block in the scratch memory.
    pub(super) scratch: usize,
}

impl LoopNest {
    /// The last two dimensions, block by block through the scratch memory.
    ///
    /// # Safety
    /// As for `run`; if the packed copies are `known`, the call before made them.
    pub(super) unsafe fn blocks(
        &self,
        kernel: KernelFn,
        at: &[*mut u8],
        (outer, inner): (i64, i64),
        scratch: *mut u8,
        known: bool,
    ) -> i32 {
        let columns = inner.min(self.block);
        let rows = (self.block / columns).clamp(1, outer);
        let mut pointers = Pointers::from_slice(at);
        let mut strides = SmallVec::<[i64; 12]>::from_slice(&self.outer_strides);
        let mut patience = Patience::new();
        for row in (0..outer).step_by(rows as usize) {
            let rows = rows.min(outer - row);
            for column in (0..inner).step_by(columns as usize) {
                let columns = columns.min(inner - column);
                let start = |operand: usize| {
                    let offset =
                        row * self.outer_strides[operand] + column * self.inner_steps[operand];
                    at[operand].wrapping_offset(offset as isize)
                };
                for operand in 0..self.inner_steps.len() {
                    pointers[operand] = start(operand);
                }
                for pack in &self.packs {
                    let operand = pack.operand;
                    let block = scratch.wrapping_add(pack.scratch);
                    let rows = self.rows_of(pack, rows);
                    pointers[operand] = block;
                    strides[operand] =
                        if rows == 1 { 0 } else { columns * pack.access.itemsize as i64 };
                    let first = row == 0 && column == 0;
                    if pack.access.role != Role::Write && !known && (first || !self.stays(pack)) {
                        // SAFETY: the block has room for BLOCK elements; the operand holds these.
                        unsafe { self.gather(pack, block, start(operand), rows, columns) };
                    }
                }
                // SAFETY: by the caller's promise; packed operands are contiguous rows of the
                // block.
                let status =
                    unsafe { kernel(pointers.as_ptr().cast(), rows, columns, strides.as_ptr()) };
                if status != 0 {
                    return status;
                }
                for pack in self.packs.iter().filter(|pack| pack.access.role != Role::Read) {
                    let block = scratch.wrapping_add(pack.scratch);
                    let rows = self.rows_of(pack, rows);
                    // SAFETY: as for `gather`.
                    unsafe { self.scatter(pack, start(pack.operand), block, rows, columns) };
                }
                if patience.spend(rows * columns).is_err() {
                    return STOPPED;
                }
            }
        }
        0
    }

    /// All there is, as one block through the scratch memory.
    ///
    /// # Safety
    /// As for `run`; the nest has `packed_strides`.
    pub(super) unsafe fn one_block(
        &self,
        kernel: KernelFn,
        pointers: &mut [*mut u8],
        scratch: *mut u8,
    ) -> i32 {
        let columns = self.inner;
        let mut starts = SmallVec::<[*mut u8; 4]>::new();
        for pack in &self.packs {
            let block = scratch.wrapping_add(pack.scratch);
            let start = std::mem::replace(&mut pointers[pack.operand], block);
            if pack.access.role != Role::Write {
                let rows = self.rows_of(pack, self.outer);
                // SAFETY: the block has room for these elements; the operand holds them.
                unsafe { self.gather(pack, block, start, rows, columns) };
            }
            starts.push(start);
        }
        let (at, strides) = (pointers.as_ptr().cast(), self.packed_strides.as_ptr());
        // SAFETY: by the caller's promise; packed operands are contiguous rows of their blocks.
        let status = unsafe { kernel(at, self.outer, columns, strides) };
        if status != 0 {
            return status;
        }
        for (pack, start) in self.packs.iter().zip(starts) {
            if pack.access.role != Role::Read {
                let rows = self.rows_of(pack, self.outer);
                // SAFETY: as for `gather`.
                unsafe { self.scatter(pack, start, pointers[pack.operand], rows, columns) };
            }
        }
        0
    }

    /// The outer strides of all operands where each that is packed has its whole block.
    pub(super) fn strides_packed(&self) -> SmallVec<[i64; 12]> {
        let mut strides = self.outer_strides.clone();
        for pack in &self.packs {
            let row = self.inner * pack.access.itemsize as i64;
            strides[pack.operand] = if self.rows_of(pack, self.outer) == 1 { 0 } else { row };
        }
        strides
    }

    /// Whether a block of an operand is like any other: it is one element, repeated, or a row that
    /// is the same for all.
    fn stays(&self, pack: &Pack) -> bool {
        let along_row = self.inner_steps[pack.operand] != 0 && self.inner > self.block;
        let moves = along_row || self.outer_strides[pack.operand] != 0;
        !moves && pack.access.role == Role::Read
    }

    /// The number of different rows among `rows`: an operand that stays along the outer dimension has one, and a
    /// reduction over it must go into one.
    fn rows_of(&self, pack: &Pack, rows: i64) -> i64 {
        if self.outer_strides[pack.operand] == 0 { 1 } else { rows }
    }

    /// # Safety
    /// `array` holds `rows` by `columns` elements at the nest's strides, `block` has room for them.
    unsafe fn gather(&self, pack: &Pack, block: *mut u8, array: *mut u8, rows: i64, columns: i64) {
        let (item, step) = (pack.access.itemsize as i64, self.inner_steps[pack.operand]);
        for row in 0..rows {
            let to = block.wrapping_offset((row * columns * item) as isize);
            let from = array.wrapping_offset((row * self.outer_strides[pack.operand]) as isize);
            // SAFETY: by the caller's promise, the array has such a row, and the block room for it.
            unsafe { copy_row(pack.access.itemsize, to, item, from, step, columns) };
        }
    }

    /// # Safety
    /// As for `gather`.
    unsafe fn scatter(&self, pack: &Pack, array: *mut u8, block: *mut u8, rows: i64, columns: i64) {
        let (item, step) = (pack.access.itemsize as i64, self.inner_steps[pack.operand]);
        for row in 0..rows {
            let to = array.wrapping_offset((row * self.outer_strides[pack.operand]) as isize);
            let from = block.wrapping_offset((row * columns * item) as isize);
            // SAFETY: by the caller's promise, the array has such a row, and so has the block.
            unsafe { copy_row(pack.access.itemsize, to, step, from, item, columns) };
        }
    }
}
