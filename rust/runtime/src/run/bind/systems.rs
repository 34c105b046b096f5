//! Factors of matrices, and systems of equations.

use crate::arrays::layout::Layout;
use crate::error::Fault;
use crate::ids::Slot;
use crate::linalg::lapack::{
    CholeskyGradientPlan, CholeskyPlan, LapackPlan, OnError, SolvePlan, TriangularForm,
    check_solve, check_square, fresh_like,
};
use crate::linalg::lu::{LuPlan, LuSolvePlan, factors_layout};
use crate::run::step::{LapackStep, LuSolveStep, LuStep, Place, Step};

use super::Binder;

impl Binder<'_> {
    pub(super) fn cholesky(
        &mut self,
        of: Slot,
        to: Slot,
        lower: bool,
        on_error: OnError,
    ) -> Result<Step, Fault> {
        check_square("cholesky", self.layout(of))?;
        let layout = fresh_like(self.layout(of), self.itemsize(to))?;
        let (place, in_place) = self.place_on(of, to, layout)?;
        let a_at = (!in_place).then(|| self.layout(of));
        let plan = CholeskyPlan::new(self.dtype(to), lower, on_error, a_at, self.layout(to))?;
        Ok(self.lapack([of, of], place, LapackPlan::Cholesky(plan)))
    }

    pub(super) fn cholesky_gradient(
        &mut self,
        factor: Slot,
        gradient: Slot,
        to: Slot,
    ) -> Result<Step, Fault> {
        check_square("the gradient of cholesky", self.layout(factor))?;
        let dims = self.layout(factor).dims.clone();
        if self.layout(gradient).dims != dims {
            let z = self.layout(gradient).dims.to_vec();
            return Err(Fault::Addend { product: dims.to_vec(), z });
        }
        let layout = Layout::fresh(&dims, self.itemsize(to))?;
        let (place, in_place) = self.place_on(gradient, to, layout)?;
        let gradient_at = (!in_place).then(|| self.layout(gradient));
        let factor_at = self.layout(factor);
        let plan =
            CholeskyGradientPlan::new(self.dtype(to), factor_at, gradient_at, self.layout(to))?;
        Ok(self.lapack([factor, gradient], place, LapackPlan::CholeskyGradient(plan)))
    }

    pub(super) fn solve(
        &mut self,
        [a, b]: [Slot; 2],
        to: Slot,
        form: TriangularForm,
        on_error: OnError,
    ) -> Result<Step, Fault> {
        check_solve("solve_triangular", self.layout(a), self.layout(b))?;
        let layout = fresh_like(self.layout(b), self.itemsize(to))?;
        let (place, in_place) = self.place_on(b, to, layout)?;
        let (a_at, b_at) = (self.layout(a), (!in_place).then(|| self.layout(b)));
        let plan = SolvePlan::new(self.dtype(to), form, on_error, a_at, b_at, self.layout(to))?;
        Ok(self.lapack([a, b], place, LapackPlan::Solve(plan)))
    }

    pub(super) fn lu(&mut self, of: Slot, to: Slot, pivots: Slot) -> Result<Step, Fault> {
        check_square("lu_factor", self.layout(of))?;
        let size = self.layout(of).dims[0];
        let layout = factors_layout(self.layout(of), self.itemsize(to))?;
        let (place, in_place) = self.place_on(of, to, layout)?;
        let a_at = (!in_place).then(|| self.layout(of));
        let plan = LuPlan::new(self.dtype(to), a_at, self.layout(to))?;
        let of = self.slot(of).place;
        let pivots = self.fresh(pivots, &[size])?;
        Ok(Step::Lu(Box::new(LuStep { of, to: place, pivots, plan })))
    }

    pub(super) fn lu_solve(
        &mut self,
        operands: [Slot; 3],
        to: Slot,
        transposed: bool,
        on_error: OnError,
    ) -> Result<Step, Fault> {
        let [factors, pivots, b] = operands;
        check_solve("solve", self.layout(factors), self.layout(b))?;
        if self.layout(pivots).dims[0] != self.layout(factors).dims[0] {
            let (a, b) = (self.layout(factors).dims.to_vec(), self.layout(pivots).dims.to_vec());
            return Err(Fault::RightSide { what: "lu_solve", a, b });
        }
        let order: &[usize] = if self.layout(b).ndim() == 2 { &[1, 0] } else { &[0] };
        let layout = Layout::fresh_in_order(&self.layout(b).dims, self.itemsize(to), order)?;
        let (place, in_place) = self.place_on(b, to, layout)?;
        let b_at = (!in_place).then(|| self.layout(b));
        let (a_at, pivots_at) = (self.layout(factors), self.layout(pivots));
        let how = (transposed, on_error);
        let plan = LuSolvePlan::new(self.dtype(to), how, a_at, pivots_at, b_at, self.layout(to))?;
        self.need_scratch(plan.scratch());
        let operands = operands.map(|slot| self.slot(slot).place);
        Ok(Step::LuSolve(Box::new(LuSolveStep { operands, to: place, plan })))
    }

    fn lapack(&mut self, operands: [Slot; 2], to: Place, plan: LapackPlan) -> Step {
        self.need_scratch(plan.scratch());
        let operands = operands.map(|slot| self.slot(slot).place);
        Step::Lapack(Box::new(LapackStep { operands, to, plan }))
    }
}
