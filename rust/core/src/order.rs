//! In which order nodes run, and which outputs are written over which inputs.
//!
//! Uses nodes. Start reading at [`destroy`], the laws of graphs that write over inputs; [`plan`] decides which may.

mod descent;
pub mod destroy;
mod incremental;
pub mod plan;
