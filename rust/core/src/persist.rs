//! Frozen graphs as bytes and as text, and back.
//!
//! Uses graphs. Start reading at [`listing`]: what both forms say.

pub mod codec;
pub(crate) mod listing;
pub mod text;
