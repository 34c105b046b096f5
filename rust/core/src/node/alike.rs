//! Nodes that differ in their operands alone.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::{Body, Node};

/// For each node, the position of the first one with the same op on operands of the same types, and with results of the
/// same types.
pub fn first_alike<'a>(nodes: impl IntoIterator<Item = &'a Node>) -> Vec<usize> {
    let mut first = FxHashMap::<SmallVec<[usize; 6]>, usize>::default();
    nodes
        .into_iter()
        .enumerate()
        .map(|(at, node)| {
            // What is equal is one object.
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
