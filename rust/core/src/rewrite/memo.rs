//! The results of a rule set for nodes, remembered across graphs as long as node and result live.

use rustc_hash::FxHashMap;

use crate::intern::sync::{Mutex, MutexGuard};
use crate::node::{Var, WeakNode};

/// A variable's container, its node's number there, and its position among the outputs.
type Key = (u64, u32, u32);

struct Remembered {
    of: WeakNode,
    became: Became,
}

#[derive(Clone)]
enum Became {
    Itself,
    Other(WeakNode, u32),
}

/// A table that keeps nothing alive. Numbers of nodes are used again, so each entry identifies its node.
#[derive(Default)]
pub(crate) struct Memo {
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    entries: FxHashMap<Key, Remembered>,
    /// With more entries than this, entries of dead nodes are looked for and removed.
    crowded: usize,
}

/// Smaller tables are not worth a search.
const ALWAYS_KEPT: usize = 4096;

fn key(var: &Var) -> Key {
    (var.node().container_number(), var.node().id().0, var.index() as u32)
}

impl Memo {
    /// The variable in place of `var`.
    pub(crate) fn get(&self, var: &Var) -> Option<Var> {
        let became = {
            let table = self.table.lock();
            let entry = table.entries.get(&key(var)).filter(|entry| entry.of.is(var.node()))?;
            entry.became.clone()
        };
        // Handles are made after the lock is released.
        match became {
            Became::Itself => Some(var.clone()),
            Became::Other(node, index) => Some(Var::new(node.upgrade()?, index)),
        }
    }

    /// Whether `var` is remembered to stay as it is.
    pub(crate) fn keeps(&self, var: &Var) -> bool {
        let table = self.table.lock();
        let entry = table.entries.get(&key(var));
        entry.is_some_and(|own| matches!(own.became, Became::Itself) && own.of.is(var.node()))
    }

    /// Remembers the variables in place of others.
    pub(crate) fn extend<'a>(&self, pairs: impl Iterator<Item = (&'a Var, &'a Var)>) {
        let made: Vec<(Key, Remembered)> = pairs
            .map(|(var, result)| {
                let became = match var == result {
                    true => Became::Itself,
                    false => Became::Other(result.node().downgrade(), result.index() as u32),
                };
                (key(var), Remembered { of: var.node().downgrade(), became })
            })
            .collect();
        let mut replaced = Vec::with_capacity(made.len());
        let crowd = {
            let mut table = self.table.lock();
            for (key, remembered) in made {
                replaced.push(table.entries.insert(key, remembered));
            }
            let crowded = table.entries.len() > table.crowded.max(ALWAYS_KEPT);
            crowded.then(|| std::mem::take(&mut table.entries))
        };
        drop(replaced);
        if let Some(crowd) = crowd {
            self.forget_the_dead(crowd);
        }
    }

    /// Puts the living entries back. Other threads find the table empty meanwhile, and compute the results that they
    /// need again.
    fn forget_the_dead(&self, mut crowd: FxHashMap<Key, Remembered>) {
        crowd.retain(|_, remembered| {
            remembered.of.upgrade().is_some()
                && match &remembered.became {
                    Became::Itself => true,
                    Became::Other(node, _) => node.upgrade().is_some(),
                }
        });
        crowd.shrink_to(2 * crowd.len());
        let mut late = Vec::new();
        let mut table = self.table.lock();
        table.crowded = 2 * crowd.len();
        for (key, remembered) in std::mem::take(&mut table.entries) {
            late.push(crowd.insert(key, remembered));
        }
        table.entries = crowd;
        drop(table);
        drop(late);
    }

    /// The lock, for a thread that forks.
    pub(crate) fn hold(&self) -> MutexGuard<'_, impl Sized> {
        self.table.lock()
    }

    /// The number of entries, dead nodes' entries included.
    pub(crate) fn len(&self) -> usize {
        self.table.lock().entries.len()
    }
}
