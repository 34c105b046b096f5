//! Places in memory of a scan: of its results, of the values between its steps, and of a step's working memory.

use std::collections::VecDeque;

use smallvec::SmallVec;

use crate::allocation::buffer::Buffer;
use crate::arrays::layout::{Layout, byte_count};
use crate::arrays::strided::{TransferPlan, copy_bytes};
use crate::error::{Error, Fault};
use crate::program::Program;
use crate::program::instr::InstrKind;
use crate::program::nested::Next;
use crate::run::Run;
use crate::run::scan::needs::Scratch;
use crate::run::scan::rows::{Rows, first_rows};
use crate::run::scan::{Output, Ring, ScanRun, Target, Value};
use crate::run::state::RunState;
use crate::run::subrun::Site;

impl<'p> ScanRun<'p> {
    /// Places the results of a scan that does no step.
    pub(super) fn place_no_rows(
        &mut self,
        state: &mut RunState,
        site: &Site<'_>,
    ) -> Result<(), Error> {
        let run = self.prepare(0)?;
        for &(output, to) in &self.code.stacked {
            let dims = match (run.output(output), self.kept_by(output)) {
                (Some(spec), _) => with_rows(0, spec.dims),
                (None, Some(state)) => with_rows(0, &state.dims),
                (None, None) => with_rows(0, &self.part.program.declared_lengths(output)),
            };
            let layout = Layout::fresh(&dims, self.itemsize(output));
            state.result(site, to, layout.map_err(Error::at(self.origin))?)?;
        }
        Ok(())
    }

    /// The layout of the state whose next value, of the same shape, an output is.
    fn kept_by(&self, output: usize) -> Option<&Layout> {
        let state = self.code.states.iter().position(|state| state.next == Next::Output(output))?;
        Some(&self.layouts[self.values[self.code.input_of(state)].layout])
    }

    /// Finds memory for the results and the needs of the scan, and the places of outputs.
    pub(super) fn place(
        &mut self,
        state: &mut RunState,
        site: &Site<'_>,
        run: &mut Run<'p>,
    ) -> Result<(), Error> {
        let Scratch { bytes, copies, rings, apart, first, kept } =
            self.scratch(state, site.program, run)?;
        let least = bytes + run.lendable().unwrap_or(0);
        let (memory, block) = state.memory_for(site, least).map_err(Error::at(self.origin))?;
        let whole = site.memory.map_or(0, |(_, bound)| bound).max(least);
        self.memory = (memory.wrapping_add(bytes), whole - bytes);
        self.block = block;
        self.kept = (memory.wrapping_add(kept.0), kept.1);
        self.lend(run)?;
        for (output, start) in apart {
            self.apart[output] = Some(memory.wrapping_add(start));
        }
        for (row, start) in first {
            self.first[row] = Some(memory.wrapping_add(start));
        }
        for output in 0..self.row_of.len() {
            if let (Some(spec), Some(row)) = (run.output(output), self.row_of[output]) {
                let dims = spec.dims.to_vec();
                self.rows[row] = Some(self.place_rows(state, site, row, &dims)?);
            }
        }
        for (input, start, plan) in copies {
            let to = memory.wrapping_add(start);
            // SAFETY: the memory was reserved for it; the state is there when the scan starts.
            let done = unsafe { plan.run(to, self.values[input].data) };
            done.map_err(|halt| self.at(halt.into()))?;
            self.values[input].data = to;
            self.values[input].owner = None;
            run.move_input(input, to, None);
        }
        self.look_ahead(run)?;
        for (start, bytes, count) in rings {
            let start = memory.wrapping_add(start);
            self.outputs.push(Output {
                target: Target::Ring,
                ring: Ring { start, bytes, count },
                made: Value { data: start, layout: 0, owner: None },
                held: VecDeque::new(),
            });
        }
        self.aim(run, 0)
    }

