//! Walks over graphs: iterative, in an order that follows from the graph alone.

use std::cell::RefCell;

use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use crate::node::{Body, Node, Var};
use crate::value::id::NodeId;

/// Numbers the nodes met in one walk, 0, 1, 2, ...
///
/// Each thread keeps a stamp per node id between walks, so a walk costs time for the nodes that it visits, not for all
/// nodes of the container.
pub struct Numbering {
    stamps: Vec<Stamp>,
    walk: u32,
    count: u32,
}

#[derive(Clone, Copy, Default)]
struct Stamp {
    walk: u32,
    number: u32,
}

thread_local! {
    // Walks nest (a guard of a rewrite may walk), so each takes the stamps away and brings them back.
    static SPARE: RefCell<Vec<Numbering>> = const { RefCell::new(Vec::new()) };
}

impl Numbering {
    /// Calls `walk` with an empty numbering.
    pub fn with<T>(walk: impl FnOnce(&mut Numbering) -> T) -> T {
        let spare = SPARE.with(|spare| spare.borrow_mut().pop());
        let mut numbering = spare.unwrap_or(Numbering { stamps: Vec::new(), walk: 0, count: 0 });
        numbering.start();
        let result = walk(&mut numbering);
        SPARE.with(|spare| spare.borrow_mut().push(numbering));
        result
    }

    fn start(&mut self) {
        self.count = 0;
        self.walk = match self.walk.checked_add(1) {
            Some(walk) => walk,
            None => {
                self.stamps.fill(Stamp::default());
                1
            }
        };
    }

    /// The number of a node met before.
    pub fn get(&self, id: NodeId) -> Option<usize> {
        let stamp = self.stamps.get(id.index())?;
        (stamp.walk == self.walk).then_some(stamp.number as usize)
    }

    /// Gives the next number to a node, unless it has one; says whether it was new.
    pub fn insert(&mut self, id: NodeId) -> bool {
        let index = id.index();
        if index >= self.stamps.len() {
            let length = (index + 1).max(2 * self.stamps.len());
            self.stamps.resize(length, Stamp::default());
        }
        let stamp = &mut self.stamps[index];
        if stamp.walk == self.walk {
            return false;
        }
        *stamp = Stamp { walk: self.walk, number: self.count };
        self.count += 1;
        true
    }
}

/// Every node that `outputs` need, leaves included, operands before users, without walking past `blockers`.
///
/// Depth first from the outputs, operands left to right: the order follows from the graph alone.
pub fn postorder<'a>(outputs: &'a [Var], blockers: &[Var]) -> Vec<&'a Node> {
    let siblings = blocked_siblings(blockers);
    let passes = |var: &Var| siblings.is_empty() || !siblings.contains(&var.identity());
    Numbering::with(|seen| {
        let mut order = Vec::new();
        let mut stack: Vec<(&'a Node, usize)> = Vec::new();
        for blocker in blockers {
            if blocker.node().signature().types().len() == 1 {
                seen.insert(blocker.node().id());
            }
        }
        for output in outputs {
            if passes(output) && seen.insert(output.node().id()) {
                stack.push((output.node(), 0));
            }
            while let Some((node, next)) = stack.last_mut() {
                let node: &'a Node = node;
                match node.inputs().get(*next) {
                    Some(input) => {
                        *next += 1;
                        if passes(input) && seen.insert(input.node().id()) {
                            stack.push((input.node(), 0));
                        }
                    }
                    None => {
                        order.push(node);
                        stack.pop();
                    }
                }
            }
        }
        order
    })
}

/// Whether `outputs` need at most `limit` applications of ops. It visits hardly more than that.
pub fn needs_at_most(outputs: &[Var], limit: usize) -> bool {
    Numbering::with(|seen| {
        let mut met: SmallVec<[&Node; 32]> = SmallVec::new();
        let (mut count, mut next) = (0, outputs);
        loop {
            for var in next {
                let node = var.node();
                if matches!(node.body(), Body::Apply { .. }) && seen.insert(node.id()) {
                    count += 1;
                    met.push(node);
                }
            }
            if count > limit {
                return false;
            }
            match met.pop() {
                Some(node) => next = node.inputs(),
                None => return true,
            }
        }
    })
}

/// The blockers whose node has other outputs; the walk may go past those.
fn blocked_siblings(blockers: &[Var]) -> FxHashSet<(usize, u32)> {
    let several = |var: &&Var| var.node().signature().types().len() > 1;
    blockers.iter().filter(several).map(Var::identity).collect()
}

/// The applications that `outputs` need, operands before users, without walking past `blockers`.
pub fn toposort<'a>(outputs: &'a [Var], blockers: &[Var]) -> Vec<&'a Node> {
    let mut order = postorder(outputs, blockers);
    order.retain(|node| matches!(node.body(), Body::Apply { .. }));
    order
}

/// The root inputs that `outputs` need, in the order in which a walk from the outputs meets them.
pub fn root_inputs(outputs: &[Var]) -> Vec<Var> {
    postorder(outputs, &[])
        .into_iter()
        .filter(|node| matches!(node.body(), Body::Input { .. }))
        .map(|node| Var::new(node.clone(), 0))
        .collect()
}
