//! NumPy arrays over the core's constants.

use frazil_core::ConstantData;
use numpy::npyffi::{self, PY_ARRAY_API};
use numpy::{PyArrayDescr, PyArrayDescrMethods};
use pyo3::prelude::*;

use crate::object_table::ObjectResult;

/// A read-only array over the bytes of `data`, which `owner` keeps alive.
pub fn read_only_array<'py>(
    py: Python<'py>,
    data: &ConstantData,
    owner: &Bound<'py, PyAny>,
) -> ObjectResult<'py> {
    let descr = PyArrayDescr::new(py, data.ty().dtype().name())?;
    let mut dims: Vec<npyffi::npy_intp> =
        data.ty().shape().iter().map(|dim| dim.unwrap_or(0) as npyffi::npy_intp).collect();
    // SAFETY: `dims` has `ndim` lengths whose product times the item size is the number of bytes; flags 0 make the
    // array read-only, so the bytes are never written; the call steals the reference to the descriptor.
    // Test: tests/test_graph.py::test_constant_data_is_read_only_and_outlives_its_variable.
    let array = unsafe {
        let array = PY_ARRAY_API.PyArray_NewFromDescr(
            py,
            npyffi::get_type_object(py, npyffi::NpyTypes::PyArray_Type),
            descr.into_dtype_ptr(),
            dims.len() as i32,
            dims.as_mut_ptr(),
            std::ptr::null_mut(),
            data.bytes().as_ptr().cast_mut().cast(),
            0,
            std::ptr::null_mut(),
        );
        Bound::from_owned_ptr_or_err(py, array)?
    };
    // SAFETY: `array` is a fresh array without a base; the call steals the reference to `owner`, which keeps the
    // node and so the bytes alive. Test: as above.
    let status = unsafe {
        PY_ARRAY_API.PyArray_SetBaseObject(py, array.as_ptr().cast(), owner.clone().into_ptr())
    };
    if status < 0 {
        return Err(PyErr::fetch(py));
    }
    Ok(array)
}
