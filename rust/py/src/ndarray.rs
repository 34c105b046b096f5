//! NumPy arrays as the runtime sees them, and back.

use std::ffi::c_int;
use std::num::NonZeroUsize;
use std::ptr;

use frazil_core::DType;
use frazil_runtime::{ArrayRef, KeptArray, LargeBuffer, Layout, OwnedArray};
use numpy::npyffi::{self, NPY_ARRAY_ALIGNED, NPY_ARRAY_WRITEABLE, NPY_TYPES, PY_ARRAY_API};
use numpy::npyffi::{PyArray_Descr, PyArrayObject, npy_intp};
use pyo3::exceptions::PyMemoryError;
use pyo3::ffi;
use pyo3::prelude::*;
use smallvec::SmallVec;

use crate::object_table::ObjectResult;
use crate::once::Once;
use crate::owned::Owned;

/// The class of arrays and the dtypes of frazil, which live as long as the interpreter.
pub struct NumPy {
    array: *mut ffi::PyTypeObject,
    /// By [`DType`].
    descrs: [*mut PyArray_Descr; DType::ALL.len()],
}

// SAFETY: the pointers are set once, to objects that are never freed, and only compared or passed
// on.
unsafe impl Send for NumPy {}
// SAFETY: as above.
unsafe impl Sync for NumPy {}

static NUMPY: Once<NumPy> = Once::new();

