//! Guards of compiled Python functions: they check that the objects which a function captured are unchanged.
//!
//! A list of checks, made by Python. None runs code of users: they look at classes, identities and
//! bits, of objects whose readers are CPython's own.

use numpy::PyUntypedArray;
use pyo3::exceptions::{PyAttributeError, PyValueError};
use pyo3::ffi;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::sync::critical_section::with_critical_section;
use pyo3::types::{
    PyBytes, PyComplex, PyDict, PyFloat, PyFrozenSet, PyInt, PyList, PySet, PyString, PyTuple,
};

use crate::ndarray::NumPy;
use crate::object_table::ObjectResult;

/// Checks of the values that a compiled function captured.
#[pyclass(frozen, module = "frazil._core")]
pub struct Guards {
    checks: Box<[Check]>,
}

/// One check: the place to read, and the value that it must have.
struct Check {
    place: GuardPlace,
    object: Py<PyAny>,
    key: Py<PyAny>,
    expected: Expected,
}

/// The place to read.
#[derive(Clone, Copy)]
enum GuardPlace {
    /// The entry of a dict.
    Item,
    /// An attribute whose reader is CPython's own, or the contents of a cell.
    Attribute,
    /// The slot of an object that a descriptor of CPython's reads.
    Member,
    /// The entry of a class's dict, by way of its proxy.
    ClassItem,
    /// The dict of an instance.
    InstanceDict,
    /// The class of an object.
    Class,
    /// The object itself.
    Itself,
    /// The keys of a dict, in order.
    Keys,
    /// The names in a class's dict, in order, by way of its proxy.
    ClassKeys,
    /// The elements of a list, a tuple or a set, in order.
    Elements,
    /// The entry of a list.
    Element,
    /// The number of elements of a list.
    Length,
    /// The bytes of an array.
    Bytes,
    /// The dtype of an array, its lengths, its strides, and its flags.
    Layout,
    /// The result of a function of CPython's that takes nothing.
    Answer,
}

/// The value that a check wants.
enum Expected {
    /// Nothing is there.
    Missing,
    /// The same object, or a number or text that Python cannot tell from it.
    Same(Py<PyAny>),
    /// An array of this dtype and rank, with length 1 in these dimensions and no others; or no
    /// other than `only`.
    Array { dtype: Py<PyAny>, ones: Box<[bool]>, only: Option<Py<PyAny>> },
}

#[pymethods]
impl Guards {
    /// `checks`: the place, the object, the key; then the value in a tuple, nothing, or a dtype,
    /// which lengths are 1, and maybe the one array that there may be.
    #[new]
    #[allow(clippy::type_complexity)]
    fn new(checks: Vec<(String, Py<PyAny>, Py<PyAny>, Bound<'_, PyTuple>)>) -> PyResult<Guards> {
        let checks = checks
            .into_iter()
            .map(|(place, object, key, wanted)| {
                let expected = match wanted.len() {
                    0 => Expected::Missing,
                    1 => Expected::Same(wanted.get_item(0)?.unbind()),
                    _ => Expected::Array {
                        dtype: wanted.get_item(0)?.unbind(),
                        ones: wanted.get_item(1)?.extract::<Vec<bool>>()?.into(),
                        only: wanted.get_item(2).ok().map(Bound::unbind),
                    },
                };
                Ok(Check { place: GuardPlace::new(&place)?, object, key, expected })
            })
            .collect::<PyResult<_>>()?;
        Ok(Guards { checks })
    }

    /// The number of the first check that fails; None if all hold.
    fn first_failure(&self, py: Python<'_>) -> PyResult<Option<usize>> {
        Ok(match self.check(py, |_| ())? {
            Checked::Hold => None,
            Checked::Fails(at) => Some(at),
        })
    }

    /// The arrays that the checks of arrays read, in their order; None if any check fails.
    fn arrays(&self, py: Python<'_>) -> PyResult<Option<Vec<Py<PyAny>>>> {
        let mut found = Vec::new();
        if self.check(py, |array| found.push(array.clone().unbind()))? == Checked::Hold {
            return Ok(Some(found));
        }
        Ok(None)
    }

    /// The value that a check reads now, in a tuple; an empty one if nothing is there.
    fn read<'py>(&self, py: Python<'py>, at: usize) -> PyResult<Bound<'py, PyTuple>> {
        let check = self
            .checks
            .get(at)
            .ok_or_else(|| PyValueError::new_err(format!("there is no check {at}")))?;
        PyTuple::new(py, check.read(py)?)
    }

    fn __len__(&self) -> usize {
        self.checks.len()
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        for check in &self.checks {
            visit.call(&check.object)?;
            visit.call(&check.key)?;
            match &check.expected {
                Expected::Missing => {}
                Expected::Same(value) => visit.call(value)?,
                Expected::Array { dtype, only, .. } => {
                    visit.call(dtype)?;
                    visit.call(only)?;
                }
            }
        }
        Ok(())
    }
}

