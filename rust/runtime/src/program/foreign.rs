//! Code that the runtime calls without knowing it, such as a Python function.

use crate::arrays::array::{ArrayRef, KeptArray};
use crate::error::ForeignError;

/// A function from arrays to arrays.
pub trait Foreign: Send + Sync {
    /// Computes the results.
    ///
    /// An input whose `owner` is known lies in memory of that owner and stays valid as long as the
    /// owner does; the others are valid during this call only, and whoever wants to keep one copies
    /// it.
    fn call(&self, inputs: &[ArrayRef<'_>]) -> Result<Vec<KeptArray>, ForeignError>;

    /// Its name in messages and in the text of a program.
    fn name(&self) -> String;
}
