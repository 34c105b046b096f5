//! Aliases: variables that may share memory.
//!
//! An output *views* the inputs that its op's `view_map` names for it: it may share memory with any of them. A
//! variable that views nothing is a *root*. So the views of a graph lead from every variable to one or more roots, and
//!
//! - two variables may alias exactly if they have a root in common;
//! - the outputs of a distinct op are roots, whatever it views: this is its purpose;
//! - an output written over an input (`destroy_map`) is no view of it but the next content of its memory: a root.

use std::fmt;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::op::OpProps;
use super::traverse::{Numbering, postorder};
use crate::node::{Body, Node, Var};

/// The inputs that `var` may share memory with, in the order in which its op names them.
pub fn view_sources(var: &Var) -> SmallVec<[&Var; 1]> {
    let Body::Apply { op, inputs, .. } = var.node().body() else {
        return SmallVec::new();
    };
    let props = &op.key().props;
    if props.distinct || props.view_map.is_empty() {
        return SmallVec::new();
    }
    let destroyed: SmallVec<[u32; 2]> = positions(&props.destroy_map, var.index()).collect();
    positions(&props.view_map, var.index())
        .filter(|position| !destroyed.contains(position))
        .filter_map(|position| inputs.get(position as usize))
        .collect()
}

/// Calls `visit` with `var`, then with each variable that it gave, each once: depth first, from the left.
fn visit_views<'a>(var: &'a Var, mut visit: impl FnMut(&'a Var) -> SmallVec<[&'a Var; 1]>) {
    let mut seen = FxHashSet::default();
    let mut pending = vec![var];
    while let Some(var) = pending.pop() {
        if seen.insert(var.identity()) {
            pending.extend(visit(var).into_iter().rev());
        }
    }
}

/// The inputs that a map names for an output.
fn positions(map: &[(u32, Vec<u32>)], output: usize) -> impl Iterator<Item = u32> {
    map.iter()
        .filter(move |(named, _)| *named as usize == output)
        .flat_map(|(_, inputs)| inputs.iter().copied())
}

/// The variables whose memory `var` may share: itself, if it views nothing. First-met order, left to right.
pub fn roots(var: &Var) -> Vec<Var> {
    let mut found = Vec::new();
    visit_views(var, |var| {
        let sources = view_sources(var);
        if sources.is_empty() {
            found.push(var.clone());
        }
        sources
    });
    found
}

/// Two variables and the views that lead from each to one root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewPath {
    /// From the first variable to the root, both included; one entry if it is the root.
    pub first: Vec<Var>,
    /// From the second variable to the root, both included; one entry if it is the root.
    pub second: Vec<Var>,
}

impl ViewPath {
    /// The shortest views that lead from `first` and from `second` to `root`.
    pub fn through(root: &Var, first: &Var, second: &Var) -> Option<ViewPath> {
        Some(ViewPath { first: leg(first, root)?, second: leg(second, root)? })
    }

    /// The root that both lead to.
    pub fn root(&self) -> &Var {
        self.first.last().expect("a leg ends at the root")
    }
}

fn leg(from: &Var, root: &Var) -> Option<Vec<Var>> {
    // Breadth first; each variable remembers the variable that views it.
    let mut met: Vec<(&Var, usize)> = vec![(from, 0)];
    let mut seen = FxHashSet::default();
    seen.insert(from.identity());
    let mut next = 0;
    while let Some(&(var, _)) = met.get(next) {
        if var == root {
            let mut path = vec![var.clone()];
            let mut at = next;
            while at != 0 {
                at = met[at].1;
                path.push(met[at].0.clone());
            }
            path.reverse();
            return Some(path);
        }
        for source in view_sources(var) {
            if seen.insert(source.identity()) {
                met.push((source, next));
            }
        }
        next += 1;
    }
    None
}

/// A leg as a phrase: `a, a view of b, a view of x`. The middle of a long one is left out.
pub(crate) struct Phrase<'a>(pub(crate) &'a [Var]);

impl fmt::Display for Phrase<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 4;
        for (at, var) in self.0.iter().enumerate() {
            let left_out = self.0.len() > SHOWN && (SHOWN - 1..self.0.len() - 1).contains(&at);
            match at {
                0 => f.write_str(&var.describe())?,
                _ if !left_out => write!(f, ", a view of {}", var.describe())?,
                _ if at == SHOWN - 1 => f.write_str(", a view of ...")?,
                _ => {}
            }
        }
        Ok(())
    }
}

