//! The interner: every node exists once, and dies with its last handle.
//!
//! A shard's table points to nodes without owning them. A handle's count that reaches zero never rises again:
//! a lookup that meets a node with count zero treats it as absent and puts a new node in its place. So exactly
//! one thread sees the last handle go, and that thread alone unlinks and frees the node. It unlinks under the
//! shard's lock, so a lookup, which holds the lock, never reads freed memory. Nothing foreign runs under the lock:
//! freeing (operands, payloads) happens after it is released.
//!
//! A shard owns one count of its container's storage while there is a slot that it made, so a node's pointer to where
//! it lives is good for the node's life. The last slot to go gives up that count, again outside the lock. No count is
//! kept per node, and what a lock guards shares a line of memory with it: threads that build different graphs
//! write to few lines of each other.
//!
//! This module holds all the crate's unsafe code.

use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

use smallvec::{SmallVec, smallvec};

use crate::container::{Container, SHARDS, Storage};
use crate::digest::Digest;
use crate::id::{NodeId, Origin};
use crate::lengths::Lengths;
use crate::node::{Body, Inputs, Var};
use crate::sync::{AtomicBool, AtomicU32, Mutex, MutexGuard, fence};
use crate::table::{Found, Table};
use crate::ty::Signature;

/// More handles than this is a leak; a count that wrapped around would free a node in use.
const MAX_REFERENCES: u32 = u32::MAX / 2;

/// A node in memory.
struct Slot {
    references: AtomicU32,
    id: NodeId,
    /// How often the number was given back before this slot got it.
    generation: u32,
    origin: Origin,
    digest: Digest,
    home: Home,
    signature: Signature,
    persistable: bool,
    /// Whether the container's table of lengths knows some of the node.
    measured: AtomicBool,
    body: Body,
}

#[cfg(target_pointer_width = "64")]
#[cfg(not(feature = "shuttle"))]
const _: () = assert!(size_of::<Slot>() == 120);

/// A handle to a node. Two handles to equal nodes of one container are equal pointers.
pub struct Node(NonNull<Slot>);

/// Where a node lives.
#[derive(Clone, Copy)]
struct Home(NonNull<Storage>);

impl Home {
    fn of(storage: &Arc<Storage>) -> Home {
        Home(NonNull::from(&**storage))
    }

    /// The storage, for as long as the slot that the caller got this from.
    fn storage(&self) -> &Storage {
        // SAFETY: while there is a slot of a shard, the shard owns a count of the storage (`Content::slots`).
        // Test: `a_node_keeps_its_storage`.
        unsafe { self.0.as_ref() }
    }

    /// The storage, counted.
    fn counted(&self) -> Arc<Storage> {
        let pointer = self.0.as_ptr();
        // SAFETY: the pointer is that of an `Arc`, which has a count left, as above; the new `Arc` owns the one
        // that is added here. Test: `a_node_keeps_its_storage`.
        unsafe {
            Arc::increment_strong_count(pointer);
            Arc::from_raw(pointer)
        }
    }

    /// The count that a shard owned; to be called when its last slot goes.
    fn release(self) -> Arc<Storage> {
        // SAFETY: `intern` forgot one handle when the shard's first slot came, and this takes it back, once: both
        // happen under the shard's lock, as its number of slots leaves and reaches zero.
        // Test: `a_node_keeps_its_storage`.
        unsafe { Arc::from_raw(self.0.as_ptr()) }
    }
}

// SAFETY: a slot is immutable but for its atomic count, and its fields (Body, the storage, ...) are Send and Sync;
// the payload and the ops' faces are required to be. `tests::threads_share_nodes` moves and shares handles.
unsafe impl Send for Node {}
// SAFETY: as above; shared access only reads the immutable fields and the atomic count.
unsafe impl Sync for Node {}

impl Node {
    fn slot(&self) -> &Slot {
        // SAFETY: a handle counts as one reference, so the slot outlives it; see the module's first paragraph.
        // Reached by every test below.
        unsafe { self.0.as_ref() }
    }

    /// What the node is.
    pub fn body(&self) -> &Body {
        &self.slot().body
    }

