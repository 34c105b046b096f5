//! The loops of a matrix times a vector, over the matrix as it lies: lines without gaps.
//!
//! Both walk one half of the lines after the other, and either may come first: the result is the
//! same to the last bit.

// The functions of iterators are compiled for no instruction set but the plain one, unless each
// happens to be inlined.
#![expect(clippy::needless_range_loop, reason = "loops over indices keep the instruction set")]

use crate::linalg::own::gemv::Lines;
use crate::linalg::own::registers::{BLOCK, Register};
use crate::linalg::routine::Element;

/// The widest stripe of columns, in registers.
const WIDEST: usize = 16;

/// A vector times the scales of a product, added to the result.
#[derive(Clone, Copy)]
pub(super) struct Target<T> {
    pub(super) alpha: T,
    pub(super) beta: T,
    pub(super) at: *mut T,
}

impl<T: Element> Target<T> {
    pub(super) fn from(self, element: usize) -> Target<T> {
        Target { at: self.at.wrapping_add(element), ..self }
    }
}

/// Each line times `x`, which has no gaps.
///
/// # Safety
/// The processor has the instructions of `V`; the matrix has these lines, `x` an element for each
/// of a line's, the target one for each line, apart from both.
#[inline(always)]
pub(super) unsafe fn dots<V: Register<Item = T>, T: Element>(
    lines: Lines,
    matrix: *const T,
    x: *const T,
    target: Target<T>,
    last_half_first: bool,
) {
    let half = lines.first_half();
    for turn in [last_half_first, !last_half_first] {
        let (mut line, end) = if turn { (half, lines.count) } else { (0, half) };
        while line < end {
            let at = matrix.wrapping_add(line * lines.leading);
            let count = (end - line).min(BLOCK);
            // SAFETY: by the caller's promise, for this many lines from here.
            unsafe {
                let sums = match count {
                    1 => block::<V, T, 1>(lines, at, x),
                    2 => block::<V, T, 2>(lines, at, x),
                    3 => block::<V, T, 3>(lines, at, x),
                    4 => block::<V, T, 4>(lines, at, x),
                    5 => block::<V, T, 5>(lines, at, x),
                    6 => block::<V, T, 6>(lines, at, x),
                    7 => block::<V, T, 7>(lines, at, x),
                    _ => block::<V, T, 8>(lines, at, x),
                };
                let Target { alpha, beta, at } = target.from(line);
                for i in 0..count {
                    let (sum, place) = (alpha * sums[i], at.add(i));
                    place.write(if beta == T::ZERO { sum } else { sum + beta * place.read() });
                }
            }
            line += count;
        }
    }
}

/// The sums of the products of `x` with `LINES` lines; zeros after these.
///
/// # Safety
/// As for `dots`, for so many lines.
#[inline(always)]
unsafe fn block<V: Register<Item = T>, T: Element, const LINES: usize>(
    lines: Lines,
    matrix: *const T,
    x: *const T,
) -> [T; BLOCK] {
    let at = |line: usize, k: usize| matrix.wrapping_add(line * lines.leading + k);
    // SAFETY: by the caller's promise; loads end with the lines.
    unsafe {
        let mut sums = [V::splat(T::ZERO); BLOCK];
        let mut k = 0;
        while k + V::COUNT <= lines.length {
            let factor = V::load(x.add(k));
            for line in 0..LINES {
                sums[line] = sums[line].plus_product(V::load(at(line, k)), factor);
            }
            k += V::COUNT;
        }
        if k < lines.length {
            let rest = V::first(lines.length - k);
            let factor = V::load_some(x.add(k), rest);
            for line in 0..LINES {
                sums[line] = sums[line].plus_product(V::load_some(at(line, k), rest), factor);
            }
        }
        V::sums(sums)
    }
}

/// The sum of all lines, each times its element of `x`, which are `step` apart.
///
/// # Safety
/// As for `dots`, but that `x` has an element for each line and the target one for each of a line's.
#[inline(always)]
pub(super) unsafe fn combination<V: Register<Item = T>, T: Element>(
    lines: Lines,
    matrix: *const T,
    x: (*const T, isize),
    target: Target<T>,
    last_half_first: bool,
) {
    // Half of the registers are for other things where there are but sixteen.
    let widest = if size_of::<V>() == 64 { WIDEST } else { WIDEST / 2 };
    let registers = lines.length.div_ceil(V::COUNT);
    let each = registers.div_ceil(registers.div_ceil(widest));
    let mut done = 0;
    while done < registers {
        let count = each.min(registers - done);
        let first = done * V::COUNT;
        let stripe = Lines { length: (lines.length - first).min(count * V::COUNT), ..lines };
        let (matrix, target) = (matrix.wrapping_add(first), target.from(first));
        macro_rules! by_width {
            ($($registers:literal of $turns:literal),*) => {
                match count {
                    // No code is made for more than the widest.
                    // SAFETY: by the caller's promise; the stripe ends with the lines.
                    $($registers if $registers <= widest => unsafe {
                        columns::<V, T, $registers, $turns>(
                            stripe, matrix, x, target, last_half_first,
                        )
                    },)*
                    _ => unreachable!("a stripe has up to {WIDEST} registers"),
                }
            };
        }
        // A sum waits for the one before: where there are few, several lines are summed apart.
        by_width!(
            1 of 4, 2 of 4, 3 of 2, 4 of 2, 5 of 2, 6 of 2, 7 of 1, 8 of 1, 9 of 1, 10 of 1,
            11 of 1, 12 of 1, 13 of 1, 14 of 1, 15 of 1, 16 of 1
        );
        done += count;
    }
}

