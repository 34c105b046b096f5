//! Machine code of kernels, made in this process.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use frazil_codegen::{
    Code, CodegenError, StillList, clif, compile, hold_list, is_available, lowers, may_run_code,
};
use frazil_core::intern::fork::{Held, Locks};
use frazil_runtime::{kernel_function, register_limit};
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;

use crate::once::intern;

/// The machine code of some kernels, which lives as long as this.
#[pyclass(frozen, module = "frazil._core", weakref)]
pub struct NativeCode {
    code: Code,
    /// The kernels that calls have been led to, as long as the jumps to them.
    successors: Mutex<Vec<Py<PyAny>>>,
}

#[pymethods]
impl NativeCode {
    /// The address of each kernel, in order.
    fn addresses(&self) -> Vec<usize> {
        self.code.addresses()
    }

    /// Lets calls of kernel number `at` be calls of the kernel at `successor.address`, which does the same. The
    /// successor lives as long as this.
    fn replace(&self, at: usize, successor: &Bound<'_, PyAny>) -> PyResult<()> {
        let address: usize = successor.getattr(intern!(successor.py(), "address"))?.extract()?;
        if address == 0 || at >= self.code.addresses().len() {
            return Err(PyValueError::new_err(format!(
                "there is no kernel {at}, or nothing for it"
            )));
        }
        self.successors().push(successor.clone().unbind());
        // SAFETY: the successor, which is kept, says what lies at its address. That it is a kernel of the same
        // description is known to frazil's linkers alone, as with all addresses of kernels that a program is made of:
        // `frazil._core` is no interface for users. Test: tests/link/test_tiers.py.
        unsafe { self.code.replace(at, address) };
        Ok(())
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        let Ok(successors) = self.successors.try_lock() else { return Ok(()) };
        successors.iter().try_for_each(|successor| visit.call(successor))
    }
}

impl NativeCode {
    fn successors(&self) -> MutexGuard<'_, Vec<Py<PyAny>>> {
        self.successors.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The list of kernels for debuggers.
pub struct Told;

impl Locks for Told {
    fn hold<'a>(&'a self, _: &mut Vec<Arc<dyn Locks>>) -> Held<'a> {
        let list: StillList = hold_list();
        Box::new(list)
    }
}

fn raised(error: CodegenError) -> PyErr {
    let message = error.to_string();
    match error {
        CodegenError::Malformed { .. } | CodegenError::Senseless(_) | CodegenError::Unknown(_) => {
            PyValueError::new_err(message)
        }
        CodegenError::Refused(_) => PyRuntimeError::new_err(message),
        CodegenError::Memory(_) | CodegenError::Processor(_) | CodegenError::Dump(_) => {
            PyOSError::new_err(message)
        }
    }
}

/// The machine code of the kernels that these texts describe; `functions` has the addresses of
/// those that the runtime does not have. In the folder `dump`, profilers are told the kernels' names.
#[pyfunction]
#[pyo3(signature = (descriptions, functions, dump = None))]
pub fn compile_kernels(
    py: Python<'_>,
    descriptions: Vec<String>,
    functions: HashMap<String, usize>,
    dump: Option<PathBuf>,
) -> PyResult<NativeCode> {
    let texts: Vec<&str> = descriptions.iter().map(String::as_str).collect();
    let address = |name: &str| functions.get(name).copied().or_else(|| kernel_function(name));
    let code = py.detach(|| compile(&texts, address, dump.as_deref())).map_err(raised)?;
    Ok(NativeCode { code, successors: Mutex::default() })
}

/// The instructions of the kernel that a text describes, before a processor's are made of them, and
/// the names of the functions that it calls.
#[pyfunction]
pub fn kernel_listing(description: &str) -> PyResult<(String, Vec<String>)> {
    clif(description).map_err(raised)
}

/// Whether kernels may hold the scalar op of that name, for operands and a result of these dtypes.
#[pyfunction]
pub fn kernels_hold(op: &str, operands: Vec<String>, result: &str) -> bool {
    let operands: Vec<&str> = operands.iter().map(String::as_str).collect();
    lowers(op, &operands, result)
}

/// The bits of the registers that functions of vectors use: those of AVX-512, of AVX2, or 0.
#[pyfunction]
pub fn vector_bits() -> u32 {
    frazil_runtime::vector_bits()
}

/// Whether the functions of the extension are quick, of single elements and of many.
#[pyfunction]
pub fn has_quick_functions() -> bool {
    frazil_runtime::has_quick_functions()
}

/// Why this process may not run code that it makes; None if it may.
#[pyfunction]
pub fn made_code_fault() -> Option<String> {
    may_run_code().err().map(|error| error.to_string())
}

/// Why this machine runs no code that [`compile_kernels`] makes; None if it does.
#[pyfunction]
pub fn native_code_fault() -> Option<String> {
    is_available().err().map(|error| error.to_string())
}

/// The most bits that registers of elements may have.
#[pyfunction]
pub fn register_bits() -> PyResult<u32> {
    register_limit().map_err(PyValueError::new_err)
}
