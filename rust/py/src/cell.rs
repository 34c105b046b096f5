//! The cell behind a shared variable.

use frazil_core::{Dim, Ty};
use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use parking_lot::Mutex;
use pyo3::prelude::*;

use crate::container::current;
use crate::face::face;
use crate::types::dtype_of_descr;

/// Holds the current array of a shared variable.
pub struct SharedCell {
    array: Mutex<Py<PyUntypedArray>>,
}

impl SharedCell {
    /// A cell that holds `array`.
    pub fn new(array: Py<PyUntypedArray>) -> SharedCell {
        SharedCell { array: Mutex::new(array) }
    }

    /// The current array.
    pub fn get(&self, py: Python<'_>) -> Py<PyUntypedArray> {
        self.array.lock().clone_ref(py)
    }

    /// Puts `array` in; the old one is returned so that it is dropped outside the lock.
    pub fn set(&self, array: Py<PyUntypedArray>) -> Py<PyUntypedArray> {
        std::mem::replace(&mut *self.array.lock(), array)
    }
}

/// A shared variable over `value`.
#[pyfunction]
#[pyo3(signature = (value, name=None, shape=None))]
pub fn shared<'py>(
    value: &Bound<'py, PyUntypedArray>,
    name: Option<&str>,
    shape: Option<Vec<Option<u64>>>,
) -> PyResult<Bound<'py, PyAny>> {
    let dims: Vec<Dim> = shape.unwrap_or_else(|| vec![None; value.ndim()]);
    let ty = Ty::tensor(dtype_of_descr(&value.dtype())?, &dims);
    let cell = SharedCell::new(value.clone().unbind());
    let py = value.py();
    face(py, current(py)?.input(ty, name, Some(std::sync::Arc::new(cell))))
}
