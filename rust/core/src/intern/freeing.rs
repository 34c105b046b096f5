//! How values are freed: by the thread that drops the last handle, and without recursion.

use std::ptr::NonNull;

use smallvec::SmallVec;

use super::handle::{Handle, Slot};
use super::interner::Interned;

impl<T: Interned> Handle<T> {
    /// Gives up this handle and frees at most `limit` values now; the result frees the others when it is dropped.
    pub(crate) fn drop_some(self, limit: usize) -> Option<Debris<T>> {
        let mut debris = Debris::default();
        debris.take([self]);
        debris.reclaim(limit);
        (!debris.0.is_empty()).then_some(debris)
    }
}

impl<T: Interned> Drop for Handle<T> {
    fn drop(&mut self) {
        if let Some(last) = Handle(self.0).release() {
            Debris(SmallVec::from_slice(&[last])).reclaim(usize::MAX);
        }
    }
}

/// Values without handles that are not freed yet: dropping it frees them, and whatever only they kept alive.
pub(crate) struct Debris<T: Interned>(SmallVec<[NonNull<Slot<T>>; 8]>);

// SAFETY: no other thread may use these slots: their counts are zero and stay so. The content of a slot is Send, as
// for a handle. Test: `a_chain_is_dropped_in_two_parts`.
unsafe impl<T: Interned> Send for Debris<T> {}

impl<T: Interned> Default for Debris<T> {
    fn default() -> Debris<T> {
        Debris(SmallVec::new())
    }
}

impl<T: Interned> Debris<T> {
    /// Gives up handles.
    #[inline]
    pub(crate) fn take(&mut self, handles: impl IntoIterator<Item = Handle<T>>) {
        for handle in handles {
            if let Some(last) = handle.release() {
                self.0.push(last);
            }
        }
    }

    /// Frees values without recursion; `limit` of them at most.
    fn reclaim(&mut self, limit: usize) {
        for _ in 0..limit {
            let Some(pointer) = self.0.pop() else { return };
            let owner = {
                // SAFETY: the count is zero and stays zero, so this thread alone frees the slot, which is still whole.
                // The reference ends before the slot is taken apart. Test: `a_deep_chain_drops_without_recursion`.
                let slot = unsafe { pointer.as_ref() };
                let owner = slot.home.owner();
                slot.leave(pointer.as_ptr() as usize, owner, self);
                T::interner(owner).shard(slot.hash()).unlink(pointer, slot)
            };
            // SAFETY: the slot came from `Box::leak` in `intern`, no handle is left, and no table points to it any
            // more, so no lookup can read it. Test: as above, and `equal_nodes_are_one_while_alive`.
            let mut slot = unsafe { Box::from_raw(pointer.as_ptr()) };
            slot.value.dismantle(self);
            drop(slot);
            drop(owner);
        }
    }
}

impl<T: Interned> Drop for Debris<T> {
    fn drop(&mut self) {
        self.reclaim(usize::MAX);
    }
}
