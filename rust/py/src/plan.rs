//! Order and destruction: proofs that a graph cannot run, and the in-place planner.

use frazil_core::order::destroy::Witness;
use frazil_core::order::plan::{self as core, Candidate, Reason, Release, Request};
use frazil_core::{Error, Var};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::apply::FrozenApply;
use crate::error::{InconsistencyError, raise};
use crate::object_table::{apply_wrapper, wrapper};
use crate::walks::{orderings_dict, vars_of};

type Objects<'py> = Vec<Bound<'py, PyAny>>;

fn wrappers<'py>(py: Python<'py>, vars: &[Var]) -> PyResult<Objects<'py>> {
    vars.iter().map(|var| wrapper(py, var.clone())).collect()
}

/// The views from the variable that would be destroyed to the root, and from the one that must not be.
fn path<'py>(py: Python<'py>, witness: &Witness) -> PyResult<(Objects<'py>, Objects<'py>)> {
    let path = witness.path();
    Ok((wrappers(py, &path.first)?, wrappers(py, &path.second)?))
}

fn reader<'py>(py: Python<'py>, witness: &Witness) -> PyResult<Option<Bound<'py, PyAny>>> {
    witness.reader().map(|node| apply_wrapper(py, node.clone())).transpose()
}

/// The exception for a graph that no order can run, with its witness as attributes.
pub fn inconsistent(error: &Error, witness: &Witness) -> PyErr {
    Python::attach(|py| {
        let exception = InconsistencyError::new_err(error.to_string());
        let describe = || {
            let value = exception.value(py);
            value.setattr("destroyer", apply_wrapper(py, witness.destroyer.clone())?)?;
            value.setattr("reader", reader(py, witness)?)?;
            value.setattr("path", path(py, witness)?)
        };
        match describe() {
            Ok(()) => exception,
            Err(failure) => failure,
        }
    })
}

/// A candidate that does not fit, and why.
#[pyclass(frozen, module = "frazil._core")]
pub struct Refusal(core::Refusal);

impl Refusal {
    fn witness(&self) -> Option<&Witness> {
        match &self.0.reason {
            Reason::Conflict(witness) => Some(witness),
            _ => None,
        }
    }
}

#[pymethods]
impl Refusal {
    #[getter]
    fn candidate<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, usize, usize)> {
        tuple(py, &self.0.candidate)
    }

    /// The other node that destroys or reads the same memory, if there is one.
    #[getter]
    fn reader<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        Ok(self.witness().map(|witness| reader(py, witness)).transpose()?.flatten())
    }

    /// The views from the input to a root, and from the other variable with that root; None if no memory is at stake.
    #[getter]
    fn path<'py>(&self, py: Python<'py>) -> PyResult<Option<(Objects<'py>, Objects<'py>)>> {
        self.witness().map(|witness| path(py, witness)).transpose()
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        format!("<Refusal: {}>", self.0)
    }
}

fn tuple<'py>(
    py: Python<'py>,
    candidate: &Candidate,
) -> PyResult<(Bound<'py, PyAny>, usize, usize)> {
    Ok((apply_wrapper(py, candidate.node.clone())?, candidate.output, candidate.input))
}

/// A schedule that runs a graph in place.
#[pyclass(frozen, module = "frazil._core")]
pub struct Schedule(core::Schedule);

impl Schedule {
    fn firsts<'py>(
        &self,
        py: Python<'py>,
        wanted: impl Fn(Release) -> bool,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let buffers = self.0.buffers().iter().filter(|buffer| wanted(buffer.release));
        let wrappers: PyResult<Objects<'py>> =
            buffers.map(|buffer| wrapper(py, buffer.first.clone())).collect();
        PyTuple::new(py, wrappers?)
    }
}

