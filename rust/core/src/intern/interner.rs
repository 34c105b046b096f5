//! The tables of an owner, in shards, where its interned values are found.

use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::fork::{self, Held, Locks};
use super::freeing::Debris;
use super::handle::{Handle, Slot};
use super::sync::{AtomicU32, Mutex};
use super::table::{Found, Table};

/// A kind of value that is interned: an owner has one of all equal values.
pub(crate) trait Interned: Send + Sync + Sized + 'static {
    /// The owner of the values. It lives as long as any of them.
    type Owner: Send + Sync + 'static;

    /// A power of two; enough that threads rarely meet in one shard.
    const SHARDS: usize = if cfg!(feature = "shuttle") { 2 } else { 64 };

    /// The number of values that live as long as the process. Their handles are not counted, so threads do not meet at
    /// the counts of values that all programs are made of.
    const LASTING: u32 = 0;

    /// The interner of an owner.
    fn interner(owner: &Self::Owner) -> &Interner<Self>;

    /// The same for equal values.
    fn hash(&self) -> u64;

    /// Whether two values with the same hash are equal. It is called under a lock, so it runs no foreign code.
    fn same(&self, other: &Self) -> bool;

    /// Whether the value may be one of those that last.
    fn may_last(&self) -> bool {
        true
    }

    /// Removes the data that the owner keeps for a dying value under its address, while no other value can have that
    /// address.
    fn leave(&self, _address: usize, _owner: &Self::Owner, _debris: &mut Debris<Self>) {}

    /// Gives up the handles of its own kind, so that a long chain of values is freed without recursion.
    fn dismantle(&mut self, _debris: &mut Debris<Self>) {}
}

/// [`Interned::LASTING`] of the values that all programs share.
pub(crate) const LASTING: u32 = if cfg!(feature = "shuttle") { 1 } else { 4096 };

/// The values of one kind that an owner has.
pub(crate) struct Interner<T: Interned> {
    /// In memory of their own: weak handles keep that of the owner itself.
    shards: Box<[Shard<T>]>,
    hints: Box<[Hint]>,
    /// The number of values that last.
    lasting: AtomicU32,
}

impl<T: Interned> Interner<T> {
    /// An interner that lives as long as the process, whose locks forks wait for.
    pub(crate) fn of_process() -> Arc<Interner<T>> {
        let made = Arc::default();
        fork::add(&made);
        made
    }
}

impl<T: Interned> Default for Interner<T> {
    fn default() -> Interner<T> {
        Interner {
            shards: (0..T::SHARDS).map(|_| Shard::new()).collect(),
            hints: (0..T::SHARDS).map(|_| Hint::default()).collect(),
            lasting: AtomicU32::new(0),
        }
    }
}

impl<T: Interned> Interner<T> {
    /// Bytes of a shard.
    #[cfg(not(feature = "shuttle"))]
    pub(crate) const SHARD_BYTES: usize = size_of::<Shard<T>>();

    /// The shard for values with this hash.
    ///
    /// The table inside a shard uses the high bits; the low ones choose the shard.
    pub(super) fn shard(&self, hash: u64) -> &Shard<T> {
        &self.shards[hash as usize % T::SHARDS]
    }

    fn hint(&self, hash: u64) -> &Hint {
        &self.hints[hash as usize % T::SHARDS]
    }

    /// Prefetches the memory that a lookup of this hash reads.
    pub(super) fn prefetch(&self, hash: u64) {
        prefetch(std::ptr::from_ref(self.shard(hash)).addr());
        prefetch(self.hint(hash).address::<T>(hash));
    }

    /// Live values.
    pub(crate) fn len(&self) -> usize {
        self.shards.iter().map(|shard| shard.content.lock().slots_by_hash.len()).sum()
    }

    /// Bytes of the values and the tables, without memory that values hold outside their slots.
    pub(crate) fn bytes(&self) -> usize {
        self.shards.iter().map(Shard::bytes).sum()
    }

    /// Handles to all living values, in no order.
    pub(crate) fn living(&self) -> Vec<Handle<T>> {
        let mut living = Vec::new();
        for shard in &self.shards {
            let content = shard.content.lock();
            living.extend(content.slots_by_hash.iter().filter_map(SlotPointer::handle));
        }
        living
    }

    /// The living value with this hash that `same` accepts, which runs no foreign code.
    pub(crate) fn find(&self, hash: u64, mut same: impl FnMut(&T) -> bool) -> Option<Handle<T>> {
        let content = self.shard(hash).content.lock();
        content.slots_by_hash.get(hash, |linked| same(linked.get()))?.handle()
    }

    /// Whether one more value may last.
    fn takes_one_more(&self) -> bool {
        let taken = self.lasting.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |lasting| {
            (lasting < T::LASTING).then(|| lasting + 1)
        });
        taken.is_ok()
    }
}

