//! The loop of every fusible node, and the level of every other node.

use std::collections::BTreeMap;

use super::Known;
use super::numbered::{Marks, VarId};
use super::puts::puts_apart;
use super::reading::Reading;
use super::sinking::{Placement, sink};
use super::spaces::SpaceId;

/// The loop of a node: the one of this level and space.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct LoopKey {
    pub(super) level: u32,
    pub(super) space: SpaceId,
}

/// Nodes by their levels.
pub(super) struct Levels {
    /// The loop of each node that is in one, by the node's position.
    pub(super) loop_of: Vec<Option<LoopKey>>,
    /// Whether each node runs once for each row.
    pub(super) is_row: Vec<bool>,
    /// The nodes outside loops, by level.
    pub(super) others: BTreeMap<u32, Vec<usize>>,
    /// The first level with each variable in memory.
    stored: Vec<u32>,
    /// The loop with an element of each variable a position.
    made: Vec<Option<LoopKey>>,
    /// The loop with an element of each variable a row.
    row_made: Vec<Option<LoopKey>>,
    other_level: Vec<Option<u32>>,
}

/// Where nodes may be.
struct Wanted {
    /// Whether each elementwise node may be a row node; None: all may.
    rows: Option<Vec<bool>>,
    /// Whether each node reads all of its operands from memory.
    apart: Vec<bool>,
}

impl Levels {
    /// The levels in which row nodes are in loops that repeat them, with nodes in the later loops that alone read them.
    pub(super) fn settled(known: &mut Known) -> Levels {
        let count = known.request.order.len();
        let mut levels = Levels::new(known, &Wanted { rows: None, apart: vec![false; count] });
        let (rows, apart) = (levels.repeated(known), puts_apart(known, &levels));
        if rows != levels.is_row || apart.iter().any(|is_apart| *is_apart) {
            // A row node belongs in a loop only if a node of that loop repeats it along the row.
            levels = Levels::new(known, &Wanted { rows: Some(rows), apart });
        }
        levels.sink(known);
        levels
    }

    fn new(known: &mut Known, wanted: &Wanted) -> Levels {
        let (count, vars) = (known.request.order.len(), known.graph.len());
        let mut levels = Levels {
            loop_of: vec![None; count],
            is_row: vec![false; count],
            others: BTreeMap::new(),
            stored: vec![0; vars],
            made: vec![None; vars],
            row_made: vec![None; vars],
            other_level: vec![None; count],
        };
        for position in 0..known.needed.len() {
            let at = known.needed[position];
            // Within a level, other nodes come before loops, in order.
            let mut least = 0;
            for &reader in known.before(at) {
                let loops = levels.loop_of[reader].map_or(0, |key| key.level + 1);
                least = least.max(loops).max(levels.other_level[reader].unwrap_or(0));
            }
            if known.readings.get(at).is_some() {
                levels.add(known, wanted, at, least);
            } else {
                levels.add_other(known, at, least);
            }
        }
        levels
    }

    fn add_other(&mut self, known: &Known, at: usize, least: u32) {
        let values = self.stored_at(known.value_operands(at));
        let level = least.max(values).max(self.stored_at(known.leaves[at].iter().copied()));
        self.other_level[at] = Some(level);
        self.others.entry(level).or_default().push(at);
        known.graph.outputs(at).for_each(|output| self.stored[output.index()] = level);
    }

    /// The first level at which all of these are in memory.
    fn stored_at(&self, read: impl IntoIterator<Item = VarId>) -> u32 {
        read.into_iter().map(|x| self.stored[x.index()]).max().unwrap_or(0)
    }

    /// The first level at which a loop can read an operand, or compute it again.
    fn available(&self, known: &Known, base: VarId) -> u32 {
        self.stored_at(known.reads(&base).iter().copied())
    }

    fn add(&mut self, known: &mut Known, wanted: &Wanted, at: usize, mut least: u32) {
        let own_rows = known.kind(at).row.is_some();
        let Some(read) = known.readings.get(at) else { return };
        let output = read.output;
        // A node whose rows are not the last dimension has a loop of its own.
        let own = if own_rows { known.spaces.own(output) } else { known.spaces.space(read.over) };
        least = least.max(self.stored_at(known.spaces.leaves(read.over).iter().copied()));
        if wanted.apart[at] {
            let bases = read.operands.iter().map(|own| self.available(known, own.base));
            least = least.max(bases.max().unwrap_or(0));
        }
        let plain = LoopKey { level: self.level(known, read, own, least), space: own };
        let key = match self.row_loop(known, wanted, at, own, least) {
            Some(key) if key.level < plain.level => {
                self.is_row[at] = true;
                self.row_made[output.index()] = Some(key);
                key
            }
            _ => {
                let kind = known.kind(at);
                if kind.makes_elements {
                    self.made[output.index()] = Some(plain);
                } else if kind.reduces_rows && !sums_short_rows(known, at, read) {
                    self.row_made[output.index()] = Some(plain);
                }
                plain
            }
        };
        self.loop_of[at] = Some(key);
        self.stored[output.index()] = key.level + 1;
    }

