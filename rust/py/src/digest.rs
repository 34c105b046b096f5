//! Digests of bytes that are kept outside of the process.

use frazil_core::Digest;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// The 16 bytes of the digest of `bytes`, the same in every process and on every machine.
#[pyfunction]
pub fn digest_of<'py>(py: Python<'py>, bytes: &[u8]) -> Bound<'py, PyBytes> {
    PyBytes::new(py, &Digest::of(bytes).to_bytes())
}
