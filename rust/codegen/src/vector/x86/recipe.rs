//! Functions of elements as nodes of a graph: the operations that the runtime's functions go through on this processor.

use crate::vector::x86::translate::{FloatOp, Id, IntegerOp, Node, Translation, in_64_bits};
use frazil_runtime::{Operation, recipe};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// The predicate of an instruction that compares floats: less, and not for a NaN.
const BELOW: u8 = 0x11;

type Known = HashMap<(&'static str, u32), Option<Rc<[Operation]>>>;

thread_local! {
    // The functions that this thread has asked for: each is run once to be noted. No other thread's lock is held where
    // the process forks.
    static KNOWN: RefCell<Known> = RefCell::default();
}

/// The operations of a function of elements of so many bytes.
fn operations_of(function: &'static str, size: u32) -> Option<Rc<[Operation]>> {
    KNOWN.with_borrow_mut(|known| {
        let make = || recipe(function, size == 8).map(Rc::from);
        known.entry((function, size)).or_insert_with(make).clone()
    })
}

pub(super) fn has_recipe(function: &'static str, size: u32) -> bool {
    operations_of(function, size).is_some()
}

impl Translation<'_> {
    /// The function of a node.
    pub(super) fn applied(&mut self, function: &'static str, argument: Id) -> Option<Id> {
        let size = self.sizes[argument];
        let operations = operations_of(function, size)?;
        let mut made: Vec<Id> = Vec::with_capacity(operations.len());
        for operation in operations.iter() {
            let node = match *operation {
                Operation::Argument => {
                    made.push(argument);
                    continue;
                }
                Operation::Number(bits) => Node::Constant(in_64_bits(bits, size)),
                Operation::Add(x, y) => Node::Float(FloatOp::Add, made[x], made[y]),
                Operation::Sub(x, y) => Node::Float(FloatOp::Sub, made[x], made[y]),
                Operation::Mul(x, y) => Node::Float(FloatOp::Mul, made[x], made[y]),
                Operation::Div(x, y) => Node::Float(FloatOp::Div, made[x], made[y]),
                Operation::Sqrt(x) => Node::Sqrt(made[x]),
                Operation::Fma(x, y, z) => Node::Fma([made[x], made[y], made[z]]),
                Operation::And(x, y) => Node::Integer(IntegerOp::And, made[y], made[x]),
                Operation::Or(x, y) => Node::Integer(IntegerOp::Or, made[x], made[y]),
                Operation::Below([x, bound, yes, no]) => {
                    let mask = self.add(Node::CompareFloats(BELOW, made[x], made[bound]), size);
                    Node::Choose { mask, yes: made[yes], no: made[no] }
                }
                Operation::Entry(table, at) => {
                    let table = self.table(table);
                    Node::Entry { table, at: made[at] }
                }
                Operation::Scale(x, by) => Node::Float(FloatOp::Scale, made[x], made[by]),
                Operation::Nearer(x, y) => Node::Float(FloatOp::Nearer, made[x], made[y]),
                Operation::Mantissa(x) => Node::Mantissa(made[x]),
                Operation::Exponent(x) => Node::Exponent(made[x]),
                Operation::Floor(x) => Node::Round(9, made[x]),
                Operation::Edges(x, of, how) => {
                    let how = self.add(Node::Constant(in_64_bits(how, size)), size);
                    Node::Edges([made[x], made[of], how])
                }
            };
            made.push(self.add(node, size));
        }
        made.last().copied()
    }

    /// The number of a table.
    fn table(&mut self, own: [u64; 16]) -> usize {
        self.tables.iter().position(|&known| known == own).unwrap_or_else(|| {
            self.tables.push(own);
            self.tables.len() - 1
        })
    }
}
