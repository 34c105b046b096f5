//! What a loop needs of memory, told before its first step.

use smallvec::SmallVec;

use super::{Loop, with_rows};
use crate::allocation::buffer::ALIGNMENT;
use crate::arrays::layout::{Layout, byte_count};
use crate::arrays::strided::TransferPlan;
use crate::error::Error;
use crate::ids::Origin;
use crate::program::Program;
use crate::program::nested::Repeat;
use crate::run::Run;
use crate::run::state::State;
use crate::run::subrun::InnerNeeds;

/// What a loop takes of scratch memory.
#[derive(Default)]
pub(super) struct Scratch {
    pub(super) bytes: usize,
    /// Where states start that steps may write to, or that lie otherwise: the input, where its copy
    /// goes, and how.
    pub(super) copies: SmallVec<[(usize, usize, TransferPlan); 4]>,
    /// For each output the start of its ring, the bytes of a value and the number of values.
    pub(super) rings: SmallVec<[(usize, usize, usize); 4]>,
}

impl Scratch {
    fn reserve(&mut self, bytes: usize) -> usize {
        let start = self.bytes;
        self.bytes += bytes.next_multiple_of(ALIGNMENT);
        start
    }
}

impl State {
    /// What a loop makes and needs, where that does not depend on values.
    pub(crate) fn repeat_needs(
        &self,
        program: &Program,
        code: &Repeat,
        origin: Option<Origin>,
    ) -> Result<InnerNeeds, Error> {
        let work = Loop::new(self, program, code, origin)?;
        let run = work.prepare(0)?;
        let at = |fault| Error::at(origin)(fault);
        let mut layouts = Vec::new();
        for (state, carried) in code.states.iter().enumerate() {
            let layout = &work.layouts[work.values[code.input_of(state)].layout];
            layouts.push((carried.last, work.fresh(code.input_of(state), &layout.dims)?));
        }
        for &(output, to) in &code.stacked {
            if let Some(spec) = run.output(output) {
                let dims = with_rows(work.steps, spec.dims);
                layouts.push((to, Layout::fresh(&dims, spec.dtype.itemsize()).map_err(at)?));
            }
        }
        layouts.push((code.done, Layout::default()));
        let mut needs = InnerNeeds::of(code.program, &run, layouts);
        if work.steps > 0 {
            needs.scratch = work.scratch(self, program, &run)?.bytes;
            let apart = work.apart(&run)?;
            needs.apart = apart;
        }
        Ok(needs)
    }
}

impl<'p> Loop<'p> {
    /// What the loop takes of scratch memory.
    pub(super) fn scratch(
        &self,
        state: &State,
        program: &Program,
        run: &Run<'p>,
    ) -> Result<Scratch, Error> {
        let mut scratch = Scratch::default();
        for (at, carried) in self.code.states.iter().enumerate() {
            let input = self.code.input_of(at);
            let declared = &self.part.program.inputs[input];
            let init = state.array(program, carried.init);
            let from = Layout { dims: init.dims.into(), strides: init.strides.into() };
            let itemsize = declared.ty.dtype.itemsize();
            if declared.donated || !from.is_c_order(itemsize) {
                let bytes = byte_count(&from.dims, itemsize).map_err(Error::at(self.origin))?;
                let to = &self.layouts[self.values[input].layout];
                let plan = TransferPlan::copy(declared.ty.dtype, &from, to);
                let start = scratch.reserve(bytes);
                scratch.copies.push((input, start, plan));
            }
        }
        for output in 0..self.row_of.len() {
            let mut ring = (0, 0, 1);
            if let (Some(spec), None) = (run.output(output), self.row_of[output]) {
                let bytes = byte_count(spec.dims, spec.dtype.itemsize());
                let bytes = bytes.map_err(Error::at(self.origin))?;
                // While a step makes a value, those in use are kept.
                let count = self.in_use[output] + 1;
                let padded = bytes.next_multiple_of(ALIGNMENT);
                ring = (scratch.reserve(padded * count), padded, count);
            }
            scratch.rings.push(ring);
        }
        Ok(scratch)
    }

    /// The bytes of what is stacked and is made otherwise than its row lies.
    fn apart(&self, run: &Run<'p>) -> Result<usize, Error> {
        let mut bytes = 0;
        for output in 0..self.row_of.len() {
            if let (Some(spec), Some(_)) = (run.output(output), self.row_of[output]) {
                let itemsize = spec.dtype.itemsize();
                if !Layout::of(&spec).is_c_order(itemsize) {
                    bytes += byte_count(spec.dims, itemsize).map_err(Error::at(self.origin))?;
                }
            }
        }
        Ok(bytes)
    }
}
