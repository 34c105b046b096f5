//! Allocation of memory: aligned buffers, their reuse, and temporaries in one block.

pub(crate) mod arena;
pub(crate) mod buffer;
pub(crate) mod pages;
pub(crate) mod pool;
pub(crate) mod spare;