    /// The operands; none for leaves.
    pub fn inputs(&self) -> &[Var] {
        match self.body() {
            Body::Apply { inputs, .. } => inputs,
            _ => &[],
        }
    }

    /// The output types.
    pub fn signature(&self) -> Signature {
        self.slot().signature
    }

    /// The Merkle digest.
    pub fn digest(&self) -> Digest {
        self.slot().digest
    }

    /// The dense number within the container.
    pub fn id(&self) -> NodeId {
        self.slot().id
    }

    /// Where the user's code first built the node.
    pub fn origin(&self) -> Origin {
        self.slot().origin
    }

    /// Whether the digest means the same node in another process.
    pub fn persistable(&self) -> bool {
        self.slot().persistable
    }

    /// The container that the node lives in.
    pub fn container(&self) -> Container {
        Container::of(self.slot().home.counted())
    }

    /// The number of the container that the node lives in.
    pub(crate) fn container_number(&self) -> u64 {
        self.slot().home.storage().number()
    }

    /// Whether the node lives in `storage`.
    pub(crate) fn lives_in(&self, storage: &Arc<Storage>) -> bool {
        // Addresses are compared, and nothing is read: what lies there changes often.
        self.slot().home.0 == Home::of(storage).0
    }

    /// Whether the node lives where `other` does.
    pub(crate) fn lives_with(&self, other: &Node) -> bool {
        self.slot().home.0 == other.slot().home.0
    }

    /// The lengths of the outputs, if they were found before.
    pub fn lengths(&self) -> Option<Arc<Lengths>> {
        let slot = self.slot();
        // Relaxed is enough: the table's lock orders what it guards.
        let measured = slot.measured.load(Ordering::Relaxed);
        measured.then(|| slot.home.storage().lengths().get(self)).flatten()
    }

    /// Keeps the lengths of the outputs for as long as the node lives; returns whether it does.
    ///
    /// Those that were there first stay; those that would keep the node itself alive, or another container, are
    /// not kept.
    pub fn remember_lengths(&self, lengths: Lengths) -> bool {
        let slot = self.slot();
        let kept = slot.home.storage().lengths().remember(self, Arc::new(lengths));
        // Also where another thread was first, which may not have come to say so yet.
        slot.measured.store(true, Ordering::Relaxed);
        kept
    }

    /// The outputs, in order.
    pub fn outputs(&self) -> impl ExactSizeIterator<Item = Var> {
        (0..self.signature().types().len() as u32).map(|index| Var::new(self.clone(), index))
    }

    /// A number that no other live node has; it says nothing else.
    pub fn address(&self) -> usize {
        self.0.as_ptr() as usize
    }

    /// A handle that does not keep the node alive.
    pub(crate) fn downgrade(&self) -> WeakNode {
        let slot = self.slot();
        WeakNode {
            pointer: self.0,
            home: Arc::downgrade(&slot.home.counted()),
            hash: slot.digest.short(),
            id: slot.id,
            generation: slot.generation,
        }
    }

    /// Gives up this handle and frees at most `limit` nodes now; what is returned frees the others.
    ///
    /// For those who hold a lock of their own that a large graph must not keep from others.
    pub fn drop_some(self, limit: usize) -> Option<Debris> {
        let mut debris = Debris(smallvec![self.release()?]);
        reclaim(&mut debris.0, limit);
        (!debris.0.is_empty()).then_some(debris)
    }

    /// Gives up this handle; returns the slot if it was the last one, for the caller to reclaim.
    fn release(self) -> Option<NonNull<Slot>> {
        let this = ManuallyDrop::new(self);
        // Release: what this thread did with the node happens before the last owner frees it.
        let before = this.slot().references.fetch_sub(1, Ordering::Release);
        debug_assert_ne!(before, 0, "a handle of a node that is dying");
        if before != 1 {
            return None;
        }
        // Acquire: and what the others did is visible to the one who frees.
        fence(Ordering::Acquire);
        Some(this.0)
    }
}

impl Clone for Node {
    fn clone(&self) -> Node {
        // Relaxed is enough: the new handle comes from one that is alive.
        if self.slot().references.fetch_add(1, Ordering::Relaxed) > MAX_REFERENCES {
            std::process::abort();
        }
        Node(self.0)
    }
}

