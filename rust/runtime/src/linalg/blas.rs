//! Products of vectors and matrices: by BLAS for floats, by loops for integers.

use frazil_core::DType;

use crate::arrays::layout::Layout;
use crate::arrays::strided::TransferPlan;
use crate::error::Fault;
use crate::linalg::integer_dot::IntegerDot;
use crate::linalg::matrix::{Matrix, Pack, Vector, blas_int};
use crate::linalg::own::{KeptGemv, OwnGemm, OwnGemv};
use crate::linalg::portions::{dot, gemm, gemv, ger, syrk};
use crate::linalg::routine::{Element, MatrixAt, MatrixOut, Triangle, VectorAt};
use crate::linalg::small::SmallDot;
use crate::threads::attention::{Patience, in_portions};
use crate::threads::conduct::{Conduct, Halt};

/// Rows from which on a matrix times its own transpose is made by half.
const MIRRORED: i64 = 64;

/// Rows and columns of the squares in which half a matrix is copied to the other.
const TILE: usize = 16;

/// Products that are summed in a few microseconds.
pub(crate) const SHORT: i64 = 1 << 16;

#[derive(Debug)]
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
        /// The loops that do it without BLAS.
        own: Option<OwnGemv>,
    },
    Gemm {
        a: Matrix,
        b: Matrix,
        rows: i32,
        columns: i32,
        inner: i32,
        /// The loops that do it without BLAS.
        own: Option<OwnGemm>,
    },
    /// A matrix times its own transpose.
    Syrk {
        a: Matrix,
        rows: i32,
        inner: i32,
    },
    Integers(IntegerDot),
    Small(SmallDot),
    /// Nothing is summed.
    Zero {
        elements: i64,
    },
}

impl Product {
    /// A matrix times a vector.
    fn gemv(
        matrix: &Layout,
        vector: &Layout,
        item: usize,
        matrix_first: bool,
        scratch: &mut usize,
    ) -> Result<Product, Fault> {
        let (rows, columns) = (blas_int(matrix.dims[0])?, blas_int(matrix.dims[1])?);
        let (matrix, vector) = (Matrix::new(matrix, item)?, Vector::new(vector, item)?);
        let own = OwnGemv::new([rows, columns], matrix, vector, item, scratch);
        Ok(Product::Gemv { matrix, rows, columns, vector, matrix_first, own })
    }

    /// A matrix times a matrix.
    fn gemm(a: &Layout, b: &Layout, item: usize) -> Result<Product, Fault> {
        let (rows, columns) = (blas_int(a.dims[0])?, blas_int(b.dims[1])?);
        let inner = blas_int(a.dims[1])?;
        let (a, b) = (Matrix::new(a, item)?, Matrix::new(b, item)?);
        let own = OwnGemm::new([rows, columns, inner], a, b, item);
        Ok(Product::Gemm { a, b, rows, columns, inner, own })
    }
}

/// A product of operands of known layouts.
#[derive(Debug)]
pub(crate) struct DotPlan {
    dtype: DType,
    product: Product,
    /// For each operand that BLAS cannot take as it lies.
    packs: [Option<Pack>; 2],
    scratch: usize,
    /// The products of elements that are summed.
    terms: i64,
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
    /// The plan for operands whose shapes agree; see [`dot_dims`]. `same` says that both start at
    /// the same address.
    pub(crate) fn new(dtype: DType, a: &Layout, b: &Layout, same: bool) -> Result<DotPlan, Fault> {
        let mut scratch = 0;
        let mut packs = [None, None];
        let terms = b.dims[1..].iter().fold(a.len(), |all, &n| all.saturating_mul(n));
        if !dtype.is_float() {
            let product = Product::Integers(IntegerDot::new(a, b));
            return Ok(DotPlan { dtype, product, packs, scratch, terms });
        }
        let item = dtype.itemsize();
        if !a.is_empty()
            && !b.is_empty()
            && let Some(product) = SmallDot::new(a, b, item)
        {
            return Ok(DotPlan { dtype, product: Product::Small(product), packs, scratch, terms });
        }
        let mirrored = same
            && a.ndim() == 2
            && a.dims[0] >= MIRRORED
            && *b == crate::arrays::view::transpose(a, &[1, 0]);
        let mut layouts = [a.clone(), b.clone()];
        for (layout, pack) in layouts.iter_mut().zip(&mut packs) {
            *pack = Pack::new(dtype, layout, &mut scratch)?;
        }
        let [a, b] = &layouts;
        let product = match (a.ndim(), b.ndim()) {
            _ if a.is_empty() || b.is_empty() => {
                let outer = a.dims[..a.ndim() - 1].iter().chain(&b.dims[1..]);
                Product::Zero { elements: outer.product() }
            }
            (1, 1) => Product::Dot { a: Vector::new(a, item)?, b: Vector::new(b, item)? },
            (2, 1) => Product::gemv(a, b, item, true, &mut scratch)?,
            (1, _) => {
                let matrix = crate::arrays::view::transpose(b, &[1, 0]);
                Product::gemv(&matrix, a, item, false, &mut scratch)?
            }
            _ if mirrored => Product::Syrk {
                a: Matrix::new(a, item)?,
                rows: blas_int(a.dims[0])?,
                inner: blas_int(a.dims[1])?,
            },
            _ => Product::gemm(a, b, item)?,
        };
        Ok(DotPlan { dtype, product, packs, scratch, terms })
    }

