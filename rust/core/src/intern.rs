//! The interner: every node exists once, and dies with its last handle.
//!
//! A shard's table points to nodes without owning them. A handle's count that reaches zero never rises again:
//! a lookup that meets a node with count zero treats it as absent and puts a new node in its place. So exactly
//! one thread sees the last handle go, and that thread alone unlinks and frees the node. It unlinks under the
//! shard's lock, so a lookup, which holds the lock, never reads freed memory. Nothing foreign runs under the lock:
//! freeing (operands, payloads) happens after it is released.
//!
//! This module holds all the crate's unsafe code.

use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering, fence};

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use parking_lot::Mutex;
use smallvec::SmallVec;

use crate::digest::Digest;
use crate::id::{NodeId, Origin};
use crate::node::{Body, Inputs, Var};
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

    pub(crate) fn home(&self) -> &Arc<Shard> {
        &self.slot().home
    }

    /// The outputs, in order.
    pub fn outputs(&self) -> impl ExactSizeIterator<Item = Var> {
        (0..self.signature().types().len() as u32).map(|index| Var::new(self.clone(), index))
    }

    /// A number that no other live node has; it says nothing else.
    pub fn address(&self) -> usize {
        self.0.as_ptr() as usize
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
            reclaim(last);
        }
    }
}

/// Frees a node without references, and whatever only it kept alive, without recursion.
fn reclaim(first: NonNull<Slot>) {
    let mut pending: SmallVec<[NonNull<Slot>; 8]> = SmallVec::new();
    pending.push(first);
    while let Some(pointer) = pending.pop() {
        {
            // SAFETY: the count is zero and stays zero, so this thread alone frees the slot, which is still whole.
            // The reference ends before the slot is taken apart. Test: `a_deep_chain_drops_without_recursion`.
            let slot = unsafe { pointer.as_ref() };
            slot.home.unlink(pointer, slot);
        }
        // SAFETY: the slot came from `Box::into_raw` in `Shard::intern`, no handle is left, and no table points to
        // it any more, so no lookup can read it. Test: as above, and `equal_nodes_are_one_while_alive`.
        let mut slot = unsafe { Box::from_raw(pointer.as_ptr()) };
        if let Body::Apply { inputs, .. } = &mut slot.body {
            let inputs: Inputs = std::mem::take(inputs);
            pending.extend(inputs.into_iter().filter_map(|input| input.into_node().release()));
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
    table: Mutex<Table>,
}

struct Table {
    nodes: HashTable<SlotPointer>,
    free: Vec<u32>,
    next: u32,
}

/// A table's pointer to a slot that it does not own.
///
/// The hash beside it spares a growing table a visit to every node.
struct SlotPointer {
    pointer: NonNull<Slot>,
    hash: u64,
}

// SAFETY: the pointer is only followed under the shard's lock, while the slot is linked and so not freed.
// Test: `threads_share_nodes`.
unsafe impl Send for SlotPointer {}

impl SlotPointer {
    /// The slot, readable while the table that holds this pointer is locked.
    fn get(&self) -> &Slot {
        // SAFETY: a linked slot is freed only after `unlink` took the lock that the caller holds.
        // Test: `threads_share_nodes`.
        unsafe { self.pointer.as_ref() }
    }
}

impl Shard {
    pub(crate) fn new(number: u32, shards: u32, container: u64) -> Shard {
        let table = Table { nodes: HashTable::new(), free: Vec::new(), next: 0 };
        Shard { number, shards, container, table: Mutex::new(table) }
    }

    /// The container's number.
    pub(crate) fn container(&self) -> u64 {
        self.container
    }

    /// Live nodes.
    pub(crate) fn len(&self) -> usize {
        self.table.lock().nodes.len()
    }

    /// Bytes held by the nodes and the table, without what nodes hold outside their slots.
    pub(crate) fn bytes(&self) -> usize {
        let table = self.table.lock();
        table.nodes.len() * size_of::<Slot>()
            + table.nodes.allocation_size()
            + table.free.capacity() * size_of::<u32>()
    }

    /// The node with this key: the living one, or a new one.
    pub(crate) fn intern(self: &Arc<Shard>, key: Key) -> Node {
        let hash = key.digest.short();
        let same = |linked: &SlotPointer| {
            linked.hash == hash && {
                let slot = linked.get();
                slot.signature == key.signature && slot.body.same(&key.body)
            }
        };
        let mut guard = self.table.lock();
        let Table { nodes, free, next } = &mut *guard;
        match nodes.entry(hash, same, |linked| linked.hash) {
            Entry::Occupied(mut entry) => {
                let references = &entry.get().get().references;
                let revived =
                    references.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |count| {
                        // Zero means dying: it must not rise again.
                        (count != 0).then(|| count + 1)
                    });
                if let Ok(count) = revived {
                    if count > MAX_REFERENCES {
                        std::process::abort();
                    }
                    let node = Node(entry.get().pointer);
                    // The key's operands may be the last handles of other nodes: drop them outside the lock.
                    drop(guard);
                    drop(key);
                    return node;
                }
                let id = fresh_id(free, next, self.number, self.shards);
                let pointer = allocate(key, id, self);
                entry.get_mut().pointer = pointer;
                Node(pointer)
            }
            Entry::Vacant(entry) => {
                let id = fresh_id(free, next, self.number, self.shards);
                let pointer = allocate(key, id, self);
                entry.insert(SlotPointer { pointer, hash });
                Node(pointer)
            }
        }
    }

    /// Takes a dying node out of the table, unless another has taken its place, and frees its number.
    fn unlink(&self, pointer: NonNull<Slot>, slot: &Slot) {
        let mut table = self.table.lock();
        if let Ok(entry) =
            table.nodes.find_entry(slot.digest.short(), |linked| linked.pointer == pointer)
        {
            entry.remove();
        }
        table.free.push(slot.id.0);
    }
}

fn fresh_id(free: &mut Vec<u32>, next: &mut u32, number: u32, shards: u32) -> NodeId {
    if let Some(id) = free.pop() {
        return NodeId(id);
    }
    // Numbers interleave over the shards, so they stay dense over the container.
    let id = next
        .checked_mul(shards)
        .and_then(|base| base.checked_add(number))
        .expect("a container holds fewer than 2^32 nodes");
    *next += 1;
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
