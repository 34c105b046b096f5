//! Running nested programs once.

use smallvec::SmallVec;

use crate::allocation::buffer::{ALIGNMENT, Buffer};
use crate::arrays::array::{ArrayRef, OutputSpec};
use crate::arrays::layout::{Axes, Layout};
use crate::arrays::strided::{TransferPlan, read_integer};
use crate::error::{Error, Fault};
use crate::ids::{Nested, Origin, Slot};
use crate::program::Program;
use crate::program::instr::InstrKind;
use crate::program::nested::{Arm, Inner, Lengths};
use crate::run::Run;
use crate::run::bind::Binder;
use crate::run::scan::rows::Growth;
use crate::run::state::{RunState, SlotState};
use crate::run::step::Place;
use crate::threads::conduct::Conduct;

/// The results and the memory of an instruction that runs programs, as far as they do not depend on values.
pub(crate) struct InnerNeeds {
    /// The layouts of results, where they are known.
    pub(crate) layouts: Vec<(Slot, Layout)>,
    /// The bytes that it takes while it runs.
    pub(crate) bytes: usize,
    /// The bytes that programs of branches take at most at once, beside that.
    pub(crate) choices: usize,
    /// Whether a program finds memory for itself while it runs.
    pub(crate) open: bool,
    /// The memory of each arm of a branch.
    pub(crate) arms: Option<[usize; 2]>,
    /// The memory of the rows of a scan that may end early.
    pub(crate) growth: Option<Growth>,
}

impl RunState {
    /// The results and the memory of an instruction that runs programs.
    pub(crate) fn inner_needs(
        &self,
        program: &Program,
        code: &Inner,
        origin: Option<Origin>,
    ) -> Result<InnerNeeds, Error> {
        match code {
            Inner::Run { program: nested, instead, inputs, outputs } => {
                let shells = self.shells(program, inputs);
                let part = &program.parts[fitting(program, *nested, *instead, &shells).index()];
                let run = part.program.prepare(&shells);
                let run = run.map_err(|error| part.blame(error, None, origin))?;
                let layout = |at: usize| run.output(at).map(|spec| Layout::of(&spec));
                let made = outputs.iter().enumerate();
                Ok(InnerNeeds {
                    layouts: made.filter_map(|(at, &to)| Some((to, layout(at)?))).collect(),
                    bytes: run.lendable().unwrap_or(0),
                    choices: run.choices(),
                    open: run.is_open(),
                    arms: None,
                    growth: None,
                })
            }
            Inner::Branch { arms, lengths, outputs, .. } => {
                self.branch_needs(program, (arms, lengths, outputs), origin)
            }
            Inner::Scan(code) => self.scan_needs(program, code, origin),
        }
    }

    /// As [`RunState::inner_needs`]: which arm is taken, the run will tell.
    fn branch_needs(
        &self,
        program: &Program,
        (arms, lengths, outputs): (&[Arm; 2], &[Lengths], &[Slot]),
        origin: Option<Origin>,
    ) -> Result<InnerNeeds, Error> {
        let at = |fault| Error::at(origin)(fault);
        let mut layouts = Vec::new();
        // An arm that cannot run with these shapes fails when it is taken.
        let runs = arms.each_ref().map(|arm| {
            let part = &program.parts[arm.program.index()];
            part.program.prepare(&self.shells(program, &arm.inputs)).ok()
        });
        let mut wanted: SmallVec<[Option<Layout>; 4]> = SmallVec::new();
        for (position, (&slot, lengths)) in outputs.iter().zip(lengths).enumerate() {
            let info = program.slots[slot.index()];
            let (Some(lengths), false) = (lengths, info.dynamic) else {
                wanted.push(None);
                continue;
            };
            let dims: Axes = lengths.iter().map(|&size| self.size(size)).collect();
            // As both arms make it, if they agree.
            let mut made = runs.iter().flatten().filter_map(|run| run.output(position));
            let first = made.next().filter(|first| made.all(|other| other == *first));
            let agreed = first.map(|spec| Layout::of(&spec)).filter(|layout| layout.dims == dims);
            let layout = match agreed {
                Some(layout) => layout,
                None => Layout::fresh(&dims, info.dtype.itemsize()).map_err(at)?,
            };
            wanted.push(Some(layout.clone()));
            layouts.push((slot, layout));
        }
        let bytes = runs.each_ref().map(|run| {
            let Some(run) = run else { return 0 };
            let own = run.lendable().map(|bytes| copied(run, bytes, |at| wanted[at].as_ref()).0);
            own.unwrap_or(0) + run.choices()
        });
        Ok(InnerNeeds {
            layouts,
            bytes: 0,
            choices: bytes[0].max(bytes[1]),
            open: runs.iter().flatten().any(Run::is_open),
            arms: Some(bytes),
            growth: None,
        })
    }