    /// The bytes of scratch memory that a run needs.
    pub(crate) fn scratch(&self) -> usize {
        self.scratch
    }

    /// The type of its elements.
    pub(crate) fn dtype(&self) -> DType {
        self.dtype
    }

    /// The type of its elements, and the product if it is a small one.
    pub(crate) fn small(&self) -> Option<(DType, SmallDot)> {
        match self.product {
            Product::Small(product) => Some((self.dtype, product)),
            _ => None,
        }
    }

    /// The product of a matrix and a vector by a copy of the matrix, and whether this is the first operand.
    /// `None` where the copy would gain nothing. `adds`: it is added to what the result holds.
    pub(crate) fn kept(&self, adds: bool) -> Option<(KeptGemv, bool)> {
        let Product::Gemv { matrix_first, own: Some(own), .. } = &self.product else { return None };
        if self.packs.iter().any(Option::is_some) {
            return None;
        }
        let kept = match self.dtype {
            DType::Float32 => own.kept::<f32>(adds),
            _ => own.kept::<f64>(adds),
        }?;
        Some((kept, *matrix_first))
    }

    /// The products of elements that are summed.
    pub(crate) fn terms(&self) -> i64 {
        self.terms
    }

    /// Writes the product, in C order.
    ///
    /// # Safety
    /// The operands have the layouts of the plan, `result` is as large as their product, aligned
    /// and apart from them; `scratch` is aligned and as large as [`DotPlan::scratch`] says.
    pub(crate) unsafe fn run(
        &self,
        operands: [*const u8; 2],
        result: *mut u8,
        scratch: *mut u8,
        conduct: &Conduct<'_>,
    ) -> Result<(), Fault> {
        // SAFETY: by the caller's promise, all memory has the layouts and the sizes of the plan.
        unsafe {
            match self.dtype {
                DType::Float32 => {
                    self.add::<f32>(operands, (1.0, 0.0), result.cast(), scratch, conduct)
                }
                DType::Float64 => {
                    self.add::<f64>(operands, (1.0, 0.0), result.cast(), scratch, conduct)
                }
                _ => {
                    if let Product::Integers(product) = &self.product {
                        product.run(self.dtype, operands, result)?;
                    }
                    Ok(())
                }
            }
        }
    }

    /// The places of operands, or of the copies of packed ones.
    ///
    /// # Safety
    /// As for `run`, with operands of type `T`.
    unsafe fn packed<T>(
        &self,
        mut operands: [*const u8; 2],
        scratch: *mut u8,
    ) -> Result<[*const T; 2], Fault> {
        for (operand, pack) in operands.iter_mut().zip(&self.packs) {
            if let Some(pack) = pack {
                // SAFETY: by the caller's promise, the operand has the layout that it is packed from.
                *operand = unsafe { pack.run(*operand, scratch)? };
            }
        }
        Ok(operands.map(|operand| operand.cast::<T>()))
    }

