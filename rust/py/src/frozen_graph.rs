//! Frozen graphs.

use frazil_core::node::alike;
use frazil_core::traverse::needs_at_most;
use frazil_core::{Var, codec, text};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMapping, PyTuple};

use crate::container::current;
use crate::error::{UnpicklingError, raise};
use crate::object_table::{
    ObjectResult, container_wrapper, forget_frozen, frozen_wrapper, graph_wrapper,
};
use crate::op::op_wrapper;
use crate::owned::{FEW, detached_if};
use crate::persist;
use crate::walks::{apply_wrappers, pairs_of, vars_of, wrappers};
use crate::wrapped::{Wrap, Wrapped};

/// A graph over nominal inputs: one object for all isomorphic graphs of a container.
///
/// Parameters
/// ----------
/// inputs : iterable of Variable
///     Root inputs, which become nominals; their names are no part of the graph.
/// outputs : iterable of Variable
///     The outputs, computed from the inputs and constants.
///
/// Raises
/// ------
/// MissingInputError
///     If the outputs need another input.
///
/// Examples
/// --------
/// >>> import frazil as fz, frazil.tensor as ft
/// >>> x, y = ft.vector("x"), ft.vector("y")
/// >>> graph = fz.FrozenFunctionGraph([x], [ft.exp(x) + 1.0])
/// >>> graph is fz.FrozenFunctionGraph([y], [ft.exp(y) + 1.0])
/// True
/// >>> graph.bind([y])[0] is ft.exp(y) + 1.0
/// True
#[pyclass(frozen, weakref, module = "frazil._core")]
pub struct FrozenFunctionGraph(Wrapped<frazil_core::FrozenFunctionGraph>);

impl FrozenFunctionGraph {
    /// The wrapper's content; `frozen_wrapper` makes wrappers.
    pub fn from_core(graph: frazil_core::FrozenFunctionGraph) -> FrozenFunctionGraph {
        FrozenFunctionGraph(Wrapped::new(graph))
    }

    /// The graph.
    pub fn graph(&self) -> &frazil_core::FrozenFunctionGraph {
        &self.0
    }
}

impl Wrap for frazil_core::FrozenFunctionGraph {
    fn release(self, py: Python<'_>) {
        forget_frozen(py, &self);
        detached_if(self.applications() > FEW, py, || drop(self));
    }
}

type Made = Result<frazil_core::FrozenFunctionGraph, frazil_core::Error>;

/// The graph that a function of the core makes of inputs and outputs.
fn frozen<'py>(
    inputs: &Bound<'py, PyAny>,
    outputs: &Bound<'py, PyAny>,
    make: fn(&frazil_core::Container, &[Var], &[Var]) -> Made,
) -> ObjectResult<'py> {
    let py = inputs.py();
    let (inputs, outputs, container) = (vars_of(inputs)?, vars_of(outputs)?, current(py)?);
    let few = needs_at_most(&outputs, FEW);
    let graph = detached_if(!few, py, || make(&container, &inputs, &outputs));
    frozen_wrapper(py, graph.map_err(raise)?)
}

#[pymethods]
impl FrozenFunctionGraph {
    #[new]
    fn make<'py>(inputs: &Bound<'py, PyAny>, outputs: &Bound<'py, PyAny>) -> ObjectResult<'py> {
        frozen(inputs, outputs, frazil_core::FrozenFunctionGraph::new)
    }

