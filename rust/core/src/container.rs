//! Containers: shared storage of nodes, safe under concurrent use.
//!
//! Lock order: a thread holds at most one shard's lock, and takes no other lock under it.

use std::any::Any;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use crate::constant::ConstantData;
use crate::error::Error;
use crate::id::{DistinctTag, Origin};
use crate::intern::{Key, Node, Shard};
use crate::node::{Body, Inputs, Var};
use crate::op::Op;
use crate::ty::{Signature, Ty};

/// A power of two; enough that threads rarely meet in one shard.
const SHARDS: u32 = 64;

struct Storage {
    number: u64,
    shards: Vec<Arc<Shard>>,
    inputs: AtomicU64,
    tags: AtomicU64,
}

/// A handle to shared storage of nodes.
#[derive(Clone)]
pub struct Container(Arc<Storage>);

/// How much a container holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stats {
    /// Live nodes, leaves included.
    pub nodes: usize,
    /// Bytes of those nodes and of the tables that index them.
    pub bytes: usize,
}

static CONTAINERS: AtomicU64 = AtomicU64::new(0);
static GLOBAL: OnceLock<Container> = OnceLock::new();

impl Container {
    /// An empty container.
    pub fn new() -> Container {
        let number = CONTAINERS.fetch_add(1, Ordering::Relaxed);
        let shard = |index| Arc::new(Shard::new(index, SHARDS, number));
        Container(Arc::new(Storage {
            number,
            shards: (0..SHARDS).map(shard).collect(),
            inputs: AtomicU64::new(0),
            tags: AtomicU64::new(1),
        }))
    }

    /// The container that nodes go to when no other is named.
    pub fn global() -> &'static Container {
        GLOBAL.get_or_init(Container::new)
    }

    /// Live nodes and the bytes that they take.
    pub fn stats(&self) -> Stats {
        let shards = &self.0.shards;
        Stats {
            nodes: shards.iter().map(|shard| shard.len()).sum(),
            bytes: shards.iter().map(|shard| shard.bytes()).sum(),
        }
    }

    fn intern(&self, body: Body, signature: Signature, origin: Origin) -> Node {
        let digest = body.digest(signature);
        // The table inside a shard uses the low bits; the shard is chosen by others.
        let shard = (digest.short() >> 48) as usize % SHARDS as usize;
        self.0.shards[shard].intern(Key { body, signature, digest, origin })
    }

    /// A new root input, equal to no other.
    pub fn input(
        &self,
        ty: Ty,
        name: Option<&str>,
        payload: Option<Arc<dyn Any + Send + Sync>>,
    ) -> Var {
        let serial = self.0.inputs.fetch_add(1, Ordering::Relaxed);
        let body = Body::Input { name: name.map(Into::into), serial, payload };
        Var::new(self.intern(body, ty.signature(), Origin::default()), 0)
    }

    /// The input of a frozen graph at `position`.
    pub fn nominal(&self, position: u32, ty: Ty) -> Var {
        Var::new(self.intern(Body::Nominal { position }, ty.signature(), Origin::default()), 0)
    }

    /// The constant with this content.
    pub fn constant(&self, data: ConstantData) -> Var {
        let signature = data.ty().signature();
        Var::new(self.intern(Body::Constant(Box::new(data)), signature, Origin::default()), 0)
    }

    /// `op` applied to `inputs`: the one node with this key. A distinct op takes a fresh tag.
    pub fn apply(
        &self,
        op: Op,
        inputs: Inputs,
        signature: Signature,
        origin: Origin,
    ) -> Result<Node, Error> {
        let distinct = op.key().props.distinct.then(|| self.fresh_tag());
        self.apply_tagged(op, inputs, signature, distinct, origin)
    }

    /// `op` applied to `inputs` with a tag that exists already, or none.
    pub(crate) fn apply_tagged(
        &self,
        op: Op,
        inputs: Inputs,
        signature: Signature,
        distinct: Option<DistinctTag>,
        origin: Origin,
    ) -> Result<Node, Error> {
        if inputs.iter().any(|input| input.node().home().container() != self.0.number) {
            return Err(Error::ForeignContainer);
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
                let (expected, given) = (old.ty(), new.ty());
                return Err(Error::InputType { position, expected, given });
            }
        }
        self.apply_tagged(*op, inputs, node.signature(), *distinct, node.origin())
    }

    fn fresh_tag(&self) -> DistinctTag {
        let number = self.0.tags.fetch_add(1, Ordering::Relaxed);
        DistinctTag::new(number).expect("tags count from 1")
    }
}

impl Default for Container {
    fn default() -> Container {
        Container::new()
    }
}