    /// The level of a node in a loop over its own space.
    fn level(&self, known: &Known, read: &Reading, own: SpaceId, least: u32) -> u32 {
        let mut level = least.max(self.stored_at(read.whole));
        for operand in &read.operands {
            let at = operand.base.index();
            let whole = self.made[at].filter(|key| operand.moves && key.space == own);
            let repeated =
                || self.row_made[at].filter(|key| operand.repeats_row && key.space == own);
            level = level.max(match whole.or_else(repeated) {
                Some(key) => key.level,
                None => self.available(known, operand.base),
            });
        }
        level
    }

    /// The first loop that can have the node as a row node, since it computes its operands.
    fn row_loop(
        &self,
        known: &Known,
        wanted: &Wanted,
        at: usize,
        own: SpaceId,
        least: u32,
    ) -> Option<LoopKey> {
        if !known.kind(at).elementwise || wanted.rows.as_ref().is_some_and(|rows| !rows[at]) {
            return None;
        }
        let operands = &known.readings.get(at)?.operands;
        let hosts = operands.iter().filter(|own| own.moves);
        let mut best: Option<LoopKey> = None;
        for host in hosts.filter_map(|own| self.row_made[own.base.index()]) {
            if !known.spaces.is_rows_of(own, host.space) {
                continue;
            }
            let levels = operands.iter().map(|operand| {
                let made = self.row_made[operand.base.index()];
                match made.filter(|key| key.space == host.space && operand.moves) {
                    Some(key) => key.level,
                    None => self.available(known, operand.base),
                }
            });
            let level = levels.fold(least, u32::max);
            if level == host.level && best.is_none_or(|best| level < best.level) {
                best = Some(host);
            }
        }
        best
    }

    /// The row nodes that their loop repeats along the row, and those that they read.
    fn repeated(&self, known: &Known) -> Vec<bool> {
        let mut kept = vec![false; self.is_row.len()];
        if !self.is_row.contains(&true) {
            return kept;
        }
        for (at, key) in self.loops(known).rev() {
            if self.is_row[at] && !kept[at] {
                continue;
            }
            let Some(read) = known.readings.get(at) else { continue };
            for maker in read.operands.iter().filter_map(|own| known.graph.maker(own.base)) {
                if self.is_row[maker] && self.loop_of[maker] == Some(key) {
                    kept[maker] = true;
                }
            }
        }
        kept
    }

    /// The nodes of loops, in order, with their loops.
    pub(super) fn loops(&self, known: &Known) -> impl DoubleEndedIterator<Item = (usize, LoopKey)> {
        known.needed.iter().filter_map(|&at| Some((at, self.loop_of[at]?)))
    }

    /// The outputs, and what nodes outside loops read.
    pub(super) fn read_by_others(&self, known: &Known) -> Marks {
        let mut read = Marks::new(known.graph.len());
        read.extend(known.outputs.iter().copied());
        for &at in self.others.values().flatten() {
            read.extend(known.value_operands(at));
            read.extend(known.leaves[at].iter().copied());
        }
        read
    }

    /// Whether two loops are over one space.
    fn share_spaces(&self, known: &Known) -> bool {
        let mut level_of = rustc_hash::FxHashMap::default();
        let keys = self.loops(known).map(|(_, key)| key);
        keys.filter(|key| known.spaces.rank(key.space) > 0)
            .any(|key| *level_of.entry(key.space).or_insert(key.level) != key.level)
    }

    /// Moves nodes to the later loops that alone read their results.
    fn sink(&mut self, known: &Known) {
        if !self.share_spaces(known) {
            return;
        }
        let mut read = self.read_by_others(known);
        for (at, _) in self.loops(known) {
            let Some(own) = known.readings.get(at) else { continue };
            read.extend(known.spaces.leaves(own.over).iter().copied());
            read.extend(own.whole);
        }
        // Readers of memory that is written over afterwards should not come later.
        let mut fixed = self.is_row.clone();
        known.before.values().flatten().for_each(|&reader| fixed[reader] = true);
        for (at, key) in sink(&Placement::new(known, self, fixed, read)) {
            self.loop_of[at] = Some(key);
        }
    }
}

/// Whether a node sums rows that may be short, and computes their elements of smaller arrays.
///
/// Its loop needs no other dimension innermost, then, unless it has more to do with the rows. So it gets a loop without
/// that: elements that cost little are computed again for it.
fn sums_short_rows(known: &Known, at: usize, read: &Reading) -> bool {
    let Some(base) = read.operands.first().map(|own| own.base) else { return false };
    let rank = |x: VarId| known.spaces.rank(known.spaces.space(x));
    let over = rank(read.over);
    known.kind(at).sums_short
        && known.recompute.again(base).is_some_and(|read| read.iter().all(|x| rank(*x) < over))
}
