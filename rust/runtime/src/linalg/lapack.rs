//! Factors of matrices, and systems of equations with triangular ones.

use frazil_core::DType;
use serde::{Deserialize, Serialize};

use crate::arrays::layout::Layout;
use crate::arrays::scalar::Scalar;
use crate::arrays::strided::{TransferPlan, fill};
use crate::arrays::walk::Order;
use crate::error::Fault;
use crate::linalg::lanes::Work;
use crate::linalg::matrix::{Matrix, Pack, blas_int};
use crate::linalg::portions::{trsm, trsv};
use crate::linalg::routine::{Element, MatrixAt, MatrixOut, Side, Triangle, potrf};
use crate::linalg::small::{self, Grid};
use crate::linalg::stack::{behind, check_fronts, matrix};
use crate::linalg::triangle::TrianglePlan;

/// The triangle of a matrix, and whether it is transposed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TriangularForm {
    /// The lower triangle; the other one is not read.
    pub lower: bool,
    /// The transposed triangle is solved for.
    pub transposed: bool,
    /// The diagonal is not read: it is taken for ones.
    pub unit: bool,
}

/// The effect of a matrix that has no factor, or of a system that has no solution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum OnError {
    /// The call fails.
    #[default]
    Raise,
    /// All elements of the result are NaN.
    Nan,
}

impl OnError {
    /// The meaning of `done` for a result of `count` elements without gaps.
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
                // SAFETY: by the caller's promise, the result has so many elements of this dtype.
                Ok(unsafe { fill(result, count, &Scalar::from_f64(dtype, f64::NAN)) }?)
            }
            done => done,
        }
    }
}

/// The lower or upper factor of a positive definite matrix; only one triangle is read.
#[derive(Debug)]
pub(crate) struct CholeskyPlan {
    dtype: DType,
    lower: bool,
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
    /// The number of systems.
    fn columns(self) -> i32 {
        match self {
            RightSide::Vector => 1,
            RightSide::Matrix { columns, .. } => columns,
        }
    }
}

/// Whether the elements of a matrix lie along its columns rather than along its rows.
fn in_columns(layout: &Layout) -> bool {
    layout.strides[0].abs() < layout.strides[1].abs()
}

/// The layout of fresh matrices that lie as those of `like` do, with `front` axes in front of them;
/// or of a vector.
pub(crate) fn fresh_like(like: &Layout, front: usize, item: usize) -> Result<Layout, Fault> {
    let each = behind(like, front);
    if each.ndim() == 2 && in_columns(&each) {
        return fresh_in_columns(&like.dims, item);
    }
    Layout::fresh(&like.dims, item)
}

/// The layout of fresh matrices in Fortran order, one after the other; or of a vector.
pub(crate) fn fresh_in_columns(dims: &[i64], item: usize) -> Result<Layout, Fault> {
    let mut order: Order = (0..dims.len()).collect();
    if let [.., rows, columns] = &mut order[..] {
        std::mem::swap(rows, columns);
    }
    Layout::fresh_in_order(dims, item, &order)
}

/// Checks that matrices have as many rows as columns.
pub(crate) fn check_square(what: &'static str, a: &Layout) -> Result<(), Fault> {
    let each = matrix(a);
    if each.dims[0] == each.dims[1] {
        return Ok(());
    }
    Err(Fault::NotSquare { what, dims: a.dims.to_vec() })
}

/// Checks the shapes of systems `a x = b`.
pub(crate) fn check_solve(what: &'static str, a: &Layout, b: &Layout) -> Result<(), Fault> {
    check_square(what, a)?;
    let front = a.ndim() - 2;
    if a.dims[front] != b.dims[front] {
        return Err(Fault::RightSide { what, a: a.dims.to_vec(), b: b.dims.to_vec() });
    }
    check_fronts(what, &[a, b])
}

impl CholeskyPlan {
    /// The plan for a square matrix; `lower` says which triangle is read. `None`: the result holds
    /// the matrix already. `result` is laid out as [`fresh_like`] says.
    pub(crate) fn new(
        dtype: DType,
        lower: bool,
        on_error: OnError,
        a: Option<&Layout>,
        result: &Layout,
    ) -> Result<CholeskyPlan, Fault> {
        Ok(CholeskyPlan {
            dtype,
            lower,
            on_error,
            size: blas_int(result.dims[0])?,
            // A matrix of contiguous rows is its own transpose in column-major order.
            triangle: Triangle { lower: lower == in_columns(result), unit: false },
            start: TrianglePlan::new(dtype, lower, a, result),
        })
    }

    /// The operation.
    pub(crate) fn work(&self) -> (Work, DType) {
        (Work::Cholesky { lower: self.lower }, self.dtype)
    }

    /// Writes the factor.
    ///
    /// # Safety
    /// As for [`crate::linalg::stack::StackPlan::run`].
    pub(crate) unsafe fn run(&self, a: *const u8, result: *mut u8) -> Result<(), Fault> {
        // SAFETY: by the caller's promise, the operand and the result have the layouts of the plan.
        unsafe {
            let done = match self.dtype {
                DType::Float32 => self.factor::<f32>(a, result),
                _ => self.factor::<f64>(a, result),
            };
            let count = i64::from(self.size) * i64::from(self.size);
            self.on_error.settle(done, self.dtype, result, count)
        }
    }

    /// # Safety
    /// As for `run`, with elements of type `T`.
    unsafe fn factor<T: Element>(&self, a: *const u8, result: *mut u8) -> Result<(), Fault> {
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

    /// The bytes of scratch memory that a run needs.
    pub(crate) fn scratch(&self) -> usize {
        self.scratch
    }

    /// The operation.
    pub(crate) fn work(&self) -> (Work, DType) {
        (Work::Solve(self.form), self.dtype)
    }

    /// Writes the solution.
    ///
    /// # Safety
    /// As for [`crate::linalg::stack::StackPlan::run`].
    pub(crate) unsafe fn run(&self, places: [*mut u8; 3], scratch: *mut u8) -> Result<(), Fault> {
        let [a, b, result] = places;
        // SAFETY: by the caller's promise, the memory has the layouts of the plan, whose elements
        // are of this type.
        unsafe {
            let done = match self.dtype {
                DType::Float32 => self.solve::<f32>(a, b, result, scratch),
                _ => self.solve::<f64>(a, b, result, scratch),
            };
            let count = i64::from(self.size) * i64::from(self.right.columns());
            self.on_error.settle(done, self.dtype, result, count)
        }
    }

    /// # Safety
    /// As for `run`, with elements of type `T`.
    unsafe fn solve<T: Element>(
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
            // SAFETY: by the caller's promise, the matrix has the layout that it is packed from.
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
        // SAFETY: by the caller's promise, the matrix and the right side are those of `run`.
        unsafe { small::solve(size, columns, seen, a, x) };
    }
}
