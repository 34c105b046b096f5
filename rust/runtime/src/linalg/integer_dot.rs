//! Products of integers and booleans, which no BLAS knows.

#![expect(clippy::needless_range_loop, reason = "loops over indices keep the instruction set")]

use frazil_core::DType;

use crate::arrays::axis_lines::gather;
use crate::arrays::layout::Layout;
use crate::processor::Level;
use crate::threads::attention::Patience;
use crate::threads::conduct::Halt;

/// A product of two operands of rank 1 or 2: a vector in front is a row, one behind a column.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IntegerDot {
    rows: i64,
    inner: i64,
    columns: i64,
    /// Bytes from row to row of the first operand, and along a row.
    a: [i64; 2],
    /// Bytes from row to row of the second operand, and along a row.
    b: [i64; 2],
}

/// Fewer columns than this are walked down, not across: rows of them are too short for loops.
const NARROW: usize = 8;

/// Rows and columns of the second operand that are used for all rows of the first before the next
/// ones are: as many as stay in the first cache.
const DEPTH: usize = 32;
const WIDTH: usize = 128;

/// Elements of a column that are handled at a time, where there are few columns.
const LENGTH: usize = 256;

/// Elements that are multiplied and added: modulo a power of two, or as truth values.
trait Ring: Copy {
    const ZERO: Self;

    fn add(self, other: Self) -> Self;

    fn add_product(self, a: Self, b: Self) -> Self;
}

macro_rules! ring {
    ($($unsigned:ty)*) => {
        $(impl Ring for $unsigned {
            const ZERO: $unsigned = 0;

            #[inline(always)]
            fn add(self, other: $unsigned) -> $unsigned {
                self.wrapping_add(other)
            }

            #[inline(always)]
            fn add_product(self, a: $unsigned, b: $unsigned) -> $unsigned {
                self.wrapping_add(a.wrapping_mul(b))
            }
        })*
    };
}

ring!(u8 u16 u32 u64);

/// A byte that is 0 or 1.
#[derive(Clone, Copy)]
#[repr(transparent)]
struct Truth(u8);

impl Ring for Truth {
    const ZERO: Truth = Truth(0);

    #[inline(always)]
    fn add(self, other: Truth) -> Truth {
        Truth(self.0 | other.0)
    }

    #[inline(always)]
    fn add_product(self, a: Truth, b: Truth) -> Truth {
        Truth(self.0 | (a.0 & b.0))
    }
}

/// The start of an operand, and its bytes from row to row and along a row.
#[derive(Clone, Copy)]
struct Grid {
    start: *const u8,
    steps: [i64; 2],
}

impl Grid {
    fn from(self, row: usize, column: usize) -> Grid {
        let offset = row as i64 * self.steps[0] + column as i64 * self.steps[1];
        Grid { start: self.start.wrapping_offset(offset as isize), ..self }
    }

    fn transposed(self) -> Grid {
        Grid { steps: [self.steps[1], self.steps[0]], ..self }
    }
}

impl IntegerDot {
    /// The product of operands whose shapes agree.
    pub(crate) fn new(a: &Layout, b: &Layout) -> IntegerDot {
        let matrix = |layout: &Layout| (layout.dims[0], [layout.strides[0], layout.strides[1]]);
        let (rows, a_steps) = if a.ndim() == 2 { matrix(a) } else { (1, [0, a.strides[0]]) };
        let (inner, b_steps) =
            if b.ndim() == 2 { matrix(b) } else { (b.dims[0], [b.strides[0], 0]) };
        let columns = if b.ndim() == 2 { b.dims[1] } else { 1 };
        IntegerDot { rows, inner, columns, a: a_steps, b: b_steps }
    }

    /// Writes the product, in C order. Two's complement multiplies signed and unsigned alike.
    ///
    /// # Safety
    /// The operands, of `dtype`, have the layouts that the product was made for; `result` is as
    /// large as the product and apart from them.
    pub(crate) unsafe fn run(
        &self,
        dtype: DType,
        operands: [*const u8; 2],
        result: *mut u8,
    ) -> Result<(), Halt> {
        // SAFETY: by the caller's promise, the operands have these layouts, and elements of as many
        // bytes.
        unsafe {
            match (dtype, dtype.itemsize()) {
                (DType::Bool, _) => self.multiply::<Truth>(operands, result.cast()),
                (_, 1) => self.multiply::<u8>(operands, result.cast()),
                (_, 2) => self.multiply::<u16>(operands, result.cast()),
                (_, 4) => self.multiply::<u32>(operands, result.cast()),
                _ => self.multiply::<u64>(operands, result.cast()),
            }
        }
    }

    /// In the widest registers that the processor has: integers give the same in any order.
    ///
    /// # Safety
    /// As for `run`, with elements of type `T`.
    unsafe fn multiply<T: Ring>(&self, [a, b]: [*const u8; 2], result: *mut T) -> Result<(), Halt> {
        let (mut a, mut b) = (Grid { start: a, steps: self.a }, Grid { start: b, steps: self.b });
        let mut dims = [self.rows, self.inner, self.columns].map(|length| length as usize);
        // One column is one row of the transposed product, which is the same in memory.
        if dims[2] == 1 && a.steps[1] != size_of::<T>() as i64 {
            (a, b) = (b.transposed(), a.transposed());
            dims.swap(0, 2);
        }
        // SAFETY: by the caller's promise, on a processor that was asked.
        unsafe {
            match Level::best() {
                #[cfg(target_arch = "x86_64")]
                Some(Level::Avx512) => in_avx512(a, b, dims, result),
                #[cfg(target_arch = "x86_64")]
                Some(Level::Avx2) => in_avx2(a, b, dims, result),
                None => product(a, b, dims, result),
            }
        }
    }
}