    /// Finds the states whose values are stacked before each step: the step before writes them to their
    /// rows, and the first ones are copied there. Rows stay in their places, and states keep their
    /// layouts.
    fn look_ahead(&mut self, run: &mut Run<'p>) -> Result<(), Error> {
        let program = &self.part.program;
        let first = self.code.sequences.len();
        let keeps = |work: &mut Self, state: usize| {
            work.next_layout(run, state) == Some(work.values[first + state].layout)
        };
        let may_repeat = self.may_repeat() && self.code.until.is_none();
        if !may_repeat || !(0..self.code.states.len()).all(|state| keeps(self, state)) {
            return Ok(());
        }
        for (row, &(output, _)) in self.code.stacked.iter().enumerate() {
            let of = |input: &usize| program.inputs[*input].slot == program.outputs[output];
            let mut inputs = first..first + self.code.states.len();
            let Some(input) = inputs.find(of).filter(|&input| !program.inputs[input].donated)
            else {
                continue;
            };
            let Next::Output(next) = self.code.states[input - first].next else { continue };
            let is_free = self.row_of[next].is_none() && self.ahead[next].is_none();
            let (Some(rows), true, None) = (&self.rows[row], is_free, self.left_in(run, next))
            else {
                continue;
            };
            let layout = &self.layouts[rows.layout];
            let bytes = byte_count(&layout.dims, self.itemsize(output));
            let bytes = bytes.map_err(Error::at(self.origin))?;
            let to = rows.at(0);
            // SAFETY: the value lies in C order, as the row does, which is memory of its own.
            // Test: tests/scan/test_stacked_states.py.
            let copied = unsafe { copy_bytes(to, self.values[input].data, bytes) };
            copied.map_err(|halt| self.at(halt.into()))?;
            self.values[input].data = to;
            self.values[input].owner = None;
            run.move_input(input, to, None);
            self.ahead[next] = Some(row);
        }
        Ok(())
    }

    /// Lends a run that was just bound the memory of the steps.
    pub(super) fn lend(&self, run: &mut Run<'p>) -> Result<(), Error> {
        match run.lendable() {
            Some(bytes) if bytes <= self.memory.1 => run.borrow_memory(self.memory.0),
            // States lie otherwise than it was foreseen.
            _ => run.own_memory().map_err(Error::at(self.origin))?,
        }
        Ok(())
    }

    /// Says where outputs go in a run that was just bound.
    pub(super) fn aim(&mut self, run: &mut Run<'p>, step: i64) -> Result<(), Error> {
        for at in 0..self.outputs.len() {
            let Some(spec) = run.output(at) else {
                self.outputs[at].target = Target::Late;
                continue;
            };
            let (layout, dtype) = (Layout::of(&spec), spec.dtype);
            let itemsize = dtype.itemsize();
            let plain = Layout::fresh(&layout.dims, itemsize).map_err(Error::at(self.origin))?;
            let is_plain = layout.is_c_order(itemsize);
            if let Some(input) = self.stacked_ahead(at) {
                run.leave_output(at);
                self.outputs[at].made.layout = self.values[input].layout;
                self.outputs[at].target = Target::Left { input };
                continue;
            }
            if let (Some(row), Some(rows)) =
                (self.row_of[at], self.row_of[at].and_then(|row| self.rows[row].as_ref()))
            {
                let expected = &self.layouts[rows.layout];
                if expected.dims != layout.dims {
                    let (given, expected) = (layout.dims.to_vec(), expected.dims.to_vec());
                    return Err(self.in_step(step, Fault::Row { output: at, given, expected }));
                }
                self.outputs[at].made.layout = rows.layout;
                self.outputs[at].target = if is_plain {
                    Target::Row(row)
                } else {
                    let plan = Box::new(TransferPlan::copy(dtype, &layout, expected));
                    let bytes = match self.apart[at] {
                        Some(_) => Ok(0),
                        None => byte_count(&layout.dims, itemsize),
                    };
                    let own = bytes.and_then(Buffer::new).map_err(Error::at(self.origin))?;
                    let data = self.apart[at].unwrap_or(own.as_ptr());
                    Target::Copied { data, row, plan, _own: own }
                };
                continue;
            }
            if let Some(input) = self.left_in(run, at) {
                run.leave_output(at);
                self.outputs[at].made.layout = self.values[input].layout;
                self.outputs[at].target = Target::Left { input };
            } else {
                let layout = if is_plain { plain } else { layout };
                self.outputs[at].made.layout = self.intern(layout);
                self.outputs[at].target = match self.ahead[at] {
                    Some(row) => Target::Ahead(row),
                    None => Target::Ring,
                };
            }
        }
        Ok(())
    }

    /// The state whose value an output stacks that the step before has written to its row.
    fn stacked_ahead(&self, output: usize) -> Option<usize> {
        let row = self.row_of[output]?;
        let next = self.ahead.iter().position(|of| *of == Some(row))?;
        let program = &self.part.program;
        let mut states = 0..self.code.states.len();
        let of = |state: &usize| {
            let input = self.code.input_of(*state);
            self.code.states[*state].next == Next::Output(next)
                && program.inputs[input].slot == program.outputs[output]
        };
        states.find(of).map(|state| self.code.input_of(state))
    }

    /// The state that the program may use up and in whose memory an output is its next value.
    pub(super) fn left_in(&self, run: &Run<'p>, output: usize) -> Option<usize> {
        let mut states = self.code.states.iter();
        let own = states.position(|carried| carried.next == Next::Output(output))?;
        let input = self.code.input_of(own);
        let donated = self.part.program.inputs[input].donated;
        (donated && run.lies_exactly_in(output, input)).then_some(input)
    }

