//! Sinking: nodes whose results one later loop reads, and nothing else, are computed in that loop.
//!
//! A node stands in the first loop that can have it. Where all that reads its result is a later loop over the same
//! space, the result would be written by one loop and read by the other. In the later loop it needs no memory.

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::Known;
use super::levels::{Levels, LoopKey};
use super::numbered::{Marks, VarId};

/// The cost of writing a result and reading it again, in reads.
const WRITTEN: isize = 2;

/// The loops that the nodes of one loop are tried in. Where each loop adds to what the one before it made, those of
/// thousands could be tried in all later ones, one after the other.
const MOST_TRIES: usize = 16;

/// The loops of nodes, and what is read by more than these.
pub(super) struct Placement<'a> {
    known: &'a Known<'a>,
    levels: &'a Levels,
    /// Whether each node stays where it is.
    fixed: Vec<bool>,
    /// The variables that are read from memory whatever the loops of nodes are.
    read: Marks,
    /// The results of all nodes.
    made: Marks,
    /// How often the nodes of a loop read an array as large as the loop.
    reads: FxHashMap<(LoopKey, VarId), usize>,
}

/// The loops from which and to which nodes move.
type Pair = (LoopKey, LoopKey);

/// For each loop those that its nodes do not move to.
type Refused = FxHashMap<LoopKey, SmallVec<[LoopKey; 4]>>;

impl<'a> Placement<'a> {
    pub(super) fn new(
        known: &'a Known<'a>,
        levels: &'a Levels,
        fixed: Vec<bool>,
        read: Marks,
    ) -> Self {
        let (made, reads) = (Marks::new(known.graph.len()), FxHashMap::default());
        let mut placement = Placement { known, levels, fixed, read, made, reads };
        let mut reads: FxHashMap<(LoopKey, VarId), usize> = FxHashMap::default();
        for (at, key) in levels.loops(known) {
            placement.made.extend(known.readings.get(at).map(|own| own.output));
            for x in placement.whole_operands(at) {
                *reads.entry((key, x)).or_default() += 1;
            }
        }
        placement.reads = reads;
        placement
    }

    fn output(&self, at: usize) -> Option<VarId> {
        Some(self.known.readings.get(at)?.output)
    }

    /// The values that a node reads, and whether its loop computes an element of each at each of its positions if it
    /// computes them at all.
    fn operands(&self, at: usize) -> impl Iterator<Item = (VarId, bool)> {
        let read = self.known.readings.get(at).into_iter();
        let is_row = self.levels.is_row[at];
        read.flat_map(|own| &own.operands).map(move |own| (own.base, own.moves && !is_row))
    }

    /// The arrays as large as its loop that a node reads, as often as it reads them.
    fn whole_operands(&self, at: usize) -> impl Iterator<Item = VarId> {
        self.operands(at).filter(|(_, is_whole)| *is_whole).map(|(base, _)| base)
    }

    /// The reads of arrays as large as two loops that are saved if nodes go to the later one.
    ///
    /// It takes time for the nodes that go alone: thousands of loops may send nodes to one.
    fn gain(&self, (first, to): Pair, moved: &[usize], stored: &Marks) -> isize {
        let leaving = FxHashSet::from_iter(moved.iter().copied());
        let stays = |at| self.levels.loop_of[at] == Some(first) && !leaving.contains(&at);
        let made = |x: VarId| self.known.graph.maker(x).is_some_and(stays);
        let reads = |key: LoopKey, x: VarId| self.reads.get(&(key, x)).copied().unwrap_or(0);
        let mut read: FxHashMap<VarId, usize> = FxHashMap::default();
        moved.iter().flat_map(|&at| self.whole_operands(at)).for_each(|x| {
            *read.entry(x).or_default() += 1;
        });
        let saved = moved.iter().filter_map(|&at| self.output(at));
        let saved = saved.filter(|x| stored.contains(*x)).count();
        let newly_stored = read.keys().filter(|x| made(**x) && !stored.contains(**x)).count();
        let again = read
            .iter()
            .filter(|(x, count)| reads(first, **x) > **count && reads(to, **x) == 0 && !made(**x))
            .count();
        WRITTEN * (saved as isize - newly_stored as isize) - again as isize
    }
}

