//! Products of integers and booleans, which no BLAS knows.

use frazil_core::DType;

use crate::layout::Layout;

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

/// Elements that are multiplied and added: modulo a power of two, or as truth values.
trait Ring: Copy {
    const ZERO: Self;

    fn add_product(self, a: Self, b: Self) -> Self;
}

macro_rules! ring {
    ($($unsigned:ty)*) => {
        $(impl Ring for $unsigned {
            const ZERO: $unsigned = 0;

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

    fn add_product(self, a: Truth, b: Truth) -> Truth {
        Truth(self.0 | (a.0 & b.0))
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
    pub(crate) unsafe fn run(&self, dtype: DType, operands: [*const u8; 2], result: *mut u8) {
        // SAFETY: by the caller's promise.
        unsafe {
            match (dtype, dtype.itemsize()) {
                (DType::Bool, _) => self.sum::<Truth>(operands, result.cast()),
                (_, 1) => self.sum::<u8>(operands, result.cast()),
                (_, 2) => self.sum::<u16>(operands, result.cast()),
                (_, 4) => self.sum::<u32>(operands, result.cast()),
                _ => self.sum::<u64>(operands, result.cast()),
            }
        }
    }

    /// # Safety
    /// As for `run`, with elements of type `T`.
    unsafe fn sum<T: Ring>(&self, [a, b]: [*const u8; 2], result: *mut T) {
        let at = |start: *const u8, row: i64, column: i64, steps: [i64; 2]| {
            let offset = row * steps[0] + column * steps[1];
            // SAFETY: the position is inside the operand.
            unsafe { start.wrapping_offset(offset as isize).cast::<T>().read() }
        };
        let columns = self.columns as usize;
        for row in 0..self.rows {
            let line = result.wrapping_offset((row * self.columns) as isize);
            if columns == 1 {
                let terms = (0..self.inner).map(|k| (at(a, row, k, self.a), at(b, k, 0, self.b)));
                let sum = terms.fold(T::ZERO, |sum, (x, y)| sum.add_product(x, y));
                // SAFETY: the line has one element.
                unsafe { line.write(sum) };
                continue;
            }
            for column in 0..columns {
                // SAFETY: the line has so many elements.
                unsafe { line.add(column).write(T::ZERO) };
            }
            // SAFETY: the line was written, and is apart from the operands.
            let line = unsafe { std::slice::from_raw_parts_mut(line, columns) };
            for k in 0..self.inner {
                let factor = at(a, row, k, self.a);
                if self.b[1] == size_of::<T>() as i64 {
                    let start = b.wrapping_offset((k * self.b[0]) as isize).cast::<T>();
                    // SAFETY: a row of the second operand, without gaps, has so many elements.
                    let terms = unsafe { std::slice::from_raw_parts(start, columns) };
                    for (sum, &term) in line.iter_mut().zip(terms) {
                        *sum = sum.add_product(factor, term);
                    }
                } else {
                    for (column, sum) in line.iter_mut().enumerate() {
                        *sum = sum.add_product(factor, at(b, k, column as i64, self.b));
                    }
                }
            }
        }
    }
}
