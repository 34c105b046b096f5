//! Products, factors and systems: the calls of BLAS and LAPACK, and loops of our own for operands that
//! are too small or have a type that these do not take.

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
pub(crate) mod vectors;
