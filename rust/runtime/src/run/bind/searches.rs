//! Sorting, and finding the positions of elements.

use crate::arrays::search::{ExtremePlan, Listed, Listing};
use crate::arrays::sort::SortPlan;
use crate::error::Fault;
use crate::ids::{Size, Slot};
use crate::run::step::{LinesStep, ListStep, RunStep};

use super::Binder;

impl Binder<'_> {
    pub(super) fn sort(
        &mut self,
        of: Slot,
        to: Slot,
        axis: usize,
        positions: bool,
    ) -> Result<RunStep, Fault> {
        let dims = self.layout(of).dims.clone();
        let place = self.fresh(to, &dims)?;
        let (of_at, to_at) = (self.layout(of), self.layout(to));
        let plan = SortPlan::new(self.dtype(of), positions, axis, of_at, to_at);
        let scratch = plan.scratch()?;
        self.need_scratch(scratch);
        let of = self.slot(of).place;
        Ok(RunStep::Sort(Box::new(LinesStep { of, to: place, plan, scratch })))
    }

    pub(super) fn extreme(
        &mut self,
        of: Slot,
        to: Slot,
        axis: usize,
        largest: bool,
    ) -> Result<RunStep, Fault> {
        let mut dims = self.layout(of).dims.clone();
        dims.remove(axis);
        let place = self.fresh(to, &dims)?;
        let (of_at, to_at) = (self.layout(of), self.layout(to));
        let plan = ExtremePlan::new(self.dtype(of), largest, axis, of_at, to_at);
        let scratch = plan.scratch();
        self.need_scratch(scratch);
        let of = self.slot(of).place;
        Ok(RunStep::Extreme(Box::new(LinesStep { of, to: place, plan, scratch })))
    }

    pub(super) fn count(&mut self, of: Slot, to: Slot, listed: Listed) -> Result<RunStep, Fault> {
        let place = self.fresh(to, &[])?;
        Ok(RunStep::List(Box::new(ListStep {
            of: self.slot(of).place,
            to: vec![place].into(),
            count: None,
            plan: Listing::new(self.dtype(of), listed, self.layout(of)),
        })))
    }

    pub(super) fn list(
        &mut self,
        of: Slot,
        to: &[Slot],
        count: Size,
        listed: Listed,
    ) -> Result<RunStep, Fault> {
        let count = self.state.size(count);
        let places: Result<Box<[_]>, Fault> =
            to.iter().map(|&vector| self.fresh(vector, &[count])).collect();
        Ok(RunStep::List(Box::new(ListStep {
            of: self.slot(of).place,
            to: places?,
            count: Some(count as usize),
            plan: Listing::new(self.dtype(of), listed, self.layout(of)),
        })))
    }
}