    /// `result = alpha a b + beta result`. Where `beta` is zero, `result` may hold anything.
    ///
    /// # Safety
    /// As for `run`, with operands of type `T`.
    unsafe fn add<T: Element>(
        &self,
        operands: [*const u8; 2],
        (alpha, beta): (T, T),
        result: *mut T,
        scratch: *mut u8,
        conduct: &Conduct<'_>,
    ) -> Result<(), Fault> {
        if let Product::Small(product) = &self.product {
            let operands = operands.map(|operand| operand.cast::<T>());
            // SAFETY: by the caller's promise; small operands are never packed.
            unsafe { product.run(operands, (alpha, beta), result) };
            return Ok(());
        }
        // SAFETY: by the caller's promise, the operands are those of `run`, of type `T`.
        let [a, b] = unsafe { self.packed::<T>(operands, scratch)? };
        // SAFETY: by the caller's promise, for all that follows: the operands lie as the product
        // says, and the result is in C order.
        unsafe {
            if alpha == T::ZERO {
                return self.add_nothing(a, b, beta, result).map_err(Fault::from);
            }
            match self.product {
                Product::Zero { elements } => scale(result, elements, beta)?,
                Product::Dot { a: x, b: y } => result.write(dot(x.length, x.at(a), y.at(b))?),
                Product::Gemv { matrix, rows, columns, vector, matrix_first, ref own } => {
                    let (matrix_at, vector_at) = if matrix_first { (a, b) } else { (b, a) };
                    if let Some(own) = own {
                        let scales = (alpha, beta);
                        let done = own.run(matrix_at, vector_at, scales, result, scratch, conduct);
                        return done.map_err(Fault::from);
                    }
                    let (matrix, vector) = (matrix.at(matrix_at), vector.at(vector_at));
                    gemv_by_blas([rows, columns], alpha, matrix, vector, beta, result)?;
                }
                Product::Gemm { own: Some(ref own), .. } => own.run(a, b, (alpha, beta), result),
                Product::Gemm { a: left, b: right, rows, columns, inner, own: None } => {
                    let sizes = [rows, columns, inner];
                    gemm_by_blas(sizes, alpha, (left, a), (right, b), beta, result)?;
                }
                Product::Syrk { a: matrix, rows, inner } => {
                    let lower = Triangle { lower: true, unit: false };
                    let out = MatrixOut { at: result, leading: rows };
                    syrk(lower, [rows, inner], &alpha, matrix.at(a), &beta, out)?;
                    mirror(result, rows as usize)?;
                }
                Product::Integers(_) | Product::Small(_) => {}
            }
        }
        Ok(())
    }

    /// `result = 0 a b + beta result`: BLAS would not look at `a` and `b`, but zero times what is
    /// not finite is NaN.
    ///
    /// # Safety
    /// As for `add`.
    unsafe fn add_nothing<T: Element>(
        &self,
        a: *const T,
        b: *const T,
        beta: T,
        result: *mut T,
    ) -> Result<(), Halt> {
        let (first, second, columns) = match self.product {
            Product::Gemv { matrix, rows, columns, vector, matrix_first, own: _ } => {
                let (matrix_at, vector_at) = if matrix_first { (a, b) } else { (b, a) };
                let inner = columns.into();
                let first =
                    Lines { at: matrix_at, count: rows.into(), inner, steps: matrix.steps() };
                let steps = [0, vector.step.into()];
                (first, Lines { at: vector_at, count: 1, inner, steps }, 1)
            }
            Product::Gemm { a: left, b: right, rows, columns, inner, own: _ } => {
                let [down, along] = right.steps();
                let inner = inner.into();
                let first = Lines { at: a, count: rows.into(), inner, steps: left.steps() };
                let second = Lines { at: b, count: columns.into(), inner, steps: [along, down] };
                (first, second, columns.into())
            }
            // Nothing else is ever scaled.
            _ => {
                let Product::Zero { elements } = self.product else { return Ok(()) };
                // SAFETY: the result has so many elements.
                return unsafe { scale(result, elements, beta) };
            }
        };
        // SAFETY: the lines lie in the operands; the result has an element for each pair of them.
        unsafe {
            scale(result, first.count * columns, beta)?;
            let mut patience = Patience::new();
            let mut bad = Vec::new();
            for line in 0..second.count {
                bad.push(!second.is_finite(line, &mut patience)?);
            }
            for row in 0..first.count {
                let finite = first.is_finite(row, &mut patience)?;
                patience.spend(columns)?;
                for (column, &bad) in bad.iter().enumerate() {
                    if bad || !finite {
                        result.add((row * columns) as usize + column).write(T::NAN);
                    }
                }
            }
        }
        Ok(())
    }
}

