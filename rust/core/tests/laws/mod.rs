//! Ops, patterns and rules of tests; each test file uses some of this.

#![allow(dead_code)]

use std::sync::Arc;

use frazil_core::node::elemwise::{self, Operand};
use frazil_core::rewrite::machine::{Check, DTypeSet};
use frazil_core::rewrite::pattern::{Keeper, Pattern, Unknown, Wildcard};
use frazil_core::rewrite::ruleset::{Right, Rights, Rule, RuleSet};
use frazil_core::rewrite::sweep::rewrite;
use frazil_core::{
    Container, DType, Error, Op, OpKey, OpProps, Origin, Param, Signature, Ty, TypeRule, Var,
    WeakScalar,
};

pub fn elementwise(name: &str, arity: u32, commutative: bool) -> Op {
    let key = OpKey {
        kind: format!("rewriting.{name}"),
        params: Param::None,
        props: OpProps { pure: true, commutative, ..OpProps::default() },
        rule: Some(TypeRule::Arithmetic.into()),
        arity: Some(arity),
    };
    Op::intern(key, name)
}

pub fn plain(kind: &str, params: Param, props: OpProps) -> Op {
    let key = OpKey { kind: format!("rewriting.{kind}"), params, props, rule: None, arity: None };
    Op::intern(key, kind)
}

pub fn add() -> Op {
    elementwise("add", 2, true)
}

pub fn sub() -> Op {
    elementwise("sub", 2, false)
}

pub fn mul() -> Op {
    elementwise("mul", 2, true)
}

pub fn neg() -> Op {
    elementwise("neg", 1, false)
}

pub fn apply(op: Op, inputs: &[&Var]) -> Var {
    let operands = inputs.iter().map(|&input| Operand::Var(input.clone())).collect();
    elemwise::apply(Container::global(), op, operands, Origin::default()).unwrap()
}

/// `op` applied by hand, with outputs of the types given.
pub fn node(op: Op, inputs: &[&Var], types: &[Ty]) -> Vec<Var> {
    let inputs: Vec<Var> = inputs.iter().map(|&input| input.clone()).collect();
    let container = inputs[0].container();
    container
        .apply(op, inputs.into(), Signature::new(types), Origin::default())
        .unwrap()
        .outputs()
        .collect()
}

pub fn vector() -> Ty {
    Ty::tensor(DType::Float64, &[None])
}

pub fn input(name: &str) -> Var {
    Container::global().input(&vector(), Some(name), None)
}

pub fn scalar(name: &str) -> Var {
    Container::global().input(&Ty::scalar(DType::Float64), Some(name), None)
}

pub fn number(value: f64) -> Var {
    Container::global().constant(WeakScalar::Float(value).constant(DType::Float64).unwrap())
}

pub fn open(var: &Var) -> Unknown {
    Unknown { var: var.clone(), dtypes: DTypeSet::ALL, constant: false, variadic: false }
}

pub fn known(var: &Var) -> Unknown {
    Unknown { constant: true, ..open(var) }
}

pub fn many(var: &Var) -> Unknown {
    Unknown { variadic: true, ..open(var) }
}

pub fn law(name: &str, left: &Var, right: &Var, unknowns: &[Unknown]) -> Arc<Rule> {
    general(name, left, Some(right), unknowns, &[], &[], false).unwrap()
}

pub fn general(
    name: &str,
    left: &Var,
    right: Option<&Var>,
    unknowns: &[Unknown],
    wildcards: &[Wildcard],
    checks: &[Check<usize>],
    guarded: bool,
) -> Result<Arc<Rule>, Error> {
    let pattern = Pattern::compile(left, unknowns, wildcards, checks)?;
    let right = match right {
        Some(right) => Right::written(right, &pattern, unknowns, wildcards, true)?,
        None => Right::Foreign,
    };
    let rights = Rights::Each(vec![(left.index() as u32, right)]);
    Ok(Arc::new(Rule { name: name.into(), pattern, rights, guarded }))
}

pub fn matches(left: &Var, unknowns: &[Unknown], root: &Var) -> Vec<Vec<Vec<Var>>> {
    let pattern = Pattern::compile(left, unknowns, &[], &[]).unwrap();
    let mut found = Vec::new();
    pattern.machine().run(root, &mut |matched| {
        let place = |place: &Keeper| match place {
            Keeper::Register(register) => vec![matched.get(*register).clone()],
            Keeper::Tail(tail) => matched.tail(*tail).iter().map(|&var| var.clone()).collect(),
        };
        found.push(pattern.places().iter().map(place).collect());
        false
    });
    found
}

pub fn one(rule: Arc<Rule>, root: &Var) -> Var {
    rewrite(&RuleSet::new(vec![rule]), std::slice::from_ref(root)).unwrap().remove(0)
}
