//! Objects in all that holds them, replaced by others.
//!
//! The search and the replacement are one call, in which no code of Python's runs but that of keys in dicts. So no
//! other thread runs between them. That matters: the garbage collector shows tuples that a thread is building, and
//! CPython cannot finish a tuple that somebody else holds. A Python without the GIL runs other threads all the
//! same; there this can happen to a thread that builds a tuple of the very objects which are replaced.
//!
//! This is more than the conversion that the rest of this crate does. In Python it could not be one step: other threads
//! run between any two instructions. The crates below this one know no Python, and all that is decided here is about
//! kinds of CPython's objects: which of them hold others, and how one is put in the place of another. A trait that told
//! them apart would leave one loop to the other crate, the one over rounds of tuples.

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple, PyType};
use rustc_hash::FxHashMap;

use crate::object_table::ObjectResult;
use crate::once::{Once, intern};

/// Puts each of `news` where its counterpart in `olds` is held: in lists, dicts, deques, cells, attributes, defaults of
/// functions and partial functions. A tuple that holds one is replaced by another tuple likewise.
///
/// `likely` are objects that may hold one and that the garbage collector may not show, after `gc.freeze()`.
#[pyfunction]
pub fn replace_held<'py>(
    py: Python<'py>,
    olds: Vec<Bound<'py, PyAny>>,
    news: Vec<Bound<'py, PyAny>>,
    likely: Vec<Bound<'py, PyAny>>,
) -> PyResult<()> {
    let classes = classes(py)?;
    let mut changes = Changes::default();
    let mut round = olds.clone();
    changes.news.extend(olds.into_iter().zip(news).map(|(old, new)| (address(&old), (old, new))));
    while !round.is_empty() {
        let mut tuples = Vec::new();
        for holder in classes.referrers(py, &round)?.into_iter().chain(likely.iter().cloned()) {
            if let Ok(tuple) = holder.cast::<PyTuple>() {
                if let Some(made) = changes.tuple(classes, tuple)? {
                    tuples.push(holder.clone());
                    changes.news.insert(address(&holder), (holder, made));
                }
            } else {
                changes.apply(classes, &holder)?;
            }
        }
        round = tuples;
    }
    // Lookups of attributes are remembered by class, and not told of changes in its dict.
    for holder in classes.referrers(py, &changes.dicts)? {
        if holder.is_instance_of::<PyType>() {
            // SAFETY: attached to the interpreter, with a class that is held. Test:
            // tests/jit/test_leaks.py.
            unsafe { ffi::PyType_Modified(holder.as_ptr().cast()) };
        }
    }
    Ok(())
}

fn address(object: &Bound<'_, PyAny>) -> usize {
    object.as_ptr() as usize
}

/// What is to be replaced, by its address; it is kept alive, so that no other object gets that.
#[derive(Default)]
struct Changes<'py> {
    news: FxHashMap<usize, (Bound<'py, PyAny>, Bound<'py, PyAny>)>,
    /// The dicts that were changed.
    dicts: Vec<Bound<'py, PyAny>>,
}

