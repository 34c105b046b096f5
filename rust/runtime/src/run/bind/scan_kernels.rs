//! Scan kernels, for the lengths and strides of their operands.

use smallvec::SmallVec;

use crate::allocation::buffer::ALIGNMENT;
use crate::arrays::layout::{Axes, Layout, byte_count};
use crate::arrays::strided::TransferPlan;
use crate::error::Fault;
use crate::program::scan_kernel::{Carry, ScanKernel};
use crate::run::scan_kernel::{Packed, ScanKernelStep, piece};
use crate::run::state::SlotState;
use crate::run::step::{Place, RunStep};

use super::Binder;

/// The lengths of an operand: the number of rows, if it has one for each step, and the lengths of a row.
fn lengths_of(rows: Option<i64>, row: &[u64]) -> Axes {
    rows.into_iter().chain(row.iter().map(|&length| length as i64)).collect()
}

impl Binder<'_> {
    pub(super) fn scan_kernel(&mut self, code: &ScanKernel) -> Result<RunStep, Fault> {
        let steps = self.state.size(code.steps);
        if steps < 0 {
            return Err(Fault::NegativeLength { axis: 0, length: steps });
        }
        let mut operands = SmallVec::new();
        let mut strides = SmallVec::new();
        let mut packed = SmallVec::new();
        let mut scratch = 0;
        // Walked backwards, the first step takes the last row.
        let walk = |stride: i64| if code.backwards { -stride } else { stride };
        let first = |stride: i64| if code.backwards { stride * (steps - 1).max(0) } else { 0 };
        for (position, read) in code.reads.iter().enumerate() {
            let SlotState { place, layout, .. } = self.slot(read.slot).clone();
            let expected = lengths_of(read.walks.then_some(steps), &read.row);
            for (axis, (&expected, &given)) in expected.iter().zip(&layout.dims).enumerate() {
                if given != expected {
                    let operand = self.operand(position, read.slot);
                    return Err(Fault::Length { operand, axis, expected, given });
                }
            }
            let fresh = Layout::fresh(&layout.dims, self.itemsize(read.slot))?;
            let own = read.walks as usize;
            let gaps = (own..layout.dims.len())
                .any(|axis| layout.dims[axis] > 1 && layout.strides[axis] != fresh.strides[axis]);
            let mut stride = if read.walks { layout.strides[0] } else { 0 };
            if gaps {
                stride = if read.walks { fresh.strides[0] } else { 0 };
                let plan = TransferPlan::copy(self.dtype(read.slot), &layout, &fresh);
                let (operand, from) = (operands.len(), place);
                let copy = Packed { operand, start: scratch, first: first(stride), from, plan };
                packed.push(copy);
                let bytes = byte_count(&layout.dims, self.itemsize(read.slot))?;
                scratch += bytes.next_multiple_of(ALIGNMENT);
            }
            operands.push(Place { base: place.base, offset: place.offset + first(stride) });
            strides.push(walk(stride));
        }
        for write in &code.writes {
            let place =
                self.fresh(write.slot, &lengths_of(write.walks.then_some(steps), &write.row))?;
            let stride = if write.walks { self.layout(write.slot).strides[0] } else { 0 };
            operands.push(Place { base: place.base, offset: place.offset + first(stride) });
            strides.push(walk(stride));
        }
        self.need_scratch(scratch);
        let kept =
            |&Carry { read, write }: &Carry| (read as usize, code.reads.len() + write as usize);
        Ok(RunStep::ScanKernel(Box::new(ScanKernelStep {
            function: code.kernel.function,
            steps,
            operands,
            strides,
            packed,
            scratch,
            piece: piece(code),
            carries: code.carries.iter().map(kept).collect(),
            counts: code.counts,
        })))
    }
}
