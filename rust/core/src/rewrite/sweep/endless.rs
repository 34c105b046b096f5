//! Rules that never come to an end: the test by which a sweep notices, and the message.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Entry, ItemState, Stop, Sweep};
use crate::node::traverse::postorder;
use crate::value::error::Error;

/// Rewrites of a graph of n nodes beyond this plus `REWRITES_PER_NODE` n mean that the rules do not end.
const REWRITES: usize = 10_000;
const REWRITES_PER_NODE: usize = 64;

impl Sweep {
    /// Counts a rewrite; too many of them mean that the rules do not end.
    pub(super) fn count(&mut self, entry: Entry, rule: u32) -> Result<(), Stop> {
        self.rewrites += 1;
        if self.rewrites <= REWRITES {
            return Ok(());
        }
        let outputs = &self.outputs;
        let limit = *self
            .limit
            .get_or_insert_with(|| REWRITES + REWRITES_PER_NODE * postorder(outputs, &[]).len());
        // The rules that go on for ever are those that still apply at the end.
        const WATCHED: usize = 256;
        if self.rewrites + WATCHED > limit {
            self.recent.push(rule);
        }
        if self.rewrites <= limit {
            return Ok(());
        }
        let (rules, rewrites) = (self.names(&self.recent), self.rewrites);
        Err(Stop::Endless { entry, why: Error::RulesDiverge { rules, rewrites } })
    }

    /// The error for entries that wait for one another: rules that lead back to their start.
    pub(super) fn cycle_from(&self, start: Entry) -> Stop {
        let mut path: Vec<Entry> = Vec::new();
        let mut position: FxHashMap<Entry, usize> = FxHashMap::default();
        let mut current = Some(start);
        while let Some(entry) = current {
            if let Some(&begin) = position.get(&entry) {
                let rules: Vec<u32> = path[begin..]
                    .iter()
                    .filter_map(|&entry| match self.items[entry as usize].state {
                        ItemState::Follows { rule, .. } => rule,
                        _ => None,
                    })
                    .collect();
                let at = self.items[entry as usize].var.describe();
                let first = *path[begin..].iter().min().expect("a cycle has an entry");
                return Stop::Endless {
                    entry: first,
                    why: Error::RuleCycle { rules: self.names(&rules), at },
                };
            }
            position.insert(entry, path.len());
            path.push(entry);
            let item = &self.items[entry as usize];
            current = match &item.state {
                ItemState::Follows { entry, .. } => Some(*entry),
                ItemState::Fresh => item
                    .var
                    .node()
                    .inputs()
                    .iter()
                    .filter_map(|input| self.numbers.get(&input.identity()).copied())
                    .find(|&operand| self.result(operand).is_none()),
                ItemState::Asked(_) | ItemState::Done(_) => None,
            };
        }
        unreachable!("what is neither done nor asked for waits for something that is not done")
    }

    /// The names of rules, each once, in the order in which they applied.
    fn names(&self, rules: &[u32]) -> Vec<String> {
        let mut seen = FxHashSet::default();
        rules
            .iter()
            .filter(|&&rule| seen.insert(rule))
            .map(|&rule| self.rules.rules()[rule as usize].name.to_string())
            .collect()
    }
}
