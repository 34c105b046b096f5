//! The nodes that a rewriting leaves as they are, because the graph writes over their outputs.
//!
//! A variable that a destroyer writes over is *pinned*, and so are its aliases: it stays, no rule reads it, and no
//! other variable is replaced by it. So only its old readers read it, before it is destroyed. The nodes that compute
//! pinned variables are *kept*: if such a node were rewritten for its other users, the graph would have it twice,
//! perhaps with destroyers.

use rustc_hash::FxHashSet;

use crate::node::alias;
use crate::node::{Body, Node, Var};

/// The nodes that a rewriting of one graph leaves as they are; empty for graphs without destroyers.
#[derive(Default)]
pub(crate) struct Untouched {
    pinned: FxHashSet<(usize, u32)>,
    /// By address: the graph keeps its nodes alive.
    kept: FxHashSet<usize>,
}

impl Untouched {
    /// The nodes that a rewriting of a graph leaves as they are; `order` has operands before users.
    pub(crate) fn of(order: &[&Node]) -> Untouched {
        let mut found = Untouched::default();
        for node in order {
            let Body::Apply { op, inputs, .. } = node.body() else { continue };
            for (_, destroyed) in &op.key().props.destroy_map {
                for input in destroyed.iter().filter_map(|&at| inputs.get(at as usize)) {
                    found.pinned.extend(alias::roots(input).iter().map(Var::identity));
                }
            }
        }
        if found.is_empty() {
            return found;
        }
        for var in order.iter().flat_map(|node| node.outputs()) {
            if alias::view_sources(&var).iter().any(|source| found.pins(source)) {
                found.pinned.insert(var.identity());
            }
        }
        for node in order.iter().rev() {
            if found.keeps(node) || node.outputs().any(|var| found.pins(&var)) {
                found.kept.insert(node.address());
                found.kept.extend(node.inputs().iter().map(|input| input.node().address()));
            }
        }
        found
    }

    /// Whether everything may be rewritten.
    pub(crate) fn is_empty(&self) -> bool {
        self.pinned.is_empty()
    }

    /// Whether `var` is pinned: no rule may read it, and no variable may be replaced by it.
    pub(crate) fn pins(&self, var: &Var) -> bool {
        self.pinned.contains(&var.identity())
    }

    /// Whether `node` stays as it is.
    pub(crate) fn keeps(&self, node: &Node) -> bool {
        self.kept.contains(&node.address())
    }
}
