//! Fusion: the nodes that share a loop, and the order in which loops and other nodes run.
//!
//! Elementwise nodes and reductions over one space (the lengths that are not 1) can share a loop. A node's *level* is
//! one more than that of each loop whose results it reads from memory, and at least that of each other node that it
//! reads: within a level, other nodes run before loops. So nodes of one space and level never depend on one another
//! through a node outside their loop, and each node runs after its operands if levels run in order.
//!
//! A loop walks its rows, and may walk each several times. So a node with one element for each row (a *row node*),
//! which follows from a reduction of the row, can be in the loop. Other nodes of the loop repeat its value along the
//! row, and it needs no memory.
//!
//! A [`Kind`] tells what an op means for all nodes alike, and [`Lengths`] tell lengths. Start reading at [`cut`].

mod kind;
mod levels;
mod misfit;
mod needed;
mod numbered;
mod puts;
mod reading;
mod recompute;
mod segments;
mod sinking;
mod spaces;
mod split;
mod steps;
mod tasks;

pub use kind::{Axes, Domain, Given, Kind, REPEATED, View};
pub use misfit::Misfit;
pub use numbered::VarId;
pub use segments::{Cut, InLoop, Segment, cut};
pub use spaces::Lengths;
pub use steps::{LoopStep, Steps, Value};

use rustc_hash::FxHashMap;

use crate::node::{Node, Var};
use numbered::Numbered;
use reading::Readings;
use recompute::Recompute;
use spaces::Spaces;

/// Costs, in additions.
#[derive(Clone, Copy)]
pub struct Costs {
    /// The cost of writing an element to a buffer in cache and reading it again.
    pub keeping: u32,
    /// The cost of a function.
    pub function: u32,
}

/// A graph to cut, and what is known of its nodes.
pub struct Request<'a> {
    /// The nodes, operands before users.
    pub order: &'a [Node],
    /// The kinds of nodes.
    pub kinds: &'a [Kind],
    /// For each node the position of its kind.
    pub kind_of: &'a [usize],
    /// The inputs of the graph, which are views of nothing.
    pub inputs: &'a [Var],
    /// The outputs of the graph.
    pub outputs: &'a [Var],
    /// The facts about single nodes, whose kinds have the domain [`Domain::Given`].
    pub given: &'a [Given],
    /// The variables whose memory is written over.
    pub written: &'a [Var],
    /// For each node that writes over an operand, the nodes that should run before it.
    pub before: &'a [(Node, Vec<Node>)],
    /// The highest number of nodes of a loop. With 1, nothing is computed twice either.
    pub limit: usize,
    /// The most that results may cost that are computed again.
    pub costs: Costs,
}

/// The facts about a graph before its nodes are placed.
struct Known<'a> {
    request: &'a Request<'a>,
    graph: Numbered,
    outputs: Vec<VarId>,
    readings: Readings,
    spaces: Spaces,
    recompute: Recompute,
    /// For each node that writes over an operand, the nodes that should run before it.
    before: FxHashMap<usize, Vec<usize>>,
    /// The nodes without dead code; views that loops look through count as dead.
    needed: Vec<usize>,
    /// The values from which the lengths of needed nodes outside loops are computed.
    leaves: Vec<Box<[VarId]>>,
}

impl Known<'_> {
    fn kind(&self, at: usize) -> &Kind {
        &self.request.kinds[self.request.kind_of[at]]
    }

    fn before(&self, at: usize) -> &[usize] {
        self.before.get(&at).map_or(&[], Vec::as_slice)
    }

    /// The operands whose elements a node outside loops reads.
    fn value_operands(&self, at: usize) -> impl Iterator<Item = VarId> {
        values(&self.graph, self.kind(at), at)
    }

    /// The variables that a loop reads for `x`: itself, or those that it is computed from again.
    fn reads<'a>(&'a self, x: &'a VarId) -> &'a [VarId] {
        self.recompute.again(*x).unwrap_or(std::slice::from_ref(x))
    }
}

/// The operands of a node that are read as values, and are no lengths.
fn values<'a>(
    graph: &'a Numbered,
    kind: &'a Kind,
    at: usize,
) -> impl Iterator<Item = VarId> + use<'a> {
    let lengths = kind.length_operands.clone();
    let own = graph.inputs(at).iter().enumerate();
    own.filter(move |(position, _)| !lengths.contains(position)).map(|(_, x)| *x)
}
