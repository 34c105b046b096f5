//! Containers: shared storage of nodes, safe under concurrent use.
//!
//! A container lives while a handle, a graph or a node of it does.
//!
//! Lock order: a thread holds at most one of a container's locks (a shard's, the registry of graphs, the tables of
//! frozen graphs, of lengths and of notes), takes no other lock under it, and drops nothing under it.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::frozen::{Frozen, FrozenFunctionGraph};
use super::lengths::LengthTable;
use super::notes::NoteTable;
use super::op::Op;
use super::registry::Registry;
use crate::intern::Interner;
use crate::intern::fork::{self, Held, Locks};
use crate::intern::sync::Lasting;
use crate::node::{Body, Inputs, Node, NodeData, Var};
use crate::value::constant::ConstantData;
use crate::value::error::Error;
use crate::value::id::{DistinctTag, Origin};
use crate::value::ty::{Signature, Ty};

/// A power of two; enough that threads rarely meet in one shard. The model checker wants them to meet.
pub(crate) const SHARDS: usize = if cfg!(feature = "shuttle") { 4 } else { 1024 };

/// Tags below are the canonical ones of frozen graphs; those that applications take count from here.
const FIRST_FRESH_TAG: u64 = 1 << 32;

/// The data that all handles to a container share.
pub(crate) struct Storage {
    nodes: Interner<NodeData>,
    number: u64,
    inputs: AtomicU64,
    tags: AtomicU64,
    freezes: AtomicU64,
    graphs: Registry,
    frozen: Interner<Frozen>,
    lengths: LengthTable,
    notes: NoteTable,
}

impl Storage {
    pub(crate) fn nodes(&self) -> &Interner<NodeData> {
        &self.nodes
    }

    pub(crate) fn frozen(&self) -> &Interner<Frozen> {
        &self.frozen
    }

    /// Tells the storage from every other there has been.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// The known lengths of nodes.
    pub(crate) fn lengths(&self) -> &LengthTable {
        &self.lengths
    }

    /// Notes on nodes.
    pub(crate) fn notes(&self) -> &NoteTable {
        &self.notes
    }
}

impl Locks for Storage {
    fn hold<'a>(&'a self, others: &mut Vec<Arc<dyn Locks>>) -> Held<'a> {
        let graphs = self.graphs.hold(others);
        let tables = (self.lengths.hold(), self.notes.hold());
        Box::new((self.nodes.hold(others), graphs, self.frozen.hold(others), tables))
    }
}

/// A handle to shared storage of nodes.
#[derive(Clone)]
pub struct Container(Arc<Storage>);

/// The amount that a container holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stats {
    /// Live nodes, leaves included.
    pub nodes: usize,
    /// Bytes of those nodes and of the tables that index them.
    pub bytes: usize,
}

static CONTAINERS: AtomicU64 = AtomicU64::new(0);
static GLOBAL: Lasting<Container> = Lasting::new(Container::new);

impl Container {
    /// An empty container.
    pub fn new() -> Container {
        let storage = Arc::new(Storage {
            nodes: Interner::default(),
            number: CONTAINERS.fetch_add(1, Ordering::Relaxed),
            inputs: AtomicU64::new(0),
            tags: AtomicU64::new(FIRST_FRESH_TAG),
            freezes: AtomicU64::new(0),
            graphs: Registry::default(),
            frozen: Interner::default(),
            lengths: LengthTable::default(),
            notes: NoteTable::default(),
        });
        fork::add(&storage);
        Container(storage)
    }

    pub(crate) fn of(storage: Arc<Storage>) -> Container {
        Container(storage)
    }

    #[cfg(test)]
    pub(crate) fn downgrade(&self) -> std::sync::Weak<Storage> {
        Arc::downgrade(&self.0)
    }

    /// Tells the container from every other there has been.
    pub(crate) fn number(&self) -> u64 {
        self.0.number
    }

    pub(crate) fn registry(&self) -> &Registry {
        &self.0.graphs
    }

    pub(crate) fn storage(&self) -> &Arc<Storage> {
        &self.0
    }

    /// The number of graphs that were frozen here before.
    pub(crate) fn count_freeze(&self) -> u64 {
        self.0.freezes.fetch_add(1, Ordering::Relaxed)
    }

    /// A number that no other live container has; it says nothing else.
    pub fn address(&self) -> usize {
        Arc::as_ptr(&self.0) as usize
    }

