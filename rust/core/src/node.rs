//! Nodes and variables: what a graph is made of. A node never changes after birth.

use std::any::Any;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use smallvec::SmallVec;

use crate::constant::ConstantData;
use crate::container::Container;
use crate::digest::{Digest, DigestWriter};
use crate::id::DistinctTag;
use crate::intern::Node;
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
    pub(crate) fn digest(&self, signature: Signature) -> Digest {
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
    pub fn ty(&self) -> Ty {
        self.node.signature().types()[self.index as usize]
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
