//! Loops of native kernels over arrays, and what kernels call.

pub(crate) mod fold;
pub(crate) mod loop_nest;
pub(crate) mod partials;
