//! Graphs: the editable handle on nodes; freezing, binding and unfreezing.
//!
//! Uses nodes and orders. Start reading at [`function_graph`].

pub mod freeze;
pub mod function_graph;
mod names;
pub mod portable;