/// An application's position in the postorder of one graph.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct StepNumber(pub(crate) u32);

/// A variable's number in one graph.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct VarNumber(pub(crate) u32);

impl StepNumber {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

impl VarNumber {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// The number of a set of places.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct SetId(u32);

/// Set numbers from here on belong to sets with several members.
const SEVERAL: u32 = 1 << 31;

/// Sorted sets of places, shared by those that have the same one.
///
/// A variable with one source has its source's set, so only an output that views several inputs makes a new one.
#[derive(Default)]
pub(crate) struct VarSets {
    /// Every place as a set of its own, so that sets of one member need no copies.
    singles: Vec<VarNumber>,
    members: Vec<VarNumber>,
    spans: Vec<(u32, u32)>,
}

impl VarSets {
    /// Sets of the places below a number.
    pub(crate) fn below(count: usize) -> VarSets {
        VarSets { singles: (0..count as u32).map(VarNumber).collect(), ..VarSets::default() }
    }

    pub(crate) fn get(&self, set: SetId) -> &[VarNumber] {
        match set.0.checked_sub(SEVERAL) {
            None => &self.singles[set.0 as usize..=set.0 as usize],
            Some(number) => {
                let (start, end) = self.spans[number as usize];
                &self.members[start as usize..end as usize]
            }
        }
    }

    /// The set of one place.
    pub(crate) fn single(&self, place: VarNumber) -> SetId {
        SetId(place.0)
    }

    /// The union of some sets, at least one.
    pub(crate) fn union(&mut self, sets: &[SetId]) -> SetId {
        let (&first, rest) = sets.split_first().expect("a union of something");
        if rest.iter().all(|&set| set == first) {
            return first;
        }
        let mut all: Vec<VarNumber> =
            sets.iter().flat_map(|&set| self.get(set).iter().copied()).collect();
        all.sort_unstable();
        all.dedup();
        if let Some(&whole) = sets.iter().find(|&&set| self.get(set).len() == all.len()) {
            return whole;
        }
        let start = self.members.len() as u32;
        self.members.append(&mut all);
        self.spans.push((start, self.members.len() as u32));
        SetId(SEVERAL + self.spans.len() as u32 - 1)
    }

    /// The least member of both sets.
    pub(crate) fn common(&self, one: SetId, other: SetId) -> Option<VarNumber> {
        let (one, other) = (self.get(one), self.get(other));
        let (mut i, mut j) = (0, 0);
        while i < one.len() && j < other.len() {
            match one[i].cmp(&other[j]) {
                std::cmp::Ordering::Equal => return Some(one[i]),
                std::cmp::Ordering::Less => i += 1,
                std::cmp::Ordering::Greater => j += 1,
            }
        }
        None
    }
}

struct StepData<'a> {
    node: &'a Node,
    operands: u32,
    outputs: VarNumber,
}

/// The applications and variables of one graph, numbered, each variable with its roots.
///
/// Steps are numbered in postorder, so a step's operands come from lower steps. Variables at which the walk stops are
/// roots.
pub(crate) struct Aliases<'n, 'a> {
    steps: Vec<StepData<'a>>,
    destroyers: Vec<StepNumber>,
    operands: Vec<VarNumber>,
    places: Vec<VarData<'a>>,
    roots: Vec<SetId>,
    sets: VarSets,
    numbers: &'n mut Numbering,
    /// The place of the first output of each numbered node.
    firsts: Vec<VarNumber>,
    /// Blocked outputs of nodes whose other outputs may be computed all the same.
    apart: FxHashMap<(usize, u32), VarNumber>,
}

struct VarData<'a> {
    node: &'a Node,
    index: u32,
    /// The step that computes it, or `LEAF`.
    maker: u32,
}

const LEAF: u32 = u32::MAX;

