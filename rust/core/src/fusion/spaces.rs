//! Spaces: the lengths of the dimensions that a loop iterates over.

use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::numbered::{Numbered, VarId};
use super::reading::Readings;
use crate::node::{Node, Var};

/// The questions about lengths.
pub trait Lengths {
    /// Why something could not be found.
    type Error;
    /// The number of the lengths of `x`: equal numbers are equal lengths.
    fn shape(&mut self, x: &Var) -> Result<usize, Self::Error>;
    /// The lengths of that number, where one stands for all that must be equal.
    fn representatives(&mut self, shape: usize) -> Result<Vec<Var>, Self::Error>;
    /// The variables that the lengths of that number are computed from.
    fn leaves(&mut self, shape: usize) -> Result<Vec<Var>, Self::Error>;
    /// The variables that the lengths of a node outside loops are computed from.
    fn leaves_around(&mut self, node: &Node) -> Result<Vec<Var>, Self::Error>;
}

/// The number of a space.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct SpaceId(u32);

/// The lengths of a space, by the numbers of these.
type Content = SmallVec<[VarId; 4]>;

/// The spaces of variables, and what their lengths are computed from.
pub(super) struct Spaces {
    contents: Vec<Content>,
    numbers: FxHashMap<Content, SpaceId>,
    of: FxHashMap<VarId, (SpaceId, usize)>,
    leaves: FxHashMap<usize, Box<[VarId]>>,
}

impl Spaces {
    /// The spaces of domains and of what is read over them, and the leaves of domains.
    pub(super) fn new<L: Lengths>(
        readings: &Readings,
        graph: &mut Numbered,
        lengths: &mut L,
    ) -> Result<Spaces, L::Error> {
        let mut spaces = Spaces {
            contents: Vec::new(),
            numbers: FxHashMap::default(),
            of: FxHashMap::with_capacity_and_hasher(graph.len(), Default::default()),
            leaves: FxHashMap::default(),
        };
        let mut representatives = FxHashMap::default();
        for reading in readings.iter() {
            for x in
                reading.operands.iter().map(|own| own.base).chain([reading.over, reading.output])
            {
                if spaces.of.contains_key(&x) {
                    continue;
                }
                let shape = lengths.shape(graph.var(x))?;
                if let Entry::Vacant(new) = representatives.entry(shape) {
                    let whole = lengths.representatives(shape)?;
                    new.insert(
                        whole.iter().map(|length| graph.number(length)).collect::<Content>(),
                    );
                }
                let statics = graph.var(x).ty().shape().iter();
                let kept = representatives[&shape].iter().zip(statics);
                let own =
                    kept.filter(|(_, length)| **length != Some(1)).map(|(of, _)| *of).collect();
                let space = spaces.number(own);
                spaces.of.insert(x, (space, shape));
            }
            let shape = spaces.of[&reading.over].1;
            if let Entry::Vacant(new) = spaces.leaves.entry(shape) {
                let leaves = lengths.leaves(shape)?;
                new.insert(leaves.iter().map(|x| graph.number(x)).collect());
            }
        }
        Ok(spaces)
    }

    fn number(&mut self, content: Content) -> SpaceId {
        let next = SpaceId(self.contents.len() as u32);
        let number = *self.numbers.entry(content.clone()).or_insert(next);
        if number == next {
            self.contents.push(content);
        }
        number
    }

    /// A space that only the loop of this node has.
    pub(super) fn own(&mut self, output: VarId) -> SpaceId {
        self.number(SmallVec::from_slice(&[output]))
    }

    /// The space of a domain or of what is read over one.
    pub(super) fn space(&self, x: VarId) -> SpaceId {
        self.of[&x].0
    }

    /// The number of dimensions of a space.
    pub(super) fn rank(&self, space: SpaceId) -> usize {
        self.contents[space.0 as usize].len()
    }

    /// Whether `rows` has the dimensions of `space` but the innermost.
    pub(super) fn is_rows_of(&self, rows: SpaceId, space: SpaceId) -> bool {
        let whole = &self.contents[space.0 as usize];
        self.contents[rows.0 as usize][..] == whole[..whole.len().saturating_sub(1)]
    }

    /// The values from which the lengths of a domain are computed.
    pub(super) fn leaves(&self, over: VarId) -> &[VarId] {
        &self.leaves[&self.of[&over].1]
    }
}
