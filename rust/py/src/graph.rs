//! Graphs: editable ones, frozen ones, walks and substitution.

use frazil_core::graph::Checkpoint;
use frazil_core::{Client, Node, Orderings, Var, codec, replace, text, traverse};
use parking_lot::Mutex;
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyMapping, PyTuple};

use crate::container::{adopted, current};
use crate::error::{UnpicklingError, raise};
use crate::face::{
    apply_face, container_face, face, forget_frozen, forget_graph, frozen_face, graph_face,
};
use crate::persist;
use crate::variable::Variable;

pub fn vars_of(variables: &Bound<'_, PyAny>) -> PyResult<Vec<Var>> {
    variables.try_iter()?.map(|variable| var_of(&variable?)).collect()
}

pub fn var_of(variable: &Bound<'_, PyAny>) -> PyResult<Var> {
    match variable.cast::<Variable>() {
        Ok(variable) => Ok(variable.get().var().clone()),
        Err(_) => {
            Err(PyTypeError::new_err(format!("expected a Variable, given {}", variable.get_type())))
        }
    }
}

/// Variables of one container, which a walk may go through together; constants move.
fn together(py: Python<'_>, vars: Vec<Var>) -> PyResult<Vec<Var>> {
    let container = current(py)?;
    let container = container.company(vars.iter());
    vars.iter().map(|var| adopted(&container, var)).collect()
}

/// Pairs from a mapping, from an iterable of pairs, or of `replacements` and `new`.
fn pairs_of(
    replacements: &Bound<'_, PyAny>,
    new: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<(Var, Var)>> {
    if let Some(new) = new {
        return Ok(vec![(var_of(replacements)?, var_of(new)?)]);
    }
    if replacements.cast::<Variable>().is_ok() {
        return Err(PyTypeError::new_err(
            "replace takes a variable and its replacement, or a mapping; only a variable is given",
        ));
    }
    let items = match replacements.cast::<PyMapping>() {
        Ok(mapping) => mapping.items()?.into_any(),
        Err(_) => replacements.clone(),
    };
    items
        .try_iter()?
        .map(|item| {
            let (old, new): (Bound<'_, PyAny>, Bound<'_, PyAny>) = item?.extract()?;
            Ok((var_of(&old)?, var_of(&new)?))
        })
        .collect()
}

fn faces<'py>(py: Python<'py>, vars: &[Var]) -> PyResult<Vec<Bound<'py, PyAny>>> {
    vars.iter().map(|var| face(py, var.clone())).collect()
}

fn apply_faces<'py>(py: Python<'py>, nodes: &[Node]) -> PyResult<Vec<Bound<'py, PyAny>>> {
    nodes.iter().map(|node| apply_face(py, node.clone())).collect()
}

pub fn orderings_dict<'py>(py: Python<'py>, orderings: &Orderings) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (destroyer, readers) in orderings.iter() {
        dict.set_item(apply_face(py, destroyer.clone())?, apply_faces(py, readers)?)?;
    }
    Ok(dict)
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
    let count = outputs.len();
    let mut all = outputs;
    all.extend(blockers.map(vars_of).transpose()?.unwrap_or_default());
    let all = together(py, all)?;
    traverse::toposort(&all[..count], &all[count..])
        .into_iter()
        .map(|node| apply_face(py, node.clone()))
        .collect()
}

/// The root inputs that `outputs` need, in the order in which a walk from the outputs meets them.
#[pyfunction]
pub fn root_inputs<'py>(outputs: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let py = outputs.py();
    faces(py, &traverse::root_inputs(&together(py, vars_of(outputs)?)?))
}

/// Return `outputs` with every key of `replacements` replaced by its value, all at once.
///
/// Parameters
/// ----------
/// outputs : iterable of Variable
///     Expressions, which stay as they are.
/// replacements : mapping of Variable to Variable, or iterable of pairs
///     What takes the place of what; a replacement must have the type of what it replaces, or one that
///     says more. Nothing is replaced within a replacement.
///
/// Returns
/// -------
/// list of Variable
///     One for each of `outputs`.
///
/// Examples
/// --------
/// >>> import frazil as fz, frazil.tensor as ft
/// >>> x, y = ft.vector("x"), ft.vector("y")
/// >>> swapped, = fz.graph_replace([x - 2.0 * y], {x: y, y: x})
/// >>> print(fz.pp(swapped))
/// y - 2.0 * x
#[pyfunction]
pub fn graph_replace<'py>(
    outputs: &Bound<'py, PyAny>,
    replacements: &Bound<'py, PyAny>,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let py = outputs.py();
    let pairs = pairs_of(replacements, None)?;
    let outputs = together(py, vars_of(outputs)?)?;
    let container = current(py)?;
    let container = container.company(outputs.iter());
    faces(py, &replace::replace(&container, &outputs, &pairs).map_err(raise)?)
}

