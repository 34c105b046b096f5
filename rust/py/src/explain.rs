//! Reports of what programs do.

use frazil_runtime::Explained;
use pyo3::prelude::*;

use crate::program::Program;

/// Text, the number of the origin, the number of the kernel, sizes, and the shapes of results.
type Told = (String, Option<usize>, Option<u32>, Vec<Option<i64>>, Vec<Option<Vec<i64>>>);

/// Tells what `program` does, instruction by instruction; with dims of all its inputs, each in C order, also
/// with which sizes.
#[pyfunction]
#[pyo3(signature = (program, dims=None))]
pub fn explain(
    py: Python<'_>,
    program: &Program,
    dims: Option<Vec<Vec<i64>>>,
) -> PyResult<Vec<Told>> {
    let explained = program.runtime().explain(dims.as_deref());
    let explained = explained.map_err(|error| program.raise(py, error, |_| None))?;
    let told = |it: Explained| {
        let origin = it.origin.map(|origin| origin.index());
        (it.text, origin, it.kernel, it.sizes, it.shapes)
    };
    Ok(explained.into_iter().map(told).collect())
}
