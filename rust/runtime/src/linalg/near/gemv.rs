//! A matrix times a vector.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::linalg::matrix::{Matrix, Vector};
use crate::linalg::near::NEAR;
#[cfg(target_arch = "x86_64")]
use crate::linalg::near::lines;
use crate::linalg::routine::Element;
use crate::processor::Level;

/// The bytes of a matrix of which nothing is left in the nearest cache once all was read.
const HALVED: usize = 40 << 10;

/// The bytes of a line that is combined with others in one go: where they are longer, the processor
/// does not foresee which part of memory is next, unless the matrix is nearer yet.
const STRIPE: usize = 1 << 10;

/// The bytes of a line from which on it is worth a register.
const SHORTEST: usize = 64;

/// A matrix as it lies: lines without gaps, the first elements of which are `leading` apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lines {
    pub(super) count: usize,
    pub(super) length: usize,
    pub(super) leading: usize,
    /// Whether the lines are walked by halves.
    pub(super) halved: bool,
}

impl Lines {
    /// The lines of the first half; all if it is not worth it.
    #[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "the loops use it"))]
    pub(super) fn first_half(self) -> usize {
        if self.halved { self.count.div_ceil(2) } else { self.count }
    }
}

/// The product of a matrix that is near and a vector.
pub(crate) struct NearGemv {
    lines: Lines,
    /// Whether the result has an element for each line, rather than for each of a line's.
    by_lines: bool,
    /// Elements of the vector from one to the next.
    step: isize,
    level: Level,
    /// Whether the last half of the lines is the one that was read last, and is walked first
    /// therefore: it may still be in the nearest cache. No result depends on it.
    last_half_first: AtomicBool,
}

impl fmt::Debug for NearGemv {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NearGemv { lines, by_lines, step, level, last_half_first: _ } = self;
        let mut text = f.debug_struct("NearGemv");
        text.field("lines", lines).field("by_lines", by_lines).field("step", step);
        text.field("level", level).finish_non_exhaustive()
    }
}

impl NearGemv {
    /// The product of a matrix of so many rows and columns, elements of `item` bytes, and a vector;
    /// `None` where that is for BLAS.
    pub(crate) fn new(
        [rows, columns]: [i32; 2],
        matrix: Matrix,
        vector: Vector,
        item: usize,
    ) -> Option<NearGemv> {
        let level = Level::best()?;
        let [rows, columns] = [rows, columns].map(|length| length as usize);
        let leading = matrix.leading as usize;
        let by_lines = matrix.transposed;
        let (count, length) = if by_lines { (rows, columns) } else { (columns, rows) };
        let bytes = count.saturating_mul(length).saturating_mul(item);
        let near = if by_lines {
            // The loads of the vector serve several lines, so it must have no gaps.
            vector.step == 1 && length * item >= SHORTEST && bytes <= NEAR
        } else {
            bytes <= if length * item <= STRIPE { NEAR } else { HALVED }
        };
        let lines = Lines { count, length, leading, halved: bytes > HALVED };
        near.then(|| NearGemv {
            lines,
            by_lines,
            step: vector.step as isize,
            level,
            last_half_first: AtomicBool::new(false),
        })
    }

