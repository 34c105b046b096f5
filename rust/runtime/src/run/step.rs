//! Instructions as they run: every place, length and stride is known.

mod loops;

use frazil_core::DType;
use smallvec::SmallVec;

pub(crate) use self::loops::LoopStep;
use crate::arrays::axis_lines::Memory;
use crate::arrays::progression::{count_terms, write_terms};
use crate::arrays::search::{ExtremePlan, Listing};
use crate::arrays::sort::SortPlan;
use crate::arrays::strided::TransferPlan;
use crate::arrays::view::position_of;
use crate::draws::draw::DrawPlan;
use crate::error::Fault;
use crate::ids::Size;
use crate::linalg::batch::BatchPlan;
use crate::linalg::blas::GemmPlan;
use crate::linalg::stack::StackPlan;
use crate::run::scan_kernel::ScanKernelStep;
use crate::threads::attention::in_portions;
use crate::threads::conduct::{Conduct, Halt};

/// A position in one of the memories of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    /// The memory; see [`crate::program::Bases`].
    pub(crate) base: usize,
    /// Bytes from its start.
    pub(crate) offset: i64,
}

impl Place {
    /// The start of a memory.
    pub(crate) fn start(base: usize) -> Place {
        Place { base, offset: 0 }
    }

    /// The address.
    pub(crate) fn resolve(self, bases: &[*mut u8]) -> *mut u8 {
        bases[self.base].wrapping_offset(self.offset as isize)
    }
}

/// The memory of a run.
#[derive(Clone, Copy)]
pub(crate) struct RunMemory<'m> {
    /// The start of each memory, by its number.
    pub(crate) bases: &'m [*mut u8],
    /// Memory that a step uses for itself.
    pub(crate) scratch: *mut u8,
}

/// One instruction, ready to run.
#[derive(Debug)]
pub(crate) enum RunStep {
    /// The slot is described already.
    Nothing,
    /// It must be bound in each run.
    Later,
    /// It runs programs, which have this memory: where, and how many bytes. Without it is found
    /// during the run.
    Inner(Option<(Place, usize)>),
    Loop(Box<LoopStep>),
    Transfer(Box<TransferStep>),
    Transfers(Box<[TransferStep]>),
    /// A view whose start only the run knows.
    Pick(Box<PickStep>),
    Store(Box<StoreStep>),
    Dot(Box<DotStep>),
    Gemm(Box<GemmStep>),
    Stack(Box<StackStep>),
    ScanKernel(Box<ScanKernelStep>),
    Sort(Box<LinesStep<SortPlan>>),
    Extreme(Box<LinesStep<ExtremePlan>>),
    List(Box<ListStep>),
    Range {
        to: Place,
        start: i64,
        step: i64,
        count: i64,
    },
    CountTerms(Box<CountTermsStep>),
    Terms(Box<TermsStep>),
    Draw(Box<DrawStep>),
    Scalar {
        to: Place,
        value: i64,
    },
}

#[derive(Debug)]
pub(crate) struct TransferStep {
    pub(crate) to: Place,
    pub(crate) from: Place,
    pub(crate) plan: TransferPlan,
}

/// Positions along axes that only the run knows: how far they move the start of an array.
#[derive(Debug, Default)]
pub(crate) struct Moves(pub(crate) SmallVec<[Move; 2]>);

/// One of them, with the length and the stride of its axis.
#[derive(Debug)]
pub(crate) struct Move {
    pub(crate) position: Size,
    pub(crate) axis: usize,
    pub(crate) length: i64,
    pub(crate) stride: i64,
}

impl Moves {
    /// The bytes, by the values of sizes.
    fn bytes(&self, values: &[i64]) -> Result<i64, Fault> {
        self.0.iter().try_fold(0, |bytes, of| {
            let index = values[of.position.index()];
            let (axis, length) = (of.axis, of.length);
            let position =
                position_of(index, length).ok_or_else(|| Fault::Index { index, axis, length })?;
            Ok(bytes + position * of.stride)
        })
    }
}

#[derive(Debug)]
pub(crate) struct PickStep {
    pub(crate) from: Place,
    /// The memory that starts where the view does.
    pub(crate) base: usize,
    pub(crate) moves: Moves,
}

impl PickStep {
    /// The start of the view.
    pub(crate) fn start(&self, bases: &[*mut u8], values: &[i64]) -> Result<*mut u8, Fault> {
        let bytes = self.moves.bytes(values)?;
        Ok(self.from.resolve(bases).wrapping_offset(bytes as isize))
    }
}

/// A store at a position, after the whole is copied if it is not written over.
#[derive(Debug)]
pub(crate) struct StoreStep {
    pub(crate) copy: Option<TransferStep>,
    pub(crate) store: TransferStep,
    pub(crate) moves: Moves,
}

