//! The in-place planner: it chooses outputs that are written over inputs, and leaves the graph as it is.
//!
//! The planner gets a graph, the variables that the caller donates and protects, and candidates: this output of this
//! node might be written over this input. It goes through the candidates once, in the given order, and accepts each
//! that fits with those it accepted before. Its laws:
//!
//! - the [`Schedule`] runs: with the accepted candidates as destroyers, its order keeps every law of
//!   [`crate::destroy`];
//! - it is maximal: no refused candidate could be added alone. Accepting a candidate only adds constraints, so a refused
//!   one stays impossible, and one pass is enough;
//! - it follows from the graph and the list of candidates alone;
//! - a node of a distinct op is a buffer of its own: it is written over nothing, while others may be written
//!   over it.
//!
//! Whoever makes the candidates knows whether sizes and dtypes fit.

use std::fmt;

use rustc_hash::FxHashSet;

use super::descent::{Descent, Groups};
use super::destroy::{Destroyers, Orderings, Waits, Witness, order, props};
use super::incremental::{Arcs, IncrementalOrder};
use crate::node::alias::{
    Aliases, Readers, SetId, StepNumber, VarNumber, VarSets, roots, view_sources,
};
use crate::node::{Body, Node, Var};
use crate::value::error::Error;

/// An output that might be written over an input of its node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The node.
    pub node: Node,
    /// The position of the output.
    pub output: usize,
    /// The position of the input.
    pub input: usize,
}

/// Why a candidate was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Writing there would break a law of destruction.
    Conflict(Box<Witness>),
    /// The node was marked as a buffer of its own.
    Distinct,
    /// The output is a view of this input: it has no buffer to choose.
    View {
        /// The position of the viewed input.
        input: usize,
    },
    /// The output is written over this input already.
    Placed {
        /// The position of that input.
        input: usize,
    },
}

/// A candidate that does not fit, and the proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The candidate.
    pub candidate: Candidate,
    /// The obstacle.
    pub reason: Reason,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Candidate { node, output, .. } = &self.candidate;
        let op = match node.body() {
            Body::Apply { op, .. } => op.label(),
            _ => unreachable!("candidates are applications"),
        };
        match &self.reason {
            Reason::Conflict(witness) => fmt::Display::fmt(witness, f),
            Reason::Distinct => {
                write!(f, "{op} is distinct: it is a buffer of its own, written over nothing")
            }
            Reason::View { input } => {
                write!(
                    f,
                    "output {output} of {op} is a view of its input {input} and has no buffer"
                )
            }
            Reason::Placed { input } => {
                write!(f, "output {output} of {op} is written over its input {input} already")
            }
        }
    }
}

/// When a buffer may be given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Release {
    /// Never: it belongs to the caller, or goes to the caller.
    Kept,
    /// At once: it was donated, and nothing reads it.
    Unread,
    /// After the node at this position of the order.
    After(usize),
}

/// Memory in which one variable after another lives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// The variable that lives in it first: an input, a constant, or an output that is written over nothing.
    pub first: Var,
    /// When it may be given back.
    pub release: Release,
}

/// A way to run a graph in place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    order: Vec<Node>,
    reuses: Vec<Candidate>,
    refusals: Vec<Refusal>,
    buffers: Vec<Buffer>,
    orderings: Orderings,
    destroyed: Vec<Var>,
}

impl Schedule {
    /// The applications, in an order that can be run as it is.
    pub fn order(&self) -> &[Node] {
        &self.order
    }

    /// The accepted candidates, in the order given.
    pub fn reuses(&self) -> &[Candidate] {
        &self.reuses
    }

    /// The refused candidates, in the order given.
    pub fn refusals(&self) -> &[Refusal] {
        &self.refusals
    }

    /// For every node that writes over an input, the readers that must run before it.
    pub fn orderings(&self) -> &Orderings {
        &self.orderings
    }

    /// The variables whose memory is written over, with the views of it, in postorder.
    pub fn destroyed(&self) -> &[Var] {
        &self.destroyed
    }

    /// Every buffer: the buffers of donated inputs that the graph does not reach, then in postorder of their first
    /// variables.
    pub fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    /// For each position of the order, the buffers to give back after it.
    pub fn releases(&self) -> Vec<Vec<&Buffer>> {
        let mut after: Vec<Vec<&Buffer>> = vec![Vec::new(); self.order.len()];
        for buffer in &self.buffers {
            if let Release::After(position) = buffer.release {
                after[position].push(buffer);
            }
        }
        after
    }
}

