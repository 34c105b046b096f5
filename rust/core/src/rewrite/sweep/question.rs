//! The questions of a sweep to the host language, and the answers.

use crate::node::Var;

/// Whether a sweep goes on.
pub enum Progress {
    /// It is done; the replacements of the outputs.
    Done(Vec<Var>),
    /// It waits for answers to all these calls.
    Calls(Vec<Call>),
    /// It has done as much as it was asked to, and can go on at once.
    Paused,
}

/// A question to the host language: does the rule apply to this match, and what is the result?
pub struct Call {
    /// The number by which the answer names the call.
    pub ticket: usize,
    /// The rule's position in its set.
    pub rule: usize,
    /// The matched variable.
    pub matched: Var,
    /// The variables of the rule's unknowns, in the order of their declaration.
    pub bindings: Vec<Binding>,
    /// Whether the answer must be a variable: the core does not build the right side.
    pub foreign: bool,
}

/// The match of an unknown.
pub enum Binding {
    /// One variable.
    One(Var),
    /// Any number of operands.
    Many(Vec<Var>),
}

/// An answer to a [`Call`].
pub enum Reply {
    /// The match is refused.
    Decline,
    /// The rule's own right side replaces the matched variable.
    Accept,
    /// This variable replaces it.
    Replace(Var),
}
