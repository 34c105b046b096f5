//! From an instruction and the shapes of its operands to a step that can run.

mod arrays;
mod draws;
mod inspection;
mod loops;
mod memory;
mod products;
mod scan_kernels;
mod searches;
mod systems;
mod views;

use frazil_core::DType;

use crate::allocation::arena::Arena;
use crate::arrays::layout::{Axes, Layout};
use crate::error::{Error, Fault, Operand};
use crate::ids::{Origin, Size, Slot};
use crate::program::Program;
use crate::program::instr::InstrKind;
use crate::program::nested::Inner;
use crate::run::state::{RunState, SlotState};
use crate::run::step::{Place, RunStep};

/// Binds instructions in order. With an arena the memory comes from there, before any run; without
/// one it is allocated at once, for the run that goes on.
pub(crate) struct Binder<'a> {
    program: &'a Program,
    state: &'a mut RunState,
    arena: Option<&'a mut Arena>,
}

impl<'a> Binder<'a> {
    pub(crate) fn new(
        program: &'a Program,
        state: &'a mut RunState,
        arena: Option<&'a mut Arena>,
    ) -> Binder<'a> {
        Binder { program, state, arena }
    }

    /// The step of an instruction; its results have their places from now on.
    pub(crate) fn step(&mut self, kind: &InstrKind) -> Result<RunStep, Fault> {
        match kind {
            InstrKind::Loop(code) => self.bind_loop(code),
            InstrKind::View { of, to, view } => self.view(*of, *to, view),
            InstrKind::Reshape { of, to, dims, rest } => self.reshape(*of, *to, dims, *rest),
            InstrKind::Copy { of, to } => self.copy(*of, *to),
            InstrKind::Update { of, to, view, value, accumulate } => {
                self.update(*of, *to, view, *value, *accumulate)
            }
            InstrKind::Full { value, to, dims } => self.full(*value, *to, dims),
            InstrKind::Dot { a, b, to } => self.dot(*a, *b, *to),
            InstrKind::Gemm { operands, to } => self.gemm(operands, *to),
            InstrKind::Cholesky { of, to, lower, on_error } => {
                self.cholesky(*of, *to, *lower, *on_error)
            }
            InstrKind::CholeskyGradient { factor, gradient, to } => {
                self.cholesky_gradient(*factor, *gradient, *to)
            }
            InstrKind::Solve { a, b, to, form, on_error } => {
                self.solve([*a, *b], *to, *form, *on_error)
            }
            InstrKind::Lu { of, to, pivots, places } => self.lu(*of, [*to, *pivots], *places),
            InstrKind::LuSolve { factors, pivots, b, to, transposed, on_error } => {
                self.lu_solve([*factors, *pivots, *b], *to, *transposed, *on_error)
            }
            InstrKind::BandSolve { a, b, to, form, on_error } => {
                self.band_solve([*a, *b], *to, *form, *on_error)
            }
            InstrKind::Decompose { of, to, what, on_error } => {
                self.decompose(*of, to, *what, *on_error)
            }
            InstrKind::Range { start, step, count, to } => self.range([*start, *step, *count], *to),
            InstrKind::CountTerms { start, stop, step, to } => {
                self.count_terms([*start, *stop, *step], *to)
            }
            InstrKind::Terms { start, step, count, to } => self.terms([*start, *step], *count, *to),
            InstrKind::Join { parts, to, axis } => self.join(parts, *to, *axis),
            InstrKind::Sort { of, to, axis, positions } => self.sort(*of, *to, *axis, *positions),
            InstrKind::Extreme { of, to, axis, largest } => self.extreme(*of, *to, *axis, *largest),
            InstrKind::Count { of, to, listed } => self.count(*of, *to, *listed),
            InstrKind::List { of, to, count, listed } => self.list(*of, to, *count, *listed),
            InstrKind::Draw(code) => self.draw(code),
            InstrKind::Scalar { size, to } => {
                let value = self.state.size(*size);
                let to = self.fresh(*to, &[])?;
                Ok(RunStep::Scalar { to, value })
            }
            InstrKind::RequireEqual { a, b, message, of_index } => {
                self.require_equal(*a, *b, message, *of_index)
            }
            InstrKind::Check { holds, message, asserted } => self.check(*holds, message, *asserted),
            InstrKind::ScanKernel(code) => self.scan_kernel(code),
            // Its results are known when it has run.
            InstrKind::Call(_) => Ok(RunStep::Later),
            // Bound by `inner`, whose faults may come from a nested program.
            InstrKind::Inner(_) => Ok(RunStep::Inner(None)),
        }
    }

    fn require_equal(
        &self,
        a: Size,
        b: Size,
        message: &str,
        of_index: bool,
    ) -> Result<RunStep, Fault> {
        let (a, b) = (self.state.size(a), self.state.size(b));
        if a != b {
            return Err(Fault::Required { message: message.to_owned(), a, b, of_index });
        }
        Ok(RunStep::Nothing)
    }

    fn check(&self, holds: Size, message: &str, asserted: bool) -> Result<RunStep, Fault> {
        if self.state.size(holds) == 0 {
            return Err(Fault::Untrue { message: message.to_owned(), asserted });
        }
        Ok(RunStep::Nothing)
    }

    /// The step of an instruction that runs programs, whose results have known layouts.
    pub(crate) fn inner(&mut self, code: &Inner, origin: Option<Origin>) -> Result<RunStep, Error> {
        let needs = self.state.inner_needs(self.program, code, origin)?;
        for (slot, layout) in needs.layouts {
            self.place_fresh(slot, layout).map_err(Error::at(origin))?;
        }
        self.state.choice_bytes = self.state.choice_bytes.max(needs.choices);
        self.state.open |= needs.open;
        let at = self.state.steps.len();
        self.state.arms.extend(needs.arms.map(|arms| (at, arms)));
        self.state.growths.extend(needs.growth);
        let Some(arena) = &mut self.arena else { return Ok(RunStep::Inner(None)) };
        // Nothing else is made while the instruction runs.
        let start = arena.take(needs.bytes).map_err(Error::at(origin))?;
        arena.release(start, needs.bytes);
        let place = Place { base: self.program.bases.arena, offset: start as i64 };
        Ok(RunStep::Inner(Some((place, needs.bytes))))
    }

    fn slot(&self, slot: Slot) -> &SlotState {
        &self.state.slots[slot.index()]
    }

    fn layout(&self, slot: Slot) -> &Layout {
        &self.slot(slot).layout
    }

    fn dtype(&self, slot: Slot) -> DType {
        self.program.slots[slot.index()].dtype
    }

    fn itemsize(&self, slot: Slot) -> usize {
        self.dtype(slot).itemsize()
    }

    /// The name of an operand of an instruction in messages.
    fn operand(&self, position: usize, slot: Slot) -> Operand {
        let input = self.program.inputs.iter().position(|input| input.slot == slot);
        Operand { position, slot, input }
    }

    fn numbers(&self, sizes: &[Size]) -> Axes {
        sizes.iter().map(|&size| self.state.size(size)).collect()
    }
}
