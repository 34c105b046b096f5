//! The parts of graphs besides nodes: dtypes, types, constants and digests; and the errors of graphs.
//!
//! Uses the interner alone. Start reading at [`ty`].

pub mod constant;
pub mod digest;
pub mod dtype;
pub(crate) mod element_text;
pub mod error;
pub mod half;
pub mod id;
pub mod literal;
pub mod rule;
pub mod ty;
