//! Types of nodes that the core finds for itself: those of views with other dimensions, and of products of matrices.

use std::fmt;
use std::str::FromStr;

use smallvec::SmallVec;

use super::container::Container;
use super::op::{Op, Param};
use super::{Inputs, Var};
use crate::value::error::Error;
use crate::value::id::Origin;
use crate::value::rule::TypeRule;
use crate::value::ty::{Dim, Ty};

/// The rule by which the core types nodes of an op.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OpRule {
    /// An elementwise op.
    Elementwise(TypeRule),
    /// A view of one operand. The op's first parameter names axes.
    View(ViewRule),
    /// The product of two vectors or matrices, in any combination.
    Product,
}

/// The change that a view makes to the dimensions of its operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ViewRule {
    /// It has dimensions of length 1 at the axes of the result.
    Expand,
    /// It lacks the axes, which have length 1.
    Drop,
    /// Its dimension `i` is dimension `axes[i]` of the operand.
    Permute,
}

impl OpRule {
    /// The rule of an elementwise op.
    pub fn elementwise(self) -> Option<TypeRule> {
        match self {
            OpRule::Elementwise(rule) => Some(rule),
            OpRule::View(_) | OpRule::Product => None,
        }
    }
}

impl From<TypeRule> for OpRule {
    fn from(rule: TypeRule) -> OpRule {
        OpRule::Elementwise(rule)
    }
}

impl FromStr for OpRule {
    type Err = Error;

    fn from_str(name: &str) -> Result<OpRule, Error> {
        Ok(match name {
            "expand" => OpRule::View(ViewRule::Expand),
            "drop" => OpRule::View(ViewRule::Drop),
            "permute" => OpRule::View(ViewRule::Permute),
            "product" => OpRule::Product,
            _ => OpRule::Elementwise(name.parse()?),
        })
    }
}

/// `op` applied to `inputs`. It is no elementwise op, but one with a rule.
pub fn apply(container: &Container, op: Op, inputs: Inputs, origin: Origin) -> Result<Var, Error> {
    let ty = match (op.key().rule, inputs.as_slice()) {
        (Some(OpRule::View(rule)), [x]) => view_type(&op, rule, x.ty())?,
        (Some(OpRule::Product), [a, b]) => product_type(&op, a.ty(), b.ty())?,
        (Some(OpRule::View(_)), given) => return Err(arity(&op, 1, given.len())),
        (Some(OpRule::Product), given) => return Err(arity(&op, 2, given.len())),
        _ => return Err(Error::NoTypeRule { op: op.label().to_owned() }),
    };
    let container = container.common_container(inputs.iter());
    Ok(Var::new(container.apply(op, inputs, ty.signature(), origin)?, 0))
}

fn arity(op: &Op, expected: usize, given: usize) -> Error {
    Error::Arity { op: op.label().to_owned(), expected, given }
}

/// The type of the product of two vectors or matrices.
fn product_type(op: &Op, a: &Ty, b: &Ty) -> Result<Ty, Error> {
    let takes = |ty: &Ty| matches!(ty.ndim(), 1 | 2);
    if !takes(a) || !takes(b) || a.dtype() != b.dtype() {
        let (op, a, b) = (op.label().to_owned(), a.clone(), b.clone());
        return Err(Error::ProductOperands { op, a, b });
    }
    check_inner_lengths(a, b)?;
    let (left, right) = (a.shape(), b.shape());
    let shape: Shape = left[..left.len() - 1].iter().chain(&right[1..]).copied().collect();
    Ok(Ty::tensor(a.dtype(), &shape))
}

/// Checks that the lengths may be equal that meet in a product of matrices, or of stacks of them.
pub fn check_inner_lengths(a: &Ty, b: &Ty) -> Result<(), Error> {
    let last = a.shape().last().copied().flatten();
    let first = b.shape().iter().rev().take(2).next_back().copied().flatten();
    match (last, first) {
        (Some(left), Some(right)) if left != right => {
            let tuple = |ty: &Ty| tuple(ty.shape().iter().copied());
            let behind = if b.ndim() <= 2 { "first" } else { "last but one" };
            Err(Error::InnerLengths { a: tuple(a), b: tuple(b), left, behind, right })
        }
        _ => Ok(()),
    }
}

