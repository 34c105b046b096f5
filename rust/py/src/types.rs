//! `TensorType`.

use frazil_core::{DType, Dim, Ty};
use numpy::{PyArrayDescr, PyArrayDescrMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

use crate::container::current;
use crate::error::raise;
use crate::object_table::wrapper;
use crate::once::Once;
use crate::variable::Variable;

/// Data type and static shape of a tensor; `None` marks a length that is not known.
///
/// Called, it gives a new input of this type.
///
/// Parameters
/// ----------
/// dtype : dtype_like
///     One of bool, int8 to int64, uint8 to uint64, float16, float32, float64, complex64,
///     complex128.
/// shape : sequence of int or None
///     The length of each dimension. Only a dimension whose length is given as 1 broadcasts.
///
/// Examples
/// --------
/// >>> import frazil as fz
/// >>> rows = fz.TensorType("float64", (None, 3))
/// >>> rows, rows.ndim, rows.broadcastable
/// (TensorType(float64[?, 3]), 2, (False, False))
/// >>> rows.accepts(fz.TensorType("float64", (2, 3)))
/// True
/// >>> rows("x").type == rows
/// True
#[pyclass(frozen, eq, hash, module = "frazil._core")]
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct TensorType(pub Ty);

/// The name of a dtype: one string, which Python compares by its address and hashes once.
pub fn dtype_name(py: Python<'_>, dtype: DType) -> Bound<'_, PyString> {
    static NAMES: Once<Vec<Py<PyString>>> = Once::new();
    let name = |own: &DType| PyString::intern(py, own.name()).unbind();
    let names = NAMES.get_or_init(|| DType::ALL.iter().map(name).collect());
    names[dtype as usize].bind(py).clone()
}

/// The frazil dtype that a dtype name, a scalar type or a NumPy dtype stands for.
pub fn dtype_of(value: &Bound<'_, PyAny>) -> PyResult<DType> {
    if let Ok(name) = value.cast::<PyString>()
        && let Ok(dtype) = name.to_str()?.parse()
    {
        return Ok(dtype);
    }
    let descr = PyArrayDescr::new(value.py(), value)?;
    dtype_of_descr(&descr)
}

/// The frazil dtype of a NumPy dtype.
pub fn dtype_of_descr(descr: &Bound<'_, PyArrayDescr>) -> PyResult<DType> {
    // Asking NumPy for the name runs Python code.
    let dtype = match (descr.kind(), descr.itemsize()) {
        (b'b', 1) => DType::Bool,
        (b'i', 1) => DType::Int8,
        (b'i', 2) => DType::Int16,
        (b'i', 4) => DType::Int32,
        (b'i', 8) => DType::Int64,
        (b'u', 1) => DType::UInt8,
        (b'u', 2) => DType::UInt16,
        (b'u', 4) => DType::UInt32,
        (b'u', 8) => DType::UInt64,
        (b'f', 2) => DType::Float16,
        (b'f', 4) => DType::Float32,
        (b'f', 8) => DType::Float64,
        (b'c', 8) => DType::Complex64,
        (b'c', 16) => DType::Complex128,
        _ => {
            let name: String = descr.getattr("name")?.extract()?;
            return name.parse().map_err(raise);
        }
    };
    Ok(dtype)
}

#[pymethods]
impl TensorType {
    #[new]
    fn new(dtype: &Bound<'_, PyAny>, shape: &Bound<'_, PyAny>) -> PyResult<TensorType> {
        let dtype = dtype_of(dtype)?;
        let dims =
            shape.try_iter()?.map(|length| dim_of(&length?)).collect::<PyResult<Vec<Dim>>>()?;
        Ok(TensorType(Ty::tensor(dtype, &dims)))
    }

    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> Bound<'py, PyString> {
        dtype_name(py, self.0.dtype())
    }

    #[getter]
    fn numpy_dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDescr>> {
        PyArrayDescr::new(py, self.0.dtype().name())
    }

    #[getter]
    fn itemsize(&self) -> usize {
        self.0.dtype().itemsize()
    }

    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.0.shape())
    }

    #[getter]
    fn ndim(&self) -> usize {
        self.0.ndim()
    }

    #[getter]
    fn broadcastable<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.0.shape().iter().map(|&dim| dim == Some(1)))
    }

    #[getter]
    fn digest(&self) -> String {
        self.0.digest().to_string()
    }

    /// A new root input of this type, in the current container.
    #[pyo3(signature = (name=None))]
    fn __call__<'py>(&self, py: Python<'py>, name: Option<&str>) -> PyResult<Bound<'py, Variable>> {
        Ok(wrapper(py, current(py)?.input(&self.0, name, None))?.cast_into()?)
    }

    /// Whether a value of type `other` may stand wherever one of this type is expected.
    fn accepts(&self, other: &TensorType) -> bool {
        self.0.accepts(&other.0)
    }

    fn __repr__(&self) -> String {
        format!("TensorType({})", self.0)
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let this = slf.get();
        let arguments = (this.dtype(slf.py()), this.shape(slf.py())?);
        (slf.get_type(), arguments).into_pyobject(slf.py())
    }
}

fn dim_of(length: &Bound<'_, PyAny>) -> PyResult<Dim> {
    if length.is_none() {
        return Ok(None);
    }
    let index = length.call_method0("__index__").map_err(|_| {
        PyTypeError::new_err(format!(
            "a static length must be a non-negative integer or None, given {}",
            length.get_type()
        ))
    })?;
    index.extract::<u64>().map(Some).map_err(|_| {
        PyValueError::new_err(format!(
            "a static length must be a non-negative integer or None, given {index}"
        ))
    })
}

/// The dtype that holds every value of all `dtypes`, as `numpy.result_type`.
#[pyfunction]
#[pyo3(signature = (*dtypes))]
pub fn promote(dtypes: Vec<String>) -> PyResult<&'static str> {
    let parsed = dtypes
        .iter()
        .map(|dtype| dtype.parse::<frazil_core::DType>())
        .collect::<Result<Vec<_>, _>>()
        .map_err(raise)?;
    parsed
        .into_iter()
        .reduce(frazil_core::DType::promote)
        .map(frazil_core::DType::name)
        .ok_or_else(|| raise(frazil_core::Error::NoOperands))
}
