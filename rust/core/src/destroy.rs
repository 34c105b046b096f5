//! Order in graphs whose nodes destroy inputs.
//!
//! A node that writes an output over an input *destroys* every root of that input, and with it all that aliases one.
//! The laws of a graph that can run:
//!
//! - a root is destroyed once at most; never a constant's, nor one that a protected variable or an output aliases:
//!   the caller reads the outputs last of all;
//! - no other operand of the destroyer aliases what it destroys, unless its op tolerates that;
//! - the destroyer runs after every other reader of anything that aliases what it destroys.
//!
//! Each way to break them is [`Inconsistent`], with its witness.

use std::collections::VecDeque;
use std::fmt;

use rustc_hash::FxHashMap;

use crate::alias::{Aliases, Phrase, Place, Readers, Step, ViewPath};
use crate::intern::Node;
use crate::node::{Body, Var};
use crate::op::OpProps;
use crate::traverse;

/// Why a node cannot write over one of its inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Conflict {
    /// The memory is a constant's.
    Constant,
    /// The memory is that of an input which the caller did not give away.
    Borrowed,
    /// This protected variable aliases it.
    Protected(Var),
    /// This output of the graph aliases it, and is read last of all.
    Output {
        /// The position among the graph's outputs.
        position: usize,
        /// The output.
        var: Var,
    },
    /// It is destroyed already.
    Destroyed {
        /// By this node, perhaps the destroyer itself for another output.
        by: Node,
        /// Through this input.
        input: usize,
    },
    /// Another input of the destroyer aliases it, and its op does not tolerate that.
    Operand {
        /// The other input.
        input: usize,
    },
    /// A reader of it cannot run before the destroyer.
    Reader {
        /// The reader.
        node: Node,
        /// The input by which it reads.
        input: usize,
        /// What must run between the destroyer and the reader, one after the other; empty where the reader uses the
        /// destroyer's result itself, and in what a planner refuses.
        between: Vec<Node>,
    },
}

/// The proof that a node cannot write over one of its inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    /// The node that would destroy.
    pub destroyer: Node,
    /// The input that it would write over.
    pub input: usize,
    /// The root that is at stake.
    pub root: Var,
    /// What stands against it.
    pub conflict: Conflict,
}

impl Witness {
    /// The variable that would be written over.
    pub fn destroyed(&self) -> &Var {
        &self.destroyer.inputs()[self.input]
    }

    /// The other node of the conflict, if it is between two.
    pub fn reader(&self) -> Option<&Node> {
        match &self.conflict {
            Conflict::Destroyed { by, .. } => Some(by),
            Conflict::Reader { node, .. } => Some(node),
            _ => None,
        }
    }

    /// The variable on the other side of the conflict.
    pub fn other(&self) -> &Var {
        match &self.conflict {
            Conflict::Constant | Conflict::Borrowed => &self.root,
            Conflict::Protected(var) | Conflict::Output { var, .. } => var,
            Conflict::Destroyed { by, input } => &by.inputs()[*input],
            Conflict::Operand { input } => &self.destroyer.inputs()[*input],
            Conflict::Reader { node, input, .. } => &node.inputs()[*input],
        }
    }

    /// The views that lead from what would be destroyed, and from what must not be, to the root of both.
    pub fn path(&self) -> ViewPath {
        ViewPath::through(&self.root, self.destroyed(), self.other())
            .expect("both sides of a conflict have its root")
    }
}

fn name(node: &Node) -> &str {
    match node.body() {
        Body::Apply { op, .. } => op.label(),
        _ => "an input",
    }
}

impl fmt::Display for Witness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path();
        let (first, second) = (Phrase(&path.first), Phrase(&path.second));
        let (destroyer, input) = (name(&self.destroyer), self.input);
        write!(f, "{destroyer} cannot write over its input {input}, {first}: ")?;
        match &self.conflict {
            Conflict::Constant => {
                write!(f, "{} never changes; give {destroyer} a copy of it", self.root.describe())
            }
            Conflict::Borrowed => write!(
                f,
                "{} belongs to the caller; donate that input, or leave {destroyer} a copy",
                self.root.describe()
            ),
            Conflict::Protected(_) => {
                let end = if path.second.len() > 1 { "," } else { "" };
                write!(f, "{second}{end} is protected; give {destroyer} a copy")
            }
            Conflict::Output { position, .. } => write!(
                f,
                "output {position} of the graph, {second}, is read after all nodes; return a copy of it"
            ),
            Conflict::Destroyed { by, input } if *by == self.destroyer => {
                write!(f, "it does so already as its input {input}, {second}; give it a copy")
            }
            Conflict::Destroyed { by, input } => write!(
                f,
                "{} writes over its input {input}, {second}; give one of them a copy",
                name(by)
            ),
            Conflict::Operand { input: other } => write!(
                f,
                "it reads the same memory as its input {other}, {second}; give it a copy, or let its op name \
                 ({input}, {other}) in destroy_tolerates_{}",
                if self.destroyed() == self.other() { "same" } else { "aliased" }
            ),
            Conflict::Reader { node, between, .. } => {
                write!(f, "{} reads {second}, and cannot run before {destroyer}", name(node))?;
                if !between.is_empty() {
                    let nodes: Vec<&str> = between.iter().take(4).map(name).collect();
                    let more = if between.len() > nodes.len() { ", ..." } else { "" };
                    write!(f, ", which it needs by way of {}{more}", nodes.join(", "))?;
                }
                f.write_str("; give one of them a copy")
            }
        }
    }
}

