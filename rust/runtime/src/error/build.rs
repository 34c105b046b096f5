//! Mistakes in the building of a program.

use frazil_core::DType;
use thiserror::Error as ThisError;

use super::ErrorClass;
use crate::ids::{Nested, Size, Slot};

/// A program that cannot be built: a mistake of the compiler that writes it, never of its user.
#[derive(Debug, ThisError, PartialEq, Eq)]
pub enum BuildError {
    /// A slot that the program does not have.
    #[error("there is no slot {0}")]
    NoSlot(Slot),
    /// A slot that is not an input's.
    #[error("slot {0} is not an input: only what the caller gives can be donated")]
    NotAnInput(Slot),
    /// A size that the program does not have.
    #[error("there is no size {0}")]
    NoSize(Size),
    /// An axis beyond the rank of its array.
    #[error("axis {axis} is out of range for rank {ndim}")]
    NoAxis {
        /// The axis.
        axis: usize,
        /// The rank.
        ndim: usize,
    },
    /// The same axis twice.
    #[error("axis {axis} is named twice")]
    RepeatedAxis {
        /// The axis.
        axis: usize,
    },
    /// A list of axes or indices of the wrong length.
    #[error("{what}: {given} entries, {expected} are needed")]
    Count {
        /// The name of the list.
        what: &'static str,
        /// The number of entries given.
        given: usize,
        /// The number needed.
        expected: usize,
    },
    /// A slot of another element type than needed.
    #[error("slot {slot} holds {given}, {expected} is needed")]
    DType {
        /// The slot.
        slot: Slot,
        /// Its element type.
        given: DType,
        /// The element type that is needed.
        expected: DType,
    },
    /// A reduction that starts from an element of another type than it writes.
    #[error("the identity of a reduction is {given}, {expected} is written")]
    Identity {
        /// The type of the identity.
        given: DType,
        /// The type of the write.
        expected: DType,
    },
    /// A reduction of elements that it does not know.
    #[error("{fold} does not reduce {dtype}")]
    Fold {
        /// Its name.
        fold: &'static str,
        /// The type of the write.
        dtype: DType,
    },
    /// The values that a scan kernel keeps from step to step do not fit its operands.
    #[error("a scan kernel keeps what its operands do not hold: {0} are needed")]
    Carry(&'static str),
    /// A slot of an element type that the instruction does not know.
    #[error("slot {slot} holds {given}: {needed}")]
    UnsupportedDType {
        /// The slot.
        slot: Slot,
        /// Its element type.
        given: DType,
        /// The requirement.
        needed: &'static str,
    },
    /// A slot of another rank than needed.
    #[error("slot {slot} has rank {given}: {needed}")]
    Rank {
        /// The slot.
        slot: Slot,
        /// Its rank.
        given: usize,
        /// The requirement.
        needed: &'static str,
    },
    /// A write that does not move along a loop dimension and is no reduction.
    #[error("write {position} does not move along loop dimension {dim} and is not a reduction")]
    NotReduced {
        /// The write.
        position: usize,
        /// The loop dimension.
        dim: usize,
    },
    /// A kernel of rows without a dimension.
    #[error("a kernel that takes whole rows needs a dimension to go along")]
    NoRow,
    /// A kernel for swapped dimensions of a loop that has one, or takes rows, or has indices.
    #[error(
        "a kernel for a short last dimension needs a loop of two dimensions or more, without rows \
         and indices"
    )]
    NoShortForm,
    /// A reshape with more than one length left open.
    #[error("only one length of a reshape may be -1")]
    SeveralRests,
    /// A nested program that the program does not have.
    #[error("there is no nested program {0}")]
    NoProgram(Nested),
    /// Programs in programs in programs.
    #[error("programs are nested at most {limit} deep")]
    TooDeep {
        /// The depth that is allowed.
        limit: usize,
    },
    /// An output that a nested program does not have.
    #[error("the nested program has {count} outputs, there is no output {given}")]
    NoOutput {
        /// The request.
        given: usize,
        /// The number that there are.
        count: usize,
    },
    /// An input that a nested program does not have.
    #[error("the nested program has {count} inputs, there is no input {given}")]
    NoInput {
        /// The request.
        given: usize,
        /// The number that there are.
        count: usize,
    },
    /// Two branches with different results.
    #[error("the outputs of the two branches differ in number, element type or rank")]
    Arms,
    /// A state whose next value has another type.
    #[error("the next value of state {state} has another element type or rank")]
    State {
        /// The state.
        state: usize,
    },
    /// An output whose values are to be kept twice.
    #[error("output {output} is stacked twice")]
    StackedTwice {
        /// The output.
        output: usize,
    },
    /// A condition to end a scan that is none.
    #[error("output {output} ends the scan, but it is no 0-d boolean")]
    Until {
        /// The output.
        output: usize,
    },
    /// A nested program that would use up memory of others.
    #[error(
        "input {input} of the nested program is donated, but others may see its memory: only a \
         state that is computed anew in each step, not stacked and not handed on can be"
    )]
    NotOwned {
        /// The input.
        input: usize,
    },
    /// More parts than a program can have.
    #[error("the program is too large")]
    TooLarge,
    /// A constant that is not aligned, or strides that do not fit its rank.
    #[error("a constant must be aligned and have one stride an axis")]
    Constant,
}

impl BuildError {
    /// The family of the error.
    pub fn class(&self) -> ErrorClass {
        match self {
            BuildError::NoSlot(_)
            | BuildError::NoSize(_)
            | BuildError::NoProgram(_)
            | BuildError::NoInput { .. }
            | BuildError::NoOutput { .. }
            | BuildError::NoAxis { .. } => ErrorClass::Index,
            BuildError::DType { .. }
            | BuildError::UnsupportedDType { .. }
            | BuildError::Rank { .. }
            | BuildError::Identity { .. }
            | BuildError::Carry(_)
            | BuildError::Arms
            | BuildError::State { .. }
            | BuildError::Until { .. }
            | BuildError::Fold { .. } => ErrorClass::Type,
            BuildError::NotAnInput(_)
            | BuildError::RepeatedAxis { .. }
            | BuildError::Count { .. }
            | BuildError::NotReduced { .. }
            | BuildError::NoRow
            | BuildError::NoShortForm
            | BuildError::SeveralRests
            | BuildError::TooDeep { .. }
            | BuildError::StackedTwice { .. }
            | BuildError::NotOwned { .. }
            | BuildError::TooLarge
            | BuildError::Constant => ErrorClass::Value,
        }
    }
}