/// A combination of lines of `REGISTERS` registers; the last one may not be full.
///
/// # Safety
/// As for `combination`.
#[inline(always)]
unsafe fn columns<V: Register<Item = T>, T: Element, const REGISTERS: usize, const TURNS: usize>(
    lines: Lines,
    matrix: *const T,
    x: (*const T, isize),
    target: Target<T>,
    last_half_first: bool,
) {
    let half = lines.first_half();
    // SAFETY: by the caller's promise, the lines lie there, and the processor has the instructions
    // of `V`.
    unsafe {
        let zero = [V::splat(T::ZERO); REGISTERS];
        let mut halves = (zero, zero);
        if half == lines.count {
            halves.0 = sums::<V, T, REGISTERS, TURNS>(lines, (0, half), matrix, x);
        } else {
            for last in [last_half_first, !last_half_first] {
                let range = if last { (half, lines.count) } else { (0, half) };
                let own = sums::<V, T, REGISTERS, TURNS>(lines, range, matrix, x);
                if last {
                    halves.1 = own;
                } else {
                    halves.0 = own;
                }
            }
        }
        let (alpha, beta) = (V::splat(target.alpha), V::splat(target.beta));
        let rest = V::first(lines.length - (REGISTERS - 1) * V::COUNT);
        for column in 0..REGISTERS {
            let place = target.at.wrapping_add(column * V::COUNT);
            let is_last = column == REGISTERS - 1;
            let mut sum = halves.0[column].plus(halves.1[column]).times(alpha);
            if target.beta != T::ZERO {
                let old = if is_last { V::load_some(place, rest) } else { V::load(place) };
                sum = sum.plus_product(old, beta);
            }
            if is_last {
                sum.store_some(place, rest);
            } else {
                sum.store(place);
            }
        }
    }
}

/// The sums of the lines from one to before another, each times its element of `x`; `TURNS` lines
/// are summed apart.
///
/// # Safety
/// As for `combination`.
#[inline(always)]
unsafe fn sums<V: Register<Item = T>, T: Element, const REGISTERS: usize, const TURNS: usize>(
    lines: Lines,
    (mut line, end): (usize, usize),
    matrix: *const T,
    (x, step): (*const T, isize),
) -> [V; REGISTERS] {
    // SAFETY: by the caller's promise; loads end with the lines.
    unsafe {
        let mut sums = [[V::splat(T::ZERO); REGISTERS]; TURNS];
        let rest = V::first(lines.length - (REGISTERS - 1) * V::COUNT);
        while line + TURNS <= end {
            for turn in 0..TURNS {
                let at = matrix.wrapping_add((line + turn) * lines.leading);
                let factor = x.wrapping_offset((line + turn) as isize * step).read();
                sums[turn] = added::<V, T, REGISTERS>(sums[turn], at, factor, rest);
            }
            line += TURNS;
        }
        while line < end {
            let at = matrix.wrapping_add(line * lines.leading);
            let factor = x.wrapping_offset(line as isize * step).read();
            sums[0] = added::<V, T, REGISTERS>(sums[0], at, factor, rest);
            line += 1;
        }
        for turn in 1..TURNS {
            for column in 0..REGISTERS {
                sums[0][column] = sums[0][column].plus(sums[turn][column]);
            }
        }
        sums[0]
    }
}

/// Sums, and a line times a factor; of the last register only `rest` is there.
///
/// # Safety
/// As for `combination`.
#[inline(always)]
unsafe fn added<V: Register<Item = T>, T: Element, const REGISTERS: usize>(
    mut sums: [V; REGISTERS],
    line: *const T,
    factor: T,
    rest: V::Some,
) -> [V; REGISTERS] {
    // SAFETY: by the caller's promise; loads end with the line.
    unsafe {
        let factor = V::splat(factor);
        for column in 0..REGISTERS {
            let from = line.wrapping_add(column * V::COUNT);
            let is_last = column == REGISTERS - 1;
            let of = if is_last { V::load_some(from, rest) } else { V::load(from) };
            sums[column] = sums[column].plus_product(of, factor);
        }
        sums
    }
}

/// Both, with the registers of an instruction set.
macro_rules! entry {
    ($name:ident, $registers:ident, $features:literal) => {
        /// The product of lines and a vector whose elements are so far apart: an element for each
        /// line, or one for each of a line's.
        ///
        /// # Safety
        /// As for [`dots`], where the elements of `x` are 1 apart, or for [`combination`].
        #[target_feature(enable = $features)]
        pub(super) unsafe fn $name<T: Element>(
            lines: Lines,
            by_lines: bool,
            matrix: *const T,
            x: (*const T, isize),
            target: Target<T>,
            last_half_first: bool,
        ) {
            // SAFETY: by the caller's promise, the lines lie there, and the processor has these
            // instructions.
            unsafe {
                if by_lines {
                    dots::<T::$registers, T>(lines, matrix, x.0, target, last_half_first);
                } else {
                    combination::<T::$registers, T>(lines, matrix, x, target, last_half_first);
                }
            }
        }
    };
}

entry!(run_avx2, Avx2, "avx2,fma");
entry!(run_avx512, Avx512, "avx2,fma,avx512f,avx512dq");
