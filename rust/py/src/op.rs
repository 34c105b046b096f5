//! The base of Python's ops: holds the interned key, so equality and hash never run Python code.

use std::fmt;
use std::sync::OnceLock;

use frazil_core::{Op, OpKey, OpProps, Param};
use pyo3::exceptions::{PyOverflowError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyString, PyTuple};

use crate::error::raise;
use crate::frozen_graph::FrozenFunctionGraph;
use crate::object_table::{ObjectResult, find_op, forget_op, install_op};
use crate::once::intern;
use crate::owned::Owned;
use crate::types::TensorType;

/// The properties of an op in the core.
#[pyclass(frozen, subclass, weakref, module = "frazil._core")]
pub struct OpBase {
    op: OnceLock<Op>,
}

impl OpBase {
    /// The interned op.
    pub fn op(&self) -> PyResult<Op> {
        self.op.get().cloned().ok_or_else(|| {
            PyRuntimeError::new_err("the op has no key yet: its class must derive from frazil.Op")
        })
    }
}

/// How an op that goes with its last handle is made again: its Python object goes when nobody has it, as those of nodes
/// do.
struct Recipe {
    function: Owned<PyAny>,
    arguments: Owned<PyTuple>,
}

/// The Python object of an op.
pub fn op_wrapper(py: Python<'_>, op: &Op) -> PyResult<Py<PyAny>> {
    let none = || PyRuntimeError::new_err(format!("{} has no Python object", op.label()));
    let kept = op.wrapper().get().ok_or_else(none)?;
    if let Some(wrapper) = kept.downcast_ref::<Owned<PyAny>>() {
        return Ok(wrapper.clone_ref(py));
    }
    let recipe = kept.downcast_ref::<Recipe>().ok_or_else(none)?;
    match find_op(py, op) {
        Some(living) => Ok(living.unbind()),
        None => recipe.function.bind(py).call1(recipe.arguments.bind(py)).map(Bound::unbind),
    }
}

impl Drop for OpBase {
    fn drop(&mut self) {
        if let Some(op) = self.op.get().filter(|op| op.is_counted()) {
            Python::attach(|py| forget_op(py, op));
        }
    }
}

#[pymethods]
impl OpBase {
    #[new]
    #[pyo3(signature = (*_args, **_kwargs))]
    fn new(_args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> OpBase {
        OpBase { op: OnceLock::new() }
    }

    /// Interns this op's key; returns the one Python object that stands for it, usually this one.
    fn _intern<'py>(
        slf: &Bound<'py, Self>,
        kind: String,
        names: &Bound<'py, PyTuple>,
        arguments: &Bound<'py, PyTuple>,
        props: &Bound<'py, PyDict>,
        rule: Option<&str>,
    ) -> PyResult<Py<PyAny>> {
        let py = slf.py();
        let mut params = Vec::with_capacity(arguments.len());
        for (name, value) in names.iter().zip(arguments) {
            let place =
                ParameterName { class: kind.rsplit('.').next().unwrap_or_default(), name: &name };
            params.push(param_of(&value, &place, MAX_DEPTH)?);
        }
        let mut params = Param::List(params);
        if let Some(token) = props.get_item("identity")?.filter(|token| !token.is_none()) {
            params = Param::List(vec![params, Param::Identity(token.extract()?)]);
        }
        let label: String = required(props, "label")?.extract()?;
        let key = OpKey {
            kind,
            params,
            props: props_of(props)?,
            rule: rule.map(str::parse).transpose().map_err(raise)?,
            arity: required(props, "arity")?.extract()?,
        };
        let op = Op::intern(key, &label);
        let _ = slf.get().op.set(op.clone());
        if op.wrapper().get().is_none() {
            // An object with more than its parameters cannot be made again from them, and stays.
            let held = || slf.getattr(intern!(py, "__dict__"))?.len();
            if op.is_counted() && (op.nesting() > 0 || held()? <= arguments.len()) {
                let recipe = slf.call_method0(intern!(py, "__reduce__"))?.extract()?;
                let (function, arguments): (Py<PyAny>, Py<PyTuple>) = recipe;
                let recipe = Recipe { function: function.into(), arguments: arguments.into() };
                op.wrapper().get_or_init(|| Box::new(Box::new(recipe)));
            } else {
                let own = Owned::from(slf.clone().into_any().unbind());
                op.wrapper().get_or_init(|| Box::new(Box::new(own)));
            }
        }
        // An equal object may have come first, and have held more or less than this one.
        match op.wrapper().get().and_then(|kept| kept.downcast_ref::<Owned<PyAny>>()) {
            Some(wrapper) => Ok(wrapper.clone_ref(py)),
            None => install_op(py, &op, slf.clone().into_any()).map(Bound::unbind),
        }
    }

    /// Whether this object has its key: its parameters cannot change any more.
    #[getter]
    fn _is_interned(&self) -> bool {
        self.op.get().is_some()
    }

