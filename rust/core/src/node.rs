//! Nodes, which never change after birth; their ops, their variables and their containers.
//!
//! Operations on nodes of any graph are here, too: walks, substitution, and the search for variables that share memory.
//! Uses values and the interner. Start reading at [`body`](Body), then [`container`].

pub mod alias;
pub mod alike;
mod body;
pub mod carriers;
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
pub mod typing;
mod var;

pub use body::{Body, Inputs};
pub use handle::{Debris, Node};
pub(crate) use handle::{NodeData, WeakNode};
pub use var::Var;
