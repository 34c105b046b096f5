//! The gradient of a Cholesky factor.

use frazil_core::DType;

use crate::arrays::layout::Layout;
use crate::error::Fault;
use crate::linalg::matrix::{Matrix, Pack, blas_int};
use crate::linalg::portions::{gemm, symm_on_right, trsm};
use crate::linalg::routine::{Element, MatrixAt, MatrixOut, Side, Triangle};
use crate::linalg::triangle::TrianglePlan;

/// Rows up to which the gradient of a Cholesky factor is worked out without BLAS.
const SMALL: usize = 16;

/// The gradient of a matrix whose lower triangle was factored, given the factor and its gradient.
#[derive(Debug)]
pub(crate) struct CholeskyGradientPlan {
    dtype: DType,
    size: i32,
    factor: Matrix,
    start: TrianglePlan,
    pack: Option<Pack>,
    scratch: usize,
}

impl CholeskyGradientPlan {
    /// The plan for square matrices of one size: a lower factor, and its gradient; `None`: that is
    /// what the result holds already. `result` is in C order.
    pub(crate) fn new(
        dtype: DType,
        factor: &Layout,
        gradient: Option<&Layout>,
        result: &Layout,
    ) -> Result<CholeskyGradientPlan, Fault> {
        let mut scratch = 0;
        let mut packed = factor.clone();
        let item = dtype.itemsize();
        let mut pack = Pack::new(dtype, &mut packed, &mut scratch)?;
        if !Matrix::new(&packed, item)?.transposed {
            pack = Some(Pack::always(dtype, &mut packed, &mut scratch)?);
        }
        Ok(CholeskyGradientPlan {
            dtype,
            size: blas_int(factor.dims[0])?,
            factor: Matrix::new(&packed, item)?,
            start: TrianglePlan::new(dtype, true, gradient, result),
            pack,
            scratch,
        })
    }

    /// The bytes of scratch memory that a run needs.
    pub(crate) fn scratch(&self) -> usize {
        self.scratch
    }

    /// Writes the gradient of the factored matrix, given the factor and its gradient.
    ///
    /// # Safety
    /// As for [`crate::linalg::stack::StackPlan::run`].
    pub(crate) unsafe fn run(&self, places: [*mut u8; 3], scratch: *mut u8) -> Result<(), Fault> {
        let [factor, gradient, result] = places;
        // SAFETY: by the caller's promise, the memory has the layouts of the plan, whose elements
        // are of this type.
        unsafe {
            match self.dtype {
                DType::Float32 => self.pull::<f32>(factor, gradient, result, scratch),
                _ => self.pull::<f64>(factor, gradient, result, scratch),
            }
        }
    }

    /// # Safety
    /// As for `run`, with elements of type `T`.
    unsafe fn pull<T: Element>(
        &self,
        mut factor: *const u8,
        gradient: *const u8,
        result: *mut u8,
        scratch: *mut u8,
    ) -> Result<(), Fault> {
        let size = self.size as usize;
        // SAFETY: by the caller's promise; the result has no gaps.
        unsafe {
            if let Some(pack) = &self.pack {
                factor = pack.run(factor, scratch)?;
            }
            self.start.run(result, gradient)?;
            let leading = self.factor.leading as usize;
            let result = result.cast::<T>();
            pull(
                size,
                Rows { at: factor.cast_mut().cast(), leading },
                Rows { at: result, leading: size },
            )?;
            self.start.clear(result.cast())?;
        }
        Ok(())
    }
}

/// A square matrix of contiguous rows: in column-major order, the transposed one.
#[derive(Clone, Copy)]
struct Rows<T> {
    at: *mut T,
    leading: usize,
}

impl<T: Element> Rows<T> {
    fn part(self, row: usize, column: usize) -> Rows<T> {
        Rows { at: self.at.wrapping_add(row * self.leading + column), leading: self.leading }
    }

