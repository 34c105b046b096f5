//! The reasons of failed calls.

use std::fmt;

use frazil_core::DType;
use thiserror::Error as ThisError;

use super::shapes::{Lengths, Tuple};
use super::{ForeignError, Operand};
use crate::ids::Slot;

mod class;

/// The reason of a failed call.
#[derive(Debug, ThisError)]
pub enum Fault {
    /// An operand of a loop has another length than the loop.
    #[error(
        "{operand} has length {given} along axis {axis} where {expected} is expected{}",
        Hint(&[*.given, *.expected])
    )]
    Length {
        /// The operand.
        operand: Operand,
        /// Its axis.
        axis: usize,
        /// The length of the loop.
        expected: i64,
        /// The length of the operand.
        given: i64,
    },
    /// An input has another shape than its type says.
    #[error("input {input} has shape {}, but its type says {}", Tuple(.given), Tuple(.expected))]
    InputShape {
        /// The input.
        input: usize,
        /// Its shape.
        given: Vec<Option<i64>>,
        /// The shape of its type.
        expected: Vec<Option<i64>>,
    },
    /// An input has another element type or rank than declared.
    #[error("input {input} is a {given_ndim}-d array of {given}, not a {ndim}-d one of {expected}")]
    InputType {
        /// The input.
        input: usize,
        /// Its element type.
        given: DType,
        /// Its rank.
        given_ndim: usize,
        /// The declared element type.
        expected: DType,
        /// The declared rank.
        ndim: usize,
    },
    /// The number of inputs is wrong.
    #[error("the program takes {expected} inputs, {given} were given")]
    InputCount {
        /// The number that the program has.
        expected: usize,
        /// The number given.
        given: usize,
    },
    /// A shape does not broadcast to another.
    #[error("an array of shape {} does not broadcast to {}", Lengths(.from), Lengths(.to))]
    Broadcast {
        /// The shape of the operand.
        from: Vec<i64>,
        /// The wanted shape.
        to: Vec<i64>,
    },
    /// An integer index beyond its axis.
    #[error("index {index} is out of bounds for axis {axis} with size {length}")]
    Index {
        /// The index as given.
        index: i64,
        /// The axis of the operand.
        axis: usize,
        /// Its length.
        length: i64,
    },
    /// A slice with step zero.
    #[error("slice step cannot be zero (axis {axis})")]
    SliceStep {
        /// The axis of the operand.
        axis: usize,
    },
    /// An axis to be dropped that has more than one element, or none.
    #[error("axis {axis} has length {length}; only an axis of length 1 can be dropped")]
    DropAxis {
        /// The axis of the operand.
        axis: usize,
        /// Its length.
        length: i64,
    },
    /// A shape with another number of elements.
    #[error("cannot reshape an array of shape {} into shape {}", Lengths(.from), Lengths(.to))]
    Reshape {
        /// The shape of the operand.
        from: Vec<i64>,
        /// The wanted shape.
        to: Vec<i64>,
    },
    /// Operands of a product that do not match.
    #[error(
        "dot: shapes {} and {} are not aligned: {} != {}{}",
        Lengths(.a),
        Lengths(.b),
        .inner.0,
        .inner.1,
        Hint(&[.inner.0, .inner.1])
    )]
    Inner {
        /// The shape of the first operand.
        a: Vec<i64>,
        /// The shape of the second operand.
        b: Vec<i64>,
        /// The lengths that should be equal.
        inner: (i64, i64),
    },
    /// Operands of a product that differ in the axes in front of their matrices.
    #[error(
        "dot: shapes {} and {} are not aligned: the lengths in front of the last two must be equal{}",
        Lengths(.a),
        Lengths(.b),
        Hint(.a)
    )]
    Batch {
        /// The shape of the first operand.
        a: Vec<i64>,
        /// The shape of the second operand.
        b: Vec<i64>,
    },
    /// Stacks of matrices that differ in the lengths in front of their matrices.
    #[error(
        "{what}: shapes {} and {} do not match: the lengths in front of the matrices must be equal{}",
        Lengths(.a),
        Lengths(.b),
        Hint(.a)
    )]
    Stack {
        /// The operation.
        what: &'static str,
        /// The shape of the first operand.
        a: Vec<i64>,
        /// The shape of the other operand.
        b: Vec<i64>,
    },
    /// A matrix of a stack that lacks a property that is needed.
    #[error("matrix {} of the batch: {fault}", Lengths(.index))]
    InStack {
        /// The position of the matrix.
        index: Vec<i64>,
        /// The property that it lacks.
        fault: Box<Fault>,
    },
    /// A product and its addend, of different shapes.
    #[error(
        "gemm: the product has shape {}, but what it is added to has shape {}{}",
        Lengths(.product),
        Lengths(.z),
        Hint(.z)
    )]
    Addend {
        /// The shape of the product.
        product: Vec<i64>,
        /// The shape of the other operand.
        z: Vec<i64>,
    },
    /// A matrix that should have as many rows as columns.
    #[error("{what} takes a square matrix, given one of shape {}", Lengths(.dims))]
    NotSquare {
        /// The operation.
        what: &'static str,
        /// The shape of the operand.
        dims: Vec<i64>,
    },
    /// The two sides of a system of equations, of different lengths.
    #[error("{what}: a matrix of shape {} has no solution for a right side of shape {}: both need \
             as many rows", Lengths(.a), Lengths(.b))]
    RightSide {
        /// The operation.
        what: &'static str,
        /// The shape of the matrix.
        a: Vec<i64>,
        /// The shape of the right side.
        b: Vec<i64>,
    },
    /// A matrix that has no Cholesky factor.
    #[error(
        "cholesky: the matrix is not positive definite: its leading minor of order {order} is not \
         positive. Add a small multiple of the identity to it"
    )]
    NotPositiveDefinite {
        /// The size of the minor.
        order: i32,
    },
    /// A triangular matrix with a zero on its diagonal.
    #[error(
        "solve_triangular: the matrix is singular: element {row} of its diagonal is zero. Add a \
         small number to its diagonal"
    )]
    Singular {
        /// The position on the diagonal.
        row: i64,
    },
    /// A matrix with a factor that has a zero on its diagonal.
    #[error(
        "solve: the matrix is singular: pivot {row} of its factorisation is zero. Check whether its \
         rows depend on each other"
    )]
    SingularMatrix {
        /// The position on the diagonal.
        row: i64,
    },
    /// A decomposition that was not found.
    #[error("{what} did not converge. Check whether the matrix has elements that are not finite")]
    NotConverged {
        /// Of what.
        what: &'static str,
    },
    /// Diagonals of a matrix that are more or fewer than was said.
    #[error("solve_banded: {needed} diagonals are to have {needed} rows; given {given}")]
    Diagonals {
        /// The number that was said.
        needed: i64,
        /// The number of rows.
        given: i64,
    },
    /// A row to change places with that does not exist.
    #[error("lu_solve: row {row} changes places with row {partner}, which does not exist")]
    Partner {
        /// The row.
        row: i64,
        /// The other one.
        partner: i64,
    },
    /// Parts to be joined whose shapes differ elsewhere than along the axis.
    #[error(
        "join: the lengths of the parts must be equal except along axis {axis}: part {part} has \
         shape {}, the first has shape {}",
        Lengths(.given),
        Lengths(.first)
    )]
    Part {
        /// The axis along which they are joined.
        axis: usize,
        /// The part.
        part: usize,
        /// Its shape.
        given: Vec<i64>,
        /// The shape of the first part.
        first: Vec<i64>,
    },
    /// Two sizes that should be equal.
    #[error("{}", required(message, *a, *b))]
    Required {
        /// The requirement.
        message: String,
        /// The first size.
        a: i64,
        /// The second size.
        b: i64,
        /// Whether they are of indices.
        of_index: bool,
    },
    /// A condition of the user's that does not hold.
    #[error("{message}")]
    Untrue {
        /// The user's message.
        message: String,
        /// Whether it is an assertion.
        asserted: bool,
    },
    /// A length below zero.
    #[error("length {length} of axis {axis} is negative")]
    NegativeLength {
        /// The axis of the result.
        axis: usize,
        /// Its length.
        length: i64,
    },
    /// A range of numbers that has no length.
    #[error("{reason}")]
    Progression {
        /// Why it has none.
        reason: &'static str,
    },
    /// A vector that is no state of a generator of random numbers.
    #[error(
        "the vector is no state of a generator of random numbers; make one with \
         fz.random.state_of(np.random.default_rng(seed)), and draw from the states that draws return"
    )]
    GeneratorState,
    /// A parameter of a distribution that is not within its limits.
    #[error("{what}")]
    Parameter {
        /// The fault.
        what: String,
    },
    /// Ends of an interval that have no finite distance.
    #[error("high - low is not finite, given low {low} and high {high}")]
    Range {
        /// The lower end.
        low: f64,
        /// The upper end.
        high: f64,
    },
    /// More bytes than can be addressed.
    #[error("the array is too large to be addressed")]
    TooLarge,
    /// The system has no memory left.
    #[error("cannot allocate {bytes} bytes")]
    OutOfMemory {
        /// The request.
        bytes: usize,
    },
    /// A kernel refused its operands.
    #[error("integers to negative integer powers are not allowed")]
    NegativePower,
    /// A kernel failed in a way that it does not explain.
    #[error("the kernel failed with status {status}")]
    Kernel {
        /// The result.
        status: i32,
    },
    /// A routine of BLAS, LAPACK or NumPy was needed before it was set.
    #[error("the routine {routine} is not set")]
    RoutineMissing {
        /// Its name.
        routine: &'static str,
    },
    /// A product that BLAS's 32-bit integers cannot describe.
    #[error("a length or stride of {length} elements exceeds what BLAS can take")]
    BlasTooLarge {
        /// The number that does not fit.
        length: i64,
    },
    /// Foreign code returned another number of results than declared.
    #[error("{name} returned {given} results, {expected} were declared")]
    ForeignCount {
        /// The name of the function.
        name: String,
        /// The number of results that were declared.
        expected: usize,
        /// The number that came.
        given: usize,
    },
    /// Foreign code returned a result of another type than declared.
    #[error("result {position} of {name} has type {given}, {expected} was declared")]
    ForeignType {
        /// The name of the function.
        name: String,
        /// The result.
        position: usize,
        /// Its type.
        given: String,
        /// The declared type.
        expected: String,
    },
    /// A scan whose number of steps is below zero.
    #[error("the number of steps is {steps}; it must not be negative")]
    Steps {
        /// The number.
        steps: i64,
    },
    /// A sequence that ends before the scan over it does.
    #[error("sequence {sequence} has length {length}, but the scan does {steps} steps")]
    Sequence {
        /// The sequence.
        sequence: usize,
        /// The length of its first axis.
        length: i64,
        /// The number of steps.
        steps: i64,
    },
    /// A state whose shape changes from a step to the next.
    #[error(
        "state {state} has shape {} after the step, but it started with shape {}: a state keeps its \
         shape",
        Lengths(.given),
        Lengths(.expected)
    )]
    Drift {
        /// The state.
        state: usize,
        /// Its next shape.
        given: Vec<i64>,
        /// The shape that it started with.
        expected: Vec<i64>,
    },
    /// An output whose shape changes from a step to the next, though its values are kept together.
    #[error(
        "output {output} has shape {}, but shape {} in the steps before: values that are kept \
         together have one shape",
        Lengths(.given),
        Lengths(.expected)
    )]
    Row {
        /// The output of the step's program.
        output: usize,
        /// Its shape in this step.
        given: Vec<i64>,
        /// Its shape before.
        expected: Vec<i64>,
    },
    /// A result of a nested program that has another shape than was told before it ran.
    #[error(
        "{slot} is made with shape {}, but shape {} was planned: the lengths that were declared for \
         it are wrong",
        Lengths(.given),
        Lengths(.expected)
    )]
    Planned {
        /// The result.
        slot: Slot,
        /// Its shape.
        given: Vec<i64>,
        /// The shape for which there is memory.
        expected: Vec<i64>,
    },
    /// A fault of a program that an instruction ran, in this step of a scan.
    #[error("{}{fault}", InStep(*.step))]
    Nested {
        /// The step, counted from 0; `None` outside of scans.
        step: Option<i64>,
        /// The fault.
        fault: Box<Fault>,
    },
    /// Foreign code failed by itself.
    #[error("{0}")]
    Foreign(ForeignError),
    /// Whoever started the run wants it to stop.
    #[error("the call was interrupted")]
    Interrupted,
    /// In a watched run: memory was given back and then read.
    #[error("it reads {slot}, whose memory was given back after: {after}")]
    Released {
        /// The slot that is read.
        slot: Slot,
        /// The instruction after which its memory was given back.
        after: String,
    },
    /// In a watched run: memory was written over and then read.
    #[error("it reads {slot}, whose memory was written over by: {by}")]
    Overwritten {
        /// The slot that is read.
        slot: Slot,
        /// The instruction that wrote over it.
        by: String,
    },
    /// In a watched run: an instruction has written to an operand that it only reads.
    #[error("it has written to its {operand}, which it may only read")]
    Destroyed {
        /// The operand that it has written to.
        operand: Operand,
    },
    /// In a watched run: an instruction has written to the zones around a buffer.
    #[error("it has written up to {distance} bytes {edge} of {whose}, which has {bytes} bytes")]
    Trespass {
        /// The buffer.
        whose: String,
        /// Its size.
        bytes: usize,
        /// The farthest byte that was written to.
        distance: usize,
        /// From where that is counted.
        edge: &'static str,
    },
    /// In a watched run: the first NaN.
    #[error("its result {position} is NaN at {}, and none of its operands has a NaN", Lengths(.index))]
    NotANumber {
        /// The result.
        position: usize,
        /// The position in it.
        index: Vec<i64>,
    },
}

