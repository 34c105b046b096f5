//! Walks, substitution and frozen graphs.

use frazil_core::{Container, Var, replace, traverse};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::error::raise;
use crate::face::{apply_face, face};
use crate::variable::Variable;

fn vars_of(variables: &Bound<'_, PyAny>) -> PyResult<Vec<Var>> {
    variables.try_iter()?.map(|variable| var_of(&variable?)).collect()
}

fn var_of(variable: &Bound<'_, PyAny>) -> PyResult<Var> {
    match variable.cast::<Variable>() {
        Ok(variable) => Ok(variable.get().var().clone()),
        Err(_) => {
            Err(PyTypeError::new_err(format!("expected a Variable, given {}", variable.get_type())))
        }
    }
}

fn faces<'py>(py: Python<'py>, vars: &[Var]) -> PyResult<Vec<Bound<'py, PyAny>>> {
    vars.iter().map(|var| face(py, var.clone())).collect()
}

/// The applications that `outputs` need, operands before users, without walking past `blockers`.
#[pyfunction]
#[pyo3(signature = (outputs, blockers=None))]
pub fn toposort<'py>(
    py: Python<'py>,
    outputs: &Bound<'py, PyAny>,
    blockers: Option<&Bound<'py, PyAny>>,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let outputs = vars_of(outputs)?;
    let blockers = blockers.map(vars_of).transpose()?.unwrap_or_default();
    traverse::toposort(&outputs, &blockers)
        .into_iter()
        .map(|node| apply_face(py, node.clone()))
        .collect()
}

/// The root inputs that `outputs` need, in the order in which a walk from the outputs meets them.
#[pyfunction]
pub fn root_inputs<'py>(outputs: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    faces(outputs.py(), &traverse::root_inputs(&vars_of(outputs)?))
}

/// `outputs` with every key of `replacements` replaced by its value, all at once.
#[pyfunction]
pub fn graph_replace<'py>(
    outputs: &Bound<'py, PyAny>,
    replacements: &Bound<'py, PyDict>,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let pairs = replacements
        .iter()
        .map(|(old, new)| Ok((var_of(&old)?, var_of(&new)?)))
        .collect::<PyResult<Vec<_>>>()?;
    let outputs_now = vars_of(outputs)?;
    let replaced = replace::replace(Container::global(), &outputs_now, &pairs).map_err(raise)?;
    faces(outputs.py(), &replaced)
}

/// A graph over nominal inputs: equal for all isomorphic graphs, in every process.
#[pyclass(frozen, module = "frazil._core")]
pub struct FrozenFunctionGraph {
    graph: frazil_core::FrozenFunctionGraph,
}

#[pymethods]
impl FrozenFunctionGraph {
    #[new]
    fn new(inputs: &Bound<'_, PyAny>, outputs: &Bound<'_, PyAny>) -> PyResult<FrozenFunctionGraph> {
        let (inputs, outputs) = (vars_of(inputs)?, vars_of(outputs)?);
        let graph = frazil_core::FrozenFunctionGraph::new(Container::global(), &inputs, &outputs)
            .map_err(raise)?;
        Ok(FrozenFunctionGraph { graph })
    }

    #[getter]
    fn inputs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, faces(py, self.graph.inputs())?)
    }

    #[getter]
    fn outputs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, faces(py, self.graph.outputs())?)
    }

    #[getter]
    fn digest(&self) -> String {
        self.graph.digest().to_string()
    }

    fn toposort<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        traverse::toposort(self.graph.outputs(), &[])
            .into_iter()
            .map(|node| apply_face(py, node.clone()))
            .collect()
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<FrozenFunctionGraph>().is_ok_and(|other| self.graph == other.get().graph)
    }

    fn __hash__(&self) -> u64 {
        self.graph.digest().short()
    }

    fn __copy__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __deepcopy__<'py>(slf: Bound<'py, Self>, _memo: &Bound<'py, PyAny>) -> Bound<'py, Self> {
        slf
    }
}

/// Live nodes and bytes of the global container.
#[pyfunction]
pub fn container_stats(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let stats = Container::global().stats();
    let dict = PyDict::new(py);
    dict.set_item("nodes", stats.nodes)?;
    dict.set_item("bytes", stats.bytes)?;
    Ok(dict)
}

/// The dtype that holds every value of all `dtypes`, as `numpy.result_type`.
#[pyfunction]
#[pyo3(signature = (*dtypes))]
pub fn promote(dtypes: Vec<String>) -> PyResult<&'static str> {
    let parsed = dtypes
        .iter()
        .map(|dtype| dtype.parse::<frazil_core::DType>())
        .collect::<Result<Vec<_>, _>>()
        .map_err(raise)?;
    parsed
        .into_iter()
        .reduce(frazil_core::DType::promote)
        .map(frazil_core::DType::name)
        .ok_or_else(|| raise(frazil_core::Error::NoOperands))
}
