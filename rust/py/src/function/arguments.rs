//! Arguments of a call: an array for each parameter, or a message that says what is wrong.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use super::{Function, Objects, Parameter};
use crate::ndarray::NumPy;
use crate::object_table::ObjectResult;

impl Parameter {
    fn is_called(&self, key: &Bound<'_, PyAny>) -> bool {
        self.name.as_ref().is_some_and(|name| key.eq(name).unwrap_or(false))
    }
}

impl Function {
    /// One object for each parameter.
    #[inline]
    pub(super) fn arguments<'py>(
        &self,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Objects<'py>> {
        let objects: Objects<'py> = args.iter().collect();
        match kwargs {
            None if objects.len() == self.parameters.len() => Ok(objects),
            _ => self.named_arguments(args.py(), objects, kwargs),
        }
    }

    /// As `arguments`, where some are named or the number is wrong.
    #[cold]
    fn named_arguments<'py>(
        &self,
        py: Python<'py>,
        mut objects: Objects<'py>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Objects<'py>> {
        let expected = self.parameters.len();
        if objects.len() > expected {
            let s = if expected == 1 { "" } else { "s" };
            return Err(PyTypeError::new_err(format!(
                "the function takes {expected} argument{s} ({}), {} were given",
                self.names(0..expected),
                objects.len()
            )));
        }
        if let Some(kwargs) = kwargs {
            self.check_names(kwargs)?;
        }
        let positional = objects.len();
        let mut used = 0;
        let mut missing = Vec::new();
        for (at, parameter) in self.parameters.iter().enumerate().skip(positional) {
            let value = match (&parameter.name, kwargs) {
                (Some(name), Some(kwargs)) => kwargs.get_item(name)?,
                _ => None,
            };
            match (value, &parameter.default) {
                (Some(value), _) => {
                    objects.push(value);
                    used += 1;
                }
                (None, Some(default)) => objects.push(default.bind(py).clone()),
                (None, None) => missing.push(at),
            }
        }
        if let Some(kwargs) = kwargs
            && used < kwargs.len()
        {
            return Err(self.surplus(kwargs, positional)?);
        }
        if missing.is_empty() {
            return Ok(objects);
        }
        Err(PyTypeError::new_err(format!(
            "missing arguments: {} (the function takes {})",
            self.names(missing),
            self.names(0..expected),
        )))
    }

    /// The error for a name that no parameter has, or one that is given by position too.
    fn surplus(&self, kwargs: &Bound<'_, PyDict>, positional: usize) -> PyResult<PyErr> {
        for key in kwargs.keys() {
            match self.parameters.iter().position(|parameter| parameter.is_called(&key)) {
                None => {
                    return Ok(PyTypeError::new_err(format!(
                        "unexpected argument {} (the function takes {})",
                        key.repr()?,
                        self.names(0..self.parameters.len())
                    )));
                }
                Some(at) if at < positional => {
                    return Ok(PyTypeError::new_err(format!(
                        "argument {} is given by position and by name",
                        key.repr()?
                    )));
                }
                Some(_) => {}
            }
        }
        Ok(PyTypeError::new_err("arguments are given by what equals a name but is no plain string"))
    }

    /// Refuses a name that several inputs have: it does not say which of them is meant.
    fn check_names(&self, kwargs: &Bound<'_, PyDict>) -> PyResult<()> {
        for key in kwargs.keys() {
            let called = self.parameters.iter().enumerate().filter(|(_, x)| x.is_called(&key));
            let positions: Vec<usize> = called.map(|(at, _)| at).collect();
            if let [first, .., last] = positions[..] {
                return Err(PyTypeError::new_err(format!(
                    "inputs {first} and {last} are both called {}, so the name does not say which one is meant: give \
                     them by position, or compile the function with names that differ, as in fz.In(x, name=\"other\")",
                    key.repr()?,
                )));
            }
        }
        Ok(())
    }

    /// Names of parameters; one without a name is told by its position.
    fn names(&self, positions: impl IntoIterator<Item = usize>) -> String {
        let names: Vec<String> = positions
            .into_iter()
            .map(|at| match &self.parameters[at].name {
                Some(name) => name.to_string(),
                None => format!("<input {at}>"),
            })
            .collect();
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    }

    /// Replaces the arguments that are not yet arrays of the right type.
    #[inline]
    pub(super) fn convert<'py>(&self, numpy: &NumPy, objects: &mut Objects<'py>) -> PyResult<()> {
        for (at, (object, parameter)) in objects.iter_mut().zip(&self.parameters).enumerate() {
            if numpy.view(object, parameter.dtype, parameter.ndim).is_none() {
                *object = self.converted(numpy, object, at)?;
            }
        }
        Ok(())
    }

    /// The result of the slow path for an argument.
    #[cold]
    fn converted<'py>(
        &self,
        numpy: &NumPy,
        object: &Bound<'py, PyAny>,
        at: usize,
    ) -> ObjectResult<'py> {
        let py = object.py();
        let parameter = &self.parameters[at];
        let name = parameter.name.as_ref();
        let array = self.convert.bind(py).call1((object, &parameter.ty, name))?;
        if numpy.view(&array, parameter.dtype, parameter.ndim).is_none() {
            return Err(PyTypeError::new_err(format!(
                "argument {} was converted to {}, an aligned {}-d array of {} is needed",
                self.names([at]),
                array.get_type(),
                parameter.ndim,
                parameter.dtype,
            )));
        }
        Ok(array)
    }
}
