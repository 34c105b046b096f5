//! The interner: it keeps one of all equal values, until its last handle is dropped.
//!
//! Nodes, types, ops and frozen graphs are interned, each kind in tables of its own. A table points to values without
//! owning them. Once a value's count of handles is zero, it never rises again: a lookup that meets such a value treats
//! it as absent and puts a new one in its place. So exactly one thread sees the last handle go, and that thread alone
//! unlinks and frees the value. It unlinks under the shard's lock, so a lookup, which holds the lock, never reads freed
//! memory. Nothing foreign runs under the lock: freeing (operands, payloads) happens after it is released.
//!
//! A shard owns one count of its owner as long as any of its slots exists, so a value's pointer to its owner is
//! valid for the value's life. The last slot gives up that count, again outside the lock. No count is kept per
//! value, and a lock shares a line of memory with the data that it guards: threads that build different graphs write
//! to few lines of each other.
//!
//! This folder uses no other folder of the crate, and holds all its unsafe code. Start reading at [`interner`], then
//! [`handle`] and [`freeing`]. The tables are in [`table`], the locks in [`sync`]; [`fork`] explains why a forked child
//! finds no lock held.

pub mod fork;
mod freeing;
pub(crate) mod handle;
pub(crate) mod interner;
pub mod sync;
mod table;

pub(crate) use freeing::Debris;
pub(crate) use handle::{Handle, WeakHandle};
pub(crate) use interner::{Interned, Interner, LASTING};
