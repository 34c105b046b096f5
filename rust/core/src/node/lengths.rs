//! The lengths of the outputs of nodes, found once and kept for as long as the node lives.
//!
//! They are expressions in the shapes and values of nodes that the node is computed from, in the same container. A node
//! keeps its lengths alive like its operands, so no length may be computed from the node itself. This is checked
//! before lengths are kept.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::intern::sync::{Mutex, MutexGuard};
use crate::node::{Body, Node, Var};
use crate::value::dtype::DType;
use crate::value::error::Error;
use crate::value::ty::Ty;

/// The lengths of each output; none for an output whose shape depends on its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lengths(Box<[Option<Box<[Var]>>]>);

impl Lengths {
    /// The lengths of the outputs of `node`: a 0-d integer for each dimension.
    pub fn new(node: &Node, of_outputs: Vec<Option<Vec<Var>>>) -> Result<Lengths, Error> {
        let types = node.signature().types();
        let fits = of_outputs.len() == types.len()
            && of_outputs
                .iter()
                .zip(types)
                .all(|(lengths, ty)| lengths.as_ref().is_none_or(|own| own.len() == ty.ndim()));
        let length = Ty::scalar(DType::Int64);
        if !fits || of_outputs.iter().flatten().flatten().any(|var| *var.ty() != length) {
            return Err(Error::Lengths { node: format!("{node:?}") });
        }
        Ok(Lengths(of_outputs.into_iter().map(|own| own.map(Vec::into_boxed_slice)).collect()))
    }

    /// Those of each output, in order.
    pub fn of_outputs(&self) -> impl Iterator<Item = Option<&[Var]>> {
        self.0.iter().map(Option::as_deref)
    }

    fn nodes(&self) -> impl Iterator<Item = &Node> {
        self.0.iter().flatten().flatten().map(Var::node)
    }

    pub(crate) fn into_nodes(self) -> impl Iterator<Item = Node> {
        self.0.into_iter().flatten().flatten().map(Var::into_node)
    }
}

type ByAddress = FxHashMap<usize, Arc<Lengths>>;

/// The lengths that nodes of one container have, by the nodes' addresses: entries go before their nodes do.
#[derive(Default)]
pub(crate) struct LengthTable(Mutex<ByAddress>);

impl LengthTable {
    /// The lock, for a thread that forks.
    pub(crate) fn hold(&self) -> MutexGuard<'_, impl Sized> {
        self.0.lock()
    }

    pub(crate) fn get(&self, node: &Node) -> Option<Arc<Lengths>> {
        self.0.lock().get(&node.address()).cloned()
    }

    /// Keeps `lengths`, unless there are some or they would keep `node` alive; whether they are kept.
    pub(crate) fn remember(&self, node: &Node, lengths: Arc<Lengths>) -> bool {
        let mut table = self.0.lock();
        let new = !table.contains_key(&node.address()) && !reaches(&lengths, node, &table);
        if new {
            table.insert(node.address(), Arc::clone(&lengths));
        }
        // Lengths that are not kept may hold the last handles of nodes.
        drop(table);
        new
    }

    /// Removes the lengths of a dying node, for the caller to drop.
    pub(crate) fn forget(&self, address: usize) -> Option<Lengths> {
        let mut table = self.0.lock();
        let taken = table.remove(&address)?;
        if 8 * table.len() < table.capacity() {
            let room = 2 * table.len();
            table.shrink_to(room);
        }
        drop(table);
        // If another thread still reads them, that thread drops them.
        Arc::into_inner(taken)
    }
}

/// Whether `node`, or another container, would be kept alive by `lengths`.
///
/// Nodes that the operands of `node` keep alive cannot reach it, so the search ends there.
fn reaches(lengths: &Lengths, node: &Node, table: &ByAddress) -> bool {
    let known = |of: &Node| table.get(&of.address()).into_iter().flat_map(|own| own.nodes());
    let given = |other: &Node| {
        let mut operands = node.inputs().iter().map(Var::node);
        operands.any(|operand| operand == other || known(operand).any(|own| own == other))
    };
    let mut seen = FxHashSet::default();
    let mut pending: SmallVec<[&Node; 8]> = lengths.nodes().collect();
    while let Some(current) = pending.pop() {
        if current == node || !current.lives_with(node) {
            return true;
        }
        if matches!(current.body(), Body::Constant(_)) || given(current) {
            continue;
        }
        if seen.insert(current.address()) {
            pending.extend(current.inputs().iter().map(Var::node));
            pending.extend(known(current));
        }
    }
    false
}