impl<T: Interned> Locks for Interner<T> {
    fn hold<'a>(&'a self, _: &mut Vec<Arc<dyn Locks>>) -> Held<'a> {
        let guards: Vec<_> = self.shards.iter().map(|shard| shard.content.lock()).collect();
        Box::new(guards)
    }
}

/// One part of an interner. Its lock and what it guards fill one line of memory, and share it with nothing.
#[repr(align(64))]
pub(super) struct Shard<T: Interned> {
    pub(super) content: Mutex<Content<T>>,
}

pub(super) struct Content<T: Interned> {
    pub(super) slots_by_hash: Table<SlotPointer<T>>,
    /// Numbers that were given back, each with the generation of the next slot to get it. Under them may lie
    /// `NO_NUMBER`, with the generation of slots that get numbers from `next`.
    free: Vec<(u32, u32)>,
    /// The first of the numbers that no slot has and that are not among the free ones.
    next: u32,
    /// Slots that are not freed yet, linked or not. While there are any, the shard owns a count of its owner.
    slots: u32,
}

/// No slot has this number.
const NO_NUMBER: u32 = u32::MAX;

/// A table's pointer to a slot that it does not own.
pub(super) struct SlotPointer<T: Interned>(pub(super) NonNull<Slot<T>>);

impl<T: Interned> Clone for SlotPointer<T> {
    fn clone(&self) -> SlotPointer<T> {
        *self
    }
}

impl<T: Interned> Copy for SlotPointer<T> {}

// SAFETY: the pointer is only followed under the shard's lock, while the slot is linked and so not freed.
// Test: `threads_share_nodes`.
unsafe impl<T: Interned> Send for SlotPointer<T> {}

impl<T: Interned> SlotPointer<T> {
    /// The slot, readable while the table that holds this pointer is locked.
    pub(super) fn get(&self) -> &Slot<T> {
        // SAFETY: a linked slot is freed only after `unlink` took the lock that the caller holds.
        // Test: `threads_share_nodes`.
        unsafe { self.0.as_ref() }
    }

    /// One more handle, unless the value is dying. The caller holds the lock of the table.
    pub(super) fn handle(&self) -> Option<Handle<T>> {
        self.get().revive().then(|| Handle(self.0))
    }
}

impl<T: Interned> Shard<T> {
    fn new() -> Shard<T> {
        let content = Content { slots_by_hash: Table::new(), free: Vec::new(), next: 0, slots: 0 };
        Shard { content: Mutex::new(content) }
    }

    fn bytes(&self) -> usize {
        let content = self.content.lock();
        content.slots_by_hash.len() * size_of::<Slot<T>>()
            + content.slots_by_hash.bytes()
            + content.free.capacity() * size_of::<(u32, u32)>()
    }

    /// Takes a dying slot out of the table, unless another has taken its place, and frees its number.
    ///
    /// Returns the owner if nothing here needs it any longer.
    ///
    /// If other slots are left, only their count keeps the shard while the lock is given back. The next
    /// thread to lock it may unlink the last of them and free the shard with its owner, and do so while this one is
    /// still within the unlocking. That is sound because a thread that unlocks a lock of `sync` touches the lock no
    /// more after the one write that lets the next thread in. If a thread waits, it then wakes the lock's address,
    /// which is only a number to the system; any other thread that waits at that address by then looks again. A lock
    /// of another kind must keep this law, or `unlink` must count the owner before it locks, at the cost of two more
    /// writes for each value that is freed.
    pub(super) fn unlink(
        &self,
        pointer: NonNull<Slot<T>>,
        slot: &Slot<T>,
    ) -> Option<Arc<T::Owner>> {
        let mut content = self.content.lock();
        let smaller = content.slots_by_hash.remove(slot.hash(), |linked| linked.0 == pointer);
        // A number whose generations are used up is never given out again.
        if let Some(generation) = slot.generation.checked_add(1) {
            content.free.push((slot.number, generation));
        }
        content.slots -= 1;
        // Most numbers are free: those above the highest one in use need not be kept.
        let highest = content.next == position::<T>(slot.number) + 1;
        if smaller || highest && content.free.len() > 2 * content.slots as usize + 16 {
            content.forget_high_numbers();
        }
        (content.slots == 0).then(|| slot.home.release())
    }
}

