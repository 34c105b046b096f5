//! Tasks: loops, and nodes that run by themselves, in the order in which they run.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::Known;
use super::levels::{Levels, LoopKey};
use super::numbered::{Marks, VarId};
use super::reading::Operand;
use super::spaces::SpaceId;
use super::split::split;

/// A loop, or a node that runs by itself.
pub(super) enum Task {
    Loop(Loop),
    Node(usize),
}

/// Nodes that become one loop kernel: all over one space, operands before users.
pub(super) struct Loop {
    pub(super) nodes: Vec<usize>,
    /// The nodes that run once for each row. If all did, the loop would be one over the rows.
    rows: FxHashSet<usize>,
    /// The variables that the loop computes an element of at each position of a row.
    made: FxHashSet<VarId>,
    /// The variables that the loop computes an element of for each row.
    pub(super) row_values: FxHashSet<VarId>,
}

impl Loop {
    pub(super) fn new(known: &Known, levels: &Levels, nodes: Vec<usize>) -> Loop {
        let mut rows: FxHashSet<usize> =
            nodes.iter().copied().filter(|&at| levels.is_row[at]).collect();
        if rows.len() == nodes.len() {
            rows.clear();
        }
        let (mut made, mut row_values) = (FxHashSet::default(), FxHashSet::default());
        for &at in &nodes {
            let Some(read) = known.readings.get(at) else { continue };
            let (kind, is_row) = (known.kind(at), rows.contains(&at));
            if kind.makes_elements && !is_row {
                made.insert(read.output);
            }
            if kind.reduces_rows || is_row {
                row_values.insert(read.output);
            }
        }
        Loop { nodes, rows, made, row_values }
    }

    pub(super) fn is_row(&self, at: usize) -> bool {
        self.rows.contains(&at)
    }

    /// Whether the loop computes the elements that its node reads of an operand.
    pub(super) fn makes(&self, at: usize, operand: &Operand) -> bool {
        let is_row_value = || self.row_values.contains(&operand.base);
        if self.is_row(at) {
            return operand.moves && is_row_value();
        }
        if self.made.contains(&operand.base) {
            return operand.moves;
        }
        operand.repeats_row && is_row_value()
    }
}

/// The tasks that the outputs need, in the order in which they run.
pub(super) fn tasks(known: &Known, levels: &Levels) -> Vec<Task> {
    type Loops = SmallVec<[(SpaceId, Vec<usize>); 1]>;
    let live = live(known, levels);
    let mut loops: BTreeMap<u32, (Loops, FxHashMap<SpaceId, usize>)> = BTreeMap::new();
    for (at, LoopKey { level, space }) in levels.loops(known).filter(|(at, _)| live[*at]) {
        let (loops, places) = loops.entry(level).or_default();
        let place = *places.entry(space).or_insert_with(|| {
            loops.push((space, Vec::new()));
            loops.len() - 1
        });
        loops[place].1.push(at);
    }
    let mut tasks = Vec::new();
    let mut others = levels.others.iter().peekable();
    let mut add_others = |tasks: &mut Vec<Task>, level: u32| {
        while let Some((_, nodes)) = others.next_if(|(own, _)| **own <= level) {
            tasks.extend(nodes.iter().map(|&at| Task::Node(at)));
        }
    };
    for (level, (loops, _)) in loops {
        add_others(&mut tasks, level);
        for (_, nodes) in loops {
            let parts = split(known, &nodes, known.request.limit).into_iter();
            tasks.extend(parts.map(|part| Task::Loop(Loop::new(known, levels, part))));
        }
    }
    add_others(&mut tasks, u32::MAX);
    tasks
}

/// Whether each node is in a loop, and no dead code.
fn live(known: &Known, levels: &Levels) -> Vec<bool> {
    let mut wanted: Marks = levels.read_by_others(known);
    let mut live = vec![false; known.request.order.len()];
    // The results that loops may compute again, by the loops that read them.
    let mut readers: FxHashMap<VarId, SmallVec<[LoopKey; 2]>> = FxHashMap::default();
    for (at, key) in levels.loops(known).rev() {
        let Some(read) = known.readings.get(at) else { continue };
        let by_loop = || readers.get(&read.output).is_some_and(|keys| keys.contains(&key));
        if !wanted.contains(read.output) && !by_loop() {
            continue;
        }
        live[at] = true;
        wanted.extend(known.spaces.leaves(read.over).iter().copied());
        wanted.extend(read.whole);
        for base in read.operands.iter().map(|own| own.base) {
            let Some(below) = known.recompute.again(base) else {
                wanted.extend([base]);
                continue;
            };
            let keys = readers.entry(base).or_default();
            if !keys.contains(&key) {
                keys.push(key);
            }
            wanted.extend(below.iter().copied());
        }
    }
    live
}
