//! The most memory that a call allocates while it runs: rows of scans that may end early.
//!
//! Such a scan takes most if it does all its steps; the same holds for views of its rows. Arrays that are
//! computed from the rows, or have a shape that depends on other values, are not forecast.

use crate::arrays::view::Index;
use crate::ids::{Size, Slot};
use crate::program::Program;
use crate::program::instr::{InstrKind, View};
use crate::program::nested::Inner;
use crate::program::size::{SizeExpr, SizeOp};
use crate::run::bind::Binder;
use crate::run::state::{RunState, SlotState};
use crate::run::step::Place;

impl Program {
    /// The bytes that a call finds while it runs, at most, its outputs among them; `None` if values
    /// decide. A state that was laid out knows the shapes afterwards, as they are at most.
    pub(crate) fn forecast(&self, state: &mut RunState) -> Option<usize> {
        let (mut most, mut held) = (0, 0);
        let mut stacked = vec![false; self.slots.len()];
        for growth in std::mem::take(&mut state.growths) {
            most = most.max(held + growth.most);
            for (slot, layout) in growth.rows {
                let bytes = layout.len() as usize * self.slots[slot.index()].dtype.itemsize();
                let place = Place::start(self.bases.slots + slot.index());
                state.slots[slot.index()] = SlotState { place, layout, bytes };
                stacked[slot.index()] = true;
                held += bytes;
            }
        }
        self.assume(state, &self.run_sizes[0])?;
        for (at, instr) in self.instrs.iter().enumerate() {
            let known = |slot: &Slot| !self.slots[slot.index()].dynamic || stacked[slot.index()];
            match &instr.kind {
                kind if !instr.dynamic => kind.writes().iter().all(known).then_some(())?,
                InstrKind::View { view, .. } if self.grows(view) => {
                    Binder::new(self, state, None).step(&instr.kind).ok()?;
                }
                InstrKind::RequireEqual { .. } | InstrKind::Check { .. } => {}
                _ => return None,
            }
            self.assume(state, &self.run_sizes[at + 1])?;
        }
        for (position, &slot) in self.outputs.iter().enumerate() {
            let info = self.slots[slot.index()];
            if info.dynamic && state.filled(self, position).is_none() {
                held += state.slots[slot.index()].layout.len() as usize * info.dtype.itemsize();
            }
        }
        Some(most.max(held))
    }

    /// Evaluates sizes as they are when all scans do all their steps; `None` if another number of
    /// steps may make one larger.
    fn assume(&self, state: &mut RunState, sizes: &[Size]) -> Option<()> {
        for &size in sizes {
            let value = match self.sizes[size.index()] {
                SizeExpr::Value(slot) => {
                    let made_by = self.slots[slot.index()].made_by?;
                    let steps = match &self.instrs[made_by].kind {
                        InstrKind::Inner(code) => match &**code {
                            Inner::Scan(code) if code.done == slot => code.steps,
                            _ => return None,
                        },
                        InstrKind::ScanKernel(code) if code.counter() == Some(slot) => code.steps,
                        _ => return None,
                    };
                    state.values[steps.index()]
                }
                SizeExpr::Dim(slot, axis) => state.slots[slot.index()].layout.dims[axis as usize],
                expr => {
                    let grows = match expr {
                        SizeExpr::Binary(SizeOp::Sub, _, b) => !self.is_found(b),
                        SizeExpr::Binary(op, ..) => matches!(
                            op,
                            SizeOp::Add | SizeOp::Mul | SizeOp::Minimum | SizeOp::Maximum
                        ),
                        _ => false,
                    };
                    grows.then_some(())?;
                    expr.evaluate(&state.values)?
                }
            };
            state.values[size.index()] = value;
        }
        Some(())
    }

    /// Whether a size is known during the run only.
    fn is_found(&self, size: Size) -> bool {
        self.run_sizes.iter().any(|sizes| sizes.contains(&size))
    }

    /// Whether a view of more rows is no smaller.
    fn grows(&self, view: &View) -> bool {
        let View::Slice(view) = view else { return true };
        view.iter().all(|index| match index {
            Index::At(_) => true,
            Index::Range { start, step, .. } => {
                let fixed = |size: Size| !self.is_found(size);
                start.is_none_or(fixed) && fixed(*step)
            }
        })
    }
}
