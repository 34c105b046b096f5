//! Frozen graphs as bytes and as text, and back.
//!
//! Uses graphs. Start reading at [`listing`], the list that both forms write.

pub mod codec;
pub(crate) mod listing;
pub mod text;
