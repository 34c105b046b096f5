//! Nodes that differ in their operands alone, and ops of several nodes.

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::op::Op;
use super::{Body, Node};

/// For each node, the position of the first one with the same op on operands of the same types, and with results of the
/// same types.
pub fn first_alike<'a>(nodes: impl IntoIterator<Item = &'a Node>) -> Vec<usize> {
    let mut first = FxHashMap::<SmallVec<[usize; 6]>, usize>::default();
    nodes
        .into_iter()
        .enumerate()
        .map(|(at, node)| {
            // Equal values are one object.
            let mut key = SmallVec::new();
            if let Body::Apply { op, .. } = node.body() {
                key.push(op.address());
            }
            key.push(node.signature().address());
            key.extend(node.inputs().iter().map(|input| input.ty().address()));
            *first.entry(key).or_insert(at)
        })
        .collect()
}

/// The ops of nodes, each once, in the order of the first node of each.
pub fn ops<'a>(nodes: impl IntoIterator<Item = &'a Node>) -> Vec<&'a Op> {
    // Equal values are one object.
    let mut seen = FxHashSet::default();
    let applied = nodes.into_iter().filter_map(|node| match node.body() {
        Body::Apply { op, .. } => Some(op),
        _ => None,
    });
    applied.filter(|op| seen.insert(op.address())).collect()
}