/// A product of matrices, of `N` operands.
#[derive(Debug)]
pub(crate) struct ProductStep<Plan, const N: usize> {
    pub(crate) operands: [Place; N],
    pub(crate) to: Place,
    pub(crate) plan: Plan,
}

pub(crate) type DotStep = ProductStep<BatchPlan, 2>;
pub(crate) type GemmStep = ProductStep<GemmPlan, 5>;

/// An operation on matrices.
#[derive(Debug)]
pub(crate) struct StackStep {
    /// The places of the operands, then of the results.
    pub(crate) places: SmallVec<[Place; 4]>,
    pub(crate) plan: StackPlan,
}

/// A plan for the lines of an operand.
#[derive(Debug)]
pub(crate) struct LinesStep<Plan> {
    pub(crate) of: Place,
    pub(crate) to: Place,
    pub(crate) plan: Plan,
    pub(crate) scratch: usize,
}

#[derive(Debug)]
pub(crate) struct ListStep {
    pub(crate) of: Place,
    /// A vector for each axis, or where the number of positions goes.
    pub(crate) to: Box<[Place]>,
    /// The number of positions of the vectors; `None` if they are counted.
    pub(crate) count: Option<usize>,
    pub(crate) plan: Listing,
}

/// Start, stop and step of a progression, and where the number of its terms goes.
#[derive(Debug)]
pub(crate) struct CountTermsStep {
    pub(crate) dtype: DType,
    pub(crate) of: [Place; 3],
    pub(crate) to: Place,
}

/// Start and step of a progression, and where so many terms go.
#[derive(Debug)]
pub(crate) struct TermsStep {
    pub(crate) dtype: DType,
    pub(crate) of: [Place; 2],
    pub(crate) to: Place,
    pub(crate) count: usize,
}

#[derive(Debug)]
pub(crate) struct DrawStep {
    pub(crate) state: Place,
    pub(crate) parameters: SmallVec<[Place; 3]>,
    pub(crate) next: Place,
    pub(crate) to: Place,
    pub(crate) plan: DrawPlan,
}

impl ListStep {
    /// # Safety
    /// As for [`RunStep::run`].
    unsafe fn run(&self, bases: &[*mut u8]) -> Result<(), Halt> {
        let of = self.of.resolve(bases).cast_const();
        let to: SmallVec<[*mut i64; 4]> =
            self.to.iter().map(|place| place.resolve(bases).cast()).collect();
        // SAFETY: by the caller's promise: the results are new memory of these lengths.
        unsafe {
            match self.count {
                Some(count) => self.plan.list(of, &to, count),
                None => {
                    to[0].write(self.plan.count(of)?);
                    Ok(())
                }
            }
        }
    }
}

impl RunStep {
    /// Whether it may take long without asking whether to stop.
    pub(crate) fn may_ask_late(&self) -> bool {
        match self {
            RunStep::Nothing | RunStep::Later | RunStep::Scalar { .. } | RunStep::Range { .. } => {
                false
            }
            // The program that it runs asks by itself.
            RunStep::Inner(_) => false,
            RunStep::Loop(step) => step.nest.is_long(),
            RunStep::Transfer(_) | RunStep::Transfers(_) | RunStep::Pick(_) | RunStep::Store(_) => {
                false
            }
            RunStep::CountTerms(_) | RunStep::Terms(_) => false,
            RunStep::Dot(step) => step.plan.is_long(),
            RunStep::Gemm(step) => step.plan.is_long(),
            RunStep::Stack(_) | RunStep::ScanKernel(_) => true,
            RunStep::Sort(_) | RunStep::Extreme(_) | RunStep::List(_) | RunStep::Draw(_) => true,
        }
    }

    /// The bytes of scratch memory that it needs.
    pub(crate) fn scratch(&self) -> usize {
        match self {
            RunStep::Loop(step) => step.scratch(),
            RunStep::Dot(step) => step.plan.scratch(),
            RunStep::Gemm(step) => step.plan.scratch(),
            RunStep::Stack(step) => step.plan.scratch(),
            RunStep::ScanKernel(step) => step.scratch,
            RunStep::Sort(step) => step.scratch,
            RunStep::Extreme(step) => step.scratch,
            RunStep::Inner(_) | RunStep::List(_) | RunStep::Draw(_) => 0,
            RunStep::Nothing | RunStep::Later | RunStep::Scalar { .. } | RunStep::Range { .. } => 0,
            RunStep::Transfer(_) | RunStep::Transfers(_) | RunStep::Pick(_) | RunStep::Store(_) => {
                0
            }
            RunStep::CountTerms(_) | RunStep::Terms(_) => 0,
        }
    }

