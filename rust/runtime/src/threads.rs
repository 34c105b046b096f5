//! A large loop over several threads: its pieces, the threads that do them, and its end.

pub(crate) mod attention;
pub(crate) mod conduct;
pub(crate) mod split;
pub(crate) mod thread_pool;
