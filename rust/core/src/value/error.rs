//! Everything that can be wrong with a graph, with the facts that a message needs.

use std::sync::Arc;

use thiserror::Error as ThisError;

use super::dtype::DType;
use super::ty::Ty;

/// The family of exceptions in the host language that an error belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorClass {
    /// A value of the wrong kind or type.
    Type,
    /// A value of the right type that is not valid.
    Value,
    /// A number outside its type's range.
    Overflow,
    /// A graph that needs an input which it was not given.
    MissingInput,
    /// Rules that never come to an end.
    RuleCycle,
    /// A key that was not found.
    Key,
    /// An object that cannot be persisted.
    Pickling,
    /// A graph whose nodes cannot run in any order, because they destroy inputs of each other.
    Inconsistent,
}

/// A fault that was found while a graph was being built or walked.
#[derive(Clone, Debug, ThisError)]
#[allow(missing_docs)]
pub enum Error {
    #[error(
        "unknown dtype {name:?}: expected one of bool, int8, int16, int32, int64, uint8, uint16, uint32, \
         uint64, float16, float32, float64, complex64, complex128"
    )]
    UnknownDType { name: String },

    #[error("unknown type rule {name:?}")]
    UnknownRule { name: String },

    #[error("unknown operator {name:?}")]
    UnknownOperator { name: String },

    #[error(
        "the complex number {re}{im:+}j cannot become a constant of dtype {dtype}: it would lose the \
         imaginary part"
    )]
    ComplexForReal { re: f64, im: f64, dtype: DType },

    #[error(
        "{op} has no rule for complex numbers, given {given}; use its real and imaginary parts, \
         ft.real(x) and ft.imag(x). An op of your own that computes with complex numbers says so \
         by takes_complex = True"
    )]
    ComplexRefused { op: String, given: Ty },

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

    #[error("{op} has no rule by which the core could type its nodes")]
    NoTypeRule { op: String },

    #[error("{op} takes two operands of one dtype that have 1 or 2 dimensions; given {a} and {b}")]
    ProductOperands { op: String, a: Ty, b: Ty },

    #[error(
        "shapes {a} and {b} do not match in a product: the last length of the first, {left}, must be the {behind} \
         length of the second, {right}; transpose one of them with .T, or use * for a product by elements"
    )]
    InnerLengths { a: String, b: String, left: u64, behind: &'static str, right: u64 },

    #[error(
        "axes {axes} must {}",
        if *.sorted { format!("be sorted positions below {ndim}") }
        else { format!("name each of the {ndim} dimensions once, counted from 0") }
    )]
    Axes { axes: String, ndim: usize, sorted: bool },

    #[error(
        "only dimensions of length 1 can be dropped; axis {axis} of a tensor of shape {shape} has length {length}"
    )]
    DroppedLength { axis: i64, shape: String, length: u64 },

    #[error("a constant of shape {shape:?} and dtype {dtype} does not have {given} bytes")]
    ConstantLength { shape: Vec<u64>, dtype: DType, given: usize },

    #[error("Python integer {value} out of bounds for {dtype}")]
    IntegerOutOfBounds { value: i128, dtype: DType },

    #[error("the float {value} cannot become a constant of dtype {dtype}; cast it explicitly")]
    FloatForInteger { value: f64, dtype: DType },

    #[error(
        "{variable} belongs to another container; build it in this one, or freeze its graph and bind that to \
         variables of this one"
    )]
    ForeignContainer { variable: String },

    #[error(
        "the lengths of {node} must be a 0-d int64 for each dimension of each output, or none of an output"
    )]
    Lengths { node: String },

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
        "{variable} takes no name: equal ones are one variable. Name what is computed from it, or an input"
    )]
    Nameless { variable: String },

    #[error("{variable} is not in the graph")]
    NotInGraph { variable: String },

    #[error("no value is given for {}", .missing.join(", "))]
    MissingValues { missing: Vec<String> },

    #[error("the graph has {expected} inputs, {given} values are given")]
    TooManyValues { expected: usize, given: usize },

    #[error(
        "the value of input {position} has type {given}, expected {expected}; cast or reshape it"
    )]
    ValueType { position: usize, expected: Ty, given: Ty },

    #[error(
        "{destroyer} destroys {buffer}, which stands for several distinct buffers once nodes are \
         deduplicated; freeze without dedup_nodes"
    )]
    FoldedBuffer { destroyer: String, buffer: String },

    #[error(
        "no op {kind} with these parameters is known here; import the module that defines it first"
    )]
    UnknownOp { kind: String },

    #[error("the op {kind} is defined otherwise here than where the graph was written")]
    OpChanged { kind: String },

    #[error(
        "{op} cannot be persisted: it was defined in a function or in __main__, so other processes do not know \
         it; define it in a module that they can import"
    )]
    NotPersistable { op: String },

    #[error("the parameters of {op} are nested too deep to be written")]
    ParamsTooDeep { op: String },

    #[error(
        "{op} nests graphs {given} deep, at most {most} are allowed; run the inner graphs one after the other instead"
    )]
    NestedTooDeep { op: String, given: u32, most: u32 },

    #[error(
        "{op} holds a graph, so it cannot be applied element by element under another op's name"
    )]
    ScalarOpHoldsGraph { op: String },

    #[error("these bytes are no graph: {reason}")]
    Codec { reason: String },

    #[error("line {line}, column {column}: {reason}")]
    Text { line: usize, column: usize, reason: String },

    #[error("a node reads output {output} of place {at}, which does not exist before it")]
    NoSuchPlace { at: u32, output: u32 },

    #[error("a node applies op {number}, which is not listed")]
    NoSuchOp { number: u32 },

    #[error("{op} must have a tag exactly if it is distinct or not pure")]
    TagMismatch { op: String },

    #[error(
        "op {label} was interned before with other properties; two definitions share the name {kind}"
    )]
    OpRedefined { label: String, kind: String },

    #[error(
        "the {map} of {op} names {what} {position} of a node that has {count}; positions count from 0"
    )]
    MapPosition { op: String, map: &'static str, what: &'static str, position: u32, count: usize },

    #[error(
        "{what} cannot be donated: only inputs of the graph can, and a constant is nobody's to give"
    )]
    NotDonatable { what: String },

    #[error("the candidate {op} is not a node of the graph that is planned")]
    CandidateNode { op: String },

    #[error(
        "the candidate {op} has {outputs} outputs and {inputs} inputs, so output {output} cannot be written over \
         input {input}; positions count from 0"
    )]
    CandidatePosition { op: String, output: usize, outputs: usize, input: usize, inputs: usize },

    #[error(transparent)]
    Inconsistent(Arc<dyn std::error::Error + Send + Sync>),

    #[error("this is no rule: {reason}")]
    Pattern { reason: String },

    #[error(
        "rule {rule} gives a variable of type {given} in place of one of type {expected}; cast or broadcast it"
    )]
    RuleType { rule: String, expected: Ty, given: Ty },

    #[error(
        "rules lead back to where they started, at {at}: {}; drop one of them, or guard it",
        rules.join(" -> ")
    )]
    RuleCycle { rules: Vec<String>, at: String },

    #[error(
        "rules still apply after {rewrites} rewrites: {}; their right sides grow without end",
        rules.join(", ")
    )]
    RulesDiverge { rules: Vec<String>, rewrites: usize },
}