/// The graph to plan.
#[derive(Clone, Copy, Default, Debug)]
pub struct Request<'r> {
    /// The outputs.
    pub outputs: &'r [Var],
    /// The variables at which the walk from the outputs stops; leaves need not be listed.
    pub inputs: &'r [Var],
    /// Inputs whose buffers the graph may use up. All others stay the caller's.
    pub donated: &'r [Var],
    /// Variables that must keep their values to the end, inputs or not, donated or not.
    pub protected: &'r [Var],
}

/// The schedule that accepts every candidate that fits with those before it.
///
/// Nodes that destroy inputs by their op's `destroy_map` are accepted before all candidates; they may make the
/// graph [`Inconsistent`](crate::order::destroy::Inconsistent).
pub fn plan(request: Request<'_>, candidates: &[Candidate]) -> Result<Schedule, Error> {
    Aliases::with(request.outputs, request.inputs, |aliases| {
        check_donated(aliases, request.donated)?;
        let Request { outputs, protected, donated, .. } = request;
        let destroyers = Destroyers::with_donated(aliases, outputs, protected, donated)?;
        let readers = aliases.readers();
        let waits = destroyers.waits(&readers);
        let present = match destroyers.is_empty() {
            true => aliases.steps().collect(),
            false => order(&destroyers, &waits)?,
        };
        let mut planner = Planner {
            aliases,
            readers: &readers,
            destroyers,
            waits,
            present,
            steps: None,
            placed: vec![NOWHERE; aliases.place_count()],
        };
        planner.place_destroyers();
        let (mut reuses, mut refusals) = (Vec::with_capacity(candidates.len()), Vec::new());
        for candidate in candidates {
            match planner.consider(candidate)? {
                None => reuses.push(candidate.clone()),
                Some(reason) => refusals.push(Refusal { candidate: candidate.clone(), reason }),
            }
        }
        let steps = planner.final_order();
        let buffers = planner.buffers(&request, &steps);
        let order = steps.into_iter().map(|step| aliases.node(step).clone()).collect();
        let orderings = planner.destroyers.orderings(&planner.destroyers.waits(&readers));
        let destroyed = planner.destroyers.destroyed().collect();
        Ok(Schedule { order, reuses, refusals, buffers, orderings, destroyed })
    })
}

fn check_donated(aliases: &Aliases<'_, '_>, donated: &[Var]) -> Result<(), Error> {
    let inner = donated.iter().find(|var| match aliases.find(var) {
        Some(place) => aliases.maker(place).is_some(),
        None => false,
    });
    let constant = || donated.iter().find(|var| var.constant().is_some());
    match inner.or_else(constant) {
        Some(var) => Err(Error::NotDonatable { what: var.describe() }),
        None => Ok(()),
    }
}

struct Planner<'g, 'n, 'a> {
    aliases: &'g Aliases<'n, 'a>,
    readers: &'g Readers,
    destroyers: Destroyers<'g, 'n, 'a>,
    /// The nodes that the graph's own destroyers wait for, and an order that honours this.
    waits: Waits,
    present: Vec<StepNumber>,
    /// Made when the first candidate has to wait for a reader.
    steps: Option<StepOrder>,
    /// For each place, the input that it is written over, or `NOWHERE`.
    placed: Vec<u32>,
}

const NOWHERE: u32 = u32::MAX;