/// `beta z + alpha a b`, of operands of known layouts.
#[derive(Debug)]
pub(crate) struct GemmPlan {
    product: DotPlan,
    /// How `z` gets into the result, if it is not there.
    start: Start,
}

#[derive(Debug)]
enum Start {
    /// It is there.
    There,
    /// It is copied.
    Copied(Box<TransferPlan>),
    /// The product adds to it as it lies, with these steps.
    Added(SmallDot, [isize; 2]),
}

impl GemmPlan {
    /// The plan for a product that is added to a `z` of its shape; `None`: that is what the result
    /// holds already.
    pub(crate) fn new(product: DotPlan, z: Option<&Layout>, result: &Layout) -> GemmPlan {
        let Some(z) = z else { return GemmPlan { product, start: Start::There } };
        let added = match &product.product {
            Product::Small(own) => {
                let steps = own.addend_steps(z, product.dtype.itemsize());
                steps.map(|steps| Start::Added(*own, steps))
            }
            _ => None,
        };
        let copied = || Start::Copied(Box::new(TransferPlan::copy(product.dtype, z, result)));
        let start = added.unwrap_or_else(copied);
        GemmPlan { product, start }
    }

    /// The bytes of scratch memory that a run needs.
    pub(crate) fn scratch(&self) -> usize {
        self.product.scratch()
    }

    /// The type of its elements, the product and the steps of what is added, if it is a small one that needs no copy.
    pub(crate) fn small(&self) -> Option<(DType, SmallDot, [isize; 2])> {
        let (dtype, product) = self.product.small()?;
        match self.start {
            Start::There => Some((dtype, product, product.result_steps())),
            Start::Added(_, steps) => Some((dtype, product, steps)),
            Start::Copied(_) => None,
        }
    }

    /// As [`DotPlan::kept`], with the copy of what it is added to, if that is not in its place.
    pub(crate) fn kept(&self, adds: bool) -> Option<(KeptGemv, bool, Option<&TransferPlan>)> {
        let (kept, matrix_first) = self.product.kept(adds)?;
        match &self.start {
            Start::There => Some((kept, matrix_first, None)),
            Start::Copied(start) => Some((kept, matrix_first, Some(start))),
            Start::Added(..) => None,
        }
    }

    /// The type of its elements.
    pub(crate) fn dtype(&self) -> DType {
        self.product.dtype()
    }

    /// Whether a run takes long enough to ask afterwards whether to stop.
    pub(crate) fn is_long(&self) -> bool {
        self.product.terms() > SHORT
    }

    /// Writes the sum, in C order. Where `beta` is zero, `z` is not read.
    ///
    /// # Safety
    /// As for [`DotPlan::run`]; `z` has the layout of the plan, `alpha` and `beta` are an element
    /// each. `result` is apart from all of them, but for a `z` that it holds already.
    pub(crate) unsafe fn run(
        &self,
        [z, alpha, a, b, beta]: [*const u8; 5],
        result: *mut u8,
        scratch: *mut u8,
        conduct: &Conduct<'_>,
    ) -> Result<(), Fault> {
        // SAFETY: by the caller's promise, the operands have the layouts of the plan; the scales are an element each.
        unsafe {
            if self.product.dtype == DType::Float32 {
                let scales = (alpha.cast::<f32>().read(), beta.cast::<f32>().read());
                self.add::<f32>(z, [a, b], scales, result, scratch, conduct)
            } else {
                let scales = (alpha.cast::<f64>().read(), beta.cast::<f64>().read());
                self.add::<f64>(z, [a, b], scales, result, scratch, conduct)
            }
        }
    }

    /// # Safety
    /// As for `run`, with operands of type `T`.
    unsafe fn add<T: Element>(
        &self,
        z: *const u8,
        operands: [*const u8; 2],
        scales: (T, T),
        result: *mut u8,
        scratch: *mut u8,
        conduct: &Conduct<'_>,
    ) -> Result<(), Fault> {
        // SAFETY: by the caller's promise, the operands are those of `run`, of type `T`.
        unsafe {
            match &self.start {
                Start::There => {}
                Start::Added(product, steps) => {
                    let operands = operands.map(|operand| operand.cast::<T>());
                    product.add(operands, scales, (z.cast(), *steps), result.cast());
                    return Ok(());
                }
                Start::Copied(start) if scales.1 != T::ZERO => {
                    start.run_with(result, z, conduct)?;
                }
                Start::Copied(_) => {}
            }
            self.product.add::<T>(operands, scales, result.cast(), scratch, conduct)
        }
    }
}

