//! Templates: the right sides of rules that are written as graphs. Building one runs no code but the core's.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::machine::{Match, OpTest, Register, Tail};
use super::pattern::{Keeper, Pattern, Unknown, Wildcard};
use crate::node::container::Container;
use crate::node::elemwise::{self, Operand};
use crate::node::op::Op;
use crate::node::traverse::postorder;
use crate::node::{Body, Inputs, Node, Var, typing};
use crate::value::error::Error;
use crate::value::id::Origin;
use crate::value::literal::Literal;

#[derive(Clone)]
enum Term {
    /// The variable of the match at this place.
    Bound(Register),
    /// This output of the application that the match has at this place.
    Sibling(Register, u32),
    /// A constant: a number takes the element type of the operands beside it.
    Constant(Literal),
    /// An op applied to earlier terms.
    Apply { head: Head, arguments: SmallVec<[Argument; 2]>, output: u32 },
}

impl Term {
    /// The op that this applies, if it works out its types by itself.
    fn untyped(&self) -> Option<&Op> {
        match self {
            Term::Apply { head: Head::Op(op), .. } if op.key().rule.is_none() => Some(op),
            _ => None,
        }
    }
}

#[derive(Clone)]
enum Head {
    Op(Op),
    /// The op of the application in this register.
    Matched(Register),
}

impl Head {
    /// An op of the right side, or the wildcard of the left one that stands for it.
    fn of(op: &Op, pattern: &Pattern, wildcards: &[Wildcard]) -> Result<Head, Error> {
        let Some(wildcard) = wildcards.iter().find(|wildcard| wildcard.op == *op) else {
            return Ok(Head::Op(op.clone()));
        };
        match (pattern.wildcard(op), &wildcard.test) {
            (Some(register), _) => Ok(Head::Matched(register)),
            (None, OpTest::Exact(op)) => Ok(Head::Op(op.clone())),
            _ => Err(not_in_left(op.label())),
        }
    }
}

#[derive(Clone, Copy)]
enum Argument {
    Term(usize),
    Tail(Tail),
}

/// The right side of a rule, compiled to terms; the last term is the result.
#[derive(Clone)]
pub struct Template {
    terms: Vec<Term>,
}

impl Template {
    /// The template that is written as `right`, over the variables of `pattern`; `None` if an op in it works out its
    /// types by itself, which is refused unless the host language `can_build` it.
    pub fn compile(
        right: &Var,
        pattern: &Pattern,
        unknowns: &[Unknown],
        wildcards: &[Wildcard],
        can_build: bool,
    ) -> Result<Option<Template>, Error> {
        let mut tails = FxHashMap::default();
        for (unknown, place) in unknowns.iter().zip(pattern.places()) {
            if let Keeper::Tail(tail) = place {
                tails.insert(unknown.var.identity(), *tail);
            }
        }
        let mut terms: Vec<Term> = Vec::new();
        let mut places: FxHashMap<(usize, u32), usize> = FxHashMap::default();
        let root = std::slice::from_ref(right);
        for node in postorder(root, &[]) {
            for var in node.outputs() {
                if tails.contains_key(&var.identity()) {
                    continue;
                }
                let bound = match (pattern.register_of(&var), pattern.sibling_of(&var)) {
                    (Some(register), _) => Some(Term::Bound(register)),
                    (None, Some(register)) => Some(Term::Sibling(register, var.index() as u32)),
                    (None, None) => None,
                };
                let term = match (bound, node.body()) {
                    (Some(bound), _) => bound,
                    (None, Body::Constant(data)) => Term::Constant(Literal::of(data)),
                    (None, Body::Apply { op, inputs, .. }) => {
                        let head = Head::of(op, pattern, wildcards)?;
                        let argument = |input: &Var| match tails.get(&input.identity()) {
                            Some(&tail) => Argument::Tail(tail),
                            None => Argument::Term(places[&input.identity()]),
                        };
                        let arguments = inputs.iter().map(argument).collect();
                        Term::Apply { head, arguments, output: var.index() as u32 }
                    }
                    (None, _) => return Err(not_in_left(&var.describe())),
                };
                places.insert(var.identity(), terms.len());
                terms.push(term);
            }
        }
        let Some(&last) = places.get(&right.identity()) else {
            return Err(not_in_left(&right.describe()));
        };
        terms.truncate(last + 1);
        Template::of(needed(terms), can_build)
    }

