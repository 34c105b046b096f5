//! Running nested programs once.

use smallvec::SmallVec;

use crate::allocation::buffer::ALIGNMENT;
use crate::arrays::array::ArrayRef;
use crate::arrays::layout::Layout;
use crate::arrays::strided::{TransferPlan, read_integer};
use crate::error::Error;
use crate::ids::{Nested, Origin, Slot};
use crate::program::Program;
use crate::program::instr::InstrKind;
use crate::program::nested::Inner;
use crate::run::Run;
use crate::run::bind::Binder;
use crate::run::state::{SlotState, State};
use crate::run::step::Place;
use crate::threads::conduct::Conduct;

/// What an instruction that runs programs makes and needs, where that does not depend on values.
pub(crate) struct InnerNeeds {
    /// The layouts of its results.
    pub(crate) layouts: Vec<(Slot, Layout)>,
    /// The bytes of scratch memory that it takes.
    pub(crate) scratch: usize,
    /// The bytes of further memory that it takes for itself.
    pub(crate) apart: usize,
    /// What its program takes for itself.
    pub(crate) held: Held,
}

/// What the run of a nested program holds: equal runs one after the other hold it together.
#[derive(PartialEq, Eq)]
pub(crate) struct Held {
    program: Nested,
    /// Dims and strides of its inputs.
    key: Vec<i64>,
    /// `None` if only the run knows.
    pub(crate) bytes: Option<usize>,
}

impl InnerNeeds {
    /// Those of one run of a program.
    pub(crate) fn of(program: Nested, run: &Run<'_>, layouts: Vec<(Slot, Layout)>) -> InnerNeeds {
        let held = Held { program, key: run.key().to_vec(), bytes: run.held() };
        InnerNeeds { layouts, scratch: 0, apart: 0, held }
    }
}

impl State {
    /// What an instruction that runs programs makes and needs; `None` if that depends on values.
    pub(crate) fn inner_needs(
        &self,
        program: &Program,
        code: &Inner,
        origin: Option<Origin>,
    ) -> Result<Option<InnerNeeds>, Error> {
        match code {
            Inner::Run { program: nested, inputs, outputs } => {
                let part = &program.parts[nested.index()];
                let run = part.program.prepare(&self.shells(program, inputs));
                let run = run.map_err(|error| part.blame(error, None, origin))?;
                let layout = |at: usize| run.output(at).map(|spec| Layout::of(&spec));
                let made = outputs.iter().enumerate();
                let layouts = made.filter_map(|(at, &to)| Some((to, layout(at)?))).collect();
                Ok(Some(InnerNeeds::of(*nested, &run, layouts)))
            }
            Inner::Branch { .. } => Ok(None),
            Inner::Repeat(code) => self.repeat_needs(program, code, origin).map(Some),
        }
    }

    /// Slots as inputs of a program that is not run yet.
    fn shells(&self, program: &Program, inputs: &[Slot]) -> SmallVec<[ArrayRef<'_>; 8]> {
        let shell = |&slot: &Slot| ArrayRef {
            data: std::ptr::without_provenance(ALIGNMENT),
            ..self.array(program, slot)
        };
        inputs.iter().map(shell).collect()
    }

    /// Runs an instruction that runs programs.
    pub(crate) fn run_inner(
        &mut self,
        program: &Program,
        at: usize,
        conduct: &Conduct<'_>,
    ) -> Result<(), Error> {
        let instr = &program.instrs[at];
        let InstrKind::Inner(code) = &instr.kind else {
            return Ok(());
        };
        let site = Site { program, origin: instr.origin, dynamic: instr.dynamic };
        match &**code {
            Inner::Run { program: nested, inputs, outputs } => {
                self.run_once(&site, *nested, inputs, outputs, conduct)
            }
            Inner::Branch { condition, arms, outputs } => {
                let condition = self.array(program, *condition);
                // SAFETY: the condition was made before; the builder checked that it is an integer
                // or a boolean without axes.
                let taken = unsafe { read_integer(condition.dtype, condition.data) } != 0;
                let arm = &arms[if taken { 0 } else { 1 }];
                self.run_once(&site, arm.program, &arm.inputs, outputs, conduct)
            }
            Inner::Repeat(code) => self.repeat(&site, code, conduct),
        }
    }

    fn run_once(
        &mut self,
        site: &Site<'_>,
        nested: Nested,
        inputs: &[Slot],
        outputs: &[Slot],
        conduct: &Conduct<'_>,
    ) -> Result<(), Error> {
        let part = &site.program.parts[nested.index()];
        let given: SmallVec<[ArrayRef<'_>; 8]> =
            inputs.iter().map(|&slot| self.array(site.program, slot)).collect();
        // SAFETY: what the slots hold stays there while the instruction runs; none is donated.
        let run = unsafe { part.program.bind(&given) };
        let blame = |error: Error| part.blame(error, None, site.origin);
        let mut run: Run<'_> = run.map_err(blame)?;
        drop(given);
        for (position, &slot) in outputs.iter().enumerate() {
            let Some(layout) = run.output(position).map(|spec| Layout::of(&spec)) else { continue };
            let to = self.result(site, slot, layout)?;
            // SAFETY: the slot is memory of its own, laid out so.
            unsafe { run.set_output(position, to) };
        }
        run.execute(conduct).map_err(blame)?;
        for (position, &slot) in outputs.iter().enumerate() {
            let Some(array) = run.take_output(position) else { continue };
            if self.guards.width() > 0 {
                // In a watched run a buffer has zones around it, which this one lacks.
                let fresh = Layout::fresh(&array.layout.dims, array.dtype.itemsize());
                let fresh = fresh.map_err(Error::at(site.origin))?;
                let plan = TransferPlan::copy(array.dtype, &array.layout, &fresh);
                let to = self.result(site, slot, fresh)?;
                // SAFETY: the result is memory of its own of this layout; the array was just made.
                unsafe { plan.run(to, array.buffer.as_ptr()) };
                continue;
            }
            let base = site.program.bases.slots + slot.index();
            let bytes = array.buffer.size();
            self.bases[base] = array.buffer.as_ptr();
            self.blocks[slot.index()] = Some(array.buffer);
            self.slots[slot.index()] =
                SlotState { place: Place::start(base), layout: array.layout, bytes };
        }
        Ok(())
    }

    /// The memory of a result: where it was bound to, or found now.
    pub(crate) fn result(
        &mut self,
        site: &Site<'_>,
        slot: Slot,
        layout: Layout,
    ) -> Result<*mut u8, Error> {
        if site.dynamic {
            let mut binder = Binder::new(site.program, self, None);
            binder.place_fresh(slot, layout).map_err(Error::at(site.origin))?;
        }
        Ok(self.slots[slot.index()].place.resolve(&self.bases))
    }
}

/// The instruction that runs programs.
pub(crate) struct Site<'p> {
    pub(crate) program: &'p Program,
    pub(crate) origin: Option<Origin>,
    /// Whether its results are placed while it runs.
    pub(crate) dynamic: bool,
}