/// Whether all checks hold, or which is the first that fails.
#[derive(PartialEq, Eq)]
pub enum Checked {
    Hold,
    Fails(usize),
}

impl Guards {
    /// Goes through the checks; `lift` gets the arrays that checks of arrays read.
    pub fn check<'py>(
        &self,
        py: Python<'py>,
        mut lift: impl FnMut(&Bound<'py, PyAny>),
    ) -> PyResult<Checked> {
        for (at, check) in self.checks.iter().enumerate() {
            if !check.holds(py, &mut lift)? {
                return Ok(Checked::Fails(at));
            }
        }
        Ok(Checked::Hold)
    }
}

impl GuardPlace {
    fn new(name: &str) -> PyResult<GuardPlace> {
        Ok(match name {
            "item" => GuardPlace::Item,
            "attribute" => GuardPlace::Attribute,
            "member" => GuardPlace::Member,
            "class item" => GuardPlace::ClassItem,
            "instance dict" => GuardPlace::InstanceDict,
            "class" => GuardPlace::Class,
            "itself" => GuardPlace::Itself,
            "keys" => GuardPlace::Keys,
            "class keys" => GuardPlace::ClassKeys,
            "elements" => GuardPlace::Elements,
            "element" => GuardPlace::Element,
            "length" => GuardPlace::Length,
            "bytes" => GuardPlace::Bytes,
            "layout" => GuardPlace::Layout,
            "answer" => GuardPlace::Answer,
            _ => return Err(PyValueError::new_err(format!("no place is called {name:?}"))),
        })
    }
}

impl Check {
    fn holds<'py>(
        &self,
        py: Python<'py>,
        lift: &mut impl FnMut(&Bound<'py, PyAny>),
    ) -> PyResult<bool> {
        let object = self.object.bind(py);
        match (self.place, &self.expected) {
            (GuardPlace::Keys, Expected::Same(keys)) => {
                let (Ok(dict), Ok(keys)) =
                    (object.cast::<PyDict>(), keys.bind(py).cast::<PyTuple>())
                else {
                    return Ok(false);
                };
                Ok(entries_are(dict, keys.len(), |at, key, _| {
                    keys.get_borrowed_item(at).is_ok_and(|wanted| same(key, &wanted))
                }))
            }
            (GuardPlace::ClassKeys, Expected::Same(keys)) => {
                let found = object.try_iter()?.collect::<PyResult<Vec<_>>>()?;
                same_all(&found, keys.bind(py))
            }
            (GuardPlace::Elements, Expected::Same(elements)) => {
                let Ok(elements) = elements.bind(py).cast::<PyTuple>() else { return Ok(false) };
                elements_are(object, elements)
            }
            (GuardPlace::Bytes, Expected::Same(bytes)) => bytes_are(object, bytes.bind(py)),
            (GuardPlace::Layout, Expected::Same(layout)) => layout_is(object, layout.bind(py)),
            (_, expected) => {
                let found = self.read(py)?;
                Ok(match (expected, found) {
                    (Expected::Missing, found) => found.is_none(),
                    (_, None) => false,
                    (Expected::Same(wanted), Some(found)) => same(&found, wanted.bind(py)),
                    (Expected::Array { dtype, ones, only }, Some(found)) => {
                        let fits = is_array(&found, dtype.bind(py), ones)
                            && only.as_ref().is_none_or(|only| found.is(only));
                        if fits {
                            lift(&found);
                        }
                        fits
                    }
                })
            }
        }
    }