    /// Slots as inputs of a program that is not run yet.
    fn shells(&self, program: &Program, inputs: &[Slot]) -> SmallVec<[ArrayRef<'_>; 8]> {
        let shell = |&slot: &Slot| ArrayRef {
            data: std::ptr::without_provenance(ALIGNMENT),
            ..self.array(program, slot)
        };
        inputs.iter().map(shell).collect()
    }

    /// Runs an instruction that runs programs, in this memory if it has any.
    pub(crate) fn run_inner(
        &mut self,
        program: &Program,
        at: usize,
        memory: Option<(Place, usize)>,
        conduct: &Conduct<'_>,
    ) -> Result<(), Error> {
        let instr = &program.instrs[at];
        let InstrKind::Inner(code) = &instr.kind else {
            return Ok(());
        };
        let memory = memory.map(|(place, bytes)| (place.resolve(&self.bases), bytes));
        let site = Site { program, origin: instr.origin, memory };
        match &**code {
            Inner::Run { program: nested, instead, inputs, outputs } => {
                let shells = self.shells(program, inputs);
                let nested = fitting(program, *nested, *instead, &shells);
                drop(shells);
                self.run_once(&site, nested, inputs, outputs, conduct, Lender::Instruction)
            }
            Inner::Branch { condition, arms, outputs, .. } => {
                let condition = self.array(program, *condition);
                // SAFETY: the condition was made before; the builder checked that it is an integer
                // or a boolean without axes.
                let taken = unsafe { read_integer(condition.dtype, condition.data) } != 0;
                let arm = &arms[if taken { 0 } else { 1 }];
                self.run_once(&site, arm.program, &arm.inputs, outputs, conduct, Lender::Spare)
            }
            Inner::Scan(code) => self.scan(&site, code, conduct),
        }
    }

