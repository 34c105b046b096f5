//! Factors of matrices, and systems of equations with triangular ones.

use frazil_core::DType;
use serde::{Deserialize, Serialize};

use crate::arrays::layout::Layout;
use crate::arrays::scalar::Scalar;
use crate::arrays::strided::{TransferPlan, fill};
use crate::error::Fault;
use crate::linalg::matrix::{Matrix, Pack, blas_int};
use crate::linalg::portions::{gemm, symm_on_right, trsm, trsv};
use crate::linalg::routine::{Element, MatrixAt, MatrixOut, Side, Triangle, potrf};
use crate::linalg::small::{self, Grid};
use crate::linalg::triangle::TrianglePlan;

/// Rows up to which the gradient of a Cholesky factor is worked out without BLAS.
const SMALL: usize = 16;

/// Which triangle of a matrix, and whether it is transposed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TriangularForm {
    /// The lower triangle; the other one is not read.
    pub lower: bool,
    /// The transposed triangle is solved for.
    pub transposed: bool,
    /// The diagonal is not read: it is taken for ones.
    pub unit: bool,
}

/// What becomes of a matrix that has no factor, or of a system that has no solution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum OnError {
    /// The call fails.
    #[default]
    Raise,
    /// All elements of the result are NaN.
    Nan,
}

impl OnError {
    /// What `done` means for a result of `count` elements without gaps.
    ///
    /// # Safety
    /// The result has so many elements of `dtype`, a floating one.
    pub(crate) unsafe fn settle(
        self,
        done: Result<(), Fault>,
        dtype: DType,
        result: *mut u8,
        count: i64,
    ) -> Result<(), Fault> {
        match done {
            Err(
                Fault::NotPositiveDefinite { .. }
                | Fault::Singular { .. }
                | Fault::SingularMatrix { .. },
            ) if self == OnError::Nan => {
                // SAFETY: by the caller's promise.
                Ok(unsafe { fill(result, count, &Scalar::from_f64(dtype, f64::NAN)) }?)
            }
            done => done,
        }
    }
}

/// What is done with the operands.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "a step holds it in a box")]
pub(crate) enum LapackPlan {
    Cholesky(CholeskyPlan),
    Solve(SolvePlan),
    CholeskyGradient(CholeskyGradientPlan),
}

/// The lower or upper factor of a positive definite matrix, of which one triangle is read.
#[derive(Debug)]
pub(crate) struct CholeskyPlan {
    dtype: DType,
    on_error: OnError,
    size: i32,
    /// Seen in column-major order.
    triangle: Triangle,
    start: TrianglePlan,
}

/// The solution of a system of equations with a triangular matrix.
#[derive(Debug)]
pub(crate) struct SolvePlan {
    dtype: DType,
    form: TriangularForm,
    on_error: OnError,
    a: Matrix,
    /// The bytes from one element of the diagonal to the next.
    along: i64,
    size: i32,
    right: RightSide,
    /// How `b` gets into the result, if it is not there.
    start: Option<TransferPlan>,
    pack: Option<Pack>,
    scratch: usize,
}

#[derive(Clone, Copy, Debug)]
enum RightSide {
    Vector,
    /// So many columns, which are contiguous or whose rows are.
    Matrix {
        columns: i32,
        in_rows: bool,
    },
}

impl RightSide {
    /// How many systems there are.
    fn columns(self) -> i32 {
        match self {
            RightSide::Vector => 1,
            RightSide::Matrix { columns, .. } => columns,
        }
    }
}

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

/// Whether the elements of a matrix lie along its columns rather than along its rows.
fn in_columns(layout: &Layout) -> bool {
    layout.strides[0].abs() < layout.strides[1].abs()
}

/// The layout of a fresh matrix that lies as `like` does.
pub(crate) fn fresh_like(like: &Layout, item: usize) -> Result<Layout, Fault> {
    let order = if like.ndim() == 2 && in_columns(like) { &[1, 0][..] } else { &[0, 1] };
    Layout::fresh_in_order(&like.dims, item, &order[..like.ndim()])
}

/// Checks that a matrix has as many rows as columns.
pub(crate) fn check_square(what: &'static str, a: &Layout) -> Result<(), Fault> {
    if a.dims[0] == a.dims[1] {
        return Ok(());
    }
    Err(Fault::NotSquare { what, dims: a.dims.to_vec() })
}

