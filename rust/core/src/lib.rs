//! The immutable tensor-expression graph.
//!
//! A node never changes after birth: it is interned, hashed once, shared between graphs and threads, and freed with
//! its last handle. This crate knows no Python, does no input or output, and reads no clock; its unsafe code is
//! confined to [`intern`].

pub mod constant;
pub mod container;
pub mod digest;
pub mod dtype;
pub mod elemwise;
pub mod error;
pub mod freeze;
pub mod id;
pub mod intern;
pub mod node;
pub mod op;
pub mod replace;
pub mod rule;
pub mod traverse;
pub mod ty;

pub use constant::{ConstantData, WeakScalar};
pub use container::{Container, Stats};
pub use digest::Digest;
pub use dtype::DType;
pub use error::{Error, ErrorClass};
pub use freeze::FrozenFunctionGraph;
pub use id::{DistinctTag, NodeId, Origin};
pub use intern::Node;
pub use node::{Body, Inputs, Var};
pub use op::{Op, OpKey, OpProps, Param};
pub use rule::TypeRule;
pub use ty::{Dim, Signature, Ty};
