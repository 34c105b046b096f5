//! The parts of a variable, for pickles: a frozen graph over variables that have an identity of their own.

use rustc_hash::FxHashSet;

use crate::node::frozen::FrozenFunctionGraph;
use crate::node::{Body, Node, Var};
use crate::value::error::Error;

/// A variable as one frozen graph over others.
pub struct Portable {
    /// The graph, which has one output.
    pub graph: FrozenFunctionGraph,
    /// The values that it is bound to: inputs, nominals, and distinct nodes further up, which are written apart.
    pub leaves: Vec<Var>,
    /// Whether the variable has an identity of its own, so that binding the graph makes another variable.
    pub distinct: bool,
}

impl Portable {
    /// The parts of `output`, the output of an op.
    pub fn of(output: &Var) -> Result<Portable, Error> {
        let leaves = leaves(output);
        let container = output.container();
        let graph = FrozenFunctionGraph::new(&container, &leaves, std::slice::from_ref(output))?;
        Ok(Portable { graph, leaves, distinct: is_distinct(output.node()) })
    }
}

fn is_distinct(node: &Node) -> bool {
    matches!(node.body(), Body::Apply { distinct: Some(_), .. })
}

/// The variables with an identity of their own, in the order in which a walk up from `output` meets them.
fn leaves(output: &Var) -> Vec<Var> {
    let (mut seen, mut leaves) = (FxHashSet::default(), Vec::new());
    let mut pending: Vec<&Var> = output.node().inputs().iter().rev().collect();
    while let Some(var) = pending.pop() {
        if !seen.insert(var.identity()) {
            continue;
        }
        match var.node().body() {
            Body::Constant(_) => {}
            Body::Input { .. } | Body::Nominal { .. } => leaves.push(var.clone()),
            Body::Apply { .. } if is_distinct(var.node()) => leaves.push(var.clone()),
            Body::Apply { inputs, .. } => pending.extend(inputs.iter().rev()),
        }
    }
    leaves
}
