//! The nodes that destroy memory, and the memory that no node may destroy.

use super::{Conflict, Inconsistent, Orderings, Waits, Witness, props};
use crate::node::alias::{Aliases, StepNumber, VarNumber};
use crate::node::{Body, Node, Var};

/// Why a root must stay as it is.
#[derive(Clone, Copy)]
enum Keep {
    Constant,
    Borrowed,
    Protected(u32),
    Output(u32),
}

/// The destroyers of roots, and the roots that no node may destroy.
pub(crate) struct Destroyers<'g, 'n, 'a> {
    pub(super) aliases: &'g Aliases<'n, 'a>,
    outputs: &'g [Var],
    protected: &'g [Var],
    kept: Vec<Option<Keep>>,
    pub(super) by_root: Vec<Option<(StepNumber, u32)>>,
    pub(super) roots_of: Vec<(StepNumber, VarNumber)>,
}

/// An obstacle to a destroyer, without the handles of a witness.
#[derive(Clone, Copy)]
pub(crate) struct Obstacle {
    root: VarNumber,
    what: ObstacleKind,
}

#[derive(Clone, Copy)]
enum ObstacleKind {
    Kept(Keep),
    Destroyed(StepNumber, u32),
    Operand(u32),
}

impl<'g, 'n, 'a> Destroyers<'g, 'n, 'a> {
    /// The destroyers that the ops of a graph declare.
    pub(crate) fn of(
        aliases: &'g Aliases<'n, 'a>,
        outputs: &'g [Var],
        protected: &'g [Var],
    ) -> Result<Destroyers<'g, 'n, 'a>, Inconsistent> {
        let mut destroyers = Destroyers::none_of(aliases, outputs, protected);
        destroyers.add_declared()?;
        Ok(destroyers)
    }

    /// As [`Destroyers::of`], for a caller that keeps every input but the `donated` ones.
    pub(crate) fn with_donated(
        aliases: &'g Aliases<'n, 'a>,
        outputs: &'g [Var],
        protected: &'g [Var],
        donated: &[Var],
    ) -> Result<Destroyers<'g, 'n, 'a>, Inconsistent> {
        let mut destroyers = Destroyers::none_of(aliases, outputs, protected);
        let mut given = vec![false; aliases.place_count()];
        for place in donated.iter().filter_map(|var| aliases.find(var)) {
            given[place.index()] = true;
        }
        for place in aliases.places() {
            if aliases.maker(place).is_none() && !given[place.index()] {
                destroyers.keep(place, Keep::Borrowed);
            }
        }
        destroyers.add_declared()?;
        Ok(destroyers)
    }

    fn none_of(
        aliases: &'g Aliases<'n, 'a>,
        outputs: &'g [Var],
        protected: &'g [Var],
    ) -> Destroyers<'g, 'n, 'a> {
        let mut destroyers = Destroyers {
            aliases,
            outputs,
            protected,
            kept: vec![None; aliases.place_count()],
            by_root: vec![None; aliases.place_count()],
            roots_of: Vec::new(),
        };
        for place in aliases.places() {
            let leaf = aliases.leaf(place);
            if leaf.is_some_and(|node| matches!(node.body(), Body::Constant(_))) {
                destroyers.keep(place, Keep::Constant);
            }
        }
        for (position, var) in protected.iter().enumerate() {
            for root in aliases.roots_within(var) {
                destroyers.keep(root, Keep::Protected(position as u32));
            }
        }
        for (position, var) in outputs.iter().enumerate() {
            for root in aliases.roots_within(var) {
                destroyers.keep(root, Keep::Output(position as u32));
            }
        }
        destroyers
    }

    fn keep(&mut self, root: VarNumber, why: Keep) {
        self.kept[root.index()].get_or_insert(why);
    }

    fn add_declared(&mut self) -> Result<(), Inconsistent> {
        for &step in self.aliases.destroyers() {
            let node = self.aliases.node(step);
            for (_, inputs) in props(node).into_iter().flat_map(|props| &props.destroy_map) {
                for &input in inputs.iter().filter(|&&input| (input as usize) < node.inputs().len())
                {
                    match self.obstacle(step, input) {
                        Some(obstacle) => return Err(self.witness(step, input, obstacle).into()),
                        None => self.add(step, input),
                    }
                }
            }
        }
        Ok(())
    }

    /// The obstacle to a step that would write over an input, apart from the order of steps.
    pub(crate) fn obstacle(&self, step: StepNumber, input: u32) -> Option<Obstacle> {
        let (aliases, operands) = (self.aliases, self.aliases.operands(step));
        let destroyed = operands[input as usize];
        let roots = aliases.roots_of(destroyed);
        for &root in aliases.sets().get(roots) {
            if let Some(why) = self.kept[root.index()] {
                return Some(Obstacle { root, what: ObstacleKind::Kept(why) });
            }
            if let Some((by, input)) = self.by_root[root.index()] {
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
    pub(crate) fn add(&mut self, step: StepNumber, input: u32) {
        let operand = self.aliases.operands(step)[input as usize];
        for &root in self.aliases.sets().get(self.aliases.roots_of(operand)) {
            self.by_root[root.index()] = Some((step, input));
            self.roots_of.push((step, root));
        }
    }

    pub(crate) fn witness(&self, step: StepNumber, input: u32, obstacle: Obstacle) -> Witness {
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
        (destroyer, input): (StepNumber, u32),
        reader: StepNumber,
        root: VarNumber,
        between: Vec<Node>,
    ) -> Witness {
        let reads = |&place: &VarNumber| {
            self.aliases.sets().get(self.aliases.roots_of(place)).contains(&root)
        };
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
    pub(crate) fn steps(&self) -> impl Iterator<Item = StepNumber> {
        let mut steps: Vec<StepNumber> = self.roots_of.iter().map(|&(step, _)| step).collect();
        steps.sort_unstable();
        steps.dedup();
        steps.into_iter()
    }

    /// The variables that alias a destroyed root.
    pub(crate) fn destroyed(&self) -> impl Iterator<Item = Var> {
        let roots = |place| self.aliases.sets().get(self.aliases.roots_of(place)).iter();
        let places = self
            .aliases
            .places()
            .filter(move |&place| roots(place).any(|root| self.by_root[root.index()].is_some()));
        places.map(|place| self.aliases.var(place))
    }

    /// The readers that must run before each destroyer, as nodes.
    pub(crate) fn orderings(&self, waits: &Waits) -> Orderings {
        let node = |step: StepNumber| self.aliases.node(step).clone();
        let entries: Vec<(Node, Vec<Node>)> = self
            .steps()
            .map(|step| (node(step), waits.of(step).iter().map(|&step| node(step)).collect()))
            .collect();
        let number = |(at, (node, _)): (usize, &(Node, _))| (node.address(), at);
        let places = entries.iter().enumerate().map(number).collect();
        Orderings { entries, places }
    }
}
