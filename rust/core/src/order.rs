//! The order in which nodes run, and the outputs that are written over inputs.
//!
//! Uses nodes. Start reading at [`destroy`], the laws of graphs that write over inputs; [`plan`] chooses the outputs.

mod descent;
pub mod destroy;
mod incremental;
pub mod plan;
