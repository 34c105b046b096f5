//! The ops that are computed for a register of elements at once.

use crate::dtype::{Dtype, Kind};
use crate::op::Op;

/// Whether there is an instruction for a register of such elements; else they go one by one.
pub(crate) fn has_wide_form(op: Op, own: Dtype) -> bool {
    match own.kind() {
        Kind::Float => {
            let one_by_one = matches!(
                op,
                Op::Floordiv | Op::Mod | Op::Fmod | Op::Nextafter | Op::Copysign | Op::Signbit
            );
            let calls = op == Op::Polygamma || op.is_of_scipy() || op.is_function(own);
            !one_by_one && !calls
        }
        Kind::Half => false,
        Kind::Signed => of_bits(op) || of_integers(op) || of_ordered(op),
        Kind::Unsigned => of_bits(op) || of_integers(op),
        Kind::Bool => {
            of_bits(op) || matches!(op, Op::Add | Op::Mul | Op::Minimum | Op::Maximum | Op::Abs)
        }
    }
}

/// Ops of bits, and those that choose or pass on an element.
fn of_bits(op: Op) -> bool {
    matches!(
        op,
        Op::And
            | Op::Or
            | Op::Xor
            | Op::Invert
            | Op::Where
            | Op::Second
            | Op::Identity
            | Op::DisconnectedGrad
            | Op::ZeroGrad
    )
}

/// Ops of integers that do the same with and without a sign.
fn of_integers(op: Op) -> bool {
    matches!(
        op,
        Op::Add
            | Op::Sub
            | Op::Mul
            | Op::Sqr
            | Op::Neg
            | Op::Abs
            | Op::Eq
            | Op::Neq
            | Op::Isnan
            | Op::Isinf
            | Op::Isfinite
    )
}

/// Ops that look at the order of integers: there are instructions for those with a sign alone.
fn of_ordered(op: Op) -> bool {
    matches!(
        op,
        Op::Sign | Op::Minimum | Op::Maximum | Op::Clip | Op::Lt | Op::Le | Op::Gt | Op::Ge
    )
}
