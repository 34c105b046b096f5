//! `CFunction`: a function that C code calls.

use frazil_runtime::Entry;
use pyo3::prelude::*;

/// A function that C code calls, for arrays of lengths that are known.
#[pyclass(frozen, module = "frazil._core")]
pub struct CFunction(Box<Entry>);

impl From<Entry> for CFunction {
    fn from(entry: Entry) -> CFunction {
        CFunction(Box::new(entry))
    }
}

#[pymethods]
impl CFunction {
    /// The function's address.
    #[getter]
    fn address(&self) -> usize {
        Entry::FUNCTION as usize
    }

    /// Its first argument; valid as long as this object lives.
    #[getter]
    fn context(&self) -> usize {
        &raw const *self.0 as usize
    }

    /// The shape of each input.
    #[getter]
    fn input_shapes(&self) -> Vec<Vec<i64>> {
        self.0.inputs().map(<[i64]>::to_vec).collect()
    }

    /// The shape of each output.
    #[getter]
    fn output_shapes(&self) -> Vec<Vec<i64>> {
        self.0.outputs().map(<[i64]>::to_vec).collect()
    }
}
