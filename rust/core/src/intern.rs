//! The interner: every node exists once, and dies with its last handle.
//!
//! A shard's table points to nodes without owning them. A handle's count that reaches zero never rises again:
//! a lookup that meets a node with count zero treats it as absent and puts a new node in its place. So exactly
//! one thread sees the last handle go, and that thread alone unlinks and frees the node. It unlinks under the
//! shard's lock, so a lookup, which holds the lock, never reads freed memory. Nothing foreign runs under the lock:
//! freeing (operands, payloads) happens after it is released.
//!
//! A shard that holds a node keeps its container's storage alive, so a node always knows where it lives; the last
//! node to go lets go of the storage, again outside the lock.
//!
//! This module holds all the crate's unsafe code.

use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

use smallvec::{SmallVec, smallvec};

use crate::container::{Container, Storage};
use crate::digest::Digest;
use crate::id::{NodeId, Origin};
use crate::node::{Body, Inputs, Var};
use crate::sync::{AtomicU32, Mutex, fence};
use crate::table::{Found, Table};
use crate::ty::Signature;

/// More handles than this is a leak; a count that wrapped around would free a node in use.
const MAX_REFERENCES: u32 = u32::MAX / 2;

/// A node in memory.
struct Slot {
    references: AtomicU32,
    id: NodeId,
    origin: Origin,
    persistable: bool,
    digest: Digest,
    home: Arc<Shard>,
    signature: Signature,
    body: Body,
}

/// A handle to a node. Two handles to equal nodes of one container are equal pointers.
pub struct Node(NonNull<Slot>);

