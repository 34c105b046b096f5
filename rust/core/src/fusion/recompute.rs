//! Recomputation: elementwise results that each loop computes again, so that they are not stored.
//!
//! Such a result costs at most as much as keeping an element, and reads at most [`MOST_READS`] operands as large as
//! itself. A result of a single element may cost more, but holds no function.

use super::numbered::{Marks, Numbered, VarId};
use super::reading::{Reading, Readings};
use super::spaces::Spaces;
use super::{Costs, Request};

/// Reading this many operands costs as much as writing a result of that size and reading it.
const MOST_READS: usize = 2;

/// The results that loops compute again, and what each is computed from.
pub(super) struct Recompute(Vec<Option<Box<[VarId]>>>);

impl Recompute {
    pub(super) fn new(
        request: &Request,
        graph: &mut Numbered,
        readings: &Readings,
        spaces: &Spaces,
    ) -> Recompute {
        let written: Vec<VarId> = request.written.iter().map(|x| graph.number(x)).collect();
        let mut search = Search {
            again: Recompute((0..graph.len()).map(|_| None).collect()),
            costs: vec![0; graph.len()],
            read: Marks::new(graph.len()),
            written: Marks::new(graph.len()),
            most: request.costs,
            graph,
            spaces,
        };
        search.written.extend(written);
        if request.limit > 1 {
            for (at, &kind) in request.kind_of.iter().enumerate() {
                if let (Some(cost), Some(reading)) = (request.kinds[kind].cost, readings.get(at)) {
                    search.add(cost, reading);
                }
            }
        }
        search.again
    }

    /// The values from which a result is computed again; None if loops read it.
    pub(super) fn again(&self, x: VarId) -> Option<&[VarId]> {
        self.0.get(x.index())?.as_deref()
    }
}

struct Search<'a> {
    again: Recompute,
    costs: Vec<u32>,
    read: Marks,
    written: Marks,
    most: Costs,
    graph: &'a Numbered,
    spaces: &'a Spaces,
}

impl Search<'_> {
    fn add(&mut self, cost: u32, reading: &Reading) {
        let own = self.spaces.space(reading.output);
        let rank = self.spaces.rank(own);
        let most = if rank > 0 { self.most.keeping } else { self.most.function - 1 };
        let mut whole = cost;
        if whole > most {
            return;
        }
        self.read.clear();
        let mut read = Vec::new();
        for base in reading.operands.iter().map(|own| own.base) {
            let Some(leaves) = self.again.again(base) else {
                if self.read.insert(base) {
                    read.push(base);
                }
                continue;
            };
            for &leaf in leaves {
                if self.read.insert(leaf) {
                    read.push(leaf);
                }
            }
            // Operands of a single element are computed once a row.
            if rank == 0 || self.spaces.rank(self.spaces.space(base)) > 0 {
                whole += self.costs[base.index()];
                if whole > most {
                    return;
                }
            }
        }
        // An operand that is written over is gone when the result is computed again.
        if read.iter().any(|x| self.written.contains(*x)) {
            return;
        }
        let as_large = |x: &&VarId| self.spaces.rank(self.spaces.space(**x)) >= rank;
        if rank > 0 && read.len() > MOST_READS && read.iter().filter(as_large).count() > MOST_READS
        {
            return;
        }
        read.retain(|x| self.graph.var(*x).constant().is_none());
        self.costs[reading.output.index()] = whole;
        self.again.0[reading.output.index()] = Some(read.into_boxed_slice());
    }
}