impl PartialEq for Node {
    fn eq(&self, other: &Node) -> bool {
        self.0 == other.0
    }
}

impl Eq for Node {}

impl Drop for Node {
    fn drop(&mut self) {
        if let Some(last) = Node(self.0).release() {
            reclaim(&mut smallvec![last], usize::MAX);
        }
    }
}

/// Nodes without references that are not freed yet: dropping it frees them, and whatever only they kept alive.
pub struct Debris(SmallVec<[NonNull<Slot>; 8]>);

// SAFETY: nobody else has a right to these slots: their counts are zero and stay so. What is in a slot is Send, as
// for a node. Test: `a_chain_is_dropped_in_two_parts`.
unsafe impl Send for Debris {}

impl Drop for Debris {
    fn drop(&mut self) {
        reclaim(&mut self.0, usize::MAX);
    }
}

/// Frees nodes without references, and whatever only they kept alive, without recursion; `limit` of them at most.
fn reclaim(pending: &mut SmallVec<[NonNull<Slot>; 8]>, limit: usize) {
    for _ in 0..limit {
        let Some(pointer) = pending.pop() else { return };
        let (lengths, storage) = {
            // SAFETY: the count is zero and stays zero, so this thread alone frees the slot, which is still whole.
            // The reference ends before the slot is taken apart. Test: `a_deep_chain_drops_without_recursion`.
            let slot = unsafe { pointer.as_ref() };
            let storage = slot.home.storage();
            let measured = slot.measured.load(Ordering::Relaxed);
            // While the slot is there, no other has its address.
            let lengths =
                measured.then(|| storage.lengths().forget(pointer.as_ptr() as usize)).flatten();
            (lengths, storage.shard(slot.digest.short()).unlink(pointer, slot))
        };
        // SAFETY: the slot came from `Box::into_raw` in `Shard::intern`, no handle is left, and no table points to
        // it any more, so no lookup can read it. Test: as above, and `equal_nodes_are_one_while_alive`.
        let mut slot = unsafe { Box::from_raw(pointer.as_ptr()) };
        if let Body::Apply { inputs, .. } = &mut slot.body {
            let inputs: Inputs = std::mem::take(inputs);
            pending.extend(inputs.into_iter().filter_map(|input| input.into_node().release()));
        }
        if let Some(lengths) = lengths {
            pending.extend(lengths.into_nodes().filter_map(Node::release));
        }
        drop(slot);
        drop(storage);
    }
}

/// A handle that does not keep its node alive.
///
/// A node's number and how often that number was given back before tell it from every node that ever was in its
/// place.
#[derive(Clone)]
pub(crate) struct WeakNode {
    pointer: NonNull<Slot>,
    home: Weak<Storage>,
    hash: u64,
    id: NodeId,
    generation: u32,
}

// SAFETY: the pointer is only compared; what is followed is the table's, under the shard's lock. What it points to
// may be shared between threads, as for `Node`. Test: `weak_handles_race_with_release`.
unsafe impl Send for WeakNode {}
// SAFETY: as above.
unsafe impl Sync for WeakNode {}

impl WeakNode {
    /// The node, if it is still alive.
    pub(crate) fn upgrade(&self) -> Option<Node> {
        // Dropped last: the storage's last handle must not go under its shard's lock.
        let home = self.home.upgrade()?;
        let content = home.shard(self.hash).content.lock();
        // A slot that is not linked is dying, or gone, or another's now.
        let linked = content.nodes.get(self.hash, |linked| linked.0 == self.pointer)?;
        let slot = linked.get();
        if (slot.id, slot.generation) != (self.id, self.generation) {
            return None;
        }
        // A handle is made only of a slot that counts it: the drop of any other would count below zero.
        revive(slot).then(|| Node(linked.0))
    }
}

/// Counts one more handle of a slot that is linked, unless it is dying.
fn revive(slot: &Slot) -> bool {
    let count = slot.references.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |count| {
        // Zero means dying: it must not rise again.
        (count != 0).then(|| count + 1)
    });
    if count.is_ok_and(|count| count > MAX_REFERENCES) {
        std::process::abort();
    }
    count.is_ok()
}

