//! Variables in pickles: taking them apart, and building them again.

use frazil_core::{Body, Error, Portable, Token, Var};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use crate::container::current;
use crate::error::{UnpicklingError, raise};
use crate::frozen_graph::FrozenFunctionGraph;
use crate::object_table::{ObjectResult, frozen_wrapper, wrapper};
use crate::types::TensorType;
use crate::walks::{vars_of, wrappers};

/// A function that makes the variable, and its arguments.
pub fn parts<'py>(py: Python<'py>, var: &Var) -> PyResult<Bound<'py, PyTuple>> {
    let module = py.import("frazil._core")?;
    let (ty, name) = (TensorType(var.ty().clone()), var.name());
    match var.node().body() {
        Body::Input { .. } => {
            let arguments = (token(py, var)?, ty, name.as_deref());
            (module.getattr("load_input")?, arguments.into_pyobject(py)?).into_pyobject(py)
        }
        Body::Nominal { position } => {
            (module.getattr("nominal")?, (*position, ty).into_pyobject(py)?).into_pyobject(py)
        }
        _ => {
            let made = Portable::of(var).map_err(raise)?;
            let token = if made.distinct { Some(token(py, var)?) } else { None };
            let leaves = PyTuple::new(py, wrappers(py, &made.leaves)?)?;
            let graph = frozen_wrapper(py, made.graph)?;
            let arguments = (graph, leaves, token, name.as_deref());
            (module.getattr("load_variable")?, arguments.into_pyobject(py)?).into_pyobject(py)
        }
    }
}

fn token<'py>(py: Python<'py>, var: &Var) -> PyResult<Bound<'py, PyBytes>> {
    let fresh: [u8; 16] = py.import("os")?.getattr("urandom")?.call1((16,))?.extract()?;
    Ok(PyBytes::new(py, &var.node().token(Token::from_le_bytes(fresh)).to_le_bytes()))
}

fn refused(error: Error) -> PyErr {
    UnpicklingError::new_err(error.to_string())
}

/// The variable, or the living one with the token; it has `name` unless it has one.
fn known(var: Var, token: Option<[u8; 16]>, name: Option<&str>) -> Result<Var, Error> {
    let var = match token {
        Some(token) => var.at_token(Token::from_le_bytes(token))?,
        None => var,
    };
    if name.is_some() && var.name().is_none() {
        var.set_name(name)?;
    }
    Ok(var)
}

/// The input of a pickle: the living one with this token, or a new one.
#[pyfunction]
pub fn load_input<'py>(
    py: Python<'py>,
    token: [u8; 16],
    r#type: &TensorType,
    name: Option<&str>,
) -> ObjectResult<'py> {
    let new = current(py)?.input(&r#type.0, name, None);
    wrapper(py, known(new, Some(token), None).map_err(refused)?)
}

/// The variable of a pickle: the output of a graph over its leaves.
#[pyfunction]
pub fn load_variable<'py>(
    py: Python<'py>,
    graph: &FrozenFunctionGraph,
    leaves: &Bound<'py, PyTuple>,
    token: Option<[u8; 16]>,
    name: Option<&str>,
) -> ObjectResult<'py> {
    let bound = graph.graph().bind(&vars_of(leaves.as_any())?).map_err(refused)?;
    let [var] = <[Var; 1]>::try_from(bound).map_err(|outputs| {
        UnpicklingError::new_err(format!("{} outputs, not one", outputs.len()))
    })?;
    wrapper(py, known(var, token, name).map_err(refused)?)
}
