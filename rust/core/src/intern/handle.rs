//! Handles to interned values, strong and weak.

use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

use super::interner::{Interned, intern};
use super::sync::{AtomicU32, fence};

/// More handles than this is a leak; a count that wrapped around would free a value in use.
const MAX_REFERENCES: u32 = u32::MAX / 2;

/// A value in memory.
///
/// The order of the fields: those that handles and lookups read often lie together at the end, behind the part of the
/// value that users read least. Chains are freed from the last value to the first, so the processor goes down through
/// memory.
#[repr(C)]
pub(super) struct Slot<T: Interned> {
    pub(super) value: T,
    pub(super) home: Home<T>,
    references: AtomicU32,
    pub(super) number: u32,
    /// The number of slots that had this number before.
    pub(super) generation: u32,
    /// Whether the value lives as long as the process, so that its handles need not be counted.
    pub(super) lasting: bool,
}

impl<T: Interned> Slot<T> {
    /// A slot with one handle, which has no number yet.
    pub(super) fn new(owner: &Arc<T::Owner>, value: T) -> Slot<T> {
        Slot {
            references: AtomicU32::new(1),
            number: 0,
            generation: 0,
            lasting: false,
            home: Home::of(owner),
            value,
        }
    }

    /// Counts one more handle of a slot that is linked, unless it is dying.
    pub(super) fn revive(&self) -> bool {
        if self.lasts() {
            return true;
        }
        let count = self.references.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |count| {
            // Zero means dying: it must not rise again.
            (count != 0).then(|| count + 1)
        });
        if count.is_ok_and(|count| count > MAX_REFERENCES) {
            std::process::abort();
        }
        count.is_ok()
    }

    /// Whether handles are not counted. For kinds without lasting values the compiler knows the answer.
    fn lasts(&self) -> bool {
        T::LASTING > 0 && self.lasting
    }
}

impl<T: Interned> Deref for Slot<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

/// The owner that a value lives in.
pub(super) struct Home<T: Interned>(NonNull<T::Owner>);

impl<T: Interned> Home<T> {
    fn of(owner: &Arc<T::Owner>) -> Home<T> {
        Home(NonNull::from(&**owner))
    }

    /// The owner, for as long as the slot lives from which the caller got this.
    pub(super) fn owner(&self) -> &T::Owner {
        // SAFETY: while there is a slot of a shard, the shard owns a count of the owner (`Content::slots`).
        // Test: `a_node_keeps_its_storage`.
        unsafe { self.0.as_ref() }
    }

    /// The owner, counted.
    fn counted(&self) -> Arc<T::Owner> {
        let pointer = self.0.as_ptr();
        // SAFETY: the pointer is that of an `Arc`, which has a count left, as above; the new `Arc` owns the one
        // that is added here. Test: `a_node_keeps_its_storage`.
        unsafe {
            Arc::increment_strong_count(pointer);
            Arc::from_raw(pointer)
        }
    }

    /// The owner, not kept alive.
    fn weak(&self) -> Weak<T::Owner> {
        // SAFETY: the pointer is that of an `Arc`, which has a count left, as above; the one that is made here never
        // gives it back. Test: `weak_handles_race_with_release`.
        let owner = ManuallyDrop::new(unsafe { Arc::from_raw(self.0.as_ptr()) });
        Arc::downgrade(&owner)
    }

    /// The count that a shard owned; to be called when its last slot goes.
    pub(super) fn release(&self) -> Arc<T::Owner> {
        // SAFETY: `intern` forgot one handle when the shard's first slot came, and this takes it back, once: both
        // happen under the shard's lock, as its number of slots leaves and reaches zero.
        // Test: `a_node_keeps_its_storage`.
        unsafe { Arc::from_raw(self.0.as_ptr()) }
    }
}

/// A handle to an interned value. Two handles to equal values of one owner are equal pointers.
pub(crate) struct Handle<T: Interned>(pub(super) NonNull<Slot<T>>);

// SAFETY: a slot is immutable but for its atomic count, and the value and its owner are Send and Sync, which
// `Interned` requires. `threads_share_nodes` moves and shares handles.
unsafe impl<T: Interned> Send for Handle<T> {}
// SAFETY: as above; shared access only reads the value and the atomic count.
unsafe impl<T: Interned> Sync for Handle<T> {}

impl<T: Interned> Handle<T> {
    /// Bytes of a value and of the data beside it.
    #[cfg(not(feature = "shuttle"))]
    pub(crate) const SLOT_BYTES: usize = size_of::<Slot<T>>();

    /// The value of `owner` that equals `value`: the living one, or `value` itself.
    pub(crate) fn intern(owner: &Arc<T::Owner>, value: T) -> Handle<T> {
        intern(owner, value)
    }

    fn slot(&self) -> &Slot<T> {
        // SAFETY: a handle counts as one reference, or the slot is never freed, so the slot outlives the handle; see
        // the first paragraph of `intern`. Reached by every test that interns.
        unsafe { self.0.as_ref() }
    }

