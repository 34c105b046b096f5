//! Products of vectors and matrices.

use crate::arrays::layout::Layout;
use crate::error::Fault;
use crate::ids::Slot;
use crate::linalg::batch::{BatchPlan, batch_dims};
use crate::linalg::blas::{DotPlan, GemmPlan, dot_dims};
use crate::run::step::{DotStep, GemmStep, RunStep};

use super::Binder;

impl Binder<'_> {
    pub(super) fn dot(&mut self, a: Slot, b: Slot, to: Slot) -> Result<RunStep, Fault> {
        let dims = batch_dims(self.layout(a), self.layout(b))?;
        let place = self.fresh(to, &dims)?;
        let same = self.slot(a).place == self.slot(b).place;
        let (left, right, result) = (self.layout(a), self.layout(b), self.layout(to));
        let plan = BatchPlan::new(self.dtype(to), left, right, result, same)?;
        self.need_scratch(plan.scratch());
        let operands = [a, b].map(|slot| self.slot(slot).place);
        Ok(RunStep::Dot(Box::new(DotStep { operands, to: place, plan })))
    }

    /// `operands` are `z`, `alpha`, `a`, `b` and `beta`.
    pub(super) fn gemm(&mut self, operands: &[Slot; 5], to: Slot) -> Result<RunStep, Fault> {
        let [z, _, a, b, _] = *operands;
        let dims = dot_dims(self.layout(a), self.layout(b))?;
        if self.layout(z).dims[..] != dims {
            return Err(Fault::Addend { product: dims, z: self.layout(z).dims.to_vec() });
        }
        let layout = Layout::fresh(&dims, self.itemsize(to))?;
        let (place, in_place) = self.place_on(z, to, layout)?;
        let product = DotPlan::new(self.dtype(to), self.layout(a), self.layout(b), false)?;
        let z_at = (!in_place).then(|| self.layout(z));
        let plan = GemmPlan::new(product, z_at, self.layout(to));
        self.need_scratch(plan.scratch());
        let operands = operands.map(|slot| self.slot(slot).place);
        Ok(RunStep::Gemm(Box::new(GemmStep { operands, to: place, plan })))
    }
}