/// What a lookup compares and a new node is made of.
pub(crate) struct Key {
    pub(crate) body: Body,
    pub(crate) signature: Signature,
    pub(crate) digest: Digest,
    pub(crate) origin: Origin,
}

/// One part of a container's table. Its lock and what it guards fill one line of memory, and share it with nothing.
#[repr(align(64))]
pub(crate) struct Shard {
    content: Mutex<Content>,
}

#[cfg(not(feature = "shuttle"))]
const _: () = assert!(size_of::<Shard>() == 64);

struct Content {
    nodes: Table<SlotPointer>,
    /// Numbers that were given back, each with the generation of the next slot to get it. Under them may lie `NO_NUMBER`,
    /// with the generation of slots that get numbers from `next`.
    free: Vec<(NodeId, u32)>,
    /// Where numbers begin that no slot has, and that are not among the free ones.
    next: u32,
    /// Slots that are not freed yet, linked or not. While there are any, the shard owns a count of its storage.
    slots: u32,
}

/// No slot has this number.
const NO_NUMBER: NodeId = NodeId(u32::MAX);

/// A table's pointer to a slot that it does not own.
#[derive(Clone, Copy)]
struct SlotPointer(NonNull<Slot>);

// SAFETY: the pointer is only followed under the shard's lock, while the slot is linked and so not freed.
// Test: `threads_share_nodes`.
unsafe impl Send for SlotPointer {}

impl SlotPointer {
    /// The slot, readable while the table that holds this pointer is locked.
    fn get(&self) -> &Slot {
        // SAFETY: a linked slot is freed only after `unlink` took the lock that the caller holds.
        // Test: `threads_share_nodes`.
        unsafe { self.0.as_ref() }
    }
}

impl Shard {
    pub(crate) fn new() -> Shard {
        let content = Content { nodes: Table::new(), free: Vec::new(), next: 0, slots: 0 };
        Shard { content: Mutex::new(content) }
    }

    /// The lock, for who forks.
    pub(crate) fn hold(&self) -> MutexGuard<'_, impl Sized> {
        self.content.lock()
    }

    /// Live nodes.
    pub(crate) fn len(&self) -> usize {
        self.content.lock().nodes.len()
    }

    /// Bytes held by the nodes and the table, without what nodes hold outside their slots.
    pub(crate) fn bytes(&self) -> usize {
        let content = self.content.lock();
        content.nodes.len() * size_of::<Slot>()
            + content.nodes.bytes()
            + content.free.capacity() * size_of::<(NodeId, u32)>()
    }

    /// Takes a dying node out of the table, unless another has taken its place, and frees its number.
    ///
    /// Returns the storage if nothing here needs it any longer.
    ///
    /// Where other slots are left, nothing but their count keeps the shard while the lock is given back. The next
    /// thread to lock it may unlink the last of them and free the shard with the storage, and do so while this one is
    /// still within the unlocking. That is sound because a thread that unlocks a lock of `sync` touches the lock no
    /// more after the one write that lets the next thread in: where somebody waits it goes on to wake the lock's
    /// address, for the system but a number, and whoever else waits at that address by then looks again. A lock of
    /// another kind must keep this law, or `unlink` must count the storage before it locks, at two more writes for each
    /// node that is freed.
    fn unlink(&self, pointer: NonNull<Slot>, slot: &Slot) -> Option<Arc<Storage>> {
        let mut content = self.content.lock();
        let smaller = content.nodes.remove(slot.digest.short(), |linked| linked.0 == pointer);
        // A number whose generations are used up is never given out again.
        if let Some(generation) = slot.generation.checked_add(1) {
            content.free.push((slot.id, generation));
        }
        content.slots -= 1;
        // Little but free numbers, of which those above the highest that is in use need not be kept.
        let highest = content.next == position(slot.id) + 1;
        if smaller || highest && content.free.len() > 2 * content.slots as usize + 16 {
            content.forget_high_numbers();
        }
        (content.slots == 0).then(|| slot.home.release())
    }
}

