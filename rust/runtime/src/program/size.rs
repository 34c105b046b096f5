//! Integer expressions over the lengths of arrays, evaluated during a call.

use std::collections::HashMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::ids::{Size, Slot};

/// The operations on two sizes: those on integers of 64 bits in arrays, which wrap around. Comparisons give 1
/// or 0; division and remainder round as Python's, and by zero they are zero, as in NumPy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum SizeOp {
    Add,
    Sub,
    Mul,
    FloorDiv,
    Mod,
    Minimum,
    Maximum,
    Lt,
    Le,
    Eq,
}

impl SizeOp {
    /// Every operation.
    pub const ALL: [SizeOp; 10] = [
        SizeOp::Add,
        SizeOp::Sub,
        SizeOp::Mul,
        SizeOp::FloorDiv,
        SizeOp::Mod,
        SizeOp::Minimum,
        SizeOp::Maximum,
        SizeOp::Lt,
        SizeOp::Le,
        SizeOp::Eq,
    ];

    /// The name, as that of the scalar op.
    pub fn name(self) -> &'static str {
        match self {
            SizeOp::Add => "add",
            SizeOp::Sub => "sub",
            SizeOp::Mul => "mul",
            SizeOp::FloorDiv => "floordiv",
            SizeOp::Mod => "mod",
            SizeOp::Minimum => "minimum",
            SizeOp::Maximum => "maximum",
            SizeOp::Lt => "lt",
            SizeOp::Le => "le",
            SizeOp::Eq => "eq",
        }
    }

    /// The operation of this name.
    pub fn from_name(name: &str) -> Option<SizeOp> {
        SizeOp::ALL.into_iter().find(|op| op.name() == name)
    }

    fn apply(self, a: i64, b: i64) -> i64 {
        match self {
            SizeOp::Add => a.wrapping_add(b),
            SizeOp::Sub => a.wrapping_sub(b),
            SizeOp::Mul => a.wrapping_mul(b),
            SizeOp::FloorDiv | SizeOp::Mod if b == 0 => 0,
            SizeOp::FloorDiv => {
                let (quotient, rest) = (a.wrapping_div(b), a.wrapping_rem(b));
                if rest != 0 && (rest < 0) != (b < 0) { quotient - 1 } else { quotient }
            }
            SizeOp::Mod => {
                let rest = a.wrapping_rem(b);
                if rest != 0 && (rest < 0) != (b < 0) { rest + b } else { rest }
            }
            SizeOp::Minimum => a.min(b),
            SizeOp::Maximum => a.max(b),
            SizeOp::Lt => (a < b) as i64,
            SizeOp::Le => (a <= b) as i64,
            SizeOp::Eq => (a == b) as i64,
        }
    }
}

/// One size, over earlier ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum SizeExpr {
    /// A number.
    Literal(i64),
    /// The length of an axis of a slot.
    Dim(Slot, u32),
    /// Two sizes combined.
    Binary(SizeOp, Size, Size),
    /// The second size where the first is not zero, else the third.
    Where(Size, Size, Size),
    /// The value of a 0-d integer slot.
    Value(Slot),
}

impl SizeExpr {
    /// The value of a literal or of two or three evaluated sizes; `None` where the expression reads
    /// a slot.
    pub(crate) fn evaluate(self, values: &[i64]) -> Option<i64> {
        let value = |size: Size| values[size.index()];
        match self {
            SizeExpr::Literal(value) => Some(value),
            SizeExpr::Binary(op, a, b) => Some(op.apply(value(a), value(b))),
            SizeExpr::Where(condition, a, b) => {
                Some(if value(condition) != 0 { value(a) } else { value(b) })
            }
            SizeExpr::Dim(..) | SizeExpr::Value(_) => None,
        }
    }

    /// Whether all slots that it names come before `next`.
    pub(crate) fn follows(&self, next: Slot) -> bool {
        match self {
            SizeExpr::Dim(slot, _) | SizeExpr::Value(slot) => *slot < next,
            SizeExpr::Literal(_) | SizeExpr::Binary(..) | SizeExpr::Where(..) => true,
        }
    }
}

