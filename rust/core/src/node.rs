//! Nodes and variables: what a graph is made of. A node never changes after birth.

use std::any::Any;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use smallvec::SmallVec;

use crate::constant::ConstantData;
use crate::container::{Container, SHARDS, Storage};
use crate::digest::{Digest, DigestWriter};
use crate::id::{DistinctTag, NodeId, Origin};
use crate::intern::sync::AtomicBool;
use crate::intern::{Debris as DebrisOf, Handle, Interned, Interner, WeakHandle};
use crate::lengths::Lengths;
use crate::op::Op;
use crate::ty::{Signature, Ty};

/// The operands of an application; two fit without an allocation of their own.
pub type Inputs = SmallVec<[Var; 2]>;

/// What a node is.
pub enum Body {
    /// An op applied to operands.
    Apply {
        /// What it computes.
        op: Op,
        /// What it computes it from.
        inputs: Inputs,
        /// What keeps it apart from its siblings, if anything does.
        distinct: Option<DistinctTag>,
    },
    /// A root input: unique by identity.
    Input {
        /// The name shown to people.
        name: Option<Box<str>>,
        /// Tells it from every other input of its container.
        serial: u64,
        /// What the layer above keeps with it, such as the cell of a shared variable.
        payload: Option<Arc<dyn Any + Send + Sync>>,
    },
    /// The input of a frozen graph at this position.
    Nominal {
        /// The position.
        position: u32,
    },
    /// A constant.
    Constant(Box<ConstantData>),
}

impl Body {
    pub(crate) fn digest(&self, signature: &Signature) -> Digest {
        match self {
            Body::Apply { op, inputs, distinct } => {
                let mut writer = DigestWriter::new(b'A');
                writer.digest(op.digest());
                writer.digest(signature.digest());
                writer.word(distinct.map_or(0, DistinctTag::get));
                writer.word(inputs.len() as u64);
                for input in inputs {
                    writer.digest(input.node.digest());
                    writer.word(input.index as u64);
                }
                writer.finish()
            }
            Body::Input { serial, .. } => {
                let mut writer = DigestWriter::new(b'I');
                writer.digest(signature.digest());
                writer.word(*serial);
                writer.finish()
            }
            Body::Nominal { position } => {
                let mut writer = DigestWriter::new(b'N');
                writer.digest(signature.digest());
                writer.word(*position as u64);
                writer.finish()
            }
            Body::Constant(data) => data.digest(),
        }
    }

    /// Whether two bodies with equal signatures are the same node.
    pub(crate) fn same(&self, other: &Body) -> bool {
        match (self, other) {
            (
                Body::Apply { op, inputs, distinct },
                Body::Apply { op: other_op, inputs: other_inputs, distinct: other_distinct },
            ) => op == other_op && distinct == other_distinct && inputs == other_inputs,
            (Body::Input { serial, .. }, Body::Input { serial: other_serial, .. }) => {
                serial == other_serial
            }
            (Body::Nominal { position }, Body::Nominal { position: other_position }) => {
                position == other_position
            }
            (Body::Constant(data), Body::Constant(other_data)) => data == other_data,
            _ => false,
        }
    }

    pub(crate) fn persistable(&self) -> bool {
        match self {
            Body::Apply { op, inputs, .. } => {
                op.persistable() && inputs.iter().all(|input| input.node.persistable())
            }
            Body::Input { .. } => false,
            Body::Nominal { .. } | Body::Constant(_) => true,
        }
    }
}

/// What is kept of a node. In this order, what a new node reads of its operands lies in one line of memory.
#[repr(C)]
pub(crate) struct NodeData {
    body: Body,
    digest: Digest,
    signature: Signature,
    origin: Origin,
    persistable: bool,
    /// Whether the container's table of lengths knows some of the node.
    measured: AtomicBool,
}

#[cfg(target_pointer_width = "64")]
#[cfg(not(feature = "shuttle"))]
const _: () = assert!(Handle::<NodeData>::SLOT_BYTES == 120);

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
    }

    #[inline]
    fn dismantle(&mut self, debris: &mut DebrisOf<NodeData>) {
        if let Body::Apply { inputs, .. } = &mut self.body {
            debris.take(std::mem::take(inputs).into_iter().map(|input| input.node.0));
        }
    }
}

/// A handle to a node. Two handles to equal nodes of one container are equal pointers.
#[derive(Clone, PartialEq, Eq)]
pub struct Node(Handle<NodeData>);

