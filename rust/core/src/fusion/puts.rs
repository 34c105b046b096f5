//! Puts with a loop of their own: rows that go where indices say, apart from what makes them.
//!
//! Threads share the rows of a loop. They cannot if the loop puts rows where indices say, as several may come to one
//! place, in their order. Such a loop is cut along its rows, unless it also writes results as large as itself: threads
//! would write to one page by turns. So where all that a put reads is in memory anyway, it has a loop of its own, and
//! threads share the rows of the other loop.

use rustc_hash::{FxHashMap, FxHashSet};

use super::Known;
use super::levels::Levels;
use super::numbered::{Marks, VarId};

/// Whether each node is a put of rows that should have a loop apart from what makes these.
pub(super) fn puts_apart(known: &Known, levels: &Levels) -> Vec<bool> {
    let mut apart = vec![false; known.request.order.len()];
    let puts = || {
        let loops = levels.loops(known).map(|(at, _)| at);
        loops.filter(|&at| known.readings.get(at).is_some_and(|read| read.puts_rows))
    };
    if puts().next().is_none() {
        return apart;
    }
    let mut readers: FxHashMap<VarId, Vec<usize>> = FxHashMap::default();
    for (at, _) in levels.loops(known) {
        for operand in known.readings.get(at).iter().flat_map(|read| &read.operands) {
            readers.entry(operand.base).or_default().push(at);
        }
    }
    let others = levels.read_by_others(known);
    for put in puts() {
        let Some(taken) = taken_along(known, levels, &others, put) else { continue };
        let makers = taken.iter().filter(|&&at| at != put);
        let mut made = makers.filter_map(|&at| known.readings.get(at)).map(|read| read.output);
        apart[put] =
            made.all(|x| readers.get(&x).is_none_or(|all| all.iter().all(|at| taken.contains(at))));
    }
    apart
}

/// A put and the elementwise nodes of its loop between it and values that are in memory anyway.
///
/// None if it needs other values of that loop, or none of it.
fn taken_along(
    known: &Known,
    levels: &Levels,
    others: &Marks,
    put: usize,
) -> Option<FxHashSet<usize>> {
    let (own, mut reads_stored) = (levels.loop_of[put], false);
    let (mut taken, mut waiting) = (FxHashSet::from_iter([put]), vec![put]);
    while let Some(at) = waiting.pop() {
        for operand in known.readings.get(at).iter().flat_map(|read| &read.operands) {
            let Some(maker) = known.graph.maker(operand.base) else { continue };
            if levels.loop_of[maker] != own || taken.contains(&maker) {
                continue;
            }
            let is_stored = others.contains(operand.base);
            if !operand.moves || !(is_stored || known.kind(maker).elementwise) {
                return None;
            }
            if is_stored {
                reads_stored = true;
            } else {
                taken.insert(maker);
                waiting.push(maker);
            }
        }
    }
    reads_stored.then_some(taken)
}