/// The rows, or the columns, of a matrix.
struct Lines<T> {
    at: *const T,
    count: i64,
    inner: i64,
    /// Elements from line to line, and along one.
    steps: [i64; 2],
}

impl<T: Element> Lines<T> {
    /// Whether all of a line is finite.
    ///
    /// # Safety
    /// There is such a line, and it is readable.
    unsafe fn is_finite(&self, line: i64, patience: &mut Patience) -> Result<bool, Halt> {
        let [down, along] = self.steps;
        for at in 0..self.inner {
            patience.spend(1)?;
            let element = self.at.wrapping_offset((line * down + at * along) as isize);
            // SAFETY: by the caller's promise, there is such a line of elements.
            if !unsafe { element.read() }.is_finite() {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// `result = alpha matrix vector + beta result`; `rows` and `columns` are those of the matrix.
///
/// # Safety
/// The operands lie as they say, and the result has `rows` elements.
unsafe fn gemv_by_blas<T: Element>(
    [rows, columns]: [i32; 2],
    alpha: T,
    matrix: MatrixAt<T>,
    vector: VectorAt<T>,
    beta: T,
    result: *mut T,
) -> Result<(), Fault> {
    // In column-major order a matrix of contiguous rows is its own transpose.
    let sizes = if matrix.transposed { [columns, rows] } else { [rows, columns] };
    // SAFETY: by the caller's promise, the operands lie as they say, and the result has `rows` elements.
    unsafe {
        if beta == T::ZERO {
            // Some routines scale the result even by zero, and a NaN would stay.
            scale(result, rows.into(), beta)?;
        }
        gemv(sizes, &alpha, matrix, vector, &beta, result)
    }
}

/// `result = alpha left right + beta result`. The result's rows are contiguous, so BLAS is asked for its
/// transpose, `right' left'`.
///
/// # Safety
/// The operands lie as they say, the result is in C order and has the rows and columns of `sizes`.
unsafe fn gemm_by_blas<T: Element>(
    [rows, columns, inner]: [i32; 3],
    alpha: T,
    (left, a): (Matrix, *const T),
    (right, b): (Matrix, *const T),
    beta: T,
    result: *mut T,
) -> Result<(), Fault> {
    let out = MatrixOut { at: result, leading: columns };
    // SAFETY: by the caller's promise, the operands lie as they say, and the result has the sizes in C order.
    unsafe {
        if inner == 1 && beta == T::ONE {
            let column = VectorAt { at: a, step: left.steps()[0] as i32 };
            let row = VectorAt { at: b, step: right.steps()[1] as i32 };
            return ger([columns, rows], &alpha, row, column, out);
        }
        let (first, second) = (right.transposed_at(b), left.transposed_at(a));
        gemm([columns, rows, inner], &alpha, first, second, &beta, out)
    }
}

/// `result = beta result + 0`; where `beta` is zero nothing is read.
///
/// # Safety
/// The result has `count` elements.
unsafe fn scale<T: Element>(result: *mut T, count: i64, beta: T) -> Result<(), Halt> {
    in_portions(count as usize, |part| {
        for at in part {
            // SAFETY: by the caller's promise, the result has `count` elements.
            unsafe {
                let place = result.add(at);
                let value = if beta == T::ZERO { T::ZERO } else { beta * place.read() + T::ZERO };
                place.write(value);
            }
        }
    })
}

/// Copies the lower triangle of a square matrix in column-major order to the upper one.
///
/// # Safety
/// The matrix has `size` rows and columns.
unsafe fn mirror<T: Element>(matrix: *mut T, size: usize) -> Result<(), Halt> {
    let mut patience = Patience::new();
    for column in (0..size).step_by(TILE) {
        for row in (column..size).step_by(TILE) {
            patience.spend((TILE * TILE) as i64)?;
            for i in row..(row + TILE).min(size) {
                for j in column..(column + TILE).min(i) {
                    // SAFETY: both positions are below `size * size`.
                    unsafe { matrix.add(j + i * size).write(matrix.add(i + j * size).read()) };
                }
            }
        }
    }
    Ok(())
}