    /// The graph in which every occurrence of one of `inputs` is an input: constants and expressions too.
    #[staticmethod]
    fn from_structural_inputs<'py>(
        inputs: &Bound<'py, PyAny>,
        outputs: &Bound<'py, PyAny>,
    ) -> ObjectResult<'py> {
        frozen(inputs, outputs, frazil_core::FrozenFunctionGraph::from_structural_inputs)
    }

    /// The graph that a text, as `str` gives it, shows.
    #[staticmethod]
    fn parse<'py>(py: Python<'py>, text: &str) -> ObjectResult<'py> {
        frozen_wrapper(py, persist::parse(py, &*current(py)?, text)?)
    }

    /// The graph that bytes, as `to_bytes` gives them, were made of.
    #[staticmethod]
    fn from_bytes<'py>(py: Python<'py>, bytes: &[u8]) -> ObjectResult<'py> {
        frozen_wrapper(py, persist::decode(py, &*current(py)?, bytes)?)
    }

    /// The graph as bytes that mean the same in every process.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let long = self.graph().applications() > FEW;
        let bytes = detached_if(long, py, || codec::encode(self.graph())).map_err(raise)?;
        Ok(PyBytes::new(py, &bytes))
    }

    #[getter]
    fn inputs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, wrappers(py, self.graph().inputs())?)
    }

    #[getter]
    fn outputs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, wrappers(py, self.graph().outputs())?)
    }

    #[getter]
    fn container<'py>(&self, py: Python<'py>) -> ObjectResult<'py> {
        container_wrapper(py, self.graph().container())
    }

    #[getter]
    fn digest(&self) -> String {
        self.graph().digest().to_string()
    }

    /// The applications in an order that runs: operands first, and a destroyer after all readers.
    fn toposort<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        apply_wrappers(py, self.graph().toposort())
    }

    /// The ops of the applications, each once, in the order of its first application.
    fn ops(&self, py: Python<'_>) -> PyResult<Vec<Py<PyAny>>> {
        alike::ops(self.graph().toposort()).into_iter().map(|op| op_wrapper(py, op)).collect()
    }

    /// The qualified names of the classes of all ops, also of those that ops and their graphs hold.
    fn kinds(&self) -> Vec<&str> {
        self.graph().kinds()
    }

    /// An editable graph over new inputs that freezes to this one.
    fn unfreeze<'py>(&self, py: Python<'py>) -> ObjectResult<'py> {
        let long = self.graph().applications() > FEW;
        graph_wrapper(py, detached_if(long, py, || self.graph().unfreeze()))
    }

    /// The outputs over values in place of the inputs.
    fn bind<'py>(&self, values: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let py = values.py();
        let outputs = match values.cast::<PyMapping>() {
            Ok(mapping) => self.graph().bind_pairs(&pairs_of(mapping.as_any(), None)?),
            Err(_) => self.graph().bind(&vars_of(values)?),
        };
        wrappers(py, &outputs.map_err(raise)?)
    }

    /// The equal graph of the default container, where the graphs that ops hold live.
    fn _in_default<'py>(slf: &Bound<'py, Self>) -> ObjectResult<'py> {
        frozen_wrapper(slf.py(), slf.get().graph().in_global().map_err(raise)?)
    }

    fn __copy__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __deepcopy__<'py>(slf: Bound<'py, Self>, _memo: &Bound<'py, PyAny>) -> Bound<'py, Self> {
        slf
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let py = slf.py();
        let load = py.import("frazil._core")?.getattr("load_graph")?;
        Ok((load, (slf.get().to_bytes(py)?,)))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<FrozenFunctionGraph>().is_ok_and(|other| self.graph() == other.get().graph())
    }

    fn __hash__(&self) -> u64 {
        self.graph().digest().short()
    }

    fn __str__(&self) -> String {
        text::print(self.graph())
    }

    fn __repr__(&self) -> String {
        format!(
            "<frazil.FrozenFunctionGraph {}: {} inputs, {} outputs>",
            &self.graph().digest().to_string()[..12],
            self.graph().inputs().len(),
            self.graph().outputs().len()
        )
    }
}

/// The frozen graph of a pickle.
#[pyfunction]
pub fn load_graph<'py>(py: Python<'py>, bytes: &[u8]) -> ObjectResult<'py> {
    match persist::decode(py, &*current(py)?, bytes) {
        Ok(graph) => frozen_wrapper(py, graph),
        Err(error) => {
            let raised = UnpicklingError::new_err(error.value(py).to_string());
            raised.set_cause(py, Some(error));
            Err(raised)
        }
    }
}