/// The type of the view that `op` gives of a tensor of type `ty`.
fn view_type(op: &Op, rule: ViewRule, ty: &Ty) -> Result<Ty, Error> {
    let no_axes = || Error::NoTypeRule { op: op.label().to_owned() };
    let Param::List(params) = &op.key().params else { return Err(no_axes()) };
    let axes = axes_of(params).ok_or_else(no_axes)?;
    let shape = match rule {
        ViewRule::Expand => expanded(ty.shape(), &axes),
        ViewRule::Drop => dropped(ty.shape(), &axes)?,
        ViewRule::Permute => permuted(ty.shape(), &axes),
    };
    match shape {
        Some(shape) => Ok(Ty::tensor(ty.dtype(), &shape)),
        None => {
            let expands = rule == ViewRule::Expand;
            let ndim = ty.ndim() + if expands { axes.len() } else { 0 };
            let sorted = rule != ViewRule::Permute;
            Err(Error::Axes { axes: tuple(axes.iter().map(Some)), ndim, sorted })
        }
    }
}

type Axes = SmallVec<[i64; 4]>;
type Shape = SmallVec<[Dim; 4]>;

/// The axes that an op's first parameter names. A subclass may have more parameters, and the parameters of a
/// class that no import finds stand in a list before its identity.
fn axes_of(params: &[Param]) -> Option<Axes> {
    let params = match params {
        [Param::List(own), Param::Identity(_)] => own,
        params => params,
    };
    let Some(Param::List(axes)) = params.first() else { return None };
    let int = |axis: &Param| match axis {
        Param::Int(axis) => Some(*axis),
        _ => None,
    };
    axes.iter().map(int).collect()
}

/// Whether axes are in ascending order, each a position of `ndim` ones.
fn are_positions(axes: &[i64], ndim: usize) -> bool {
    axes.first().is_none_or(|&first| first >= 0)
        && axes.last().is_none_or(|&last| last < ndim as i64)
        && axes.windows(2).all(|pair| pair[0] < pair[1])
}

fn expanded(shape: &[Dim], axes: &[i64]) -> Option<Shape> {
    let ndim = shape.len() + axes.len();
    if !are_positions(axes, ndim) {
        return None;
    }
    let mut own = shape.iter();
    let is_new = |at: usize| axes.contains(&(at as i64));
    (0..ndim).map(|at| if is_new(at) { Some(Some(1)) } else { own.next().copied() }).collect()
}

fn dropped(shape: &[Dim], axes: &[i64]) -> Result<Option<Shape>, Error> {
    if !are_positions(axes, shape.len()) {
        return Ok(None);
    }
    for &axis in axes {
        if let Some(length) = shape[axis as usize].filter(|&length| length != 1) {
            return Err(Error::DroppedLength { axis, shape: tuple(shape.iter().copied()), length });
        }
    }
    let kept = |(at, _): &(usize, &Dim)| !axes.contains(&(*at as i64));
    Ok(Some(shape.iter().enumerate().filter(kept).map(|(_, dim)| *dim).collect()))
}

fn permuted(shape: &[Dim], axes: &[i64]) -> Option<Shape> {
    let named = |at: usize| axes.contains(&(at as i64));
    if axes.len() != shape.len() || !(0..shape.len()).all(named) {
        return None;
    }
    Some(axes.iter().map(|&axis| shape[axis as usize]).collect())
}

/// Numbers as Python shows a tuple of them; `None` for a length that is not known.
fn tuple<T: fmt::Display>(values: impl Iterator<Item = Option<T>>) -> String {
    let shown = |value: Option<T>| value.map_or("None".to_owned(), |value| value.to_string());
    let shown: Vec<String> = values.map(shown).collect();
    format!("({}{})", shown.join(", "), if shown.len() == 1 { "," } else { "" })
}

