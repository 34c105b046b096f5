//! Reports on a program: its instructions, its sizes, the memory of a run.

pub(crate) mod explain;
pub(crate) mod forecast;
pub(crate) mod memory;
