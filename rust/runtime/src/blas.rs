//! Products of vectors and matrices by BLAS.
//!
//! The routines come from outside as function pointers with Fortran's conventions: everything by
//! address, matrices in column-major order.

use std::ffi::{c_char, c_void};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use frazil_core::DType;

use crate::error::Fault;
use crate::layout::Layout;
use crate::strided::{Transfer, TransferPlan};

/// A routine that the runtime calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Routine {
    Dgemm,
    Sgemm,
    Dgemv,
    Sgemv,
    Ddot,
    Sdot,
}

impl Routine {
    /// Every routine.
    pub const ALL: [Routine; 6] = [
        Routine::Dgemm,
        Routine::Sgemm,
        Routine::Dgemv,
        Routine::Sgemv,
        Routine::Ddot,
        Routine::Sdot,
    ];

    /// The name in BLAS.
    pub fn name(self) -> &'static str {
        match self {
            Routine::Dgemm => "dgemm",
            Routine::Sgemm => "sgemm",
            Routine::Dgemv => "dgemv",
            Routine::Sgemv => "sgemv",
            Routine::Ddot => "ddot",
            Routine::Sdot => "sdot",
        }
    }

    /// The routine of this name.
    pub fn from_name(name: &str) -> Option<Routine> {
        Routine::ALL.into_iter().find(|routine| routine.name() == name)
    }

    fn address(self) -> Result<*mut c_void, Fault> {
        let address = ADDRESSES[self as usize].load(Ordering::Acquire);
        if address.is_null() {
            Err(Fault::BlasMissing { routine: self.name() })
        } else {
            Ok(address)
        }
    }
}

static ADDRESSES: [AtomicPtr<c_void>; 6] = [const { AtomicPtr::new(ptr::null_mut()) }; 6];

/// Tells where a routine lies, for every program of the process.
///
/// # Safety
/// The address is that of the BLAS routine of this name, with 32-bit integers, callable from many
/// threads.
pub unsafe fn set_routine(routine: Routine, address: *const c_void) {
    ADDRESSES[routine as usize].store(address.cast_mut(), Ordering::Release);
}

type Gemm<T> = unsafe extern "C" fn(
    transa: *const c_char,
    transb: *const c_char,
    m: *const i32,
    n: *const i32,
    k: *const i32,
    alpha: *const T,
    a: *const T,
    lda: *const i32,
    b: *const T,
    ldb: *const i32,
    beta: *const T,
    c: *mut T,
    ldc: *const i32,
);

type Gemv<T> = unsafe extern "C" fn(
    trans: *const c_char,
    m: *const i32,
    n: *const i32,
    alpha: *const T,
    a: *const T,
    lda: *const i32,
    x: *const T,
    incx: *const i32,
    beta: *const T,
    y: *mut T,
    incy: *const i32,
);

type Dot<T> = unsafe extern "C" fn(
    n: *const i32,
    x: *const T,
    incx: *const i32,
    y: *const T,
    incy: *const i32,
) -> T;

/// The element types that BLAS multiplies.
trait Element: Copy {
    const ZERO: Self;
    const ONE: Self;
    const DOT: Routine;
    const GEMV: Routine;
    const GEMM: Routine;
}

impl Element for f64 {
    const ZERO: f64 = 0.0;
    const ONE: f64 = 1.0;
    const DOT: Routine = Routine::Ddot;
    const GEMV: Routine = Routine::Dgemv;
    const GEMM: Routine = Routine::Dgemm;
}

impl Element for f32 {
    const ZERO: f32 = 0.0;
    const ONE: f32 = 1.0;
    const DOT: Routine = Routine::Sdot;
    const GEMV: Routine = Routine::Sgemv;
    const GEMM: Routine = Routine::Sgemm;
}

/// A vector as BLAS takes it.
#[derive(Clone, Copy, Debug)]
struct Vector {
    length: i32,
    step: i32,
}

/// A matrix as BLAS takes it, seen in column-major order: transposed if its rows are contiguous.
#[derive(Clone, Copy, Debug)]
struct Matrix {
    transposed: bool,
    leading: i32,
}

