//! The interner: of equal values one exists, and it dies with its last handle.
//!
//! Nodes, types, ops and frozen graphs are interned, each kind in tables of its own. A table points to values without
//! owning them. A value's count of handles that reaches zero never rises again: a lookup that meets a value with count
//! zero treats it as absent and puts a new one in its place. So exactly one thread sees the last handle go, and that
//! thread alone unlinks and frees the value. It unlinks under the shard's lock, so a lookup, which holds the lock, never
//! reads freed memory. Nothing foreign runs under the lock: freeing (operands, payloads) happens after it is released.
//!
//! A shard owns one count of its owner while there is a slot that it made, so a value's pointer to where it lives is
//! good for the value's life. The last slot to go gives up that count, again outside the lock. No count is kept per
//! value, and what a lock guards shares a line of memory with it: threads that build different graphs write to few
//! lines of each other.
//!
//! This folder uses no other of the crate, and holds all its unsafe code. Start reading at [`interner`], then
//! [`handle`]; the tables are in [`table`], the locks in [`sync`], and why a forked child finds none of them held is told
//! in [`fork`].

pub mod fork;
pub(crate) mod handle;
pub(crate) mod interner;
pub mod sync;
mod table;

pub(crate) use handle::{Debris, Handle, WeakHandle};
pub(crate) use interner::{Interned, Interner};
