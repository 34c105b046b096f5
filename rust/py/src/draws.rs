//! Addresses of NumPy's functions for random numbers.

use std::ffi::c_void;

use frazil_core::DType;
use frazil_runtime::{BitFunctions, BitGenerator, Distribution};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::types::dtype_of;

/// The distribution of this name and type.
pub fn find_distribution(name: &str, dtype: DType) -> PyResult<Distribution> {
    Distribution::find(name, dtype).ok_or_else(|| {
        PyValueError::new_err(format!("the runtime draws no {dtype} of a distribution {name:?}"))
    })
}

/// Every distribution: its name, the type of its numbers, and NumPy's function that draws need.
#[pyfunction]
pub fn distributions() -> Vec<(&'static str, String, &'static str)> {
    let row = |known: Distribution| (known.name(), known.result().to_string(), known.symbol());
    Distribution::all().map(row).collect()
}

/// The parameters of a distribution: the type of each, and whether rows of numbers take rows of it;
/// and whether it draws rows.
#[pyfunction]
pub fn distribution_form(
    name: &str,
    dtype: &Bound<'_, PyAny>,
) -> PyResult<(Vec<(String, bool)>, bool)> {
    let distribution = find_distribution(name, dtype_of(dtype)?)?;
    let dtypes = distribution.parameters().enumerate();
    let parameters = dtypes.map(|(at, dtype)| (dtype.to_string(), distribution.takes_rows(at)));
    Ok((parameters.collect(), distribution.has_rows()))
}

/// Sets the address of one of NumPy's functions for distributions, for every program.
#[pyfunction]
pub fn set_sampler(name: &str, address: usize) {
    // SAFETY: the caller promises that this is the function's address.
    unsafe { frazil_runtime::set_sampler(name, address as *const c_void) }
}

/// Sets the functions that make the bits of a generator, for every program, if they make of a state
/// the expected numbers. Whether they do.
#[pyfunction]
pub fn set_bit_generator(
    name: &str,
    functions: BitFunctions,
    state: Vec<u64>,
    expected: Vec<u64>,
) -> PyResult<bool> {
    let kind = BitGenerator::from_name(name).ok_or_else(|| {
        let known = BitGenerator::ALL.map(BitGenerator::name).join(", ");
        PyValueError::new_err(format!("the runtime has no generator {name:?}; it has {known}"))
    })?;
    // SAFETY: the caller promises that these are the functions of NumPy's generator.
    Ok(unsafe { frazil_runtime::set_bit_generator(kind, functions, &state, &expected) })
}