impl<'py> Changes<'py> {
    fn of(&self, old: &Bound<'py, PyAny>) -> Option<&Bound<'py, PyAny>> {
        self.news.get(&address(old)).map(|(_, new)| new)
    }

    /// The tuple that takes the place of another one; None if that holds nothing to be replaced, or is not filled yet.
    ///
    /// Tuples of classes with another `__new__` are made by that of tuples, too.
    fn tuple(
        &self,
        classes: &Classes,
        tuple: &Bound<'py, PyTuple>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = tuple.py();
        let parts = (0..tuple.len()).map(|at| {
            // SAFETY: attached, with a tuple and a place in it, which may be empty. Test:
            // tests/jit/test_leaks.py.
            unsafe {
                let part = ffi::PyTuple_GetItem(tuple.as_ptr(), at as ffi::Py_ssize_t);
                Bound::from_borrowed_ptr_or_opt(py, part)
            }
        });
        let Some(parts) = parts.collect::<Option<Vec<_>>>() else { return Ok(None) };
        if !parts.iter().any(|part| self.of(part).is_some()) {
            return Ok(None);
        }
        let parts = parts.into_iter().map(|part| self.of(&part).cloned().unwrap_or(part));
        let made = PyTuple::new(py, parts.collect::<Vec<_>>())?.into_any();
        if tuple.is_exact_instance_of::<PyTuple>() {
            return Ok(Some(made));
        }
        let made = classes.new_tuple.bind(py).call1((tuple.get_type(), made))?;
        if let (Some(own), Some(other)) = (attributes(tuple)?, attributes(&made)?) {
            other.update(own.as_mapping())?;
        }
        Ok(Some(made))
    }

    /// Replaces what an object holds.
    fn apply(&mut self, classes: &Classes, holder: &Bound<'py, PyAny>) -> PyResult<()> {
        let py = holder.py();
        let kind = holder.get_type();
        if let Ok(list) = holder.cast::<PyList>() {
            for at in 0..list.len() {
                // SAFETY: attached, with a list and a place in it, which is empty while some code
                // fills the list. Test: tests/jit/test_leaks.py.
                let part = unsafe {
                    let part = ffi::PyList_GetItem(list.as_ptr(), at as ffi::Py_ssize_t);
                    Bound::from_borrowed_ptr_or_opt(py, part)
                };
                if let Some(new) = part.and_then(|part| self.of(&part)) {
                    list.set_item(at, new)?;
                }
            }
        } else if let Ok(dict) = holder.cast::<PyDict>() {
            self.replace_values(dict)?;
        } else if kind.is(&classes.deque) {
            for at in 0..holder.len()? {
                if let Some(new) = self.of(&holder.get_item(at)?) {
                    holder.set_item(at, new)?;
                }
            }
        } else if kind.is(&classes.cell) {
            self.replace_attribute(holder, "cell_contents")?;
        } else if kind.is(&classes.function) {
            self.replace_attribute(holder, "__defaults__")?;
        } else if kind.is(&classes.partial) {
            let state = holder.call_method0("__reduce__")?.get_item(2)?.cast_into::<PyTuple>()?;
            let args = state.get_item(1)?;
            if let Some(new) = self.of(&args) {
                let others = (state.get_item(0)?, new, state.get_item(2)?, state.get_item(3)?);
                holder.call_method1("__setstate__", (others,))?;
            }
        } else if holder.is_instance_of::<PyType>() {
            for item in dict_of(classes, holder)?.call_method0("items")?.try_iter()? {
                let (name, value) = item?.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>()?;
                if let Some(new) = self.of(&value) {
                    classes.set_in_type.bind(py).call1((holder, name, new))?;
                }
            }
        } else if !kind.is(&classes.frame) {
            self.replace_members(classes, holder)?;
        }
        Ok(())
    }

    fn replace_attribute(&self, holder: &Bound<'py, PyAny>, name: &str) -> PyResult<()> {
        match self.of(&holder.getattr(name)?) {
            Some(new) => holder.setattr(name, new),
            None => Ok(()),
        }
    }

    fn replace_values(&mut self, dict: &Bound<'py, PyDict>) -> PyResult<()> {
        let found: Vec<_> = dict
            .iter()
            .filter_map(|(key, value)| self.of(&value).map(|new| (key, new.clone())))
            .collect();
        if !found.is_empty() {
            self.dicts.push(dict.clone().into_any());
        }
        found.into_iter().try_for_each(|(key, new)| dict.set_item(key, new))
    }

    /// Replaces what the slots and the attributes of an object hold.
    fn replace_members(&mut self, classes: &Classes, holder: &Bound<'py, PyAny>) -> PyResult<()> {
        let py = holder.py();
        let kind = holder.get_type();
        let bases = classes.mro_of_type.bind(py).call_method1(intern!(py, "__get__"), (kind,))?;
        for base in bases.cast::<PyTuple>()? {
            for member in dict_of(classes, &base)?.call_method0("values")?.try_iter()? {
                let member = member?;
                if !member.get_type().is(&classes.member) {
                    continue;
                }
                // Slots may be empty, and members that are written in C cannot be replaced.
                let Ok(value) = member.call_method1(intern!(py, "__get__"), (holder,)) else {
                    continue;
                };
                if let Some(new) = self.of(&value) {
                    let _ = member.call_method1(intern!(py, "__set__"), (holder, new));
                }
            }
        }
        match attributes(holder)? {
            Some(own) => self.replace_values(&own),
            None => Ok(()),
        }
    }
}

/// The attributes of a class itself, read as CPython does.
fn dict_of<'py>(classes: &Classes, class: &Bound<'py, PyAny>) -> ObjectResult<'py> {
    let py = class.py();
    classes.dict_of_type.bind(py).call_method1(intern!(py, "__get__"), (class,))
}