#[derive(Clone, Copy, Debug)]
enum Product {
    Dot {
        a: Vector,
        b: Vector,
    },
    /// A matrix of `rows` by `columns` times a vector.
    Gemv {
        matrix: Matrix,
        rows: i32,
        columns: i32,
        vector: Vector,
        matrix_first: bool,
    },
    Gemm {
        a: Matrix,
        b: Matrix,
        rows: i32,
        columns: i32,
        inner: i32,
    },
    /// Nothing is summed: the result is zero, or has no elements.
    Zero {
        elements: i64,
    },
}

/// A product of operands of known layouts.
#[derive(Debug)]
pub(crate) struct DotPlan {
    dtype: DType,
    product: Product,
    /// For each operand that BLAS cannot take as it lies: how to copy it, and where in the scratch
    /// memory.
    copies: [Option<(TransferPlan, usize)>; 2],
    scratch: usize,
}

/// The shape of the product of two operands of rank 1 or 2.
pub(crate) fn dot_dims(a: &Layout, b: &Layout) -> Result<Vec<i64>, Fault> {
    let (rows, left) = a.dims.split_at(a.ndim() - 1);
    let (right, columns) = b.dims.split_at(1);
    if left[0] != right[0] {
        return Err(Fault::Inner {
            a: a.dims.to_vec(),
            b: b.dims.to_vec(),
            inner: (left[0], right[0]),
        });
    }
    Ok([rows, columns].concat())
}

impl DotPlan {
    /// The plan for operands whose shapes agree; see [`dot_dims`].
    pub(crate) fn new(dtype: DType, a: &Layout, b: &Layout) -> Result<DotPlan, Fault> {
        let item = dtype.itemsize();
        let mut scratch = 0;
        let mut copies = [None, None];
        let mut layouts = [a.clone(), b.clone()];
        for (layout, copy) in layouts.iter_mut().zip(&mut copies) {
            if !is_blas(layout, item) {
                let fresh = Layout::fresh(&layout.dims, item)?;
                let plan = TransferPlan::new(
                    Transfer::Copy,
                    dtype,
                    &layout.dims,
                    &fresh.strides,
                    &layout.strides,
                );
                *copy = Some((plan, scratch));
                scratch +=
                    (layout.len() as usize * item).next_multiple_of(crate::buffer::ALIGNMENT);
                *layout = fresh;
            }
        }
        let [a, b] = &layouts;
        let product = match (a.ndim(), b.ndim()) {
            _ if a.is_empty() || b.is_empty() => {
                let outer = a.dims[..a.ndim() - 1].iter().chain(&b.dims[1..]);
                Product::Zero { elements: outer.product() }
            }
            (1, 1) => Product::Dot { a: vector(a, item)?, b: vector(b, item)? },
            (2, 1) => Product::Gemv {
                matrix: matrix(a, item)?,
                rows: blas_int(a.dims[0])?,
                columns: blas_int(a.dims[1])?,
                vector: vector(b, item)?,
                matrix_first: true,
            },
            (1, _) => {
                let transposed = crate::view::transpose(b, &[1, 0]);
                Product::Gemv {
                    matrix: matrix(&transposed, item)?,
                    rows: blas_int(transposed.dims[0])?,
                    columns: blas_int(transposed.dims[1])?,
                    vector: vector(a, item)?,
                    matrix_first: false,
                }
            }
            _ => Product::Gemm {
                a: matrix(a, item)?,
                b: matrix(b, item)?,
                rows: blas_int(a.dims[0])?,
                columns: blas_int(b.dims[1])?,
                inner: blas_int(a.dims[1])?,
            },
        };
        Ok(DotPlan { dtype, product, copies, scratch })
    }

    /// The bytes of scratch memory that a run needs.
    pub(crate) fn scratch(&self) -> usize {
        self.scratch
    }

    /// Writes the product, in C order.
    ///
    /// # Safety
    /// The operands have the layouts of the plan, `result` is as large as their product, aligned
    /// and apart from them; `scratch` is aligned and as large as [`DotPlan::scratch`] says.
    pub(crate) unsafe fn run(
        &self,
        a: *const u8,
        b: *const u8,
        result: *mut u8,
        scratch: *mut u8,
    ) -> Result<(), Fault> {
        let mut operands = [a, b];
        for (operand, copy) in operands.iter_mut().zip(&self.copies) {
            if let Some((plan, at)) = copy {
                let fresh = scratch.wrapping_add(*at);
                // SAFETY: by the caller's promise; each copy has its own part of the scratch
                // memory.
                unsafe { plan.run(fresh, *operand) };
                *operand = fresh;
            }
        }
        // SAFETY: by the caller's promise.
        unsafe {
            if self.dtype == DType::Float32 {
                self.call::<f32>(operands[0].cast(), operands[1].cast(), result.cast())
            } else {
                self.call::<f64>(operands[0].cast(), operands[1].cast(), result.cast())
            }
        }
    }

