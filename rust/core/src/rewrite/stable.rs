//! The stable part of a graph: nodes on which no rule matches, over operands that are stable, too.
//!
//! Most phases change few nodes of a graph. A sweep makes entries for the others alone.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::pattern::Heads;
use super::ruleset::RuleSet;
use crate::node::op::Op;
use crate::node::{Body, Node, Var};

/// The numbers of the rules that may match nodes of an op, found once for each.
#[derive(Default)]
pub(super) struct Candidates(FxHashMap<Op, Arc<[u32]>>);

impl Candidates {
    pub(super) fn of(&mut self, rules: &RuleSet, op: &Op) -> &Arc<[u32]> {
        if !self.0.contains_key(op) {
            self.0.insert(op.clone(), rules.candidates(op));
        }
        &self.0[op]
    }
}

/// Stable nodes.
#[derive(Default)]
pub(super) struct Stable {
    /// By address: the graph keeps its nodes alive.
    nodes: FxHashSet<usize>,
    /// The variables that the memory of the rules does not have.
    found: Vec<Var>,
}

impl Stable {
    /// The stable nodes among `order`, which has operands before users; `recall`: what is remembered counts.
    pub(super) fn of(
        rules: &RuleSet,
        order: &[&Node],
        recall: bool,
        candidates: &mut Candidates,
    ) -> Stable {
        let mut stable = Stable::default();
        for &node in order {
            let Body::Apply { op, inputs, .. } = node.body() else { continue };
            if !inputs.iter().all(|input| stable.has(input.node())) {
                continue;
            }
            let heads = Heads::of(node);
            let mut found = SmallVec::<[Var; 1]>::new();
            let stays = node.outputs().all(|var| {
                if let Some(known) = recall.then(|| rules.memo().get(&var)).flatten() {
                    return known == var;
                }
                let first = if recall { rules.first_untried(&var) } else { 0 };
                let known = candidates.of(rules, op);
                let own = &known[known.partition_point(|number| (*number as usize) < first)..];
                let matched = own.iter().any(|&number| {
                    let rule = &rules.rules()[number as usize];
                    heads.include(rule.pattern.required())
                        && rule.right(var.index()).is_some()
                        && rule.pattern.machine().run(&var, &mut |_| true)
                });
                if !matched {
                    found.push(var);
                }
                !matched
            });
            if stays {
                stable.nodes.insert(node.address());
                stable.found.extend(found);
            }
        }
        stable
    }

    /// Whether a node is stable. Nodes without operands are.
    pub(super) fn has(&self, node: &Node) -> bool {
        !matches!(node.body(), Body::Apply { .. }) || self.nodes.contains(&node.address())
    }

    /// The variables that the memory of the rules did not have.
    pub(super) fn found(&self) -> &[Var] {
        &self.found
    }
}
