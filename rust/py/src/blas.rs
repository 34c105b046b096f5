//! Addresses of native functions: BLAS and LAPACK, and functions that kernels call.

use std::collections::HashMap;
use std::ffi::c_void;

use frazil_runtime::{Integers, Routine, kernel_function, set_routine};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;

/// Sets the addresses of routines of BLAS and LAPACK, for every program.
///
/// Each must be that of the routine with Fortran's conventions and integers of so many bits.
#[pyfunction]
#[pyo3(signature = (addresses, bits=32))]
pub fn set_routines(addresses: HashMap<String, usize>, bits: u32) -> PyResult<()> {
    let integers = match bits {
        32 => Integers::Bits32,
        64 => Integers::Bits64,
        _ => return Err(PyValueError::new_err(format!("bits must be 32 or 64, given {bits}"))),
    };
    for (name, address) in addresses {
        let routine = Routine::from_name(&name).ok_or_else(|| {
            let known = Routine::ALL.map(Routine::name).join(", ");
            PyValueError::new_err(format!("the runtime does not call {name:?}; it calls {known}"))
        })?;
        // SAFETY: the caller's promise, as stated above.
        unsafe { set_routine(routine, address as *const c_void, integers) };
    }
    Ok(())
}

/// The address of a function that native kernels call.
#[pyfunction]
#[pyo3(name = "kernel_function")]
pub fn find_kernel_function(name: &str) -> PyResult<usize> {
    kernel_function(name).ok_or_else(|| PyKeyError::new_err(name.to_owned()))
}