/// A graph that no order of its nodes can run, because of what they destroy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inconsistent(Box<Witness>);

impl Inconsistent {
    /// The proof.
    pub fn witness(&self) -> &Witness {
        &self.0
    }
}

impl From<Witness> for Inconsistent {
    fn from(witness: Witness) -> Inconsistent {
        Inconsistent(Box::new(witness))
    }
}

impl fmt::Display for Inconsistent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl std::error::Error for Inconsistent {}

/// For every destroyer, the nodes that must run before it because they read what it destroys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Orderings {
    entries: Vec<(Node, Vec<Node>)>,
    places: FxHashMap<usize, usize>,
}

impl Orderings {
    /// Whether nothing is destroyed.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The number of destroyers.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Every destroyer with the readers that precede it, perhaps none; destroyers and readers in postorder.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Node, &[Node])> {
        self.entries.iter().map(|(destroyer, readers)| (destroyer, readers.as_slice()))
    }

    /// The readers that precede a node; none if it destroys nothing.
    pub fn readers(&self, node: &Node) -> &[Node] {
        self.places.get(&node.address()).map_or(&[], |&at| &self.entries[at].1)
    }
}

/// Whether any of these nodes writes over an input.
pub fn has_destroyers(nodes: &[&Node]) -> bool {
    nodes.iter().any(|node| !props(node).is_none_or(|props| props.destroy_map.is_empty()))
}

/// What must run before what in the graph that computes `outputs`, without walking past `inputs`.
///
/// Nothing that a variable of `protected` aliases may be destroyed.
pub fn orderings(
    outputs: &[Var],
    inputs: &[Var],
    protected: &[Var],
) -> Result<Orderings, Inconsistent> {
    if !has_destroyers(&traverse::postorder(outputs, inputs)) {
        return Ok(Orderings::default());
    }
    Aliases::with(outputs, inputs, |aliases| {
        let claims = Claims::of(aliases, outputs, protected)?;
        let waits = claims.waits(&aliases.readers());
        order(&claims, &waits)?;
        Ok(claims.orderings(&waits))
    })
}

/// The applications that `outputs` need, in an order that a backend can run as it is.
///
/// Operands come before users, and destroyers after the readers of what they destroy. The order follows from the
/// graph alone: it is postorder, except that a destroyer draws the readers that it waits for in front of it.
pub fn toposort<'a>(
    outputs: &'a [Var],
    inputs: &'a [Var],
    protected: &[Var],
) -> Result<Vec<&'a Node>, Inconsistent> {
    let plain = traverse::toposort(outputs, inputs);
    if !has_destroyers(&plain) {
        return Ok(plain);
    }
    Aliases::with(outputs, inputs, |aliases| {
        let claims = Claims::of(aliases, outputs, protected)?;
        let steps = order(&claims, &claims.waits(&aliases.readers()))?;
        Ok(steps.into_iter().map(|step| aliases.node(step)).collect())
    })
}

pub(crate) fn props(node: &Node) -> Option<&OpProps> {
    match node.body() {
        Body::Apply { op, .. } => Some(&op.key().props),
        _ => None,
    }
}

/// Why a root must stay as it is.
#[derive(Clone, Copy)]
enum Keep {
    Constant,
    Borrowed,
    Protected(u32),
    Output(u32),
}

/// Who destroys which root, and which roots nobody may.
pub(crate) struct Claims<'g, 'n, 'a> {
    aliases: &'g Aliases<'n, 'a>,
    outputs: &'g [Var],
    protected: &'g [Var],
    kept: Vec<Option<Keep>>,
    destroyers: Vec<Option<(Step, u32)>>,
    roots_of: Vec<(Step, Place)>,
}

