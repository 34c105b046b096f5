//! What graphs are made of besides nodes: dtypes, types, constants, digests, and what may be wrong with them.
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
