//! The steps of a loop: its nodes, and what it computes again, with the operands of each numbered.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::Known;
use super::kind::{Axes, REPEATED};
use super::numbered::{Marks, VarId};
use super::reading::{Operand, Reading, through};
use super::tasks::Loop;
use crate::node::Var;
use crate::value::constant::WeakScalar;
use crate::value::digest::Digest;
use crate::value::dtype::DType;
use crate::value::literal::number;

/// An operand of a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Value {
    /// The result of an earlier step.
    Step(u32),
    /// A variable that the loop reads.
    Read(u32),
    /// A number.
    Literal(u32),
}

impl Value {
    /// The number of a step; or -1, -3, ... for reads, and -2, -4, ... for literals, in their order.
    pub fn number(self) -> i64 {
        match self {
            Value::Step(at) => at.into(),
            Value::Read(at) => -1 - 2 * i64::from(at),
            Value::Literal(at) => -2 - 2 * i64::from(at),
        }
    }
}

/// A node of a loop, or one that the loop computes again.
pub struct LoopStep {
    /// The position of the node.
    pub at: usize,
    /// The operands that are read element by element.
    pub operands: SmallVec<[Value; 3]>,
}

/// The steps of a loop, in the order in which they run.
#[derive(Default)]
pub struct Steps {
    /// The steps.
    pub all: Vec<LoopStep>,
    /// The step of each node of the loop.
    pub own: Vec<u32>,
    /// The variables that are read, each with its axis for every dimension of the loop that has not length 1.
    pub reads: Vec<(VarId, Axes)>,
    /// The constants without dimensions that are read.
    pub literals: Vec<(DType, WeakScalar)>,
    /// The nodes that are computed again, each once.
    pub again: Vec<usize>,
    /// The steps whose results are in memory, with these, and their axes.
    pub stored: Vec<(u32, VarId, Axes)>,
}

impl Steps {
    /// The steps of a loop; `stored` are the variables in memory.
    pub(super) fn of(known: &Known, own: &Loop, stored: &Marks) -> Steps {
        let row = own.nodes.first().and_then(|&at| known.kind(at).row);
        let mut found = Numbering {
            known,
            own,
            row,
            steps: Steps::default(),
            made: FxHashMap::default(),
            reads: FxHashMap::default(),
            literals: FxHashMap::default(),
            again: FxHashMap::default(),
        };
        for &at in &own.nodes {
            found.add_node(at, stored);
        }
        found.steps
    }
}

/// The numbers of a loop's steps, reads and literals, node by node.
struct Numbering<'a> {
    known: &'a Known<'a>,
    own: &'a Loop,
    /// The dimension, of those that move, that must be the loop's innermost; None if it is.
    row: Option<usize>,
    steps: Steps,
    made: FxHashMap<VarId, u32>,
    reads: FxHashMap<(VarId, Axes), u32>,
    literals: FxHashMap<Digest, u32>,
    again: FxHashMap<(VarId, Axes), u32>,
}

