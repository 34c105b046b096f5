//! What can be asked about a program: its sizes, the memory of a run.

pub(crate) mod explain;
pub(crate) mod memory;