impl Node {
    /// The node of `storage` with this body and these output types; a new one was built by the code at `origin`.
    pub(crate) fn intern(
        storage: &Arc<Storage>,
        body: Body,
        signature: Signature,
        origin: Origin,
    ) -> Node {
        let digest = body.digest(&signature);
        let (persistable, measured) = (body.persistable(), AtomicBool::new(false));
        let data = NodeData { origin, persistable, measured, digest, signature, body };
        Node(Handle::intern(storage, data))
    }

    /// What the node is.
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

    /// Where the user's code first built the node.
    pub fn origin(&self) -> Origin {
        self.0.origin
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
    /// Those that were there first stay; those that would keep the node itself alive, or another container, are
    /// not kept.
    pub fn remember_lengths(&self, lengths: Lengths) -> bool {
        let kept = self.0.owner().lengths().remember(self, Arc::new(lengths));
        // Also where another thread was first, which may not have come to say so yet.
        self.0.measured.store(true, Ordering::Relaxed);
        kept
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
    /// For those who hold a lock of their own that a large graph must not keep from others.
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

/// A variable: one output of a node.
#[derive(Clone)]
pub struct Var {
    node: Node,
    index: u32,
}

impl Var {
    /// Output `index` of `node`, which must have that many.
    pub(crate) fn new(node: Node, index: u32) -> Var {
        debug_assert!((index as usize) < node.signature().types().len());
        Var { node, index }
    }

    /// The node that this is an output of.
    pub fn node(&self) -> &Node {
        &self.node
    }

    /// The node that this is an output of, without counting another handle.
    pub fn into_node(self) -> Node {
        self.node
    }

    /// The container that the variable lives in.
    pub fn container(&self) -> Container {
        self.node.container()
    }

    /// The position among the node's outputs.
    pub fn index(&self) -> usize {
        self.index as usize
    }

    /// The type.
    pub fn ty(&self) -> &Ty {
        &self.node.signature().types()[self.index as usize]
    }

    /// The digest of the node and the position.
    pub fn digest(&self) -> Digest {
        if self.index == 0 {
            return self.node.digest();
        }
        let mut writer = DigestWriter::new(b'V');
        writer.digest(self.node.digest());
        writer.word(self.index as u64);
        writer.finish()
    }

    /// The constant's array, if this is a constant.
    pub fn constant(&self) -> Option<&ConstantData> {
        match self.node.body() {
            Body::Constant(data) => Some(data),
            _ => None,
        }
    }

    /// A number that no other live variable has.
    pub fn identity(&self) -> (usize, u32) {
        (self.node.address(), self.index)
    }

    /// The name shown to people, if it is a named root input.
    pub fn name(&self) -> Option<&str> {
        match self.node.body() {
            Body::Input { name, .. } => name.as_deref(),
            _ => None,
        }
    }

    /// A short text for messages: the name, the value of a constant scalar, or what made it.
    pub fn describe(&self) -> String {
        match self.node.body() {
            Body::Apply { op, .. } if self.node.signature().types().len() > 1 => {
                format!("{}.{}", op.label(), self.index)
            }
            Body::Apply { op, .. } => format!("{}.out", op.label()),
            Body::Input { name: Some(name), .. } => name.to_string(),
            Body::Input { name: None, .. } => format!("<{}>", self.ty()),
            Body::Nominal { position } => format!("*{position}-<{}>", self.ty()),
            Body::Constant(_) => format!("constant <{}>", self.ty()),
        }
    }
}

impl PartialEq for Var {
    fn eq(&self, other: &Var) -> bool {
        self.identity() == other.identity()
    }
}

impl Eq for Var {}

impl Hash for Var {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.node.digest().short() ^ self.index as u64);
    }
}

impl fmt::Debug for Var {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.describe())
    }
}

#[cfg(all(test, not(feature = "shuttle")))]
mod tests {
    use std::sync::Barrier;

    use super::*;
    use crate::dtype::DType;
    use crate::intern::sync::Mutex;

    #[test]
    fn a_weak_handle_tells_a_node_from_those_in_its_place() {
        let container = Container::new();
        let ty = Ty::scalar(DType::Float64);
        let first = container.nominal(0, &ty);
        let weak = first.node().downgrade();
        assert!(weak.upgrade().as_ref() == Some(first.node()));
        drop(first);
        assert!(weak.upgrade().is_none());
        // The same key again: it may get the number, and the memory, of the node that died.
        let second = container.nominal(0, &ty);
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