    /// Runs it.
    ///
    /// # Safety
    /// Every memory that the step names is at hand, as large as when the step was bound; the scratch
    /// memory is as large as the step asked for; `values` are the values of sizes.
    pub(crate) unsafe fn run(
        &self,
        at: RunMemory<'_>,
        values: &[i64],
        conduct: &Conduct<'_>,
    ) -> Result<(), Fault> {
        let bases = at.bases;
        match self {
            // The result of the last one goes into `bases`; the run puts it there.
            RunStep::Nothing | RunStep::Later | RunStep::Inner(_) | RunStep::Pick(_) => Ok(()),
            // SAFETY: by the caller's promise, for this and the next, the memories are as large as
            // when the step was bound.
            RunStep::Loop(step) => unsafe { step.run(at, conduct) },
            // SAFETY: as above.
            RunStep::Transfer(step) => unsafe { step.run(bases, conduct) },
            RunStep::Transfers(steps) => {
                // SAFETY: as above; they come in order.
                steps.iter().try_for_each(|step| unsafe { step.run(bases, conduct) })
            }
            // SAFETY: as above.
            RunStep::Store(step) => unsafe { step.run(bases, values, conduct) },
            // SAFETY: as above.
            RunStep::Dot(step) => unsafe { step.run(at, conduct) },
            // SAFETY: as above.
            RunStep::Gemm(step) => unsafe { step.run(at, conduct) },
            RunStep::Scalar { to, value } => {
                // SAFETY: the place is that of one aligned 64-bit element.
                unsafe { to.resolve(bases).cast::<i64>().write(*value) };
                Ok(())
            }
            RunStep::Stack(_)
            | RunStep::ScanKernel(_)
            | RunStep::Range { .. }
            | RunStep::Draw(_) => {
                // SAFETY: as above.
                unsafe { self.run_rare(at, conduct) }
            }
            RunStep::Sort(_) | RunStep::Extreme(_) | RunStep::List(_) => {
                // SAFETY: as above.
                unsafe { self.run_rare(at, conduct) }
            }
            // SAFETY: as above.
            RunStep::CountTerms(_) | RunStep::Terms(_) => unsafe { self.run_rare(at, conduct) },
        }
    }

    /// Steps that few programs do often. They are apart, so that the others do not share their large frame.
    ///
    /// # Safety
    /// As for [`RunStep::run`].
    #[inline(never)]
    unsafe fn run_rare(&self, at: RunMemory<'_>, conduct: &Conduct<'_>) -> Result<(), Fault> {
        let bases = at.bases;
        match self {
            // SAFETY: by the caller's promise, for this and the next, the memories are as large as
            // when the step was bound.
            RunStep::Stack(step) => unsafe { step.run(at, conduct) },
            // SAFETY: as above; the result is new memory.
            RunStep::Sort(step) => Ok(unsafe { step.plan.run(step.memory(at)) }?),
            // SAFETY: as above.
            RunStep::Extreme(step) => Ok(unsafe { step.plan.run(step.memory(at)) }?),
            // SAFETY: as above.
            RunStep::List(step) => Ok(unsafe { step.run(bases) }?),
            // SAFETY: as above.
            RunStep::ScanKernel(step) => unsafe { step.run(at, conduct) },
            RunStep::Range { to, start, step, count } => {
                let to = to.resolve(bases).cast::<i64>();
                let mut value = *start;
                Ok(in_portions(*count as usize, |part| {
                    for at in part {
                        // SAFETY: the place is that of `count` aligned 64-bit elements.
                        unsafe { to.add(at).write(value) };
                        value = value.wrapping_add(*step);
                    }
                })?)
            }
            // SAFETY: by the caller's promise, for this and the next, the memories are as large as
            // when the step was bound.
            RunStep::CountTerms(step) => unsafe { step.run(bases) },
            // SAFETY: as above.
            RunStep::Terms(step) => unsafe { step.run(bases) },
            // SAFETY: as above.
            RunStep::Draw(step) => unsafe { step.run(bases) },
            RunStep::Nothing
            | RunStep::Later
            | RunStep::Inner(_)
            | RunStep::Pick(_)
            | RunStep::Scalar { .. } => {
                unreachable!("`run` does it itself")
            }
            RunStep::Loop(_) | RunStep::Transfer(_) | RunStep::Transfers(_) | RunStep::Store(_) => {
                unreachable!("`run` does it itself")
            }
            RunStep::Dot(_) | RunStep::Gemm(_) => unreachable!("`run` does it itself"),
        }
    }
}

impl DotStep {
    /// # Safety
    /// As for [`RunStep::run`].
    pub(crate) unsafe fn run(&self, at: RunMemory<'_>, conduct: &Conduct<'_>) -> Result<(), Fault> {
        let RunMemory { bases, scratch } = at;
        let operands = self.operands.map(|place| place.resolve(bases).cast_const());
        // SAFETY: by the caller's promise, the memories are as large as when the step was bound.
        unsafe { self.plan.run(operands, self.to.resolve(bases), scratch, conduct) }
    }
}

