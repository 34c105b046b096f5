//! The places in memory of the arrays that instructions make.

use crate::arrays::layout::{Layout, byte_count};
use crate::error::Fault;
use crate::ids::Slot;
use crate::program::instr::Loop;
use crate::run::guard::Guarded;
use crate::run::state::SlotState;
use crate::run::step::Place;

use super::Binder;

impl Binder<'_> {
    /// Memory for a slot in C order.
    pub(super) fn fresh(&mut self, slot: Slot, dims: &[i64]) -> Result<Place, Fault> {
        let layout = Layout::fresh(dims, self.itemsize(slot))?;
        self.place_fresh(slot, layout)
    }

    /// Memory for a slot of this layout, which has no gaps.
    pub(crate) fn place_fresh(&mut self, slot: Slot, layout: Layout) -> Result<Place, Fault> {
        let bytes = byte_count(&layout.dims, self.itemsize(slot))?;
        let bases = self.program.bases;
        let place = match (&mut self.arena, self.program.liveness.in_output[slot.index()]) {
            (Some(_), Some(output)) => Place::start(bases.outputs() + output),
            (Some(arena), None) => {
                let guards = &mut self.state.guards;
                let start = arena.take(guards.around(bytes)?)? + guards.width();
                let place = Place { base: bases.arena, offset: start as i64 };
                let made_by = self.program.slots[slot.index()].made_by;
                guards.plan(Guarded { slot, place, bytes, made_by, until: None });
                place
            }
            (None, _) => {
                let guards = &self.state.guards;
                let block = self.state.pool.take(guards.around(bytes)?)?;
                let start = block.as_ptr().wrapping_add(guards.width());
                // SAFETY: the block has room for the zones.
                unsafe { guards.lay(start, bytes) };
                let base = bases.slots + slot.index();
                self.state.bases[base] = start;
                self.state.blocks[slot.index()] = Some(block);
                Place::start(base)
            }
        };
        self.state.slots[slot.index()] = SlotState { place, layout, bytes };
        Ok(place)
    }

    /// The memory of another slot.
    pub(super) fn place_view(&mut self, of: Slot, to: Slot, offset: i64, layout: Layout) {
        let mut place = self.slot(of).place;
        place.offset += offset;
        self.state.slots[to.index()] = SlotState { place, layout, bytes: 0 };
    }

    /// Places a slot in the memory of the operand that it may be made over, if there is one and its
    /// elements do not overlap.
    pub(super) fn place_over(&mut self, of: Slot, to: Slot) -> bool {
        let over = self.program.liveness.over[to.index()] == Some(of);
        if !over || !self.layout(of).is_apart(self.itemsize(of)) {
            return false;
        }
        self.place_view(of, to, 0, self.layout(of).clone());
        true
    }

    /// Places a slot that starts as an operand, laid out so: in the memory of that if it may be made
    /// over it and lies so, else in fresh memory. Whether it is the first.
    pub(super) fn place_on(
        &mut self,
        of: Slot,
        to: Slot,
        layout: Layout,
    ) -> Result<(Place, bool), Fault> {
        if *self.layout(of) == layout && self.place_over(of, to) {
            return Ok((self.slot(to).place, true));
        }
        Ok((self.place_fresh(to, layout)?, false))
    }

    /// Gives a result of a loop the memory of an operand that dies in it and lies there as the result
    /// would, element for element, if there is one. `lies(position)` tells whether a read does.
    pub(super) fn inherit(
        &mut self,
        code: &Loop,
        slot: Slot,
        layout: &Layout,
        lies: impl Fn(usize) -> bool,
    ) -> Option<Place> {
        let liveness = &self.program.liveness;
        if liveness.in_output[slot.index()].is_some() {
            return None;
        }
        let bytes = byte_count(&layout.dims, self.itemsize(slot)).ok()?;
        let owner = |slot: Slot| liveness.owners[slot.index()];
        // Operands with indices are read anywhere at any time.
        let indexed = |slot: Slot| {
            let mut sources = code.sources.iter().map(|source| source.slot);
            let mut targets = code.targets.iter().map(|target| target.of);
            sources.any(|of| owner(of) == slot) || targets.any(|of| owner(of) == slot)
        };
        let heir_of = |dying: Slot| {
            if indexed(owner(dying)) {
                return false;
            }
            let given = self.slot(owner(dying));
            let fits = given.bytes == bytes && given.place == self.slot(dying).place;
            let mut reads = code.reads.iter().enumerate();
            let same = reads.all(|(at, read)| {
                let apart = owner(read.slot) != owner(dying);
                apart || (lies(at) && self.slot(read.slot).place == given.place)
            });
            fits && same && self.itemsize(dying) == self.itemsize(slot)
        };
        if bytes == 0 {
            return None;
        }
        let dying = liveness.dying[slot.index()].iter().copied().find(|&dying| heir_of(dying))?;
        let from = owner(dying).index();
        let mut place = self.state.slots[from].place;
        if place.base >= self.program.bases.slots {
            if self.arena.is_some() {
                return None;
            }
            // Blocks are released by the number of their slot.
            place.base = self.program.bases.slots + slot.index();
            self.state.bases[place.base] = self.state.bases[self.program.bases.slots + from];
            self.state.blocks[slot.index()] = self.state.blocks[from].take();
        } else if place.base == self.program.bases.arena && self.arena.is_none() {
            // The arena has been given out for the whole run already.
            return None;
        }
        self.state.slots[from].bytes = 0;
        self.state.slots[slot.index()] = SlotState { place, layout: layout.clone(), bytes };
        Some(place)
    }

    pub(super) fn need_scratch(&mut self, bytes: usize) {
        let bytes = bytes + 2 * self.state.guards.width();
        self.state.scratch_bytes = self.state.scratch_bytes.max(bytes);
    }
}