#[cfg(all(test, not(feature = "shuttle")))]
mod tests {
    use super::*;
    use crate::node::op::{OpKey, OpProps};
    use crate::value::dtype::DType;

    fn typed(rule: &str, axes: &[i64], shape: &[Dim]) -> Result<Ty, Error> {
        let axes = axes.iter().copied().map(Param::Int).collect();
        let key = OpKey {
            kind: format!("typing.{rule}"),
            params: Param::List(vec![Param::List(axes)]),
            props: OpProps::default(),
            rule: Some(rule.parse().unwrap()),
            arity: None,
        };
        let Some(OpRule::View(view)) = key.rule else { panic!("{rule} is the rule of a view") };
        view_type(&Op::intern(key, rule), view, &Ty::tensor(DType::Int8, shape))
    }

    fn shape(rule: &str, axes: &[i64], shape: &[Dim]) -> Vec<Dim> {
        typed(rule, axes, shape).unwrap().shape().to_vec()
    }

    fn refusal(rule: &str, axes: &[i64], shape: &[Dim]) -> String {
        typed(rule, axes, shape).unwrap_err().to_string()
    }

    #[test]
    fn views_have_the_lengths_that_are_left() {
        let (two, any, one) = (Some(2), None, Some(1));
        assert_eq!(shape("expand", &[0, 2], &[two, any]), [one, two, one, any]);
        assert_eq!(shape("expand", &[], &[two]), [two]);
        assert_eq!(shape("drop", &[0, 2], &[one, two, any]), [two]);
        assert_eq!(shape("permute", &[2, 0, 1], &[one, two, any]), [any, one, two]);
        assert_eq!(shape("permute", &[], &[]), []);
    }

    #[test]
    fn axes_that_no_view_has_are_refused() {
        let one = Some(1);
        assert_eq!(refusal("expand", &[3], &[one]), "axes (3,) must be sorted positions below 2");
        assert_eq!(
            refusal("expand", &[1, 0], &[one]),
            "axes (1, 0) must be sorted positions below 3"
        );
        assert_eq!(refusal("drop", &[-1], &[one]), "axes (-1,) must be sorted positions below 1");
        assert_eq!(
            refusal("drop", &[0], &[Some(2), None]),
            "only dimensions of length 1 can be dropped; axis 0 of a tensor of shape (2, None) has length 2"
        );
        let permutes = "axes (0, -1) must name each of the 2 dimensions once, counted from 0";
        assert_eq!(refusal("permute", &[0, -1], &[one, one]), permutes);
        assert!(typed("permute", &[0, 0], &[one, one]).is_err());
    }

    #[test]
    fn products_join_what_does_not_meet() {
        let key = OpKey {
            kind: "typing.product".to_owned(),
            params: Param::List(Vec::new()),
            props: OpProps::default(),
            rule: Some("product".parse().unwrap()),
            arity: None,
        };
        let op = Op::intern(key, "Dot");
        let ty = |shape: &[Dim]| Ty::tensor(DType::Float32, shape);
        let product = |a: &[Dim], b: &[Dim]| product_type(&op, &ty(a), &ty(b));
        let (two, three, any) = (Some(2), Some(3), None);
        assert_eq!(product(&[two, any], &[three, any]).unwrap(), ty(&[two, any]));
        assert_eq!(product(&[three], &[three, two]).unwrap(), ty(&[two]));
        assert_eq!(product(&[any], &[two]).unwrap(), ty(&[]));
        assert_eq!(
            product(&[two, three], &[two]).unwrap_err().to_string(),
            "shapes (2, 3) and (2,) do not match in a product: the last length of the first, 3, must be the first \
             length of the second, 2; transpose one of them with .T, or use * for a product by elements"
        );
        assert!(product(&[], &[two]).is_err() && product(&[two], &[two; 3]).is_err());
        assert!(product_type(&op, &ty(&[two]), &Ty::tensor(DType::Int8, &[two])).is_err());
        let stacks = check_inner_lengths(&ty(&[two; 3]), &ty(&[two, three, two])).unwrap_err();
        assert!(stacks.to_string().contains("must be the last but one length of the second, 3"));
    }
}