impl fmt::Display for SizeExpr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SizeExpr::Literal(value) => write!(f, "{value}"),
            SizeExpr::Dim(slot, axis) => write!(f, "{slot}.shape[{axis}]"),
            SizeExpr::Binary(op, a, b) => write!(f, "{}({a}, {b})", op.name()),
            SizeExpr::Where(condition, a, b) => write!(f, "where({condition}, {a}, {b})"),
            SizeExpr::Value(slot) => write!(f, "value({slot})"),
        }
    }
}

/// Expressions in topological order: each refers to earlier ones only. Equal ones are one.
#[derive(Debug, Default)]
pub(crate) struct SizeTable {
    exprs: Vec<SizeExpr>,
    known: HashMap<SizeExpr, Size>,
}

impl SizeTable {
    /// The size of `expr`, whose operands are in the table; folded if they are literals.
    pub(crate) fn add(&mut self, expr: SizeExpr) -> Size {
        let expr = self.fold(expr);
        if let Some(&size) = self.known.get(&expr) {
            return size;
        }
        let size = Size::from_index(self.exprs.len());
        self.exprs.push(expr);
        self.known.insert(expr, size);
        size
    }

    fn fold(&self, expr: SizeExpr) -> SizeExpr {
        match expr {
            SizeExpr::Binary(op, a, b) => match (self.literal(a), self.literal(b)) {
                (Some(a), Some(b)) => SizeExpr::Literal(op.apply(a, b)),
                _ => expr,
            },
            SizeExpr::Where(condition, a, b) => match self.literal(condition) {
                Some(condition) => self.exprs[if condition != 0 { a } else { b }.index()],
                None => expr,
            },
            _ => expr,
        }
    }

    /// The number that `size` always is, if it is known already.
    pub(crate) fn literal(&self, size: Size) -> Option<i64> {
        match self.exprs[size.index()] {
            SizeExpr::Literal(value) => Some(value),
            _ => None,
        }
    }

    pub(crate) fn contains(&self, size: Size) -> bool {
        size.index() < self.exprs.len()
    }

    pub(crate) fn into_exprs(self) -> Box<[SizeExpr]> {
        self.exprs.into()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Python's integers never overflow: the model counts in 128 bits and keeps 64 of them.
    fn model(op: SizeOp, a: i128, b: i128) -> i128 {
        let floor = |a: i128, b: i128| {
            let quotient = a / b;
            if a % b != 0 && (a < 0) != (b < 0) { quotient - 1 } else { quotient }
        };
        match op {
            SizeOp::Add => a + b,
            SizeOp::Sub => a - b,
            SizeOp::Mul => a * b,
            SizeOp::FloorDiv | SizeOp::Mod if b == 0 => 0,
            SizeOp::FloorDiv => floor(a, b),
            SizeOp::Mod => a - floor(a, b) * b,
            SizeOp::Minimum => a.min(b),
            SizeOp::Maximum => a.max(b),
            SizeOp::Lt => (a < b) as i128,
            SizeOp::Le => (a <= b) as i128,
            SizeOp::Eq => (a == b) as i128,
        }
    }

    fn number() -> impl Strategy<Value = i64> {
        prop_oneof![
            -20..20i64,
            any::<i64>(),
            Just(i64::MIN),
            Just(i64::MAX),
            Just(-1i64),
            Just(0i64)
        ]
    }

    proptest! {
        #[test]
        fn arithmetic_is_pythons_and_wraps_around(at in 0..SizeOp::ALL.len(), a in number(), b in number()) {
            let op = SizeOp::ALL[at];
            prop_assert_eq!(op.apply(a, b), model(op, a.into(), b.into()) as i64);
        }
    }

    #[test]
    fn equal_expressions_are_one_and_literals_fold() {
        let mut table = SizeTable::default();
        let dim = table.add(SizeExpr::Dim(Slot(0), 0));
        let two = table.add(SizeExpr::Literal(2));
        let sum = table.add(SizeExpr::Binary(SizeOp::Add, dim, two));
        assert_eq!(table.add(SizeExpr::Binary(SizeOp::Add, dim, two)), sum);
        let four = table.add(SizeExpr::Binary(SizeOp::Mul, two, two));
        assert_eq!(table.literal(four), Some(4));
        assert_eq!(table.add(SizeExpr::Where(four, dim, two)), dim);
    }
}
