//! Views, and reshapes where strides allow no view.

use smallvec::SmallVec;

use crate::arrays::layout::{Axes, Layout, byte_count};
use crate::arrays::strided::Transfer;
use crate::arrays::view::{self, Index};
use crate::error::Fault;
use crate::ids::{Size, Slot};
use crate::program::instr::View;
use crate::run::state::SlotState;
use crate::run::step::{Move, Moves, PickStep, Place, RunStep, TransferStep};

use super::Binder;

impl Binder<'_> {
    pub(super) fn view(&mut self, of: Slot, to: Slot, view: &View) -> Result<RunStep, Fault> {
        let layout = self.layout(of);
        let (offset, layout) = match view {
            View::Transpose(axes) => (0, view::transpose(layout, axes)),
            View::ExpandDims(axes) => (0, view::expand_dims(layout, axes)),
            View::DropDims(axes) => (0, view::drop_dims(layout, axes)?),
            View::BroadcastTo(dims) => {
                let dims = self.numbers(dims);
                // Strides of zero hide its size; a copy will check it.
                byte_count(&dims, self.itemsize(of))?;
                (0, view::broadcast_to(layout, &dims)?)
            }
            View::Slice(indices) => return self.slice(of, to, indices),
            View::Diagonal { axes, offset } => view::diagonal(layout, *axes, *offset),
        };
        self.place_view(of, to, offset, layout);
        Ok(RunStep::Nothing)
    }

    fn slice(&mut self, of: Slot, to: Slot, indices: &[Index<Size>]) -> Result<RunStep, Fault> {
        let (offset, layout, moves) = self.picked(self.layout(of), indices)?;
        if moves.0.is_empty() {
            self.place_view(of, to, offset, layout);
            return Ok(RunStep::Nothing);
        }
        let mut from = self.slot(of).place;
        from.offset += offset;
        let base = self.program.bases.slots + to.index();
        self.state.slots[to.index()] = SlotState { place: Place::start(base), layout, bytes: 0 };
        Ok(RunStep::Pick(Box::new(PickStep { from, base, moves })))
    }

    /// The part that indices pick of an array: its distance from the start, its layout, and the positions by which the
    /// run moves that.
    pub(super) fn picked(
        &self,
        of: &Layout,
        indices: &[Index<Size>],
    ) -> Result<(i64, Layout, Moves), Fault> {
        // With all values at hand nothing is left to the run.
        let late = |size: Size| self.arena.is_some() && self.program.late[size.index()];
        let mut moves = Moves::default();
        let mut dropped = Axes::new();
        let mut kept = 0;
        let known = indices.iter().enumerate().map(|(axis, &index)| match index {
            Index::At(position) if late(position) => {
                let (length, stride) = (of.dims[axis], of.strides[axis]);
                moves.0.push(Move { position, axis, length, stride });
                dropped.push(kept);
                kept += 1;
                Index::Range { start: None, stop: None, step: 1 }
            }
            Index::At(position) => Index::At(self.state.size(position)),
            Index::Range { .. } => {
                kept += 1;
                index.map(|size| self.state.size(size))
            }
        });
        let known: SmallVec<[Index<i64>; 4]> = known.collect();
        let (offset, mut layout) = view::slice(of, &known)?;
        for &axis in dropped.iter().rev() {
            layout.dims.remove(axis as usize);
            layout.strides.remove(axis as usize);
        }
        Ok((offset, layout, moves))
    }

    pub(super) fn reshape(
        &mut self,
        of: Slot,
        to: Slot,
        dims: &[Size],
        rest: Option<usize>,
    ) -> Result<RunStep, Fault> {
        let dims = view::reshape_dims(self.layout(of), &self.numbers(dims), rest)?;
        if let Some(layout) = view::reshape(self.layout(of), &dims, self.itemsize(of)) {
            self.place_view(of, to, 0, layout);
            return Ok(RunStep::Nothing);
        }
        // Copied in C order, the elements take any shape.
        let old = self.layout(of).dims.clone();
        let place = self.fresh(to, &dims)?;
        let contiguous = Layout::fresh(&old, self.itemsize(of))?;
        let plan = self.transfer(Transfer::Copy, to, &contiguous, self.layout(of));
        let from = self.slot(of).place;
        Ok(RunStep::Transfer(Box::new(TransferStep { to: place, from, plan })))
    }
}