    /// The template with these terms, if the core can type what they apply.
    fn of(terms: Vec<Term>, can_build: bool) -> Result<Option<Template>, Error> {
        let Some(op) = terms.iter().find_map(Term::untyped) else {
            return Ok(Some(Template { terms }));
        };
        let is_matched = |term: &Term| matches!(term, Term::Apply { head: Head::Matched(_), .. });
        if can_build && !terms.iter().any(is_matched) {
            return Ok(None);
        }
        Err(Error::Pattern {
            reason: format!(
                "its right side applies {}, whose types only the op itself works out, beside an op that the left side \
                 matches: write the right side as a function",
                op.label()
            ),
        })
    }

    /// The replacement of `left` in a match; `None` if an op refuses the types of the matched variables.
    pub fn build(
        &self,
        container: &Container,
        found: &Match<'_>,
        left: &Var,
        origin: Origin,
    ) -> Option<Var> {
        let mut values: SmallVec<[Operand; 8]> = SmallVec::new();
        for term in &self.terms {
            let value = match term {
                Term::Bound(register) => Operand::Var(found.get(*register).clone()),
                Term::Sibling(register, output) => {
                    Operand::Var(Var::new(found.get(*register).node().clone(), *output))
                }
                Term::Constant(Literal::Number(number)) => Operand::Weak(*number),
                Term::Constant(Literal::Content(data)) => {
                    Operand::Var(container.constant(data.clone()))
                }
                Term::Apply { head, arguments, output } => {
                    let operands = operands(arguments, &values, found);
                    let made = apply(container, head.clone(), operands, *output, found, origin)?;
                    Operand::Var(made)
                }
            };
            values.push(value);
        }
        match values.pop()? {
            Operand::Var(var) => Some(var),
            Operand::Weak(number) => {
                Some(container.constant(number.constant(left.ty().dtype()).ok()?))
            }
        }
    }
}

/// The terms that the last one needs.
fn needed(terms: Vec<Term>) -> Vec<Term> {
    let mut used = vec![false; terms.len()];
    for (position, term) in terms.iter().enumerate().rev() {
        used[position] |= position + 1 == terms.len();
        if let Term::Apply { arguments, .. } = term
            && used[position]
        {
            for argument in arguments {
                if let Argument::Term(operand) = argument {
                    used[*operand] = true;
                }
            }
        }
    }
    let mut moved = vec![0; terms.len()];
    let mut kept: Vec<Term> = Vec::new();
    for (position, mut term) in terms.into_iter().enumerate() {
        if !used[position] {
            continue;
        }
        if let Term::Apply { arguments, .. } = &mut term {
            for argument in arguments {
                if let Argument::Term(operand) = argument {
                    *operand = moved[*operand];
                }
            }
        }
        moved[position] = kept.len();
        kept.push(term);
    }
    kept
}

fn not_in_left(name: &str) -> Error {
    Error::Pattern { reason: format!("its right side needs {name}, which its left side lacks") }
}

fn operands(
    arguments: &[Argument],
    values: &[Operand],
    found: &Match<'_>,
) -> SmallVec<[Operand; 3]> {
    let mut operands = SmallVec::new();
    for argument in arguments {
        match argument {
            Argument::Term(position) => operands.push(values[*position].clone()),
            Argument::Tail(tail) => {
                operands.extend(found.tail(*tail).iter().map(|&var| Operand::Var(var.clone())));
            }
        }
    }
    operands
}

/// `head` applied to operands. An op that the core does not type is the matched one, over inputs of the same types: so
/// its outputs have the same types, too.
fn apply(
    container: &Container,
    head: Head,
    operands: SmallVec<[Operand; 3]>,
    output: u32,
    found: &Match<'_>,
    origin: Origin,
) -> Option<Var> {
    let (op, matched) = match head {
        Head::Op(op) => (op, None),
        Head::Matched(register) => {
            let node = found.get(register).node();
            match node.body() {
                Body::Apply { op, .. } => (op.clone(), Some(node)),
                _ => return None,
            }
        }
    };
    if op.key().is_elementwise() {
        return elemwise::apply(container, op, operands, origin).ok();
    }
    let inputs = operands
        .into_iter()
        .map(|operand| match operand {
            Operand::Var(var) => Some(var),
            Operand::Weak(number) => {
                let data = number.constant(number.default_dtype()).ok()?;
                Some(container.constant(data))
            }
        })
        .collect::<Option<Inputs>>()?;
    if op.key().rule.is_some() {
        return typing::apply(container, op, inputs, origin).ok();
    }
    let same_types = |node: &Node| {
        node.inputs().len() == inputs.len()
            && node.inputs().iter().zip(&inputs).all(|(old, new)| old.ty() == new.ty())
    };
    let signature = matched.filter(|node| same_types(node))?.signature().clone();
    if output as usize >= signature.types().len() {
        return None;
    }
    let node = container.apply(op, inputs, signature, origin).ok()?;
    Some(Var::new(node, output))
}
