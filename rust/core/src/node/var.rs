//! Variables: the outputs of nodes.

use std::fmt;
use std::hash::{Hash, Hasher};

use super::body::Body;
use super::container::Container;
use super::handle::Node;
use crate::value::constant::ConstantData;
use crate::value::digest::{Digest, DigestWriter};
use crate::value::ty::Ty;

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

    /// A short text for messages: the name, or the op that made it.
    pub fn describe(&self) -> String {
        if let Some(name) = self.name() {
            return name.to_string();
        }
        match self.node.body() {
            Body::Apply { op, .. } if self.node.signature().types().len() > 1 => {
                format!("{}.{}", op.label(), self.index)
            }
            Body::Apply { op, .. } => format!("{}.out", op.label()),
            Body::Input { .. } => format!("<{}>", self.ty()),
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
