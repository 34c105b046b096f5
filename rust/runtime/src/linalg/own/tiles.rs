//! The loops of a matrix times a matrix: the result is made by tiles that stay in registers.

// The code of iterators is compiled for no instruction set but the plain one, unless it
// happens to be inlined.
#![expect(clippy::needless_range_loop, reason = "loops over indices keep the instruction set")]

use crate::linalg::own::gemm::Shape;
use crate::linalg::own::lines::Target;
use crate::linalg::own::registers::Register;
use crate::linalg::routine::Element;

/// The widest tile, in registers.
const WIDEST: usize = 3;

/// The product.
///
/// # Safety
/// The processor has the instructions of `V`; the operands and the target, which is in C order and
/// apart from them, are as large as the shape says.
#[inline(always)]
unsafe fn product<V: Register<Item = T>, T: Element>(
    shape: Shape,
    a: *const T,
    b: *const T,
    target: Target<T>,
) {
    let registers = shape.columns.div_ceil(V::COUNT);
    let mut done = 0;
    // The part of `b` above the tiles of a few columns is read again and again.
    while done < registers {
        let count = WIDEST.min(registers - done);
        let column = done * V::COUNT;
        let width = (shape.columns - column).min(count * V::COUNT);
        // SAFETY: by the caller's promise; the columns end with the matrix.
        unsafe {
            let (b, target) = (b.add(column), target.from(column));
            match count {
                1 => columns::<V, T, 1>(shape, width, a, b, target),
                2 => columns::<V, T, 2>(shape, width, a, b, target),
                _ => columns::<V, T, 3>(shape, width, a, b, target),
            }
        }
        done += count;
    }
}

/// The first `width` columns, in so many registers.
///
/// # Safety
/// As for `product`.
#[inline(always)]
unsafe fn columns<V: Register<Item = T>, T: Element, const REGISTERS: usize>(
    shape: Shape,
    width: usize,
    a: *const T,
    b: *const T,
    target: Target<T>,
) {
    // All sums and a row of `b` are to be in registers: 32 of them, or 16.
    let highest = if size_of::<V>() == 64 { 8 } else { 4 };
    let mut row = 0;
    while row < shape.rows {
        let count = highest.min(shape.rows - row);
        let a = a.wrapping_add(row * shape.a[0]);
        let target = target.from(row * shape.columns);
        // SAFETY: by the caller's promise; the rows end with the matrix.
        row += unsafe {
            match count {
                1 => tile::<V, T, REGISTERS, 1>(shape, width, a, b, target),
                2 | 3 => tile::<V, T, REGISTERS, 2>(shape, width, a, b, target),
                4..8 => tile::<V, T, REGISTERS, 4>(shape, width, a, b, target),
                _ => tile::<V, T, REGISTERS, 8>(shape, width, a, b, target),
            }
        };
    }
}

/// A tile of `ROWS` rows; how many these are.
///
/// # Safety
/// As for `product`.
#[inline(always)]
unsafe fn tile<V: Register<Item = T>, T: Element, const REGISTERS: usize, const ROWS: usize>(
    shape: Shape,
    width: usize,
    a: *const T,
    b: *const T,
    target: Target<T>,
) -> usize {
    let [down, along] = shape.a;
    // SAFETY: by the caller's promise; reads and writes end with the rows and columns.
    unsafe {
        let rest = V::first(width - (REGISTERS - 1) * V::COUNT);
        let load = |from: *const T, register: usize| {
            let from = from.wrapping_add(register * V::COUNT);
            if register == REGISTERS - 1 { V::load_some(from, rest) } else { V::load(from) }
        };
        let mut sums = [[V::splat(T::ZERO); REGISTERS]; ROWS];
        for k in 0..shape.inner {
            let mut line = [V::splat(T::ZERO); REGISTERS];
            for register in 0..REGISTERS {
                line[register] = load(b.wrapping_add(k * shape.b), register);
            }
            for row in 0..ROWS {
                let factor = V::splat(a.wrapping_add(row * down + k * along).read());
                for register in 0..REGISTERS {
                    sums[row][register] = sums[row][register].plus_product(line[register], factor);
                }
            }
        }
        let [alpha, beta] = [target.alpha, target.beta].map(|scale| V::splat(scale));
        for row in 0..ROWS {
            let places = target.at.wrapping_add(row * shape.columns);
            for register in 0..REGISTERS {
                let mut sum = sums[row][register].times(alpha);
                if target.beta != T::ZERO {
                    sum = sum.plus_product(load(places, register), beta);
                }
                let place = places.wrapping_add(register * V::COUNT);
                if register == REGISTERS - 1 {
                    sum.store_some(place, rest);
                } else {
                    sum.store(place);
                }
            }
        }
    }
    ROWS
}

/// The product, with the registers of an instruction set.
macro_rules! entry {
    ($name:ident, $registers:ident, $features:literal) => {
        /// # Safety
        /// As for [`product`].
        #[target_feature(enable = $features)]
        pub(super) unsafe fn $name<T: Element>(
            shape: Shape,
            a: *const T,
            b: *const T,
            target: Target<T>,
        ) {
            // SAFETY: by the caller's promise, the operands have this shape, and the processor
            // these instructions.
            unsafe { product::<T::$registers, T>(shape, a, b, target) }
        }
    };
}

entry!(run_avx2, Avx2, "avx2,fma");
entry!(run_avx512, Avx512, "avx2,fma,avx512f,avx512dq");