/// The dict of an object's attributes; None if it has none.
fn attributes<'py>(object: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyDict>>> {
    let py = object.py();
    let offset: isize = object.get_type().getattr(intern!(py, "__dictoffset__"))?.extract()?;
    if offset == 0 {
        return Ok(None);
    }
    // SAFETY: attached, with an object that has a dict. Test: tests/jit/test_leaks.py.
    let found = unsafe {
        let dict = ffi::PyObject_GenericGetDict(object.as_ptr(), std::ptr::null_mut());
        Bound::from_owned_ptr_or_err(py, dict)?
    };
    Ok(found.cast_into::<PyDict>().ok())
}

/// Classes of objects that are changed each in its own way, and readers of CPython's.
struct Classes {
    deque: Py<PyAny>,
    cell: Py<PyAny>,
    function: Py<PyAny>,
    partial: Py<PyAny>,
    frame: Py<PyAny>,
    member: Py<PyAny>,
    referrers: Py<PyAny>,
    new_tuple: Py<PyAny>,
    mro_of_type: Py<PyAny>,
    dict_of_type: Py<PyAny>,
    set_in_type: Py<PyAny>,
}

fn classes(py: Python<'_>) -> PyResult<&Classes> {
    static FOUND: Once<Classes> = Once::new();
    let get = |module: &str, name: &str| -> PyResult<Py<PyAny>> {
        Ok(py.import(module)?.getattr(name)?.unbind())
    };
    let of_type = |name: &str| -> PyResult<Py<PyAny>> {
        let dict = py.get_type::<PyType>().getattr("__dict__")?;
        Ok(dict.get_item(name)?.unbind())
    };
    FOUND.get_or_try_init(|| {
        Ok(Classes {
            deque: get("collections", "deque")?,
            cell: get("types", "CellType")?,
            function: get("types", "FunctionType")?,
            partial: get("functools", "partial")?,
            frame: get("types", "FrameType")?,
            member: get("types", "MemberDescriptorType")?,
            referrers: get("gc", "get_referrers")?,
            new_tuple: py.get_type::<PyTuple>().getattr("__new__")?.unbind(),
            mro_of_type: of_type("__mro__")?,
            dict_of_type: of_type("__dict__")?,
            set_in_type: py.get_type::<PyType>().getattr("__setattr__")?.unbind(),
        })
    })
}

impl Classes {
    /// The holders of these objects, but for the tuple in which they are handed over.
    fn referrers<'py>(
        &self,
        py: Python<'py>,
        of: &[Bound<'py, PyAny>],
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let args = PyTuple::new(py, of)?;
        let found = self.referrers.bind(py).call1(&args)?;
        Ok(found.cast_into::<PyList>()?.iter().filter(|holder| !holder.is(&args)).collect())
    }
}
