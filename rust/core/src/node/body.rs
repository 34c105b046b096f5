//! The content of a node, by which equal nodes are one.

use std::any::Any;
use std::sync::Arc;

use smallvec::SmallVec;

use super::op::Op;
use super::var::Var;
use crate::value::constant::ConstantData;
use crate::value::digest::{Digest, DigestWriter};
use crate::value::id::DistinctTag;
use crate::value::ty::Signature;

/// The operands of an application; two fit without an allocation of their own.
pub type Inputs = SmallVec<[Var; 2]>;

/// The content of a node.
pub enum Body {
    /// An op applied to operands.
    Apply {
        /// The op.
        op: Op,
        /// The operands.
        inputs: Inputs,
        /// The tag that keeps it apart from nodes that are otherwise equal, if it has one.
        distinct: Option<DistinctTag>,
    },
    /// A root input: unique by identity.
    Input {
        /// The name shown to people.
        name: Option<Arc<str>>,
        /// Tells it from every other input of its container.
        serial: u64,
        /// Data that the layer above keeps with it, such as the cell of a shared variable.
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
                    writer.digest(input.node().digest());
                    writer.word(input.index() as u64);
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
                op.persistable() && inputs.iter().all(|input| input.node().persistable())
            }
            Body::Input { .. } => false,
            Body::Nominal { .. } | Body::Constant(_) => true,
        }
    }
}
