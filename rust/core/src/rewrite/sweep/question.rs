//! What a sweep asks the host language, and what it is told.

use crate::node::Var;

/// A question to the host language: does the rule apply to this match, and what does it give?
pub struct Call {
    /// To be named in the answer.
    pub ticket: usize,
    /// The rule's position in its set.
    pub rule: usize,
    /// The matched variable.
    pub matched: Var,
    /// What stands for the rule's unknowns, in the order of their declaration.
    pub bindings: Vec<Binding>,
    /// Whether the answer must be a variable: the rule has no right side of its own.
    pub foreign: bool,
}

/// What stands for an unknown.
pub enum Binding {
    /// One variable.
    One(Var),
    /// Any number of operands.
    Many(Vec<Var>),
}

/// An answer to a [`Call`].
pub enum Reply {
    /// The match does not count.
    Decline,
    /// The rule's own right side takes the place of what matched.
    Accept,
    /// This does.
    Replace(Var),
}
