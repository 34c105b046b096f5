//! Rewriting: the sweep that applies a set of rules from the inputs up until none applies.
//!
//! A sweep finds a replacement for each output. It rebuilds the variable's node over the replacements of the operands,
//! then applies the first rule that matches. The result of a rule is swept in turn, so every part of the result is in
//! normal form. Each variable is computed once. Laws:
//!
//! - the result depends on the outputs and the rules only, never on remembered results;
//! - the replacement of a variable has a type that the variable's type accepts, and broadcasts only where the variable
//!   did;
//! - two variables are one for a rule only if they are the same variable, so nodes with distinct tags stay apart;
//! - in a graph with destroyers, destroyed variables stay, with their aliases and all that either is computed from; no
//!   rule reads the first two. So nothing is destroyed twice, or read after it was destroyed;
//! - the replacement of a variable follows from the same impure nodes: no impure node is lost.
//!
//! If rules never come to an end, the sweep reports an error, or leaves the node that they began with.
//!
//! The sweep never calls foreign right sides and guards: [`Sweep::advance`] goes on with all variables that do not need
//! them and returns the calls, and [`Sweep::reply`] takes the answers.

mod endless;
mod question;

use std::borrow::Cow;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

pub use self::question::{Binding, Call, Progress, Reply};
use super::impure::Impure;
use super::machine::Match;
use super::pattern::{Heads, Keeper};
use super::ruleset::{Right, Rule, RuleSet};
use super::stable::{Candidates, Stable};
use super::untouched::Untouched;
use crate::node::container::Container;
use crate::node::traverse::postorder;
use crate::node::{Body, Inputs, Var};
use crate::value::error::Error;
use crate::value::id::Origin;
use crate::value::ty::Ty;

/// One application of a rule.
#[derive(Clone)]
pub struct Step {
    /// The rule's position in its set.
    pub rule: usize,
    /// The line of the user's code that first built the node that it applied to.
    pub origin: Origin,
    /// The variable that it applied to.
    pub before: Var,
    /// The replacement.
    pub after: Var,
}

/// A number of an entry.
type Entry = u32;

/// The reason why a sweep does not go on.
enum Stop {
    Error(Error),
    /// Rules do not end; the entry is one of those that they passed.
    Endless {
        entry: Entry,
        why: Error,
    },
}

impl From<Error> for Stop {
    fn from(error: Error) -> Stop {
        Stop::Error(error)
    }
}

/// No more matches of one rule on one node than these are shown to the host language.
const MATCHES: usize = 32;

struct Item {
    var: Var,
    state: ItemState,
    /// The entry of the given graph that this entry belongs to.
    root: Entry,
    /// The number of entries that must be done before this one goes on.
    missing: u32,
    users: SmallVec<[Entry; 2]>,
}

enum ItemState {
    Fresh,
    /// Has the replacement of that entry; by a rule, unless it was only rebuilt.
    Follows {
        entry: Entry,
        rule: Option<u32>,
    },
    /// Waits for an answer.
    Asked(Box<Question>),
    Done(Var),
}

/// A match that outlives the borrow of its graph: the variables of registers and tails.
type Kept = (Vec<Option<Var>>, Vec<Vec<Var>>);

struct Question {
    rule: u32,
    matches: std::vec::IntoIter<Kept>,
    current: Kept,
}

/// One pass of a set of rules over a graph.
pub struct Sweep {
    rules: RuleSet,
    container: Container,
    outputs: Vec<Var>,
    items: Vec<Item>,
    numbers: FxHashMap<(usize, u32), Entry>,
    todo: Vec<Entry>,
    asked: Vec<Entry>,
    candidates: Candidates,
    stable: Stable,
    untouched: Untouched,
    impure: Option<Impure>,
    remember: bool,
    recall: bool,
    rewrites: usize,
    limit: Option<usize>,
    trace: Option<Vec<Step>>,
    recent: Vec<u32>,
    lenient: bool,
    /// Nodes to which no rule is applied, since rules that began there would not end.
    left: FxHashSet<(usize, u32)>,
    abandoned: Vec<Abandoned>,
}

/// A node that stayed as it is, since rules that began with it would not end.
pub struct Abandoned {
    /// The node's output.
    pub var: Var,
    /// The rules, and the way in which they do not end.
    pub why: Error,
}