/// The node with this key in `storage`: the living one, or a new one.
///
/// What a lookup in a large table waits for is memory: it is asked for at once, and a node is made meanwhile, before
/// it is known whether there is one. So the lock is held for the least time, too.
pub(crate) fn intern(storage: &Arc<Storage>, key: Key) -> Node {
    let hash = key.digest.short();
    let (shard, hint) = (storage.shard(hash), storage.hint(hash));
    prefetch(std::ptr::from_ref(shard).addr());
    prefetch(hint.address(hash));
    let Key { body, signature, digest, origin } = key;
    let mut made = Box::new(Slot {
        references: AtomicU32::new(1),
        id: NodeId(0),
        generation: 0,
        origin,
        digest,
        home: Home::of(storage),
        signature,
        persistable: body.persistable(),
        measured: AtomicBool::new(false),
        body,
    });
    let mut content = shard.content.lock();
    let same = |linked: &SlotPointer| {
        let slot = linked.get();
        slot.signature == made.signature && slot.body.same(&made.body)
    };
    let found = content.nodes.find(hash, same);
    if let Found::Entry(_, linked) = found
        && revive(linked.get())
    {
        // Its operands may be the last handles of other nodes: they are dropped outside the lock.
        drop(content);
        drop(made);
        return Node(linked.0);
    }
    (made.id, made.generation) = content.number(hash);
    if content.slots == 0 {
        std::mem::forget(Arc::clone(storage));
    }
    content.slots += 1;
    let pointer = NonNull::from(Box::leak(made));
    match found {
        Found::Entry(at, _) => content.nodes.replace(at, SlotPointer(pointer)),
        Found::Vacant(at) => {
            content.nodes.insert(at, hash, SlotPointer(pointer));
            hint.update(&content.nodes);
        }
    }
    Node(pointer)
}

/// Where a shard's table lies, roughly: read without the lock, and only to ask for the memory early.
///
/// It changes as seldom as the table grows, so all threads may keep it in their caches.
#[derive(Default)]
pub(crate) struct Hint(AtomicUsize);

/// Addresses have fewer bits than this; above is the binary logarithm of the number of entries.
const ADDRESS_BITS: u32 = usize::BITS - 8;

impl Hint {
    /// Where the entry for `hash` should be.
    fn address(&self, hash: u64) -> usize {
        let hint = self.0.load(Ordering::Relaxed);
        let (start, exponent) = (hint & (usize::MAX >> 8), hint >> ADDRESS_BITS);
        start.wrapping_add(Table::<SlotPointer>::offset(hash, exponent as u32))
    }

    fn update(&self, table: &Table<SlotPointer>) {
        let hint = table.address() | (table.exponent() as usize) << ADDRESS_BITS;
        if self.0.load(Ordering::Relaxed) != hint {
            self.0.store(hint, Ordering::Relaxed);
        }
    }
}