impl Error {
    /// The family of exceptions that the host language should raise.
    pub fn class(&self) -> ErrorClass {
        match self {
            Error::UnknownDType { .. }
            | Error::Arity { .. }
            | Error::NoTypeRule { .. }
            | Error::ProductOperands { .. }
            | Error::DTypeRefused { .. }
            | Error::ComplexForReal { .. }
            | Error::ComplexRefused { .. }
            | Error::ConditionNotBool { .. }
            | Error::FloatForInteger { .. }
            | Error::ReplacementType { .. }
            | Error::InputType { .. }
            | Error::InvalidInput { .. }
            | Error::Lengths { .. }
            | Error::Nameless { .. }
            | Error::ValueType { .. } => ErrorClass::Type,
            Error::NotPersistable { .. } | Error::ParamsTooDeep { .. } => ErrorClass::Pickling,
            Error::MissingValues { .. } | Error::NotInGraph { .. } => ErrorClass::Key,
            Error::IntegerOutOfBounds { .. } => ErrorClass::Overflow,
            Error::MissingInput { .. } => ErrorClass::MissingInput,
            Error::Inconsistent(_) => ErrorClass::Inconsistent,
            Error::RuleType { .. } => ErrorClass::Type,
            Error::RuleCycle { .. } | Error::RulesDiverge { .. } => ErrorClass::RuleCycle,
            _ => ErrorClass::Value,
        }
    }
}