impl GemmStep {
    /// # Safety
    /// As for [`RunStep::run`].
    pub(crate) unsafe fn run(&self, at: RunMemory<'_>, conduct: &Conduct<'_>) -> Result<(), Fault> {
        let RunMemory { bases, scratch } = at;
        let operands = self.operands.map(|place| place.resolve(bases).cast_const());
        // SAFETY: by the caller's promise, the memories are as large as when the step was bound.
        unsafe { self.plan.run(operands, self.to.resolve(bases), scratch, conduct) }
    }
}

impl StackStep {
    /// # Safety
    /// As for [`RunStep::run`].
    unsafe fn run(&self, at: RunMemory<'_>, conduct: &Conduct<'_>) -> Result<(), Fault> {
        let RunMemory { bases, scratch } = at;
        let places: SmallVec<[*mut u8; 4]> =
            self.places.iter().map(|place| place.resolve(bases)).collect();
        // SAFETY: by the caller's promise, the memories are as large as when the step was bound.
        unsafe { self.plan.run(&places, scratch, conduct) }
    }
}

impl<Plan> LinesStep<Plan> {
    /// The memory of a run.
    fn memory(&self, RunMemory { bases, scratch }: RunMemory<'_>) -> Memory {
        let (of, to) = (self.of.resolve(bases).cast_const(), self.to.resolve(bases));
        Memory { of, to, scratch }
    }
}

impl CountTermsStep {
    /// # Safety
    /// As for [`RunStep::run`].
    unsafe fn run(&self, bases: &[*mut u8]) -> Result<(), Fault> {
        let of = self.of.map(|place| place.resolve(bases).cast_const());
        // SAFETY: the operands are 0-d of this type, the result is one 64-bit element.
        unsafe { self.to.resolve(bases).cast::<i64>().write(count_terms(self.dtype, of)?) };
        Ok(())
    }
}

impl TermsStep {
    /// # Safety
    /// As for [`RunStep::run`].
    unsafe fn run(&self, bases: &[*mut u8]) -> Result<(), Fault> {
        let of = self.of.map(|place| place.resolve(bases).cast_const());
        // SAFETY: the operands are 0-d of this type, the result has so many elements.
        Ok(unsafe { write_terms(self.dtype, of, self.to.resolve(bases), self.count) }?)
    }
}

impl DrawStep {
    /// # Safety
    /// As for [`RunStep::run`].
    unsafe fn run(&self, bases: &[*mut u8]) -> Result<(), Fault> {
        let parameters: SmallVec<[*mut u8; 3]> =
            self.parameters.iter().map(|place| place.resolve(bases)).collect();
        let state = self.state.resolve(bases).cast_const();
        let (to, next) = (self.to.resolve(bases), self.next.resolve(bases));
        // SAFETY: by the caller's promise; the results are new memory.
        unsafe { self.plan.run(state, &parameters, to, next.cast()) }
    }
}

impl StoreStep {
    /// # Safety
    /// As for [`RunStep::run`].
    unsafe fn run(
        &self,
        bases: &[*mut u8],
        values: &[i64],
        conduct: &Conduct<'_>,
    ) -> Result<(), Fault> {
        if let Some(copy) = &self.copy {
            // SAFETY: by the caller's promise, the memories are as large as when the step was bound.
            unsafe { copy.run(bases, conduct)? };
        }
        let (to, from) = (self.store.to.resolve(bases), self.store.from.resolve(bases));
        // SAFETY: as above.
        unsafe { self.run_at(to, from, values, conduct) }
    }

    /// The store alone, to a position of the array at `to`.
    ///
    /// # Safety
    /// As for [`RunStep::run`]; both are the places of the store.
    pub(crate) unsafe fn run_at(
        &self,
        to: *mut u8,
        from: *const u8,
        values: &[i64],
        conduct: &Conduct<'_>,
    ) -> Result<(), Fault> {
        let to = to.wrapping_offset(self.moves.bytes(values)? as isize);
        // SAFETY: by the caller's promise; the positions lie within their axes.
        unsafe { self.store.plan.run_with(to, from, conduct) }.map_err(Fault::from)
    }
}

impl TransferStep {
    /// # Safety
    /// As for [`RunStep::run`].
    pub(crate) unsafe fn run(&self, bases: &[*mut u8], conduct: &Conduct<'_>) -> Result<(), Fault> {
        let (to, from) = (self.to.resolve(bases), self.from.resolve(bases));
        // SAFETY: both places are arrays of the plan's layouts; nothing else needs the old elements of
        // the destination.
        unsafe { self.plan.run_with(to, from, conduct) }.map_err(Fault::from)
    }
}
