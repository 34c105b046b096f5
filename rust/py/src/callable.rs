//! Python functions as instructions of a program.

use frazil_runtime::{ArrayRef, Foreign, ForeignError, KeptArray};
use numpy::npyffi::{
    self, NPY_ARRAY_ALIGNED, NPY_ARRAY_ENSUREARRAY, NPY_ARRAY_NOTSWAPPED, PY_ARRAY_API,
};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::ndarray::{NumPy, keep};
use crate::object_table::ObjectResult;
use crate::owned::{Owned, Raised, attached};

/// A Python function from arrays to an array or, where several results were declared, a tuple of
/// them.
pub struct Callable {
    function: Owned<PyAny>,
    results: usize,
}

impl Callable {
    /// The instruction that calls `function`.
    pub fn new(function: Py<PyAny>, results: usize) -> Callable {
        Callable { function: function.into(), results }
    }

    fn call_python(&self, py: Python<'_>, inputs: &[ArrayRef<'_>]) -> PyResult<Vec<KeptArray>> {
        let arrays =
            inputs.iter().map(|input| argument(py, input)).collect::<PyResult<Vec<_>>>()?;
        let result = self.function.bind(py).call1(PyTuple::new(py, arrays)?)?;
        let several = result.cast::<PyTuple>().ok().filter(|_| self.results != 1);
        match several {
            Some(results) => {
                results.iter().enumerate().map(|(at, result)| self.kept(at, &result)).collect()
            }
            None if self.results == 1 => Ok(vec![self.kept(0, &single(result)?)?]),
            None => Err(PyTypeError::new_err(format!(
                "{} must return a tuple of {} arrays, it returned {}",
                self.name(),
                self.results,
                result.get_type()
            ))),
        }
    }

    /// A result as the runtime keeps it.
    fn kept(&self, position: usize, result: &Bound<'_, PyAny>) -> PyResult<KeptArray> {
        let py = result.py();
        let what = || format!("result {position} of {}", self.name());
        let array = native(result).inspect_err(|error| {
            let note = format!("as {} must be an array of numbers", what());
            // A note that cannot be added leaves the error as it is.
            let _ = error.value(py).call_method1("add_note", (note,));
        })?;
        let dtype = array.getattr("dtype")?;
        keep(array).ok_or_else(|| {
            let kind = result.get_type().qualname();
            let shown = kind.map_or_else(|_| "an object".to_owned(), |name| name.to_string());
            PyTypeError::new_err(format!(
                "{} must be an array of numbers; given {shown}, of dtype {dtype}",
                what()
            ))
        })
    }
}

/// A tuple of one result is that result.
fn single(result: Bound<'_, PyAny>) -> PyResult<Bound<'_, PyAny>> {
    match result.cast::<PyTuple>() {
        Ok(tuple) if tuple.len() == 1 => tuple.get_item(0),
        _ => Ok(result),
    }
}

/// The array that the function sees: it may keep it, so memory that is used again is copied first.
fn argument<'py>(py: Python<'py>, input: &ArrayRef<'_>) -> ObjectResult<'py> {
    let numpy = NumPy::get(py);
    match input.owner {
        Some(owner) => {
            // SAFETY: owners are addresses of Python objects that live during the call, given by
            // this crate: the arguments of the function, constants and the results of earlier
            // calls.
            let owner = unsafe {
                Borrowed::from_ptr(py, owner.get() as *mut pyo3::ffi::PyObject).to_owned()
            };
            // SAFETY: the runtime promises that the memory lives as long as its owner.
            unsafe { numpy.view_of(&owner, input) }
        }
        // SAFETY: the memory is readable during the call.
        None => unsafe { numpy.copy_of(py, input) },
    }
}

/// The aligned native array that an object is or makes.
fn native<'py>(result: &Bound<'py, PyAny>) -> ObjectResult<'py> {
    let py = result.py();
    // SAFETY: without a descriptor any object can be made an array; the call takes no reference.
    unsafe {
        let array = PY_ARRAY_API.PyArray_CheckFromAny(
            py,
            result.as_ptr(),
            std::ptr::null_mut::<npyffi::PyArray_Descr>(),
            0,
            0,
            NPY_ARRAY_ALIGNED | NPY_ARRAY_NOTSWAPPED | NPY_ARRAY_ENSUREARRAY,
            std::ptr::null_mut(),
        );
        Bound::from_owned_ptr_or_err(py, array)
    }
}

impl Foreign for Callable {
    fn call(&self, inputs: &[ArrayRef<'_>]) -> Result<Vec<KeptArray>, ForeignError> {
        attached(|py| self.call_python(py, inputs).map_err(|error| Raised::from(error).into()))
    }

    fn name(&self) -> String {
        Python::attach(|py| {
            let function = self.function.bind(py);
            let name = function
                .getattr("__qualname__")
                .or_else(|_| function.getattr("__name__"))
                .or_else(|_| function.get_type().qualname().map(Bound::into_any));
            name.map_or_else(|_| "a Python function".to_owned(), |name| name.to_string())
        })
    }
}
