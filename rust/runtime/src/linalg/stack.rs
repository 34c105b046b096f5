//! The same work for each matrix of a stack: one for each position of the axes in front.

use frazil_core::DType;
use frazil_core::intern::sync::Mutex;
use smallvec::SmallVec;

use crate::arrays::layout::{Axes, Layout};
use crate::arrays::walk::{Order, Pointers, Strides, Walk, advance};
use crate::error::Fault;
use crate::linalg::bands::BandPlan;
use crate::linalg::cholesky_gradient::CholeskyGradientPlan;
use crate::linalg::decompositions::DecompositionPlan;
use crate::linalg::lanes::{LanePlan, Work};
use crate::linalg::lapack::{CholeskyPlan, SolvePlan};
use crate::linalg::lu::{LuPlan, LuSolvePlan};
use crate::threads::attention::{Patience, STOPPED};
use crate::threads::conduct::{Conduct, Halt};
use crate::threads::split::{LoopLevel, Split};

/// Products of elements that a piece of a stack adds up, about.
const GRAIN: i64 = 1 << 16;

/// The cost of a matrix beside its products, in products.
const OVERHEAD: i64 = 64;

/// Rows or columns up to which several threads work on a stack. LAPACK has threads of its own for
/// larger matrices.
const ALONE: i64 = 64;

/// The status of a piece in which a matrix failed.
const FAILED: i32 = 1;

/// The operation on one matrix.
#[derive(Debug)]
pub(crate) enum MatrixPlan {
    /// The factor of a matrix.
    Cholesky(CholeskyPlan),
    /// The solution for a triangle and a right side.
    Solve(SolvePlan),
    /// The gradient of the factored matrix, from a factor and its gradient.
    CholeskyGradient(CholeskyGradientPlan),
    /// The factors of a matrix, and the partners of rows.
    Lu(LuPlan),
    /// The solution for factors, partners and a right side.
    LuSolve(LuSolvePlan),
    /// The solution for a matrix with a few diagonals and a right side.
    Bands(BandPlan),
    /// The decomposition of a matrix.
    Apart(DecompositionPlan),
}

impl MatrixPlan {
    /// The bytes of scratch memory that a run needs.
    fn scratch(&self) -> usize {
        match self {
            MatrixPlan::Cholesky(_) | MatrixPlan::Lu(_) => 0,
            MatrixPlan::Solve(plan) => plan.scratch(),
            MatrixPlan::CholeskyGradient(plan) => plan.scratch(),
            MatrixPlan::LuSolve(plan) => plan.scratch(),
            MatrixPlan::Bands(plan) => plan.scratch(),
            MatrixPlan::Apart(plan) => plan.scratch(),
        }
    }

    /// The operation, if it can be done for many small matrices side by side.
    fn work(&self) -> Option<(Work, DType)> {
        match self {
            MatrixPlan::Cholesky(plan) => Some(plan.work()),
            MatrixPlan::Solve(plan) => Some(plan.work()),
            MatrixPlan::Lu(plan) => Some(plan.work()),
            MatrixPlan::LuSolve(plan) => Some(plan.work()),
            MatrixPlan::Apart(plan) => plan.lane_work(),
            MatrixPlan::CholeskyGradient(_) | MatrixPlan::Bands(_) => None,
        }
    }

    /// Does it, with the operands and then the results at `places`.
    ///
    /// # Safety
    /// The operands and the results have the layouts of the plan, aligned, the results apart from
    /// the operands but for one that it holds already; `scratch` is aligned and as large as
    /// [`MatrixPlan::scratch`] says.
    unsafe fn run(&self, places: &[*mut u8], scratch: *mut u8) -> Result<(), Fault> {
        let three = || [places[0], places[1], places[2]];
        // SAFETY: by the caller's promise, operands, results and scratch memory are as the plan
        // says.
        unsafe {
            match self {
                MatrixPlan::Cholesky(plan) => plan.run(places[0], places[1]),
                MatrixPlan::Solve(plan) => plan.run(three(), scratch),
                MatrixPlan::CholeskyGradient(plan) => plan.run(three(), scratch),
                MatrixPlan::Lu(plan) => {
                    let rows = places.get(3).map(|places| places.cast());
                    plan.run(places[0], places[1], places[2].cast(), rows)
                }
                MatrixPlan::LuSolve(plan) => {
                    plan.run([places[0], places[1], places[2], places[3]], scratch)
                }
                MatrixPlan::Bands(plan) => plan.run(three(), scratch),
                MatrixPlan::Apart(plan) => plan.run(places[0], &places[1..], scratch),
            }
        }
    }
}

