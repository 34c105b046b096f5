//! Elementwise application to variables whose lengths in one run are known.
//!
//! A graph declares the lengths that are 1, and broadcasts only there. Python code that runs on variables expects what
//! NumPy does with the lengths of the arrays in this run.

use std::sync::Arc;

use smallvec::SmallVec;

use super::container::Container;
use super::elemwise::{self, Operand};
use super::op::Op;
use crate::node::Var;
use crate::value::constant::WeakScalar;
use crate::value::error::Error;
use crate::value::id::Origin;

/// A variable with its lengths in a run, if they are known.
#[derive(Clone)]
pub struct Measured {
    /// The variable.
    pub var: Var,
    /// A length for each of its dimensions.
    pub lengths: Option<Arc<[u64]>>,
}

/// An operand beside such a variable.
pub enum MeasuredOperand {
    /// A variable.
    Var(Measured),
    /// A Python number, which takes the dtype of the operands beside it.
    Weak(WeakScalar),
}

/// The operands of one application.
pub type MeasuredOperands = SmallVec<[MeasuredOperand; 3]>;

/// `op` applied element by element. None if a length of 1 would have to be declared first, if lengths differ, or if
/// lengths are not known.
pub fn apply(
    container: &Container,
    op: Op,
    operands: MeasuredOperands,
    origin: Origin,
) -> Result<Option<Measured>, Error> {
    let Some(lengths) = agreed(&operands) else { return Ok(None) };
    let plain = operands
        .into_iter()
        .map(|operand| match operand {
            MeasuredOperand::Var(measured) => Operand::Var(measured.var),
            MeasuredOperand::Weak(scalar) => Operand::Weak(scalar),
        })
        .collect();
    let var = elemwise::apply(container, op, plain, origin)?;
    Ok(Some(Measured { var, lengths }))
}

/// The lengths of the result, as far as they are known, if operands broadcast as their types declare it.
fn agreed(operands: &[MeasuredOperand]) -> Option<Option<Arc<[u64]>>> {
    let mut ranked = operands.iter().filter_map(|operand| match operand {
        MeasuredOperand::Var(measured) if measured.var.ty().ndim() > 0 => Some(measured),
        _ => None,
    });
    let Some(first) = ranked.next() else { return Some(None) };
    let rest: SmallVec<[&Measured; 2]> = ranked.collect();
    if rest.is_empty() {
        return Some(first.lengths.clone());
    }
    let mut common: SmallVec<[u64; 4]> = SmallVec::new();
    for operand in std::iter::once(first).chain(rest.iter().copied()) {
        join(&mut common, operand)?;
    }
    // Usually it is the length of an operand, and need not be written again.
    let known = std::iter::once(&first).chain(rest.iter()).filter_map(|own| own.lengths.as_ref());
    let same = known.into_iter().find(|own| own.iter().eq(common.iter().rev()));
    Some(Some(same.cloned().unwrap_or_else(|| common.iter().rev().copied().collect())))
}

/// Broadcasts `common`, the last dimension first, with the lengths of an operand.
fn join(common: &mut SmallVec<[u64; 4]>, operand: &Measured) -> Option<()> {
    let lengths = operand.lengths.as_ref()?;
    for (back, (&length, declared)) in
        lengths.iter().rev().zip(operand.var.ty().shape().iter().rev()).enumerate()
    {
        if back == common.len() {
            common.push(1);
        }
        let one = *declared == Some(1);
        if (length == 1) != one || !(one || common[back] == 1 || common[back] == length) {
            return None;
        }
        if !one {
            common[back] = length;
        }
    }
    Some(())
}
