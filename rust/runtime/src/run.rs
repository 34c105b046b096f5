//! One run of a program.

use std::mem;
use std::time::{Duration, Instant};

pub(crate) mod bind;
pub(crate) mod entry;
pub(crate) mod executable;
pub(crate) mod guard;
pub(crate) mod idle;
pub(crate) mod scan;
pub(crate) mod scan_kernel;
pub(crate) mod state;
pub(crate) mod step;
pub(crate) mod subrun;
pub(crate) mod tape;
pub(crate) mod watch;

use crate::allocation::buffer::Buffer;
use crate::allocation::spare::Spare;
use crate::arrays::array::{ArrayRef, OutputSpec, OwnedArray, Owner};
use crate::arrays::layout::{Layout, byte_count};
use crate::arrays::strided::{Transfer, TransferPlan};
use crate::error::{Error, Fault};
use crate::ids::Slot;
use crate::program::Program;
use crate::program::array_type::ArrayType;
use crate::program::instr::{Call, InstrKind};
use crate::run::bind::Binder;
use crate::run::state::{OutputPlan, RunState, SlotState};
use crate::run::step::{Place, RunStep};
use crate::run::tape::products::kept_bytes;
use crate::run::tape::{Apart, Tape};
use crate::run::watch::Watch;
use crate::threads::conduct::Conduct;

/// Short instructions after which a run asks whether to stop; long ones do it themselves.
pub(crate) const ASK: usize = 64;

/// A run that takes less is done before another thread would wake up to do something meanwhile.
const BRIEF: Duration = Duration::from_micros(20);

/// A run: bound to its inputs, then executed, then asked for its outputs.
///
/// ```text
/// bind -> [output, set_output]* -> execute -> take_output*
/// ```
pub struct Run<'p> {
    program: &'p Program,
    /// `None` only while the run is dropped.
    state: Option<Box<RunState>>,
}

impl<'p> Run<'p> {
    pub(crate) fn new(program: &'p Program, state: Box<RunState>) -> Run<'p> {
        Run { program, state: Some(state) }
    }

    fn state(&self) -> &RunState {
        self.state.as_ref().expect("a run has its state until it is dropped")
    }

    fn state_mut(&mut self) -> &mut RunState {
        self.state.as_mut().expect("a run has its state until it is dropped")
    }

    /// The type and layout of an output, if they are known before the run.
    pub fn output(&self, position: usize) -> Option<OutputSpec<'_>> {
        let plan = self.state().outputs.get(position)?.as_ref()?;
        let dtype = self.program.slots[self.program.outputs[position].index()].dtype;
        Some(OutputSpec { dtype, dims: &plan.layout.dims, strides: &plan.layout.strides })
    }

    /// The outputs whose layout [`Run::output`] knows.
    pub(crate) fn outputs(&self) -> impl Iterator<Item = (usize, OutputSpec<'_>)> {
        (0..self.program.outputs.len()).filter_map(|at| Some((at, self.output(at)?)))
    }

    /// Gives the memory that an output is written to. Outputs without one are allocated by the
    /// runtime.
    ///
    /// # Safety
    /// The memory is as [`Run::output`] says, writable until the run is dropped, aligned to the
    /// element type, and apart from all inputs, constants and other outputs.
    pub unsafe fn set_output(&mut self, position: usize, data: *mut u8) {
        let base = self.program.bases.outputs() + position;
        if position < self.program.outputs.len() {
            self.state_mut().bases[base] = data;
        }
    }

    /// Takes the memory of an input, of the same layout as before. The elements that a run reads must be
    /// there when it is executed.
    pub(crate) fn move_input(&mut self, position: usize, data: *mut u8, owner: Owner) {
        let dynamic = self.program.dynamic;
        let state = self.state_mut();
        state.bases[position] = data;
        if dynamic {
            state.owners[position] = owner;
        }
    }

    /// The bytes to lend the run, see [`RunState::lendable`].
    pub(crate) fn lendable(&self) -> Option<usize> {
        self.state().lendable(self.program)
    }

    /// Lends the run as many bytes.
    pub(crate) fn borrow_memory(&mut self, start: *mut u8) {
        let program = self.program;
        self.state_mut().borrow_memory(program, start);
    }

    /// Gives the run memory of its own instead.
    pub(crate) fn own_memory(&mut self) -> Result<(), Fault> {
        let program = self.program;
        self.state_mut().own_memory(program)
    }

    /// The bytes that programs of branches take at most at once, beside the lent memory.
    pub(crate) fn choices(&self) -> usize {
        self.state().choice_bytes
    }

    /// Whether the run finds memory for itself while it runs.
    pub(crate) fn is_open(&self) -> bool {
        self.program.dynamic || self.state().open
    }

