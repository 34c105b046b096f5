//! One product after the other, of matrices along the axes in front.

use frazil_core::DType;

use crate::arrays::layout::Layout;
use crate::arrays::walk::{Order, Strides, Walk};
use crate::error::Fault;
use crate::linalg::blas::{DotPlan, SHORT, dot_dims};
use crate::linalg::own::KeptGemv;
use crate::linalg::small::SmallDot;
use crate::threads::attention::Patience;
use crate::threads::conduct::Conduct;

/// A product of operands of known layouts: one of vectors and matrices, or one for each position
/// of the axes in front of the matrices.
#[derive(Debug)]
pub(crate) struct BatchPlan {
    each: DotPlan,
    /// `None`: there are no matrices.
    walk: Option<Walk>,
    is_long: bool,
}

/// The last two axes.
fn matrix(layout: &Layout) -> Layout {
    let front = layout.ndim().saturating_sub(2);
    Layout { dims: layout.dims[front..].into(), strides: layout.strides[front..].into() }
}

fn front(layout: &Layout) -> usize {
    layout.ndim().saturating_sub(2)
}

/// The shape of the product of two operands of rank 1 or 2, or of one higher rank.
pub(crate) fn batch_dims(a: &Layout, b: &Layout) -> Result<Vec<i64>, Fault> {
    let batch = &a.dims[..front(a)];
    if *batch != b.dims[..front(b)] {
        return Err(Fault::Batch { a: a.dims.to_vec(), b: b.dims.to_vec() });
    }
    Ok([batch, &dot_dims(&matrix(a), &matrix(b))?].concat())
}

impl BatchPlan {
    /// The plan for operands whose shapes agree, and a result in C order; see [`batch_dims`]. `same`
    /// says that both start at the same address.
    pub(crate) fn new(
        dtype: DType,
        a: &Layout,
        b: &Layout,
        result: &Layout,
        same: bool,
    ) -> Result<BatchPlan, Fault> {
        let batch = front(a);
        let same = same && a.strides[..batch] == b.strides[..front(b)];
        let each = DotPlan::new(dtype, &matrix(a), &matrix(b), same)?;
        let dims = &a.dims[..batch];
        let is_long = dims.iter().fold(each.terms(), |all, &n| all.saturating_mul(n)) > SHORT;
        let walk = (!dims.contains(&0)).then(|| {
            let mut strides = Strides::new();
            for layout in [a, b, result] {
                strides.push(layout.strides[..batch].iter().copied());
            }
            Walk::new(dims, &strides, &(0..batch).collect::<Order>())
        });
        Ok(BatchPlan { each, walk, is_long })
    }

    /// The bytes of scratch memory that a run needs.
    pub(crate) fn scratch(&self) -> usize {
        self.each.scratch()
    }

    /// The type of its elements, and the product, if it is one small one.
    pub(crate) fn small(&self) -> Option<(DType, SmallDot)> {
        self.walk.as_ref().filter(|walk| walk.is_single())?;
        self.each.small()
    }

    /// As [`DotPlan::kept`], with the type of its elements, if it is one product.
    pub(crate) fn kept(&self) -> Option<(DType, KeptGemv, bool)> {
        self.walk.as_ref().filter(|walk| walk.is_single())?;
        let (kept, matrix_first) = self.each.kept(false)?;
        Some((self.each.dtype(), kept, matrix_first))
    }

    /// Whether a run takes long enough to ask afterwards whether to stop.
    pub(crate) fn is_long(&self) -> bool {
        self.is_long
    }

    /// Writes the product, in C order.
    ///
    /// # Safety
    /// The operands have the layouts of the plan, `result` is as large as their product, aligned
    /// and apart from them; `scratch` is aligned and as large as [`BatchPlan::scratch`] says.
    pub(crate) unsafe fn run(
        &self,
        [a, b]: [*const u8; 2],
        result: *mut u8,
        scratch: *mut u8,
        conduct: &Conduct<'_>,
    ) -> Result<(), Fault> {
        let Some(walk) = &self.walk else { return Ok(()) };
        let mut pointers = [a.cast_mut(), b.cast_mut(), result];
        let mut patience = Patience::new();
        walk.visit(walk.lengths(), &mut pointers, |at| {
            let operands = [at[0].cast_const(), at[1].cast_const()];
            // SAFETY: by the caller's promise; each position has matrices of the plan's layouts.
            unsafe { self.each.run(operands, at[2], scratch, conduct)? };
            Ok(patience.spend(self.each.terms())?)
        })
    }
}