/// What a claim meets, without the handles that a witness holds.
#[derive(Clone, Copy)]
pub(crate) struct Obstacle {
    root: Place,
    what: ObstacleKind,
}

#[derive(Clone, Copy)]
enum ObstacleKind {
    Kept(Keep),
    Destroyed(Step, u32),
    Operand(u32),
}

impl<'g, 'n, 'a> Claims<'g, 'n, 'a> {
    /// The claims of the graph's own destroyers.
    pub(crate) fn of(
        aliases: &'g Aliases<'n, 'a>,
        outputs: &'g [Var],
        protected: &'g [Var],
    ) -> Result<Claims<'g, 'n, 'a>, Inconsistent> {
        let mut claims = Claims::unclaimed(aliases, outputs, protected);
        claims.claim_maps()?;
        Ok(claims)
    }

    /// As [`Claims::of`], for a caller who keeps every input that is not among `donated`.
    pub(crate) fn with_donated(
        aliases: &'g Aliases<'n, 'a>,
        outputs: &'g [Var],
        protected: &'g [Var],
        donated: &[Var],
    ) -> Result<Claims<'g, 'n, 'a>, Inconsistent> {
        let mut claims = Claims::unclaimed(aliases, outputs, protected);
        let mut given = vec![false; aliases.place_count()];
        for place in donated.iter().filter_map(|var| aliases.find(var)) {
            given[place.index()] = true;
        }
        for place in aliases.places() {
            if aliases.maker(place).is_none() && !given[place.index()] {
                claims.keep(place, Keep::Borrowed);
            }
        }
        claims.claim_maps()?;
        Ok(claims)
    }

    fn unclaimed(
        aliases: &'g Aliases<'n, 'a>,
        outputs: &'g [Var],
        protected: &'g [Var],
    ) -> Claims<'g, 'n, 'a> {
        let mut claims = Claims {
            aliases,
            outputs,
            protected,
            kept: vec![None; aliases.place_count()],
            destroyers: vec![None; aliases.place_count()],
            roots_of: Vec::new(),
        };
        for place in aliases.places() {
            let leaf = aliases.leaf(place);
            if leaf.is_some_and(|node| matches!(node.body(), Body::Constant(_))) {
                claims.keep(place, Keep::Constant);
            }
        }
        for (position, var) in protected.iter().enumerate() {
            for root in aliases.roots_within(var) {
                claims.keep(root, Keep::Protected(position as u32));
            }
        }
        for (position, var) in outputs.iter().enumerate() {
            for root in aliases.roots_within(var) {
                claims.keep(root, Keep::Output(position as u32));
            }
        }
        claims
    }

    fn keep(&mut self, root: Place, why: Keep) {
        self.kept[root.index()].get_or_insert(why);
    }

    fn claim_maps(&mut self) -> Result<(), Inconsistent> {
        for &step in self.aliases.destroyers() {
            let node = self.aliases.node(step);
            for (_, inputs) in props(node).into_iter().flat_map(|props| &props.destroy_map) {
                for &input in inputs.iter().filter(|&&input| (input as usize) < node.inputs().len())
                {
                    match self.obstacle(step, input) {
                        Some(obstacle) => return Err(self.witness(step, input, obstacle).into()),
                        None => self.claim(step, input),
                    }
                }
            }
        }
        Ok(())
    }

    /// What keeps a step from writing over an input, the order of steps aside.
    pub(crate) fn obstacle(&self, step: Step, input: u32) -> Option<Obstacle> {
        let (aliases, operands) = (self.aliases, self.aliases.operands(step));
        let destroyed = operands[input as usize];
        let roots = aliases.roots_of(destroyed);
        for &root in aliases.sets().get(roots) {
            if let Some(why) = self.kept[root.index()] {
                return Some(Obstacle { root, what: ObstacleKind::Kept(why) });
            }
            if let Some((by, input)) = self.destroyers[root.index()] {
                return Some(Obstacle { root, what: ObstacleKind::Destroyed(by, input) });
            }
        }
        let props = props(aliases.node(step))?;
        operands.iter().enumerate().find_map(|(other, &operand)| {
            let pair = (input, other as u32);
            if pair.0 == pair.1 {
                return None;
            }
            let root = aliases.sets().common(roots, aliases.roots_of(operand))?;
            let tolerated = props.destroy_tolerates_aliased.contains(&pair)
                || operand == destroyed && props.destroy_tolerates_same.contains(&pair);
            (!tolerated).then_some(Obstacle { root, what: ObstacleKind::Operand(pair.1) })
        })
    }

    /// Lets a step destroy an input that no obstacle protects.
    pub(crate) fn claim(&mut self, step: Step, input: u32) {
        let operand = self.aliases.operands(step)[input as usize];
        for &root in self.aliases.sets().get(self.aliases.roots_of(operand)) {
            self.destroyers[root.index()] = Some((step, input));
            self.roots_of.push((step, root));
        }
    }

    pub(crate) fn witness(&self, step: Step, input: u32, obstacle: Obstacle) -> Witness {
        let conflict = match obstacle.what {
            ObstacleKind::Kept(Keep::Constant) => Conflict::Constant,
            ObstacleKind::Kept(Keep::Borrowed) => Conflict::Borrowed,
            ObstacleKind::Kept(Keep::Protected(position)) => {
                Conflict::Protected(self.protected[position as usize].clone())
            }
            ObstacleKind::Kept(Keep::Output(position)) => {
                let position = position as usize;
                Conflict::Output { position, var: self.outputs[position].clone() }
            }
            ObstacleKind::Destroyed(by, input) => {
                Conflict::Destroyed { by: self.aliases.node(by).clone(), input: input as usize }
            }
            ObstacleKind::Operand(other) => Conflict::Operand { input: other as usize },
        };
        Witness {
            destroyer: self.aliases.node(step).clone(),
            input: input as usize,
            root: self.aliases.var(obstacle.root),
            conflict,
        }
    }

    /// The witness that a reader of `root` cannot run before its destroyer.
    pub(crate) fn reader_witness(
        &self,
        (destroyer, input): (Step, u32),
        reader: Step,
        root: Place,
        between: Vec<Node>,
    ) -> Witness {
        let reads =
            |&place: &Place| self.aliases.sets().get(self.aliases.roots_of(place)).contains(&root);
        let by = self.aliases.operands(reader).iter().position(reads);
        Witness {
            destroyer: self.aliases.node(destroyer).clone(),
            input: input as usize,
            root: self.aliases.var(root),
            conflict: Conflict::Reader {
                node: self.aliases.node(reader).clone(),
                input: by.expect("a reader of the root"),
                between,
            },
        }
    }

    /// Whether nothing is destroyed.
    pub(crate) fn is_empty(&self) -> bool {
        self.roots_of.is_empty()
    }

    /// The steps that destroy something, ascending.
    pub(crate) fn destroyers(&self) -> impl Iterator<Item = Step> {
        let mut steps: Vec<Step> = self.roots_of.iter().map(|&(step, _)| step).collect();
        steps.sort_unstable();
        steps.dedup();
        steps.into_iter()
    }

    /// The variables that alias what is destroyed.
    pub(crate) fn destroyed(&self) -> impl Iterator<Item = Var> {
        let roots = |place| self.aliases.sets().get(self.aliases.roots_of(place)).iter();
        let places = self
            .aliases
            .places()
            .filter(move |&place| roots(place).any(|root| self.destroyers[root.index()].is_some()));
        places.map(|place| self.aliases.var(place))
    }

    /// What must run before what, by nodes.
    pub(crate) fn orderings(&self, waits: &Waits) -> Orderings {
        let node = |step: Step| self.aliases.node(step).clone();
        let entries: Vec<(Node, Vec<Node>)> = self
            .destroyers()
            .map(|step| (node(step), waits.of(step).iter().map(|&step| node(step)).collect()))
            .collect();
        let number = |(at, (node, _)): (usize, &(Node, _))| (node.address(), at);
        let places = entries.iter().enumerate().map(number).collect();
        Orderings { entries, places }
    }

    /// For every destroyer, the readers that it waits for.
    pub(crate) fn waits(&self, readers: &Readers) -> Waits {
        let mut claimed = self.roots_of.clone();
        claimed.sort_unstable();
        let mut waits =
            Waits { starts: Vec::with_capacity(self.aliases.step_count() + 1), steps: Vec::new() };
        let mut claimed = claimed.into_iter().peekable();
        for step in self.aliases.steps() {
            let start = waits.steps.len();
            waits.starts.push(start as u32);
            while let Some((_, root)) = claimed.next_if(|&(destroyer, _)| destroyer == step) {
                waits.steps.extend(readers.of(root).iter().filter(|&&reader| reader != step));
            }
            waits.steps[start..].sort_unstable();
            // Several roots may have one reader.
            let mut kept = start;
            for at in start..waits.steps.len() {
                if at == start || waits.steps[at] != waits.steps[kept - 1] {
                    waits.steps[kept] = waits.steps[at];
                    kept += 1;
                }
            }
            waits.steps.truncate(kept);
        }
        waits.starts.push(waits.steps.len() as u32);
        waits
    }
}