/// The shape of the solution of `a x = b`.
pub(crate) fn check_solve(what: &'static str, a: &Layout, b: &Layout) -> Result<(), Fault> {
    check_square(what, a)?;
    if a.dims[0] == b.dims[0] {
        return Ok(());
    }
    Err(Fault::RightSide { what, a: a.dims.to_vec(), b: b.dims.to_vec() })
}

impl LapackPlan {
    /// The bytes of scratch memory that a run needs.
    pub(crate) fn scratch(&self) -> usize {
        match self {
            LapackPlan::Cholesky(_) => 0,
            LapackPlan::Solve(plan) => plan.scratch,
            LapackPlan::CholeskyGradient(plan) => plan.scratch,
        }
    }

    /// Writes the result; the second operand is used where there is one.
    ///
    /// # Safety
    /// The operands and the result have the layouts of the plan, aligned, the result apart from
    /// the operands but for one that it holds already; `scratch` is aligned and as large as [`LapackPlan::scratch`] says.
    pub(crate) unsafe fn run(
        &self,
        [first, second]: [*const u8; 2],
        result: *mut u8,
        scratch: *mut u8,
    ) -> Result<(), Fault> {
        // SAFETY: by the caller's promise.
        unsafe {
            match self {
                LapackPlan::Cholesky(plan) => {
                    let done = match plan.dtype {
                        DType::Float32 => plan.run::<f32>(first, result),
                        _ => plan.run::<f64>(first, result),
                    };
                    let count = i64::from(plan.size) * i64::from(plan.size);
                    plan.on_error.settle(done, plan.dtype, result, count)
                }
                LapackPlan::Solve(plan) => {
                    let done = match plan.dtype {
                        DType::Float32 => plan.run::<f32>(first, second, result, scratch),
                        _ => plan.run::<f64>(first, second, result, scratch),
                    };
                    let count = i64::from(plan.size) * i64::from(plan.right.columns());
                    plan.on_error.settle(done, plan.dtype, result, count)
                }
                LapackPlan::CholeskyGradient(plan) if plan.dtype == DType::Float32 => {
                    plan.run::<f32>(first, second, result, scratch)
                }
                LapackPlan::CholeskyGradient(plan) => {
                    plan.run::<f64>(first, second, result, scratch)
                }
            }
        }
    }
}

impl CholeskyPlan {
    /// The plan for a square matrix, of which `lower` says what is read; `None`: the one that the
    /// result holds already. `result` is laid out as [`fresh_like`] says.
    pub(crate) fn new(
        dtype: DType,
        lower: bool,
        on_error: OnError,
        a: Option<&Layout>,
        result: &Layout,
    ) -> Result<CholeskyPlan, Fault> {
        Ok(CholeskyPlan {
            dtype,
            on_error,
            size: blas_int(result.dims[0])?,
            // A matrix of contiguous rows is its own transpose in column-major order.
            triangle: Triangle { lower: lower == in_columns(result), unit: false },
            start: TrianglePlan::new(dtype, lower, a, result),
        })
    }

    /// # Safety
    /// As for [`LapackPlan::run`], with elements of type `T`.
    unsafe fn run<T: Element>(&self, a: *const u8, result: *mut u8) -> Result<(), Fault> {
        if self.size == 0 {
            return Ok(());
        }
        let matrix = MatrixOut { at: result.cast::<T>(), leading: self.size };
        // SAFETY: by the caller's promise; the result has no gaps.
        unsafe {
            self.start.run(result, a)?;
            if i64::from(self.size) <= small::SMALL {
                let mut grid = Grid::in_columns(matrix.at, self.size as usize);
                if !self.triangle.lower {
                    grid = grid.transposed();
                }
                return match small::factor_positive(self.size as usize, grid) {
                    None => Ok(()),
                    Some(order) => Err(Fault::NotPositiveDefinite { order }),
                };
            }
            match potrf(self.size, self.triangle, matrix)? {
                None => Ok(()),
                Some(order) => Err(Fault::NotPositiveDefinite { order }),
            }
        }
    }
}