    /// As [`Run::execute`], with this memory for branches.
    pub(crate) fn execute_with(
        &mut self,
        spare: &mut Spare,
        conduct: &Conduct<'_>,
    ) -> Result<(), Error> {
        mem::swap(&mut self.state_mut().spare, spare);
        let executed = self.go_through(conduct);
        mem::swap(&mut self.state_mut().spare, spare);
        executed
    }

    /// A way to execute a plain program again and again, when all its outputs have their memory; see
    /// [`Tape::new`].
    pub(crate) fn tape(
        &mut self,
        moving: &[usize],
        room: (*mut u8, usize),
        apart: Option<Apart>,
    ) -> Tape<'_> {
        let program = self.program;
        Tape::new(program, self.state_mut(), moving, room, apart)
    }

    /// The bytes of the copies of matrices that a tape keeps, if the inputs from one on stay the same.
    pub(crate) fn kept_bytes(&self, first_same: usize) -> usize {
        let (program, donated) = (self.program, self.program.donated());
        kept_bytes(&self.state().steps, |base| {
            (first_same..program.bases.arena).contains(&base) && !donated.contains(&base)
        })
    }

    /// Takes the memory of all inputs.
    pub(crate) fn start(&mut self, inputs: &[ArrayRef<'_>]) {
        let program = self.program;
        self.state_mut().start(program, inputs);
    }

    /// Whether an output lies in the memory of an input, element for element.
    pub(crate) fn lies_exactly_in(&self, position: usize, input: usize) -> bool {
        let slots = &self.state().slots;
        let of = &slots[self.program.inputs[input].slot.index()];
        let output = &slots[self.program.outputs[position].index()];
        self.lies_in(position) == Some(input)
            && output.place.offset == 0
            && output.layout == of.layout
    }

    /// The input in whose memory an output lies, if it is known before the run and not made anew.
    pub fn lies_in(&self, position: usize) -> Option<usize> {
        self.state().outputs.get(position)?.as_ref()?;
        let slot = self.program.outputs[position];
        let base = self.state().slots[slot.index()].place.base;
        (base < self.program.bases.constants).then_some(base)
    }

    /// Leaves an output where [`Run::lies_in`] says that it lies, instead of copying it.
    pub fn leave_output(&mut self, position: usize) {
        if self.lies_in(position).is_some() {
            self.state_mut().left[position] = true;
        }
    }

    /// The address of an output that was left.
    pub fn left_output(&self, position: usize) -> Option<ArrayRef<'_>> {
        let state = self.state();
        if !*state.left.get(position)? {
            return None;
        }
        let slot = self.program.outputs[position];
        let SlotState { place, layout, .. } = &state.slots[slot.index()];
        Some(ArrayRef {
            dtype: self.program.slots[slot.index()].dtype,
            data: place.resolve(&state.bases),
            dims: &layout.dims,
            strides: &layout.strides,
            owner: None,
        })
    }

    /// An output that the runtime allocated, once the run is executed.
    pub fn take_output(&mut self, position: usize) -> Option<OwnedArray> {
        let (buffer, layout) = self.state_mut().owned.get_mut(position)?.take()?;
        let dtype = self.program.slots[self.program.outputs[position].index()].dtype;
        Some(OwnedArray { dtype, buffer, layout })
    }

    /// Whether the last run over such inputs was so brief that nothing else is worth beginning
    /// meanwhile. Lengths that values decide may make this run long all the same.
    pub fn was_brief(&self) -> bool {
        self.state().was_brief
    }

    /// Notes that the run was long all the same.
    pub fn note_long(&mut self) {
        self.state_mut().was_brief = false;
    }

    /// Runs the program. After an error no output holds anything.
    pub fn execute(&mut self, conduct: &Conduct<'_>) -> Result<(), Error> {
        if self.program.steady && self.was_brief() {
            // It will be so again, and a look at the clock costs a tenth of the briefest run.
            self.program.heat.add(self.state().took);
            return self.go_through(conduct);
        }
        let start = Instant::now();
        let executed = self.go_through(conduct);
        let took = start.elapsed();
        let nanos = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        self.program.heat.add(nanos);
        let state = self.state_mut();
        state.was_brief = took < BRIEF;
        state.took = nanos;
        executed
    }

    fn go_through(&mut self, conduct: &Conduct<'_>) -> Result<(), Error> {
        let program = self.program;
        let state = self.state_mut();
        state.provide_outputs(program).map_err(Error::at(None))?;
        state.evaluate(program, &program.run_sizes[0]);
        if program.plain {
            // SAFETY: as for `run_step` below; nothing is made or released between the steps.
            unsafe { state.run_steps(program, conduct)? };
            return self.finish_outputs(conduct);
        }
        let mut watch = program.watched.then(|| Watch::new(program));
        if watch.is_some() {
            let arena = state.bases[program.bases.arena];
            // SAFETY: the arena has as many bytes, and nothing is in it yet.
            unsafe { Watch::start(arena, state.arena_bytes) };
        }
        for at in 0..program.instrs.len() {
            if let Some(watch) = &mut watch {
                // SAFETY: the operands of an instruction were made by instructions before it.
                let checked = unsafe { watch.before(state, program, at) };
                checked.map_err(Error::at(program.instrs[at].origin))?;
            }
            // SAFETY: the inputs and outputs are there by the promises of `bind` and `set_output`,
            // the arena and the scratch memory since the program was bound, the blocks of earlier
            // instructions until released.
            if let Err(fault) = unsafe { state.run_step(&state.steps[at], conduct) } {
                return Err(Error::at(program.instrs[at].origin)(fault));
            }
            state.finish_step(program, at, conduct)?;
            if (at % ASK == ASK - 1 || state.steps[at].may_ask_late()) && (conduct.should_stop)() {
                return Err(Error::at(None)(Fault::Interrupted));
            }
            if let Some(watch) = &mut watch {
                // SAFETY: nothing was given back since the instruction ran.
                let checked = unsafe { watch.after(state, program, at) };
                checked.map_err(Error::at(program.instrs[at].origin))?;
            }
            // A size may be the value of memory that is given back; few instructions make any.
            if !program.run_sizes[at + 1].is_empty() {
                state.evaluate(program, &program.run_sizes[at + 1]);
            }
            if let Some(watch) = &mut watch {
                // SAFETY: as above.
                unsafe { watch.release(state, program, at) };
            }
            if program.dynamic {
                for &slot in &program.liveness.releases[at] {
                    state.release(slot);
                }
            }
        }
        if let Some(watch) = &watch {
            watch.check_outputs(program)?;
        }
        self.finish_outputs(conduct)
    }

    /// Makes the outputs that are copies of the instructions' results.
    fn finish_outputs(&mut self, conduct: &Conduct<'_>) -> Result<(), Error> {
        let program = self.program;
        let state = self.state_mut();
        for at in 0..state.unfinished.len() {
            let position = state.unfinished[at];
            if state.left[position] {
                continue;
            }
            let origin = program.output_origin(position);
            state.finish_output(program, position, conduct).map_err(Error::at(origin))?;
        }
        Ok(())
    }
}

