//! The memory that a scan needs, found before its first step.

use smallvec::SmallVec;

use super::ScanRun;
use super::place::with_rows;
use super::rows::{Growth, first_rows, most_bytes};
use crate::allocation::buffer::ALIGNMENT;
use crate::arrays::layout::{Layout, byte_count};
use crate::arrays::strided::TransferPlan;
use crate::error::{Error, Fault};
use crate::ids::Origin;
use crate::program::Program;
use crate::program::nested::{Next, Scan};
use crate::run::Run;
use crate::run::state::RunState;
use crate::run::subrun::InnerNeeds;

/// The steps from which on a matrix is worth a copy that they all read.
const MANY: i64 = 32;

/// The memory that a scan needs beside the working memory of its steps.
#[derive(Default)]
pub(super) struct Scratch {
    pub(super) bytes: usize,
    /// Where states start that steps may write to, or that lie otherwise: the input, where its copy
    /// goes, and how.
    pub(super) copies: SmallVec<[(usize, usize, TransferPlan); 4]>,
    /// For each output the start of its ring, the bytes of a value and the number of values.
    pub(super) rings: SmallVec<[(usize, usize, usize); 4]>,
    /// The memory for stacked outputs whose layout is not that of a row.
    pub(super) apart: SmallVec<[(usize, usize); 2]>,
    /// The places of the first rows of stacked outputs, if the scan may end early.
    pub(super) first: SmallVec<[(usize, usize); 2]>,
    /// The place and the bytes of copies of matrices that stay the same.
    pub(super) kept: (usize, usize),
}

impl Scratch {
    fn reserve(&mut self, bytes: usize) -> usize {
        let start = self.bytes;
        self.bytes += bytes.next_multiple_of(ALIGNMENT);
        start
    }
}

impl RunState {
    /// The results and the memory of a scan, as far as they do not depend on values.
    pub(crate) fn scan_needs(
        &self,
        program: &Program,
        code: &Scan,
        origin: Option<Origin>,
    ) -> Result<InnerNeeds, Error> {
        let mut work = ScanRun::new(self, program, code, origin)?;
        let run = work.prepare(0)?;
        let at = |fault| Error::at(origin)(fault);
        let mut layouts = Vec::new();
        for (state, carried) in code.states.iter().enumerate() {
            let layout = &work.layouts[work.values[code.input_of(state)].layout];
            layouts.push((carried.last, work.fresh(code.input_of(state), &layout.dims)?));
        }
        for &(output, to) in &code.stacked {
            if let (Some(spec), false) = (run.output(output), program.slots[to.index()].dynamic) {
                let dims = with_rows(work.steps, spec.dims);
                layouts.push((to, Layout::fresh(&dims, spec.dtype.itemsize()).map_err(at)?));
            }
        }
        layouts.push((code.done, Layout::default()));
        let mut needs = InnerNeeds {
            layouts,
            bytes: 0,
            choices: 0,
            open: run.is_open(),
            arms: None,
            growth: work.growth(&run).map_err(at)?,
        };
        if work.steps > 0 {
            let apart = work.scratch(self, program, &run)?.bytes;
            work.foresee(run, &mut needs)?;
            needs.bytes += apart;
        }
        Ok(needs)
    }
}

impl<'p> ScanRun<'p> {
    /// The memory that the scan needs beside the working memory of its steps.
    pub(super) fn scratch(
        &self,
        state: &RunState,
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
            if let Some(spec) = run.output(output) {
                let itemsize = spec.dtype.itemsize();
                let bytes = byte_count(spec.dims, itemsize).map_err(Error::at(self.origin))?;
                if let (Some(row), Some(_)) = (self.row_of[output], self.code.until) {
                    let rows = first_rows(self.steps, bytes as i64);
                    let start = scratch.reserve(bytes * rows as usize);
                    scratch.first.push((row, start));
                }
                if self.row_of[output].is_none() {
                    // While a step makes a value, those in use are kept.
                    let count = self.in_use[output] + 1;
                    let padded = bytes.next_multiple_of(ALIGNMENT);
                    ring = (scratch.reserve(padded * count), padded, count);
                } else if !Layout::of(&spec).is_c_order(itemsize) {
                    let start = scratch.reserve(bytes);
                    scratch.apart.push((output, start));
                }
            }
            scratch.rings.push(ring);
        }
        if self.may_repeat() && self.steps >= MANY {
            let bytes = run.kept_bytes(self.code.sequences.len() + self.code.states.len());
            scratch.kept = (scratch.reserve(bytes), bytes);
        }
        Ok(scratch)
    }

    /// The bytes that stacked rows take beside that, if the scan may end early; `None` if it does not, or
    /// if only steps tell their sizes.
    fn growth(&self, run: &Run<'p>) -> Result<Option<Growth>, Fault> {
        if self.code.until.is_none() {
            return Ok(None);
        }
        let (mut rows, mut strides) = (Vec::new(), Vec::new());
        for &(output, to) in &self.code.stacked {
            let Some(spec) = run.output(output) else { return Ok(None) };
            let itemsize = spec.dtype.itemsize();
            strides.push(byte_count(spec.dims, itemsize)? as i64);
            rows.push((to, Layout::fresh(&with_rows(self.steps, spec.dims), itemsize)?));
        }
        let most = if self.steps > 0 { most_bytes(self.steps, &strides) } else { 0 };
        Ok(Some(Growth { most, rows }))
    }

    /// Notes the memory that steps need. Only the first is bound: states may have other layouts in later steps.
    fn foresee(&mut self, first: Run<'p>, needs: &mut InnerNeeds) -> Result<(), Error> {
        let mut run = first;
        let mut seen: Vec<Vec<usize>> = Vec::new();
        loop {
            let Some(bytes) = run.lendable() else { return Ok(()) };
            needs.bytes = needs.bytes.max(bytes);
            needs.choices = needs.choices.max(run.choices());
            needs.open |= run.is_open();
            seen.push(self.values.iter().map(|value| value.layout).collect());
            let states = 0..self.code.states.len();
            let next: Vec<Option<usize>> =
                states.map(|state| self.next_layout(&run, state)).collect();
            let first = self.code.sequences.len();
            for (value, next) in self.values[first..].iter_mut().zip(next) {
                // A state that changes its shape is an error of the step.
                let Some(next) = next else { return Ok(()) };
                value.layout = next;
            }
            let layouts = self.values.iter().map(|value| value.layout);
            if seen.iter().any(|known| layouts.clone().eq(known.iter().copied())) {
                return Ok(());
            }
            run = self.prepare(seen.len() as i64)?;
        }
    }

    /// The layout of a state after a step of this run, if it keeps its shape.
    pub(super) fn next_layout(&mut self, run: &Run<'p>, state: usize) -> Option<usize> {
        let output = match self.code.states[state].next {
            Next::Input(input) => return Some(self.values[input].layout),
            Next::Output(output) => output,
        };
        let spec = run.output(output)?;
        let dims = &self.layouts[self.values[self.code.input_of(state)].layout].dims;
        if dims[..] != *spec.dims {
            return None;
        }
        if let Some(input) = self.left_in(run, output) {
            return Some(self.values[input].layout);
        }
        let itemsize = spec.dtype.itemsize();
        let layout = Layout::of(&spec);
        if self.row_of[output].is_some() || layout.is_c_order(itemsize) {
            return Some(self.intern(Layout::fresh(spec.dims, itemsize).ok()?));
        }
        Some(self.intern(layout))
    }
}
