//! A large loop in pieces, which threads share.
//!
//! One of its dimensions is cut. Reductions over that dimension are accumulated for each piece apart,
//! and folded in the end, in the order of the pieces. Every other operand that is written moves along that dimension, so no
//! two pieces write to one place: a write that stays along a dimension either accumulates, which the builder of programs
//! checks (`BuildError::NotReduced`), or is written once a row by a kernel that takes whole rows, which are not cut.

use smallvec::SmallVec;

use crate::allocation::buffer::ALIGNMENT;
use crate::arrays::scalar::Scalar;
use crate::arrays::strided::fill;
use crate::arrays::walk::{Pointers, advance};
use crate::loops::fold::Fold;
use crate::loops::loop_nest::{Access, KernelFn, LoopNest, Role};
use crate::threads::attention::STOPPED;
use crate::threads::conduct::{Conduct, Halt};
use crate::threads::split::{LoopLevel, Split};

/// A write that every piece of a loop accumulates for itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct Apart {
    operand: usize,
    fold: Fold,
    identity: Scalar,
    elements: i64,
    /// The start of the reports of all pieces in the scratch memory.
    scratch: usize,
}

impl Apart {
    fn bytes(&self) -> usize {
        self.elements as usize * self.identity.dtype().itemsize()
    }
}

/// The starts of a run's operands and scratch memory, for all its threads.
struct Operands<'a> {
    pointers: &'a [*mut u8],
    scratch: *mut u8,
}

// SAFETY: the addresses are only read; the memory there is shared as `LoopNest::run` says.
unsafe impl Sync for Operands<'_> {}