/// The operation on each matrix of a stack, or on one matrix.
#[derive(Debug)]
pub(crate) struct StackPlan {
    each: MatrixPlan,
    /// The axes in front of the matrices.
    front: Axes,
    walk: Walk,
    /// The cost of a matrix, in products of elements.
    cost: i64,
    /// The plan by which small ones are worked on side by side.
    lanes: Option<LanePlan>,
    split: Option<Split>,
}

/// The layout of the matrices (or vectors) behind so many axes.
pub(crate) fn behind(layout: &Layout, front: usize) -> Layout {
    Layout { dims: layout.dims[front..].into(), strides: layout.strides[front..].into() }
}

/// The layout of one matrix of a stack.
pub(crate) fn matrix(layout: &Layout) -> Layout {
    behind(layout, layout.ndim() - 2)
}

/// Checks that the operands, the first one of matrices, have equal lengths in front.
pub(crate) fn check_fronts(what: &'static str, operands: &[&Layout]) -> Result<(), Fault> {
    let first = operands[0];
    let front = first.ndim() - 2;
    for other in operands {
        if other.dims[..front] != first.dims[..front] {
            let (a, b) = (first.dims.to_vec(), other.dims.to_vec());
            return Err(Fault::Stack { what, a, b });
        }
    }
    Ok(())
}

impl StackPlan {
    /// The plan for operands and results, which have equal lengths in front; the first ones are
    /// matrices. `each` is for the matrices of one position.
    pub(crate) fn new(each: MatrixPlan, layouts: &[&Layout]) -> StackPlan {
        let count = layouts[0].ndim() - 2;
        let front: Axes = layouts[0].dims[..count].into();
        let mut strides = Strides::new();
        for layout in layouts {
            strides.push(layout.strides[..count].iter().copied());
        }
        let walk = Walk::new(&front, &strides, &(0..count).collect::<Order>());
        let side = layouts.iter().flat_map(|of| of.dims[count..].iter().copied()).max();
        let side = side.unwrap_or(1);
        let cost = side.saturating_mul(side).saturating_mul(side).saturating_add(OVERHEAD);
        let lanes = each.work().and_then(|(work, dtype)| {
            LanePlan::new(work, dtype, layouts, count).filter(|_| !walk.is_single())
        });
        let inner = walk.lengths().iter().skip(1);
        let turn = inner.fold(cost, |all, &length| all.saturating_mul(length));
        let split = match walk.lengths().first() {
            Some(&length) if side <= ALONE && !walk.is_empty() => {
                let level = LoopLevel { length, copied: 0, divisible: true };
                Split::with_grain(&[level], (GRAIN / turn).max(1))
            }
            _ => None,
        };
        StackPlan { each, front, walk, cost, lanes, split }
    }

    /// The bytes of scratch memory that a run needs.
    pub(crate) fn scratch(&self) -> usize {
        self.each.scratch()
    }