/// For every step, the readers that must run before it because it destroys what they read, ascending.
pub(crate) struct Waits {
    starts: Vec<u32>,
    steps: Vec<Step>,
}

impl Waits {
    pub(crate) fn of(&self, step: Step) -> &[Step] {
        let (start, end) = (self.starts[step.index()], self.starts[step.index() + 1]);
        &self.steps[start as usize..end as usize]
    }
}

/// What must run right before a step: the makers of its operands, then the readers that it waits for.
fn before<'w>(
    aliases: &'w Aliases<'_, '_>,
    waits: &'w Waits,
    step: Step,
) -> impl Iterator<Item = Step> + 'w {
    let makers = aliases.operands(step).iter().filter_map(|&place| aliases.maker(place));
    makers.chain(waits.of(step).iter().copied())
}

/// The steps in an order that honours operands and waits: ascending, except that a step draws what it waits for in
/// front of it.
pub(crate) fn order(claims: &Claims<'_, '_, '_>, waits: &Waits) -> Result<Vec<Step>, Inconsistent> {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let aliases = claims.aliases;
    let mut marks = vec![Mark::New; aliases.step_count()];
    let mut order = Vec::with_capacity(aliases.step_count());
    let mut stack: Vec<(Step, usize)> = Vec::new();
    for start in aliases.steps() {
        if marks[start.index()] == Mark::New {
            marks[start.index()] = Mark::Open;
            stack.push((start, 0));
        }
        while let Some((step, next)) = stack.last_mut() {
            let step = *step;
            let (operands, waits_for) = (aliases.operands(step), waits.of(step));
            let at = *next;
            *next += 1;
            let before = match operands.get(at) {
                Some(&operand) => match aliases.maker(operand) {
                    Some(maker) => maker,
                    None => continue,
                },
                None => match waits_for.get(at - operands.len()) {
                    Some(&reader) => reader,
                    None => {
                        marks[step.index()] = Mark::Done;
                        order.push(step);
                        stack.pop();
                        continue;
                    }
                },
            };
            match marks[before.index()] {
                Mark::Done => {}
                Mark::New => {
                    marks[before.index()] = Mark::Open;
                    stack.push((before, 0));
                }
                Mark::Open => {
                    let from = stack.iter().position(|&(step, _)| step == before);
                    let cycle: Vec<Step> = stack[from.expect("an open step is on the stack")..]
                        .iter()
                        .map(|&(step, _)| step)
                        .collect();
                    return Err(cycle_witness(claims, waits, &cycle).into());
                }
            }
        }
    }
    Ok(order)
}

