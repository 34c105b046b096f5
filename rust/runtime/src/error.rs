//! Errors, with all the facts for their messages.

mod build;
mod fault;
mod shapes;

use std::error::Error as StdError;
use std::fmt;

use thiserror::Error as ThisError;

pub use self::build::BuildError;
pub use self::fault::Fault;
use crate::ids::{Origin, Slot};

/// The family of an error; bindings map it to an exception class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorClass {
    /// A value or a shape that does not fit.
    Value,
    /// A number that is too large for its type.
    Overflow,
    /// A wrong element type or rank.
    Type,
    /// An index beyond its axis.
    Index,
    /// Memory that the system cannot give.
    Memory,
    /// An assertion that does not hold.
    Assertion,
    /// A matrix that lacks the property that its factor or a solution needs.
    LinearAlgebra,
    /// A fault of the program's surroundings: a missing library, a kernel that failed.
    Runtime,
    /// The finding of a watched run.
    Watch,
}

/// A call that failed.
#[derive(Debug, ThisError)]
#[error("{fault}")]
pub struct Error {
    /// The fault.
    pub fault: Fault,
    /// The origin to blame, if the fault belongs to one instruction.
    pub origin: Option<Origin>,
}

impl Error {
    pub(crate) fn at(origin: Option<Origin>) -> impl FnOnce(Fault) -> Error {
        move |fault| Error { fault, origin }
    }

    /// The family of the error.
    pub fn class(&self) -> ErrorClass {
        self.fault.class()
    }
}

/// The report of a Python call, or of any other foreign code.
pub type ForeignError = Box<dyn StdError + Send + Sync>;

/// The operand of an instruction, for messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand {
    /// Its position among the reads of the instruction.
    pub position: usize,
    /// The place.
    pub slot: Slot,
    /// The number of the program's input, if it is an input.
    pub input: Option<usize>,
}

impl fmt::Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "operand {}", self.position)?;
        match self.input {
            Some(input) => write!(f, " (input {input})"),
            None => Ok(()),
        }
    }
}

/// The subject of a fault, as its message calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// An input of the program.
    Input(usize),
    /// A state of a scan.
    State(usize),
    /// A sequence that a scan goes over.
    Sequence(usize),
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Subject::Input(number) => write!(f, "input {number}"),
            Subject::State(number) => write!(f, "state {number}"),
            Subject::Sequence(number) => write!(f, "sequence {number}"),
        }
    }
}