    /// The present value.
    fn read<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let object = self.object.bind(py);
        let key = self.key.bind(py);
        match self.place {
            GuardPlace::Item => match object.cast::<PyDict>() {
                Ok(dict) => dict.get_item(key),
                Err(_) => Ok(None),
            },
            GuardPlace::Attribute => absent(object.getattr(key.cast::<PyString>()?), py),
            GuardPlace::Member => absent(key.call_method1("__get__", (object,)), py),
            GuardPlace::ClassItem => {
                if object.contains(key)? {
                    object.get_item(key).map(Some)
                } else {
                    Ok(None)
                }
            }
            GuardPlace::InstanceDict => {
                // SAFETY: the object is alive; a new reference or an exception comes back.
                let dict = unsafe {
                    let made = ffi::PyObject_GenericGetDict(object.as_ptr(), std::ptr::null_mut());
                    Bound::from_owned_ptr_or_err(py, made)
                };
                absent(dict, py)
            }
            GuardPlace::Class => Ok(Some(object.get_type().into_any())),
            GuardPlace::Element => {
                let at = key.extract::<usize>()?;
                Ok(object.cast::<PyList>().ok().and_then(|list| list.get_item(at).ok()))
            }
            GuardPlace::Length => {
                let length = object.cast::<PyList>().map_or(0, |list| list.len());
                Ok(Some(length.into_pyobject(py)?.into_any()))
            }
            GuardPlace::Answer => object.call0().map(Some),
            GuardPlace::Itself
            | GuardPlace::Keys
            | GuardPlace::ClassKeys
            | GuardPlace::Elements
            | GuardPlace::Bytes
            | GuardPlace::Layout => Ok(Some(object.clone())),
        }
    }
}

/// Whether an array has these elements, in C order.
fn bytes_are(array: &Bound<'_, PyAny>, wanted: &Bound<'_, PyAny>) -> PyResult<bool> {
    use numpy::PyUntypedArrayMethods;
    let Ok(wanted) = wanted.cast::<PyBytes>() else { return Ok(false) };
    let numpy = NumPy::get(array.py());
    if let Some(view) = numpy.view_any(array)
        && array.cast::<PyUntypedArray>().is_ok_and(|own| own.is_c_contiguous())
    {
        let count = view.dims.iter().product::<i64>() as usize * view.dtype.itemsize();
        if count != wanted.as_bytes().len() {
            return Ok(false);
        }
        // SAFETY: the array is alive, has no gaps and holds so many bytes, so it has an address; no
        // thread writes to an array that a call of another reads.
        let own = || unsafe { std::slice::from_raw_parts(view.data, count) };
        return Ok(count == 0 || own() == wanted.as_bytes());
    }
    array.call_method0("tobytes")?.eq(wanted)
}

