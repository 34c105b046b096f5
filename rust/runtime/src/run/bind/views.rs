//! Views, and reshapes where strides allow no view.

use crate::arrays::layout::{Layout, byte_count};
use crate::arrays::strided::Transfer;
use crate::arrays::view;
use crate::error::Fault;
use crate::ids::{Size, Slot};
use crate::program::instr::View;
use crate::run::step::{Step, TransferStep};

use super::Binder;

impl Binder<'_> {
    pub(super) fn view(&mut self, of: Slot, to: Slot, view: &View) -> Result<Step, Fault> {
        let (offset, layout) = self.seen(of, view)?;
        self.place_view(of, to, offset, layout);
        Ok(Step::Nothing)
    }

    /// Where in a slot a view of it starts, and how that is laid out.
    fn seen(&self, of: Slot, view: &View) -> Result<(i64, Layout), Fault> {
        let layout = self.layout(of);
        match view {
            View::Transpose(axes) => Ok((0, view::transpose(layout, axes))),
            View::ExpandDims(axes) => Ok((0, view::expand_dims(layout, axes))),
            View::DropDims(axes) => Ok((0, view::drop_dims(layout, axes)?)),
            View::BroadcastTo(dims) => {
                let dims = self.numbers(dims);
                // Strides of zero hide how large it is; whoever copies it will ask.
                byte_count(&dims, self.itemsize(of))?;
                Ok((0, view::broadcast_to(layout, &dims)?))
            }
            View::Slice(indices) => view::slice(layout, &self.indices(indices)),
            View::Diagonal { axes, offset } => Ok(view::diagonal(layout, *axes, *offset)),
        }
    }

    pub(super) fn reshape(
        &mut self,
        of: Slot,
        to: Slot,
        dims: &[Size],
        rest: Option<usize>,
    ) -> Result<Step, Fault> {
        let dims = view::reshape_dims(self.layout(of), &self.numbers(dims), rest)?;
        if let Some(layout) = view::reshape(self.layout(of), &dims, self.itemsize(of)) {
            self.place_view(of, to, 0, layout);
            return Ok(Step::Nothing);
        }
        // Copied in C order, the elements take any shape.
        let old = self.layout(of).dims.clone();
        let place = self.fresh(to, &dims)?;
        let contiguous = Layout::fresh(&old, self.itemsize(of))?;
        let plan = self.transfer(Transfer::Copy, to, &contiguous, self.layout(of));
        let from = self.slot(of).place;
        Ok(Step::Transfer(Box::new(TransferStep { to: place, from, plan })))
    }
}
