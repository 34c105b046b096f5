//! Facts about a graph that do not fit it.

use std::fmt;

use super::{Domain, Kind, Request};

/// Why a request cannot be cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misfit {
    /// There are more or fewer positions of kinds than nodes.
    Count {
        /// The positions.
        positions: usize,
        /// The nodes.
        nodes: usize,
    },
    /// A node has a kind that is not there.
    Kind {
        /// The node's position.
        at: usize,
        /// The position of its kind.
        kind: usize,
        /// The number of kinds.
        kinds: usize,
    },
    /// A node lacks an operand of its kind.
    Operand {
        /// The node's position.
        at: usize,
        /// The operand's position.
        operand: usize,
        /// The number of the node's operands.
        operands: usize,
    },
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Misfit::Count { positions, nodes } => {
                write!(
                    f,
                    "each node must have a kind, given {positions} positions of kinds for {nodes} nodes"
                )
            }
            Misfit::Kind { at, kind, kinds } => write!(f, "node {at} has kind {kind} of {kinds}"),
            Misfit::Operand { at, operand, operands } => {
                write!(f, "node {at} has {operands} operands, but its kind reads operand {operand}")
            }
        }
    }
}

impl std::error::Error for Misfit {}

impl Request<'_> {
    /// Finds kinds that are not there, or that do not fit their nodes.
    pub fn check(&self) -> Result<(), Misfit> {
        if self.kind_of.len() != self.order.len() {
            return Err(Misfit::Count { positions: self.kind_of.len(), nodes: self.order.len() });
        }
        let last: Vec<Option<usize>> = self.kinds.iter().map(last_operand).collect();
        for (at, (&kind, node)) in self.kind_of.iter().zip(self.order).enumerate() {
            let Some(last) = last.get(kind) else {
                return Err(Misfit::Kind { at, kind, kinds: self.kinds.len() });
            };
            let operands = node.inputs().len();
            if let Some(operand) = last.filter(|&last| last >= operands) {
                return Err(Misfit::Operand { at, operand, operands });
            }
        }
        Ok(())
    }
}

/// The last operand that a kind asks its nodes for.
fn last_operand(kind: &Kind) -> Option<usize> {
    let first =
        kind.view.is_some() || (kind.fusible && (kind.whole || kind.domain == Domain::First));
    let read = kind.operands.iter().filter(|_| kind.fusible).map(|(at, _)| *at);
    read.chain(first.then_some(0)).max()
}
