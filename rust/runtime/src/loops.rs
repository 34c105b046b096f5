//! Loops of native kernels over arrays, and what kernels call.

mod digamma;
mod elements;
mod exponential;
pub(crate) mod fold;
pub(crate) mod kernel_functions;
mod lanes;
mod logarithm;
pub(crate) mod loop_nest;
mod normal;
mod partials;
mod real;
mod row_ends;
mod tiles;
mod typed;
