//! Kinds of nodes: what follows from an op and its types.

use std::ops::Range;

use smallvec::SmallVec;

use crate::node::Var;

/// In a map of axes: the operand does not move along this dimension.
pub const REPEATED: i32 = -1;

/// The axis of an operand for each dimension of a domain, or [`REPEATED`].
pub type Axes = SmallVec<[i32; 4]>;

/// The variable over whose elements a loop iterates for a node.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Domain {
    /// Its result.
    Output,
    /// Its first operand.
    First,
    /// Another one, which is told of each node.
    Given,
}

/// The value that a view shows: its first operand.
pub struct View {
    /// For each dimension, the axis of the operand.
    pub axes: Axes,
    /// Whether it is a buffer filled with one value, which is no view if it is written over.
    pub filled: bool,
}

/// The facts that are the same for all nodes with one op, and operands and results of the same types.
pub struct Kind {
    /// Whether a loop may hold such a node.
    pub fusible: bool,
    /// Whether the op is elementwise.
    pub elementwise: bool,
    /// Whether a loop computes an element of the result at each position of the domain.
    pub makes_elements: bool,
    /// Whether the node reduces the innermost of several dimensions, and no other.
    pub reduces_rows: bool,
    /// Whether it adds up rows that may be short, of three dimensions or more.
    pub sums_short: bool,
    /// The dimension of its rows, among those that move, if it is not the last.
    pub row: Option<usize>,
    /// Whether it is the length of an operand.
    pub is_length: bool,
    /// The cost of an elementwise op of a fusible node.
    pub cost: Option<u32>,
    /// The domain of a fusible node.
    pub domain: Domain,
    /// Whether the first operand is needed as a whole array, not element by element.
    pub whole: bool,
    /// The operands that a fusible node reads element by element: their positions and axes.
    pub operands: Vec<(usize, Axes)>,
    /// The value that a view shows.
    pub view: Option<View>,
    /// The positions of the operands that are only lengths.
    pub length_operands: Range<usize>,
}

/// The facts about a single node.
pub struct Given {
    /// The node's position in the order.
    pub at: usize,
    /// Its domain.
    pub domain: Var,
    /// Whether it puts rows, of which there may be many, at indices that are the same along a row.
    pub puts_rows: bool,
}
