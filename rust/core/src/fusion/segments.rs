//! Segments: the parts of a graph that run one after the other, each as one loop or one call.

use rustc_hash::FxHashMap;

use super::levels::Levels;
use super::needed::Needed;
use super::numbered::{Marks, Numbered, VarId};
use super::reading::Readings;
use super::recompute::Recompute;
use super::spaces::{Lengths, Spaces};
use super::steps::Steps;
use super::tasks::{Loop, Task, tasks};
use super::{Known, Request};
use crate::node::{Var, traverse};

/// A part of a graph that runs as one.
pub struct Segment {
    /// The positions of its nodes: those of a loop, in the order of the segment's graph, or the one node.
    pub nodes: Vec<usize>,
    /// The work of a loop on its nodes; None for a node that runs by itself.
    pub in_loop: Option<InLoop>,
    /// The variables that it reads, in the order in which a walk from the outputs meets them.
    pub inputs: Vec<Var>,
    /// The variables that it leaves in memory.
    pub outputs: Vec<Var>,
}

/// The work of a loop on its nodes.
pub struct InLoop {
    /// The positions of the nodes that run once for each row.
    pub row_nodes: Vec<usize>,
    /// The variables that the loop computes an element of for each row.
    pub row_values: Vec<Var>,
    /// The steps that run for each element.
    pub steps: Steps,
}

impl InLoop {
    fn new(known: &Known, own: &Loop, stored: &Marks) -> InLoop {
        let row_values = own.row_values.iter().map(|x| known.graph.var(*x).clone());
        InLoop {
            row_nodes: own.nodes.iter().copied().filter(|&at| own.is_row(at)).collect(),
            row_values: row_values.collect(),
            steps: Steps::of(known, own, stored),
        }
    }
}

/// A graph cut into segments.
pub struct Cut<'a> {
    /// The segments, in the order in which they run. Lengths and dead code are in none.
    pub segments: Vec<Segment>,
    known: Known<'a>,
}

impl Cut<'_> {
    /// A variable that a loop reads or makes.
    pub fn var(&self, x: VarId) -> &Var {
        self.known.graph.var(x)
    }
}

/// Cuts a graph into segments.
pub fn cut<'a, L: Lengths>(request: &'a Request<'a>, lengths: &mut L) -> Result<Cut<'a>, L::Error> {
    let mut known = known(request, lengths)?;
    let levels = Levels::settled(&mut known);
    let mut cutter = Cutter {
        ends: Marks::new(known.graph.len()),
        seen: Marks::new(known.graph.len()),
        stored: Marks::new(known.graph.len()),
        positions: request
            .order
            .iter()
            .enumerate()
            .map(|(at, node)| (node.address(), at))
            .collect(),
        known: &known,
        levels: &levels,
    };
    cutter.stored.extend(known.outputs.iter().copied());
    // From the last to the first, so that dead code is left out.
    let all = tasks(&known, &levels).into_iter().rev();
    let mut parts: Vec<_> = all.filter_map(|task| cutter.segment(task)).collect();
    parts.reverse();
    // Which values are stored is known once all loops have told what they read.
    let in_loop = |own: Loop| InLoop::new(&known, &own, &cutter.stored);
    let parts = parts.into_iter();
    let segments = parts.map(|(own, rest)| Segment { in_loop: own.map(in_loop), ..rest }).collect();
    Ok(Cut { segments, known })
}

fn known<'a, L: Lengths>(request: &'a Request<'a>, lengths: &mut L) -> Result<Known<'a>, L::Error> {
    let mut graph = Numbered::new(request.order);
    let outputs = request.outputs.iter().map(|x| graph.number(x)).collect();
    let readings = Readings::new(request, &mut graph);
    let spaces = Spaces::new(&readings, &mut graph, lengths)?;
    let recompute = Recompute::new(request, &mut graph, &readings, &spaces);
    let Needed { nodes, leaves } = Needed::new(request, &mut graph, &readings, &spaces, lengths)?;
    let mut before = FxHashMap::default();
    if !request.before.is_empty() {
        let positions: FxHashMap<usize, usize> =
            request.order.iter().enumerate().map(|(at, node)| (node.address(), at)).collect();
        before.extend(request.before.iter().filter_map(|(writer, readers)| {
            let readers = readers.iter().filter_map(|node| positions.get(&node.address()).copied());
            Some((*positions.get(&writer.address())?, readers.collect()))
        }));
    }
    Ok(Known {
        request,
        graph,
        outputs,
        readings,
        spaces,
        recompute,
        before,
        needed: nodes,
        leaves,
    })
}

