//! Calls of compiled Python functions: the search for the form of these arguments, and its run.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};

use crate::error::LinAlgError;
use crate::function::{Function, Objects};
use crate::guard::{Checked, Guards, entries_are, items_are, same};
use crate::object_table::ObjectResult;
use crate::once::intern;
use crate::traced::is_tracing;

/// Finds the compiled form of a call and runs it; asks the method `_call` where there is none.
#[pyclass(frozen, subclass, module = "frazil._core")]
#[derive(Default)]
pub struct CallCache {
    forms: Mutex<Arc<[Form]>>,
    hits: AtomicU64,
}

/// A compiled form: its arguments, its guards, its function, and its results.
struct Form {
    positional: Box<[Argument]>,
    named: Box<[(Py<PyString>, Argument)]>,
    guards: Py<Guards>,
    function: Option<Py<Function>>,
    result: Returned,
    /// Where the function asks whether two values are one object: captured arrays, which no
    /// argument is. Nor is any argument another one.
    distinct_from: Option<Box<[Py<PyAny>]>>,
}

/// A condition on an argument.
enum Argument {
    /// An array of this dtype, of length 1 in these dimensions and no others, and of some lengths
    /// in some dimensions.
    Array {
        dtype: Py<PyAny>,
        ones: Box<[bool]>,
        lengths: Box<[(usize, usize)]>,
    },
    /// A number of NumPy's, of this class.
    Number(Py<PyAny>),
    /// This object, or a number or text that Python cannot tell from it.
    Value(Py<PyAny>),
    List(Box<[Argument]>),
    Tuple(Box<[Argument]>),
    Dict(Pairs<Argument>),
}

/// The form of a call's results.
enum Returned {
    Array(usize),
    /// The one element of an array without dimensions, as NumPy's number.
    Number(usize),
    /// As Python's number.
    Length(usize),
    /// An array that was an argument.
    Argument(usize),
    Value(Py<PyAny>),
    List(Box<[Returned]>),
    Tuple(Box<[Returned]>),
    Dict(Pairs<Returned>),
}

