//! Factors of matrices, and systems of equations.

use crate::arrays::layout::Layout;
use crate::error::Fault;
use crate::ids::Slot;
use crate::linalg::bands::{BandForm, BandPlan};
use crate::linalg::cholesky_gradient::CholeskyGradientPlan;
use crate::linalg::decompositions::{Decomposition, DecompositionPlan};
use crate::linalg::lapack::{
    CholeskyPlan, OnError, SolvePlan, TriangularForm, check_solve, check_square, fresh_in_columns,
    fresh_like,
};
use crate::linalg::lu::{LuPlan, LuSolvePlan};
use crate::linalg::stack::{MatrixPlan, StackPlan, behind, check_fronts};
use crate::run::step::{RunStep, StackStep};

use super::Binder;

impl Binder<'_> {
    pub(super) fn cholesky(
        &mut self,
        of: Slot,
        to: Slot,
        lower: bool,
        on_error: OnError,
    ) -> Result<RunStep, Fault> {
        check_square("cholesky", self.layout(of))?;
        let front = self.front(of);
        let layout = fresh_like(self.layout(of), front, self.itemsize(to))?;
        let (_, in_place) = self.place_on(of, to, layout)?;
        let (a, result) = (self.each(of, front), self.each(to, front));
        let a = (!in_place).then_some(&a);
        let plan = CholeskyPlan::new(self.dtype(to), lower, on_error, a, &result)?;
        Ok(self.for_each(MatrixPlan::Cholesky(plan), &[of, to]))
    }

    pub(super) fn cholesky_gradient(
        &mut self,
        factor: Slot,
        gradient: Slot,
        to: Slot,
    ) -> Result<RunStep, Fault> {
        let what = "the gradient of cholesky";
        check_square(what, self.layout(factor))?;
        let dims = self.layout(factor).dims.clone();
        if self.layout(gradient).dims != dims {
            let b = self.layout(gradient).dims.to_vec();
            return Err(Fault::Stack { what, a: dims.to_vec(), b });
        }
        let front = self.front(factor);
        let layout = Layout::fresh(&dims, self.itemsize(to))?;
        let (_, in_place) = self.place_on(gradient, to, layout)?;
        let [factor_at, gradient_at, result] =
            [factor, gradient, to].map(|of| self.each(of, front));
        let gradient_at = (!in_place).then_some(&gradient_at);
        let plan = CholeskyGradientPlan::new(self.dtype(to), &factor_at, gradient_at, &result)?;
        Ok(self.for_each(MatrixPlan::CholeskyGradient(plan), &[factor, gradient, to]))
    }

    pub(super) fn solve(
        &mut self,
        [a, b]: [Slot; 2],
        to: Slot,
        form: TriangularForm,
        on_error: OnError,
    ) -> Result<RunStep, Fault> {
        check_solve("solve_triangular", self.layout(a), self.layout(b))?;
        let front = self.front(a);
        let layout = fresh_like(self.layout(b), front, self.itemsize(to))?;
        let (_, in_place) = self.place_on(b, to, layout)?;
        let [a_at, b_at, result] = [a, b, to].map(|of| self.each(of, front));
        let b_at = (!in_place).then_some(&b_at);
        let plan = SolvePlan::new(self.dtype(to), form, on_error, &a_at, b_at, &result)?;
        Ok(self.for_each(MatrixPlan::Solve(plan), &[a, b, to]))
    }

    pub(super) fn lu(
        &mut self,
        of: Slot,
        [to, pivots]: [Slot; 2],
        places: Option<Slot>,
    ) -> Result<RunStep, Fault> {
        if places.is_none() {
            check_square("lu_factor", self.layout(of))?;
        }
        let front = self.front(of);
        let rows = self.layout(of).dims[..front + 1].to_vec();
        let mut exchanges = rows.clone();
        exchanges[front] = rows[front].min(self.layout(of).dims[front + 1]);
        let layout = fresh_in_columns(&self.layout(of).dims, self.itemsize(to))?;
        let (_, in_place) = self.place_on(of, to, layout)?;
        self.fresh(pivots, &exchanges)?;
        if let Some(places) = places {
            self.fresh(places, &rows)?;
        }
        let (a, result) = (self.each(of, front), self.each(to, front));
        let plan = LuPlan::new(self.dtype(to), (!in_place).then_some(&a), &result)?;
        let slots: Vec<Slot> = [of, to, pivots].into_iter().chain(places).collect();
        Ok(self.for_each(MatrixPlan::Lu(plan), &slots))
    }

    pub(super) fn lu_solve(
        &mut self,
        operands: [Slot; 3],
        to: Slot,
        transposed: bool,
        on_error: OnError,
    ) -> Result<RunStep, Fault> {
        let [factors, pivots, b] = operands;
        check_solve("solve", self.layout(factors), self.layout(b))?;
        let front = self.front(factors);
        if self.layout(pivots).dims[..] != self.layout(factors).dims[..front + 1] {
            let (a, b) = (self.layout(factors).dims.to_vec(), self.layout(pivots).dims.to_vec());
            return Err(Fault::RightSide { what: "lu_solve", a, b });
        }
        let layout = self.in_columns(b)?;
        let (_, in_place) = self.place_on(b, to, layout)?;
        let [factors_at, pivots_at, b_at] = operands.map(|of| self.each(of, front));
        let (b_at, result) = ((!in_place).then_some(&b_at), self.each(to, front));
        let how = (transposed, on_error);
        let plan = LuSolvePlan::new(self.dtype(to), how, &factors_at, &pivots_at, b_at, &result)?;
        Ok(self.for_each(MatrixPlan::LuSolve(plan), &[factors, pivots, b, to]))
    }

    pub(super) fn band_solve(
        &mut self,
        [a, b]: [Slot; 2],
        to: Slot,
        form: BandForm,
        on_error: OnError,
    ) -> Result<RunStep, Fault> {
        form.check(self.layout(a), self.layout(b))?;
        check_fronts("solve", &[self.layout(a), self.layout(b)])?;
        let front = self.front(a);
        let layout = self.in_columns(b)?;
        let (_, in_place) = self.place_on(b, to, layout)?;
        let [a_at, b_at, result] = [a, b, to].map(|of| self.each(of, front));
        let b_at = (!in_place).then_some(&b_at);
        let plan = BandPlan::new(self.dtype(to), (form, on_error), &a_at, b_at, &result)?;
        Ok(self.for_each(MatrixPlan::Bands(plan), &[a, b, to]))
    }

    pub(super) fn decompose(
        &mut self,
        of: Slot,
        to: &[Slot],
        what: Decomposition,
        on_error: OnError,
    ) -> Result<RunStep, Fault> {
        if what.is_of_square() {
            check_square("eigh", self.layout(of))?;
        }
        let front = self.front(of);
        let dims = self.layout(of).dims.clone();
        for (&slot, each) in to.iter().zip(what.dims(dims[front], dims[front + 1])) {
            let own = [&dims[..front], &each].concat();
            let layout = if each.len() == 2 {
                fresh_in_columns(&own, self.itemsize(slot))?
            } else {
                Layout::fresh(&own, self.itemsize(slot))?
            };
            self.place_fresh(slot, layout)?;
        }
        let a = self.each(of, front);
        let plan = DecompositionPlan::new(what, self.dtype(of), on_error, &a)?;
        let slots = [&[of], to].concat();
        Ok(self.for_each(MatrixPlan::Apart(plan), &slots))
    }

    /// The layout of fresh right sides like these, with the columns one after the other.
    fn in_columns(&self, b: Slot) -> Result<Layout, Fault> {
        match self.layout(b) {
            vector if vector.ndim() == 1 => Layout::fresh(&vector.dims, self.itemsize(b)),
            matrices => fresh_in_columns(&matrices.dims, self.itemsize(b)),
        }
    }

    /// The number of axes in front of the matrices.
    fn front(&self, matrices: Slot) -> usize {
        self.layout(matrices).ndim() - 2
    }

    /// The layout of the axes behind so many axes.
    fn each(&self, slot: Slot, front: usize) -> Layout {
        behind(self.layout(slot), front)
    }

    /// The step that follows the plan for every position of the axes in front of the matrices;
    /// these slots, operands and then results, are its places.
    fn for_each(&mut self, plan: MatrixPlan, slots: &[Slot]) -> RunStep {
        let layouts: Vec<&Layout> = slots.iter().map(|&slot| self.layout(slot)).collect();
        let plan = StackPlan::new(plan, &layouts);
        self.need_scratch(plan.scratch());
        let places = slots.iter().map(|&slot| self.slot(slot).place).collect();
        RunStep::Stack(Box::new(StackStep { places, plan }))
    }
}