impl LoopNest {
    /// The distances that an operand moves in each of the loops, outermost first.
    fn steps_of(&self, operand: usize) -> impl Iterator<Item = i64> + '_ {
        let outer = (0..self.walk.lengths().len()).map(move |dim| self.walk.steps(dim)[operand]);
        outer.chain([self.outer_strides[operand], self.inner_steps[operand]])
    }

    /// The loops, outermost first, and the cost of cutting them.
    pub(super) fn levels(&self, accesses: &[Access]) -> SmallVec<[LoopLevel; 4]> {
        let level = |length| LoopLevel { length, copied: 0, divisible: true };
        let mut levels: SmallVec<[LoopLevel; 4]> = self
            .walk
            .lengths()
            .iter()
            .copied()
            .chain([self.outer, self.inner])
            .map(level)
            .collect();
        if let Some(inner) = levels.last_mut() {
            inner.divisible = !self.whole_rows && self.period.is_none();
        }
        for (operand, access) in accesses.iter().enumerate() {
            if access.role != Role::Accumulate {
                continue;
            }
            let elements = self.written_elements(&levels, operand, access);
            for (level, step) in levels.iter_mut().zip(self.steps_of(operand)) {
                if step == 0 {
                    level.copied += elements;
                    level.divisible &= access.apart.is_some();
                }
            }
        }
        levels
    }

    /// The number of elements that an operand is written to, of those that a loop moves over or indices choose from.
    fn written_elements(&self, levels: &[LoopLevel], operand: usize, access: &Access) -> i64 {
        let moved = levels.iter().zip(self.steps_of(operand)).filter(|(_, step)| *step != 0);
        access.chosen.unwrap_or_else(|| moved.map(|(level, _)| level.length).product())
    }

    /// Goes through a loop in pieces from now on.
    pub(super) fn divide(&mut self, split: Option<Split>, accesses: &[Access]) {
        let levels = self.levels(accesses);
        let mut scratch = self.scratch.0;
        self.aparts.clear();
        self.split = split;
        let Some(split) = &self.split else { return };
        for (operand, access) in accesses.iter().enumerate() {
            let stays = self.steps_of(operand).nth(split.level) == Some(0);
            debug_assert!(!(stays && access.role == Role::Write), "pieces write to one place");
            let Some((fold, identity)) = access.apart else { continue };
            if access.role == Role::Accumulate && stays {
                let elements = self.written_elements(&levels, operand, access);
                scratch = scratch.next_multiple_of(ALIGNMENT);
                let apart = Apart { operand, fold, identity, elements, scratch };
                scratch += apart.bytes() * split.pieces();
                self.aparts.push(apart);
            }
        }
        self.scratch.1 = scratch;
    }

    /// Runs the kernel over all positions, unless it fails or the run is to stop.
    ///
    /// # Safety
    /// The kernel is made for this many operands of these element types, and may run on several threads; the pointers
    /// give the first element of operands that have the shapes and strides of the nest, and end with room for
    /// [`LoopNest::extras`], which the nest sets; writes overlap nothing else, except reads that start where they do
    /// and have the same strides; an accumulated write has no gaps and moves forwards; `scratch` is aligned and as
    /// large as [`LoopNest::scratch`] says.
    pub(crate) unsafe fn run(
        &self,
        kernel: KernelFn,
        pointers: &mut [*mut u8],
        scratch: *mut u8,
        conduct: &Conduct<'_>,
    ) -> Result<(), Halt> {
        if self.empty {
            return Ok(());
        }
        let packed = !self.packed_strides.is_empty();
        if (self.brief || packed) && self.tables.is_empty() && self.split.is_none() {
            let operands = pointers.len() - self.buffers.len();
            for (pointer, &start) in pointers[operands..].iter_mut().zip(&self.buffers) {
                *pointer = scratch.wrapping_add(start);
            }
            if packed {
                // SAFETY: by the caller's promise of operands and scratch memory.
                return Halt::check(unsafe { self.one_block(kernel, pointers, scratch) });
            }
            let (at, strides) = (pointers.as_ptr().cast(), self.outer_strides.as_ptr());
            // SAFETY: the operands are as the caller promises, and the nest's two dimensions are the kernel's.
            return Halt::check(unsafe { kernel(at, self.outer, self.inner, strides) });
        }
        // SAFETY: the scratch memory is as large as the caller promises.
        unsafe { self.clear_reports(scratch) };
        // With one thread, rows are not cut: each piece would repeat the work of once a row. Columns do not depend on
        // each other and nothing is folded apart, so the bits are the same.
        let alone = || !self.tables.is_empty() && self.aparts.is_empty() && conduct.threads() == 1;
        let Some(split) = self.split.as_ref().filter(|_| !alone()) else {
            // SAFETY: by the caller's promise of operands and scratch memory; the only part is the whole.
            return Halt::check(unsafe {
                self.part(kernel, pointers, scratch, self.report_of(0, scratch), None)
            });
        };
        let operands = Operands { pointers, scratch };
        conduct.run(split, self.scratch.0, scratch, &|piece, scratch| {
            // SAFETY: the kernel may run on several threads, as the caller promises; no two pieces write to one place, as
            // this file says; `conduct` gives each thread scratch memory of its own.
            unsafe { self.piece(kernel, &operands, split, piece, scratch) }
        })?;
        for apart in &self.aparts {
            let dtype = apart.identity.dtype();
            let parts = scratch.wrapping_add(apart.scratch);
            let count = apart.elements as usize;
            // SAFETY: the scratch memory has an array for each piece, all written by now; the write
            // has as many elements without gaps.
            unsafe {
                apart.fold.join_all(dtype, parts, split.pieces(), count);
                apart.fold.join(dtype, operands.pointers[apart.operand], parts, count);
            }
        }
        Ok(())
    }

    /// One piece of the loop that is cut.
    ///
    /// # Safety
    /// As for `run`; `scratch` is for this thread.
    unsafe fn piece(
        &self,
        kernel: KernelFn,
        operands: &Operands<'_>,
        split: &Split,
        piece: usize,
        scratch: *mut u8,
    ) -> i32 {
        let (start, length) = split.piece(piece);
        let mut pointers = Pointers::from_slice(operands.pointers);
        let steps = match split.level.checked_sub(self.walk.lengths().len()) {
            None => self.walk.steps(split.level),
            Some(0) => &self.outer_strides,
            Some(_) => &self.inner_steps,
        };
        advance(&mut pointers, steps, start);
        for apart in &self.aparts {
            let own = operands.scratch.wrapping_add(apart.scratch + piece * apart.bytes());
            // SAFETY: the scratch memory has room for this array.
            if unsafe { fill(own, apart.elements, &apart.identity) }.is_err() {
                return STOPPED;
            }
            pointers[apart.operand] = own;
        }
        let report = self.report_of(piece, operands.scratch);
        // SAFETY: the operands moved to the piece's start are those of the loop over it; `scratch` is this thread's.
        unsafe { self.part(kernel, &mut pointers, scratch, report, Some((split.level, length))) }
    }
}