    /// # Safety
    /// The position is inside the matrix.
    unsafe fn get(self, row: usize, column: usize) -> T {
        // SAFETY: by the caller's promise, the position is inside the matrix.
        unsafe { self.part(row, column).at.read() }
    }

    /// # Safety
    /// The position is inside the matrix, to which no other thread writes.
    unsafe fn set(self, row: usize, column: usize, value: T) {
        // SAFETY: by the caller's promise, the position is inside the matrix, to which no other
        // thread writes.
        unsafe { self.part(row, column).at.write(value) };
    }

    fn matrix(self, transposed: bool) -> MatrixAt<T> {
        MatrixAt { at: self.at, leading: self.leading as i32, transposed }
    }

    fn out(self) -> MatrixOut<T> {
        MatrixOut { at: self.at, leading: self.leading as i32 }
    }
}

/// Turns the gradient of a lower Cholesky factor, in `g`, to that of the factored triangle. What
/// lies above the diagonal of `g` is not read, and left as anything.
///
/// With the factor in blocks, `L11`, `L21` and `L22`, the factorisation of `A` is
/// `A11 -> L11`, `L21 = A21 / L11'`, `S = A22 - L21 L21'`, `S -> L22`: this walks it backwards.
///
/// # Safety
/// Both matrices have `size` rows and columns, and are apart; no other thread writes to `g`.
unsafe fn pull<T: Element>(size: usize, factor: Rows<T>, g: Rows<T>) -> Result<(), Fault> {
    // SAFETY: by the caller's promise; each part lies inside its matrix, and the parts of `g` that are
    // written are apart from those that are read.
    unsafe {
        if size <= SMALL {
            pull_small(size, factor, g);
            return Ok(());
        }
        let first = size / 2;
        let second = size - first;
        let [m, n] = [first as i32, second as i32];
        let upper = Triangle { lower: false, unit: false };
        let (below, g_below) = (factor.part(first, 0), g.part(first, 0));
        let g_second = g.part(first, first);
        pull(second, factor.part(first, first), g_second)?;
        // An element of the diagonal stands in S once, but depends on its row of L21 twice.
        let double = T::ONE + T::ONE;
        for at in 0..second {
            g_second.set(at, at, g_second.get(at, at) * double);
        }
        symm_on_right(
            upper,
            [m, n],
            &T::MINUS_ONE,
            g_second.matrix(false),
            below.matrix(false),
            &T::ONE,
            g_below.out(),
        )?;
        for at in 0..second {
            g_second.set(at, at, g_second.get(at, at) / double);
        }
        trsm((Side::Left, upper), [m, n], factor.matrix(false), g_below.out())?;
        gemm(
            [m, m, n],
            &T::MINUS_ONE,
            below.matrix(false),
            g_below.matrix(true),
            &T::ONE,
            g.out(),
        )?;
        pull(first, factor, g)
    }
}

/// As [`pull`], column by column.
///
/// # Safety
/// As for [`pull`].
unsafe fn pull_small<T: Element>(size: usize, factor: Rows<T>, g: Rows<T>) {
    // SAFETY: all positions are inside the matrices.
    unsafe {
        for k in (0..size).rev() {
            for j in k + 1..size {
                let mut sum = g.get(j, k);
                let below = factor.get(j, k);
                for i in j..size {
                    let element = g.get(i, j);
                    sum = sum - element * factor.get(i, k);
                    if i == j {
                        sum = sum - element * below;
                    } else {
                        g.set(i, k, g.get(i, k) - element * below);
                    }
                }
                g.set(j, k, sum);
            }
            let pivot = factor.get(k, k);
            let mut diagonal = g.get(k, k);
            for j in k + 1..size {
                let element = g.get(j, k) / pivot;
                g.set(j, k, element);
                diagonal = diagonal - factor.get(j, k) * element;
            }
            g.set(k, k, diagonal / (pivot + pivot));
        }
    }
}