struct Cutter<'a> {
    known: &'a Known<'a>,
    levels: &'a Levels,
    positions: FxHashMap<usize, usize>,
    stored: Marks,
    ends: Marks,
    seen: Marks,
}

impl Cutter<'_> {
    /// The segment of a task, None if it is dead; its operands are stored.
    fn segment(&mut self, task: Task) -> Option<(Option<Loop>, Segment)> {
        match task {
            Task::Loop(own) => self.loop_segment(own),
            Task::Node(at) => Some((None, self.node_segment(at)?)),
        }
    }

    fn node_segment(&mut self, at: usize) -> Option<Segment> {
        let known = self.known;
        if !known.graph.outputs(at).any(|x| self.stored.contains(x)) {
            return None;
        }
        self.stored.extend(known.leaves[at].iter().copied());
        if known.kind(at).is_length {
            return None; // the instructions that need it evaluate it
        }
        self.stored.extend(known.value_operands(at));
        let mut inputs = Vec::new();
        for input in known.request.order[at].inputs() {
            if input.constant().is_none() && !inputs.contains(input) {
                inputs.push(input.clone());
            }
        }
        let outputs = known.request.order[at].outputs().collect();
        Some(Segment { nodes: vec![at], in_loop: None, inputs, outputs })
    }

    fn loop_segment(&mut self, mut own: Loop) -> Option<(Option<Loop>, Segment)> {
        let known = self.known;
        let results = own.nodes.iter().filter_map(|&at| Some(known.readings.get(at)?.output));
        let outputs: Vec<VarId> = results.filter(|x| self.stored.contains(*x)).collect();
        if outputs.is_empty() {
            return None;
        }
        self.find_ends(&own);
        let vars = |all: &[VarId]| -> Vec<Var> {
            all.iter().map(|x| known.graph.var(*x).clone()).collect()
        };
        let (inputs, outputs) = (vars(&self.frontier(&outputs)), vars(&outputs));
        // The order of nodes must not depend on where the segment is in the graph.
        let mut in_it = rustc_hash::FxHashSet::from_iter(own.nodes.iter().copied());
        let order = traverse::toposort(&outputs, &inputs).into_iter();
        let nodes: Vec<usize> = order
            .filter_map(|node| self.positions.get(&node.address()).copied())
            .filter(|at| in_it.remove(at))
            .collect();
        if nodes.len() < own.nodes.len() {
            own = Loop::new(known, self.levels, nodes);
        } else {
            own.nodes = nodes;
        }
        self.store_operands(&own);
        let segment = Segment { nodes: own.nodes.clone(), in_loop: None, inputs, outputs };
        Some((Some(own), segment))
    }

    /// Calls `found` for the variables whose elements a loop reads from memory.
    fn values_read(known: &Known, own: &Loop, mut found: impl FnMut(VarId)) {
        for (at, read) in own.nodes.iter().filter_map(|&at| Some((at, known.readings.get(at)?))) {
            read.whole.into_iter().for_each(&mut found);
            for operand in read.operands.iter().filter(|operand| !own.makes(at, operand)) {
                known.reads(&operand.base).iter().copied().for_each(&mut found);
            }
        }
    }

    fn find_ends(&mut self, own: &Loop) {
        self.ends.clear();
        Self::values_read(self.known, own, |x| {
            self.ends.insert(x);
        });
    }

    fn store_operands(&mut self, own: &Loop) {
        let known = self.known;
        Self::values_read(known, own, |x| {
            self.stored.insert(x);
        });
        let over = own.nodes.iter().find(|at| !own.is_row(**at));
        if let Some(read) = over.and_then(|&at| known.readings.get(at)) {
            self.stored.extend(known.spaces.leaves(read.over).iter().copied());
        }
    }

    /// The inputs of a segment, in the order of a walk: `ends`, roots and length operands.
    fn frontier(&mut self, outputs: &[VarId]) -> Vec<VarId> {
        let known = self.known;
        let mut found = Vec::new();
        self.seen.clear();
        let mut pending: Vec<VarId> = outputs.iter().rev().copied().collect();
        while let Some(x) = pending.pop() {
            if known.graph.var(x).constant().is_some() || !self.seen.insert(x) {
                continue;
            }
            let at = match known.graph.maker(x) {
                Some(at) if !self.ends.contains(x) => at,
                _ => {
                    found.push(x);
                    continue;
                }
            };
            let inputs = known.graph.inputs(at);
            let lengths = &known.kind(at).length_operands;
            let own = inputs.iter().enumerate().filter(|(position, _)| lengths.contains(position));
            self.ends.extend(own.map(|(_, x)| *x));
            pending.extend(inputs.iter().rev().copied());
        }
        found
    }
}
