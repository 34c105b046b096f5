//! The state of one run of a program: places of slots, memory, values of sizes.

use smallvec::SmallVec;

use crate::allocation::arena::Arena;
use crate::allocation::buffer::{ALIGNMENT, Buffer};
use crate::allocation::pool::Pool;
use crate::allocation::spare::Spare;
use crate::arrays::array::{ArrayRef, KeptArray, Owner};
use crate::arrays::layout::{Layout, byte_count};
use crate::arrays::strided::{Transfer, TransferPlan, read_integer};
use crate::error::{Error, Fault};
use crate::ids::{Size, Slot};
use crate::program::Program;
use crate::program::instr::InstrKind;
use crate::program::size::SizeExpr;
use crate::run::ASK;
use crate::run::bind::Binder;
use crate::run::guard::Guards;
use crate::run::scan::rows::Growth;
use crate::run::step::{Place, RunMemory, RunStep};
use crate::run::tape::Parts;
use crate::threads::conduct::Conduct;

/// Memory of one state that is kept for slots whose size is known during the run only.
const POOL: (usize, usize) = (16, 64 << 20);

/// The place of a slot, and the size of the memory that was made for it.
#[derive(Clone, Debug, Default)]
pub(crate) struct SlotState {
    pub(crate) place: Place,
    pub(crate) layout: Layout,
    /// Zero where the slot has no memory of its own that the run may write to.
    pub(crate) bytes: usize,
}

/// The way in which an output is made.
#[derive(Debug)]
pub(crate) struct OutputPlan {
    pub(crate) layout: Layout,
    pub(crate) bytes: usize,
    /// `None` where the output's memory holds it already when the run ends.
    pub(crate) copy: Option<TransferPlan>,
}

/// Everything that a run changes.
#[derive(Default)]
pub(crate) struct RunState {
    bound: bool,
    /// Whether the last run with this binding was brief.
    pub(crate) was_brief: bool,
    /// The nanoseconds of the last run that was timed.
    pub(crate) took: u64,
    /// Dims and strides of all inputs that the state is bound to.
    key: Vec<i64>,
    pub(crate) values: Vec<i64>,
    pub(crate) slots: Vec<SlotState>,
    pub(crate) steps: Vec<RunStep>,
    /// `None`: known when the run ends.
    pub(crate) outputs: Vec<Option<OutputPlan>>,
    /// The outputs that are not in their memory when the last instruction has run.
    pub(crate) unfinished: Vec<usize>,
    /// The start of every memory; see [`crate::program::Bases`].
    pub(crate) bases: Vec<*mut u8>,
    /// The bytes that temporaries take.
    pub(crate) arena_bytes: usize,
    arena: Buffer,
    pub(crate) scratch_bytes: usize,
    scratch: Buffer,
    /// The start of the run's scratch memory: its own, or lent.
    scratch_start: *mut u8,
    /// The bytes that programs of branches take at most at once.
    pub(crate) choice_bytes: usize,
    /// Whether a nested program finds memory for itself while it runs.
    pub(crate) open: bool,
    /// For each branch the instruction, and the memory of either arm.
    pub(crate) arms: Vec<(usize, [usize; 2])>,
    /// The memory of the rows of scans that may end early.
    pub(crate) growths: Vec<Growth>,
    /// Memory for programs of branches.
    pub(crate) spare: Spare,
    /// The outputs that stay where they lie, in memory of an input.
    pub(crate) left: Vec<bool>,
    /// Outputs that the runtime allocated, with their layouts.
    pub(crate) owned: Vec<Option<(Buffer, Layout)>>,
    /// Memory of slots whose size is known during the run only.
    pub(crate) blocks: Vec<Option<Buffer>>,
    pub(crate) pool: Pool,
    /// Results of foreign functions.
    pub(crate) kept: Vec<Option<KeptArray>>,
    pub(crate) owners: SmallVec<[Owner; 8]>,
    /// The guard zones around every buffer in a run that is watched.
    pub(crate) guards: Guards,
}