#[pymethods]
impl CallCache {
    #[new]
    #[pyo3(signature = (*_args, **_kwargs))]
    fn new(_args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> CallCache {
        CallCache::default()
    }

    /// Replaces the compiled forms. Each is a tuple: what positional arguments must be; names, and
    /// what the named arguments must be; guards; the function; what is returned; and, if arguments
    /// must be distinct, the captured arrays that no argument may be.
    #[allow(clippy::type_complexity)]
    fn _set_forms(
        &self,
        forms: Vec<(
            Vec<Bound<'_, PyTuple>>,
            Vec<(Py<PyString>, Bound<'_, PyTuple>)>,
            Py<Guards>,
            Option<Py<Function>>,
            Bound<'_, PyTuple>,
            Option<Vec<Py<PyAny>>>,
        )>,
    ) -> PyResult<()> {
        let made: Vec<Form> = forms
            .into_iter()
            .map(|(positional, named, guards, function, result, distinct_from)| {
                Ok(Form {
                    positional: positional.iter().map(Argument::new).collect::<PyResult<_>>()?,
                    named: named
                        .into_iter()
                        .map(|(name, argument)| Ok((name, Argument::new(&argument)?)))
                        .collect::<PyResult<_>>()?,
                    guards,
                    function,
                    result: Returned::new(&result)?,
                    distinct_from: distinct_from.map(Into::into),
                })
            })
            .collect::<PyResult<_>>()?;
        let mut held = self.forms.lock().unwrap_or_else(PoisonError::into_inner);
        let before = std::mem::replace(&mut *held, made.into());
        drop(held);
        drop(before);
        Ok(())
    }

    /// The number of calls that a compiled form has served.
    #[getter]
    fn _hits(&self) -> u64 {
        self.hits.load(Ordering::Relaxed)
    }

    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> ObjectResult<'py> {
        let py = args.py();
        let mut refusal = None;
        if !is_tracing() {
            let own = slf.get();
            let forms = own.forms.lock().unwrap_or_else(PoisonError::into_inner).clone();
            for form in forms.iter() {
                match form.call(args, kwargs) {
                    Ok(Some(result)) => {
                        own.hits.fetch_add(1, Ordering::Relaxed);
                        return Ok(result);
                    }
                    Ok(None) => {}
                    // Lengths that were equal may not be any more, and the function may do otherwise then.
                    Err(error) if may_be_of_lengths(py, &error) => {
                        refusal = Some((form.guards.clone_ref(py), error.into_value(py)));
                        break;
                    }
                    Err(error) => return Err(error),
                }
            }
        }
        let kwargs = kwargs.map_or_else(|| PyDict::new(py), Clone::clone);
        slf.call_method1(intern!(py, "_call"), (args, kwargs, refusal))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        let Ok(forms) = self.forms.try_lock() else { return Ok(()) };
        for form in forms.iter() {
            visit.call(&form.guards)?;
            visit.call(&form.function)?;
            form.positional.iter().try_for_each(|argument| argument.traverse(&visit))?;
            form.named.iter().try_for_each(|(_, argument)| argument.traverse(&visit))?;
            form.result.traverse(&visit)?;
            form.distinct_from.iter().flatten().try_for_each(|array| visit.call(array))?;
        }
        Ok(())
    }
}

fn may_be_of_lengths(py: Python<'_>, error: &PyErr) -> bool {
    error.is_instance_of::<PyValueError>(py) && !error.is_instance_of::<LinAlgError>(py)
}

impl Form {
    /// The results of the form; `None` if it is not for these arguments.
    fn call<'py>(
        &self,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = args.py();
        if args.len() != self.positional.len()
            || kwargs.map_or(0, |named| named.len()) != self.named.len()
        {
            return Ok(None);
        }
        let mut arrays = Objects::new();
        let positional = self.positional.iter().zip(args.iter_borrowed());
        for (argument, value) in positional {
            if !argument.is(&value, &mut arrays) {
                return Ok(None);
            }
        }
        if let Some(kwargs) = kwargs {
            for ((name, argument), (key, value)) in self.named.iter().zip(kwargs.iter()) {
                if !same(&key, name.bind(py)) || !argument.is(&value, &mut arrays) {
                    return Ok(None);
                }
            }
        }
        let given = arrays.len();
        let held = self.guards.get().check(py, |array| arrays.push(array.clone()))?;
        if held != Checked::Hold {
            return Ok(None);
        }
        if let Some(captured) = &self.distinct_from {
            let among = |one: &Bound<'py, PyAny>, others: &[Bound<'py, PyAny>]| {
                others.iter().any(|other| one.is(other))
            };
            let distinct = (0..arrays.len()).all(|at| !among(&arrays[at], &arrays[..at]))
                && captured.iter().all(|one| !among(one.bind(py), &arrays));
            if !distinct {
                return Ok(None);
            }
        }
        let arguments: Objects<'py> = arrays[..given].iter().cloned().collect();
        let computed = match &self.function {
            Some(function) => function.get().results(py, arrays)?,
            None => Objects::new(),
        };
        self.result.make(py, &computed, &arguments).map(Some)
    }
}

impl Argument {
    fn new(told: &Bound<'_, PyTuple>) -> PyResult<Argument> {
        let kind: String = told.get_item(0)?.extract()?;
        let own = told.get_item(1)?;
        Ok(match kind.as_str() {
            "array" => Argument::Array {
                dtype: own.unbind(),
                ones: told.get_item(2)?.extract::<Vec<bool>>()?.into(),
                lengths: told.get_item(3)?.extract::<Vec<(usize, usize)>>()?.into(),
            },
            "number" => Argument::Number(own.unbind()),
            "value" => Argument::Value(own.unbind()),
            "list" => Argument::List(parts(&own, Argument::new)?),
            "tuple" => Argument::Tuple(parts(&own, Argument::new)?),
            "dict" => Argument::Dict(pairs(&own, Argument::new)?),
            _ => return Err(PyTypeError::new_err(format!("no argument is a {kind}"))),
        })
    }