impl SolvePlan {
    /// The plan for operands that [`check_solve`] admits; `None`: `b` is what the result holds
    /// already. `result` is laid out as [`fresh_like`] says of `b`.
    pub(crate) fn new(
        dtype: DType,
        form: TriangularForm,
        on_error: OnError,
        a: &Layout,
        b: Option<&Layout>,
        result: &Layout,
    ) -> Result<SolvePlan, Fault> {
        let item = dtype.itemsize();
        let mut scratch = 0;
        let mut packed = a.clone();
        let pack = Pack::new(dtype, &mut packed, &mut scratch)?;
        let right = match result.dims.get(1) {
            None => RightSide::Vector,
            Some(&columns) => {
                RightSide::Matrix { columns: blas_int(columns)?, in_rows: !in_columns(result) }
            }
        };
        Ok(SolvePlan {
            dtype,
            form,
            on_error,
            a: Matrix::new(&packed, item)?,
            along: packed.strides[0] + packed.strides[1],
            size: blas_int(a.dims[0])?,
            right,
            start: b.map(|b| TransferPlan::copy(dtype, b, result)),
            pack,
            scratch,
        })
    }

    /// # Safety
    /// As for [`LapackPlan::run`], with elements of type `T`.
    unsafe fn run<T: Element>(
        &self,
        mut a: *const u8,
        b: *const u8,
        result: *mut u8,
        scratch: *mut u8,
    ) -> Result<(), Fault> {
        if self.size == 0 || matches!(self.right, RightSide::Matrix { columns: 0, .. }) {
            return Ok(());
        }
        if let Some(pack) = &self.pack {
            // SAFETY: by the caller's promise.
            a = unsafe { pack.run(a, scratch)? };
        }
        for row in 0..i64::from(self.size) {
            let element = a.wrapping_offset((row * self.along) as isize).cast::<T>();
            // SAFETY: an element of the diagonal.
            if !self.form.unit && unsafe { element.read() } == T::ZERO {
                return Err(Fault::Singular { row });
            }
        }
        let TriangularForm { lower, transposed, unit } = self.form;
        let matrix = MatrixAt {
            at: a.cast::<T>(),
            leading: self.a.leading,
            transposed: transposed != self.a.transposed,
        };
        let triangle = Triangle { lower: lower != self.a.transposed, unit };
        // SAFETY: by the caller's promise; the result has no gaps.
        unsafe {
            if let Some(start) = &self.start {
                start.run(result, b)?;
            }
            let at = result.cast::<T>();
            if i64::from(self.size) <= small::SMALL {
                self.solve_small(triangle, matrix, at);
                return Ok(());
            }
            match self.right {
                RightSide::Vector => trsv(self.size, triangle, matrix, at),
                RightSide::Matrix { columns, in_rows: false } => {
                    let x = MatrixOut { at, leading: self.size };
                    trsm((Side::Left, triangle), [self.size, columns], matrix, x)
                }
                // In column-major order this is x' a' = b'.
                RightSide::Matrix { columns, in_rows: true } => {
                    let x = MatrixOut { at, leading: columns };
                    let matrix = MatrixAt { transposed: !matrix.transposed, ..matrix };
                    trsm((Side::Right, triangle), [columns, self.size], matrix, x)
                }
            }
        }
    }
}

impl SolvePlan {
    /// # Safety
    /// As for `run`, with the right side in the result.
    unsafe fn solve_small<T: Element>(
        &self,
        triangle: Triangle,
        matrix: MatrixAt<T>,
        result: *mut T,
    ) {
        let size = self.size as usize;
        let mut a = Grid::in_columns(matrix.at.cast_mut(), matrix.leading as usize);
        let mut seen = triangle;
        if matrix.transposed {
            a = a.transposed();
            seen.lower = !triangle.lower;
        }
        let (columns, x) = match self.right {
            RightSide::Vector => (1, Grid::in_columns(result, size)),
            RightSide::Matrix { columns, in_rows: false } => {
                (columns as usize, Grid::in_columns(result, size))
            }
            RightSide::Matrix { columns, in_rows: true } => {
                (columns as usize, Grid::in_columns(result, columns as usize).transposed())
            }
        };
        // SAFETY: by the caller's promise.
        unsafe { small::solve(size, columns, seen, a, x) };
    }
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

    /// # Safety
    /// As for [`LapackPlan::run`], with elements of type `T`.
    unsafe fn run<T: Element>(
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
        // SAFETY: by the caller's promise.
        unsafe { self.part(row, column).at.read() }
    }

    /// # Safety
    /// The position is inside the matrix, which is written by nobody else.
    unsafe fn set(self, row: usize, column: usize, value: T) {
        // SAFETY: by the caller's promise.
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
/// Both matrices have `size` rows and columns, and are apart; `g` is written by nobody else.
unsafe fn pull<T: Element>(size: usize, factor: Rows<T>, g: Rows<T>) -> Result<(), Fault> {
    // SAFETY: by the caller's promise; each part lies inside its matrix, and those of `g` that are
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
