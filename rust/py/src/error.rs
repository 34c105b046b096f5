//! From errors of the core and the runtime to Python's exceptions.

use frazil_core::{Error, ErrorClass};
use frazil_runtime::BuildError;
use pyo3::create_exception;
use pyo3::exceptions::{
    PyAssertionError, PyIndexError, PyKeyError, PyMemoryError, PyOverflowError, PyRuntimeError,
    PyTypeError, PyValueError,
};
use pyo3::import_exception;
use pyo3::prelude::*;

use crate::plan::inconsistent;

create_exception!(
    frazil,
    MissingInputError,
    PyValueError,
    "A graph needs an input that it was not given."
);

create_exception!(
    frazil,
    InconsistencyError,
    PyValueError,
    "A graph that no order of its nodes can run, because of what they destroy."
);

create_exception!(frazil, RuleCycleError, PyValueError, "Rewrite rules that never come to an end.");

create_exception!(
    frazil,
    DebugModeError,
    PyRuntimeError,
    "What a function compiled with mode=\"debug\" has found out about one of its nodes."
);

import_exception!(pickle, PicklingError);
import_exception!(pickle, UnpicklingError);
import_exception!(numpy.linalg, LinAlgError);

/// Looks the classes up that other modules define.
pub fn settle(py: Python<'_>) {
    py.get_type::<PicklingError>();
    py.get_type::<UnpicklingError>();
    py.get_type::<LinAlgError>();
}

/// The Python exception for an error of the core.
pub fn raise(error: Error) -> PyErr {
    if let Some(witness) = error.witness() {
        return inconsistent(&error, witness);
    }
    let message = error.to_string();
    match error.class() {
        ErrorClass::Type => PyTypeError::new_err(message),
        ErrorClass::Value => PyValueError::new_err(message),
        ErrorClass::Overflow => PyOverflowError::new_err(message),
        ErrorClass::Key => PyKeyError::new_err(message),
        ErrorClass::Pickling => PicklingError::new_err(message),
        ErrorClass::MissingInput => MissingInputError::new_err(message),
        ErrorClass::Inconsistent => InconsistencyError::new_err(message),
        ErrorClass::RuleCycle => RuleCycleError::new_err(message),
    }
}

/// The Python exception of a family of the runtime's errors.
pub fn exception(class: frazil_runtime::ErrorClass, message: String) -> PyErr {
    use frazil_runtime::ErrorClass;
    match class {
        ErrorClass::Value => PyValueError::new_err(message),
        ErrorClass::Type => PyTypeError::new_err(message),
        ErrorClass::Overflow => PyOverflowError::new_err(message),
        ErrorClass::Index => PyIndexError::new_err(message),
        ErrorClass::Memory => PyMemoryError::new_err(message),
        ErrorClass::Assertion => PyAssertionError::new_err(message),
        ErrorClass::LinearAlgebra => LinAlgError::new_err(message),
        ErrorClass::Runtime => PyRuntimeError::new_err(message),
        ErrorClass::Watch => DebugModeError::new_err(message),
    }
}

/// The Python exception for an instruction that cannot be.
pub fn refuse(error: BuildError) -> PyErr {
    exception(error.class(), error.to_string())
}
