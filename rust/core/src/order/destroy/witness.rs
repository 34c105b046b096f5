//! The proof that a graph cannot run, and its message.

use std::fmt;
use std::sync::Arc;

use crate::node::alias::{Phrase, ViewPath};
use crate::node::{Body, Node, Var};
use crate::value::error::Error;

/// Why a node cannot write over one of its inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Conflict {
    /// The memory is a constant's.
    Constant,
    /// The memory is that of an input that the caller did not donate.
    Borrowed,
    /// This protected variable aliases it.
    Protected(Var),
    /// This output of the graph aliases it, and is read last of all.
    Output {
        /// The position among the graph's outputs.
        position: usize,
        /// The output.
        var: Var,
    },
    /// It is destroyed already.
    Destroyed {
        /// By this node, perhaps the destroyer itself for another output.
        by: Node,
        /// Through this input.
        input: usize,
    },
    /// Another input of the destroyer aliases it, and its op does not tolerate that.
    Operand {
        /// The other input.
        input: usize,
    },
    /// A reader of it cannot run before the destroyer.
    Reader {
        /// The reader.
        node: Node,
        /// The input by which it reads.
        input: usize,
        /// The nodes that must run between the destroyer and the reader, one after the other. Empty if the reader uses
        /// the destroyer's result itself, and in refusals of the planner.
        between: Vec<Node>,
    },
}

/// The proof that a node cannot write over one of its inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    /// The node that would destroy.
    pub destroyer: Node,
    /// The input that it would write over.
    pub input: usize,
    /// The root that would be destroyed.
    pub root: Var,
    /// The obstacle.
    pub conflict: Conflict,
}

impl Witness {
    /// The variable that would be written over.
    pub fn destroyed(&self) -> &Var {
        &self.destroyer.inputs()[self.input]
    }

    /// The other node of the conflict, if it is between two.
    pub fn reader(&self) -> Option<&Node> {
        match &self.conflict {
            Conflict::Destroyed { by, .. } => Some(by),
            Conflict::Reader { node, .. } => Some(node),
            _ => None,
        }
    }

    /// The variable on the other side of the conflict.
    pub fn other(&self) -> &Var {
        match &self.conflict {
            Conflict::Constant | Conflict::Borrowed => &self.root,
            Conflict::Protected(var) | Conflict::Output { var, .. } => var,
            Conflict::Destroyed { by, input } => &by.inputs()[*input],
            Conflict::Operand { input } => &self.destroyer.inputs()[*input],
            Conflict::Reader { node, input, .. } => &node.inputs()[*input],
        }
    }

    /// The views that lead from the variable that would be destroyed, and from the one that must not be, to the root of
    /// both.
    pub fn path(&self) -> ViewPath {
        ViewPath::through(&self.root, self.destroyed(), self.other())
            .expect("both sides of a conflict have its root")
    }
}

fn name(node: &Node) -> &str {
    match node.body() {
        Body::Apply { op, .. } => op.label(),
        _ => "an input",
    }
}

impl fmt::Display for Witness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path();
        let (first, second) = (Phrase(&path.first), Phrase(&path.second));
        let (destroyer, input) = (name(&self.destroyer), self.input);
        write!(f, "{destroyer} cannot write over its input {input}, {first}: ")?;
        match &self.conflict {
            Conflict::Constant => {
                write!(f, "{} never changes; give {destroyer} a copy of it", self.root.describe())
            }
            Conflict::Borrowed => write!(
                f,
                "{} belongs to the caller; donate that input, or leave {destroyer} a copy",
                self.root.describe()
            ),
            Conflict::Protected(_) => {
                let end = if path.second.len() > 1 { "," } else { "" };
                write!(f, "{second}{end} is protected; give {destroyer} a copy")
            }
            Conflict::Output { position, .. } => write!(
                f,
                "output {position} of the graph, {second}, is read after all nodes; return a copy of it"
            ),
            Conflict::Destroyed { by, input } if *by == self.destroyer => {
                write!(f, "it does so already as its input {input}, {second}; give it a copy")
            }
            Conflict::Destroyed { by, input } => write!(
                f,
                "{} writes over its input {input}, {second}; give one of them a copy",
                name(by)
            ),
            Conflict::Operand { input: other } => write!(
                f,
                "it reads the same memory as its input {other}, {second}; give it a copy, or let its op name \
                 ({input}, {other}) in destroy_tolerates_{}",
                if self.destroyed() == self.other() { "same" } else { "aliased" }
            ),
            Conflict::Reader { node, between, .. } => {
                write!(f, "{} reads {second}, and cannot run before {destroyer}", name(node))?;
                if !between.is_empty() {
                    let nodes: Vec<&str> = between.iter().take(4).map(name).collect();
                    let more = if between.len() > nodes.len() { ", ..." } else { "" };
                    write!(f, ", which it needs by way of {}{more}", nodes.join(", "))?;
                }
                f.write_str("; give one of them a copy")
            }
        }
    }
}

/// A graph whose nodes cannot run in any order, because they destroy inputs of each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inconsistent(Box<Witness>);

impl Inconsistent {
    /// The proof.
    pub fn witness(&self) -> &Witness {
        &self.0
    }
}

impl From<Witness> for Inconsistent {
    fn from(witness: Witness) -> Inconsistent {
        Inconsistent(Box::new(witness))
    }
}

impl fmt::Display for Inconsistent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl std::error::Error for Inconsistent {}

impl From<Inconsistent> for Error {
    fn from(inconsistent: Inconsistent) -> Error {
        Error::Inconsistent(Arc::new(inconsistent))
    }
}

impl Error {
    /// The proof that a graph cannot run, if that is the error.
    pub fn witness(&self) -> Option<&Witness> {
        match self {
            Error::Inconsistent(source) => {
                source.downcast_ref::<Inconsistent>().map(Inconsistent::witness)
            }
            _ => None,
        }
    }
}