/// Whether an array has this dtype, shape, strides and flags.
fn layout_is(array: &Bound<'_, PyAny>, wanted: &Bound<'_, PyAny>) -> PyResult<bool> {
    use numpy::PyUntypedArrayMethods;
    let (Ok(array), Ok(wanted)) = (array.cast_exact::<PyUntypedArray>(), wanted.cast::<PyTuple>())
    else {
        return Ok(false);
    };
    // SAFETY: the array is alive. Test: tests/jit/captured_arrays.py.
    let flags = unsafe { (*array.as_array_ptr()).fields.flags };
    let (dtype, shape, strides, known) =
        wanted.extract::<(Bound<'_, PyAny>, Vec<usize>, Vec<isize>, i32)>()?;
    Ok(flags == known
        && array.dtype().is(&dtype)
        && array.shape() == shape
        && array.strides() == strides)
}

/// The value that was read; `None` where CPython says that nothing is there.
fn absent<'py>(read: ObjectResult<'py>, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
    match read {
        Ok(value) => Ok(Some(value)),
        Err(error)
            if error.is_instance_of::<PyAttributeError>(py)
                || error.is_instance_of::<PyValueError>(py) =>
        {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Whether values are those in a tuple.
fn same_all(found: &[Bound<'_, PyAny>], wanted: &Bound<'_, PyAny>) -> PyResult<bool> {
    let wanted = wanted.cast::<PyTuple>()?;
    Ok(found.len() == wanted.len()
        && found.iter().zip(wanted.iter_borrowed()).all(|(one, other)| same(one, &other)))
}

/// Whether a list, tuple or set has these elements, in the order in which one meets them.
fn elements_are(object: &Bound<'_, PyAny>, wanted: &Bound<'_, PyTuple>) -> PyResult<bool> {
    if let Ok(list) = object.cast::<PyList>() {
        return Ok(items_are(list, wanted.len(), |at, one| {
            wanted.get_borrowed_item(at).is_ok_and(|other| same(one, &other))
        }));
    }
    if let Ok(tuple) = object.cast::<PyTuple>() {
        return Ok(tuple.len() == wanted.len()
            && tuple.iter().zip(wanted.iter_borrowed()).all(|(one, other)| same(&one, &other)));
    }
    if object.cast::<PySet>().is_err() && object.cast::<PyFrozenSet>().is_err() {
        return Ok(false);
    }
    if object.len()? != wanted.len() {
        return Ok(false);
    }
    let mut found = object.try_iter()?;
    for other in wanted.iter_borrowed() {
        // Where another thread changes the set meanwhile, the iterator raises.
        let Some(Ok(one)) = found.next() else { return Ok(false) };
        if !same(&one, &other) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether a list has `count` items and `fits` says so of each; not if another thread takes some out meanwhile.
pub fn items_are<'py>(
    list: &Bound<'py, PyList>,
    count: usize,
    mut fits: impl FnMut(usize, &Bound<'py, PyAny>) -> bool,
) -> bool {
    list.len() == count && (0..count).all(|at| list.get_item(at).is_ok_and(|item| fits(at, &item)))
}

/// Whether a dict has `count` entries and `fits` says so of each, in order.
///
/// Iterators of PyO3 panic where another thread changes the dict.
pub fn entries_are<'py>(
    dict: &Bound<'py, PyDict>,
    count: usize,
    mut fits: impl FnMut(usize, &Bound<'py, PyAny>, &Bound<'py, PyAny>) -> bool,
) -> bool {
    let py = dict.py();
    if dict.len() != count {
        return false;
    }
    with_critical_section(dict, || {
        let (mut key, mut value) = (std::ptr::null_mut(), std::ptr::null_mut());
        let (mut position, mut at) = (0, 0);
        // SAFETY: the dict is alive. The key and the value are borrowed from it; references are taken before other
        // code may end the critical section.
        while let Some((key, value)) = unsafe {
            (ffi::PyDict_Next(dict.as_ptr(), &mut position, &mut key, &mut value) != 0)
                .then(|| (Bound::from_borrowed_ptr(py, key), Bound::from_borrowed_ptr(py, value)))
        } {
            if at == count || !fits(at, &key, &value) {
                return false;
            }
            at += 1;
        }
        at == count
    })
}

/// Whether two values are the same object, or numbers or texts that Python cannot tell apart.
pub fn same(value: &Bound<'_, PyAny>, wanted: &Bound<'_, PyAny>) -> bool {
    if value.is(wanted) {
        return true;
    }
    if !value.get_type().is(wanted.get_type()) {
        return false;
    }
    if let (Ok(a), Ok(b)) = (value.cast_exact::<PyFloat>(), wanted.cast_exact::<PyFloat>()) {
        return a.value().to_bits() == b.value().to_bits();
    }
    if let (Ok(a), Ok(b)) = (value.cast_exact::<PyComplex>(), wanted.cast_exact::<PyComplex>()) {
        let bits = |x: &Bound<'_, PyComplex>| (x.real().to_bits(), x.imag().to_bits());
        return bits(a) == bits(b);
    }
    if let (Ok(a), Ok(b)) = (value.cast_exact::<PyTuple>(), wanted.cast_exact::<PyTuple>()) {
        return a.len() == b.len()
            && a.iter().zip(b.iter_borrowed()).all(|(one, other)| same(&one, &other));
    }
    let plain = value.cast_exact::<PyInt>().is_ok()
        || value.cast_exact::<PyString>().is_ok()
        || value.cast_exact::<PyBytes>().is_ok();
    plain && value.eq(wanted).unwrap_or(false)
}

fn is_array(value: &Bound<'_, PyAny>, dtype: &Bound<'_, PyAny>, ones: &[bool]) -> bool {
    let Ok(array) = value.cast_exact::<PyUntypedArray>() else { return false };
    use numpy::PyUntypedArrayMethods;
    let own = array.dtype();
    (own.is(dtype) || own.eq(dtype).unwrap_or(false))
        && array.shape().len() == ones.len()
        && array.shape().iter().zip(ones).all(|(&length, &one)| (length == 1) == one)
}