    /// Whether a value fits; `arrays` gets those in it, in order.
    fn is<'py>(&self, value: &Bound<'py, PyAny>, arrays: &mut Objects<'py>) -> bool {
        let py = value.py();
        match self {
            Argument::Array { dtype, ones, lengths } => {
                let Ok(array) = value.cast_exact::<PyUntypedArray>() else { return false };
                let (own, shape) = (array.dtype(), array.shape());
                let fits = (own.is(dtype) || own.eq(dtype).unwrap_or(false))
                    && shape.len() == ones.len()
                    && shape.iter().zip(ones).all(|(&length, &one)| (length == 1) == one)
                    && lengths.iter().all(|&(axis, length)| shape[axis] == length);
                if fits {
                    arrays.push(value.clone());
                }
                fits
            }
            Argument::Number(kind) => {
                let array = match value.get_type().is(kind) {
                    true => value.call_method0(intern!(py, "__array__")),
                    false => return false,
                };
                array.map(|array| arrays.push(array)).is_ok()
            }
            Argument::Value(wanted) => same(value, wanted.bind(py)),
            Argument::List(parts) => value.cast_exact::<PyList>().is_ok_and(|list| {
                items_are(list, parts.len(), |at, one| parts[at].is(one, arrays))
            }),
            Argument::Tuple(parts) => value.cast_exact::<PyTuple>().is_ok_and(|tuple| {
                tuple.len() == parts.len()
                    && tuple.iter().zip(parts).all(|(one, part)| part.is(&one, arrays))
            }),
            Argument::Dict(parts) => value.cast_exact::<PyDict>().is_ok_and(|dict| {
                entries_are(dict, parts.len(), |at, key, one| {
                    let (wanted, part) = &parts[at];
                    same(key, wanted.bind(py)) && part.is(one, arrays)
                })
            }),
        }
    }

    fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        match self {
            Argument::Array { dtype, .. } => visit.call(dtype),
            Argument::Number(value) | Argument::Value(value) => visit.call(value),
            Argument::List(parts) | Argument::Tuple(parts) => {
                parts.iter().try_for_each(|part| part.traverse(visit))
            }
            Argument::Dict(parts) => parts.iter().try_for_each(|(key, part)| {
                visit.call(key)?;
                part.traverse(visit)
            }),
        }
    }
}

/// What is made of each of several data.
fn parts<T>(
    told: &Bound<'_, PyAny>,
    make: impl Fn(&Bound<'_, PyTuple>) -> PyResult<T>,
) -> PyResult<Box<[T]>> {
    told.try_iter()?.map(|part| make(part?.cast()?)).collect()
}

type Pairs<T> = Box<[(Py<PyAny>, T)]>;

/// Keys with their data.
fn pairs<T>(
    told: &Bound<'_, PyAny>,
    make: impl Fn(&Bound<'_, PyTuple>) -> PyResult<T>,
) -> PyResult<Pairs<T>> {
    told.try_iter()?
        .map(|pair| {
            let pair = pair?;
            let pair = pair.cast::<PyTuple>()?;
            Ok((pair.get_item(0)?.unbind(), make(pair.get_item(1)?.cast()?)?))
        })
        .collect()
}

impl Returned {
    fn new(told: &Bound<'_, PyTuple>) -> PyResult<Returned> {
        let kind: String = told.get_item(0)?.extract()?;
        let own = told.get_item(1)?;
        Ok(match kind.as_str() {
            "array" => Returned::Array(own.extract()?),
            "number" => Returned::Number(own.extract()?),
            "length" => Returned::Length(own.extract()?),
            "argument" => Returned::Argument(own.extract()?),
            "value" => Returned::Value(own.unbind()),
            "list" => Returned::List(parts(&own, Returned::new)?),
            "tuple" => Returned::Tuple(parts(&own, Returned::new)?),
            "dict" => Returned::Dict(pairs(&own, Returned::new)?),
            _ => return Err(PyTypeError::new_err(format!("no result is a {kind}"))),
        })
    }

    /// The result of a call that computed and was given these arrays.
    fn make<'py>(
        &self,
        py: Python<'py>,
        computed: &Objects<'py>,
        given: &Objects<'py>,
    ) -> ObjectResult<'py> {
        let of = |parts: &[Returned]| -> PyResult<Vec<Bound<'py, PyAny>>> {
            parts.iter().map(|part| part.make(py, computed, given)).collect()
        };
        Ok(match self {
            Returned::Array(at) => computed[*at].clone(),
            Returned::Number(at) => computed[*at].get_item(PyTuple::empty(py))?,
            Returned::Length(at) => computed[*at].call_method0(intern!(py, "item"))?,
            Returned::Argument(at) => given[*at].clone(),
            Returned::Value(value) => value.bind(py).clone(),
            Returned::List(parts) => PyList::new(py, of(parts)?)?.into_any(),
            Returned::Tuple(parts) => PyTuple::new(py, of(parts)?)?.into_any(),
            Returned::Dict(parts) => {
                let dict = PyDict::new(py);
                for (key, part) in parts {
                    dict.set_item(key, part.make(py, computed, given)?)?;
                }
                dict.into_any()
            }
        })
    }

    fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        match self {
            Returned::Value(value) => visit.call(value),
            Returned::List(parts) | Returned::Tuple(parts) => {
                parts.iter().try_for_each(|part| part.traverse(visit))
            }
            Returned::Dict(parts) => parts.iter().try_for_each(|(key, part)| {
                visit.call(key)?;
                part.traverse(visit)
            }),
            _ => Ok(()),
        }
    }
}