    /// `y = alpha a x + beta y`, `y` without gaps. Where `beta` is zero, `y` may hold anything.
    ///
    /// # Safety
    /// The operands are as the product says, of type `T`, which has as many bytes; `y` is as large
    /// as their product and apart from them.
    pub(crate) unsafe fn run<T: Element>(
        &self,
        matrix: *const T,
        x: *const T,
        (alpha, beta): (T, T),
        y: *mut T,
    ) {
        let last_half_first = self.last_half_first.load(Ordering::Relaxed);
        if self.lines.halved {
            self.last_half_first.store(!last_half_first, Ordering::Relaxed);
        }
        match self.level {
            #[cfg(target_arch = "x86_64")]
            level => {
                let target = lines::Target { alpha, beta, at: y };
                let run = match level {
                    Level::Avx2 => lines::run_avx2::<T>,
                    Level::Avx512 => lines::run_avx512::<T>,
                };
                // SAFETY: the processor has the instructions, or `new` would not have found the
                // level; the rest by the caller's promise.
                // Test: products_are_those_of_plain_loops, and tests/dot.rs.
                unsafe {
                    run(self.lines, self.by_lines, matrix, (x, self.step), target, last_half_first)
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A product, as large as tests need, and its operands.
    #[derive(Debug)]
    struct Case {
        rows: usize,
        columns: usize,
        /// Elements between lines, and between elements of the vector but the first.
        gaps: (usize, usize),
        by_lines: bool,
        scales: (f64, f64),
        matrix: Vec<f64>,
        x: Vec<f64>,
        y: Vec<f64>,
    }

    fn number() -> impl Strategy<Value = f64> {
        // Sums of so few eighths are exact in each type, so the order makes no difference.
        prop_oneof![
            40 => (-64i32..64).prop_map(|eighths| f64::from(eighths) / 8.0),
            1 => prop::sample::select(vec![f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0]),
        ]
    }

    fn case() -> impl Strategy<Value = Case> {
        let length = prop_oneof![1usize..20, 20usize..140, Just(1)];
        let scales = (prop::sample::select(vec![1.0, -0.5, 2.0]), 0..3usize);
        let lies = (0..3usize, 1..4usize, any::<bool>());
        (length.clone(), length, lies, scales).prop_flat_map(
            |(rows, columns, (wide, step, by_lines), (alpha, beta))| {
                let (count, line) = if by_lines { (rows, columns) } else { (columns, rows) };
                let step = if by_lines { 1 } else { step };
                let numbers = |count: usize| prop::collection::vec(number(), count);
                let operands =
                    (numbers(count * (line + wide)), numbers(columns * step), numbers(rows));
                operands.prop_map(move |(matrix, x, y)| Case {
                    rows,
                    columns,
                    gaps: (wide, step),
                    by_lines,
                    scales: (alpha, [0.0, 1.0, -2.0][beta]),
                    matrix,
                    x,
                    y,
                })
            },
        )
    }

    impl Case {
        fn expected(&self) -> Vec<f64> {
            let (alpha, beta) = self.scales;
            let (wide, step) = self.gaps;
            let line = wide + if self.by_lines { self.columns } else { self.rows };
            let element = |row: usize, column: usize| {
                let (line_at, at) = if self.by_lines { (row, column) } else { (column, row) };
                self.matrix[line_at * line + at]
            };
            let row = |row: usize| {
                let products = (0..self.columns).map(|k| element(row, k) * self.x[k * step]);
                let sum = alpha * products.sum::<f64>();
                if beta == 0.0 { sum } else { sum + beta * self.y[row] }
            };
            (0..self.rows).map(row).collect()
        }

        /// What the loops make of it: by level, by halves or not, with either half first.
        fn results<T: Element>(&self, of: impl Fn(f64) -> T) -> Vec<Vec<T>> {
            let convert = |all: &[f64]| all.iter().map(|&number| of(number)).collect::<Vec<T>>();
            let (matrix, x) = (convert(&self.matrix), convert(&self.x));
            let (wide, step) = self.gaps;
            let (count, length) =
                if self.by_lines { (self.rows, self.columns) } else { (self.columns, self.rows) };
            let mut results = Vec::new();
            for level in Level::known() {
                for (halved, first) in [(false, false), (true, false), (true, true)] {
                    let mut y = convert(&self.y);
                    let product = NearGemv {
                        lines: Lines { count, length, leading: length + wide, halved },
                        by_lines: self.by_lines,
                        step: step as isize,
                        level,
                        last_half_first: AtomicBool::new(first),
                    };
                    let scales = (of(self.scales.0), of(self.scales.1));
                    // SAFETY: the operands were made as large as the product needs.
                    unsafe { product.run(matrix.as_ptr(), x.as_ptr(), scales, y.as_mut_ptr()) };
                    assert_eq!(product.last_half_first.into_inner(), first ^ halved);
                    results.push(y);
                }
            }
            results
        }
    }

    /// Whether two numbers are the same; a zero's sign may differ.
    fn same(a: f64, b: f64) -> bool {
        a == b || a.is_nan() && b.is_nan()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        #[test]
        fn products_are_those_of_plain_loops(case in case()) {
            let expected = case.expected();
            for result in case.results(|number| number) {
                for (row, (&a, &b)) in result.iter().zip(&expected).enumerate() {
                    prop_assert!(same(a, b), "row {row}: {a} for {b}");
                }
            }
            for result in case.results(|number| number as f32) {
                for (row, (&a, &b)) in result.iter().zip(&expected).enumerate() {
                    prop_assert!(same(a.into(), b), "row {row}: {a} for {b}");
                }
            }
        }

        #[test]
        fn no_result_depends_on_which_half_is_first(
            rows in 1usize..90, columns in 1usize..90, by_lines: bool, seed: u32,
        ) {
            let mut state = u64::from(seed) + 1;
            let mut number = || {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
            };
            let mut numbers = |count: usize| (0..count).map(|_| number()).collect::<Vec<f64>>();
            let (matrix, x, y) = (numbers(rows * columns), numbers(columns), numbers(rows));
            let case =
                Case { rows, columns, gaps: (0, 1), by_lines, scales: (0.7, 0.3), matrix, x, y };
            for turns in case.results(|number| number).chunks(3) {
                let bits = |y: &[f64]| y.iter().map(|y| y.to_bits()).collect::<Vec<u64>>();
                prop_assert_eq!(bits(&turns[1]), bits(&turns[2]));
            }
        }
    }

    #[test]
    fn what_is_large_or_has_gaps_is_left_to_blas() {
        let new = |rows: i32, columns: i32, by_lines: bool, step: i32| {
            let leading = if by_lines { columns } else { rows };
            let matrix = Matrix { transposed: by_lines, leading };
            NearGemv::new([rows, columns], matrix, Vector { length: columns, step }, 8).is_some()
        };
        let here = Level::best().is_some();
        assert_eq!(new(100, 100, true, 1), here);
        assert_eq!(new(100, 100, false, 2), here);
        assert!(!new(100, 100, true, 2), "loads of the vector need it without gaps");
        assert!(!new(100, 3, true, 1), "a line of three is not worth a register");
        assert!(!new(1000, 1000, true, 1) && !new(1000, 1000, false, 1));
        assert!(!new(1000, 50, false, 1), "long lines are walked in stripes only if they are near");
        assert_eq!(new(1000, 5, false, 1), here);
    }
}
