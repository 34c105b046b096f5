//! Copies, updates and joins.

use crate::arrays::layout::Layout;
use crate::arrays::strided::{Transfer, TransferPlan};
use crate::arrays::view::{self, Index};
use crate::error::Fault;
use crate::ids::{Size, Slot};
use crate::run::step::{CountTermsStep, Place, RunStep, StoreStep, TermsStep, TransferStep};

use super::Binder;

impl Binder<'_> {
    pub(super) fn copy(&mut self, of: Slot, to: Slot) -> Result<RunStep, Fault> {
        if self.place_over(of, to) {
            return Ok(RunStep::Nothing);
        }
        let dims = self.layout(of).dims.clone();
        let place = self.fresh(to, &dims)?;
        Ok(RunStep::Transfer(Box::new(self.copy_to(of, to, place))))
    }

    pub(super) fn full(&mut self, value: Slot, to: Slot, dims: &[Size]) -> Result<RunStep, Fault> {
        let dims = self.numbers(dims);
        let place = self.fresh(to, &dims)?;
        let element = view::broadcast_to(self.layout(value), &dims)?;
        let from = self.slot(value).place;
        let plan = self.transfer(Transfer::Copy, to, self.layout(to), &element);
        Ok(RunStep::Transfer(Box::new(TransferStep { to: place, from, plan })))
    }

    pub(super) fn range(&mut self, sizes: [Size; 3], to: Slot) -> Result<RunStep, Fault> {
        let [start, step, count] = sizes.map(|size| self.state.size(size));
        let to = self.fresh(to, &[count])?;
        Ok(RunStep::Range { to, start, step, count })
    }

    pub(super) fn count_terms(&mut self, given: [Slot; 3], to: Slot) -> Result<RunStep, Fault> {
        let to = self.fresh(to, &[])?;
        let dtype = self.dtype(given[0]);
        let of = given.map(|slot| self.slot(slot).place);
        Ok(RunStep::CountTerms(Box::new(CountTermsStep { dtype, of, to })))
    }

    pub(super) fn terms(
        &mut self,
        given: [Slot; 2],
        count: Size,
        to: Slot,
    ) -> Result<RunStep, Fault> {
        let count = self.state.size(count);
        let place = self.fresh(to, &[count])?;
        let of = given.map(|slot| self.slot(slot).place);
        let count = count as usize;
        Ok(RunStep::Terms(Box::new(TermsStep { dtype: self.dtype(to), of, to: place, count })))
    }

    /// The step that copies a slot to fresh memory of the same dims.
    pub(super) fn copy_to(&self, of: Slot, to: Slot, place: Place) -> TransferStep {
        let plan = self.transfer(Transfer::Copy, to, self.layout(to), self.layout(of));
        TransferStep { to: place, from: self.slot(of).place, plan }
    }

    pub(super) fn transfer(
        &self,
        transfer: Transfer,
        slot: Slot,
        to: &Layout,
        from: &Layout,
    ) -> TransferPlan {
        TransferPlan::new(transfer, self.dtype(slot), &to.dims, &to.strides, &from.strides)
    }

    pub(super) fn update(
        &mut self,
        of: Slot,
        to: Slot,
        indices: &[Index<Size>],
        value: Slot,
        accumulate: bool,
    ) -> Result<RunStep, Fault> {
        let dims = self.layout(of).dims.clone();
        let in_place = self.place_over(of, to);
        let place = if in_place { self.slot(to).place } else { self.fresh(to, &dims)? };
        let (offset, window, moves) = self.picked(self.layout(to), indices)?;
        let source = view::broadcast_to(self.layout(value), &window.dims)?;
        let transfer = if accumulate { Transfer::Add } else { Transfer::Copy };
        let store = TransferStep {
            to: Place { base: place.base, offset: place.offset + offset },
            from: self.slot(value).place,
            plan: self.transfer(transfer, to, &window, &source),
        };
        let copy = (!in_place).then(|| self.copy_to(of, to, place));
        Ok(match copy {
            copy if !moves.0.is_empty() => {
                RunStep::Store(Box::new(StoreStep { copy, store, moves }))
            }
            None => RunStep::Transfer(Box::new(store)),
            Some(copy) => RunStep::Transfers(Box::new([copy, store])),
        })
    }

    pub(super) fn join(&mut self, parts: &[Slot], to: Slot, axis: usize) -> Result<RunStep, Fault> {
        let mut dims = self.layout(parts[0]).dims.clone();
        for (part, &slot) in parts.iter().enumerate().skip(1) {
            let given = &self.layout(slot).dims;
            if (0..dims.len()).any(|at| at != axis && given[at] != dims[at]) {
                let first = self.layout(parts[0]).dims.to_vec();
                return Err(Fault::Part { axis, part, given: given.to_vec(), first });
            }
            dims[axis] = dims[axis].checked_add(given[axis]).ok_or(Fault::TooLarge)?;
        }
        let place = self.fresh(to, &dims)?;
        let whole = self.layout(to).clone();
        let mut offset = 0;
        let mut steps = Vec::with_capacity(parts.len());
        for &slot in parts {
            let layout = self.layout(slot);
            let window = Layout { dims: layout.dims.clone(), strides: whole.strides.clone() };
            steps.push(TransferStep {
                to: Place { base: place.base, offset: place.offset + offset },
                from: self.slot(slot).place,
                plan: self.transfer(Transfer::Copy, to, &window, layout),
            });
            offset += layout.dims[axis] * whole.strides[axis];
        }
        Ok(RunStep::Transfers(steps.into()))
    }
}
