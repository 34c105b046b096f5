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
            let calls = op.is_of_scipy() || op.is_function(own);
            !one_by_one && !calls
        }
        Kind::Half => false,
        Kind::Signed | Kind::Unsigned => of_bits(op) || of_integers(op) || of_ordered(op),
        Kind::Bool => {
            let arithmetic = matches!(op, Op::Add | Op::Mul | Op::Minimum | Op::Maximum | Op::Abs);
            of_bits(op) || arithmetic || compares(op)
        }
    }
}

/// Whether there is an instruction for a register of such elements where instructions are drawn for one of any size.
pub(crate) fn has_drawn_form(op: Op, own: Dtype) -> bool {
    if has_wide_form(op, own) {
        return true;
    }
    let moves = matches!(op, Op::Floor | Op::Ceil | Op::Trunc | Op::Rint | Op::Signbit);
    match own.kind() {
        Kind::Float => matches!(op, Op::Copysign | Op::Signbit),
        Kind::Half => op == Op::Cast,
        Kind::Signed | Kind::Unsigned => {
            let extremes = matches!(op, Op::Fmin | Op::Fmax);
            let shifts = matches!(op, Op::LeftShift | Op::RightShift);
            let divides = matches!(op, Op::Floordiv | Op::Mod | Op::Fmod) && own.size() < 8;
            moves || extremes || shifts || divides
        }
        Kind::Bool => {
            let constants = matches!(op, Op::Isnan | Op::Isinf | Op::Isfinite);
            let extremes = matches!(op, Op::Fmin | Op::Fmax | Op::Clip);
            moves || constants || extremes
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

fn compares(op: Op) -> bool {
    matches!(op, Op::Eq | Op::Neq | Op::Lt | Op::Le | Op::Gt | Op::Ge)
}

/// Ops that look at the order of integers.
fn of_ordered(op: Op) -> bool {
    matches!(
        op,
        Op::Sign | Op::Minimum | Op::Maximum | Op::Clip | Op::Lt | Op::Le | Op::Gt | Op::Ge
    )
}
