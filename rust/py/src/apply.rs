//! `FrozenApply`: an op applied to variables.

use frazil_core::{Body, Inputs, Lengths, Node, Signature, Ty, Var, typing};
use pyo3::PyClass;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::pyclass::boolean_struct::True;
use pyo3::types::{PyTuple, PyType};

use crate::container::current;
use crate::error::raise;
use crate::object_table::{ObjectResult, apply_wrapper, forget_apply, wrapper};
use crate::op::{OpBase, op_wrapper};
use crate::source_line::{describe, here};
use crate::types::TensorType;
use crate::variable::{Variable, drop_node};
use crate::wrapped::{Wrap, Wrapped};

/// An op applied to inputs: interned, so equal applications are one object.
///
/// Parameters
/// ----------
/// op : Op
///     The op.
/// inputs : iterable of Variable
///     The operands.
/// output_types : sequence of TensorType
///     The types of the outputs.
///
/// Examples
/// --------
/// >>> import frazil.tensor as ft
/// >>> x = ft.vector("x")
/// >>> node = ft.exp(x).owner
/// >>> print(node, node.inputs[0] is x)
/// exp(x) True
/// >>> ft.exp(x).owner is node
/// True
#[pyclass(frozen, weakref, module = "frazil._core")]
pub struct FrozenApply(Wrapped<Node>);

impl FrozenApply {
    /// The wrapper's content; `apply_wrapper` makes wrappers.
    pub fn from_node(node: Node) -> FrozenApply {
        FrozenApply(Wrapped::new(node))
    }

    /// The node.
    pub fn node(&self) -> &Node {
        &self.0
    }
}

impl Wrap for Node {
    fn release(self, py: Python<'_>) {
        forget_apply(py, &self);
        drop_node(py, self);
    }
}

fn inputs_of(inputs: &Bound<'_, PyAny>) -> PyResult<Inputs> {
    if inputs.is_instance_of::<Variable>() {
        return Err(PyTypeError::new_err(
            "inputs must be a list of Variables, given one Variable; write [x] for a single input",
        ));
    }
    items_of(inputs, Variable::var, |position, input| {
        let class = input.get_type();
        Ok(format!(
            "input {position} must be a Variable, given {class}; convert it with ft.as_tensor"
        ))
    })
}

/// The contents of the items of an iterable; `refused` says why an item of another class will not do.
fn items_of<'py, T, V: Clone, C: FromIterator<V>>(
    items: &Bound<'py, PyAny>,
    content: impl Fn(&T) -> &V,
    refused: impl Fn(usize, &Bound<'py, PyAny>) -> PyResult<String>,
) -> PyResult<C>
where
    T: PyClass<Frozen = True> + Sync,
{
    let items = items.try_iter()?.enumerate().map(|(position, item)| {
        let item = item?;
        match item.cast::<T>() {
            Ok(item) => Ok(content(item.get()).clone()),
            Err(_) => Err(PyTypeError::new_err(refused(position, &item)?)),
        }
    });
    items.collect()
}

/// The error for an operator that is none; a class of ops is what most people give.
fn no_op(given: &Bound<'_, PyAny>) -> PyErr {
    let shown = match given.cast::<PyType>() {
        Ok(class) => format!("the class {0}; an op is {0}(...)", name_of(class)),
        Err(_) => format!("a {}", name_of(&given.get_type())),
    };
    PyTypeError::new_err(format!("op must be an op, as self is in make_node, given {shown}"))
}

fn name_of(class: &Bound<'_, PyType>) -> String {
    class.qualname().map_or_else(|_| "class".to_owned(), |name| name.to_string())
}

fn output_types_of(types: &Bound<'_, PyAny>) -> PyResult<Vec<Ty>> {
    if types.is_instance_of::<TensorType>() {
        return Err(PyTypeError::new_err(
            "output_types must be a list of TensorTypes, given one TensorType; write [x.type] for a \
             single output",
        ));
    }
    items_of(
        types,
        |ty: &TensorType| &ty.0,
        |position, ty| {
            let class = ty.get_type();
            Ok(format!(
                "output type {position} must be a TensorType, as x.type is, given a {}",
                class.name()?
            ))
        },
    )
}

