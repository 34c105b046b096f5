//! Vectors and matrices as BLAS and LAPACK take them: lengths and distances in 32-bit integers.

use frazil_core::DType;

use crate::allocation::buffer::ALIGNMENT;
use crate::arrays::layout::Layout;
use crate::arrays::strided::TransferPlan;
use crate::error::Fault;
use crate::linalg::routine::{MatrixAt, VectorAt};
use crate::threads::conduct::Halt;

/// A vector.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Vector {
    pub(crate) length: i32,
    /// Elements from one to the next.
    pub(crate) step: i32,
}

/// A matrix, seen in column-major order: transposed if its rows are contiguous.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Matrix {
    pub(crate) transposed: bool,
    /// Elements from one row (or column) to the next.
    pub(crate) leading: i32,
}

impl Vector {
    /// The description of a layout that [`is_blas`] admits.
    pub(crate) fn new(layout: &Layout, item: usize) -> Result<Vector, Fault> {
        let step = elements(layout.strides[0], item).filter(|_| layout.dims[0] > 1).unwrap_or(1);
        Ok(Vector { length: blas_int(layout.dims[0])?, step: blas_int(step)? })
    }

    pub(crate) fn at<T>(self, at: *const T) -> VectorAt<T> {
        VectorAt { at, step: self.step }
    }
}

impl Matrix {
    /// The description of a layout that [`is_blas`] admits.
    pub(crate) fn new(layout: &Layout, item: usize) -> Result<Matrix, Fault> {
        let (transposed, length) = leading(layout, item).unwrap_or((true, layout.dims[1].max(1)));
        Ok(Matrix { transposed, leading: blas_int(length)? })
    }

    pub(crate) fn at<T>(self, at: *const T) -> MatrixAt<T> {
        MatrixAt { at, leading: self.leading, transposed: self.transposed }
    }

    /// The other triangle of memory, if the rows are contiguous.
    pub(crate) fn transposed_at<T>(self, at: *const T) -> MatrixAt<T> {
        MatrixAt { at, leading: self.leading, transposed: !self.transposed }
    }

    /// Elements between neighbours in a column, and in a row.
    pub(crate) fn steps(self) -> [i64; 2] {
        let leading = self.leading.into();
        if self.transposed { [leading, 1] } else { [1, leading] }
    }
}

/// A copy of an operand that BLAS cannot take as it lies.
#[derive(Debug)]
pub(crate) struct Pack {
    plan: TransferPlan,
    /// The place in the scratch memory.
    at: usize,
}

impl Pack {
    /// Makes `layout` one that BLAS takes, by a copy to the scratch memory if need be.
    pub(crate) fn new(
        dtype: DType,
        layout: &mut Layout,
        scratch: &mut usize,
    ) -> Result<Option<Pack>, Fault> {
        if is_blas(layout, dtype.itemsize()) {
            return Ok(None);
        }
        Pack::always(dtype, layout, scratch).map(Some)
    }

    /// A copy in C order, as which `layout` lies then.
    pub(crate) fn always(
        dtype: DType,
        layout: &mut Layout,
        scratch: &mut usize,
    ) -> Result<Pack, Fault> {
        let item = dtype.itemsize();
        let fresh = Layout::fresh(&layout.dims, item)?;
        let plan = TransferPlan::copy(dtype, layout, &fresh);
        let at = *scratch;
        *scratch += (layout.len() as usize * item).next_multiple_of(ALIGNMENT);
        *layout = fresh;
        Ok(Pack { plan, at })
    }

    /// Copies the operand; where it lies then.
    ///
    /// # Safety
    /// The operand has the layout that the plan was made for; `scratch` is as large as was noted.
    pub(crate) unsafe fn run(
        &self,
        operand: *const u8,
        scratch: *mut u8,
    ) -> Result<*const u8, Halt> {
        let fresh = scratch.wrapping_add(self.at);
        // SAFETY: by the caller's promise; each copy has its own part of the scratch memory.
        unsafe { self.plan.run(fresh, operand)? };
        Ok(fresh)
    }
}

/// A length or distance as BLAS takes it.
pub(crate) fn blas_int(length: i64) -> Result<i32, Fault> {
    i32::try_from(length).map_err(|_| Fault::BlasTooLarge { length })
}

/// The distance between neighbours in elements, if it is a whole positive number of them.
fn elements(stride: i64, item: usize) -> Option<i64> {
    let item = item as i64;
    (stride > 0 && stride % item == 0).then_some(stride / item)
}

/// Whether BLAS takes an operand as it lies.
pub(crate) fn is_blas(layout: &Layout, item: usize) -> bool {
    if layout.is_empty() {
        return true;
    }
    match layout.ndim() {
        1 => layout.dims[0] == 1 || elements(layout.strides[0], item).is_some(),
        _ => leading(layout, item).is_some(),
    }
}

/// Whether the rows are contiguous (rather than the columns), and the elements from one to the
/// next.
fn leading(layout: &Layout, item: usize) -> Option<(bool, i64)> {
    let (rows, columns) = (layout.dims[0], layout.dims[1]);
    let (down, right) = (layout.strides[0], layout.strides[1]);
    let distance = |count: i64, stride: i64, length: i64| {
        // The distance between single rows is never used, but BLAS checks it.
        let distance = if count == 1 { Some(length) } else { elements(stride, item) };
        distance.filter(|&distance| distance >= length.max(1))
    };
    if (columns == 1 || right == item as i64)
        && let Some(distance) = distance(rows, down, columns)
    {
        return Some((true, distance));
    }
    if rows == 1 || down == item as i64 {
        return distance(columns, right, rows).map(|distance| (false, distance));
    }
    None
}
