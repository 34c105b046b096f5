//! From the core's errors to Python's exceptions.

use frazil_core::{Error, ErrorClass};
use pyo3::create_exception;
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;

create_exception!(
    frazil,
    MissingInputError,
    PyValueError,
    "A graph needs an input that it was not given."
);

/// The Python exception that says what a core error says.
pub fn raise(error: Error) -> PyErr {
    let message = error.to_string();
    match error.class() {
        ErrorClass::Type => PyTypeError::new_err(message),
        ErrorClass::Value => PyValueError::new_err(message),
        ErrorClass::Overflow => PyOverflowError::new_err(message),
        ErrorClass::MissingInput => MissingInputError::new_err(message),
    }
}