/// Advice for the user's code, for a fault about lengths.
const DECLARE: &str = "; a dimension broadcasts only where its type says 1: declare it, as in \
                       ft.tensor(shape=(1, None)), or repeat it with ft.broadcast_to";

struct Hint<'a>(&'a [i64]);

impl fmt::Display for Hint<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.contains(&1) { f.write_str(DECLARE) } else { Ok(()) }
    }
}

struct InStep(Option<i64>);

impl fmt::Display for InStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |step| write!(f, "step {step}: "))
    }
}

/// The requirement on two sizes. They replace `{a}` and `{b}` in the message, or stand behind it.
fn required(message: &str, a: i64, b: i64) -> String {
    if ["{a}", "{b}"].iter().any(|place| message.contains(place)) {
        return message.replace("{a}", &a.to_string()).replace("{b}", &b.to_string());
    }
    format!("{message}: {a} != {b}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_length_of_one_says_how_to_broadcast() {
        let operand = Operand { position: 1, slot: Slot(4), input: Some(0) };
        let text = Fault::Length { operand, axis: 0, expected: 5, given: 3 }.to_string();
        assert_eq!(text, "operand 1 (input 0) has length 3 along axis 0 where 5 is expected");
        for (expected, given) in [(5, 1), (1, 5)] {
            let text = Fault::Length { operand, axis: 0, expected, given }.to_string();
            assert!(text.contains("only where its type says 1"), "{text}");
        }
    }

    #[test]
    fn sizes_stand_where_a_message_wants_them() {
        let text = |message: &str| {
            Fault::Required { message: message.to_owned(), a: -2, b: 0, of_index: false }
                .to_string()
        };
        assert_eq!(text("lengths of x and y"), "lengths of x and y: -2 != 0");
        assert_eq!(text("Op{7}: {a} steps"), "Op{7}: -2 steps");
        assert_eq!(text("{b} expected, given {a}"), "0 expected, given -2");
    }

    #[test]
    fn shapes_are_written_as_in_python() {
        let text = Fault::Reshape { from: vec![3], to: vec![] }.to_string();
        assert_eq!(text, "cannot reshape an array of shape (3,) into shape ()");
        let fault = Fault::InputShape { input: 2, given: vec![Some(3)], expected: vec![None] };
        assert_eq!(fault.to_string(), "input 2 has shape (3,), but its type says (None,)");
    }
}
