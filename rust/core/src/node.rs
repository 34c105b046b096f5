//! Nodes, which never change after birth, the ops that they apply, the variables that they give, and where they live.
//!
//! What holds for nodes of any graph is here, too: walks, substitution, which variables may share memory. Uses values
//! and the interner. Start reading at [`body`](Body), then [`container`].

pub mod alias;
mod body;
pub mod container;
pub mod elemwise;
pub mod frozen;
mod handle;
pub mod lengths;
pub mod measured;
pub mod notes;
pub mod op;
pub(crate) mod registry;
pub mod replace;
pub mod traverse;
mod var;

pub use body::{Body, Inputs};
pub use handle::{Debris, Node};
pub(crate) use handle::{NodeData, WeakNode};
pub use var::Var;
