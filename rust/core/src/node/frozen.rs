//! Frozen graphs as objects: closed graphs over nominal inputs, one for all that are isomorphic.
//!
//! `graph::freeze` makes and uses them. They are here because ops hold them, and containers list them.

use std::fmt;
use std::hash::{Hash, Hasher};

use once_cell::race::OnceBox;
use rustc_hash::FxHashSet;

use super::container::{Container, Storage};
use super::handle::Node;
use super::replace::{Afresh, rebuild};
use super::traverse::postorder;
use super::var::Var;
use crate::intern::{Handle, Interned, Interner, WeakHandle};
use crate::value::digest::Digest;

/// A graph whose inputs are nominals, interned: isomorphic graphs of one container are one object.
#[derive(Clone, PartialEq, Eq)]
pub struct FrozenFunctionGraph(pub(crate) Handle<Frozen>);

/// The stored data of a frozen graph.
pub(crate) struct Frozen {
    pub(crate) serial: u64,
    pub(crate) inputs: Box<[Var]>,
    /// The outputs that identify the graph: distinct nodes have the canonical tags.
    pub(crate) outputs: Box<[Var]>,
    pub(crate) digest: Digest,
    pub(crate) order: OnceBox<Box<[Node]>>,
    /// Whether a node has a tag.
    pub(crate) tagged: bool,
    /// The outputs that users see if nodes have tags, made at the first use.
    pub(crate) own: OnceBox<Own>,
    pub(crate) members: OnceBox<FxHashSet<usize>>,
    pub(crate) nesting: u32,
    /// The number of applications of ops.
    pub(crate) applications: usize,
    /// The equal graph of the global container, found at the first use; none within that container.
    pub(crate) in_global: OnceBox<FrozenFunctionGraph>,
}

/// The nodes of a graph with distinct nodes, under tags that no other graph has.
///
/// All graphs number their canonical tags alike. Two graphs whose outputs are used together would share a buffer that
/// each makes in the same way, or would run an impure op once for both.
pub(crate) struct Own {
    pub(crate) outputs: Box<[Var]>,
    pub(crate) order: OnceBox<Box<[Node]>>,
}

impl Interned for Frozen {
    type Owner = Storage;
    const SHARDS: usize = if cfg!(feature = "shuttle") { 2 } else { 16 };

    fn interner(storage: &Storage) -> &Interner<Frozen> {
        storage.frozen()
    }

    fn hash(&self) -> u64 {
        self.digest.short()
    }

    fn same(&self, other: &Frozen) -> bool {
        self.inputs == other.inputs && self.outputs == other.outputs
    }
}

impl FrozenFunctionGraph {
    /// The container that the graph lives in.
    pub fn container(&self) -> Container {
        Container::of(self.0.counted_owner())
    }

    /// The nominal inputs.
    pub fn inputs(&self) -> &[Var] {
        &self.0.inputs
    }

    /// The outputs: the same for as long as the graph lives, and its own if they need distinct nodes.
    pub fn outputs(&self) -> &[Var] {
        self.own().map_or(&self.0.outputs, |own| &own.outputs)
    }

    /// The outputs under the tags 1, 2, ... that tell graphs apart; other graphs may have the same.
    pub(crate) fn canonical_outputs(&self) -> &[Var] {
        &self.0.outputs
    }

    /// The outputs of a graph with distinct nodes that users see; `None` if these identify the graph, too.
    pub(crate) fn own(&self) -> Option<&Own> {
        self.0.tagged.then(|| {
            self.0.own.get_or_init(|| {
                let container = self.container();
                let outputs = rebuild(&container, &self.0.outputs, &[], &mut Afresh(&container))
                    .expect("these nodes are there with other tags");
                Box::new(Own { outputs: outputs.into(), order: OnceBox::new() })
            })
        })
    }

    /// The number of applications of ops.
    pub fn applications(&self) -> usize {
        self.0.applications
    }

    /// The digest of inputs and outputs and, where nodes destroy their inputs, of the order.
    pub fn digest(&self) -> Digest {
        self.0.digest
    }

    /// Whether the digest means the same graph in another process.
    pub fn persistable(&self) -> bool {
        self.0.outputs.iter().all(|output| output.node().persistable())
    }

    /// The depth of graphs nested within the ops of this one.
    pub fn nesting(&self) -> u32 {
        self.0.nesting
    }

    /// Whether `var` is an input, or the outputs need it.
    pub fn owns(&self, var: &Var) -> bool {
        let members = self.0.members.get_or_init(|| {
            let inputs = self.0.inputs.iter().map(|input| input.node().address());
            let needed = postorder(self.outputs(), &[]).into_iter().map(Node::address);
            Box::new(needed.chain(inputs).collect())
        });
        members.contains(&var.node().address())
    }

    /// A number that no other live frozen graph has; it says nothing else.
    pub fn address(&self) -> usize {
        self.0.address()
    }

    pub(crate) fn downgrade(&self) -> WeakFrozen {
        WeakFrozen(self.0.downgrade())
    }

    /// The living graphs of `storage`, in the order in which they were first frozen.
    pub(crate) fn living(storage: &Storage) -> Vec<FrozenFunctionGraph> {
        let mut living = storage.frozen().living();
        living.sort_by_key(|graph| graph.serial);
        living.into_iter().map(FrozenFunctionGraph).collect()
    }
}

/// A handle that does not keep its graph alive.
pub(crate) struct WeakFrozen(WeakHandle<Frozen>);

impl WeakFrozen {
    /// The graph, if it is still alive.
    pub(crate) fn upgrade(&self) -> Option<FrozenFunctionGraph> {
        self.0.upgrade().map(FrozenFunctionGraph)
    }
}

impl Hash for FrozenFunctionGraph {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.digest().hash(state);
    }
}

impl fmt::Debug for FrozenFunctionGraph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FrozenFunctionGraph({})", self.digest())
    }
}
