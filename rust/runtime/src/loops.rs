//! Loops of native kernels over arrays, and functions that kernels call.

mod angles;
mod arcs;
mod digamma;
mod elements;
mod error_function;
mod exponential;
pub(crate) mod fold;
mod gamma;
mod hyperbolic;
mod indices;
pub(crate) mod kernel_functions;
mod lanes;
mod logarithm;
pub(crate) mod loop_nest;
mod normal;
pub(crate) mod partials;
mod power;
mod real;
pub(crate) mod recipe;
mod roots;
mod row_ends;
mod steps;
pub(crate) mod tiles;
pub(crate) mod typed;
