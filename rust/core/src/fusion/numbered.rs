//! The variables of a graph, numbered, so that what is known of each is a place in a list.

use std::ops::Range;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::node::{Node, Var};

/// The number of a variable.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct VarId(u32);

impl VarId {
    /// The number, as a position in a list.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The variables that nodes read and make.
pub(super) struct Numbered {
    vars: Vec<Var>,
    numbers: FxHashMap<(usize, u32), VarId>,
    /// The node that makes a variable, by its position.
    makers: Vec<Option<usize>>,
    inputs: Vec<SmallVec<[VarId; 4]>>,
    outputs: Vec<Range<u32>>,
}

impl Numbered {
    pub(super) fn new(order: &[Node]) -> Numbered {
        let mut numbered = Numbered {
            vars: Vec::with_capacity(2 * order.len()),
            numbers: FxHashMap::with_capacity_and_hasher(2 * order.len(), Default::default()),
            makers: Vec::with_capacity(2 * order.len()),
            inputs: Vec::with_capacity(order.len()),
            outputs: Vec::with_capacity(order.len()),
        };
        for (at, node) in order.iter().enumerate() {
            let first = numbered.vars.len() as u32;
            for output in node.outputs() {
                let number = numbered.number(&output);
                numbered.makers[number.index()] = Some(at);
            }
            numbered.outputs.push(first..numbered.vars.len() as u32);
        }
        for node in order {
            let own = node.inputs().iter().map(|x| numbered.number(x)).collect();
            numbered.inputs.push(own);
        }
        numbered
    }

    /// The number of a variable: a new one if it has none.
    pub(super) fn number(&mut self, x: &Var) -> VarId {
        let next = VarId(self.vars.len() as u32);
        let number = *self.numbers.entry(x.identity()).or_insert(next);
        if number == next {
            self.vars.push(x.clone());
            self.makers.push(None);
        }
        number
    }

    pub(super) fn len(&self) -> usize {
        self.vars.len()
    }

    pub(super) fn var(&self, x: VarId) -> &Var {
        &self.vars[x.index()]
    }

    /// The node of the graph that makes a variable.
    pub(super) fn maker(&self, x: VarId) -> Option<usize> {
        self.makers[x.index()]
    }

    pub(super) fn inputs(&self, at: usize) -> &[VarId] {
        &self.inputs[at]
    }

    pub(super) fn outputs(&self, at: usize) -> impl DoubleEndedIterator<Item = VarId> + use<> {
        self.outputs[at].clone().map(VarId)
    }
}

/// A set of variables that is emptied at once.
#[derive(Clone)]
pub(super) struct Marks {
    marks: Vec<u32>,
    now: u32,
}

impl Marks {
    pub(super) fn new(len: usize) -> Marks {
        Marks { marks: vec![0; len], now: 1 }
    }

    /// An empty set with the memory of this one.
    pub(super) fn clear(&mut self) {
        self.now += 1;
    }

    /// Makes room for variables that were numbered later.
    pub(super) fn grow(&mut self, len: usize) {
        self.marks.resize(len.max(self.marks.len()), 0);
    }

    /// Adds a variable; whether it is new.
    pub(super) fn insert(&mut self, x: VarId) -> bool {
        let mark = &mut self.marks[x.index()];
        let new = *mark != self.now;
        *mark = self.now;
        new
    }

    pub(super) fn extend(&mut self, all: impl IntoIterator<Item = VarId>) {
        all.into_iter().for_each(|x| {
            self.insert(x);
        });
    }

    pub(super) fn contains(&self, x: VarId) -> bool {
        self.marks[x.index()] == self.now
    }
}
