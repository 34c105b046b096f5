//! The immutable tensor-expression graph.
//!
//! A node never changes after birth: it is interned, hashed once, shared between graphs and threads, and freed with
//! its last handle. This crate knows no Python, does no input or output, and reads no clock; its unsafe code is
//! confined to [`intern`].
//!
//! Each folder uses only those before it: [`intern`], [`value`], [`node`], [`order`], [`fusion`], [`rewrite`], [`graph`],
//! [`persist`].

pub mod fusion;
pub mod graph;
pub mod intern;
pub mod node;
pub mod order;
pub mod persist;
pub mod rewrite;
pub mod value;

pub use graph::function_graph::{Client, FunctionGraph};
pub use graph::portable::Portable;
pub use intern::fork;
pub use node::container::{Container, Stats};
pub use node::frozen::FrozenFunctionGraph;
pub use node::lengths::Lengths;
pub use node::notes::{Token, Tokens};
pub use node::op::{Op, OpKey, OpProps, Param};
pub use node::typing::{OpRule, ViewRule};
pub use node::{Body, Inputs, Node, Var, carriers, elemwise, replace, traverse, typing};
pub use order::destroy::{Inconsistent, Orderings};
pub use persist::listing::Resolve;
pub use persist::{codec, text};
pub use value::constant::{ConstantData, WeakScalar};
pub use value::digest::Digest;
pub use value::dtype::DType;
pub use value::error::{Error, ErrorClass};
pub use value::half::{from_half, to_half};
pub use value::id::{DistinctTag, NodeId, Origin};
pub use value::rule::TypeRule;
pub use value::ty::{Dim, Signature, Ty};