impl<'a> Aliases<'_, 'a> {
    /// Calls `read` with the aliases of the graph that computes `outputs`, without walking past `inputs`.
    pub(crate) fn with<T>(
        outputs: &'a [Var],
        inputs: &'a [Var],
        read: impl FnOnce(&Aliases<'_, 'a>) -> T,
    ) -> T {
        let order = postorder(outputs, inputs);
        Numbering::with(|numbers| {
            let mut aliases = Aliases {
                steps: Vec::with_capacity(order.len()),
                destroyers: Vec::new(),
                operands: Vec::with_capacity(2 * order.len()),
                places: Vec::with_capacity(order.len()),
                roots: Vec::with_capacity(order.len()),
                sets: VarSets::default(),
                numbers,
                firsts: Vec::with_capacity(order.len()),
                apart: FxHashMap::default(),
            };
            for input in inputs.iter().filter(|var| var.node().signature().types().len() > 1) {
                let place = aliases.add_place(input.node(), input.index() as u32, LEAF);
                aliases.apart.entry(input.identity()).or_insert(place);
            }
            for node in order {
                match node.body() {
                    Body::Apply { op, .. } => aliases.add_step(node, &op.key().props),
                    _ => {
                        aliases.add_leaf(node);
                    }
                }
            }
            for output in outputs {
                aliases.enter(output);
            }
            aliases.sets.singles = aliases.places().collect();
            read(&aliases)
        })
    }

    fn add_place(&mut self, node: &'a Node, index: u32, maker: u32) -> VarNumber {
        let place = VarNumber(self.places.len() as u32);
        assert!(place.0 < SEVERAL, "a graph has fewer than 2^31 variables");
        self.places.push(VarData { node, index, maker });
        self.roots.push(SetId(place.0));
        place
    }

    fn add_outputs(&mut self, node: &'a Node, maker: u32) -> VarNumber {
        let first = VarNumber(self.places.len() as u32);
        self.numbers.insert(node.id());
        self.firsts.push(first);
        for index in 0..node.signature().types().len() as u32 {
            self.add_place(node, index, maker);
        }
        first
    }

    fn add_leaf(&mut self, node: &'a Node) -> VarNumber {
        self.add_outputs(node, LEAF)
    }

    /// The place of a variable; at a variable that was not met before, the walk stopped.
    fn enter(&mut self, var: &'a Var) -> VarNumber {
        match self.find(var) {
            Some(place) => place,
            None => VarNumber(self.add_leaf(var.node()).0 + var.index() as u32),
        }
    }

    fn add_step(&mut self, node: &'a Node, props: &OpProps) {
        let first_operand = self.operands.len() as u32;
        for input in node.inputs() {
            let place = self.enter(input);
            self.operands.push(place);
        }
        let step = self.steps.len() as u32;
        let outputs = self.add_outputs(node, step);
        self.steps.push(StepData { node, operands: first_operand, outputs });
        if !props.destroy_map.is_empty() {
            self.destroyers.push(StepNumber(step));
        }
        if props.view_map.is_empty() {
            return;
        }
        self.sets.singles.extend((self.sets.singles.len() as u32..outputs.0).map(VarNumber));
        for var in node.outputs() {
            let sources: SmallVec<[SetId; 2]> = view_sources(&var)
                .into_iter()
                .map(|source| self.roots_of(self.find(source).expect("an operand")))
                .collect();
            if !sources.is_empty() {
                self.roots[outputs.index() + var.index()] = self.sets.union(&sources);
            }
        }
    }

    /// The place of a variable of this graph.
    pub(crate) fn find(&self, var: &Var) -> Option<VarNumber> {
        if let Some(&place) = self.apart.get(&var.identity()) {
            return Some(place);
        }
        let first = self.first(var.node())?;
        Some(VarNumber(first.0 + var.index() as u32))
    }

    fn first(&self, node: &Node) -> Option<VarNumber> {
        let first = self.firsts[self.numbers.get(node.id())?];
        // Nodes of other containers have the same numbers.
        (self.places[first.index()].node == node).then_some(first)
    }

    /// The step of a node of this graph.
    pub(crate) fn find_step(&self, node: &Node) -> Option<StepNumber> {
        self.maker(self.first(node)?)
    }

    /// The steps whose ops write over inputs, ascending.
    pub(crate) fn destroyers(&self) -> &[StepNumber] {
        &self.destroyers
    }

    pub(crate) fn step_count(&self) -> usize {
        self.steps.len()
    }

    pub(crate) fn place_count(&self) -> usize {
        self.places.len()
    }

    pub(crate) fn steps(&self) -> impl DoubleEndedIterator<Item = StepNumber> + use<> {
        (0..self.steps.len() as u32).map(StepNumber)
    }

    pub(crate) fn places(&self) -> impl Iterator<Item = VarNumber> + use<> {
        (0..self.places.len() as u32).map(VarNumber)
    }

    pub(crate) fn node(&self, step: StepNumber) -> &'a Node {
        self.steps[step.index()].node
    }

    pub(crate) fn operands(&self, step: StepNumber) -> &[VarNumber] {
        let start = self.steps[step.index()].operands as usize;
        let next = self.steps.get(step.index() + 1);
        let end = next.map_or(self.operands.len(), |next| next.operands as usize);
        &self.operands[start..end]
    }

    pub(crate) fn output(&self, step: StepNumber, index: usize) -> VarNumber {
        VarNumber(self.steps[step.index()].outputs.0 + index as u32)
    }

    pub(crate) fn outputs(&self, step: StepNumber) -> impl Iterator<Item = VarNumber> {
        let first = self.steps[step.index()].outputs;
        (first.0..self.places.len() as u32)
            .map(VarNumber)
            .take_while(move |place| self.places[place.index()].maker == step.0)
    }

    /// The step that computes the variable at a place; none for leaves.
    pub(crate) fn maker(&self, place: VarNumber) -> Option<StepNumber> {
        let maker = self.places[place.index()].maker;
        (maker != LEAF).then_some(StepNumber(maker))
    }

    pub(crate) fn var(&self, place: VarNumber) -> Var {
        let VarData { node, index, .. } = &self.places[place.index()];
        Var::new((*node).clone(), *index)
    }

    pub(crate) fn leaf(&self, place: VarNumber) -> Option<&'a Node> {
        let VarData { node, maker, .. } = &self.places[place.index()];
        (*maker == LEAF).then_some(*node)
    }

    /// Whether the variable at a place shares no memory with the inputs of its node.
    pub(crate) fn is_root(&self, place: VarNumber) -> bool {
        self.roots[place.index()] == SetId(place.0)
    }

    pub(crate) fn roots_of(&self, place: VarNumber) -> SetId {
        self.roots[place.index()]
    }

    pub(crate) fn sets(&self) -> &VarSets {
        &self.sets
    }

    /// The roots of a variable that the graph may not contain, as far as the graph contains them.
    pub(crate) fn roots_within(&self, var: &Var) -> Vec<VarNumber> {
        let mut found = Vec::new();
        visit_views(var, |var| match self.find(var) {
            Some(place) => {
                found.extend_from_slice(self.sets.get(self.roots_of(place)));
                SmallVec::new()
            }
            None => view_sources(var),
        });
        found
    }

    /// For every root, the steps that read an alias of it.
    pub(crate) fn readers(&self) -> Readers {
        let mut starts = vec![0u32; self.place_count() + 1];
        self.each_read(|root, _| starts[root.index() + 1] += 1);
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut ends = starts.clone();
        let mut steps = vec![StepNumber(0); *starts.last().expect("at least one") as usize];
        self.each_read(|root, step| {
            let (start, end) = (starts[root.index()] as usize, &mut ends[root.index()]);
            // Steps ascend, so a step that reads a root twice was added last.
            if *end as usize == start || steps[*end as usize - 1] != step {
                steps[*end as usize] = step;
                *end += 1;
            }
        });
        Readers { starts, ends, steps }
    }

    fn each_read(&self, mut found: impl FnMut(VarNumber, StepNumber)) {
        for step in self.steps() {
            for &operand in self.operands(step) {
                for &root in self.sets.get(self.roots_of(operand)) {
                    found(root, step);
                }
            }
        }
    }
}

/// For every root, the steps that read it or a view of it, ascending.
pub(crate) struct Readers {
    starts: Vec<u32>,
    ends: Vec<u32>,
    steps: Vec<StepNumber>,
}

impl Readers {
    pub(crate) fn of(&self, root: VarNumber) -> &[StepNumber] {
        let (start, end) = (self.starts[root.index()], self.ends[root.index()]);
        &self.steps[start as usize..end as usize]
    }
}
