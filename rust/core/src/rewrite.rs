//! Rules, and their application until none applies.
//!
//! A rule's left side is compiled to a pattern, its right side to a template. Uses nodes, but neither orders nor
//! graphs. Start reading at [`sweep`], then [`pattern`].

mod impure;
pub mod machine;
mod memo;
pub mod pattern;
pub mod ruleset;
mod stable;
pub mod sweep;
pub mod template;
mod untouched;
