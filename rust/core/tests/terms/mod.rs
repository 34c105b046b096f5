//! A plain model of graphs: terms, built node by node from a recipe, with all that is slow and obvious.

#![allow(dead_code)]

use std::rc::Rc;

use frazil_core::node::elemwise::{self, Operand};
use frazil_core::{
    Container, DType, Op, OpKey, OpProps, Origin, Param, Ty, TypeRule, Var, WeakScalar,
};
use proptest::prelude::*;

/// A scalar expression.
#[derive(Debug)]
pub enum Term {
    Input(usize),
    Constant(i64),
    Apply {
        name: String,
        /// Tells one application of a distinct op from all others.
        serial: Option<usize>,
        operands: Vec<Rc<Term>>,
    },
}

/// One step of a recipe: which op, and which of the variables so far.
pub type Step = (u8, usize, usize);

/// A recipe of at most `length` steps.
pub fn recipe(length: usize) -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec((0..6u8, 0..64usize, 0..64usize), 1..length)
}

pub fn op(name: &'static str, arity: u32, distinct: bool) -> Op {
    let key = OpKey {
        kind: format!("terms.{name}"),
        params: Param::List(vec![Param::Text(name.to_owned()), Param::Int(arity as i64)]),
        props: OpProps { distinct, ..OpProps::default() },
        rule: Some(TypeRule::Arithmetic.into()),
        arity: Some(arity),
    };
    Op::intern(key, name)
}

/// The ops of recipes, so that a reader finds them.
pub fn ops() -> [Op; 4] {
    [op("add", 2, false), op("mul", 2, false), op("exp", 1, false), op("fresh", 1, true)]
}

pub const INPUTS: usize = 3;

pub fn input(container: &Container, name: &str) -> Var {
    container.input(&Ty::scalar(DType::Int64), Some(name), None)
}

pub fn inputs(container: &Container) -> Vec<Var> {
    ["x", "y", "z"].iter().map(|name| input(container, name)).collect()
}

pub fn constant(container: &Container, value: i64) -> Var {
    container.constant(WeakScalar::Int(value as i128).constant(DType::Int64).unwrap())
}

pub fn apply(container: &Container, op: Op, operands: &[&Var]) -> Var {
    let operands = operands.iter().map(|&operand| Operand::Var(operand.clone())).collect();
    elemwise::apply(container, op, operands, Origin::default()).unwrap()
}

/// All variables that a recipe makes: the inputs first.
pub fn build(container: &Container, inputs: &[Var], recipe: &[Step]) -> Vec<Var> {
    let [add, mul, exp, fresh] = ops();
    let mut made = inputs.to_vec();
    for &(which, left, right) in recipe {
        let (left, right) = (made[left % made.len()].clone(), made[right % made.len()].clone());
        made.push(match which {
            0 => apply(container, add.clone(), &[&left, &right]),
            1 => apply(container, mul.clone(), &[&left, &right]),
            2 => apply(container, exp.clone(), &[&left]),
            3 | 4 => apply(container, fresh.clone(), &[&left]),
            _ => constant(container, 7),
        });
    }
    made
}

/// The terms that a recipe makes.
pub fn terms(inputs: usize, recipe: &[Step]) -> Vec<Rc<Term>> {
    let mut made: Vec<Rc<Term>> = (0..inputs).map(|at| Rc::new(Term::Input(at))).collect();
    for (serial, &(which, left, right)) in recipe.iter().enumerate() {
        let (left, right) = (made[left % made.len()].clone(), made[right % made.len()].clone());
        let apply =
            |name: &str, serial, operands| Term::Apply { name: name.to_owned(), serial, operands };
        made.push(Rc::new(match which {
            0 => apply("add", None, vec![left, right]),
            1 => apply("mul", None, vec![left, right]),
            2 => apply("exp", None, vec![left]),
            3 | 4 => apply("fresh", Some(serial), vec![left]),
            _ => Term::Constant(7),
        }));
    }
    made
}

/// Terms as one list without repetitions, distinct nodes numbered as they are met: equal exactly for isomorphic graphs.
#[derive(Debug, PartialEq, Default)]
pub struct Canonical {
    nodes: Vec<(String, Vec<usize>)>,
    outputs: Vec<usize>,
}

pub fn canonical(outputs: &[Rc<Term>], fold: bool) -> Canonical {
    let mut canonical = Canonical::default();
    let mut seen: Vec<(usize, usize)> = Vec::new();
    canonical.outputs =
        outputs.iter().map(|output| enter(output, &mut canonical.nodes, &mut seen, fold)).collect();
    canonical
}

fn enter(
    term: &Rc<Term>,
    nodes: &mut Vec<(String, Vec<usize>)>,
    seen: &mut Vec<(usize, usize)>,
    fold: bool,
) -> usize {
    if let Term::Apply { serial: Some(serial), .. } = **term
        && let Some((_, at)) = seen.iter().find(|(other, _)| *other == serial)
    {
        return *at;
    }
    let node = match &**term {
        Term::Input(at) => (format!("input {at}"), Vec::new()),
        Term::Constant(value) => (value.to_string(), Vec::new()),
        Term::Apply { name, operands, .. } => {
            let operands = operands.iter().map(|operand| enter(operand, nodes, seen, fold));
            (name.to_string(), operands.collect())
        }
    };
    let serial = match **term {
        Term::Apply { serial, .. } => serial,
        _ => None,
    };
    let known = nodes.iter().position(|other| *other == node);
    match (serial, known) {
        (None, Some(at)) => at,
        (Some(serial), Some(at)) if fold => {
            seen.push((serial, at));
            at
        }
        _ => {
            nodes.push(node);
            if let Some(serial) = serial {
                seen.push((serial, nodes.len() - 1));
            }
            nodes.len() - 1
        }
    }
}

/// A variable written out as the term that it is, distinct nodes by their tag.
pub fn show(var: &Var) -> String {
    match var.node().body() {
        frazil_core::Body::Apply { op, inputs, .. } => {
            let inputs: Vec<String> = inputs.iter().map(show).collect();
            format!("{}({})", op.label(), inputs.join(","))
        }
        _ => var.describe(),
    }
}
