//! The order in which a block's values are computed: each shortly before what needs it, and all operands before
//! anything is written that others may read.

use crate::vector::Given;
use crate::vector::x86::translate::{Graph, Id, Node};

/// One step of a block.
#[derive(Clone, Copy, Debug)]
pub(super) enum BlockStep {
    Compute(Id),
    Act(usize),
}

/// The steps of a block, and when each value is used last.
pub(super) struct Schedule {
    pub(super) steps: Vec<BlockStep>,
    last: Vec<usize>,
    /// The values that are the same in all blocks, those first that no memory can stand for, then those
    /// that are used most.
    pub(super) same: Vec<Id>,
}

impl Schedule {
    pub(super) fn of(graph: &Graph) -> Schedule {
        let mut own = Order { graph, steps: Vec::new(), done: vec![false; graph.nodes.len()] };
        for (at, effect) in graph.effects.iter().enumerate() {
            own.compute(effect.node(), effect.is_at_once());
            if effect.is_at_once() {
                own.steps.push(BlockStep::Act(at));
            }
        }
        for (at, effect) in graph.effects.iter().enumerate() {
            if !effect.is_at_once() {
                own.compute(effect.node(), true);
                own.steps.push(BlockStep::Act(at));
            }
        }
        let steps = own.steps;
        let mut last = vec![0; graph.nodes.len()];
        let mut uses = vec![0; graph.nodes.len()];
        for (at, step) in steps.iter().enumerate() {
            for used in used_by(graph, *step) {
                last[used] = at;
                uses[used] += 1;
            }
        }
        let mut same: Vec<Id> =
            (0..uses.len()).filter(|&id| is_same(&graph.nodes[id]) && uses[id] > 0).collect();
        let is_lanes = |id: usize| matches!(graph.nodes[id], Node::Given(Given::Lanes { .. }));
        same.sort_by_key(|&id| (!is_lanes(id), std::cmp::Reverse(uses[id])));
        Schedule { steps, last, same }
    }

    /// Whether nothing after a step uses the value.
    pub(super) fn ends(&self, id: Id, step: usize) -> bool {
        self.last[id] <= step
    }
}

/// Whether a value is the same in all blocks.
pub(super) fn is_same(node: &Node) -> bool {
    matches!(node, Node::Constant(_) | Node::Given(Given::Uniform { .. } | Given::Lanes { .. }))
}

/// The values that a step uses.
pub(super) fn used_by(graph: &Graph, step: BlockStep) -> Vec<Id> {
    match step {
        BlockStep::Compute(id) => graph.nodes[id].args(),
        BlockStep::Act(at) => vec![graph.effects[at].node()],
    }
}

struct Order<'g> {
    graph: &'g Graph,
    steps: Vec<BlockStep>,
    done: Vec<bool>,
}

impl Order<'_> {
    /// Computes a value and all that it needs, except values that need a late read, if these have to wait.
    fn compute(&mut self, id: Id, late_too: bool) {
        let mut open = vec![(id, false)];
        while let Some((id, ready)) = open.pop() {
            let node = &self.graph.nodes[id];
            if self.done[id] || is_same(node) {
                continue;
            }
            if !ready {
                open.push((id, true));
                open.extend(node.args().into_iter().rev().map(|arg| (arg, false)));
                continue;
            }
            let is_late = matches!(node, Node::Given(Given::LateLoad { .. }));
            let waits = |&arg: &Id| !self.done[arg] && !is_same(&self.graph.nodes[arg]);
            if !late_too && (is_late || node.args().iter().any(waits)) {
                continue;
            }
            self.done[id] = true;
            self.steps.push(BlockStep::Compute(id));
        }
    }
}