/// A graph over nominal inputs: one object for all isomorphic graphs of a container.
///
/// Parameters
/// ----------
/// inputs : iterable of Variable
///     Root inputs, which become nominals; what they are called is no part of the graph.
/// outputs : iterable of Variable
///     What the graph computes of them, and of constants.
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
pub struct FrozenFunctionGraph {
    graph: Option<frazil_core::FrozenFunctionGraph>,
}

impl FrozenFunctionGraph {
    /// The face's content; `frozen_face` is what makes faces.
    pub fn from_core(graph: frazil_core::FrozenFunctionGraph) -> FrozenFunctionGraph {
        FrozenFunctionGraph { graph: Some(graph) }
    }

    /// The graph.
    pub fn graph(&self) -> &frazil_core::FrozenFunctionGraph {
        self.graph.as_ref().expect("only dropping takes the graph")
    }
}

impl Drop for FrozenFunctionGraph {
    fn drop(&mut self) {
        let graph = self.graph.take();
        Python::attach(|py| {
            if let Some(graph) = &graph {
                forget_frozen(py, graph);
            }
            py.detach(|| drop(graph));
        });
    }
}

#[pymethods]
impl FrozenFunctionGraph {
    #[new]
    fn make<'py>(
        inputs: &Bound<'py, PyAny>,
        outputs: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = inputs.py();
        let (inputs, outputs, container) = (vars_of(inputs)?, vars_of(outputs)?, current(py)?);
        let graph =
            py.detach(|| frazil_core::FrozenFunctionGraph::new(&container, &inputs, &outputs));
        frozen_face(py, graph.map_err(raise)?)
    }

    /// The graph in which every occurrence of one of `inputs` is an input: constants and expressions too.
    #[staticmethod]
    fn from_structural_inputs<'py>(
        inputs: &Bound<'py, PyAny>,
        outputs: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = inputs.py();
        let (inputs, outputs, container) = (vars_of(inputs)?, vars_of(outputs)?, current(py)?);
        let graph = py.detach(|| {
            frazil_core::FrozenFunctionGraph::from_structural_inputs(&container, &inputs, &outputs)
        });
        frozen_face(py, graph.map_err(raise)?)
    }

    /// The graph that a text, as `str` gives it, shows.
    #[staticmethod]
    fn parse<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
        frozen_face(py, persist::parse(py, &*current(py)?, text)?)
    }

    /// The graph that bytes, as `to_bytes` gives them, were made of.
    #[staticmethod]
    fn from_bytes<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyAny>> {
        frozen_face(py, persist::decode(py, &*current(py)?, bytes)?)
    }

    /// The graph as bytes that mean the same in every process.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| codec::encode(self.graph())).map_err(raise)?;
        Ok(PyBytes::new(py, &bytes))
    }

    #[getter]
    fn inputs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, faces(py, self.graph().inputs())?)
    }

    #[getter]
    fn outputs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, faces(py, self.graph().outputs())?)
    }

    #[getter]
    fn container<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        container_face(py, self.graph().container().clone())
    }

    #[getter]
    fn digest(&self) -> String {
        self.graph().digest().to_string()
    }

    /// The applications in an order that runs: operands first, and a destroyer after all readers.
    fn toposort<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        apply_faces(py, self.graph().toposort())
    }

    /// An editable graph over new inputs that freezes to this one.
    fn unfreeze<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        graph_face(py, py.detach(|| self.graph().unfreeze()))
    }

    /// The outputs over values in place of the inputs.
    fn bind<'py>(&self, values: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let py = values.py();
        let outputs = match values.cast::<PyMapping>() {
            Ok(mapping) => self.graph().bind_pairs(&pairs_of(mapping.as_any(), None)?),
            Err(_) => self.graph().bind(&vars_of(values)?),
        };
        faces(py, &outputs.map_err(raise)?)
    }

    /// The equal graph of the default container, where the graphs that ops hold live.
    fn _in_default<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        frozen_face(slf.py(), slf.get().graph().in_global().map_err(raise)?)
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
pub fn load_graph<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    match persist::decode(py, &*current(py)?, bytes) {
        Ok(graph) => frozen_face(py, graph),
        Err(error) => {
            let raised = UnpicklingError::new_err(error.value(py).to_string());
            raised.set_cause(py, Some(error));
            Err(raised)
        }
    }
}