impl Drop for Run<'_> {
    fn drop(&mut self) {
        // A state that a panic left half-way is not used again.
        if let Some(mut state) = self.state.take()
            && !std::thread::panicking()
        {
            state.finish(self.program);
            self.program.idle().give(self.program, state);
        }
    }
}

impl RunState {
    /// Allocates the outputs that the caller left to the runtime.
    fn provide_outputs(&mut self, program: &Program) -> Result<(), Fault> {
        for (position, plan) in self.outputs.iter().enumerate() {
            let base = program.bases.outputs() + position;
            if let Some(plan) = plan
                && !self.left[position]
                && self.bases[base].is_null()
            {
                let buffer = Buffer::new(plan.bytes)?;
                self.bases[base] = buffer.as_ptr();
                self.owned[position] = Some((buffer, plan.layout.clone()));
            }
        }
        Ok(())
    }

    /// Does the part of an instruction that only a run can do, after its step.
    #[inline(always)]
    fn finish_step(
        &mut self,
        program: &Program,
        at: usize,
        conduct: &Conduct<'_>,
    ) -> Result<(), Error> {
        let of_instr = || Error::at(program.instrs[at].origin);
        if let RunStep::Pick(pick) = &self.steps[at] {
            let start = pick.start(&self.bases, &self.values);
            let base = pick.base;
            self.bases[base] = start.map_err(of_instr())?;
        } else if let RunStep::Inner(memory) = self.steps[at] {
            self.run_inner(program, at, memory, conduct)?;
        } else if program.dynamic {
            self.run_dynamic(program, at, conduct).map_err(of_instr())?;
        }
        Ok(())
    }

    fn run_dynamic(
        &mut self,
        program: &Program,
        at: usize,
        conduct: &Conduct<'_>,
    ) -> Result<(), Fault> {
        let instr = &program.instrs[at];
        if let InstrKind::Call(call) = &instr.kind {
            self.call(program, call)?;
        } else if instr.dynamic {
            let step = Binder::new(program, self, None).step(&instr.kind)?;
            self.grow_scratch()?;
            // SAFETY: as in `execute`; the binder allocated the memory that the step writes.
            unsafe { self.run_step(&step, conduct)? };
            if step.may_ask_late() && (conduct.should_stop)() {
                return Err(Fault::Interrupted);
            }
        }
        Ok(())
    }

