//! Addresses of NumPy's functions that sort.

use std::ffi::c_void;

use pyo3::prelude::*;

use crate::types::dtype_of;

/// Sets the address of NumPy's function that sorts numbers of a type, for every program.
#[pyfunction]
pub fn set_sorter(dtype: &Bound<'_, PyAny>, address: usize) -> PyResult<()> {
    let dtype = dtype_of(dtype)?;
    // SAFETY: the caller promises that this is the function's address.
    unsafe { frazil_runtime::set_sorter(dtype, address as *const c_void) };
    Ok(())
}
