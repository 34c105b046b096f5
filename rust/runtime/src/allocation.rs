//! Where memory comes from: aligned, used again, laid out in one block.

pub(crate) mod arena;
pub(crate) mod buffer;
pub(crate) mod pool;
