//! From the core's errors to Python's exceptions.

use frazil_core::{Error, ErrorClass};
use pyo3::create_exception;
use pyo3::exceptions::{PyKeyError, PyOverflowError, PyRuntimeError, PyTypeError, PyValueError};
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

/// The Python exception that says what a core error says.
pub fn raise(error: Error) -> PyErr {
    if let Error::Inconsistent(inconsistency) = &error {
        return inconsistent(&error, inconsistency.witness());
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