// SAFETY: a slot is immutable but for its atomic count, and its fields (Body, Arc<Shard>, ...) are Send and Sync;
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
        // Invariant: this handle keeps the node linked, so its shard keeps the storage.
        Container::of(self.slot().home.storage.upgrade().expect("a living node keeps its storage"))
    }

    /// The number of the container that the node lives in.
    pub(crate) fn container_number(&self) -> u64 {
        self.slot().home.container
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
            home: Arc::downgrade(&slot.home),
            id: slot.id,
            generation: slot.home.generation(slot.id),
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
        if this.slot().references.fetch_sub(1, Ordering::Release) != 1 {
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
        let storage = {
            // SAFETY: the count is zero and stays zero, so this thread alone frees the slot, which is still whole.
            // The reference ends before the slot is taken apart. Test: `a_deep_chain_drops_without_recursion`.
            let slot = unsafe { pointer.as_ref() };
            slot.home.unlink(pointer, slot)
        };
        // SAFETY: the slot came from `Box::into_raw` in `Shard::intern`, no handle is left, and no table points to
        // it any more, so no lookup can read it. Test: as above, and `equal_nodes_are_one_while_alive`.
        let mut slot = unsafe { Box::from_raw(pointer.as_ptr()) };
        if let Body::Apply { inputs, .. } = &mut slot.body {
            let inputs: Inputs = std::mem::take(inputs);
            pending.extend(inputs.into_iter().filter_map(|input| input.into_node().release()));
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
    home: Weak<Shard>,
    id: NodeId,
    generation: u32,
}

// SAFETY: the pointer is only followed by `upgrade`, under the shard's lock, after it made sure that the slot is
// whole; what it points to may be shared between threads, as for `Node`. Test: `weak_handles_race_with_release`.
unsafe impl Send for WeakNode {}
// SAFETY: as above.
unsafe impl Sync for WeakNode {}

impl WeakNode {
    /// The node, if it is still alive.
    pub(crate) fn upgrade(&self) -> Option<Node> {
        let home = self.home.upgrade()?;
        let content = home.content.lock();
        if content.generations[home.position(self.id)] != self.generation {
            return None;
        }
        // SAFETY: the number was not given back since, so `unlink` has not run for the slot; it cannot run now,
        // as it takes the lock that is held here, and only after it is the slot freed.
        // Test: `weak_handles_race_with_release`.
        let slot = unsafe { self.pointer.as_ref() };
        let revived = slot.references.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |count| {
            // Zero means dying: it must not rise again.
            (count != 0).then(|| count + 1)
        });
        drop(content);
        match revived {
            Ok(count) if count > MAX_REFERENCES => std::process::abort(),
            Ok(_) => Some(Node(self.pointer)),
            Err(_) => None,
        }
    }
}

/// What a lookup compares and a new node is made of.
pub(crate) struct Key {
    pub(crate) body: Body,
    pub(crate) signature: Signature,
    pub(crate) digest: Digest,
    pub(crate) origin: Origin,
}

/// One part of a container's table, with its own lock.
pub(crate) struct Shard {
    number: u32,
    shards: u32,
    container: u64,
    storage: Weak<Storage>,
    content: Mutex<Content>,
}

struct Content {
    /// Set while there are nodes.
    storage: Option<Arc<Storage>>,
    nodes: Table<SlotPointer>,
    free: Vec<u32>,
    next: u32,
    /// How often each number of this shard was given back.
    generations: Vec<u32>,
}

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
    pub(crate) fn new(number: u32, shards: u32, container: u64, storage: Weak<Storage>) -> Shard {
        let content = Content {
            storage: None,
            nodes: Table::new(),
            free: Vec::new(),
            next: 0,
            generations: Vec::new(),
        };
        Shard { number, shards, container, storage, content: Mutex::new(content) }
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
            + (content.free.capacity() + content.generations.capacity()) * size_of::<u32>()
    }

    /// The node with this key: the living one, or a new one.
    pub(crate) fn intern(self: &Arc<Shard>, key: Key) -> Node {
        let hash = key.digest.short();
        let same = |linked: &SlotPointer| {
            let slot = linked.get();
            slot.signature == key.signature && slot.body.same(&key.body)
        };
        let mut guard = self.content.lock();
        let Content { storage, nodes, free, next, generations } = &mut *guard;
        let mut fresh = || fresh_id(free, next, generations, self.number, self.shards);
        match nodes.find(hash, same) {
            Found::Entry(at, linked) => {
                let references = &linked.get().references;
                let revived =
                    references.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |count| {
                        // Zero means dying: it must not rise again.
                        (count != 0).then(|| count + 1)
                    });
                if let Ok(count) = revived {
                    if count > MAX_REFERENCES {
                        std::process::abort();
                    }
                    // The key's operands may be the last handles of other nodes: drop them outside the lock.
                    drop(guard);
                    drop(key);
                    return Node(linked.0);
                }
                let pointer = allocate(key, fresh(), self);
                nodes.replace(at, SlotPointer(pointer));
                Node(pointer)
            }
            Found::Vacant(at) => {
                let pointer = allocate(key, fresh(), self);
                nodes.insert(at, hash, SlotPointer(pointer));
                if storage.is_none() {
                    *storage = self.storage.upgrade();
                }
                Node(pointer)
            }
        }
    }

    /// Where this shard keeps what it knows of a number of its own.
    fn position(&self, id: NodeId) -> usize {
        (id.0 / self.shards) as usize
    }

    fn generation(&self, id: NodeId) -> u32 {
        self.content.lock().generations[self.position(id)]
    }

    /// Takes a dying node out of the table, unless another has taken its place, and frees its number.
    ///
    /// Returns the storage if nothing here needs it any longer.
    fn unlink(&self, pointer: NonNull<Slot>, slot: &Slot) -> Option<Arc<Storage>> {
        let mut content = self.content.lock();
        content.nodes.remove(slot.digest.short(), |linked| linked.0 == pointer);
        let generation = &mut content.generations[self.position(slot.id)];
        *generation += 1;
        // A number whose generations are used up is never given out again.
        if *generation < u32::MAX {
            content.free.push(slot.id.0);
        }
        if content.nodes.is_empty() { content.storage.take() } else { None }
    }
}

fn fresh_id(
    free: &mut Vec<u32>,
    next: &mut u32,
    generations: &mut Vec<u32>,
    number: u32,
    shards: u32,
) -> NodeId {
    if let Some(id) = free.pop() {
        return NodeId(id);
    }
    // Numbers interleave over the shards, so they stay dense over the container.
    let id = next
        .checked_mul(shards)
        .and_then(|base| base.checked_add(number))
        .expect("a container holds fewer than 2^32 nodes");
    *next += 1;
    generations.push(0);
    NodeId(id)
}

fn allocate(key: Key, id: NodeId, home: &Arc<Shard>) -> NonNull<Slot> {
    let Key { body, signature, digest, origin } = key;
    let slot = Slot {
        references: AtomicU32::new(1),
        id,
        origin,
        persistable: body.persistable(),
        digest,
        home: Arc::clone(home),
        signature,
        body,
    };
    NonNull::from(Box::leak(Box::new(slot)))
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