impl Numbering<'_> {
    fn add_node(&mut self, at: usize, stored: &Marks) {
        let Some(read) = self.known.readings.get(at) else { return };
        let operands = read.operands.iter().map(|own| self.operand(at, read, own)).collect();
        let step = self.add(at, operands);
        self.made.insert(read.output, step);
        self.steps.own.push(step);
        if stored.contains(read.output) {
            let var = self.known.graph.var(read.output);
            let whole: Axes = (0..var.ty().ndim() as i32).collect();
            let mut axes = ordered(without_ones(&whole, var), self.row);
            if self.own.row_values.contains(&read.output) {
                axes.push(REPEATED);
            }
            self.steps.stored.push((step, read.output, axes));
        }
    }

    fn add(&mut self, at: usize, operands: SmallVec<[Value; 3]>) -> u32 {
        self.steps.all.push(LoopStep { at, operands });
        self.steps.all.len() as u32 - 1
    }

    /// The value of an operand of a loop's node.
    fn operand(&mut self, at: usize, read: &Reading, operand: &Operand) -> Value {
        if self.own.makes(at, operand) {
            return Value::Step(self.made[&operand.base]);
        }
        if let Some(literal) = self.literal(operand.base) {
            return literal;
        }
        let over = self.known.graph.var(read.over);
        let mut axes = ordered(without_ones(&operand.axes, over), self.row);
        if self.own.is_row(at) {
            axes.push(REPEATED);
        }
        self.compute_again(operand.base, &axes);
        self.outside_value(operand.base, axes)
    }

    /// Adds the steps that compute a variable again, if loops do, and what these need.
    fn compute_again(&mut self, base: VarId, axes: &Axes) {
        if !self.is_again(base) {
            return;
        }
        let mut pending = vec![(base, axes.clone())];
        while let Some(now) = pending.last() {
            let maker = self.known.graph.maker(now.0).filter(|_| self.is_again(now.0));
            let read = maker.and_then(|at| Some((at, self.known.readings.get(at)?)));
            let Some((at, read)) = read.filter(|_| !self.again.contains_key(now)) else {
                pending.pop();
                continue;
            };
            let own = read.operands.iter().map(|own| (own.base, through(&now.1, &own.axes)));
            let beneath: SmallVec<[(VarId, Axes); 3]> = own.collect();
            let is_missing =
                |own: &(VarId, Axes)| self.is_again(own.0) && !self.again.contains_key(own);
            let before = pending.len();
            pending.extend(beneath.iter().filter(|own| is_missing(own)).cloned());
            if pending.len() > before {
                continue;
            }
            let operands =
                beneath.into_iter().map(|(x, axes)| self.outside_value(x, axes)).collect();
            let step = self.add(at, operands);
            if !self.steps.again.contains(&at) {
                self.steps.again.push(at);
            }
            if let Some(now) = pending.pop() {
                self.again.insert(now, step);
            }
        }
    }

    fn is_again(&self, x: VarId) -> bool {
        self.known.recompute.again(x).is_some()
    }

    /// A literal, a step that computes the variable again, or a read.
    fn outside_value(&mut self, base: VarId, axes: Axes) -> Value {
        if let Some(literal) = self.literal(base) {
            return literal;
        }
        let key = (base, axes);
        if let Some(&step) = self.again.get(&key) {
            return Value::Step(step);
        }
        let next = self.steps.reads.len() as u32;
        let read = *self.reads.entry(key.clone()).or_insert(next);
        if read == next {
            self.steps.reads.push(key);
        }
        Value::Read(read)
    }

    /// The literal of a constant; None of any other variable.
    fn literal(&mut self, base: VarId) -> Option<Value> {
        let var = self.known.graph.var(base);
        let data = var.constant()?;
        // A NaN is read from memory, so that a checked run finds it.
        let value = number(data).filter(|value| !is_nan(*value))?;
        let next = self.steps.literals.len() as u32;
        let literal = *self.literals.entry(data.digest()).or_insert(next);
        if literal == next {
            self.steps.literals.push((var.ty().dtype(), value));
        }
        Some(Value::Literal(literal))
    }
}

fn is_nan(value: WeakScalar) -> bool {
    match value {
        WeakScalar::Float(value) => value.is_nan(),
        WeakScalar::Complex(re, im) => re.is_nan() || im.is_nan(),
        _ => false,
    }
}

/// `axes` without the dimensions along which `over` is known to have one element.
fn without_ones(axes: &[i32], over: &Var) -> Axes {
    let each = axes.iter().zip(over.ty().shape());
    each.filter(|(_, length)| **length != Some(1)).map(|(axis, _)| *axis).collect()
}

/// `axes` with that of the row last.
fn ordered(mut axes: Axes, row: Option<usize>) -> Axes {
    if let Some(row) = row.filter(|row| *row < axes.len()) {
        axes[row..].rotate_left(1);
    }
    axes
}
