//! The family of each fault, and the operands that it concerns.

use crate::error::{ErrorClass, Fault, Subject};

impl Fault {
    /// The steps of scans in which it happened, the outermost first.
    pub fn steps(&self) -> Vec<i64> {
        let mut steps = Vec::new();
        let mut fault = self;
        while let Fault::Nested { step, fault: inner } = fault {
            steps.extend(*step);
            fault = inner;
        }
        steps
    }

    /// The input, sequence or state that it concerns: the author of the program has a name for it.
    pub fn subject(&self) -> Option<Subject> {
        match self {
            Fault::InputShape { input, .. } | Fault::InputType { input, .. } => {
                Some(Subject::Input(*input))
            }
            Fault::Length { operand, .. } => operand.input.map(Subject::Input),
            fault => fault.part_of_scan(),
        }
    }

    fn part_of_scan(&self) -> Option<Subject> {
        let mut fault = self;
        while let Fault::Nested { fault: inner, .. } = fault {
            fault = inner;
        }
        match fault {
            Fault::Drift { state, .. } => Some(Subject::State(*state)),
            Fault::Sequence { sequence, .. } => Some(Subject::Sequence(*sequence)),
            _ => None,
        }
    }

    /// The fault in the innermost program.
    pub fn innermost(self) -> Fault {
        let mut fault = self;
        while let Fault::Nested { fault: inner, .. } = fault {
            fault = *inner;
        }
        fault
    }

    /// Whether a matrix lacks a property that is needed.
    pub(crate) fn is_of_matrix(&self) -> bool {
        matches!(
            self,
            Fault::NotPositiveDefinite { .. }
                | Fault::Singular { .. }
                | Fault::SingularMatrix { .. }
                | Fault::NotConverged { .. }
                | Fault::Partner { .. }
        )
    }

    /// The family of the error.
    pub fn class(&self) -> ErrorClass {
        match self {
            Fault::Length { .. }
            | Fault::InputShape { .. }
            | Fault::Broadcast { .. }
            | Fault::SliceStep { .. }
            | Fault::DropAxis { .. }
            | Fault::Reshape { .. }
            | Fault::Inner { .. }
            | Fault::Batch { .. }
            | Fault::Stack { .. }
            | Fault::Addend { .. }
            | Fault::RightSide { .. }
            | Fault::Diagonals { .. }
            | Fault::Partner { .. }
            | Fault::Part { .. }
            | Fault::Required { of_index: false, .. }
            | Fault::Untrue { asserted: false, .. }
            | Fault::NegativeLength { .. }
            | Fault::Progression { .. }
            | Fault::GeneratorState
            | Fault::Parameter { .. }
            | Fault::TooLarge
            | Fault::NegativePower
            | Fault::Steps { .. }
            | Fault::Sequence { .. }
            | Fault::Drift { .. }
            | Fault::Row { .. }
            | Fault::Planned { .. }
            | Fault::BlasTooLarge { .. } => ErrorClass::Value,
            Fault::Range { .. } => ErrorClass::Overflow,
            Fault::Nested { fault, .. } | Fault::InStack { fault, .. } => fault.class(),
            Fault::InputType { .. }
            | Fault::InputCount { .. }
            | Fault::ForeignCount { .. }
            | Fault::ForeignType { .. } => ErrorClass::Type,
            Fault::Index { .. } | Fault::Required { of_index: true, .. } => ErrorClass::Index,
            Fault::Untrue { asserted: true, .. } => ErrorClass::Assertion,
            Fault::OutOfMemory { .. } => ErrorClass::Memory,
            Fault::NotSquare { .. }
            | Fault::NotPositiveDefinite { .. }
            | Fault::Singular { .. }
            | Fault::SingularMatrix { .. }
            | Fault::NotConverged { .. } => ErrorClass::LinearAlgebra,
            Fault::Released { .. }
            | Fault::Overwritten { .. }
            | Fault::Destroyed { .. }
            | Fault::Trespass { .. }
            | Fault::NotANumber { .. } => ErrorClass::Watch,
            Fault::Kernel { .. }
            | Fault::RoutineMissing { .. }
            | Fault::Foreign(_)
            | Fault::Interrupted => ErrorClass::Runtime,
        }
    }
}