    /// Does it, with the operands and then the results at `places`. If there are matrices for which
    /// it fails, the fault is that of the first.
    ///
    /// # Safety
    /// The operands and the results have the layouts of the plan, aligned, the results apart from
    /// the operands but for one that it holds already; `scratch` is aligned and as large as
    /// [`StackPlan::scratch`] says.
    pub(crate) unsafe fn run(
        &self,
        places: &[*mut u8],
        scratch: *mut u8,
        conduct: &Conduct<'_>,
    ) -> Result<(), Fault> {
        if self.front.is_empty() {
            // SAFETY: by the caller's promise, operands, results and scratch memory are as the plan
            // says.
            return unsafe { self.each.run(places, scratch) };
        }
        if self.walk.is_empty() {
            return Ok(());
        }
        let Some(split) = &self.split else {
            let mut pointers = Pointers::from_slice(places);
            // SAFETY: by the caller's promise, for all positions.
            let done = unsafe { self.part(&mut pointers, 0, self.walk.lengths(), scratch) };
            return done.map_err(|(at, fault)| self.located(at, fault));
        };
        let first: Mutex<Option<(i64, Fault)>> = Mutex::new(None);
        let places = Shared(places);
        let done = conduct.run(split, self.scratch(), scratch, &|piece, scratch| {
            let (start, count) = split.piece(piece);
            let mut pointers = Pointers::from_slice(places.get());
            advance(&mut pointers, self.walk.steps(0), start);
            let mut lengths = SmallVec::<[i64; 4]>::from_slice(self.walk.lengths());
            lengths[0] = count;
            // SAFETY: by the caller's promise; each piece has positions of its own.
            match unsafe { self.part(&mut pointers, start, &lengths, scratch) } {
                Ok(()) => 0,
                Err((_, Fault::Interrupted)) => STOPPED,
                Err((at, fault)) => {
                    let mut first = first.lock();
                    if first.as_ref().is_none_or(|(known, _)| at < *known) {
                        *first = Some((at, fault));
                    }
                    FAILED
                }
            }
        });
        match (done, first.into_inner()) {
            (Err(Halt::Status(FAILED)), Some((at, fault))) => Err(self.located(at, fault)),
            (done, _) => Ok(done?),
        }
    }

    /// The positions of a part of the walk, whose first loop begins at `start`; with a fault comes
    /// the position of the matrix.
    ///
    /// # Safety
    /// As for `run`, with pointers to the first position.
    unsafe fn part(
        &self,
        pointers: &mut [*mut u8],
        start: i64,
        lengths: &[i64],
        scratch: *mut u8,
    ) -> Result<(), (i64, Fault)> {
        let mut at = start * self.walk.lengths().iter().skip(1).product::<i64>();
        let mut patience = Patience::new();
        let one = |places: &[*mut u8], at: i64| {
            // SAFETY: by the caller's promise; each position has matrices of the plan's layouts.
            unsafe { self.each.run(places, scratch) }.map_err(|fault| (at, fault))
        };
        let (Some(lanes), [outer @ .., count]) = (&self.lanes, lengths) else {
            return self.walk.visit(lengths, pointers, |places| {
                one(places, at)?;
                at += 1;
                patience.spend(self.cost).map_err(|halt| (at, halt.into()))
            });
        };
        let steps = self.walk.steps(outer.len());
        self.walk.visit(outer, pointers, |places| {
            let mut places = Pointers::from_slice(places);
            for first in (0..*count).step_by(lanes.lanes() as usize) {
                let group = (count - first).min(lanes.lanes());
                // SAFETY: as above, for each of the group.
                if unsafe { lanes.run(&places, steps, group as usize) } {
                    advance(&mut places, steps, group);
                } else {
                    for behind in 0..group {
                        one(&places, at + behind)?;
                        advance(&mut places, steps, 1);
                    }
                }
                at += group;
                patience.spend(group * self.cost).map_err(|halt| (at, halt.into()))?;
            }
            Ok(())
        })
    }

    /// A fault of the matrix at a position, counted in C order.
    fn located(&self, at: i64, fault: Fault) -> Fault {
        if !fault.is_of_matrix() {
            return fault;
        }
        let mut rest = at;
        let mut index = vec![0; self.front.len()];
        for (place, &length) in index.iter_mut().zip(&self.front).rev() {
            *place = rest % length;
            rest /= length;
        }
        Fault::InStack { index, fault: Box::new(fault) }
    }
}

/// The starts of operands and results, for all threads of a run.
struct Shared<'a>(&'a [*mut u8]);

impl Shared<'_> {
    fn get(&self) -> &[*mut u8] {
        self.0
    }
}

// SAFETY: the addresses are only read; the memory there is shared as `StackPlan::run` says. Test:
// tests/tensor/test_stacks_of_matrices.py, test_threads_change_no_bit_and_no_error.
unsafe impl Sync for Shared<'_> {}