impl Planner<'_, '_, '_> {
    fn place_destroyers(&mut self) {
        for &step in self.aliases.destroyers() {
            let destroy_map = props(self.aliases.node(step)).map(|props| &props.destroy_map);
            for (output, inputs) in destroy_map.into_iter().flatten() {
                let outputs = self.aliases.node(step).signature().types().len();
                if let Some(&input) = inputs.first().filter(|_| (*output as usize) < outputs) {
                    self.placed[self.aliases.output(step, *output as usize).index()] = input;
                }
            }
        }
    }

    /// Accepts a candidate, or says why not.
    fn consider(&mut self, candidate: &Candidate) -> Result<Option<Reason>, Error> {
        let Candidate { node, output, input } = candidate;
        let (aliases, op) = (self.aliases, || format!("{node:?}"));
        let Some(step) = aliases.find_step(node) else {
            return Err(Error::CandidateNode { op: op() });
        };
        let outputs = node.signature().types().len();
        let inputs = aliases.operands(step).len();
        if *output >= outputs || *input >= inputs {
            let (output, input) = (*output, *input);
            return Err(Error::CandidatePosition { op: op(), output, outputs, input, inputs });
        }
        if matches!(node.body(), Body::Apply { op, .. } if op.key().props.distinct) {
            return Ok(Some(Reason::Distinct));
        }
        let place = aliases.output(step, *output);
        if !aliases.is_root(place) {
            let var = aliases.var(place);
            let viewed = view_sources(&var)[0];
            let input = node.inputs().iter().position(|input| input == viewed);
            return Ok(Some(Reason::View { input: input.expect("a source is an input") }));
        }
        if self.placed[place.index()] != NOWHERE {
            return Ok(Some(Reason::Placed { input: self.placed[place.index()] as usize }));
        }
        let input = *input as u32;
        let witness = match self.destroyers.obstacle(step, input) {
            Some(obstacle) => Some(self.destroyers.witness(step, input, obstacle)),
            None => self.wait_for_readers(step, input),
        };
        if let Some(witness) = witness {
            return Ok(Some(Reason::Conflict(Box::new(witness))));
        }
        self.destroyers.add(step, input);
        self.placed[place.index()] = input;
        Ok(None)
    }

    /// Puts a step after all other readers of the memory that it destroys, or returns the reader that cannot precede
    /// it.
    fn wait_for_readers(&mut self, step: StepNumber, input: u32) -> Option<Witness> {
        let aliases = self.aliases;
        let destroyed = aliases.operands(step)[input as usize];
        let roots = aliases.sets().get(aliases.roots_of(destroyed));
        if roots.iter().all(|&root| self.readers.of(root).iter().all(|&reader| reader == step)) {
            return None;
        }
        let steps = self.steps.get_or_insert_with(|| {
            StepOrder::new(aliases, self.readers, &self.present, &self.waits)
        });
        let blocked = roots.iter().find_map(|&root| Some((root, steps.certain_user(step, root)?)));
        let blocked = blocked.or_else(|| {
            let mut added: Vec<StepNumber> = Vec::new();
            for &root in roots {
                // The last reader is the likeliest to need the step's result.
                for &reader in self.readers.of(root).iter().rev() {
                    if reader == step {
                        continue;
                    }
                    if !steps.add(reader, step) {
                        for earlier in added.into_iter().rev() {
                            steps.order.take_back(earlier.0, step.0);
                        }
                        return Some((root, reader));
                    }
                    added.push(reader);
                }
            }
            None
        });
        let (root, reader) = blocked?;
        Some(self.destroyers.reader_witness((step, input), reader, root, Vec::new()))
    }

    /// The order of a graph with these destroyers; refused candidates leave no trace in it.
    fn final_order(&mut self) -> Vec<StepNumber> {
        if self.steps.is_none() {
            // No candidate waits for anything.
            return std::mem::take(&mut self.present);
        }
        let waits = self.destroyers.waits(self.readers);
        order(&self.destroyers, &waits).expect("accepted candidates fit together")
    }

    fn buffers(&self, request: &Request<'_>, order: &[StepNumber]) -> Vec<Buffer> {
        let aliases = self.aliases;
        let homes = self.homes();
        let releases = self.releases(request, order, &homes);
        let protected: FxHashSet<_> =
            request.protected.iter().flat_map(roots).map(|root| root.identity()).collect();
        let mut seen = FxHashSet::default();
        let absent = request.donated.iter().filter(|var| aliases.find(var).is_none());
        let unread = absent.filter(|var| seen.insert(var.identity())).map(|var| {
            let kept = roots(var).iter().any(|root| protected.contains(&root.identity()));
            let release = if kept { Release::Kept } else { Release::Unread };
            Buffer { first: var.clone(), release }
        });
        let owners = aliases
            .places()
            .filter(|&place| homes.lives_in[place.index()] == homes.sets.single(place));
        let used = owners.map(|place| Buffer {
            first: aliases.var(place),
            release: match releases[place.index()] {
                UNREAD => Release::Unread,
                KEPT => Release::Kept,
                position => Release::After(position as usize),
            },
        });
        unread.chain(used).collect()
    }

    /// The buffers that each variable may live in, named by the place of their first variable.
    fn homes(&self) -> Homes {
        let aliases = self.aliases;
        let mut sets = VarSets::below(aliases.place_count());
        let mut lives_in: Vec<SetId> = Vec::with_capacity(aliases.place_count());
        for place in aliases.places() {
            let input = self.placed[place.index()];
            if aliases.is_root(place) && input == NOWHERE {
                lives_in.push(sets.single(place));
                continue;
            }
            let step = aliases.maker(place).expect("a leaf is a root, written over nothing");
            let operands = aliases.operands(step);
            if aliases.is_root(place) && aliases.destroyers().binary_search(&step).is_err() {
                lives_in.push(lives_in[operands[input as usize].index()]);
                continue;
            }
            let var = aliases.var(place);
            let viewed = view_sources(&var).into_iter().filter_map(|source| aliases.find(source));
            let mapped = props(aliases.node(step))
                .into_iter()
                .flat_map(|props| &props.destroy_map)
                .filter(|(output, _)| *output as usize == var.index())
                .flat_map(|(_, inputs)| inputs.iter().copied());
            let over = std::iter::once(input).filter(|&input| input != NOWHERE).chain(mapped);
            let over = over.filter_map(|input| operands.get(input as usize).copied());
            let sources: Vec<SetId> =
                viewed.chain(over).map(|source| lives_in[source.index()]).collect();
            lives_in.push(sets.union(&sources));
        }
        Homes { sets, lives_in }
    }

    /// By buffer: the step after which nothing reads it, or [`UNREAD`] or [`KEPT`].
    fn releases(&self, request: &Request<'_>, order: &[StepNumber], homes: &Homes) -> Vec<u32> {
        let (aliases, Homes { sets, lives_in }) = (self.aliases, homes);
        let mut releases: Vec<u32> = vec![UNREAD; aliases.place_count()];
        for (position, &step) in order.iter().enumerate() {
            for place in aliases.operands(step).iter().copied().chain(aliases.outputs(step)) {
                for buffer in sets.get(lives_in[place.index()]) {
                    releases[buffer.index()] = position as u32;
                }
            }
        }
        let mut keep = |buffers: &[VarNumber]| {
            buffers.iter().for_each(|buffer| releases[buffer.index()] = KEPT);
        };
        for var in request.outputs {
            keep(sets.get(lives_in[aliases.find(var).expect("an output").index()]));
        }
        for var in request.protected {
            for root in aliases.roots_within(var) {
                keep(sets.get(lives_in[root.index()]));
            }
        }
        let mut given = vec![false; aliases.place_count()];
        for place in request.donated.iter().filter_map(|var| aliases.find(var)) {
            given[place.index()] = true;
        }
        for place in aliases.places().filter(|place| !given[place.index()]) {
            if aliases.maker(place).is_none() {
                keep(&[place]);
            }
        }
        releases
    }
}

