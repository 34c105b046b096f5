//! The loops of a product of a matrix, of which there is a copy for them, and a vector.

// The code of iterators is compiled for no instruction set but the plain one, unless it
// happens to be inlined.
#![expect(clippy::needless_range_loop, reason = "loops over indices keep the instruction set")]

use crate::linalg::own::gemv::Lines;
use crate::linalg::own::kept::KeptGemv;
use crate::linalg::own::lines::{Target, run_avx2 as lines_avx2, run_avx512 as lines_avx512};
use crate::linalg::own::registers::{BLOCK, Register};
use crate::linalg::routine::Element;

/// The most elements of a register.
const MOST: usize = 16;

/// Each line times `x`.
///
/// # Safety
/// As for [`KeptGemv::run`].
#[inline(always)]
unsafe fn panels<V: Register<Item = T>, T: Element, const ADDS: bool>(
    lines: Lines,
    matrix: *const T,
    x: *const T,
    y: *mut T,
) {
    let panels = lines.count.div_ceil(V::COUNT);
    // All sums are to be in registers, of which there are 32 or 16.
    let widest = if V::COUNT < MOST && size_of::<T>() == 8 { 3 } else { 1 };
    let each = panels.div_ceil(panels.div_ceil(widest));
    let mut done = 0;
    while done < panels {
        let count = each.min(panels - done);
        let first = done * V::COUNT;
        let part = Lines { count: (lines.count - first).min(count * V::COUNT), ..lines };
        // SAFETY: by the caller's promise; the panels end with the copy.
        unsafe {
            let (matrix, y) = (matrix.add(first * lines.length), y.add(first));
            match count {
                1 => some_panels::<V, T, 1, ADDS>(part, matrix, x, y),
                2 => some_panels::<V, T, 2, ADDS>(part, matrix, x, y),
                _ => some_panels::<V, T, 3, ADDS>(part, matrix, x, y),
            }
        }
        done += count;
    }
}

/// So many panels; the last one may not be full.
///
/// # Safety
/// As for [`KeptGemv::run`].
#[inline(always)]
unsafe fn some_panels<V: Register<Item = T>, T: Element, const PANELS: usize, const ADDS: bool>(
    lines: Lines,
    matrix: *const T,
    x: *const T,
    y: *mut T,
) {
    // SAFETY: by the caller's promise, the copy has so many panels, and the vector and the result
    // are as long.
    unsafe {
        // The sums of one line lie in one place of several registers: of every so many terms each.
        let zero = V::splat(T::ZERO);
        let mut sums = [[zero; MOST]; PANELS];
        let mut k = 0;
        while k + V::COUNT <= lines.length {
            for lane in 0..V::COUNT {
                let factor = V::splat(x.add(k + lane).read());
                for panel in 0..PANELS {
                    let at = matrix.add((panel * lines.length + k + lane) * V::COUNT);
                    sums[panel][lane] = sums[panel][lane].plus_product(V::load(at), factor);
                }
            }
            k += V::COUNT;
        }
        if k < lines.length {
            for lane in 0..V::COUNT {
                // Where a register of a line's last elements has none, a zero is added.
                let is_there = k + lane < lines.length;
                let factor = if is_there { V::splat(x.add(k + lane).read()) } else { zero };
                for panel in 0..PANELS {
                    let at = matrix.wrapping_add((panel * lines.length + k + lane) * V::COUNT);
                    let of = if is_there { V::load(at) } else { zero };
                    sums[panel][lane] = sums[panel][lane].plus_product(of, factor);
                }
            }
        }
        for panel in 0..PANELS {
            let at = y.wrapping_add(panel * V::COUNT);
            let some = lines.count - (panel * V::COUNT).min(lines.count);
            let mut sum = tree::<V>(sums[panel]);
            if panel < PANELS - 1 || some >= V::COUNT {
                if ADDS {
                    sum = sum.plus(V::load(at));
                }
                sum.store(at);
            } else {
                let some = V::first(some);
                if ADDS {
                    sum = sum.plus(V::load_some(at, some));
                }
                sum.store_some(at, some);
            }
        }
    }
}

/// The sum of as many registers as each has elements, in the order of [`Register::sums`].
///
/// # Safety
/// The processor has the instructions of `V`.
#[inline(always)]
unsafe fn tree<V: Register>(mut of: [V; MOST]) -> V {
    // SAFETY: by the caller's promise, the processor has the instructions of `V`.
    unsafe {
        if V::COUNT > BLOCK {
            for at in 0..BLOCK {
                of[at] = of[at].plus(of[at + BLOCK]);
            }
        }
        let front = of[0].plus(of[1]).plus(of[2].plus(of[3]));
        if V::COUNT < BLOCK {
            return front;
        }
        front.plus(of[4].plus(of[5]).plus(of[6].plus(of[7])))
    }
}

/// The product, with the registers of an instruction set.
macro_rules! entry {
    ($name:ident, $lines:ident, $registers:ident, $features:literal) => {
        /// # Safety
        /// As for [`KeptGemv::run`], on a processor with these instructions.
        #[target_feature(enable = $features)]
        pub(super) unsafe fn $name<T: Element, const ADDS: bool>(
            kept: &KeptGemv,
            places: [*mut u8; 3],
        ) {
            let [matrix, x, y] = places.map(|place| place.cast::<T>());
            // SAFETY: by the caller's promise, the processor has these instructions, and the
            // operands are the product's.
            unsafe {
                if kept.by_lines {
                    panels::<T::$registers, T, ADDS>(kept.lines, matrix, x, y);
                } else {
                    let leading = kept.padded(kept.lines.length);
                    let beta = if ADDS { T::ONE } else { T::ZERO };
                    let target = Target { alpha: T::ONE, beta, at: y };
                    let lines = Lines { leading, ..kept.lines };
                    $lines::<T>(lines, false, matrix, (x, kept.step), target, false);
                }
            }
        }
    };
}

entry!(run_avx2, lines_avx2, Avx2, "avx2,fma");
entry!(run_avx512, lines_avx512, Avx512, "avx2,fma,avx512f,avx512dq");