/// # Safety
/// As for [`product`], on a processor with these instructions.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
unsafe fn in_avx512<T: Ring>(
    a: Grid,
    b: Grid,
    dims: [usize; 3],
    result: *mut T,
) -> Result<(), Halt> {
    // SAFETY: by the caller's promise, the operands and the result have these sizes.
    unsafe { product(a, b, dims, result) }
}

/// # Safety
/// As for [`product`], on a processor with these instructions.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn in_avx2<T: Ring>(a: Grid, b: Grid, dims: [usize; 3], result: *mut T) -> Result<(), Halt> {
    // SAFETY: by the caller's promise, the operands and the result have these sizes.
    unsafe { product(a, b, dims, result) }
}

/// The product of matrices with these rows, inner lengths and columns.
///
/// # Safety
/// The operands are so large, as is `result`, in C order and apart from them.
#[inline(always)]
unsafe fn product<T: Ring>(a: Grid, b: Grid, dims: [usize; 3], result: *mut T) -> Result<(), Halt> {
    let [rows, _, columns] = dims;
    // SAFETY: by the caller's promise; the written memory is no operand.
    unsafe {
        result.write_bytes(0, rows * columns);
        if columns < NARROW { down(a, b, dims, result) } else { across(a, b, dims, result) }
    }
}

/// Adds a product of many columns: multiples of rows of the second operand, four at a time.
///
/// # Safety
/// As for [`product`], with a `result` that has values.
#[inline(always)]
unsafe fn across<T: Ring>(
    a: Grid,
    b: Grid,
    [rows, inner, columns]: [usize; 3],
    result: *mut T,
) -> Result<(), Halt> {
    let mut patience = Patience::new();
    let mut room = [[T::ZERO; WIDTH]; DEPTH];
    for left in (0..columns).step_by(WIDTH) {
        let width = WIDTH.min(columns - left);
        for top in (0..inner).step_by(DEPTH) {
            let depth = DEPTH.min(inner - top);
            let mut terms: [&[T]; DEPTH] = [&[]; DEPTH];
            for k in 0..depth {
                let part = b.from(top + k, left);
                let room = room[k].as_mut_ptr();
                // SAFETY: the row has so many elements from there on.
                terms[k] = unsafe { gather(part.start, part.steps[1], width, room) };
            }
            for row in 0..rows {
                patience.spend((width * depth) as i64)?;
                // SAFETY: a part of a row of the result, which is apart from the operands.
                let sums = unsafe {
                    std::slice::from_raw_parts_mut(result.add(row * columns + left), width)
                };
                let mut factors = [T::ZERO; DEPTH];
                for k in 0..depth {
                    // SAFETY: the position is inside the operand.
                    factors[k] = unsafe { a.from(row, top + k).start.cast::<T>().read() };
                }
                add_multiples(sums, &factors[..depth], &terms[..depth]);
            }
        }
    }
    Ok(())
}

/// Adds to `sums` each of the rows `terms`, times its factor: four rows at a time.
#[inline(always)]
fn add_multiples<T: Ring>(sums: &mut [T], factors: &[T], terms: &[&[T]]) {
    let width = sums.len();
    let mut k = 0;
    while k + 4 <= factors.len() {
        let [f0, f1, f2, f3] = [0, 1, 2, 3].map(|of| factors[k + of]);
        let [t0, t1, t2, t3] = [0, 1, 2, 3].map(|of| &terms[k + of][..width]);
        for j in 0..width {
            let two = sums[j].add_product(f0, t0[j]).add_product(f1, t1[j]);
            sums[j] = two.add_product(f2, t2[j]).add_product(f3, t3[j]);
        }
        k += 4;
    }
    for k in k..factors.len() {
        let terms = &terms[k][..width];
        for j in 0..width {
            sums[j] = sums[j].add_product(factors[k], terms[j]);
        }
    }
}

/// Adds a product of few columns: each result is a row times a column.
///
/// # Safety
/// As for [`product`], with a `result` that has values and at most [`NARROW`] columns.
#[inline(always)]
unsafe fn down<T: Ring>(
    a: Grid,
    b: Grid,
    [rows, inner, columns]: [usize; 3],
    result: *mut T,
) -> Result<(), Halt> {
    let mut patience = Patience::new();
    let mut room = [[T::ZERO; LENGTH]; NARROW];
    let mut line = [T::ZERO; LENGTH];
    for top in (0..inner).step_by(LENGTH) {
        let length = LENGTH.min(inner - top);
        let mut terms: [&[T]; NARROW] = [&[]; NARROW];
        for column in 0..columns {
            let part = b.from(top, column);
            let room = room[column].as_mut_ptr();
            // SAFETY: the column has so many elements from there on.
            terms[column] = unsafe { gather(part.start, part.steps[0], length, room) };
        }
        for row in 0..rows {
            patience.spend((length * columns) as i64)?;
            let part = a.from(row, top);
            // SAFETY: the row has so many elements from there on.
            let factors: &[T] =
                unsafe { gather(part.start, part.steps[1], length, line.as_mut_ptr()) };
            for column in 0..columns {
                let terms = &terms[column][..length];
                let mut sum = T::ZERO;
                for k in 0..length {
                    sum = sum.add_product(factors[k], terms[k]);
                }
                // SAFETY: the position is inside the result, which has a value there.
                unsafe {
                    let at = result.add(row * columns + column);
                    at.write(at.read().add(sum));
                }
            }
        }
    }
    Ok(())
}
