//! `Container`: shared storage of nodes, and the current container for new variables.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use frazil_core::Var;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::error::raise;
use crate::object_table::{
    ObjectResult, container_wrapper, forget_container, frozen_wrapper, graph_wrapper, wrapper,
};
use crate::once::{Once, intern};
use crate::operand::data_of;
use crate::types::TensorType;
use crate::variable::Variable;

/// Shared storage of graphs: variables, nodes and graphs that are made from one another live in one container.
///
/// New inputs go to the container of the `with` statement around them, else to the default one; nodes
/// go to that of their operands. A `with` statement holds for the thread, or the asyncio task, that enters it, not for
/// threads that are started within it. Only constants and frozen graphs cross over.
///
/// Examples
/// --------
/// >>> import frazil as fz, frazil.tensor as ft
/// >>> container = fz.Container()
/// >>> with container:
/// ...     x = ft.vector("x")
/// >>> y = ft.exp(x)
/// >>> y in container, ft.vector("other") in container
/// (True, False)
#[pyclass(frozen, weakref, module = "frazil._core")]
pub struct Container {
    container: frazil_core::Container,
}

impl Container {
    /// The wrapper's content; `container_wrapper` makes wrappers.
    pub fn from_core(container: frazil_core::Container) -> Container {
        Container { container }
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        Python::attach(|py| forget_container(py, &self.container));
    }
}

/// Whether any container was ever entered: until then the default one is current, and nobody need ask Python.
static ENTERED: AtomicBool = AtomicBool::new(false);

/// The context variable that holds a thread's number and the containers that it entered, the current one last.
///
/// Threads may inherit the context of those that start them, or run in a copy of it; nobody enters a container for
/// them.
fn entered(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static VARIABLE: Once<Py<PyAny>> = Once::new();
    let made = VARIABLE.get_or_try_init(|| {
        let context_var = py.import("contextvars")?.getattr("ContextVar")?;
        Ok(context_var.call1(("frazil containers",))?.unbind())
    })?;
    Ok(made.bind(py))
}

/// A number that no other thread of the process has or had.
fn thread_number() -> u64 {
    static NUMBERS: AtomicU64 = AtomicU64::new(0);
    thread_local! {
        static NUMBER: u64 = NUMBERS.fetch_add(1, Ordering::Relaxed);
    }
    NUMBER.with(|&number| number)
}

/// The container that this thread entered in this context.
fn stack(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyAny>>> {
    let held = entered(py)?.call_method1(intern!(py, "get"), (py.None(),))?;
    if held.is_none() {
        return Ok(Vec::new());
    }
    let (thread, containers): (u64, Vec<Bound<'_, PyAny>>) = held.extract()?;
    Ok(if thread == thread_number() { containers } else { Vec::new() })
}

fn set_stack(py: Python<'_>, containers: Vec<Bound<'_, PyAny>>) -> PyResult<()> {
    let held = (thread_number(), PyTuple::new(py, containers)?);
    entered(py)?.call_method1(intern!(py, "set"), (held,)).map(drop)
}

/// The container that new inputs and constants go to.
pub fn current(py: Python<'_>) -> PyResult<Cow<'static, frazil_core::Container>> {
    if ENTERED.load(Ordering::Relaxed)
        && let Some(last) = stack(py)?.last()
    {
        return Ok(Cow::Owned(last.cast::<Container>()?.get().container.clone()));
    }
    Ok(Cow::Borrowed(frazil_core::Container::global()))
}

/// The amount that a container holds.
#[pyclass(frozen, eq, hash, get_all, module = "frazil._core")]
#[derive(PartialEq, Eq, Hash)]
pub struct ContainerStats {
    /// Live nodes: applications, inputs and constants.
    nodes: usize,
    /// Bytes of those nodes and of the tables that index them.
    bytes: usize,
}

#[pymethods]
impl ContainerStats {
    fn __repr__(&self) -> String {
        format!("ContainerStats(nodes={}, bytes={})", self.nodes, self.bytes)
    }
}

#[pymethods]
impl Container {
    #[new]
    fn make(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        container_wrapper(py, frazil_core::Container::new())
    }

    /// The container that variables go to where no other is entered.
    #[staticmethod]
    fn default(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        container_wrapper(py, frazil_core::Container::global().clone())
    }

    /// The container that new inputs and constants go to now.
    #[staticmethod]
    #[pyo3(name = "current")]
    fn current_wrapper(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        container_wrapper(py, current(py)?.into_owned())
    }

    /// Makes this the current container.
    fn __enter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, Self>> {
        let py = slf.py();
        let mut stack = stack(py)?;
        stack.push(slf.clone().into_any());
        set_stack(py, stack)?;
        ENTERED.store(true, Ordering::Relaxed);
        Ok(slf.clone())
    }

    /// Makes the former container current again.
    fn __exit__(
        slf: &Bound<'_, Self>,
        _kind: &Bound<'_, PyAny>,
        _error: &Bound<'_, PyAny>,
        _traceback: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let py = slf.py();
        let mut stack = stack(py)?;
        stack.pop();
        set_stack(py, stack)
    }

    /// A new root input, here.
    #[pyo3(signature = (r#type, name=None))]
    fn input<'py>(
        &self,
        py: Python<'py>,
        r#type: &TensorType,
        name: Option<&str>,
    ) -> ObjectResult<'py> {
        wrapper(py, self.container.input(&r#type.0, name, None))
    }

    /// The constant with the content of `value`, here.
    #[pyo3(signature = (value, dtype=None))]
    fn constant<'py>(
        &self,
        value: &Bound<'py, PyAny>,
        dtype: Option<&Bound<'py, PyAny>>,
    ) -> ObjectResult<'py> {
        wrapper(value.py(), self.container.constant(data_of(value, dtype)?))
    }

    /// The live graphs, frozen ones last, each kind in the order in which they were made.
    fn graphs<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let graphs = self.container.graphs().into_iter().map(|graph| graph_wrapper(py, graph));
        let frozen =
            self.container.frozen_graphs().into_iter().map(|graph| frozen_wrapper(py, graph));
        graphs.chain(frozen).collect()
    }

    /// The live graphs that own `variable`, frozen ones last, each kind in the order in which they were made.
    fn owners<'py>(&self, variable: &Bound<'py, Variable>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let (py, var) = (variable.py(), variable.get().var());
        let graphs = self.container.owners(var).into_iter().map(|graph| graph_wrapper(py, graph));
        let frozen =
            self.container.frozen_owners(var).into_iter().map(|graph| frozen_wrapper(py, graph));
        graphs.chain(frozen).collect()
    }

    /// Live nodes and bytes.
    fn stats(&self) -> ContainerStats {
        let frazil_core::Stats { nodes, bytes } = self.container.stats();
        ContainerStats { nodes, bytes }
    }

    /// Whether `variable` lives here.
    fn __contains__(&self, variable: &Bound<'_, PyAny>) -> bool {
        let holds = |var: &Var| self.container.holds(var);
        variable.cast::<Variable>().is_ok_and(|variable| holds(variable.get().var()))
    }

    fn __repr__(&self) -> String {
        let frazil_core::Stats { nodes, bytes } = self.container.stats();
        format!("<frazil.Container: {nodes} nodes, {bytes} bytes>")
    }
}

/// `var`, in `container`, as the core moves constants.
pub fn adopted(container: &frazil_core::Container, var: &Var) -> PyResult<Var> {
    container.adopt(var).map_err(raise)
}