    /// The container for nodes when no other is named.
    pub fn global() -> &'static Container {
        GLOBAL.get()
    }

    /// Live nodes and the bytes that they take.
    pub fn stats(&self) -> Stats {
        let nodes = &self.0.nodes;
        Stats { nodes: nodes.len(), bytes: nodes.bytes() }
    }

    /// The live frozen graphs in the container, in the order in which they were first frozen.
    pub fn frozen_graphs(&self) -> Vec<FrozenFunctionGraph> {
        FrozenFunctionGraph::living(&self.0)
    }

    /// The live frozen graphs that own `var`, in the order in which they were first frozen.
    pub fn frozen_owners(&self, var: &Var) -> Vec<FrozenFunctionGraph> {
        self.frozen_graphs().into_iter().filter(|graph| graph.owns(var)).collect()
    }

    /// Whether `var` lives here.
    pub fn holds(&self, var: &Var) -> bool {
        var.node().lives_in(&self.0)
    }

    /// The container for a node over `vars`: that of the first variable that is no constant, else that of the first.
    ///
    /// Without variables, it is this container. A constant moves to the container of the others.
    pub fn common_container<'a, 'v>(
        &'a self,
        vars: impl Iterator<Item = &'v Var> + Clone,
    ) -> Cow<'a, Container> {
        let mut all = vars.clone();
        if all.all(|var| self.holds(var)) {
            return Cow::Borrowed(self);
        }
        let mut variables = vars.clone().filter(|var| var.constant().is_none());
        match variables.next().or_else(|| vars.clone().next()) {
            Some(var) if !self.holds(var) => Cow::Owned(var.container()),
            _ => Cow::Borrowed(self),
        }
    }

    /// `var`, here: itself if it lives here, the constant of equal content if it is a constant.
    pub fn adopt(&self, var: &Var) -> Result<Var, Error> {
        if self.holds(var) {
            return Ok(var.clone());
        }
        match var.constant() {
            Some(data) => Ok(self.constant(data.clone())),
            None => Err(Error::ForeignContainer { variable: var.describe() }),
        }
    }

    fn intern(&self, body: Body, signature: Signature, origin: Origin) -> Node {
        Node::intern(&self.0, body, signature, origin)
    }

    /// A new root input, equal to no other.
    pub fn input(
        &self,
        ty: &Ty,
        name: Option<&str>,
        payload: Option<Arc<dyn Any + Send + Sync>>,
    ) -> Var {
        let serial = self.0.inputs.fetch_add(1, Ordering::Relaxed);
        let body = Body::Input { name: name.map(Into::into), serial, payload };
        Var::new(self.intern(body, ty.signature(), Origin::default()), 0)
    }

    /// The input of a frozen graph at `position`.
    pub fn nominal(&self, position: u32, ty: &Ty) -> Var {
        Var::new(self.intern(Body::Nominal { position }, ty.signature(), Origin::default()), 0)
    }

    /// The constant with this content.
    pub fn constant(&self, data: ConstantData) -> Var {
        let signature = data.ty().signature();
        Var::new(self.intern(Body::Constant(Box::new(data)), signature, Origin::default()), 0)
    }

    /// `op` applied to `inputs`: the one node with this key. A distinct or impure op takes a fresh tag.
    pub fn apply(
        &self,
        op: Op,
        inputs: Inputs,
        signature: Signature,
        origin: Origin,
    ) -> Result<Node, Error> {
        let distinct = op.key().props.is_tagged().then(|| self.fresh_tag());
        self.apply_tagged(op, inputs, signature, distinct, origin)
    }

    /// `op` applied to `inputs` with a tag that exists already, or none.
    pub(crate) fn apply_tagged(
        &self,
        op: Op,
        mut inputs: Inputs,
        signature: Signature,
        distinct: Option<DistinctTag>,
        origin: Origin,
    ) -> Result<Node, Error> {
        for input in &mut inputs {
            if !self.holds(input) {
                *input = self.adopt(input)?;
            }
        }
        op.check_maps(inputs.len(), signature.types().len())?;
        if !op.key().props.takes_complex {
            let types = inputs.iter().map(Var::ty).chain(signature.types());
            if let Some(given) = types.into_iter().find(|ty| ty.is_complex()) {
                return Err(Error::ComplexRefused {
                    op: op.label().to_owned(),
                    given: given.clone(),
                });
            }
        }
        Ok(self.intern(Body::Apply { op, inputs, distinct }, signature, origin))
    }

    /// The node with the same op, tag and output types as `node` over other inputs, which must fit the old types.
    pub fn with_inputs(&self, node: &Node, inputs: Inputs) -> Result<Node, Error> {
        let Body::Apply { op, inputs: old, distinct } = node.body() else {
            return Err(Error::InvalidInput { what: "a node without inputs".to_owned() });
        };
        if inputs.len() != old.len() {
            let (expected, given) = (old.len(), inputs.len());
            return Err(Error::Arity { op: op.label().to_owned(), expected, given });
        }
        for (position, (new, old)) in inputs.iter().zip(old).enumerate() {
            if !old.ty().accepts(new.ty()) {
                let (expected, given) = (old.ty().clone(), new.ty().clone());
                return Err(Error::InputType { position, expected, given });
            }
        }
        self.apply_tagged(op.clone(), inputs, node.signature().clone(), *distinct, node.origin())
    }

    /// A tag that no other application has.
    pub(crate) fn fresh_tag(&self) -> DistinctTag {
        let number = self.0.tags.fetch_add(1, Ordering::Relaxed);
        DistinctTag::new(number).expect("tags count from 1")
    }
}

impl Default for Container {
    fn default() -> Container {
        Container::new()
    }
}

impl PartialEq for Container {
    fn eq(&self, other: &Container) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Container {}

impl fmt::Debug for Container {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Container #{}", self.number())
    }
}
