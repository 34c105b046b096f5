//! Handles to nodes, and the stored data of a node.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::body::Body;
use super::container::{Container, SHARDS, Storage};
use super::lengths::Lengths;
use super::notes::NoteTable;
use super::var::Var;
use crate::intern::sync::{AtomicBool, AtomicU32};
use crate::intern::{Debris as DebrisOf, Handle, Interned, Interner, WeakHandle};
use crate::value::digest::Digest;
use crate::value::id::{NodeId, Origin};
use crate::value::ty::Signature;

/// The stored data of a node. In this order, the fields of operands that a new node reads lie in one line of memory.
#[repr(C)]
pub(crate) struct NodeData {
    body: Body,
    digest: Digest,
    signature: Signature,
    /// Zero until code with a line builds the node.
    origin: AtomicU32,
    persistable: bool,
    /// Whether the container's table of lengths has an entry for the node.
    measured: AtomicBool,
    /// Whether the container's table of notes has an entry for the node.
    has_notes: AtomicBool,
}

#[cfg(target_pointer_width = "64")]
#[cfg(not(feature = "shuttle"))]
const _: () = {
    assert!(Handle::<NodeData>::SLOT_BYTES == 120);
    assert!(Interner::<NodeData>::SHARD_BYTES == 64);
};

impl Interned for NodeData {
    type Owner = Storage;
    const SHARDS: usize = SHARDS;

    fn interner(storage: &Storage) -> &Interner<NodeData> {
        storage.nodes()
    }

    fn hash(&self) -> u64 {
        self.digest.short()
    }

    fn same(&self, other: &NodeData) -> bool {
        self.signature == other.signature && self.body.same(&other.body)
    }

    #[inline]
    fn leave(&self, address: usize, storage: &Storage, debris: &mut DebrisOf<NodeData>) {
        if self.measured.load(Ordering::Relaxed)
            && let Some(lengths) = storage.lengths().forget(address)
        {
            debris.take(lengths.into_nodes().map(|node| node.0));
        }
        if self.has_notes.load(Ordering::Relaxed) {
            storage.notes().forget(address);
        }
    }

    #[inline]
    fn dismantle(&mut self, debris: &mut DebrisOf<NodeData>) {
        if let Body::Apply { inputs, .. } = &mut self.body {
            debris.take(std::mem::take(inputs).into_iter().map(|input| input.into_node().0));
        }
    }
}

/// A handle to a node. Two handles to equal nodes of one container are equal pointers.
#[derive(Clone, PartialEq, Eq)]
pub struct Node(Handle<NodeData>);

impl Node {
    /// The node of `storage` with this body and these output types, built by the code at `origin`.
    ///
    /// A node that exists keeps its origin. If it has none, because a rule or a pickle made it, it takes this one.
    pub(crate) fn intern(
        storage: &Arc<Storage>,
        body: Body,
        signature: Signature,
        origin: Origin,
    ) -> Node {
        let digest = body.digest(&signature);
        let persistable = body.persistable();
        let [measured, has_notes] = [false, false].map(AtomicBool::new);
        let first = AtomicU32::new(origin.0);
        let data =
            NodeData { origin: first, persistable, measured, has_notes, digest, signature, body };
        let node = Node(Handle::intern(storage, data));
        // Relaxed is enough: no other data depend on this number.
        if origin != Origin::default() && node.origin() == Origin::default() {
            node.0.origin.store(origin.0, Ordering::Relaxed);
        }
        node
    }

    /// The content of the node.
    pub fn body(&self) -> &Body {
        &self.0.body
    }

    /// The operands; none for leaves.
    pub fn inputs(&self) -> &[Var] {
        match self.body() {
            Body::Apply { inputs, .. } => inputs,
            _ => &[],
        }
    }

    /// The output types.
    pub fn signature(&self) -> &Signature {
        &self.0.signature
    }

    /// The Merkle digest.
    pub fn digest(&self) -> Digest {
        self.0.digest
    }

    /// The dense number within the container.
    pub fn id(&self) -> NodeId {
        NodeId(self.0.number())
    }

    /// The line of the user's code that first built the node.
    pub fn origin(&self) -> Origin {
        Origin(self.0.origin.load(Ordering::Relaxed))
    }

    /// Whether the digest means the same node in another process.
    pub fn persistable(&self) -> bool {
        self.0.persistable
    }

    /// The container that the node lives in.
    pub fn container(&self) -> Container {
        Container::of(self.0.counted_owner())
    }

    /// The number of the container that the node lives in.
    pub(crate) fn container_number(&self) -> u64 {
        self.0.owner().number()
    }

    /// Whether the node lives in `storage`.
    pub(crate) fn lives_in(&self, storage: &Arc<Storage>) -> bool {
        self.0.lives_in(storage)
    }

    /// Whether the node lives where `other` does.
    pub(crate) fn lives_with(&self, other: &Node) -> bool {
        self.0.lives_with(&other.0)
    }