/// Asks for the line of memory at `address`, which need not exist, to write to it soon.
fn prefetch(address: usize) {
    // SAFETY: prefetching neither reads nor faults, whatever the address. Test: every test below.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        // Not `_mm_prefetch`, which asks to write only where the compiler is told that the processor can; all of 64 bits
        // know the instruction, or pass over it.
        std::arch::asm!("prefetchw [{}]", in(reg) address, options(nostack, preserves_flags, readonly));
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// How many numbers of its shard come before a number.
fn position(id: NodeId) -> u32 {
    id.0 / SHARDS as u32
}

impl Content {
    /// A number that no slot has, and how often it was given back before.
    fn number(&mut self, hash: u64) -> (NodeId, u32) {
        if let Some(free) = self.free.pop_if(|(id, _)| *id != NO_NUMBER) {
            return free;
        }
        // Numbers interleave over the shards, so they stay dense over the container.
        let shards = SHARDS as u32;
        let id = self.next.checked_mul(shards);
        let id = id.and_then(|base| base.checked_add((hash % shards as u64) as u32));
        let id = id.map(NodeId).filter(|id| *id != NO_NUMBER);
        self.next += 1;
        (id.expect("a container holds fewer than 2^32 - 1 nodes"), self.generation())
    }

    /// The generation of slots that get numbers from `next`.
    fn generation(&self) -> u32 {
        self.free
            .first()
            .filter(|(id, _)| *id == NO_NUMBER)
            .map_or(0, |&(_, generation)| generation)
    }

    /// Keeps no free numbers above those of all slots: they will come from `next` again.
    fn forget_high_numbers(&mut self) {
        let mut generation = self.generation();
        let free = self.free.len() - (generation > 0) as usize;
        // Slots that others have taken the places of are not seen here, and used up numbers must not come again.
        if self.slots as usize != self.nodes.len() || self.next as usize != free + self.nodes.len()
        {
            return;
        }
        let highest = self.nodes.iter().map(|linked| position(linked.get().id)).max();
        self.next = highest.map_or(0, |highest| highest + 1);
        self.free.retain(|&(id, next)| {
            let kept = id != NO_NUMBER && position(id) < self.next;
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

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;
    use crate::dtype::DType;
    use crate::ty::Ty;

    #[test]
    fn a_weak_handle_tells_a_node_from_those_in_its_place() {
        let container = Container::new();
        let ty = Ty::scalar(DType::Float64);
        let first = container.nominal(0, ty);
        let weak = first.node().downgrade();
        assert!(weak.upgrade().as_ref() == Some(first.node()));
        drop(first);
        assert!(weak.upgrade().is_none());
        // The same key again: it may get the number, and the memory, of the node that died.
        let second = container.nominal(0, ty);
        assert!(weak.upgrade().is_none());
        assert!(second.node().downgrade().upgrade().is_some());
        drop(container);
        let weak = second.node().downgrade();
        drop(second);
        assert!(weak.upgrade().is_none());
    }

    #[test]
    fn what_a_peak_needed_is_given_back() {
        let container = Container::new();
        let ty = Ty::scalar(DType::Float64);
        let few: Vec<_> = (0..2000).map(|position| container.nominal(position, ty)).collect();
        let before = container.stats();
        for _ in 0..2 {
            let many: Vec<_> =
                (2000..200_000).map(|position| container.nominal(position, ty)).collect();
            let weak: Vec<_> = many.iter().map(|var| var.node().downgrade()).collect();
            assert!(container.stats().bytes > 20 * before.bytes);
            drop(many);
            let after = container.stats();
            assert_eq!(after.nodes, 2000);
            assert!(after.bytes < 3 * before.bytes, "{before:?} {after:?}");
            // Numbers come again, but never as they were.
            let again: Vec<_> =
                (2000..4000).map(|position| container.nominal(position, ty)).collect();
            assert!(weak.iter().all(|weak| weak.upgrade().is_none()));
            drop(again);
        }
        let numbers: std::collections::HashSet<_> =
            few.iter().map(|var| var.node().id().index()).collect();
        assert_eq!(numbers.len(), 2000);
        drop(few);
        assert!(container.stats().bytes < before.bytes / 4);
    }

    #[test]
    fn a_node_keeps_its_storage() {
        let container = Container::new();
        let storage = container.downgrade();
        let first = container.nominal(0, Ty::scalar(DType::Float64));
        drop(container);
        let second = first.container().nominal(1, Ty::scalar(DType::Float64));
        drop(first);
        assert_eq!(second.container().stats().nodes, 1);
        assert!(storage.upgrade().is_some());
        drop(second);
        assert!(storage.upgrade().is_none());
    }

    #[test]
    fn weak_handles_race_with_release() {
        const ROUNDS: usize = 2_000;
        let container = Container::new();
        let ty = Ty::scalar(DType::Float64);
        let barrier = Barrier::new(2);
        let exchange: Mutex<Option<WeakNode>> = Mutex::new(None);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..ROUNDS {
                    let node = container.nominal(0, ty);
                    *exchange.lock() = Some(node.node().downgrade());
                    barrier.wait();
                    drop(node);
                    barrier.wait();
                }
            });
            scope.spawn(|| {
                for _ in 0..ROUNDS {
                    barrier.wait();
                    let weak = exchange.lock().take().expect("the other thread puts one in");
                    if let Some(node) = weak.upgrade() {
                        assert_eq!(node.signature().types(), [ty]);
                    }
                    barrier.wait();
                }
            });
        });
        assert_eq!(container.stats().nodes, 0);
    }
}