/// A node, or "output", and a position.
type Reader<'py> = (Bound<'py, PyAny>, usize);

/// An editable graph over immutable nodes.
///
/// Parameters
/// ----------
/// inputs : iterable of Variable, optional
///     The root inputs; default: those that the outputs need.
/// outputs : iterable of Variable
///     What the graph computes.
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
pub struct FunctionGraph {
    graph: Option<frazil_core::FunctionGraph>,
}

impl FunctionGraph {
    /// The face's content; `graph_face` is what makes faces.
    pub fn from_core(graph: frazil_core::FunctionGraph) -> FunctionGraph {
        FunctionGraph { graph: Some(graph) }
    }

    fn graph(&self) -> &frazil_core::FunctionGraph {
        self.graph.as_ref().expect("only dropping takes the graph")
    }
}

impl Drop for FunctionGraph {
    fn drop(&mut self) {
        let graph = self.graph.take();
        Python::attach(|py| {
            if let Some(graph) = &graph {
                forget_graph(py, graph);
            }
            // A large graph takes its time to free: other threads run meanwhile.
            py.detach(|| drop(graph));
        });
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
    ) -> PyResult<Bound<'py, PyAny>> {
        let container = current(py)?;
        let outputs = outputs.map(vars_of).transpose()?.unwrap_or_default();
        let graph = match inputs.map(vars_of).transpose()? {
            Some(inputs) => frazil_core::FunctionGraph::new(&container, &inputs, &outputs),
            None => frazil_core::FunctionGraph::of_outputs(&container, &together(py, outputs)?),
        };
        graph_face(py, graph.map_err(raise)?)
    }

    #[getter]
    fn inputs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, faces(py, &self.graph().inputs())?)
    }

    #[getter]
    fn outputs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, faces(py, &self.graph().outputs())?)
    }

    #[getter]
    fn container<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        container_face(py, self.graph().container().clone())
    }

    /// Every variable of the graph: the inputs, then what the outputs need, operands first.
    fn variables<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        faces(py, &self.graph().variables())
    }

    /// Every application of the graph, operands first.
    fn nodes<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        apply_faces(py, &self.graph().nodes())
    }

    /// Whether `variable` is one of the graph's.
    fn __contains__(&self, variable: &Bound<'_, PyAny>) -> bool {
        variable.cast::<Variable>().is_ok_and(|variable| self.graph().owns(variable.get().var()))
    }

    /// The applications in an order that runs: operands first, and a destroyer after all readers.
    fn toposort<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        apply_faces(py, &self.graph().toposort().map_err(raise)?)
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
                Client::Node(node, position) => Ok((apply_face(py, node)?, position)),
                Client::Output(position) => {
                    Ok((pyo3::intern!(py, "output").clone().into_any(), position))
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
        let replaced = py.detach(|| match import_missing {
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
    fn clone<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        graph_face(py, self.graph().clone())
    }

    /// Releases all that the graph holds; it stays valid, and empty.
    fn clear(&self, py: Python<'_>) {
        py.detach(|| self.graph().clear());
    }

    /// Another graph with this one's content, which becomes empty.
    fn take<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        graph_face(py, self.graph().take())
    }

    /// The frozen graph that is isomorphic to this one.
    #[pyo3(signature = (dedup_nodes=false))]
    fn freeze<'py>(&self, py: Python<'py>, dedup_nodes: bool) -> PyResult<Bound<'py, PyAny>> {
        let graph = self.graph();
        let frozen = py.detach(|| match dedup_nodes {
            true => graph.freeze_deduplicated(),
            false => graph.freeze(),
        });
        frozen_face(py, frozen.map_err(raise)?)
    }

    /// A context that puts the graph back as it is now if an exception leaves it.
    fn transaction(slf: Bound<'_, Self>) -> Transaction {
        Transaction { graph: slf.unbind(), entered: Mutex::new(Vec::new()) }
    }

    fn __copy__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.clone(py)
    }

    fn __deepcopy__<'py>(
        &self,
        py: Python<'py>,
        _memo: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
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

/// What `FunctionGraph.transaction` gives: enter it to edit.
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
