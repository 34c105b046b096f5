//! Loops of native kernels over arrays, and what kernels call.

pub(crate) mod fold;
pub(crate) mod kernel_functions;
pub(crate) mod loop_nest;
mod partials;
mod row_ends;
mod tiles;