    /// # Safety
    /// As for `run`, with operands of type `T` that lie as the product says.
    unsafe fn call<T: Element>(
        &self,
        a: *const T,
        b: *const T,
        result: *mut T,
    ) -> Result<(), Fault> {
        let (zero, one) = (T::ZERO, T::ONE);
        let letter = |transposed: bool| if transposed { b'T' } else { b'N' };
        match self.product {
            Product::Zero { elements } => {
                for at in 0..elements as usize {
                    // SAFETY: the result has this many elements.
                    unsafe { result.add(at).write(zero) };
                }
            }
            Product::Dot { a: x, b: y } => {
                let address = T::DOT.address()?;
                // SAFETY: whoever set the address promised the routine; both vectors have this many
                // elements.
                unsafe {
                    let dot: Dot<T> = std::mem::transmute(address);
                    result.write(dot(&x.length, a, &x.step, b, &y.step));
                }
            }
            Product::Gemv { matrix, rows, columns, vector, matrix_first } => {
                let address = T::GEMV.address()?;
                let (matrix_at, vector_at) = if matrix_first { (a, b) } else { (b, a) };
                // In column-major order a matrix of contiguous rows is its own transpose.
                let (m, n) = if matrix.transposed { (columns, rows) } else { (rows, columns) };
                let trans = letter(matrix.transposed) as c_char;
                // SAFETY: as above; the matrix and the vector lie as their descriptions say. The
                // result is set to zero first: some routines scale what is there even by zero, and
                // a NaN would stay.
                unsafe {
                    for at in 0..rows as usize {
                        result.add(at).write(zero);
                    }
                    let gemv: Gemv<T> = std::mem::transmute(address);
                    gemv(
                        &trans,
                        &m,
                        &n,
                        &one,
                        matrix_at,
                        &matrix.leading,
                        vector_at,
                        &vector.step,
                        &zero,
                        result,
                        &1,
                    );
                }
            }
            Product::Gemm { a: left, b: right, rows, columns, inner } => {
                let address = T::GEMM.address()?;
                // The result's rows are contiguous, so BLAS is asked for its transpose: b' a'.
                let (transa, transb) =
                    (letter(!right.transposed) as c_char, letter(!left.transposed) as c_char);
                // SAFETY: as above.
                unsafe {
                    let gemm: Gemm<T> = std::mem::transmute(address);
                    gemm(
                        &transa,
                        &transb,
                        &columns,
                        &rows,
                        &inner,
                        &one,
                        b,
                        &right.leading,
                        a,
                        &left.leading,
                        &zero,
                        result,
                        &columns,
                    );
                }
            }
        }
        Ok(())
    }
}

fn blas_int(length: i64) -> Result<i32, Fault> {
    i32::try_from(length).map_err(|_| Fault::BlasTooLarge { length })
}

/// The distance between neighbours in elements, if it is a whole positive number of them.
fn elements(stride: i64, item: usize) -> Option<i64> {
    let item = item as i64;
    (stride > 0 && stride % item == 0).then_some(stride / item)
}

/// Whether BLAS takes an operand as it lies.
fn is_blas(layout: &Layout, item: usize) -> bool {
    if layout.is_empty() {
        return true;
    }
    match layout.ndim() {
        1 => layout.dims[0] == 1 || elements(layout.strides[0], item).is_some(),
        _ => leading(layout, item).is_some(),
    }
}

fn vector(layout: &Layout, item: usize) -> Result<Vector, Fault> {
    let step = elements(layout.strides[0], item).filter(|_| layout.dims[0] > 1).unwrap_or(1);
    Ok(Vector { length: blas_int(layout.dims[0])?, step: blas_int(step)? })
}

fn matrix(layout: &Layout, item: usize) -> Result<Matrix, Fault> {
    let (transposed, length) = leading(layout, item).unwrap_or((true, layout.dims[1].max(1)));
    Ok(Matrix { transposed, leading: blas_int(length)? })
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