/// More nodes than these are not left one by one: the graph stays as it is.
const MAX_ABANDONED: usize = 16;

impl Sweep {
    /// A sweep over all nodes that `outputs` need.
    pub fn new(rules: &RuleSet, outputs: &[Var]) -> Sweep {
        Sweep::over(rules, outputs, false)
    }

    /// A sweep that records every step, with steps whose results are remembered.
    pub fn traced(rules: &RuleSet, outputs: &[Var]) -> Sweep {
        Sweep::over(rules, outputs, true)
    }

    fn over(rules: &RuleSet, outputs: &[Var], traced: bool) -> Sweep {
        let order = postorder(outputs, &[]);
        let untouched = Untouched::of(&order);
        // The destroyers of a graph decide about its nodes, so no result is remembered then.
        let remember = untouched.is_empty();
        let mut candidates = Candidates::default();
        let stable = remember.then(|| Stable::of(rules, &order, !traced, &mut candidates));
        let container = outputs.first().map_or_else(|| Container::global().clone(), Var::container);
        Sweep {
            rules: rules.clone(),
            container,
            outputs: outputs.to_vec(),
            items: Vec::new(),
            numbers: FxHashMap::default(),
            todo: Vec::new(),
            asked: Vec::new(),
            candidates,
            remember,
            recall: remember && !traced,
            stable: stable.unwrap_or_default(),
            untouched,
            impure: Impure::of(&order),
            rewrites: 0,
            limit: None,
            trace: traced.then(Vec::new),
            recent: Vec::new(),
            lenient: false,
            left: FxHashSet::default(),
            abandoned: Vec::new(),
        }
    }

    /// The same sweep, but rules that do not end are no error: the node that they began with stays as it is.
    pub fn leaving_cycles(mut self) -> Sweep {
        self.lenient = true;
        self
    }

    /// The nodes that stayed for this reason.
    pub fn abandoned(&self) -> &[Abandoned] {
        &self.abandoned
    }

    /// The recorded steps so far.
    pub fn trace(&self) -> &[Step] {
        self.trace.as_deref().unwrap_or(&[])
    }

    /// Goes on until the sweep is done or waits for answers; every call handed out before must have one.
    pub fn advance(&mut self) -> Result<Progress, Error> {
        self.advance_some(usize::MAX)
    }

    /// The same, but it pauses after `limit` looks at variables.
    pub fn advance_some(&mut self, limit: usize) -> Result<Progress, Error> {
        loop {
            match self.go_on(limit) {
                Err(Stop::Endless { entry, why }) => self.leave(entry, why)?,
                Err(Stop::Error(error)) => return Err(error),
                Ok(progress) => return Ok(progress),
            }
            if self.abandoned.len() > MAX_ABANDONED {
                return Ok(Progress::Done(self.outputs.clone()));
            }
        }
    }

    fn go_on(&mut self, limit: usize) -> Result<Progress, Stop> {
        if self.items.is_empty() {
            for output in self.outputs.clone().iter().rev() {
                self.demand(output, None);
            }
        }
        for _ in 0..limit {
            let Some(entry) = self.todo.pop() else { break };
            self.look_at(entry)?;
        }
        if !self.todo.is_empty() {
            return Ok(Progress::Paused);
        }
        if !self.asked.is_empty() {
            let asked = std::mem::take(&mut self.asked);
            return Ok(Progress::Calls(asked.iter().map(|&entry| self.call(entry)).collect()));
        }
        let mut results = Vec::with_capacity(self.outputs.len());
        for output in &self.outputs {
            let entry = self.numbers[&output.identity()];
            match &self.items[entry as usize].state {
                ItemState::Done(result) => results.push(result.clone()),
                _ => return Err(self.cycle_from(entry)),
            }
        }
        if self.remember {
            let done = self.items.iter().filter_map(|item| match &item.state {
                ItemState::Done(result) if is_application(&item.var) => Some((&item.var, result)),
                _ => None,
            });
            let stable = self.stable.found().iter().map(|var| (var, var));
            self.rules.memo().extend(done.chain(stable));
        }
        Ok(Progress::Done(results))
    }

