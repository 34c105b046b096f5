//! Editable graphs.

use frazil_core::Client;
use frazil_core::graph::function_graph::Checkpoint;
use frazil_core::intern::sync::Mutex;
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::container::current;
use crate::error::raise;
use crate::object_table::{
    ObjectResult, apply_wrapper, container_wrapper, forget_graph, frozen_wrapper, graph_wrapper,
};
use crate::owned::{FEW, detached_if};
use crate::variable::Variable;
use crate::walks::{apply_wrappers, orderings_dict, pairs_of, together, vars_of, wrappers};
use crate::wrapped::{Wrap, Wrapped};

/// A node, or "output", and a position.
type Reader<'py> = (Bound<'py, PyAny>, usize);

/// An editable graph over immutable nodes.
///
/// Parameters
/// ----------
/// inputs : iterable of Variable, optional
///     The root inputs; default: those that the outputs need.
/// outputs : iterable of Variable
///     The outputs.
///
/// Raises
/// ------
/// MissingInputError
///     If the outputs need another input.
///
/// Examples
/// --------
/// >>> import frazil as fz, frazil.tensor as ft
/// >>> x = ft.vector("x")
/// >>> graph = fz.FunctionGraph([x], [ft.exp(x) * 2.0])
/// >>> before = graph.clone()
/// >>> graph.replace(ft.exp(x), ft.tanh(x))
/// >>> print(fz.pp(graph), "instead of", fz.pp(before))
/// tanh(x) * 2.0 instead of exp(x) * 2.0
#[pyclass(frozen, weakref, module = "frazil._core")]
pub struct FunctionGraph(Wrapped<frazil_core::FunctionGraph>);

impl FunctionGraph {
    /// The wrapper's content; `graph_wrapper` makes wrappers.
    pub fn from_core(graph: frazil_core::FunctionGraph) -> FunctionGraph {
        FunctionGraph(Wrapped::new(graph))
    }

    fn graph(&self) -> &frazil_core::FunctionGraph {
        &self.0
    }
}

impl Wrap for frazil_core::FunctionGraph {
    fn release(self, py: Python<'_>) {
        forget_graph(py, &self);
        detached_if(!self.needs_at_most(FEW), py, || drop(self));
    }
}

