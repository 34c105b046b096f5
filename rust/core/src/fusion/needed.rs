//! The nodes without dead code.

use super::numbered::{Marks, Numbered, VarId};
use super::reading::Readings;
use super::spaces::{Lengths, Spaces};
use super::{Request, values};

/// The nodes that `outputs` need, in order, and what the lengths of those outside loops are computed from.
pub(super) struct Needed {
    pub(super) nodes: Vec<usize>,
    pub(super) leaves: Vec<Box<[VarId]>>,
}

impl Needed {
    pub(super) fn new<L: Lengths>(
        request: &Request,
        graph: &mut Numbered,
        readings: &Readings,
        spaces: &Spaces,
        lengths: &mut L,
    ) -> Result<Needed, L::Error> {
        let outputs: Vec<VarId> = request.outputs.iter().map(|x| graph.number(x)).collect();
        let mut wanted = Marks::new(graph.len());
        wanted.extend(outputs);
        let mut leaves: Vec<Box<[VarId]>> =
            (0..request.order.len()).map(|_| Box::default()).collect();
        let mut nodes = Vec::new();
        for at in (0..request.order.len()).rev() {
            if let Some(read) = readings.get(at) {
                if wanted.contains(read.output) {
                    nodes.push(at);
                    wanted.extend(read.whole);
                    wanted.extend(read.operands.iter().map(|own| own.base));
                    wanted.extend(spaces.leaves(read.over).iter().copied());
                }
            } else if graph.outputs(at).any(|x| wanted.contains(x)) {
                nodes.push(at);
                let around = lengths.leaves_around(&request.order[at])?;
                leaves[at] = around.iter().map(|x| graph.number(x)).collect();
                wanted.grow(graph.len());
                wanted.extend(values(graph, &request.kinds[request.kind_of[at]], at));
                wanted.extend(leaves[at].iter().copied());
            }
        }
        nodes.reverse();
        Ok(Needed { nodes, leaves })
    }
}