#[pymethods]
impl Schedule {
    /// The nodes, in an order that can be run as it is.
    #[getter]
    fn order<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let nodes: PyResult<Objects<'py>> =
            self.0.order().iter().map(|node| apply_wrapper(py, node.clone())).collect();
        PyTuple::new(py, nodes?)
    }

    /// The accepted candidates.
    #[getter]
    fn reuses<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let reuses: PyResult<Vec<_>> = self.0.reuses().iter().map(|it| tuple(py, it)).collect();
        PyTuple::new(py, reuses?)
    }

    /// The refused candidates.
    #[getter]
    fn refusals<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.0.refusals().iter().map(|refusal| Refusal(refusal.clone())))
    }

    /// For each node that writes over an input, the readers that must run before it.
    #[getter]
    fn orderings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        orderings_dict(py, self.0.orderings())
    }

    /// The variables whose memory is written over, those that view it included.
    #[getter]
    fn destroyed<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, wrappers(py, self.0.destroyed())?)
    }

    /// For each node of the order, the first variables of the buffers to give back after it.
    #[getter]
    fn releases<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let releases: PyResult<Vec<Bound<'py, PyTuple>>> = self
            .0
            .releases()
            .into_iter()
            .map(|buffers| {
                let firsts: PyResult<Objects<'py>> =
                    buffers.into_iter().map(|buffer| wrapper(py, buffer.first.clone())).collect();
                PyTuple::new(py, firsts?)
            })
            .collect();
        PyTuple::new(py, releases?)
    }

    /// The first variables of the buffers that belong to the caller or go there.
    #[getter]
    fn kept<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.firsts(py, |release| release == Release::Kept)
    }

    /// The donated inputs that nothing reads.
    #[getter]
    fn unread<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.firsts(py, |release| release == Release::Unread)
    }
}

/// Return the schedule for `graph` that accepts each candidate which fits with those before it.
///
/// Parameters
/// ----------
/// graph : FunctionGraph or FrozenFunctionGraph
///     The graph to run in place.
/// candidates : sequence of (FrozenApply, int, int)
///     A node, an output of it, and the input that this might be written over.
/// donated : iterable of Variable, optional
///     The inputs that may be written over; default: none.
/// protected : iterable of Variable, optional
///     Variables that keep their values to the end; default: the outputs alone.
///
/// Returns
/// -------
/// Schedule
///     The order of the nodes, what is written over what, when buffers can be given back, and why
///     candidates were refused.
///
/// Examples
/// --------
/// >>> import frazil as fz, frazil.tensor as ft
/// >>> from frazil import inplace
/// >>> x = ft.vector("x")
/// >>> y = ft.exp(x)
/// >>> z = ft.tanh(y)
/// >>> graph = fz.FunctionGraph([x], [z])
/// >>> schedule = inplace.plan(graph, [(y.owner, 0, 0), (z.owner, 0, 0)])
/// >>> [str(node) for node, _, _ in schedule.reuses]
/// ['tanh(exp.out)']
/// >>> print(schedule.refusals[0])
/// exp cannot write over its input 0, x: x belongs to the caller; donate that input, or leave exp a copy
#[pyfunction]
#[pyo3(signature = (graph, candidates, *, donated=None, protected=None))]
pub fn plan(
    graph: &Bound<'_, PyAny>,
    candidates: Vec<(PyRef<'_, FrozenApply>, usize, usize)>,
    donated: Option<&Bound<'_, PyAny>>,
    protected: Option<&Bound<'_, PyAny>>,
) -> PyResult<Schedule> {
    let inputs = vars_of(&graph.getattr("inputs")?)?;
    let outputs = vars_of(&graph.getattr("outputs")?)?;
    let donated = donated.map(vars_of).transpose()?.unwrap_or_default();
    let protected = protected.map(vars_of).transpose()?.unwrap_or_default();
    let candidates: Vec<Candidate> = candidates
        .into_iter()
        .map(|(node, output, input)| Candidate { node: node.node().clone(), output, input })
        .collect();
    let request =
        Request { outputs: &outputs, inputs: &inputs, donated: &donated, protected: &protected };
    graph.py().detach(|| core::plan(request, &candidates)).map(Schedule).map_err(raise)
}
