//! Typed ids: a node's number is not an output's position.

use std::fmt;
use std::num::NonZeroU64;

/// The number of a live node within its container: dense, so side tables are vectors.
///
/// Numbers are reused after a node dies and depend on timing: nothing visible may depend on their order.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct NodeId(pub(crate) u32);

impl NodeId {
    /// The position in a dense side table.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Debug for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "n{}", self.0)
    }
}

/// The line of the user's code that first built a node: a number that the layer above gives out and explains.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Origin(pub u32);

/// The tag that keeps one application of a distinct op apart from all others.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct DistinctTag(NonZeroU64);

impl DistinctTag {
    /// The tag with this number, which counts from 1.
    pub fn new(number: u64) -> Option<DistinctTag> {
        NonZeroU64::new(number).map(DistinctTag)
    }

    /// The number.
    pub fn get(self) -> u64 {
        self.0.get()
    }
}
