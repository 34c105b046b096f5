//! Random numbers: states of generators, distributions, and draws of arrays.

pub(crate) mod distribution;
pub(crate) mod draw;
pub(crate) mod generator;
mod limits;
mod rows;