impl NumPy {
    /// NumPy's C functions and types.
    pub fn get(py: Python<'_>) -> &'static NumPy {
        NUMPY.get_or_init(|| {
            let descr = |dtype: DType| {
                let number = match dtype {
                    DType::Bool => NPY_TYPES::NPY_BOOL,
                    DType::Int8 => NPY_TYPES::NPY_BYTE,
                    DType::Int16 => NPY_TYPES::NPY_SHORT,
                    DType::Int32 => NPY_TYPES::NPY_INT,
                    DType::UInt8 => NPY_TYPES::NPY_UBYTE,
                    DType::UInt16 => NPY_TYPES::NPY_USHORT,
                    DType::UInt32 => NPY_TYPES::NPY_UINT,
                    DType::Float16 => NPY_TYPES::NPY_HALF,
                    DType::Float32 => NPY_TYPES::NPY_FLOAT,
                    DType::Float64 => NPY_TYPES::NPY_DOUBLE,
                    DType::Complex64 => NPY_TYPES::NPY_CFLOAT,
                    DType::Complex128 => NPY_TYPES::NPY_CDOUBLE,
                    // NumPy's int64 is C's long if that has 64 bits.
                    DType::Int64 if size_of::<std::ffi::c_long>() == 8 => NPY_TYPES::NPY_LONG,
                    DType::Int64 => NPY_TYPES::NPY_LONGLONG,
                    DType::UInt64 if size_of::<std::ffi::c_long>() == 8 => NPY_TYPES::NPY_ULONG,
                    DType::UInt64 => NPY_TYPES::NPY_ULONGLONG,
                };
                // SAFETY: the number is that of a built-in type, whose descriptor is never freed;
                // the reference is kept for ever.
                unsafe { PY_ARRAY_API.PyArray_DescrFromType(py, number as c_int) }
            };
            NumPy {
                // SAFETY: NumPy's API is at hand: it is imported first.
                array: unsafe { npyffi::get_type_object(py, npyffi::NpyTypes::PyArray_Type) },
                descrs: DType::ALL.map(descr),
            }
        })
    }

    fn descr(&self, dtype: DType) -> *mut PyArray_Descr {
        self.descrs[dtype as usize]
    }

    /// `object` as an array of `dtype` and `ndim`, if it is exactly that: no subclass, aligned,
    /// native.
    #[inline]
    pub fn view<'a>(
        &self,
        object: &'a Bound<'_, PyAny>,
        dtype: DType,
        ndim: usize,
    ) -> Option<ArrayRef<'a>> {
        // SAFETY: `object` is alive; its fields are read only where its class is that of arrays.
        unsafe {
            if ffi::Py_TYPE(object.as_ptr()) != self.array {
                return None;
            }
            let fields = &*npyffi::_PyArray_GET_ITEM_DATA(object.as_ptr().cast());
            if fields.nd as usize != ndim || fields.flags & NPY_ARRAY_ALIGNED == 0 {
                return None;
            }
            let wanted = self.descr(dtype);
            if fields.descr != wanted && !equivalent(object.py(), fields.descr, wanted) {
                return None;
            }
            Some(array_ref(object, fields, dtype))
        }
    }

    /// `object` as an array of any of frazil's types, if it is exactly that.
    pub fn view_any<'a>(&self, object: &'a Bound<'_, PyAny>) -> Option<ArrayRef<'a>> {
        // SAFETY: as for `view`.
        let ndim = unsafe {
            if ffi::Py_TYPE(object.as_ptr()) != self.array {
                return None;
            }
            (*npyffi::_PyArray_GET_ITEM_DATA(object.as_ptr().cast())).nd as usize
        };
        DType::ALL.into_iter().find_map(|dtype| self.view(object, dtype, ndim))
    }

    /// A fresh array, with the strides of an array without gaps.
    #[inline]
    pub fn empty<'py>(
        &self,
        py: Python<'py>,
        dtype: DType,
        dims: &[i64],
        strides: &[i64],
    ) -> ObjectResult<'py> {
        let item = dtype.itemsize();
        let bytes = dims.iter().product::<i64>() as usize * item;
        if bytes >= LargeBuffer::SMALLEST {
            let buffer = LargeBuffer::new(bytes)
                .map_err(|fault| PyMemoryError::new_err(fault.to_string()))?;
            let memory = Memory { buffer };
            let data = memory.buffer.as_ptr();
            return self.over_memory(
                py,
                &ArrayRef { dtype, data, dims, strides, owner: None },
                memory,
            );
        }
        // SAFETY: without data NumPy allocates as much as `dims` need, which is what these strides
        // span.
        unsafe {
            self.make(py, &ArrayRef { dtype, data: ptr::null(), dims, strides, owner: None }, 0)
        }
    }

    /// The address of the first element of an array.
    #[inline]
    pub fn data(&self, array: &Bound<'_, PyAny>) -> *mut u8 {
        debug_assert!(ptr::eq(array.get_type_ptr(), self.array));
        // SAFETY: `array` is an array that `empty` made.
        unsafe { (*npyffi::_PyArray_GET_ITEM_DATA(array.as_ptr().cast())).data.cast() }
    }

    /// Whether an array may be written to.
    pub fn is_writable(&self, array: &Bound<'_, PyAny>) -> bool {
        // SAFETY: fields are read only where the class is that of arrays.
        unsafe {
            ptr::eq(ffi::Py_TYPE(array.as_ptr()), self.array)
                && (*npyffi::_PyArray_GET_ITEM_DATA(array.as_ptr().cast())).flags
                    & NPY_ARRAY_WRITEABLE
                    != 0
        }
    }

    /// An array over an output that the runtime allocated.
    pub fn adopt<'py>(&self, py: Python<'py>, output: OwnedArray) -> ObjectResult<'py> {
        let OwnedArray { dtype, buffer, layout } = output;
        let memory = Memory { buffer: LargeBuffer::from(buffer) };
        let (data, dims, strides) = (memory.buffer.as_ptr(), &layout.dims, &layout.strides);
        self.over_memory(py, &ArrayRef { dtype, data, dims, strides, owner: None }, memory)
    }

    fn over_memory<'py>(
        &self,
        py: Python<'py>,
        array: &ArrayRef<'_>,
        memory: Memory,
    ) -> ObjectResult<'py> {
        let memory = Bound::new(py, memory)?;
        // SAFETY: the memory spans the array and is kept alive by being its base; nobody else has
        // it.
        unsafe {
            let array = self.make(py, array, NPY_ARRAY_WRITEABLE)?;
            set_base(&array, memory.into_any())?;
            Ok(array)
        }
    }

    /// A read-only view of memory that `owner` keeps alive.
    ///
    /// # Safety
    /// The array is readable as long as `owner` lives.
    pub unsafe fn view_of<'py>(
        &self,
        owner: &Bound<'py, PyAny>,
        array: &ArrayRef<'_>,
    ) -> ObjectResult<'py> {
        // SAFETY: by the caller's promise, the array is readable as long as `owner` lives.
        unsafe { self.part_of(owner, array, 0) }
    }

    /// A view of the memory of an array, as writable as that.
    ///
    /// # Safety
    /// The view lies in the memory of `owner`.
    pub unsafe fn lent_by<'py>(
        &self,
        owner: &Bound<'py, PyAny>,
        array: &ArrayRef<'_>,
    ) -> ObjectResult<'py> {
        let flags = if self.is_writable(owner) { NPY_ARRAY_WRITEABLE } else { 0 };
        // SAFETY: by the caller's promise, the view lies in the memory of `owner`.
        unsafe { self.part_of(owner, array, flags) }
    }

    /// # Safety
    /// The array is readable, and writable if the flags say so, as long as `owner` lives.
    unsafe fn part_of<'py>(
        &self,
        owner: &Bound<'py, PyAny>,
        array: &ArrayRef<'_>,
        flags: c_int,
    ) -> ObjectResult<'py> {
        // SAFETY: by the caller's promise; without the flag nothing is written.
        unsafe {
            let view = self.make(owner.py(), array, flags)?;
            set_base(&view, owner.clone())?;
            Ok(view)
        }
    }

    /// A fresh copy in C order.
    ///
    /// # Safety
    /// The array is readable during this call.
    pub unsafe fn copy_of<'py>(&self, py: Python<'py>, array: &ArrayRef<'_>) -> ObjectResult<'py> {
        // SAFETY: the view does not outlive this call, during which the memory is readable.
        unsafe {
            let view = self.make(py, array, 0)?;
            let copy = PY_ARRAY_API.PyArray_NewCopy(
                py,
                view.as_ptr().cast(),
                npyffi::NPY_ORDER::NPY_CORDER,
            );
            Bound::from_owned_ptr_or_err(py, copy)
        }
    }

    /// # Safety
    /// Unless null, the data are an aligned array of this type, dims and strides, and may be written to if the flags
    /// say so.
    #[inline]
    unsafe fn make<'py>(
        &self,
        py: Python<'py>,
        array: &ArrayRef<'_>,
        flags: c_int,
    ) -> ObjectResult<'py> {
        let ArrayRef { dtype, data, dims, strides, .. } = *array;
        let descr = self.descr(dtype);
        let mut dims: SmallVec<[npy_intp; 4]> = dims.iter().map(|&dim| dim as npy_intp).collect();
        let mut strides: SmallVec<[npy_intp; 4]> =
            strides.iter().map(|&stride| stride as npy_intp).collect();
        // NumPy is quicker with its own strides.
        let own = data.is_null() && is_c_order(&dims, &strides, dtype.itemsize());
        let strides = if own { ptr::null_mut() } else { strides.as_mut_ptr() };
        // SAFETY: the call steals a reference to the descriptor, which is taken first; dims and
        // strides have `nd` entries; the data is as the caller promised.
        unsafe {
            ffi::Py_INCREF(descr.cast());
            let array = PY_ARRAY_API.PyArray_NewFromDescr(
                py,
                self.array,
                descr,
                dims.len() as c_int,
                dims.as_mut_ptr(),
                strides,
                data.cast_mut().cast(),
                flags,
                ptr::null_mut(),
            );
            Bound::from_owned_ptr_or_err(py, array)
        }
    }
}