    fn run_once(
        &mut self,
        site: &Site<'_>,
        nested: Nested,
        inputs: &[Slot],
        outputs: &[Slot],
        conduct: &Conduct<'_>,
        lender: Lender,
    ) -> Result<(), Error> {
        let part = &site.program.parts[nested.index()];
        let given: SmallVec<[ArrayRef<'_>; 8]> =
            inputs.iter().map(|&slot| self.array(site.program, slot)).collect();
        let blame = |error: Error| part.blame(error, None, site.origin);
        let mut run: Run<'_> = part.program.prepare(&given).map_err(blame)?;
        run.start(&given);
        drop(given);
        let at = |fault| Error::at(site.origin)(fault);
        for (position, &slot) in outputs.iter().enumerate() {
            let Some(layout) = run.output(position).map(|spec| Layout::of(&spec)) else { continue };
            if self.bound_layout(site.program, slot).is_some_and(|bound| *bound != layout) {
                continue;
            }
            let to = self.result(site, slot, layout)?;
            // SAFETY: the slot is memory of its own, laid out so.
            unsafe { run.set_output(position, to) };
        }
        match (run.lendable(), lender) {
            (None, _) => {
                run.own_memory().map_err(at)?;
                run.execute_with(&mut self.spare, conduct).map_err(blame)?;
            }
            (Some(bytes), Lender::Spare) => {
                let (bytes, copies) =
                    copied(&run, bytes, |at| self.bound_layout(site.program, outputs[at]));
                let start = self.spare.enter(bytes, bytes + run.choices()).map_err(at)?;
                run.borrow_memory(start);
                for &(position, offset) in &copies {
                    // SAFETY: there is room for the output, which nothing else uses.
                    unsafe { run.set_output(position, start.wrapping_add(offset)) };
                }
                let executed = run.execute_with(&mut self.spare, conduct);
                self.spare.leave();
                executed.map_err(blame)?;
                for (position, offset) in copies {
                    let Some(spec) = run.output(position) else { continue };
                    self.keep(site, outputs[position], &spec, start.wrapping_add(offset))?;
                }
            }
            (Some(bytes), Lender::Instruction) => {
                let (start, block) = self.memory_for(site, bytes).map_err(at)?;
                run.borrow_memory(start);
                run.execute_with(&mut self.spare, conduct).map_err(blame)?;
                drop(self.pool.give(block));
            }
        }
        self.take_outputs(site, outputs, &mut run)
    }

    /// Makes the outputs that a run of a nested program allocated results of its instruction.
    fn take_outputs(
        &mut self,
        site: &Site<'_>,
        outputs: &[Slot],
        run: &mut Run<'_>,
    ) -> Result<(), Error> {
        for (position, &slot) in outputs.iter().enumerate() {
            let Some(array) = run.take_output(position) else { continue };
            // In a watched run a buffer has zones around it, which this one lacks.
            if self.guards.width() > 0 || self.bound_layout(site.program, slot).is_some() {
                let Layout { dims, strides } = &array.layout;
                let spec = OutputSpec { dtype: array.dtype, dims, strides };
                self.keep(site, slot, &spec, array.buffer.as_ptr())?;
                continue;
            }
            self.adopt(site.program, slot, array.layout, array.buffer);
        }
        Ok(())
    }

    /// Makes a block the memory of a result.
    pub(crate) fn adopt(&mut self, program: &Program, slot: Slot, layout: Layout, block: Buffer) {
        let base = program.bases.slots + slot.index();
        let bytes = block.size();
        self.bases[base] = block.as_ptr();
        self.blocks[slot.index()] = Some(block);
        self.slots[slot.index()] = SlotState { place: Place::start(base), layout, bytes };
    }

    /// The layout of a result that has its place before the instruction runs.
    fn bound_layout(&self, program: &Program, slot: Slot) -> Option<&Layout> {
        (!program.slots[slot.index()].dynamic).then(|| &self.slots[slot.index()].layout)
    }

    /// Copies the output of a program to the memory of a result.
    fn keep(
        &mut self,
        site: &Site<'_>,
        slot: Slot,
        spec: &OutputSpec<'_>,
        from: *const u8,
    ) -> Result<(), Error> {
        let to = match self.bound_layout(site.program, slot) {
            Some(bound) => bound.clone(),
            None => {
                Layout::fresh(spec.dims, spec.dtype.itemsize()).map_err(Error::at(site.origin))?
            }
        };
        let made = Layout::of(spec);
        let memory = self.result(site, slot, Layout { dims: made.dims.clone(), ..to.clone() })?;
        let plan = TransferPlan::copy(spec.dtype, &made, &to);
        // SAFETY: the result is memory of its own of this layout and of the dims of what was just
        // made, which `result` has checked.
        let done = unsafe { plan.run(memory, from) };
        done.map_err(|halt| Error::at(site.origin)(halt.into()))
    }

    /// The memory of an instruction: the memory that it was bound to, or a block of so many bytes that is found
    /// now.
    pub(crate) fn memory_for(
        &mut self,
        site: &Site<'_>,
        bytes: usize,
    ) -> Result<(*mut u8, Buffer), Fault> {
        match site.memory {
            Some((start, bound)) if bytes <= bound => Ok((start, Buffer::empty())),
            _ => {
                let block = self.pool.take(bytes)?;
                Ok((block.as_ptr(), block))
            }
        }
    }

    /// The memory of a result: where it was bound to, or found now.
    pub(crate) fn result(
        &mut self,
        site: &Site<'_>,
        slot: Slot,
        layout: Layout,
    ) -> Result<*mut u8, Error> {
        let bound = &self.slots[slot.index()];
        if site.program.slots[slot.index()].dynamic {
            let mut binder = Binder::new(site.program, self, None);
            binder.place_fresh(slot, layout).map_err(Error::at(site.origin))?;
        } else if bound.layout.dims != layout.dims {
            let (given, expected) = (layout.dims.to_vec(), bound.layout.dims.to_vec());
            return Err(Error::at(site.origin)(Fault::Planned { slot, given, expected }));
        }
        Ok(self.slots[slot.index()].place.resolve(&self.bases))
    }
}

/// The program that runs for these inputs: the first one, or, if it does not take their lengths, the other one.
fn fitting(
    program: &Program,
    nested: Nested,
    instead: Option<Nested>,
    inputs: &[ArrayRef<'_>],
) -> Nested {
    let takes = |nested: Nested| program.parts[nested.index()].program.takes_lengths(inputs);
    instead.filter(|_| !takes(nested)).unwrap_or(nested)
}

/// The bytes of a run, which needs `bytes` for itself, together with those of outputs whose layout
/// is not the `wanted` one. Then these outputs, and where each lies until it is copied.
fn copied<'l>(
    run: &Run<'_>,
    bytes: usize,
    wanted: impl Fn(usize) -> Option<&'l Layout>,
) -> (usize, SmallVec<[(usize, usize); 2]>) {
    let mut end = bytes.next_multiple_of(ALIGNMENT);
    let mut copies = SmallVec::new();
    for (position, spec) in run.outputs() {
        if wanted(position).is_some_and(|wanted| *wanted != Layout::of(&spec)) {
            let bytes = Layout::of(&spec).len() as usize * spec.dtype.itemsize();
            copies.push((position, end));
            end += bytes.next_multiple_of(ALIGNMENT);
        }
    }
    (end, copies)
}

/// The instruction that runs programs.
pub(crate) struct Site<'p> {
    pub(crate) program: &'p Program,
    pub(crate) origin: Option<Origin>,
    /// The place of its memory, and the number of bytes; `None` if it finds memory while it runs.
    pub(crate) memory: Option<(*mut u8, usize)>,
}

/// Whose memory a program gets that runs once.
#[derive(Clone, Copy)]
enum Lender {
    /// The binding of the instruction.
    Instruction,
    /// The memory that is kept for branches.
    Spare,
}