    /// The memory for all values of a stacked output.
    pub(super) fn place_rows(
        &mut self,
        state: &mut RunState,
        site: &Site<'_>,
        row: usize,
        dims: &[i64],
    ) -> Result<Rows, Error> {
        let (output, to) = self.code.stacked[row];
        let itemsize = self.itemsize(output);
        if self.code.until.is_some() {
            return self.place_first_rows(row, dims);
        }
        let whole = Layout::fresh(&with_rows(self.steps, dims), itemsize);
        let whole = whole.map_err(Error::at(self.origin))?;
        let stride = whole.strides[0];
        let data = state.result(site, to, whole)?;
        let layout = Layout::fresh(dims, itemsize).map_err(Error::at(self.origin))?;
        let (capacity, block) = (self.steps, Buffer::empty());
        Ok(Rows { data, stride, layout: self.intern(layout), capacity, block })
    }

    /// The memory for the first values of a stacked output, where the scan may end early.
    fn place_first_rows(&mut self, row: usize, dims: &[i64]) -> Result<Rows, Error> {
        let at = |fault| Error::at(self.origin)(fault);
        let itemsize = self.itemsize(self.code.stacked[row].0);
        let stride = byte_count(dims, itemsize).map_err(at)? as i64;
        let capacity = first_rows(self.steps, stride);
        let bytes = if self.first[row].is_some() { 0 } else { capacity * stride };
        let block = Buffer::new(bytes as usize).map_err(at)?;
        let data = self.first[row].unwrap_or(block.as_ptr());
        let layout = Layout::fresh(dims, itemsize).map_err(at)?;
        Ok(Rows { data, stride, layout: self.intern(layout), capacity, block })
    }

    /// Makes room for the row of a step where there is none.
    pub(super) fn make_room(&mut self, step: i64) -> Result<(), Error> {
        for rows in self.rows.iter_mut().flatten() {
            if step < rows.capacity {
                continue;
            }
            let before = std::mem::take(&mut rows.block);
            let (old, bytes) = rows.grow(self.steps).map_err(Error::at(self.origin))?;
            for value in &mut self.values {
                let offset = value.data.addr().wrapping_sub(old.addr());
                if offset < bytes {
                    value.data = rows.data.wrapping_add(offset);
                }
            }
            drop(before);
        }
        Ok(())
    }

    /// Gives the results their rows: `done` of them are there.
    pub(super) fn keep_rows(
        &mut self,
        state: &mut RunState,
        site: &Site<'_>,
        done: i64,
    ) -> Result<(), Error> {
        for (rows, &(output, to)) in self.rows.iter_mut().zip(&self.code.stacked) {
            let rows = rows.as_mut().expect("a step has placed the rows");
            let slot = self.part.program.outputs[output];
            let itemsize = self.part.program.slots[slot.index()].dtype.itemsize();
            let dims = with_rows(done, &self.layouts[rows.layout].dims);
            let layout = Layout::fresh(&dims, itemsize).map_err(Error::at(self.origin))?;
            let bytes = byte_count(&dims, itemsize).map_err(Error::at(self.origin))?;
            if rows.block.size() > 0 && state.guards.width() == 0 {
                state.adopt(site.program, to, layout, std::mem::take(&mut rows.block));
                continue;
            }
            let memory = state.result(site, to, layout)?;
            // SAFETY: so many rows are there without gaps; the result is memory of its own.
            let copied = unsafe { copy_bytes(memory, rows.data, bytes) };
            copied.map_err(|halt| Error::at(self.origin)(halt.into()))?;
        }
        Ok(())
    }
}

impl Program {
    /// The lengths of an output that its declaration gives, 0 where it gives none.
    fn declared_lengths(&self, output: usize) -> Vec<i64> {
        let slot = self.outputs[output];
        let info = self.slots[slot.index()];
        let mut lengths = vec![0; info.ndim];
        if let Some(at) = info.made_by
            && let InstrKind::Call(call) = &self.instrs[at].kind
            && let Some((_, ty)) = call.outputs.iter().find(|(made, _)| *made == slot)
        {
            for (length, known) in lengths.iter_mut().zip(ty.lengths()) {
                *length = known.unwrap_or(0);
            }
        }
        lengths
    }
}

/// The lengths of an array of so many rows.
pub(super) fn with_rows(rows: i64, dims: &[i64]) -> SmallVec<[i64; 4]> {
    [rows].into_iter().chain(dims.iter().copied()).collect()
}