#[pymethods]
impl FrozenApply {
    /// The application with this key: the living one, or a new one.
    #[new]
    #[allow(clippy::new_ret_no_self)] // Python's `__new__` may return an object that exists already.
    fn new<'py>(
        op: &Bound<'py, PyAny>,
        inputs: &Bound<'py, PyAny>,
        output_types: &Bound<'py, PyAny>,
    ) -> ObjectResult<'py> {
        let py = op.py();
        let op = op.cast::<OpBase>().map_err(|_| no_op(op))?;
        let inputs = inputs_of(inputs)?;
        let types = output_types_of(output_types)?;
        let node = current(py)?
            .common_container(inputs.iter())
            .apply(op.get().op()?, inputs, Signature::new(&types), here(py)?)
            .map_err(raise)?;
        apply_wrapper(py, node)
    }

    #[getter]
    fn op(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        match self.node().body() {
            Body::Apply { op, .. } => op_wrapper(py, op),
            _ => unreachable!("the wrapper of an application"),
        }
    }

    #[getter]
    pub fn inputs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let wrappers = self
            .node()
            .inputs()
            .iter()
            .map(|input| wrapper(py, input.clone()))
            .collect::<PyResult<Vec<_>>>()?;
        PyTuple::new(py, wrappers)
    }

    #[getter]
    pub fn outputs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let wrappers = self
            .node()
            .outputs()
            .map(|output| wrapper(py, output))
            .collect::<PyResult<Vec<_>>>()?;
        PyTuple::new(py, wrappers)
    }

    #[getter]
    fn output_types<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.node().signature().types().iter().map(|ty| TensorType(ty.clone())))
    }

    #[getter]
    fn distinct(&self) -> Option<u64> {
        match self.node().body() {
            Body::Apply { distinct, .. } => distinct.map(|tag| tag.get()),
            _ => None,
        }
    }

    #[getter]
    fn digest(&self) -> String {
        self.node().digest().to_string()
    }

    /// The lengths of each output, if they were found before.
    #[getter]
    fn lengths<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let Some(known) = self.node().lengths() else { return Ok(None) };
        let of_outputs = known
            .of_outputs()
            .map(|lengths| {
                let wrappers = |own: &[Var]| {
                    own.iter().map(|var| wrapper(py, var.clone())).collect::<PyResult<Vec<_>>>()
                };
                lengths.map(|own| PyTuple::new(py, wrappers(own)?)).transpose()
            })
            .collect::<PyResult<Vec<_>>>()?;
        PyTuple::new(py, of_outputs).map(Some)
    }

    /// Keeps the lengths of each output for as long as the node lives; whether it does.
    fn remember_lengths(&self, lengths: Vec<Option<Vec<Bound<'_, Variable>>>>) -> PyResult<bool> {
        let vars = |own: Vec<Bound<'_, Variable>>| {
            own.iter().map(|variable| variable.get().var().clone()).collect()
        };
        let of_outputs = lengths.into_iter().map(|own| own.map(vars)).collect();
        let lengths = Lengths::new(self.node(), of_outputs).map_err(raise)?;
        Ok(self.node().remember_lengths(lengths))
    }

    /// File, line and function of the user's code that first built this node.
    #[getter]
    fn source(&self, py: Python<'_>) -> PyResult<Option<(String, u32, String)>> {
        describe(py, self.node().origin())
    }

    /// The node with the same op and output types over other inputs.
    #[pyo3(signature = (inputs, strict=true))]
    fn clone_with_new_inputs<'py>(
        slf: &Bound<'py, Self>,
        inputs: &Bound<'py, PyAny>,
        strict: bool,
    ) -> ObjectResult<'py> {
        let py = slf.py();
        let node = slf.get().node();
        let new = inputs_of(inputs)?;
        if strict || new.iter().zip(node.inputs()).all(|(new, old)| new.ty() == old.ty()) {
            let node =
                current(py)?.common_container(new.iter()).with_inputs(node, new).map_err(raise)?;
            return apply_wrapper(py, node);
        }
        // Other types may give other output types: the op says which.
        let arguments = inputs.try_iter()?.collect::<PyResult<Vec<_>>>()?;
        let op = slf.get().op(py)?;
        op.bind(py).call_method1("make_node", PyTuple::new(py, arguments)?)
    }

    fn __repr__(&self) -> String {
        let inputs: Vec<String> =
            self.node().inputs().iter().map(|input| input.describe()).collect();
        match self.node().body() {
            Body::Apply { op, .. } => format!("{}({})", op.label(), inputs.join(", ")),
            _ => unreachable!("the wrapper of an application"),
        }
    }
}

/// An op applied to variables, typed by the core.
#[pyfunction]
#[pyo3(signature = (op, *inputs))]
pub fn apply<'py>(op: &Bound<'py, OpBase>, inputs: &Bound<'py, PyTuple>) -> ObjectResult<'py> {
    let py = op.py();
    let inputs = inputs_of(inputs)?;
    let var = typing::apply(&*current(py)?, op.get().op()?, inputs, here(py)?).map_err(raise)?;
    wrapper(py, var)
}

/// Raises ValueError unless the lengths may be equal that meet in a product of matrices, or of stacks of them.
#[pyfunction]
pub fn check_inner_lengths(a: &Variable, b: &Variable) -> PyResult<()> {
    typing::check_inner_lengths(a.var().ty(), b.var().ty()).map_err(raise)
}
