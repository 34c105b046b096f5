//! Walks over graphs, and substitution: variables of Python in, variables and nodes out.

use frazil_core::node::{alike, carriers};
use frazil_core::{Node, Orderings, Var, replace, traverse};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping, PyTuple};

use crate::apply::FrozenApply;
use crate::container::{adopted, current};
use crate::error::raise;
use crate::object_table::{apply_wrapper, wrapper};
use crate::variable::Variable;

pub fn vars_of(variables: &Bound<'_, PyAny>) -> PyResult<Vec<Var>> {
    if let Ok(single) = variables.cast::<Variable>() {
        return Err(PyTypeError::new_err(format!(
            "expected a list of variables, given the single variable {}; write [y] for it",
            single.get().var().describe()
        )));
    }
    variables.try_iter()?.map(|variable| var_of(&variable?)).collect()
}

pub fn var_of(variable: &Bound<'_, PyAny>) -> PyResult<Var> {
    match variable.cast::<Variable>() {
        Ok(variable) => Ok(variable.get().var().clone()),
        Err(_) => Err(PyTypeError::new_err(format!(
            "expected a Variable, given {} of type {}",
            variable.repr()?,
            variable.get_type().name()?
        ))),
    }
}

/// Variables of one container, which a walk may go through together; constants move.
pub fn together(py: Python<'_>, vars: Vec<Var>) -> PyResult<Vec<Var>> {
    let container = current(py)?;
    let container = container.common_container(vars.iter());
    vars.iter().map(|var| adopted(&container, var)).collect()
}

/// Pairs from a mapping, from an iterable of pairs, or of `replacements` and `new`.
pub fn pairs_of(
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
            let item = item?;
            let (old, new): (Bound<'_, PyAny>, Bound<'_, PyAny>) = item.extract().map_err(|_| {
                PyTypeError::new_err(format!(
                    "replacements are a dict {{old: new}}, or pairs (old, new); given {item} among the pairs"
                ))
            })?;
            Ok((var_of(&old)?, var_of(&new)?))
        })
        .collect()
}

pub fn wrappers<'py>(py: Python<'py>, vars: &[Var]) -> PyResult<Vec<Bound<'py, PyAny>>> {
    vars.iter().map(|var| wrapper(py, var.clone())).collect()
}

pub fn apply_wrappers<'py>(py: Python<'py>, nodes: &[Node]) -> PyResult<Vec<Bound<'py, PyAny>>> {
    nodes.iter().map(|node| apply_wrapper(py, node.clone())).collect()
}

pub fn orderings_dict<'py>(py: Python<'py>, orderings: &Orderings) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (destroyer, readers) in orderings.iter() {
        dict.set_item(apply_wrapper(py, destroyer.clone())?, apply_wrappers(py, readers)?)?;
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
        .map(|node| apply_wrapper(py, node.clone()))
        .collect()
}

/// For each node, the position of the first one with the same op and the same types.
#[pyfunction]
pub fn first_alike(nodes: Vec<Bound<'_, FrozenApply>>) -> Vec<usize> {
    alike::first_alike(nodes.iter().map(|node| node.get().node()))
}

/// A node that carries gradients: it, its inputs, its outputs, and for each input whether it depends on a target.
type Carried<'py> = (Bound<'py, PyAny>, Bound<'py, PyTuple>, Bound<'py, PyTuple>, Vec<bool>);

/// The nodes through which something depends on `targets`, in their order.
#[pyfunction]
pub fn gradient_carriers<'py>(
    py: Python<'py>,
    nodes: Vec<(Bound<'py, FrozenApply>, Bound<'py, FrozenApply>)>,
    targets: &Bound<'py, PyAny>,
    constants: &Bound<'py, PyAny>,
) -> PyResult<Vec<Carried<'py>>> {
    let (targets, constants) = (vars_of(targets)?, vars_of(constants)?);
    let pairs = nodes.iter().map(|(node, form)| (node.get().node(), form.get().node()));
    carriers::carriers(pairs, &targets, &constants)
        .into_iter()
        .map(|carrier| {
            let (node, form) = &nodes[carrier.at];
            let (inputs, outputs) = (form.get().inputs(py)?, node.get().outputs(py)?);
            Ok((form.clone().into_any(), inputs, outputs, carrier.wanted.into_vec()))
        })
        .collect()
}

/// Whether `x` can have a gradient: its elements are real or complex numbers.
#[pyfunction]
pub fn is_continuous(x: &Bound<'_, Variable>) -> bool {
    carriers::is_continuous(x.get().var())
}

/// The root inputs that `outputs` need, in the order in which a walk from the outputs meets them.
#[pyfunction]
pub fn root_inputs<'py>(outputs: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let py = outputs.py();
    wrappers(py, &traverse::root_inputs(&together(py, vars_of(outputs)?)?))
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
    let container = container.common_container(outputs.iter());
    wrappers(py, &replace::replace(&container, &outputs, &pairs).map_err(raise)?)
}
