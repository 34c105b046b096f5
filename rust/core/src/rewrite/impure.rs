//! The impure nodes that a variable follows from: no rule may lose one of them, or add another.
//!
//! An impure node must run as often as the graph says: rules do not know its effects or its next value. So `x * 0`
//! becomes 0, but `draw() * 0` stays.

use std::cell::RefCell;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::node::{Body, Node, Var};

/// Impure nodes, by address, in order.
type Sources = Arc<[usize]>;

/// The impure nodes that the variables of one graph, and the results of rules for them, follow from.
pub(crate) struct Impure {
    none: Sources,
    /// By address. The nodes are kept alive, so that no other node gets the address.
    known: RefCell<FxHashMap<usize, (Node, Sources)>>,
}

impl Impure {
    /// The impure nodes among those of a graph; none if it has none.
    pub(crate) fn of(order: &[&Node]) -> Option<Impure> {
        let found = order.iter().any(|node| is_impure(node));
        found.then(|| Impure { none: Arc::new([]), known: RefCell::default() })
    }

    /// Whether `right` follows from the same impure nodes as `left`, but for the very node that is replaced.
    pub(crate) fn keeps(&self, left: &Var, right: &Var) -> bool {
        let own = left.node().address();
        let but_own = |sources: &Sources| -> Vec<usize> {
            sources.iter().copied().filter(|&source| source != own).collect()
        };
        if is_impure(left.node()) {
            let (before, after) = (self.sources(left.node()), self.sources(right.node()));
            return but_own(&before).iter().all(|source| after.contains(source));
        }
        self.sources(left.node()) == self.sources(right.node())
    }

    /// The impure nodes that `node` follows from, itself included.
    fn sources(&self, node: &Node) -> Sources {
        let mut known = self.known.borrow_mut();
        let mut pending: Vec<(&Node, bool)> = vec![(node, false)];
        while let Some((node, ready)) = pending.pop() {
            if known.contains_key(&node.address()) {
                continue;
            }
            if !ready {
                pending.push((node, true));
                pending.extend(node.inputs().iter().map(|input| (input.node(), false)));
                continue;
            }
            let mut own: Vec<usize> = Vec::new();
            for input in node.inputs() {
                own.extend_from_slice(&known[&input.node().address()].1);
            }
            if is_impure(node) {
                own.push(node.address());
            }
            own.sort_unstable();
            own.dedup();
            let sources = if own.is_empty() { Arc::clone(&self.none) } else { own.into() };
            known.insert(node.address(), (node.clone(), sources));
        }
        Arc::clone(&known[&node.address()].1)
    }
}

fn is_impure(node: &Node) -> bool {
    matches!(node.body(), Body::Apply { op, .. } if !op.key().props.pure)
}
