//! A large loop over several threads: its pieces, who does them, and when all of it stops.

pub(crate) mod attention;
pub(crate) mod conduct;
pub(crate) mod split;
pub(crate) mod thread_pool;
