//! Machine code of kernels, made by Cranelift in about a millisecond, without a compiler on the
//! machine. The crate knows kernels, and no Python: a kernel comes as a text ([`compile`]) that is not
//! trusted.
//!
//! The bits that a kernel computes are those of the kernels in C: elements go through the same
//! operations, and sums have the same partial results. `read.rs` reads kernels from texts, `verify.rs`
//! refuses kernels that are not valid, `walk.rs` and `steps.rs` write the code, `machine.rs` makes it
//! run.

mod debugger;
mod dtype;
mod emit;
mod error;
mod jitdump;
mod kernel;
mod machine;
mod op;
mod pages;
mod passes;
mod read;
mod registers;
mod row_folds;
mod scalar;
mod stages;
mod steps;
mod vector;
mod verify;
mod walk;

pub use debugger::{StillList, hold_list};
pub use error::CodegenError;
pub use machine::{Code, clif, compile, is_available, lowers, may_run_code};

#[cfg(test)]
mod aarch64;
