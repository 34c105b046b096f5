//! A matrix that is multiplied by one vector after the other, of a copy in which registers are filled best.
//!
//! Rows whose products with the vector are summed along them go side by side in the copy, an element of
//! each in a register, so that no sum has to be taken of the elements of a register. Lines that are
//! combined start where registers do. Each sum adds the same terms in the same order as where the matrix
//! is read as it lies, so all bits are the same.

use crate::linalg::own::gemv::Lines;
#[cfg(target_arch = "x86_64")]
use crate::linalg::own::panels;
use crate::linalg::routine::Element;
use crate::processor::Level;

/// From the copy and a vector to the result.
type Loops = unsafe fn(&KeptGemv, [*mut u8; 3]);

/// The product.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeptGemv {
    pub(super) lines: Lines,
    /// Whether the result has an element for each line, rather than for each of a line's.
    pub(super) by_lines: bool,
    /// Elements of the vector from one to the next.
    pub(super) step: isize,
    /// The elements of a register.
    width: usize,
    /// The bytes of an element.
    item: usize,
    loops: Loops,
}

impl KeptGemv {
    /// The product of lines and a vector whose elements are so far apart; `adds`: it is added to what the
    /// result holds.
    pub(super) fn new<T: Element>(
        lines: Lines,
        by_lines: bool,
        step: isize,
        level: Level,
        adds: bool,
    ) -> KeptGemv {
        let (loops, bytes): (Loops, usize) = match level {
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 if adds => (panels::run_avx2::<T, true>, 32),
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => (panels::run_avx2::<T, false>, 32),
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 if adds => (panels::run_avx512::<T, true>, 64),
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => (panels::run_avx512::<T, false>, 64),
        };
        let item = size_of::<T>();
        KeptGemv { lines, by_lines, step, width: bytes / item, item, loops }
    }

    /// The bytes of the copy.
    pub(crate) fn bytes(&self) -> usize {
        let Lines { count, length, .. } = self.lines;
        let elements =
            if self.by_lines { self.padded(count) * length } else { count * self.padded(length) };
        elements * self.item
    }

    /// So many elements in whole registers.
    pub(super) fn padded(&self, elements: usize) -> usize {
        elements.next_multiple_of(self.width)
    }

    /// Makes the copy.
    ///
    /// # Safety
    /// The matrix lies there, of elements of its type, and memory for as many bytes as the copy has.
    pub(crate) unsafe fn copy<T: Element>(&self, matrix: *const T, to: *mut T) {
        let Lines { count, length, leading, .. } = self.lines;
        let width = self.width;
        let element = |line: usize, k: usize| {
            let is_there = line < count && k < length;
            // SAFETY: by the caller's promise; such a position is inside the matrix.
            if is_there { unsafe { matrix.add(line * leading + k).read() } } else { T::ZERO }
        };
        if self.by_lines {
            for panel in 0..count.div_ceil(width) {
                for (k, line) in (0..length).flat_map(|k| (0..width).map(move |line| (k, line))) {
                    let place = to.wrapping_add((panel * length + k) * width + line);
                    // SAFETY: by the caller's promise, for this and the next, there is memory for
                    // the whole copy.
                    unsafe { place.write(element(panel * width + line, k)) };
                }
            }
            return;
        }
        let padded = self.padded(length);
        for (line, k) in (0..count).flat_map(|line| (0..padded).map(move |k| (line, k))) {
            // SAFETY: as above.
            unsafe { to.wrapping_add(line * padded + k).write(element(line, k)) };
        }
    }

    /// Computes it: of the copy and the vector, to the result.
    ///
    /// # Safety
    /// The copy was made there, aligned to registers; the vector and the result have the layouts of the
    /// product, and are apart.
    #[inline(always)]
    pub(crate) unsafe fn run(&self, places: [*mut u8; 3]) {
        // SAFETY: by the caller's promise, the copy and the operands are those that the loops were
        // made for.
        unsafe { (self.loops)(self, places) }
    }
}