    /// Takes the answer to a call.
    pub fn reply(&mut self, ticket: usize, reply: Reply) -> Result<(), Error> {
        match self.take_reply(ticket, reply) {
            Err(Stop::Endless { entry, why }) => self.leave(entry, why),
            Err(Stop::Error(error)) => Err(error),
            Ok(()) => Ok(()),
        }
    }

    fn take_reply(&mut self, ticket: usize, reply: Reply) -> Result<(), Stop> {
        let entry = ticket as Entry;
        // The sweep may have begun anew after the call was handed out.
        let Some(item) = self.items.get_mut(ticket) else { return Ok(()) };
        let state = std::mem::replace(&mut item.state, ItemState::Fresh);
        let ItemState::Asked(mut question) = state else {
            item.state = state;
            return Ok(());
        };
        let var = self.items[ticket].var.clone();
        if let Some(right) = self.answer(&question, &var, reply)? {
            return self.follow(entry, &right, Some(question.rule));
        }
        if let Some(next) = question.matches.next() {
            question.current = next;
            self.items[ticket].state = ItemState::Asked(question);
            self.asked.push(entry);
            return Ok(());
        }
        self.apply_rules(entry, question.rule + 1)
    }

    /// Begins anew, and leaves the node that endless rewriting began with as it is.
    fn leave(&mut self, entry: Entry, why: Error) -> Result<(), Error> {
        if !self.lenient {
            return Err(why);
        }
        let root = self.items[entry as usize].root;
        let var = self.items[root as usize].var.clone();
        self.left.insert(var.identity());
        self.abandoned.push(Abandoned { var, why });
        // The nodes that stay depend on where the rewriting began.
        self.remember = false;
        self.items.clear();
        self.numbers.clear();
        self.todo.clear();
        self.asked.clear();
        self.recent.clear();
        self.rewrites = 0;
        if let Some(trace) = &mut self.trace {
            trace.clear();
        }
        Ok(())
    }

    /// The replacement of `var` by an answer, if there is one.
    fn answer(&self, question: &Question, var: &Var, reply: Reply) -> Result<Option<Var>, Error> {
        let (registers, tails) = &question.current;
        let found = Match::of(registers, tails);
        let rule = &self.rules.rules()[question.rule as usize];
        match (reply, rule.right(var.index())) {
            (Reply::Replace(right), _) => self.checked(rule, var, right, &found),
            (Reply::Accept, Some(Right::Template(template))) => Ok(template
                .build(&self.home(var), &found, var, var.node().origin())
                .filter(|right| self.admits(var, right, &found))),
            _ => Ok(None),
        }
    }

    fn call(&self, entry: Entry) -> Call {
        let item = &self.items[entry as usize];
        let ItemState::Asked(question) = &item.state else {
            unreachable!("only entries that ask are listed");
        };
        let rule = &self.rules.rules()[question.rule as usize];
        let (registers, tails) = &question.current;
        let bindings = rule.pattern.places().iter().map(|place| match place {
            Keeper::Register(register) => Binding::One(
                registers[*register as usize].clone().expect("a match fills the unknowns"),
            ),
            Keeper::Tail(tail) => Binding::Many(tails[*tail as usize].clone()),
        });
        Call {
            ticket: entry as usize,
            rule: question.rule as usize,
            matched: item.var.clone(),
            bindings: bindings.collect(),
            foreign: rule.right(item.var.index()).is_some_and(|right| !right.is_own()),
        }
    }

