//! Loops as they run: calls of kernels.

use std::ptr;

use smallvec::SmallVec;

use super::{Place, RunMemory, TransferStep};
use crate::allocation::buffer::ALIGNMENT;
use crate::arrays::scalar::Scalar;
use crate::arrays::strided::fill;
use crate::error::Fault;
use crate::loops::loop_nest::{KernelFn, LoopNest};
use crate::threads::conduct::{Conduct, Halt};

/// The status of a kernel that refused an index.
const OUT_OF_BOUNDS: i32 = 2;

/// Operands of a loop whose pointers need no memory of their own.
const FEW: usize = 16;

/// A loop with the places of its operands.
#[derive(Debug)]
pub(crate) struct LoopStep {
    pub(crate) function: KernelFn,
    /// The places of the operands: reads, then writes.
    pub(crate) operands: SmallVec<[Place; 12]>,
    /// Operands in whose place the kernel gets memory for one element that is not used.
    pub(crate) blank: SmallVec<[usize; 4]>,
    /// The starts of reductions: the place, and the number of elements.
    pub(crate) fills: SmallVec<[(Place, i64, Scalar); 1]>,
    /// The starts of targets.
    pub(crate) copies: SmallVec<[TransferStep; 1]>,
    /// For every index, in the kernel's order: its axis, and the length of that.
    pub(crate) checks: SmallVec<[(usize, i64); 2]>,
    pub(crate) nest: LoopNest,
}

impl LoopStep {
    /// # Safety
    /// As for [`RunStep::run`].
    #[inline(never)]
    pub(crate) unsafe fn run(&self, at: RunMemory<'_>, conduct: &Conduct<'_>) -> Result<(), Fault> {
        let RunMemory { bases, scratch } = at;
        for (place, count, identity) in &self.fills {
            // SAFETY: the memory of a write has `count` elements.
            unsafe { fill(place.resolve(bases), *count, identity)? };
        }
        for copy in &self.copies {
            // SAFETY: by the caller's promise, the memories are as large as when the step was
            // bound.
            unsafe { copy.run(bases, conduct)? };
        }
        let mut few = [ptr::null_mut(); FEW];
        let mut many = Vec::new();
        let count = self.operands.len() + self.nest.extras();
        let pointers = match few.get_mut(..count) {
            Some(pointers) => pointers,
            None => {
                many.resize(count, ptr::null_mut());
                &mut many[..]
            }
        };
        for (pointer, at) in pointers.iter_mut().zip(&self.operands) {
            *pointer = at.resolve(bases);
        }
        if !self.blank.is_empty() {
            let element = scratch.wrapping_add(self.nest.scratch().next_multiple_of(ALIGNMENT));
            // SAFETY: the scratch memory has room for an element behind that of the nest.
            // Test: tests/loops.rs, indices_are_checked_beside_nothing.
            unsafe { element.write_bytes(0, ALIGNMENT) };
            self.blank.iter().for_each(|&operand| pointers[operand] = element);
        }
        // SAFETY: the builder's caller promised that the kernel fits the operands; the binder made
        // the nest for them. Each write has memory of its own, or that of a read which lies just as
        // the write does and which nothing needs afterwards. Blank operands do not move.
        let done = unsafe { self.nest.run(self.function, pointers, scratch, conduct) };
        // SAFETY: the nest has just run with this scratch memory.
        done.map_err(|halt| unsafe { self.fault(halt, scratch) })
    }

    /// The fault of a run that did not end well.
    ///
    /// # Safety
    /// The kernel has just run with this scratch memory.
    #[cold]
    pub(crate) unsafe fn fault(&self, halt: Halt, scratch: *mut u8) -> Fault {
        if halt == Halt::Status(OUT_OF_BOUNDS)
            // SAFETY: by the caller's promise, the kernel's report lies in this scratch memory.
            && let Some([number, index]) = unsafe { self.nest.report(scratch) }
            && let Some(&(axis, length)) = self.checks.get(number as usize)
        {
            return Fault::Index { index, axis, length };
        }
        Fault::from(halt)
    }

    /// The bytes of scratch memory that a run needs: the nest's, and room for blank operands.
    pub(crate) fn scratch(&self) -> usize {
        let nest = self.nest.scratch();
        if self.blank.is_empty() { nest } else { nest.next_multiple_of(ALIGNMENT) + ALIGNMENT }
    }
}