/// The witness of a cycle, in which every step waits for the next and the last for the first.
fn cycle_witness(claims: &Claims<'_, '_, '_>, waits: &Waits, cycle: &[Step]) -> Witness {
    let aliases = claims.aliases;
    let next = |at: usize| cycle[(at + 1) % cycle.len()];
    // Operands alone make no cycle: some step waits for a reader.
    let (destroyer, reader) = (0..cycle.len())
        .map(|at| (cycle[at], next(at)))
        .filter(|(step, before)| waits.of(*step).binary_search(before).is_ok())
        .min()
        .expect("a cycle waits for a reader somewhere");
    let reader_roots = |root: Place| {
        aliases
            .operands(reader)
            .iter()
            .any(|&place| aliases.sets().get(aliases.roots_of(place)).contains(&root))
    };
    let root = claims
        .roots_of
        .iter()
        .find(|&&(step, root)| step == destroyer && reader_roots(root))
        .map(|&(_, root)| root)
        .expect("the reader reads what the step destroys");
    let (_, input) = claims.destroyers[root.index()].expect("a claimed root");
    let between = shortest(aliases, waits, destroyer, reader);
    claims.reader_witness((destroyer, input), reader, root, between)
}

/// The nodes strictly between `from` and `to` on a shortest way along which each must run before the next.
fn shortest(aliases: &Aliases<'_, '_>, waits: &Waits, from: Step, to: Step) -> Vec<Node> {
    let mut after: Vec<Option<Step>> = vec![None; aliases.step_count()];
    let mut pending = VecDeque::from([to]);
    while let Some(step) = pending.pop_front() {
        if step == from {
            break;
        }
        for earlier in before(aliases, waits, step) {
            if earlier != to && after[earlier.index()].is_none() {
                after[earlier.index()] = Some(step);
                pending.push_back(earlier);
            }
        }
    }
    let mut between = Vec::new();
    let mut at = after[from.index()];
    while let Some(step) = at.filter(|&step| step != to) {
        between.push(aliases.node(step).clone());
        at = after[step.index()];
    }
    between
}
