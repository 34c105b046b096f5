//! Ops of graphs that come as bytes or text: their Python objects, found by kind and parameters.

use frazil_core::{Container, Error, FrozenFunctionGraph, Op, Param, codec, text};
use pyo3::exceptions::{PyAttributeError, PyImportError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString, PyTuple, PyType};

use crate::object_table::frozen_wrapper;
use crate::op::{OpBase, op_wrapper};
use crate::types::TensorType;

/// The modules that the class of an unknown op may come from.
#[derive(Clone, Copy, PartialEq)]
enum Modules {
    /// Modules that are loaded: for text, which must not make this process run anything new.
    Loaded,
    /// Any module that can be imported: for pickles, which do that anyway.
    Importable,
}

/// The frozen graph that `bytes` were made of.
pub fn decode(
    py: Python<'_>,
    container: &Container,
    bytes: &[u8],
) -> PyResult<FrozenFunctionGraph> {
    let mut cause = None;
    let mut resolve =
        |kind: &str, params: &Param| resolve(py, kind, params, Modules::Importable, &mut cause);
    let decoded = codec::decode(container, bytes, &mut resolve);
    decoded.map_err(|error| with_cause(py, error, cause))
}

/// The frozen graph that `source` shows.
pub fn parse(py: Python<'_>, container: &Container, source: &str) -> PyResult<FrozenFunctionGraph> {
    let mut cause = None;
    let mut resolve =
        |kind: &str, params: &Param| resolve(py, kind, params, Modules::Loaded, &mut cause);
    let parsed = text::parse(container, source, &mut resolve);
    parsed.map_err(|error| with_cause(py, error, cause))
}

fn with_cause(py: Python<'_>, error: Error, cause: Option<PyErr>) -> PyErr {
    // Whatever is wrong, it is what was given that is.
    let raised = PyValueError::new_err(error.to_string());
    raised.set_cause(py, cause);
    raised
}

/// The op that the class named `kind` makes of `params`; none where there is no such class or it refuses.
fn resolve(
    py: Python<'_>,
    kind: &str,
    params: &Param,
    modules: Modules,
    cause: &mut Option<PyErr>,
) -> Result<Option<Op>, Error> {
    match make(py, kind, params, modules) {
        Ok(op) => Ok(op),
        Err(error) => {
            *cause = Some(error);
            Ok(None)
        }
    }
}

fn make(py: Python<'_>, kind: &str, params: &Param, modules: Modules) -> PyResult<Option<Op>> {
    let Some(class) = class_of(py, kind, modules)? else { return Ok(None) };
    let Param::List(params) = params else { return Ok(None) };
    let arguments =
        params.iter().map(|param| object_of(py, param)).collect::<PyResult<Option<Vec<_>>>>()?;
    let Some(arguments) = arguments else { return Ok(None) };
    let op = class.call_method1("_made_with", (PyTuple::new(py, arguments)?,))?;
    Ok(Some(op.cast::<OpBase>()?.get().op()?))
}

/// The op class with this qualified name. Nothing else is ever called.
fn class_of<'py>(
    py: Python<'py>,
    kind: &str,
    modules: Modules,
) -> PyResult<Option<Bound<'py, PyType>>> {
    let loaded = py.import("sys")?.getattr("modules")?;
    // A class may be nested in another, so the module's name ends at any dot; but a module is there only where the
    // package is that it is in.
    let mut found_modules = Vec::new();
    for (dot, _) in kind.match_indices('.') {
        let module = PyString::new(py, &kind[..dot]);
        let module = match modules {
            Modules::Loaded => loaded.get_item(module).ok(),
            Modules::Importable => match py.import(module) {
                Ok(module) => Some(module.into_any()),
                Err(error) if error.is_instance_of::<PyImportError>(py) => None,
                Err(error) => return Err(error),
            },
        };
        let Some(module) = module else { break };
        found_modules.push((module, &kind[dot + 1..]));
    }
    for (module, path) in found_modules.into_iter().rev() {
        let found = path.split('.').try_fold(module, |object, name| object.getattr(name));
        match found {
            Ok(class) => {
                let class = class.cast_into::<PyType>().ok();
                return Ok(class.filter(|class| class.is_subclass_of::<OpBase>().unwrap_or(false)));
            }
            Err(error) if error.is_instance_of::<PyAttributeError>(py) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

/// The parameter as Python's constructor takes it; none for one that has no meaning in another process.
fn object_of<'py>(py: Python<'py>, param: &Param) -> PyResult<Option<Bound<'py, PyAny>>> {
    Ok(Some(match param {
        Param::None => py.None().into_bound(py),
        Param::Bool(value) => value.into_pyobject(py)?.to_owned().into_any(),
        Param::Int(value) => value.into_pyobject(py)?.into_any(),
        Param::Float(value) => value.into_pyobject(py)?.into_any(),
        Param::Text(value) => value.into_pyobject(py)?.into_any(),
        Param::Bytes(value) => PyBytes::new(py, value).into_any(),
        Param::DType(value) => value.name().into_pyobject(py)?.into_any(),
        Param::Type(value) => TensorType(value.clone()).into_pyobject(py)?.into_any(),
        Param::Op(value) => op_wrapper(py, value)?.into_bound(py),
        Param::Graph(value) => frozen_wrapper(py, value.clone())?,
        Param::List(values) => {
            let objects = values.iter().map(|value| object_of(py, value));
            let Some(objects) = objects.collect::<PyResult<Option<Vec<_>>>>()? else {
                return Ok(None);
            };
            PyTuple::new(py, objects)?.into_any()
        }
        Param::Identity(_) => return Ok(None),
    }))
}
