//! Graphs: the editable handle on nodes, and how a graph is frozen, bound and unfrozen.
//!
//! Uses nodes and orders. Start reading at [`function_graph`].

pub mod freeze;
pub mod function_graph;
mod names;
pub mod portable;
