//! Everything that can be wrong with a graph, with the facts that a message needs.

use thiserror::Error as ThisError;

use crate::dtype::DType;
use crate::ty::Ty;

/// Which family of the host language's exceptions an error belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorClass {
    /// A value of the wrong kind or type.
    Type,
    /// A value of the right type that makes no sense.
    Value,
    /// A number outside its type's range.
    Overflow,
    /// A graph that needs something that it was not given.
    MissingInput,
}

/// What went wrong while a graph was being built or walked.
#[derive(Clone, Debug, ThisError)]
#[allow(missing_docs)]
pub enum Error {
    #[error(
        "unknown dtype {name:?}: expected one of bool, int8, int16, int32, int64, uint8, uint16, uint32, \
         uint64, float32, float64"
    )]
    UnknownDType { name: String },

    #[error("unknown type rule {name:?}")]
    UnknownRule { name: String },

    #[error("unknown operator {name:?}")]
    UnknownOperator { name: String },

    #[error("an elementwise op needs at least one operand")]
    NoOperands,

    #[error("{op} takes {expected} operands, {given} given")]
    Arity { op: String, expected: usize, given: usize },

    #[error("{op} does not take {dtype} operands: {reason}")]
    DTypeRefused { op: String, dtype: DType, reason: &'static str },

    #[error(
        "the condition of a selection must have dtype bool, given {}; compare it with zero first",
        given.map_or("nothing", |dtype| dtype.name())
    )]
    ConditionNotBool { given: Option<DType> },

    #[error(
        "{op}: operand {position} of type {given} does not broadcast against {expected}: lengths {length} and \
         {other} on axis {axis} (counted from the last) differ and neither is 1"
    )]
    StaticShape {
        op: String,
        position: usize,
        given: Ty,
        expected: String,
        axis: usize,
        length: u64,
        other: u64,
    },

    #[error("a constant of shape {shape:?} and dtype {dtype} does not have {given} bytes")]
    ConstantLength { shape: Vec<u64>, dtype: DType, given: usize },

    #[error("Python integer {value} out of bounds for {dtype}")]
    IntegerOutOfBounds { value: i128, dtype: DType },

    #[error("the float {value} cannot become a constant of dtype {dtype}; cast it explicitly")]
    FloatForInteger { value: f64, dtype: DType },

    #[error("variables of different containers cannot meet in one node")]
    ForeignContainer,

    #[error("output {index} asked of a node with {outputs} outputs")]
    OutputIndex { index: usize, outputs: usize },

    #[error(
        "replacement {position} has type {given}, which does not fit the replaced type {expected}"
    )]
    ReplacementType { position: usize, expected: Ty, given: Ty },

    #[error("input {position} of the new node has type {given}, expected {expected}")]
    InputType { position: usize, expected: Ty, given: Ty },

    #[error(
        "the graph needs input {name} of type {ty}, which is not among its inputs; add it to the inputs"
    )]
    MissingInput { name: String, ty: Ty },

    #[error("{name} is listed twice among the inputs")]
    DuplicateInput { name: String },

    #[error("{what} cannot be an input of a graph: only variables that are not constants can")]
    InvalidInput { what: String },

    #[error(
        "op {label} was interned before with other properties; two definitions share the name {kind}"
    )]
    OpRedefined { label: String, kind: String },
}

impl Error {
    /// The family of exceptions that the host language should raise.
    pub fn class(&self) -> ErrorClass {
        match self {
            Error::UnknownDType { .. }
            | Error::Arity { .. }
            | Error::DTypeRefused { .. }
            | Error::ConditionNotBool { .. }
            | Error::FloatForInteger { .. }
            | Error::ReplacementType { .. }
            | Error::InputType { .. }
            | Error::InvalidInput { .. } => ErrorClass::Type,
            Error::IntegerOutOfBounds { .. } => ErrorClass::Overflow,
            Error::MissingInput { .. } => ErrorClass::MissingInput,
            _ => ErrorClass::Value,
        }
    }
}
