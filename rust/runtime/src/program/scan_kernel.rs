//! Scans in one kernel: the operands whose rows it goes through.

use std::any::Any;

use frazil_core::DType;
use serde::{Deserialize, Serialize};

use crate::error::BuildError;
use crate::ids::{Size, Slot};
use crate::loops::loop_nest::KernelFn;
use crate::program::builder::{Builder, Built};
use crate::program::instr::{InstrKind, Kernel};

/// A whole scan as one kernel, a row a step.
#[derive(Serialize, Deserialize)]
pub(crate) struct ScanKernel<K = Kernel> {
    pub(crate) kernel: K,
    pub(crate) steps: Size,
    /// Whether it goes from the last row to the first.
    pub(crate) backwards: bool,
    pub(crate) reads: Box<[RowRead]>,
    pub(crate) writes: Box<[RowWrite]>,
    pub(crate) carries: Box<[Carry]>,
    pub(crate) counts: bool,
}

/// A value that the kernel keeps from step to step: the read that it starts as, the write that tells it in
/// the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Carry {
    /// The position of the read.
    pub read: u32,
    /// The position of the write.
    pub write: u32,
}

/// An operand that is read, a row a step or the same each time.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RowRead {
    pub(crate) slot: Slot,
    pub(crate) walks: bool,
    /// The lengths of a row.
    pub(crate) row: Box<[u64]>,
}

/// A result: a row for each step, or the value after the last step.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RowWrite {
    pub(crate) slot: Slot,
    pub(crate) dtype: DType,
    pub(crate) walks: bool,
    /// The lengths of a row.
    pub(crate) row: Box<[u64]>,
}

/// The operands of a scan's kernel.
#[derive(Clone, Debug)]
pub struct ScanKernelSpec {
    /// The number of steps.
    pub steps: Size,
    /// Whether they go from the last row to the first.
    pub backwards: bool,
    /// An array that is read: a slot, whether it has a row for each step along its first axis, and the
    /// lengths of a row.
    pub reads: Vec<(Slot, bool, Vec<u64>)>,
    /// An array that is made: its element type, whether it has a row for each step, and the lengths of a
    /// row.
    pub writes: Vec<(DType, bool, Vec<u64>)>,
    /// All that is kept from step to step. Over many rows the kernel is called several times, and
    /// goes on from there.
    pub carries: Vec<Carry>,
    /// Whether the last write is the number of steps done, an int64, by a kernel that may end before
    /// the last row. It gives the status 3 then.
    pub counts: bool,
}

/// The kernel's operands, for [`crate::program::codec::KernelRef::operands`].
pub(crate) fn operands<K>(
    code: &ScanKernel<K>,
    dtype: impl Fn(Slot) -> Result<DType, BuildError>,
) -> Result<Box<[u8]>, BuildError> {
    let mut operands = b"scan".to_vec();
    let mut tell = |dtype: DType, walks: bool, row: &[u64]| {
        operands.extend([dtype as u8, walks as u8, row.len() as u8]);
        operands.extend(row.iter().flat_map(|length| length.to_le_bytes()));
    };
    for RowRead { slot, walks, row } in &code.reads {
        tell(dtype(*slot)?, *walks, row);
    }
    let reads = code.reads.len();
    for RowWrite { slot: _, dtype, walks, row } in &code.writes {
        tell(*dtype, *walks, row);
    }
    operands.extend([reads as u8, code.writes.len() as u8, code.counts as u8]);
    for Carry { read, write } in &code.carries {
        operands.extend(read.to_le_bytes().into_iter().chain(write.to_le_bytes()));
    }
    Ok(operands.into())
}

impl ScanKernel {
    /// The result that holds the number of steps done, if there is one.
    pub(crate) fn counter(&self) -> Option<Slot> {
        self.writes.last().filter(|_| self.counts).map(|write| write.slot)
    }
}

impl Builder {
    /// A native kernel that goes over all steps. Returns the slots of the writes.
    ///
    /// # Safety
    /// The kernel takes operands of exactly these element types and rows, reads and then writes,
    /// each row without gaps in C order; the number of steps as its outer length; and the bytes
    /// from row to row as its outer strides. The write of a carry may lie where its read does. It
    /// may be called from many threads as long as `keep` lives.
    pub unsafe fn scan_kernel(
        &mut self,
        function: KernelFn,
        keep: Box<dyn Any + Send + Sync>,
        spec: ScanKernelSpec,
    ) -> Built<Vec<Slot>> {
        let ScanKernelSpec { steps, backwards, reads, writes, carries, counts } = spec;
        self.check_sizes([steps])?;
        for (slot, walks, row) in &reads {
            let (_, given) = self.slot_type(*slot)?;
            if given != row.len() + *walks as usize {
                let needed = "an operand of a scan kernel has the axes of a row, and one for steps";
                return Err(BuildError::Rank { slot: *slot, given, needed });
            }
        }
        for &Carry { read, write } in &carries {
            let (read, write) = (reads.get(read as usize), writes.get(write as usize));
            let (Some((slot, false, given)), Some((dtype, false, row))) = (read, write) else {
                return Err(BuildError::Carry("a read and a write that do not walk"));
            };
            if self.slot_type(*slot)?.0 != *dtype || given != row {
                return Err(BuildError::Carry("elements of one type, as many in both"));
            }
        }
        let counter = |(dtype, walks, row): &(DType, bool, Vec<u64>)| {
            *dtype == DType::Int64 && !walks && row.is_empty()
        };
        if counts && !writes.last().is_some_and(counter) {
            return Err(BuildError::Carry("one int64 as the last write, for the number of steps"));
        }
        let number = self.kernel_number(function);
        let read = reads.iter().map(|(slot, ..)| *slot);
        let dynamic = self.depends(read, [steps])?;
        let mut slots = Vec::new();
        for (dtype, walks, row) in &writes {
            slots.push(self.result(*dtype, row.len() + *walks as usize, dynamic)?);
        }
        let reads = reads.into_iter().map(|(slot, walks, row)| {
            let row = row.into();
            RowRead { slot, walks, row }
        });
        let writes = slots.iter().zip(writes).map(|(&slot, (dtype, walks, row))| {
            let row = row.into();
            RowWrite { slot, dtype, walks, row }
        });
        let (reads, writes) = (reads.collect(), writes.collect());
        let kernel = Kernel { function, number, keep };
        let carries = carries.into();
        let code = ScanKernel { kernel, steps, backwards, reads, writes, carries, counts };
        self.push(InstrKind::ScanKernel(Box::new(code)), dynamic);
        Ok(slots)
    }
}