// SAFETY: the pointers in `bases` and `kept` are used during a run only, whose caller promises that
// they may be read from the thread it runs on; everything else is owned.
unsafe impl Send for RunState {}

impl RunState {
    pub(crate) fn new(program: &Program) -> RunState {
        let mut state = RunState {
            values: vec![0; program.sizes.len()],
            slots: vec![SlotState::default(); program.slots.len()],
            bases: vec![std::ptr::null_mut(); program.bases.slots + program.slots.len()],
            left: vec![false; program.outputs.len()],
            owned: program.outputs.iter().map(|_| None).collect(),
            blocks: program.slots.iter().map(|_| None).collect(),
            kept: program.slots.iter().map(|_| None).collect(),
            pool: Pool::new(POOL.0, POOL.1),
            guards: Guards::new(program.watched),
            ..RunState::default()
        };
        for (at, constant) in program.constants.iter().enumerate() {
            let base = program.bases.constants + at;
            state.bases[base] = constant.array.data.cast_mut();
            state.slots[constant.slot.index()] = SlotState {
                place: Place::start(base),
                layout: constant.array.layout.clone(),
                bytes: 0,
            };
        }
        state
    }

    /// Whether the last binding holds for these inputs.
    pub(crate) fn is_bound(&self, program: &Program, inputs: &[ArrayRef<'_>]) -> bool {
        if !self.bound || inputs.len() != program.inputs.len() {
            return false;
        }
        let mut key = &self.key[..];
        for (input, declared) in inputs.iter().zip(&program.inputs) {
            let ndim = declared.ty.shape.len();
            let (dims, rest) = key.split_at(ndim);
            let (strides, rest) = rest.split_at(ndim);
            key = rest;
            if input.dtype != declared.ty.dtype
                || !same(input.dims, dims)
                || !same(input.strides, strides)
            {
                return false;
            }
        }
        true
    }

    /// Evaluates all that the shapes of the inputs decide.
    pub(crate) fn bind(&mut self, program: &Program, inputs: &[ArrayRef<'_>]) -> Result<(), Error> {
        self.lay_out(program, inputs, |_, _| {})?;
        self.bound = true;
        Ok(())
    }

    /// Forgets the shapes it was bound to.
    fn unbind(&mut self) {
        self.bound = false;
        self.was_brief = false;
        self.key.clear();
        self.steps.clear();
        self.outputs.clear();
        self.unfinished.clear();
        self.scratch_bytes = 0;
        self.choice_bytes = 0;
        self.open = false;
        self.arms.clear();
        self.growths.clear();
        self.guards.clear();
    }

    /// As [`RunState::bind`]. `seen` is called after each instruction, when its results have their places
    /// and nothing is released yet.
    pub(crate) fn lay_out(
        &mut self,
        program: &Program,
        inputs: &[ArrayRef<'_>],
        mut seen: impl FnMut(&RunState, usize),
    ) -> Result<(), Error> {
        self.unbind();
        check_inputs(program, inputs).map_err(Error::at(None))?;
        for (at, (input, declared)) in inputs.iter().zip(&program.inputs).enumerate() {
            self.key.extend_from_slice(input.dims);
            self.key.extend_from_slice(input.strides);
            let layout = Layout { dims: input.dims.into(), strides: input.strides.into() };
            let item = declared.ty.dtype.itemsize();
            let given = if declared.donated { byte_count(&layout.dims, item) } else { Ok(0) };
            let bytes = given.map_err(Error::at(None))?;
            self.slots[declared.slot.index()] =
                SlotState { place: Place::start(at), layout, bytes };
        }
        let mut arena = Arena::default();
        self.evaluate(program, &program.bound_sizes[0]);
        for (at, instr) in program.instrs.iter().enumerate() {
            let step = match &instr.kind {
                InstrKind::Inner(_) if instr.dynamic => RunStep::Inner(None),
                _ if instr.dynamic => RunStep::Later,
                InstrKind::Inner(code) => {
                    let mut binder = Binder::new(program, self, Some(&mut arena));
                    binder.inner(code, instr.origin)?
                }
                kind => {
                    let mut binder = Binder::new(program, self, Some(&mut arena));
                    binder.step(kind).map_err(Error::at(instr.origin))?
                }
            };
            self.steps.push(step);
            seen(self, at);
            self.evaluate(program, &program.bound_sizes[at + 1]);
            for slot in &program.liveness.releases[at] {
                // A view has no bytes of its own, nor has a result whose memory another took over: only an owner of
                // memory releases it.
                let slot = &self.slots[slot.index()];
                if slot.place.base == program.bases.arena && slot.bytes > 0 {
                    let start = slot.place.offset as usize - self.guards.width();
                    arena.release(start, slot.bytes + 2 * self.guards.width());
                    self.guards.release(slot.place, at);
                }
            }
        }
        for position in 0..program.outputs.len() {
            let plan = self.plan_output(program, position).map_err(Error::at(None))?;
            self.outputs.push(plan);
        }
        self.order_outputs(program);
        self.arena_bytes = arena.size();
        Ok(())
    }

    /// The way in which an output is made; `None` if only the end of the run tells it.
    fn plan_output(&self, program: &Program, position: usize) -> Result<Option<OutputPlan>, Fault> {
        let slot = program.outputs[position];
        let info = program.slots[slot.index()];
        if info.dynamic {
            return Ok(None);
        }
        let state = &self.slots[slot.index()];
        let item = info.dtype.itemsize();
        let bytes = byte_count(&state.layout.dims, item)?;
        if state.place == Place::start(program.bases.outputs() + position) {
            return Ok(Some(OutputPlan { layout: state.layout.clone(), bytes, copy: None }));
        }
        let layout = Layout::fresh(&state.layout.dims, item)?;
        let copy = TransferPlan::new(
            Transfer::Copy,
            info.dtype,
            &layout.dims,
            &layout.strides,
            &state.layout.strides,
        );
        Ok(Some(OutputPlan { layout, bytes, copy: Some(copy) }))
    }

    /// Lists the outputs to finish: those that may lie in the memory of another output are copied first,
    /// before that is written to.
    fn order_outputs(&mut self, program: &Program) {
        let first_output = program.bases.outputs();
        for first in [true, false] {
            for (position, plan) in self.outputs.iter().enumerate() {
                let base = self.slots[program.outputs[position].index()].place.base;
                let elsewhere = match plan {
                    None => true,
                    Some(OutputPlan { copy: None, .. }) => continue,
                    // A view whose start only the run knows may be anywhere.
                    Some(_) => base >= first_output && base != first_output + position,
                };
                if elsewhere == first {
                    self.unfinished.push(position);
                }
            }
        }
    }

    /// Gives the run memory of its own for temporaries, and for the scratch of kernels beside their
    /// operands.
    pub(crate) fn own_memory(&mut self, program: &Program) -> Result<(), Fault> {
        // A block much too large is given back: the shapes before were much larger.
        if self.arena.size() < self.arena_bytes || self.arena.size() / 4 > self.arena_bytes {
            self.arena = Buffer::empty();
            self.arena = Buffer::new(self.arena_bytes)?;
        }
        self.bases[program.bases.arena] = self.arena.as_ptr();
        self.grow_scratch()
    }

    /// The bytes to lend the run: for its temporaries and scratch, and for the programs that it runs;
    /// `None` if it must have its own, as it finds out its needs while it runs.
    pub(crate) fn lendable(&self, program: &Program) -> Option<usize> {
        (!program.dynamic)
            .then(|| self.arena_bytes.next_multiple_of(ALIGNMENT) + self.scratch_bytes)
    }

    /// Takes the memory of another run, which has as many bytes as [`RunState::lendable`] says.
    pub(crate) fn borrow_memory(&mut self, program: &Program, start: *mut u8) {
        self.bases[program.bases.arena] = start;
        let arena = self.arena_bytes.next_multiple_of(ALIGNMENT);
        self.scratch_start = start.wrapping_add(arena);
    }

    /// Makes the run's own scratch memory as large as the steps so far need.
    pub(crate) fn grow_scratch(&mut self) -> Result<(), Fault> {
        if self.scratch.size() < self.scratch_bytes {
            self.scratch = Buffer::empty();
            self.scratch = Buffer::new(self.scratch_bytes)?;
        }
        self.scratch_start = self.scratch.as_ptr();
        Ok(())
    }

    /// The memory of a step, with this scratch memory.
    fn memory(&self, scratch: *mut u8) -> RunMemory<'_> {
        RunMemory { bases: &self.bases, scratch }
    }

    /// Runs all steps of a program that is plain.
    ///
    /// # Safety
    /// As for [`RunStep::run`]; the scratch memory has grown since the steps were bound.
    pub(crate) unsafe fn run_steps(
        &mut self,
        program: &Program,
        conduct: &Conduct<'_>,
    ) -> Result<(), Error> {
        let scratch = self.scratch_start;
        for (at, step) in self.steps.iter().enumerate() {
            // Most steps are loops, and take less than the frame that all others share.
            let done = match step {
                // SAFETY: by the caller's promise, for this and the next, the bases are as large as
                // when the step was bound.
                RunStep::Loop(step) => unsafe { step.run(self.memory(scratch), conduct) },
                // SAFETY: as above.
                RunStep::Transfer(step) => unsafe { step.run(&self.bases, conduct) },
                RunStep::Nothing => continue,
                RunStep::Pick(pick) => {
                    let start = pick.start(&self.bases, &self.values);
                    start.map(|start| self.bases[pick.base] = start)
                }
                // SAFETY: as above.
                step => unsafe { step.run(self.memory(scratch), &self.values, conduct) },
            };
            done.map_err(|fault| Error::at(program.instrs[at].origin)(fault))?;
            if (at % ASK == ASK - 1 || step.may_ask_late()) && (conduct.should_stop)() {
                return Err(Error::at(None)(Fault::Interrupted));
            }
        }
        Ok(())
    }

    /// Runs a step, and looks in a watched run whether it has left its scratch memory.
    ///
    /// # Safety
    /// As for [`RunStep::run`]; the scratch memory has grown since the step was bound.
    pub(crate) unsafe fn run_step(
        &self,
        step: &RunStep,
        conduct: &Conduct<'_>,
    ) -> Result<(), Fault> {
        let scratch = self.scratch_start.wrapping_add(self.guards.width());
        let guarded = (self.guards.width() > 0).then(|| step.scratch()).filter(|&bytes| bytes > 0);
        if let Some(bytes) = guarded {
            // SAFETY: the scratch memory has room for the bytes of the step, and two zones.
            unsafe { self.guards.lay(scratch, bytes) };
        }
        // Most instructions are loops, and take less than the frame that all others share.
        let done = match step {
            // SAFETY: by the caller's promise, the bases are as large as when the step was bound.
            RunStep::Loop(step) => unsafe { step.run(self.memory(scratch), conduct) },
            // The run does these itself.
            RunStep::Nothing | RunStep::Later | RunStep::Inner(_) | RunStep::Pick(_) => Ok(()),
            // SAFETY: as above.
            step => unsafe { step.run(self.memory(scratch), &self.values, conduct) },
        };
        done?;
        if let Some(bytes) = guarded
            // SAFETY: as above.
            && let Some(trespass) = unsafe { self.guards.trespass(scratch, bytes) }
        {
            return Err(trespass.fault("its scratch memory".to_owned(), bytes));
        }
        Ok(())
    }

    /// Takes the addresses of the inputs of one run.
    pub(crate) fn start(&mut self, program: &Program, inputs: &[ArrayRef<'_>]) {
        for (base, input) in self.bases.iter_mut().zip(inputs) {
            *base = input.data.cast_mut();
        }
        if program.dynamic {
            self.owners.clear();
            self.owners.extend(inputs.iter().map(|input| input.owner));
        }
    }

    /// Gives up everything that belongs to the run that ends.
    pub(crate) fn finish(&mut self, program: &Program) {
        for base in &mut self.bases[program.bases.outputs()..program.bases.slots] {
            *base = std::ptr::null_mut();
        }
        for owned in &mut self.owned {
            *owned = None;
        }
        self.left.fill(false);
        if program.dynamic {
            for slot in 0..self.blocks.len() {
                self.release(Slot::from_index(slot));
            }
        }
    }

    /// Gives up the memory of a slot whose size was known during the run only.
    pub(crate) fn release(&mut self, slot: Slot) {
        if let Some(block) = self.blocks[slot.index()].take() {
            drop(self.pool.give(block));
        }
        self.kept[slot.index()] = None;
    }

    /// Evaluates sizes whose operands are there.
    pub(crate) fn evaluate(&mut self, program: &Program, sizes: &[Size]) {
        evaluate(program, &self.slots, &self.bases, &mut self.values, sizes);
    }

    /// The parts of a tape.
    pub(crate) fn parts(&mut self) -> Parts<'_> {
        Parts {
            steps: &self.steps,
            slots: &self.slots,
            outputs: &self.outputs,
            unfinished: &self.unfinished,
            left: &self.left,
            bases: &mut self.bases,
            values: &mut self.values,
            scratch: self.scratch_start,
        }
    }

    /// The number of a size.
    pub(crate) fn size(&self, size: Size) -> i64 {
        self.values[size.index()]
    }
}

/// Evaluates sizes whose operands are there, for slots whose memory starts where the bases say.
pub(crate) fn evaluate(
    program: &Program,
    slots: &[SlotState],
    bases: &[*mut u8],
    values: &mut [i64],
    sizes: &[Size],
) {
    for &size in sizes {
        let expr = program.sizes[size.index()];
        let value = expr.evaluate(values).unwrap_or_else(|| match expr {
            SizeExpr::Dim(slot, axis) => slots[slot.index()].layout.dims[axis as usize],
            SizeExpr::Value(slot) => {
                let dtype = program.slots[slot.index()].dtype;
                let source = slots[slot.index()].place.resolve(bases);
                // SAFETY: sizes by value are evaluated during a run, after the instruction that
                // wrote the 0-d slot; the place is that of an element of its type.
                unsafe { read_integer(dtype, source) }
            }
            _ => 0,
        });
        values[size.index()] = value;
    }
}

fn check_inputs(program: &Program, inputs: &[ArrayRef<'_>]) -> Result<(), Fault> {
    if inputs.len() != program.inputs.len() {
        return Err(Fault::InputCount { expected: program.inputs.len(), given: inputs.len() });
    }
    for (at, (input, declared)) in inputs.iter().zip(&program.inputs).enumerate() {
        let ndim = declared.ty.shape.len();
        if input.dtype != declared.ty.dtype
            || input.dims.len() != ndim
            || input.strides.len() != ndim
        {
            return Err(Fault::InputType {
                input: at,
                given: input.dtype,
                given_ndim: input.dims.len(),
                expected: declared.ty.dtype,
                ndim,
            });
        }
        if !declared.ty.admits(input.dims) {
            return Err(Fault::InputShape {
                input: at,
                given: input.dims.iter().copied().map(Some).collect(),
                expected: declared.ty.lengths(),
            });
        }
    }
    Ok(())
}

/// Whether two short lists are equal; quicker than a call of `memcmp`.
fn same(a: &[i64], b: &[i64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a == b)
}
