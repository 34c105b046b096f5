//! Rules, and sets of rules that are applied together, indexed by the op of the left side.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::machine::OpTest;
use super::memo::Memo;
use super::pattern::{Pattern, Unknown, Wildcard};
use super::template::Template;
use crate::intern::fork::{self, Held, Locks};
use crate::node::Var;
use crate::node::op::Op;
use crate::value::error::Error;

/// The right side of a rule.
#[derive(Clone)]
pub enum Right {
    /// Written as a graph.
    Template(Template),
    /// Written as a graph, too, but the host language builds it: an op in it works out its types by itself.
    Written,
    /// Computed by the host language.
    Foreign,
}

impl Right {
    /// The right side that is written as `right`, over the variables of `pattern`, and that the host language
    /// `can_build` where an op in it works out its types by itself.
    pub fn written(
        right: &Var,
        pattern: &Pattern,
        unknowns: &[Unknown],
        wildcards: &[Wildcard],
        can_build: bool,
    ) -> Result<Right, Error> {
        let template = Template::compile(right, pattern, unknowns, wildcards, can_build)?;
        Ok(template.map_or(Right::Written, Right::Template))
    }

    /// Whether the core builds it.
    pub fn is_own(&self) -> bool {
        matches!(self, Right::Template(_))
    }
}

/// The outputs of an application that a rule replaces.
#[derive(Clone)]
pub enum Rights {
    /// Each of these outputs has a right side.
    Each(Vec<(u32, Right)>),
    /// Every output, however many: the host language returns their replacements.
    Every,
}

/// A law, read from left to right.
pub struct Rule {
    /// Its name, in traces and messages.
    pub name: Box<str>,
    /// Its left side.
    pub pattern: Pattern,
    /// The replacements of the outputs of the matched application.
    pub rights: Rights,
    /// Whether the host language decides if a match is accepted.
    pub guarded: bool,
}

impl Rule {
    pub(crate) fn right(&self, output: usize) -> Option<&Right> {
        match &self.rights {
            Rights::Each(rights) => {
                rights.iter().find(|(at, _)| *at as usize == output).map(|(_, right)| right)
            }
            Rights::Every => Some(&Right::Foreign),
        }
    }
}

/// Rules that are applied together, earlier ones first.
#[derive(Clone)]
pub struct RuleSet(Arc<RuleSetData>);

struct RuleSetData {
    /// The set whose rules come first, if this one extends another.
    base: Option<RuleSet>,
    rules: Vec<Arc<Rule>>,
    /// Of the rules that the base does not have; the same holds for the next two.
    by_op: FxHashMap<Op, Vec<u32>>,
    by_kind: FxHashMap<Box<str>, Vec<u32>>,
    anywhere: Vec<u32>,
    memo: Memo,
}

impl Locks for RuleSetData {
    fn hold<'a>(&'a self, _: &mut Vec<Arc<dyn Locks>>) -> Held<'a> {
        Box::new(self.memo.hold())
    }
}

impl RuleSet {
    /// The set of these rules.
    pub fn new(rules: Vec<Arc<Rule>>) -> RuleSet {
        RuleSet::over(None, rules)
    }

    /// The set of the rules of `base`, then these. What `base` left as it is has no match among its rules, so these
    /// alone are tried on it.
    pub fn extending(base: &RuleSet, rules: Vec<Arc<Rule>>) -> RuleSet {
        let all = base.rules().iter().cloned().chain(rules).collect();
        RuleSet::over(Some(base.clone()), all)
    }

    fn over(base: Option<RuleSet>, rules: Vec<Arc<Rule>>) -> RuleSet {
        let first = base.as_ref().map_or(0, |base| base.rules().len());
        let mut data = RuleSetData {
            base,
            rules,
            by_op: FxHashMap::default(),
            by_kind: FxHashMap::default(),
            anywhere: Vec::new(),
            memo: Memo::default(),
        };
        for (number, rule) in (0..).zip(&data.rules).skip(first) {
            match rule.pattern.test() {
                OpTest::Exact(op) => data.by_op.entry(op.clone()).or_default().push(number),
                OpTest::OneOf(ops) => {
                    for op in ops {
                        data.by_op.entry(op.clone()).or_default().push(number);
                    }
                }
                OpTest::Kind(kind) => data.by_kind.entry(kind.clone()).or_default().push(number),
                OpTest::Pure => data.anywhere.push(number),
            }
        }
        let data = Arc::new(data);
        fork::add(&data);
        RuleSet(data)
    }

    /// The rules.
    pub fn rules(&self) -> &[Arc<Rule>] {
        &self.0.rules
    }

    /// The rules that may apply to applications of `op`, in order.
    pub(crate) fn candidates(&self, op: &Op) -> Arc<[u32]> {
        let none = Vec::new();
        let by_op = self.0.by_op.get(op).unwrap_or(&none);
        let by_kind = self.0.by_kind.get(op.key().kind.as_str()).unwrap_or(&none);
        let mut own: Vec<u32> =
            [by_op, by_kind, &self.0.anywhere].into_iter().flatten().copied().collect();
        own.sort_unstable();
        own.dedup();
        match &self.0.base {
            Some(base) => base.candidates(op).iter().copied().chain(own).collect(),
            None => own.into(),
        }
    }

    /// The first rule to try on a variable: one that no set which this one extends has tried in vain.
    pub(crate) fn first_untried(&self, var: &Var) -> usize {
        let mut base = &self.0.base;
        while let Some(set) = base {
            if set.memo().keeps(var) {
                return set.rules().len();
            }
            base = &set.0.base;
        }
        0
    }

    pub(crate) fn memo(&self) -> &Memo {
        &self.0.memo
    }

    /// The number of results that are remembered, dead nodes' results included.
    pub fn remembered(&self) -> usize {
        self.0.memo.len()
    }
}
