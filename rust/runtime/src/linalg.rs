//! Products, factors and systems: the calls of BLAS and LAPACK, and what is too small or of a type
//! that they do not take.

pub(crate) mod bands;
pub(crate) mod batch;
pub(crate) mod blas;
pub(crate) mod cholesky_gradient;
pub(crate) mod decompositions;
pub(crate) mod integer_dot;
pub(crate) mod lanes;
pub(crate) mod lapack;
pub(crate) mod lu;
pub(crate) mod matrix;
pub(crate) mod own;
mod portions;
pub(crate) mod routine;
pub(crate) mod small;
pub(crate) mod stack;
pub(crate) mod triangle;