    /// The container of the replacement of `var`.
    fn home(&self, var: &Var) -> Cow<'_, Container> {
        self.container.common_container(std::iter::once(var))
    }

    /// The entry of `var`, which is computed if it is new; `by` is the entry that a rule's result is for.
    fn demand(&mut self, var: &Var, by: Option<Entry>) -> Entry {
        let identity = var.identity();
        if let Some(&entry) = self.numbers.get(&identity) {
            return entry;
        }
        let entry = self.items.len() as Entry;
        let state = if self.stable.has(var.node()) || self.untouched.keeps(var.node()) {
            ItemState::Done(var.clone())
        } else {
            let known = self.recall.then(|| self.rules.memo().get(var)).flatten();
            known.map_or(ItemState::Fresh, ItemState::Done)
        };
        if matches!(state, ItemState::Fresh) {
            self.todo.push(entry);
        }
        self.numbers.insert(identity, entry);
        let root = by.map_or(entry, |by| self.items[by as usize].root);
        self.items.push(Item { var: var.clone(), state, root, missing: 0, users: SmallVec::new() });
        entry
    }

    fn result(&self, entry: Entry) -> Option<&Var> {
        match &self.items[entry as usize].state {
            ItemState::Done(result) => Some(result),
            _ => None,
        }
    }

    fn wait(&mut self, entry: Entry, operand: Entry) {
        self.items[operand as usize].users.push(entry);
        self.items[entry as usize].missing += 1;
    }

    fn look_at(&mut self, entry: Entry) -> Result<(), Stop> {
        match &self.items[entry as usize].state {
            ItemState::Fresh => self.rebuild(entry),
            ItemState::Follows { entry: followed, .. } => {
                let result = self.result(*followed).cloned();
                if let Some(result) = result {
                    self.finish(entry, result);
                }
                Ok(())
            }
            ItemState::Asked(_) | ItemState::Done(_) => Ok(()),
        }
    }

    /// Rebuilds the node over the replacements of its operands; the rules apply to the result.
    fn rebuild(&mut self, entry: Entry) -> Result<(), Stop> {
        let var = self.items[entry as usize].var.clone();
        let Body::Apply { op, inputs, distinct } = var.node().body() else {
            self.finish(entry, var.clone());
            return Ok(());
        };
        let by = (self.items[entry as usize].root != entry).then_some(entry);
        let operands: SmallVec<[Entry; 4]> =
            inputs.iter().rev().map(|input| self.demand(input, by)).collect();
        for &operand in &operands {
            if self.result(operand).is_none() {
                self.wait(entry, operand);
            }
        }
        if self.items[entry as usize].missing > 0 {
            return Ok(());
        }
        let results = operands.iter().rev().filter_map(|&operand| self.result(operand));
        if results.clone().eq(inputs) {
            let first = if self.recall { self.rules.first_untried(&var) } else { 0 };
            return self.apply_rules(entry, first as u32);
        }
        let inputs: Inputs = results.cloned().collect();
        let (signature, origin) = (var.node().signature(), var.node().origin());
        let container = self.container.common_container(inputs.iter());
        let node =
            container.apply_tagged(op.clone(), inputs, signature.clone(), *distinct, origin)?;
        let rebuilt = Var::new(node, var.index() as u32);
        if self.untouched.pins(&rebuilt) {
            // It would read a destroyed variable, maybe after its destruction.
            return self.apply_rules(entry, 0);
        }
        self.follow(entry, &rebuilt, None)
    }

    /// Applies the first rule from `first` on that matches; without one, the variable stays.
    fn apply_rules(&mut self, entry: Entry, first: u32) -> Result<(), Stop> {
        let var = self.items[entry as usize].var.clone();
        let root = self.items[entry as usize].root;
        if self.left.contains(&self.items[root as usize].var.identity()) {
            self.finish(entry, var);
            return Ok(());
        }
        let Body::Apply { op, .. } = var.node().body() else {
            self.finish(entry, var.clone());
            return Ok(());
        };
        let candidates = Arc::clone(self.candidates.of(&self.rules, op));
        let heads = Heads::of(var.node());
        for &number in candidates.iter().filter(|&&number| number >= first) {
            if !heads.include(self.rules.rules()[number as usize].pattern.required()) {
                continue;
            }
            let rule = Arc::clone(&self.rules.rules()[number as usize]);
            let Some(right) = rule.right(var.index()) else { continue };
            let template = match right {
                Right::Template(template) if !rule.guarded => template,
                _ => {
                    let mut matches = Vec::new();
                    rule.pattern.machine().run(&var, &mut |found| {
                        if self.may_read(found) {
                            matches.push(found.to_owned());
                        }
                        matches.len() == MATCHES
                    });
                    let mut matches = matches.into_iter();
                    if let Some(current) = matches.next() {
                        let question = Question { rule: number, matches, current };
                        self.items[entry as usize].state = ItemState::Asked(Box::new(question));
                        self.asked.push(entry);
                        return Ok(());
                    }
                    continue;
                }
            };
            let home = self.home(&var);
            let mut taken = None;
            rule.pattern.machine().run(&var, &mut |found| {
                let origin = var.node().origin();
                taken = template
                    .build(&home, found, &var, origin)
                    .filter(|right| self.admits(&var, right, found));
                taken.is_some()
            });
            if let Some(right) = taken {
                return self.follow(entry, &right, Some(number));
            }
        }
        self.finish(entry, var);
        Ok(())
    }

    /// Whether `right` may replace `left`: it differs, fits, loses no impure node, and reads no destroyed variable.
    fn admits(&self, left: &Var, right: &Var, found: &Match<'_>) -> bool {
        right != left
            && fits(left.ty(), right.ty())
            && self.impure.as_ref().is_none_or(|impure| impure.keeps(left, right))
            && self.may_read(found)
            && self.makes_nothing_pinned(right)
    }

    fn may_read(&self, found: &Match<'_>) -> bool {
        self.untouched.is_empty() || found.variables().all(|var| !self.untouched.pins(var))
    }

    fn makes_nothing_pinned(&self, right: &Var) -> bool {
        self.untouched.is_empty() || {
            let known: Vec<Var> = self.items.iter().map(|item| item.var.clone()).collect();
            !self.untouched.pins(right)
                && postorder(std::slice::from_ref(right), &known)
                    .into_iter()
                    .flat_map(|node| node.outputs())
                    .all(|made| !self.untouched.pins(&made))
        }
    }

    /// The result of a foreign right side, if it may be used. If no value is of both types, or dtype or rank differ,
    /// the author of a function made a mistake. But types follow from those of operands, so a type that says less is
    /// merely not taken; nor is any that a law has for what matched.
    fn checked(
        &self,
        rule: &Rule,
        left: &Var,
        right: Var,
        found: &Match<'_>,
    ) -> Result<Option<Var>, Error> {
        let right = self.home(left).adopt(&right)?;
        let is_law = matches!(rule.right(left.index()), Some(Right::Written));
        if !is_law && !left.ty().may_be(right.ty()) {
            let (expected, given) = (left.ty().clone(), right.ty().clone());
            return Err(Error::RuleType { rule: rule.name.to_string(), expected, given });
        }
        Ok(self.admits(left, &right, found).then_some(right))
    }

    fn follow(&mut self, entry: Entry, right: &Var, rule: Option<u32>) -> Result<(), Stop> {
        if let Some(number) = rule {
            self.count(entry, number)?;
            if let Some(trace) = &mut self.trace {
                let before = self.items[entry as usize].var.clone();
                let origin = before.node().origin();
                trace.push(Step { rule: number as usize, origin, before, after: right.clone() });
            }
        }
        let followed = self.demand(right, Some(entry));
        match self.result(followed).cloned() {
            Some(result) => self.finish(entry, result),
            None => {
                self.items[entry as usize].state = ItemState::Follows { entry: followed, rule };
                self.wait(entry, followed);
            }
        }
        Ok(())
    }

    fn finish(&mut self, entry: Entry, result: Var) {
        let item = &mut self.items[entry as usize];
        item.state = ItemState::Done(result);
        for user in std::mem::take(&mut item.users) {
            let missing = &mut self.items[user as usize].missing;
            *missing -= 1;
            if *missing == 0 {
                self.todo.push(user);
            }
        }
    }
}

/// Whether values of type `right` are values of type `left` of the same shape.
///
/// Where `right` says 1 it broadcasts: there it has the shape of `left` only if `left` says 1, too.
fn fits(left: &Ty, right: &Ty) -> bool {
    left.accepts(right)
        && left.shape().iter().zip(right.shape()).all(|(old, new)| *new != Some(1) || old == new)
}

fn is_application(var: &Var) -> bool {
    matches!(var.node().body(), Body::Apply { .. })
}

/// The replacements of `outputs` by rules whose right sides and guards are all the core's own.
pub fn rewrite(rules: &RuleSet, outputs: &[Var]) -> Result<Vec<Var>, Error> {
    let mut sweep = Sweep::new(rules, outputs);
    loop {
        match sweep.advance()? {
            Progress::Done(results) => return Ok(results),
            Progress::Calls(calls) => {
                for call in calls {
                    sweep.reply(call.ticket, Reply::Decline)?;
                }
            }
            Progress::Paused => {}
        }
    }
}