/// Whether two descriptors mean the same elements, such as `long` and `long long` of one size.
///
/// # Safety
/// Both are alive.
#[cold]
unsafe fn equivalent(py: Python<'_>, a: *mut PyArray_Descr, b: *mut PyArray_Descr) -> bool {
    // SAFETY: by the caller's promise, both are alive.
    unsafe { PY_ARRAY_API.PyArray_EquivTypes(py, a, b) != 0 }
}

/// # Safety
/// `fields` are the fields of the array `object`, of this element type.
unsafe fn array_ref<'a>(
    object: &'a Bound<'_, PyAny>,
    fields: &npyffi::PyArrayObject_fields,
    dtype: DType,
) -> ArrayRef<'a> {
    let ndim = fields.nd as usize;
    // SAFETY: an array has `nd` dims and strides; both live as long as it does. Its integers have
    // 64 bits: the runtime compiles nowhere else. A 0-d array has null pointers.
    let numbers = |start: *mut npy_intp| unsafe {
        if ndim == 0 { &[] } else { std::slice::from_raw_parts(start.cast::<i64>(), ndim) }
    };
    ArrayRef {
        dtype,
        data: fields.data.cast(),
        dims: numbers(fields.dimensions),
        strides: numbers(fields.strides),
        owner: NonZeroUsize::new(object.as_ptr() as usize),
    }
}

/// Whether a fresh array of these dims has these strides.
fn is_c_order(dims: &[npy_intp], strides: &[npy_intp], itemsize: usize) -> bool {
    let mut expected = itemsize as npy_intp;
    for (&length, &stride) in dims.iter().zip(strides).rev() {
        if stride != expected && length != 1 {
            return false;
        }
        expected = expected.saturating_mul(length.max(1));
    }
    true
}

/// # Safety
/// `array` is an array without a base.
unsafe fn set_base(array: &Bound<'_, PyAny>, base: Bound<'_, PyAny>) -> PyResult<()> {
    let py = array.py();
    let array: *mut PyArrayObject = array.as_ptr().cast();
    // SAFETY: by the caller's promise; the call steals the reference to the base.
    let status = unsafe { PY_ARRAY_API.PyArray_SetBaseObject(py, array, base.into_ptr()) };
    if status < 0 { Err(PyErr::fetch(py)) } else { Ok(()) }
}

/// Memory of the runtime that an array lies in.
#[pyclass(frozen, module = "frazil._core")]
struct Memory {
    buffer: LargeBuffer,
}

/// Looks up what is needed of NumPy, and makes the class of [`Memory`], which the module does not show.
pub fn settle(py: Python<'_>) {
    NumPy::get(py);
    py.get_type::<Memory>();
}

/// An array of Python as the runtime keeps it, `None` if it is not aligned or of an unknown type.
pub fn keep(object: Bound<'_, PyAny>) -> Option<KeptArray> {
    let array = NumPy::get(object.py()).view_any(&object)?;
    let (dtype, data, owner) = (array.dtype, array.data, array.owner);
    let layout = Layout { dims: array.dims.into(), strides: array.strides.into() };
    Some(KeptArray { dtype, data, layout, owner, keep: Box::new(Owned::from(object.unbind())) })
}
