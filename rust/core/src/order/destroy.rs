//! Order in graphs whose nodes destroy inputs.
//!
//! A node that writes an output over an input *destroys* every root of that input, and all aliases of these roots.
//! The laws of a graph that can run:
//!
//! - a root is destroyed once at most; a root of a constant is never destroyed, nor is a root that a protected variable
//!   or an output aliases, since the caller reads the outputs last of all;
//! - no other operand of the destroyer aliases a root that it destroys, unless its op tolerates that;
//! - the destroyer runs after every other reader of an alias of its roots.
//!
//! A graph that breaks a law is [`Inconsistent`], with a witness.

mod destroyers;
mod order;
mod witness;

use rustc_hash::FxHashMap;

use crate::node::alias::Aliases;
use crate::node::op::OpProps;
use crate::node::traverse;
use crate::node::{Body, Node, Var};

pub(crate) use self::destroyers::Destroyers;
pub(crate) use self::order::{Waits, order};
pub use self::witness::{Conflict, Inconsistent, Witness};

/// For every destroyer, the readers of the destroyed memory, which must run before it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Orderings {
    entries: Vec<(Node, Vec<Node>)>,
    places: FxHashMap<usize, usize>,
}

impl Orderings {
    /// Whether nothing is destroyed.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The number of destroyers.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Every destroyer with the readers that precede it, perhaps none; destroyers and readers in postorder.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Node, &[Node])> {
        self.entries.iter().map(|(destroyer, readers)| (destroyer, readers.as_slice()))
    }

    /// The readers that precede a node; none if it destroys nothing.
    pub fn readers(&self, node: &Node) -> &[Node] {
        self.places.get(&node.address()).map_or(&[], |&at| &self.entries[at].1)
    }
}

/// Whether one of these nodes writes over an input.
pub fn has_destroyers(nodes: &[&Node]) -> bool {
    nodes.iter().any(|node| !props(node).is_none_or(|props| props.destroy_map.is_empty()))
}

/// The nodes that must run before destroyers in the graph that computes `outputs`, without walking past `inputs`.
///
/// No alias of a variable of `protected` may be destroyed.
pub fn orderings(
    outputs: &[Var],
    inputs: &[Var],
    protected: &[Var],
) -> Result<Orderings, Inconsistent> {
    if !has_destroyers(&traverse::postorder(outputs, inputs)) {
        return Ok(Orderings::default());
    }
    Aliases::with(outputs, inputs, |aliases| {
        let destroyers = Destroyers::of(aliases, outputs, protected)?;
        let waits = destroyers.waits(&aliases.readers());
        order(&destroyers, &waits)?;
        Ok(destroyers.orderings(&waits))
    })
}

/// The applications that `outputs` need, in an order that a backend can run as it is.
///
/// Operands come before users, and destroyers after the readers of the destroyed memory. The order follows from the
/// graph alone: it is postorder, but the readers that a destroyer waits for move in front of it.
pub fn toposort<'a>(
    outputs: &'a [Var],
    inputs: &'a [Var],
    protected: &[Var],
) -> Result<Vec<&'a Node>, Inconsistent> {
    let plain = traverse::toposort(outputs, inputs);
    if !has_destroyers(&plain) {
        return Ok(plain);
    }
    Aliases::with(outputs, inputs, |aliases| {
        let destroyers = Destroyers::of(aliases, outputs, protected)?;
        let steps = order(&destroyers, &destroyers.waits(&aliases.readers()))?;
        Ok(steps.into_iter().map(|step| aliases.node(step)).collect())
    })
}

pub(crate) fn props(node: &Node) -> Option<&OpProps> {
    match node.body() {
        Body::Apply { op, .. } => Some(&op.key().props),
        _ => None,
    }
}