    /// The array that a slot holds.
    pub(crate) fn array(&self, program: &Program, slot: Slot) -> ArrayRef<'_> {
        let bases = program.bases;
        let state = &self.slots[slot.index()];
        let base = state.place.base;
        let owner = if base < bases.constants {
            // Who owns the inputs is noted where the program calls foreign functions.
            self.owners.get(base).copied().flatten()
        } else if base < bases.arena {
            program.constants[base - bases.constants].array.owner
        } else if base >= bases.slots {
            self.kept[base - bases.slots].as_ref().and_then(|kept| kept.owner)
        } else {
            None
        };
        ArrayRef {
            dtype: program.slots[slot.index()].dtype,
            data: state.place.resolve(&self.bases),
            dims: &state.layout.dims,
            strides: &state.layout.strides,
            owner,
        }
    }

    fn call(&mut self, program: &Program, call: &Call) -> Result<(), Fault> {
        let bases = program.bases;
        let inputs: Vec<ArrayRef<'_>> =
            call.inputs.iter().map(|&slot| self.array(program, slot)).collect();
        let results = call.function.foreign.call(&inputs).map_err(Fault::Foreign)?;
        if results.len() != call.outputs.len() {
            return Err(Fault::ForeignCount {
                name: call.function.foreign.name(),
                expected: call.outputs.len(),
                given: results.len(),
            });
        }
        for (position, (result, (slot, ty))) in results.into_iter().zip(&call.outputs).enumerate() {
            if result.dtype != ty.dtype || !ty.admits(&result.layout.dims) {
                let shape: Vec<Option<u64>> =
                    result.layout.dims.iter().map(|&length| Some(length as u64)).collect();
                return Err(Fault::ForeignType {
                    name: call.function.foreign.name(),
                    position,
                    given: ArrayType::new(result.dtype, &shape).to_string(),
                    expected: ty.to_string(),
                });
            }
            let base = bases.slots + slot.index();
            self.bases[base] = result.data.cast_mut();
            self.slots[slot.index()] =
                SlotState { place: Place::start(base), layout: result.layout.clone(), bytes: 0 };
            self.kept[slot.index()] = Some(result);
        }
        Ok(())
    }

    /// Brings an output to its memory, if it is not there.
    fn finish_output(
        &mut self,
        program: &Program,
        position: usize,
        conduct: &Conduct<'_>,
    ) -> Result<(), Fault> {
        let slot = program.outputs[position];
        let to = Place::start(program.bases.outputs() + position).resolve(&self.bases);
        let from = self.slots[slot.index()].place.resolve(&self.bases);
        if let Some(OutputPlan { copy: Some(copy), .. }) = &self.outputs[position] {
            // SAFETY: the output's memory is as its plan says, and apart from everything else.
            unsafe { copy.run_with(to, from, conduct)? };
            return Ok(());
        }
        if let Some(block) = self.take_block(program, position) {
            self.owned[position] = Some((block, self.slots[slot.index()].layout.clone()));
            return Ok(());
        }
        let dtype = program.slots[slot.index()].dtype;
        let old = &self.slots[slot.index()].layout;
        let bytes = byte_count(&old.dims, dtype.itemsize())?;
        let layout = Layout::fresh(&old.dims, dtype.itemsize())?;
        let buffer = Buffer::new(bytes)?;
        let copy =
            TransferPlan::new(Transfer::Copy, dtype, &old.dims, &layout.strides, &old.strides);
        // SAFETY: the buffer is fresh and large enough; the slot lives until the run ends.
        unsafe { copy.run_with(buffer.as_ptr(), from, conduct)? };
        self.owned[position] = Some((buffer, layout));
        Ok(())
    }

    /// The memory that an output fills all by itself, if no later output lies there too.
    fn take_block(&mut self, program: &Program, position: usize) -> Option<Buffer> {
        let root = self.filled(program, position).filter(|_| self.guards.width() == 0)?;
        self.blocks[root].take()
    }

    /// The slot whose block an output fills all by itself, or most of it from the start.
    pub(crate) fn filled(&self, program: &Program, position: usize) -> Option<usize> {
        let place = |slot: Slot| self.slots[slot.index()].place;
        let slot = program.outputs[position];
        let base = place(slot).base;
        let root = base.checked_sub(program.bases.slots)?;
        let layout = &self.slots[slot.index()].layout;
        let itemsize = program.slots[slot.index()].dtype.itemsize();
        let (bytes, given) = (layout.len() as usize * itemsize, self.slots[root].bytes);
        let whole = bytes == given && layout.strides.iter().all(|&stride| stride >= 0);
        let most = bytes < given && given / 2 <= bytes && layout.is_c_order(itemsize);
        let shared = program.outputs[position + 1..].iter().any(|&other| place(other).base == base);
        ((whole || most) && place(slot).offset == 0 && !shared).then_some(root)
    }
}
