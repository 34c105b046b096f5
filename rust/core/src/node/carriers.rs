//! The nodes that carry gradients back: those through which something depends on given variables.

use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use super::{Node, Var};

/// A node that carries gradients back to some of its inputs.
#[derive(Clone, Debug, PartialEq)]
pub struct Carrier {
    /// Its position among the nodes.
    pub at: usize,
    /// For each input whether it is, or depends on, one of the targets.
    pub wanted: SmallVec<[bool; 4]>,
}

/// Whether a variable can have a gradient: its elements are real or complex numbers.
pub fn is_continuous(var: &Var) -> bool {
    let dtype = var.ty().dtype();
    dtype.is_float() || dtype.is_complex()
}

/// The nodes of which an output may change with `targets`, but for outputs that are integers, or among `constants`.
///
/// Each node is a pair: one whose outputs others read, and one that has its inputs. They stand in an order in which
/// they can run.
pub fn carriers<'a>(
    nodes: impl Iterator<Item = (&'a Node, &'a Node)>,
    targets: &[Var],
    constants: &[Var],
) -> Vec<Carrier> {
    let mut active: FxHashSet<_> = targets.iter().map(Var::identity).collect();
    let constants: FxHashSet<_> = constants.iter().map(Var::identity).collect();
    let mut found = Vec::new();
    for (at, (node, form)) in nodes.enumerate() {
        let wanted: SmallVec<[bool; 4]> =
            form.inputs().iter().map(|input| active.contains(&input.identity())).collect();
        if !wanted.contains(&true) {
            continue;
        }
        let varies =
            |output: &Var| is_continuous(output) && !constants.contains(&output.identity());
        let before = found.len();
        for output in node.outputs().filter(varies) {
            active.insert(output.identity());
            if found.len() == before {
                found.push(Carrier { at, wanted: wanted.clone() });
            }
        }
    }
    found
}
