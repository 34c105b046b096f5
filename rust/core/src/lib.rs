//! The immutable tensor-expression graph.
//!
//! A node never changes after birth: it is interned, hashed once, shared between graphs and threads, and freed with
//! its last handle. This crate knows no Python, does no input or output, and reads no clock; its unsafe code is
//! confined to [`intern`].

pub mod alias;
pub mod codec;
pub mod constant;
pub mod container;
mod descent;
pub mod destroy;
pub mod digest;
pub mod dtype;
pub mod elemwise;
pub mod error;
pub mod freeze;
pub mod graph;
pub mod id;
mod impure;
mod incremental;
pub mod intern;
pub mod lengths;
mod listing;
pub mod literal;
pub mod machine;
mod memo;
mod names;
pub mod node;
pub mod op;
pub mod pattern;
pub mod plan;
pub mod replace;
pub mod rewrite;
pub mod rule;
pub mod ruleset;
pub mod template;
pub mod text;
pub mod traverse;
pub mod ty;
mod untouched;

pub use constant::{ConstantData, WeakScalar};
pub use container::{Container, Stats};
pub use destroy::{Inconsistent, Orderings};
pub use digest::Digest;
pub use dtype::DType;
pub use error::{Error, ErrorClass};
pub use freeze::FrozenFunctionGraph;
pub use graph::{Client, FunctionGraph};
pub use id::{DistinctTag, NodeId, Origin};
pub use intern::{fork, sync};
pub use lengths::Lengths;
pub use listing::Resolve;
pub use node::{Body, Inputs, Node, Var};
pub use op::{Op, OpKey, OpProps, Param};
pub use rule::TypeRule;
pub use ty::{Dim, Signature, Ty};