/// The release of a buffer that nothing reads.
const UNREAD: u32 = u32::MAX;
/// The release of a buffer that must stay.
const KEPT: u32 = u32::MAX - 1;

/// The buffers that variables may live in.
struct Homes {
    sets: VarSets,
    /// By place.
    lives_in: Vec<SetId>,
}

/// The order of steps under the candidates accepted so far, with quick answers about which step needs which.
struct StepOrder {
    order: IncrementalOrder,
    /// Each step stands below the latest step that it needs. This forest groups the readers by root.
    needed: Descent,
    readers: Groups,
    /// Each step stands below the earliest step that needs it.
    needing: Descent,
}

impl StepOrder {
    fn new(
        aliases: &Aliases<'_, '_>,
        readers: &Readers,
        present: &[StepNumber],
        waits: &Waits,
    ) -> StepOrder {
        let (outgoing, incoming) = Arcs::both(aliases.step_count(), |arc| {
            for step in aliases.steps() {
                let makers = aliases.operands(step).iter().filter_map(|&at| aliases.maker(at));
                makers.chain(waits.of(step).iter().copied()).for_each(|from| arc(from.0, step.0));
            }
        });
        let mut order: Vec<u32> = present.iter().map(|step| step.0).collect();
        let mut ranks = vec![0; order.len()];
        for (rank, &step) in order.iter().enumerate() {
            ranks[step as usize] = rank;
        }
        let rank = |step: &u32| ranks[*step as usize];
        let latest = |step: u32| incoming.of(step).iter().copied().max_by_key(rank);
        let needed = Descent::new(&order, latest);
        let groups = aliases.places().map(|root| readers.of(root).iter().map(|step| step.0));
        let readers = needed.groups(groups);
        order.reverse();
        let earliest = |step: u32| outgoing.of(step).iter().copied().min_by_key(rank);
        let needing = Descent::new(&order, earliest);
        order.reverse();
        let order = IncrementalOrder::new(&order, outgoing, incoming);
        StepOrder { order, needed, readers, needing }
    }

    /// Makes a reader precede a step; false, with nothing changed, if it needs the step.
    fn add(&mut self, reader: StepNumber, step: StepNumber) -> bool {
        let StepOrder { order, needed, needing, .. } = self;
        order.add(reader.0, step.0, |from, to| needed.above(from, to) || needing.above(to, from))
    }

    /// A reader of `root` that surely needs what `step` computes.
    fn certain_user(&self, step: StepNumber, root: VarNumber) -> Option<StepNumber> {
        self.needed.below(step.0, &self.readers, root.index()).map(StepNumber)
    }
}