/// The later loops of the nodes that sink.
///
/// All nodes of one loop that can sink into another one do so if that saves memory, else none.
pub(super) fn sink(placement: &Placement) -> Vec<(usize, LoopKey)> {
    let mut refused = Refused::default();
    let mut stored = None;
    loop {
        let moves = Walk::new(placement, Some(&refused)).moves;
        if moves.is_empty() {
            return Vec::new();
        }
        let stored = stored.get_or_insert_with(|| Walk::new(placement, None).read);
        let worse: Vec<Pair> = moves
            .iter()
            .filter(|(pair, nodes)| placement.gain(**pair, nodes, stored) <= 0)
            .map(|(pair, _)| *pair)
            .collect();
        if worse.is_empty() {
            let all = moves.into_iter();
            return all
                .flat_map(|((_, to), nodes)| nodes.into_iter().map(move |at| (at, to)))
                .collect();
        }
        for (first, to) in worse {
            refused.entry(first).or_default().push(to);
        }
    }
}

/// A walk from the last node to the first, in which nodes sink as far as they can.
struct Walk<'a> {
    placement: &'a Placement<'a>,
    /// The moves that are not made; None: none is made.
    refused: Option<&'a Refused>,
    /// The nodes that sink, by their loops.
    moves: FxHashMap<Pair, Vec<usize>>,
    /// The variables that are read from memory.
    read: Marks,
    /// The loops that may compute a variable themselves.
    readers: FxHashMap<VarId, SmallVec<[LoopKey; 2]>>,
}

impl<'a> Walk<'a> {
    fn new(placement: &'a Placement<'a>, refused: Option<&'a Refused>) -> Walk<'a> {
        let (moves, readers) = (FxHashMap::default(), FxHashMap::default());
        let mut walk = Walk { placement, refused, moves, read: placement.read.clone(), readers };
        for (at, key) in placement.levels.loops(placement.known).rev() {
            walk.place(at, key);
        }
        walk
    }

    fn place(&mut self, at: usize, own: LoopKey) {
        let placement = self.placement;
        let Some(output) = placement.output(at) else { return };
        let keys = self.readers.get(&output).cloned().unwrap_or_default();
        let is_read = self.read.contains(output);
        if keys.is_empty() && !is_read {
            return; // dead code
        }
        let mut key = own;
        // A single element saves nothing.
        if let ([to], false, true) =
            (&keys[..], is_read, placement.known.spaces.rank(own.space) > 0)
        {
            key = self.loop_of(at, own, *to);
        }
        if keys.len() > 1 || (!keys.is_empty() && !keys.contains(&key)) {
            self.read.extend(placement.known.reads(&output).iter().copied());
        }
        for (base, is_whole) in placement.operands(at) {
            if is_whole && placement.made.contains(base) {
                let readers = self.readers.entry(base).or_default();
                if !readers.contains(&key) {
                    readers.push(key);
                }
            } else {
                self.read.extend(placement.known.reads(&base).iter().copied());
            }
        }
    }

    /// The loop that computes a node of the loop `own`, whose result the loop `to` alone reads.
    fn loop_of(&mut self, at: usize, own: LoopKey, to: LoopKey) -> LoopKey {
        let Some(refused) = self.refused else { return own };
        if self.placement.fixed[at] || !self.placement.known.kind(at).elementwise {
            return own;
        }
        if to.level <= own.level || to.space != own.space {
            return own;
        }
        let tried = refused.get(&own);
        if tried.is_some_and(|all| all.len() >= MOST_TRIES || all.contains(&to)) {
            return own;
        }
        self.moves.entry((own, to)).or_default().push(at);
        to
    }
}
