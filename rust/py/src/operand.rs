//! Operands as users write them beside a variable: variables, arrays, NumPy scalars, Python numbers.

use frazil_core::node::elemwise::Operand;
use frazil_core::{ConstantData, Var, WeakScalar};
use numpy::{
    PyArrayDescr, PyArrayDescrMethods, PyReadonlyArray1, PyUntypedArray, PyUntypedArrayMethods,
};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyComplex, PyComplexMethods, PyFloat, PyInt, PyString};

use crate::container::current;
use crate::error::raise;
use crate::once::{Once, intern};
use crate::types::{dtype_of, dtype_of_descr};
use crate::variable::Variable;

/// The Python number `value` is, if it carries no dtype.
///
/// A NumPy scalar carries one, though `numpy.float64` is a float.
fn weak_scalar(value: &Bound<'_, PyAny>) -> PyResult<Option<WeakScalar>> {
    if let Ok(float) = value.cast_exact::<PyFloat>() {
        return Ok(Some(WeakScalar::Float(float.extract()?)));
    }
    if let Ok(flag) = value.cast_exact::<PyBool>() {
        return Ok(Some(WeakScalar::Bool(flag.is_true())));
    }
    if let Ok(integer) = value.cast::<PyInt>() {
        let integer: i128 = integer.call_method0(intern!(value.py(), "__index__"))?.extract()?;
        return Ok(Some(WeakScalar::Int(integer)));
    }
    if let Ok(number) = value.cast_exact::<PyComplex>() {
        return Ok(Some(WeakScalar::Complex(number.real(), number.imag())));
    }
    if value.is_instance_of::<PyFloat>() && !value.hasattr(intern!(value.py(), "dtype"))? {
        return Ok(Some(WeakScalar::Float(value.extract()?)));
    }
    Ok(None)
}

/// The Python number of a value.
pub fn python_number(py: Python<'_>, value: WeakScalar) -> PyResult<Bound<'_, PyAny>> {
    Ok(match value {
        WeakScalar::Bool(value) => PyBool::new(py, value).to_owned().into_any(),
        WeakScalar::Int(value) => value.into_pyobject(py)?.into_any(),
        WeakScalar::Float(value) => PyFloat::new(py, value).into_any(),
        WeakScalar::Complex(re, im) => PyComplex::from_doubles(py, re, im).into_any(),
    })
}

/// `value` as an operand.
pub fn operand(value: &Bound<'_, PyAny>) -> PyResult<Operand> {
    if let Ok(variable) = value.cast::<Variable>() {
        return Ok(Operand::Var(variable.get().var().clone()));
    }
    if let Some(scalar) = weak_scalar(value)? {
        return Ok(Operand::Weak(scalar));
    }
    Ok(Operand::Var(constant(value, None)?))
}

/// The constant with the content of `value`, in the current container; the variable that an array
/// stands for, which is traced.
pub fn constant(value: &Bound<'_, PyAny>, dtype: Option<&Bound<'_, PyAny>>) -> PyResult<Var> {
    if let Some(variable) = value.getattr_opt(intern!(value.py(), "__frazil_variable__"))? {
        return Ok(variable.cast::<Variable>()?.get().var().clone());
    }
    let data = data_of(value, dtype)?;
    Ok(current(value.py())?.constant(data))
}

/// The content of `value`, read as `numpy.asarray` reads it.
pub fn data_of(
    value: &Bound<'_, PyAny>,
    dtype: Option<&Bound<'_, PyAny>>,
) -> PyResult<ConstantData> {
    let py = value.py();
    if dtype.is_none()
        && let Some(scalar) = weak_scalar(value)?
    {
        return scalar.constant(scalar.default_dtype()).map_err(raise);
    }
    static ASARRAY: Once<Py<PyAny>> = Once::new();
    let asarray =
        ASARRAY.get_or_try_init(|| Ok(py.import("numpy")?.getattr("asarray")?.unbind()))?.bind(py);
    let dtype = match dtype {
        Some(dtype) => Some(PyArrayDescr::new(py, dtype_of(dtype)?.name())?),
        None => None,
    };
    let array = asarray.call1((value, dtype, "C"))?;
    let array = array.cast_into::<PyUntypedArray>()?;
    if matches!(array.dtype().kind(), b'O' | b'S' | b'U') {
        let given = match value.is_none() || value.is_instance_of::<PyString>() {
            true => value.repr()?.to_string(),
            false => format!("a {}", value.get_type().name()?),
        };
        let hint = if value.is_none() { ", which functions without a return give" } else { "" };
        return Err(PyTypeError::new_err(format!(
            "cannot make a tensor of {given}{hint}: expected a variable, a number or an array of numbers"
        )));
    }
    let array = if matches!(array.dtype().byteorder(), b'=' | b'|') {
        array
    } else {
        let native = array.dtype().call_method1("newbyteorder", ("=",))?;
        asarray.call1((array, native, "C"))?.cast_into::<PyUntypedArray>()?
    };
    let dtype = dtype_of_descr(&array.dtype())?;
    let shape: Vec<u64> = array.shape().iter().map(|&length| length as u64).collect();
    let bytes: PyReadonlyArray1<'_, u8> =
        array.call_method1("reshape", (-1,))?.call_method1("view", ("uint8",))?.extract()?;
    ConstantData::new(dtype, &shape, bytes.as_slice()?).map_err(raise)
}
