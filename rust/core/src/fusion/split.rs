//! Loops that are too long, cut in parts.

use rustc_hash::FxHashMap;

use super::Known;
use super::numbered::VarId;

/// `nodes` in parts of at most `limit`, cut where the fewest values cross.
pub(super) fn split(known: &Known, nodes: &[usize], limit: usize) -> Vec<Vec<usize>> {
    if nodes.len() <= limit {
        return vec![nodes.to_vec()];
    }
    let crossing = crossing(known, nodes);
    let mut parts = Vec::new();
    let mut start = 0;
    while nodes.len() - start > limit {
        let window = start + limit - limit / 3..=start + limit;
        // The last of those that are as good.
        let cut = window.rev().min_by_key(|at| crossing[*at]).unwrap_or(start + limit);
        parts.push(nodes[start..cut].to_vec());
        start = cut;
    }
    parts.push(nodes[start..].to_vec());
    parts
}

/// For each position the number of values that are made before it and used there or later.
fn crossing(known: &Known, nodes: &[usize]) -> Vec<isize> {
    let readings = || nodes.iter().filter_map(|&at| known.readings.get(at)).enumerate();
    let position: FxHashMap<VarId, usize> = readings().map(|(at, own)| (own.output, at)).collect();
    let mut last_use = vec![None; nodes.len()];
    for (at, own) in readings() {
        for producer in own.operands.iter().filter_map(|operand| position.get(&operand.base)) {
            last_use[*producer] = Some(at);
        }
    }
    let mut crossing = vec![0isize; nodes.len() + 1];
    for (made, used) in last_use.into_iter().enumerate() {
        if let Some(used) = used {
            crossing[made + 1] += 1;
            crossing[used + 1] -= 1;
        }
    }
    for at in 1..crossing.len() {
        crossing[at] += crossing[at - 1];
    }
    crossing
}
