//! Elementwise application: promotion, rank alignment and static broadcasting in one step.

use smallvec::SmallVec;

use super::container::Container;
use super::op::Op;
use super::typing::OpRule;
use crate::node::{Inputs, Var};
use crate::value::constant::WeakScalar;
use crate::value::dtype::DType;
use crate::value::error::Error;
use crate::value::id::Origin;
use crate::value::rule::TypeRule;
use crate::value::ty::{Dim, Ty};

/// An operand as users write it beside a variable.
#[derive(Clone)]
pub enum Operand {
    /// A variable.
    Var(Var),
    /// A Python number, which takes the dtype of the operands beside it.
    Weak(WeakScalar),
}

impl Operand {
    fn var(&self) -> Option<&Var> {
        match self {
            Operand::Var(var) => Some(var),
            Operand::Weak(_) => None,
        }
    }
}

/// The operands of one application.
pub type Operands = SmallVec<[Operand; 3]>;

/// `op` applied element by element, ranks aligned from the last axis as in NumPy.
///
/// A dimension broadcasts only where its type says 1. The node goes to the container of its operands; `container` is
/// used if all operands are numbers.
pub fn apply(
    container: &Container,
    op: Op,
    operands: Operands,
    origin: Origin,
) -> Result<Var, Error> {
    op.check_arity(operands.len())?;
    let rule = rule_of(&op)?;
    let container = &*container.common_container(operands.iter().filter_map(Operand::var));
    let inputs = strengthen(container, rule, operands)?;
    let ty = {
        let types: SmallVec<[&Ty; 3]> = inputs.iter().map(Var::ty).collect();
        result_type(&op, &types)?
    };
    Ok(Var::new(container.apply(op, inputs, ty.signature(), origin)?, 0))
}

fn rule_of(op: &Op) -> Result<TypeRule, Error> {
    op.key().rule.and_then(OpRule::elementwise).ok_or(Error::NoOperands)
}

/// The type of `op` applied to operands of these types.
pub fn result_type(op: &Op, types: &[&Ty]) -> Result<Ty, Error> {
    op.check_arity(types.len())?;
    let rule = rule_of(op)?;
    let dtypes: SmallVec<[DType; 3]> = types.iter().map(|ty| ty.dtype()).collect();
    let dtype = rule.result(op.label(), &dtypes)?;
    let widest = *types.iter().max_by_key(|ty| ty.ndim()).ok_or_else(|| Error::NoOperands)?;
    if widest.dtype() == dtype && types.iter().all(|ty| absorbed(ty.shape(), widest.shape())) {
        return Ok(widest.clone());
    }
    Ok(Ty::tensor(dtype, &broadcast_shape(op, types, widest.ndim())?))
}

/// Whether broadcasting `shape` against `widest` gives `widest` again.
fn absorbed(shape: &[Dim], widest: &[Dim]) -> bool {
    shape.iter().rev().zip(widest.iter().rev()).all(|(dim, wide)| *dim == Some(1) || dim == wide)
}

fn broadcast_shape(op: &Op, types: &[&Ty], ndim: usize) -> Result<SmallVec<[Dim; 4]>, Error> {
    let mut shape: SmallVec<[Dim; 4]> = SmallVec::from_elem(Some(1), ndim);
    for (position, ty) in types.iter().enumerate() {
        let offset = ndim - ty.ndim();
        for (axis, &dim) in ty.shape().iter().enumerate() {
            let known = &mut shape[offset + axis];
            match (*known, dim) {
                (_, Some(1)) => {}
                (Some(1), _) => *known = dim,
                (_, None) => {}
                (None, Some(_)) => *known = dim,
                (Some(a), Some(b)) if a == b => {}
                (Some(other), Some(length)) => {
                    return Err(Error::StaticShape {
                        op: op.label().to_owned(),
                        position,
                        given: Ty::clone(ty),
                        expected: types[..position]
                            .iter()
                            .map(|ty| ty.to_string())
                            .collect::<Vec<_>>()
                            .join(" and "),
                        axis: ty.ndim() - axis,
                        length,
                        other,
                    });
                }
            }
        }
    }
    Ok(shape)
}

/// Makes constants of the numbers that have no dtype of their own.
fn strengthen(container: &Container, rule: TypeRule, operands: Operands) -> Result<Inputs, Error> {
    if operands.iter().all(|operand| matches!(operand, Operand::Var(_))) {
        return Ok(operands
            .into_iter()
            .filter_map(|operand| match operand {
                Operand::Var(var) => Some(var),
                Operand::Weak(_) => None,
            })
            .collect());
    }
    let beside = operands
        .iter()
        .enumerate()
        .filter(|(position, _)| rule.promotes_operand(*position))
        .filter_map(|(_, operand)| match operand {
            Operand::Var(var) => Some(var.ty().dtype()),
            Operand::Weak(_) => None,
        })
        .reduce(DType::promote);
    operands
        .into_iter()
        .enumerate()
        .map(|(position, operand)| {
            let scalar = match operand {
                Operand::Var(var) => return Ok(var),
                Operand::Weak(scalar) => scalar,
            };
            let dtype = match beside {
                Some(beside) if rule.promotes_operand(position) => scalar.dtype_beside(beside),
                _ => scalar.default_dtype(),
            };
            let data = match scalar.constant(dtype) {
                Err(refusal @ Error::IntegerOutOfBounds { .. }) => {
                    scalar.constant(dtype_out_of_bounds(rule, scalar, dtype).ok_or(refusal)?)?
                }
                other => other?,
            };
            Ok(container.constant(data))
        })
        .collect()
}

/// The dtype of an integer that `narrow`, the type beside it, does not hold. There is one where the
/// op does not compute in that type: 300 has an order and a quotient beside an int8 (in NumPy, too).
fn dtype_out_of_bounds(rule: TypeRule, scalar: WeakScalar, narrow: DType) -> Option<DType> {
    match rule {
        TypeRule::Comparison => Some(scalar.default_dtype()),
        TypeRule::Float | TypeRule::Division => rule.result("", &[narrow]).ok(),
        _ => None,
    }
}