/// The value equal to `value` that `owner` has: the living one, or `value`.
///
/// A lookup in a large table waits for memory. So the memory is prefetched at once, and a slot is made meanwhile,
/// although the value may turn out to exist. This also holds the lock for the least time.
pub(super) fn intern<T: Interned>(owner: &Arc<T::Owner>, value: T) -> Handle<T> {
    let (interner, hash) = (T::interner(owner), value.hash());
    interner.prefetch(hash);
    let mut made = Box::new(Slot::new(owner, value));
    let mut content = interner.shard(hash).content.lock();
    let found = content.slots_by_hash.find(hash, |linked| linked.get().same(&made));
    if let Found::Entry(_, linked) = found
        && let Some(living) = linked.handle()
    {
        // It may hold the last handles of other values: they are dropped outside the lock.
        drop(content);
        drop(made);
        return living;
    }
    (made.number, made.generation) = content.number(hash);
    made.lasting = T::LASTING > 0 && made.may_last() && interner.takes_one_more();
    if content.slots == 0 {
        std::mem::forget(Arc::clone(owner));
    }
    content.slots += 1;
    let pointer = NonNull::from(Box::leak(made));
    match found {
        Found::Entry(at, _) => content.slots_by_hash.replace(at, SlotPointer(pointer)),
        Found::Vacant(at) => {
            content.slots_by_hash.insert(at, hash, SlotPointer(pointer));
            interner.hint(hash).update(&content.slots_by_hash);
        }
    }
    Handle(pointer)
}

/// The rough address of a shard's table. It is read without the lock, and only to prefetch memory.
///
/// It changes as seldom as the table grows, so all threads may keep it in their caches.
#[derive(Default)]
struct Hint(AtomicUsize);

/// Addresses have fewer bits than this; above is the binary logarithm of the number of entries.
const ADDRESS_BITS: u32 = usize::BITS - 8;

impl Hint {
    /// The place for the entry of `hash`.
    fn address<T: Interned>(&self, hash: u64) -> usize {
        let hint = self.0.load(Ordering::Relaxed);
        let (start, exponent) = (hint & (usize::MAX >> 8), hint >> ADDRESS_BITS);
        start.wrapping_add(Table::<SlotPointer<T>>::offset(hash, exponent as u32))
    }

    fn update<T: Interned>(&self, table: &Table<SlotPointer<T>>) {
        let hint = table.address() | (table.exponent() as usize) << ADDRESS_BITS;
        if self.0.load(Ordering::Relaxed) != hint {
            self.0.store(hint, Ordering::Relaxed);
        }
    }
}

/// Prefetches the line of memory at `address`, which need not exist, for writing.
fn prefetch(address: usize) {
    // SAFETY: prefetching neither reads nor faults, whatever the address. Test: every test that interns.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        // Not `_mm_prefetch`, which asks to write only where the compiler is told that the processor can; all of 64
        // bits know the instruction, or pass over it.
        std::arch::asm!("prefetchw [{}]", in(reg) address, options(nostack, preserves_flags, readonly));
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// The count of numbers of its shard before a number.
fn position<T: Interned>(number: u32) -> u32 {
    number / T::SHARDS as u32
}

impl<T: Interned> Content<T> {
    /// A number that no slot has, and how many slots had it before.
    fn number(&mut self, hash: u64) -> (u32, u32) {
        if let Some(free) = self.free.pop_if(|(number, _)| *number != NO_NUMBER) {
            return free;
        }
        // Numbers interleave over the shards, so they stay dense over the owner.
        let shards = T::SHARDS as u32;
        let number = self.next.checked_mul(shards);
        let number = number.and_then(|base| base.checked_add((hash % shards as u64) as u32));
        let number = number.filter(|number| *number != NO_NUMBER);
        self.next += 1;
        (number.expect("fewer than 2^32 - 1 values are alive"), self.generation())
    }

    /// The generation of slots that get numbers from `next`.
    fn generation(&self) -> u32 {
        self.free
            .first()
            .filter(|(number, _)| *number == NO_NUMBER)
            .map_or(0, |&(_, generation)| generation)
    }

    /// Keeps no free numbers above those of all slots: they will come from `next` again.
    fn forget_high_numbers(&mut self) {
        let mut generation = self.generation();
        let free = self.free.len() - (generation > 0) as usize;
        // Slots whose places were taken by others are not seen here, and used up numbers must not come again.
        let linked = self.slots_by_hash.len();
        if self.slots as usize != linked || self.next as usize != free + linked {
            return;
        }
        let slots = self.slots_by_hash.iter();
        let highest = slots.map(|linked| position::<T>(linked.get().number)).max();
        self.next = highest.map_or(0, |highest| highest + 1);
        self.free.retain(|&(number, next)| {
            let kept = number != NO_NUMBER && position::<T>(number) < self.next;
            if !kept {
                generation = generation.max(next);
            }
            kept
        });
        if generation > 0 {
            self.free.insert(0, (NO_NUMBER, generation));
        }
        self.free.shrink_to_fit();
    }
}
