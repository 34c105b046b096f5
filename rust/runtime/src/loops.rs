//! Loops of native kernels over arrays, and what kernels call.

mod digamma;
mod elements;
pub(crate) mod fold;
pub(crate) mod kernel_functions;
pub(crate) mod loop_nest;
mod normal;
mod partials;
mod real;
mod row_ends;
mod tiles;