#[pymethods]
impl FunctionGraph {
    /// The graph of `outputs` as functions of `inputs`; without inputs, of the root inputs that they need.
    #[new]
    #[pyo3(signature = (inputs=None, outputs=None))]
    fn make<'py>(
        py: Python<'py>,
        inputs: Option<&Bound<'py, PyAny>>,
        outputs: Option<&Bound<'py, PyAny>>,
    ) -> ObjectResult<'py> {
        let container = current(py)?;
        let outputs = outputs.map(vars_of).transpose()?.unwrap_or_default();
        let graph = match inputs.map(vars_of).transpose()? {
            Some(inputs) => frazil_core::FunctionGraph::new(&container, &inputs, &outputs),
            None => frazil_core::FunctionGraph::of_outputs(&container, &together(py, outputs)?),
        };
        graph_wrapper(py, graph.map_err(raise)?)
    }

    #[getter]
    fn inputs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, wrappers(py, &self.graph().inputs())?)
    }

    #[getter]
    fn outputs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, wrappers(py, &self.graph().outputs())?)
    }

    #[getter]
    fn container<'py>(&self, py: Python<'py>) -> ObjectResult<'py> {
        container_wrapper(py, self.graph().container().clone())
    }

    /// Every variable of the graph: the inputs, then all that the outputs need, operands first.
    fn variables<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        wrappers(py, &self.graph().variables())
    }

    /// Every application of the graph, operands first.
    fn nodes<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        apply_wrappers(py, &self.graph().nodes())
    }

    /// Whether `variable` is one of the graph's.
    fn __contains__(&self, variable: &Bound<'_, PyAny>) -> bool {
        variable.cast::<Variable>().is_ok_and(|variable| self.graph().owns(variable.get().var()))
    }

    /// The applications in an order that runs: operands first, and a destroyer after all readers.
    fn toposort<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        apply_wrappers(py, &self.graph().toposort().map_err(raise)?)
    }

    /// For each node that destroys an input, the readers that must run before it.
    #[pyo3(signature = (protected=None))]
    fn orderings<'py>(
        &self,
        py: Python<'py>,
        protected: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let protected = protected.map(vars_of).transpose()?.unwrap_or_default();
        orderings_dict(py, &self.graph().orderings(&protected).map_err(raise)?)
    }

    /// Who reads `variable`: pairs of a node, or "output", and a position.
    fn clients<'py>(&self, variable: &Bound<'py, Variable>) -> PyResult<Vec<Reader<'py>>> {
        let py = variable.py();
        let clients = self.graph().clients(variable.get().var()).map_err(raise)?;
        clients
            .into_iter()
            .map(|client| match client {
                Client::Node(node, position) => Ok((apply_wrapper(py, node)?, position)),
                Client::Output(position) => {
                    Ok((crate::once::intern!(py, "output").clone().into_any(), position))
                }
            })
            .collect()
    }

    /// The name of `variable` in this graph.
    fn name_of(&self, variable: &Variable) -> PyResult<String> {
        Ok(self.graph().name_of(variable.var()).map_err(raise)?.to_string())
    }

    /// Calls `variable` by `name` in this graph.
    fn set_name(&self, variable: &Variable, name: &str) -> PyResult<()> {
        self.graph().set_name(variable.var(), name).map_err(raise)
    }

    /// Raises where the graph is not one that can run without writing to `protected` variables.
    #[pyo3(signature = (protected=None))]
    fn verify(&self, protected: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let protected = protected.map(vars_of).transpose()?.unwrap_or_default();
        self.graph().verify(&protected).map_err(raise)
    }

    /// Puts values in place of variables, all at once.
    #[pyo3(signature = (var, new_var=None, *, import_missing=false))]
    fn replace<'py>(
        &self,
        py: Python<'py>,
        var: &Bound<'py, PyAny>,
        new_var: Option<&Bound<'py, PyAny>>,
        import_missing: bool,
    ) -> PyResult<()> {
        let pairs = pairs_of(var, new_var)?;
        let graph = self.graph();
        let replaced = detached_if(!graph.needs_at_most(FEW), py, || match import_missing {
            true => graph.replace_importing(&pairs),
            false => graph.replace(&pairs),
        });
        replaced.map_err(raise)
    }

    /// Puts other outputs in place of the graph's, over the same inputs.
    fn set_outputs(&self, outputs: &Bound<'_, PyAny>) -> PyResult<()> {
        self.graph().set_outputs(&vars_of(outputs)?).map_err(raise)
    }

    /// Another graph with the same content and names.
    fn clone<'py>(&self, py: Python<'py>) -> ObjectResult<'py> {
        graph_wrapper(py, self.graph().clone())
    }

    /// Releases all that the graph holds; it stays valid, and empty.
    fn clear(&self, py: Python<'_>) {
        let graph = self.graph();
        detached_if(!graph.needs_at_most(FEW), py, || graph.clear());
    }

    /// Another graph with this one's content, which becomes empty.
    fn take<'py>(&self, py: Python<'py>) -> ObjectResult<'py> {
        graph_wrapper(py, self.graph().take())
    }

    /// The frozen graph that is isomorphic to this one.
    #[pyo3(signature = (dedup_nodes=false))]
    fn freeze<'py>(&self, py: Python<'py>, dedup_nodes: bool) -> ObjectResult<'py> {
        let graph = self.graph();
        let frozen = detached_if(!graph.needs_at_most(FEW), py, || match dedup_nodes {
            true => graph.freeze_deduplicated(),
            false => graph.freeze(),
        });
        frozen_wrapper(py, frozen.map_err(raise)?)
    }

    /// A context that puts the graph back as it is now if an exception leaves it.
    fn transaction(slf: Bound<'_, Self>) -> Transaction {
        Transaction { graph: slf.unbind(), entered: Mutex::new(Vec::new()) }
    }

    fn __copy__<'py>(&self, py: Python<'py>) -> ObjectResult<'py> {
        self.clone(py)
    }

    fn __deepcopy__<'py>(&self, py: Python<'py>, _memo: &Bound<'py, PyAny>) -> ObjectResult<'py> {
        self.clone(py)
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(PyTypeError::new_err(
            "a FunctionGraph cannot be pickled, since its inputs are unique to this process; pickle \
             graph.freeze(), and unfreeze() what is loaded",
        ))
    }

    fn __repr__(&self) -> String {
        let (inputs, outputs) = (self.graph().inputs(), self.graph().outputs());
        format!("<frazil.FunctionGraph {inputs:?} -> {outputs:?}>")
    }
}

/// The result of `FunctionGraph.transaction`: enter it to edit.
#[pyclass(frozen, module = "frazil._core")]
pub struct Transaction {
    graph: Py<FunctionGraph>,
    entered: Mutex<Vec<Checkpoint>>,
}

#[pymethods]
impl Transaction {
    fn __enter__<'py>(&self, py: Python<'py>) -> Bound<'py, FunctionGraph> {
        let graph = self.graph.bind(py);
        let checkpoint = graph.get().graph().checkpoint();
        self.entered.lock().push(checkpoint);
        graph.clone()
    }

    fn __exit__<'py>(
        &self,
        py: Python<'py>,
        kind: &Bound<'py, PyAny>,
        _error: &Bound<'py, PyAny>,
        _traceback: &Bound<'py, PyAny>,
    ) -> PyResult<()> {
        let checkpoint = self.entered.lock().pop();
        let checkpoint =
            checkpoint.ok_or_else(|| PyRuntimeError::new_err("the transaction was not entered"))?;
        let graph = self.graph.get().graph();
        let raised = !kind.is_none();
        py.detach(|| match raised {
            true => graph.restore(checkpoint),
            false => drop(checkpoint),
        });
        Ok(())
    }
}