    #[getter]
    fn digest(&self) -> PyResult<String> {
        Ok(self.op()?.digest().to_string())
    }

    fn __eq__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> bool {
        match other.cast::<OpBase>() {
            Ok(other) => {
                slf.is(other)
                    || slf.get().op.get() == other.get().op.get() && slf.get().op.get().is_some()
            }
            Err(_) => false,
        }
    }

    fn __hash__(&self) -> PyResult<u64> {
        Ok(self.op()?.digest().short())
    }
}

fn required<'py>(props: &Bound<'py, PyDict>, name: &str) -> ObjectResult<'py> {
    props
        .get_item(name)?
        .ok_or_else(|| PyTypeError::new_err(format!("the op's properties lack {name:?}")))
}

fn props_of(props: &Bound<'_, PyDict>) -> PyResult<OpProps> {
    Ok(OpProps {
        view_map: map_of(&required(props, "view_map")?)?,
        destroy_map: map_of(&required(props, "destroy_map")?)?,
        destroy_tolerates_same: pairs_of(&required(props, "destroy_tolerates_same")?)?,
        destroy_tolerates_aliased: pairs_of(&required(props, "destroy_tolerates_aliased")?)?,
        commutative: required(props, "commutative")?.extract()?,
        pure: required(props, "pure")?.extract()?,
        distinct: required(props, "distinct")?.extract()?,
        takes_complex: required(props, "takes_complex")?.extract()?,
    })
}

fn map_of(map: &Bound<'_, PyAny>) -> PyResult<Vec<(u32, Vec<u32>)>> {
    let mut entries: Vec<(u32, Vec<u32>)> = map
        .call_method0("items")?
        .try_iter()?
        .map(|item| item?.extract())
        .collect::<PyResult<_>>()?;
    entries.sort();
    Ok(entries)
}

fn pairs_of(pairs: &Bound<'_, PyAny>) -> PyResult<Vec<(u32, u32)>> {
    let mut pairs: Vec<(u32, u32)> =
        pairs.try_iter()?.map(|pair| pair?.extract()).collect::<PyResult<_>>()?;
    pairs.sort();
    Ok(pairs)
}

/// Parameters nested deeper than this are a mistake, and would exhaust the stack.
const MAX_DEPTH: usize = 32;

/// The class and the parameter, for messages.
struct ParameterName<'a, 'py> {
    class: &'a str,
    name: &'a Bound<'py, PyAny>,
}

impl fmt::Display for ParameterName<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "parameter {} of {}", self.name, self.class)
    }
}

/// The parameter for `value`. Subclasses are refused: their other attributes would not count.
fn param_of(
    value: &Bound<'_, PyAny>,
    place: &ParameterName<'_, '_>,
    depth: usize,
) -> PyResult<Param> {
    if value.is_none() {
        return Ok(Param::None);
    }
    if let Ok(value) = value.cast::<PyBool>() {
        return Ok(Param::Bool(value.is_true()));
    }
    if let Ok(value) = value.cast_exact::<PyInt>() {
        let small = value.extract().map_err(|_| {
            PyOverflowError::new_err(format!(
                "{place}: an integer must fit in 64 bits, given {value}; pass it as a string"
            ))
        });
        return Ok(Param::Int(small?));
    }
    if let Ok(value) = value.cast_exact::<PyFloat>() {
        return Ok(Param::Float(value.extract()?));
    }
    if let Ok(value) = value.cast_exact::<PyString>() {
        return Ok(Param::Text(value.extract()?));
    }
    if let Ok(value) = value.cast_exact::<PyBytes>() {
        return Ok(Param::Bytes(value.extract()?));
    }
    if let Ok(value) = value.cast::<TensorType>() {
        return Ok(Param::Type(value.get().0.clone()));
    }
    if let Ok(value) = value.cast::<OpBase>() {
        return Ok(Param::Op(value.get().op()?));
    }
    if let Ok(value) = value.cast::<FrozenFunctionGraph>() {
        return Param::graph(value.get().graph()).map_err(raise);
    }
    if let Ok(value) = value.cast_exact::<PyTuple>() {
        let Some(depth) = depth.checked_sub(1) else {
            return Err(PyValueError::new_err(format!(
                "{place} is nested in more than {MAX_DEPTH} tuples"
            )));
        };
        let values =
            value.iter().map(|item| param_of(&item, place, depth)).collect::<PyResult<_>>()?;
        return Ok(Param::List(values));
    }
    Err(PyTypeError::new_err(format!(
        "{place} is of {}; ops are known by their parameters, which must be None, bools, numbers, strings, bytes, \
         types, ops, frozen graphs, or tuples of these. Pass data to the op as an input, as in op(x, data); of what \
         else is no such value, keep the op class in the function that has it",
        value.get_type()
    )))
}