    /// The owner of the value.
    pub(crate) fn owner(&self) -> &T::Owner {
        self.slot().home.owner()
    }

    /// The owner of the value, counted.
    pub(crate) fn counted_owner(&self) -> Arc<T::Owner> {
        self.slot().home.counted()
    }

    /// Whether the value lives in `owner`.
    pub(crate) fn lives_in(&self, owner: &Arc<T::Owner>) -> bool {
        // Addresses are compared, and nothing is read: the memory there changes often.
        self.slot().home.0 == Home::<T>::of(owner).0
    }

    /// Whether the value lives where `other` does.
    pub(crate) fn lives_with(&self, other: &Handle<T>) -> bool {
        self.slot().home.0 == other.slot().home.0
    }

    /// A number that no other live value of the owner has: dense, and used again after the value died.
    pub(crate) fn number(&self) -> u32 {
        self.slot().number
    }

    /// A number that no other live value has; it says nothing else.
    pub(crate) fn address(&self) -> usize {
        self.0.as_ptr() as usize
    }

    /// Whether the value goes with its last handle.
    pub(crate) fn is_counted(&self) -> bool {
        !self.slot().lasts()
    }

    /// A handle that does not keep the value alive.
    pub(crate) fn downgrade(&self) -> WeakHandle<T> {
        let slot = self.slot();
        WeakHandle {
            pointer: self.0,
            owner: slot.home.weak(),
            hash: slot.hash(),
            number: slot.number,
            generation: slot.generation,
        }
    }

    /// Gives up this handle; returns the slot if it was the last one, for the caller to reclaim.
    #[inline]
    pub(super) fn release(self) -> Option<NonNull<Slot<T>>> {
        let this = ManuallyDrop::new(self);
        if this.slot().lasts() {
            return None;
        }
        // Release: all uses of the value by this thread happen before its last owner frees it.
        let before = this.slot().references.fetch_sub(1, Ordering::Release);
        debug_assert_ne!(before, 0, "a handle of a value that is dying");
        if before != 1 {
            return None;
        }
        // Acquire: the thread that frees sees the uses by all other threads.
        fence(Ordering::Acquire);
        Some(this.0)
    }
}

impl<T: Interned> Deref for Handle<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.slot()
    }
}

impl<T: Interned> Clone for Handle<T> {
    fn clone(&self) -> Handle<T> {
        let slot = self.slot();
        // Relaxed is enough: the new handle comes from one that is alive.
        if !slot.lasts() && slot.references.fetch_add(1, Ordering::Relaxed) > MAX_REFERENCES {
            std::process::abort();
        }
        Handle(self.0)
    }
}

impl<T: Interned> PartialEq for Handle<T> {
    fn eq(&self, other: &Handle<T>) -> bool {
        self.0 == other.0
    }
}

impl<T: Interned> Eq for Handle<T> {}

/// A handle that does not keep its value alive.
///
/// The number of a value, together with the count of values that had this number before, identifies the value among
/// all that ever were in its place.
pub(crate) struct WeakHandle<T: Interned> {
    pointer: NonNull<Slot<T>>,
    owner: Weak<T::Owner>,
    hash: u64,
    number: u32,
    generation: u32,
}

// SAFETY: the pointer is only compared; only the table's pointer is followed, under the shard's lock. The value may
// be shared between threads, as for `Handle`. Test: `weak_handles_race_with_release`.
unsafe impl<T: Interned> Send for WeakHandle<T> {}
// SAFETY: as above.
unsafe impl<T: Interned> Sync for WeakHandle<T> {}

impl<T: Interned> Clone for WeakHandle<T> {
    fn clone(&self) -> WeakHandle<T> {
        WeakHandle { owner: Weak::clone(&self.owner), ..*self }
    }
}

impl<T: Interned> WeakHandle<T> {
    /// Whether it is a handle to the value of `handle`.
    pub(crate) fn is(&self, handle: &Handle<T>) -> bool {
        let slot = handle.slot();
        // The weak count keeps the owner's address from being another's.
        self.pointer == handle.0
            && std::ptr::eq(self.owner.as_ptr(), slot.home.0.as_ptr())
            && (self.number, self.generation) == (slot.number, slot.generation)
    }

    /// The value, if it is still alive.
    pub(crate) fn upgrade(&self) -> Option<Handle<T>> {
        // Dropped last: the owner's last handle must not go under its shard's lock.
        let owner = self.owner.upgrade()?;
        let content = T::interner(&owner).shard(self.hash).content.lock();
        // A slot that is not linked is dying, or gone, or another's now.
        let linked = content.slots_by_hash.get(self.hash, |linked| linked.0 == self.pointer)?;
        let slot = linked.get();
        if (slot.number, slot.generation) != (self.number, self.generation) {
            return None;
        }
        // A handle is made only of a slot that counts it: the drop of any other would count below zero.
        linked.handle()
    }
}