    /// The lengths of the outputs, if they were found before.
    pub fn lengths(&self) -> Option<Arc<Lengths>> {
        // Relaxed is enough: the table's lock orders what it guards.
        let measured = self.0.measured.load(Ordering::Relaxed);
        measured.then(|| self.0.owner().lengths().get(self)).flatten()
    }

    /// Keeps the lengths of the outputs for as long as the node lives; returns whether it does.
    ///
    /// Lengths that were kept first stay. Lengths that would keep the node itself or another container alive are not
    /// kept.
    pub fn remember_lengths(&self, lengths: Lengths) -> bool {
        let kept = self.0.owner().lengths().remember(self, Arc::new(lengths));
        // Also if another thread was first, which may not have set this yet.
        self.0.measured.store(true, Ordering::Relaxed);
        kept
    }

    /// The result of `read` for the notes of the node, if it has any.
    pub(super) fn noted<T>(&self, read: impl FnOnce(&NoteTable) -> Option<T>) -> Option<T> {
        // Relaxed is enough: the table's lock orders what it guards.
        let known = self.0.has_notes.load(Ordering::Relaxed);
        known.then(|| read(self.0.owner().notes())).flatten()
    }

    /// Lets `write` change the notes of the node.
    pub(super) fn note<T>(&self, write: impl FnOnce(&NoteTable) -> T) -> T {
        self.0.has_notes.store(true, Ordering::Relaxed);
        write(self.0.owner().notes())
    }

    /// The outputs, in order.
    pub fn outputs(&self) -> impl ExactSizeIterator<Item = Var> {
        (0..self.signature().types().len() as u32).map(|index| Var::new(self.clone(), index))
    }

    /// A number that no other live node has; it says nothing else.
    pub fn address(&self) -> usize {
        self.0.address()
    }

    /// A handle that does not keep the node alive.
    pub(crate) fn downgrade(&self) -> WeakNode {
        WeakNode(self.0.downgrade())
    }

    /// Gives up this handle and frees at most `limit` nodes now; what is returned frees the others.
    ///
    /// For callers that hold a lock: other threads would wait for it while a large graph is freed.
    pub fn drop_some(self, limit: usize) -> Option<Debris> {
        self.0.drop_some(limit).map(Debris)
    }
}

/// Nodes without handles that are not freed yet: dropping it frees them, and whatever only they kept alive.
pub struct Debris(#[expect(dead_code)] DebrisOf<NodeData>);

/// A handle that does not keep its node alive.
#[derive(Clone)]
pub(crate) struct WeakNode(WeakHandle<NodeData>);

impl WeakNode {
    /// Whether it is a handle to `node`.
    pub(crate) fn is(&self, node: &Node) -> bool {
        self.0.is(&node.0)
    }

    /// The node, if it is still alive.
    pub(crate) fn upgrade(&self) -> Option<Node> {
        self.0.upgrade().map(Node)
    }
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.body() {
            Body::Apply { op, inputs, .. } => write!(f, "{}({inputs:?})", op.label()),
            _ => f.write_str(&Var::new(self.clone(), 0).describe()),
        }
    }
}

#[cfg(all(test, not(feature = "shuttle")))]
mod tests {
    use std::sync::Barrier;

    use super::*;
    use crate::intern::sync::Mutex;
    use crate::value::dtype::DType;
    use crate::value::ty::Ty;

    #[test]
    fn a_weak_handle_tells_a_node_from_those_in_its_place() {
        let container = Container::new();
        let ty = Ty::scalar(DType::Float64);
        let first = container.nominal(0, &ty);
        let weak = first.node().downgrade();
        assert!(weak.upgrade().as_ref() == Some(first.node()) && weak.is(first.node()));
        drop(first);
        assert!(weak.upgrade().is_none());
        // The same key again: it may get the number, and the memory, of the node that died.
        let second = container.nominal(0, &ty);
        assert!(weak.upgrade().is_none() && !weak.is(second.node()));
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
        let few: Vec<_> = (0..2000).map(|position| container.nominal(position, &ty)).collect();
        let before = container.stats();
        for _ in 0..2 {
            let many: Vec<_> =
                (2000..200_000).map(|position| container.nominal(position, &ty)).collect();
            let weak: Vec<_> = many.iter().map(|var| var.node().downgrade()).collect();
            assert!(container.stats().bytes > 20 * before.bytes);
            drop(many);
            let after = container.stats();
            assert_eq!(after.nodes, 2000);
            assert!(after.bytes < 3 * before.bytes, "{before:?} {after:?}");
            // Numbers come again, but never as they were.
            let again: Vec<_> =
                (2000..4000).map(|position| container.nominal(position, &ty)).collect();
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
        let first = container.nominal(0, &Ty::scalar(DType::Float64));
        drop(container);
        let second = first.container().nominal(1, &Ty::scalar(DType::Float64));
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
                    let node = container.nominal(0, &ty);
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
                        assert_eq!(node.signature().types(), [ty.clone()]);
                    }
                    barrier.wait();
                }
            });
        });
        assert_eq!(container.stats().nodes, 0);
    }
}
