//! A kernel that runs a whole scan: it goes from row to row, and keeps the states for the next row.

use smallvec::SmallVec;

use crate::arrays::strided::TransferPlan;
use crate::error::Fault;
use crate::loops::loop_nest::KernelFn;
use crate::program::scan_kernel::ScanKernel;
use crate::run::step::{Place, RunMemory};
use crate::threads::conduct::{Conduct, Halt};

/// The elements that a kernel goes through between two questions whether to stop.
const PIECE: i64 = 1 << 16;

/// The status of a kernel whose last step was the one that ends the scan.
const ENDED: i32 = 3;

/// A scan kernel, ready to run.
#[derive(Debug)]
pub(crate) struct ScanKernelStep {
    pub(crate) function: KernelFn,
    pub(crate) steps: i64,
    /// The place of the first step's row, for each operand: reads, then writes.
    pub(crate) operands: SmallVec<[Place; 12]>,
    /// Bytes from step to step.
    pub(crate) strides: SmallVec<[i64; 12]>,
    /// Copies, in the scratch memory, of operands whose rows have gaps.
    pub(crate) packed: SmallVec<[Packed; 2]>,
    /// The bytes of scratch memory that the copies take.
    pub(crate) scratch: usize,
    /// The steps after which it asks whether to stop.
    pub(crate) piece: i64,
    /// The positions of the operands of each value that the kernel keeps: of the read, of the write.
    pub(crate) carries: SmallVec<[(usize, usize); 4]>,
    /// Whether the last operand is the number of steps done.
    pub(crate) counts: bool,
}

/// A copy of an operand, without gaps.
#[derive(Debug)]
pub(crate) struct Packed {
    pub(crate) operand: usize,
    /// The start of the copy in the scratch memory.
    pub(crate) start: usize,
    /// The start of the first step's row in the copy.
    pub(crate) first: i64,
    pub(crate) from: Place,
    pub(crate) plan: TransferPlan,
}

impl ScanKernelStep {
    /// # Safety
    /// As for `RunStep::run`.
    pub(crate) unsafe fn run(&self, at: RunMemory<'_>, conduct: &Conduct<'_>) -> Result<(), Fault> {
        let RunMemory { bases, scratch } = at;
        let mut pointers: SmallVec<[*mut std::ffi::c_char; 16]> =
            self.operands.iter().map(|place| place.resolve(bases).cast()).collect();
        for packed in &self.packed {
            // SAFETY: the binder asked for scratch memory of this size.
            let copy = unsafe { scratch.add(packed.start) };
            // SAFETY: the copy has room for the operand, and nothing else lies there.
            unsafe { packed.plan.run_with(copy, packed.from.resolve(bases), conduct)? };
            pointers[packed.operand] = copy.wrapping_offset(packed.first as isize).cast();
        }
        let mut done = 0;
        loop {
            let steps = self.piece.min(self.steps - done);
            // SAFETY: the builder's caller promised that the kernel takes these operands; the binder
            // checked their lengths, and gave each write memory of its own. Those that walk have
            // gone on by as many rows as are done.
            // Test: tests/scan_kernel.rs, rows_are_walked_in_both_directions.
            let status =
                unsafe { (self.function)(pointers.as_ptr(), steps, 1, self.strides.as_ptr()) };
            let ended = self.counts && status == ENDED;
            if !ended {
                Halt::check(status)?;
            }
            if self.counts && done > 0 {
                let counter = pointers[self.operands.len() - 1].cast::<i64>();
                // SAFETY: the builder checked that the last write is one int64, which the kernel has
                // just written. Test: tests/scan_kernel.rs, many_rows_are_done_in_pieces.
                unsafe { *counter += done };
            }
            done += steps;
            if ended || done == self.steps {
                return Ok(());
            }
            if (conduct.should_stop)() {
                return Err(Fault::Interrupted);
            }
            for &(read, write) in &self.carries {
                pointers[read] = pointers[write];
            }
            for (pointer, stride) in pointers.iter_mut().zip(&self.strides) {
                *pointer = pointer.wrapping_offset((stride * steps) as isize);
            }
        }
    }
}

/// The steps that one call of a kernel does: as many as go through [`PIECE`] elements.
pub(crate) fn piece(code: &ScanKernel) -> i64 {
    let reads = code.reads.iter().map(|read| &read.row);
    let rows = reads.chain(code.writes.iter().map(|write| &write.row));
    let elements = rows.fold(0u64, |sum, row| {
        sum.saturating_add(row.iter().fold(1, |product: u64, &n| product.saturating_mul(n)))
    });
    (PIECE / i64::try_from(elements).unwrap_or(i64::MAX).max(1)).max(1)
}
