//! A matrix times a vector.

use std::fmt;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::allocation::buffer::ALIGNMENT;
use crate::linalg::matrix::{Matrix, Vector};
use crate::linalg::own::NEAR;
use crate::linalg::own::kept::KeptGemv;
#[cfg(target_arch = "x86_64")]
use crate::linalg::own::lines;
use crate::linalg::routine::Element;
use crate::processor::Level;
use crate::threads::conduct::{Conduct, Halt};
use crate::threads::split::{self, Split};

/// A matrix of so many bytes leaves nothing of itself in the nearest cache once all was read.
const HALVED: usize = 40 << 10;

/// The bytes of a line that is combined with others in one go: where they are longer, the processor
/// does not foresee which part of memory is next, unless the matrix is nearer yet.
const STRIPE: usize = 1 << 10;

/// The bytes of a line from which on it is worth a register.
const SHORTEST: usize = 64;

/// The bytes of a piece of a matrix: a thread takes one after the other.
const PIECE: usize = 512 << 10;

/// A matrix as it lies: lines without gaps; their first elements are `leading` apart.
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

/// The product of a matrix and a vector.
pub(crate) struct OwnGemv {
    lines: Lines,
    /// The cut of the lines, if they are cut.
    split: Option<Split>,
    /// The place in the scratch memory of each piece's own result, if the lines are summed.
    partials: usize,
    /// Whether the result has an element for each line, rather than for each of a line's.
    by_lines: bool,
    /// Elements of the vector from one to the next.
    step: isize,
    level: Level,
    /// Whether the last half of the lines is the one that was read last, and is walked first
    /// therefore: it may still be in the nearest cache. No result depends on it.
    last_half_first: AtomicBool,
}

impl fmt::Debug for OwnGemv {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let OwnGemv { lines, split, partials, by_lines, step, level, last_half_first: _ } = self;
        let mut text = f.debug_struct("OwnGemv");
        text.field("lines", lines).field("split", split).field("partials", partials);
        text.field("by_lines", by_lines).field("step", step).field("level", level);
        text.finish_non_exhaustive()
    }
}

impl OwnGemv {
    /// The product of a matrix of so many rows and columns, elements of `item` bytes, and a vector;
    /// `None` where BLAS does it. The scratch memory that it needs is added to `scratch`.
    pub(crate) fn new(
        [rows, columns]: [i32; 2],
        matrix: Matrix,
        vector: Vector,
        item: usize,
        scratch: &mut usize,
    ) -> Option<OwnGemv> {
        let level = Level::best()?;
        let [rows, columns] = [rows, columns].map(|length| length as usize);
        let leading = matrix.leading as usize;
        let by_lines = matrix.transposed;
        let (count, length) = if by_lines { (rows, columns) } else { (columns, rows) };
        let bytes = count.saturating_mul(length).saturating_mul(item);
        let nearest = if by_lines { NEAR } else { HALVED };
        if length * item > STRIPE && bytes > nearest {
            return None;
        }
        // The loads of the vector serve several lines, so it must have no gaps.
        if by_lines && (vector.step != 1 || length * item < SHORTEST) {
            return None;
        }
        let halved = bytes > HALVED && bytes <= NEAR;
        let mut product = OwnGemv {
            lines: Lines { count, length, leading, halved },
            split: None,
            partials: *scratch,
            by_lines,
            step: vector.step as isize,
            level,
            last_half_first: AtomicBool::new(false),
        };
        if bytes > NEAR {
            product.split = Split::with_grain(&product.levels(), (PIECE / item) as i64);
            *scratch += product.partial_bytes(item);
        }
        Some(product)
    }

    /// The product by a copy of the matrix; `None` where the copy would gain nothing. `adds`: it is added to
    /// what the result holds.
    pub(crate) fn kept<T: Element>(&self, adds: bool) -> Option<KeptGemv> {
        let OwnGemv { lines, by_lines, step, level, .. } = *self;
        let bytes = lines.count.saturating_mul(lines.length).saturating_mul(size_of::<T>());
        let is_near = self.split.is_none() && bytes <= HALVED;
        is_near.then(|| KeptGemv::new::<T>(lines, by_lines, step, level, adds))
    }

    /// The lines, which may be shared between threads, and the kind of each.
    fn levels(&self) -> [split::LoopLevel; 2] {
        let Lines { count, length, .. } = self.lines;
        let copied = if self.by_lines { 0 } else { length as i64 };
        [
            split::LoopLevel { length: count as i64, copied, divisible: true },
            split::LoopLevel { length: length as i64, copied: 0, divisible: false },
        ]
    }

    /// The bytes of the results that pieces have of their own.
    fn partial_bytes(&self, item: usize) -> usize {
        match &self.split {
            Some(split) if !self.by_lines => {
                (split.pieces() * self.lines.length * item).next_multiple_of(ALIGNMENT)
            }
            _ => 0,
        }
    }

    /// `y = alpha a x + beta y`, `y` without gaps. Where `beta` is zero, `y` may hold anything.
    ///
    /// # Safety
    /// The operands are as the product says, of type `T`, which has as many bytes; `y` is as large
    /// as their product and apart from them; `scratch` is aligned and as large as was noted.
    pub(crate) unsafe fn run<T: Element>(
        &self,
        matrix: *const T,
        x: *const T,
        scales: (T, T),
        y: *mut T,
        scratch: *mut u8,
        conduct: &Conduct<'_>,
    ) -> Result<(), Halt> {
        let partials = scratch.wrapping_add(self.partials).cast::<T>();
        let ends = Ends { matrix, x, y, partials };
        let Some(split) = &self.split else {
            let last_half_first = self.last_half_first.load(Ordering::Relaxed);
            if self.lines.halved {
                self.last_half_first.store(!last_half_first, Ordering::Relaxed);
            }
            // SAFETY: by the caller's promise, the operands are those of the product, and `y` has
            // all its results.
            unsafe { self.part(self.lines, &ends, scales, last_half_first) };
            return Ok(());
        };
        let length = self.lines.length;
        conduct.run(split, 0, ptr::null_mut(), &|piece, _| {
            let (start, count) = split.piece(piece);
            let (start, count) = (start as usize, count as usize);
            let lines = Lines { count, ..self.lines };
            let (ends, scales) = if self.by_lines {
                (ends.from(start, self.lines.leading, 0, start), scales)
            } else {
                let step = self.step * start as isize;
                let mut own = ends.from(start, self.lines.leading, step, 0);
                own.y = own.partials.wrapping_add(piece * length);
                (own, (scales.0, T::ZERO))
            };
            // SAFETY: by the caller's promise; each piece has lines and results of its own.
            unsafe { self.part(lines, &ends, scales, false) };
            0
        })?;
        if !self.by_lines {
            // SAFETY: every piece has written its result, and no thread is at them any more.
            unsafe { add_all(partials, split.pieces(), length, scales.1, y) };
        }
        Ok(())
    }

    /// The product of some of the lines.
    ///
    /// # Safety
    /// As for `run`; these lines, and as much of the vectors as goes with them, start where `ends`
    /// says.
    unsafe fn part<T: Element>(
        &self,
        lines: Lines,
        ends: &Ends<T>,
        (alpha, beta): (T, T),
        last_half_first: bool,
    ) {
        match self.level {
            #[cfg(target_arch = "x86_64")]
            level => {
                let target = lines::Target { alpha, beta, at: ends.y };
                let x = (ends.x, self.step);
                let run = match level {
                    Level::Avx2 => lines::run_avx2::<T>,
                    Level::Avx512 => lines::run_avx512::<T>,
                };
                // SAFETY: the processor has the instructions, or `new` would not have found the
                // level; the rest by the caller's promise.
                // Test: products_are_those_of_plain_loops, and tests/dot.rs.
                unsafe { run(lines, self.by_lines, ends.matrix, x, target, last_half_first) }
            }
        }
    }
}

/// The starts of a run's operands and results, for all its threads.
#[derive(Clone, Copy)]
struct Ends<T> {
    matrix: *const T,
    x: *const T,
    y: *mut T,
    partials: *mut T,
}

// SAFETY: the addresses are only read; the memory there is shared as `OwnGemv::run` says.
unsafe impl<T> Sync for Ends<T> {}

impl<T> Ends<T> {
    /// The same from a line on, and from elements of the vector and the result.
    fn from(&self, line: usize, leading: usize, x: isize, y: usize) -> Ends<T> {
        Ends {
            matrix: self.matrix.wrapping_add(line * leading),
            x: self.x.wrapping_offset(x),
            y: self.y.wrapping_add(y),
            partials: self.partials,
        }
    }
}

/// `y = beta y` and the sum of so many vectors of a length, which lie one behind the other, in their
/// order. Where `beta` is zero, `y` may hold anything.
///
/// # Safety
/// All are readable, `y` is writable and apart from them, and there is at least one.
unsafe fn add_all<T: Element>(of: *mut T, count: usize, length: usize, beta: T, y: *mut T) {
    // SAFETY: by the caller's promise, there are so many results, all readable, and `y` is apart
    // from them.
    unsafe {
        for next in 1..count {
            for at in 0..length {
                let sum = of.add(at);
                sum.write(sum.read() + of.add(next * length + at).read());
            }
        }
        for at in 0..length {
            let (sum, place) = (of.add(at).read(), y.add(at));
            place.write(if beta == T::ZERO { sum } else { sum + beta * place.read() });
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::allocation::buffer::Buffer;
    use crate::linalg::own::drawn::number;

    /// By halves or not, which half is first, and how many threads go through pieces of it.
    const WAYS: [(bool, bool, Option<usize>); 5] = [
        (false, false, None),
        (true, false, None),
        (true, true, None),
        (false, false, Some(1)),
        (false, false, Some(3)),
    ];

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

        /// The bits of the result by the matrix and by a copy of it.
        fn both<T: Element + Into<f64>>(
            &self,
            level: Level,
            of: impl Fn(f64) -> T,
        ) -> (Vec<u64>, Vec<u64>) {
            let convert = |all: &[f64]| all.iter().map(|&number| of(number)).collect::<Vec<T>>();
            let (matrix, x) = (convert(&self.matrix), convert(&self.x));
            let (count, length) =
                if self.by_lines { (self.rows, self.columns) } else { (self.columns, self.rows) };
            let product = OwnGemv {
                lines: Lines { count, length, leading: length + self.gaps.0, halved: false },
                split: None,
                partials: 0,
                by_lines: self.by_lines,
                step: self.gaps.1 as isize,
                level,
                last_half_first: AtomicBool::new(false),
            };
            let kept = product.kept::<T>(self.scales.1 != 0.0).expect("it is near");
            let copy = Buffer::new(kept.bytes()).expect("it is small");
            let (mut by_matrix, mut by_copy) = (convert(&self.y), convert(&self.y));
            let scales = (of(self.scales.0), of(self.scales.1));
            let (a, x) = (matrix.as_ptr(), x.as_ptr());
            // SAFETY: the operands were made as large as the product needs, the memory of the copy, too.
            unsafe {
                let (y, alone) = (by_matrix.as_mut_ptr(), Conduct::ALONE);
                product.run(a, x, scales, y, ptr::null_mut(), &alone).expect("it is short");
                kept.copy(a, copy.as_ptr().cast());
                kept.run([copy.as_ptr(), x.cast::<u8>().cast_mut(), by_copy.as_mut_ptr().cast()]);
            }
            let bits = |y: Vec<T>| y.into_iter().map(|y| y.into().to_bits()).collect();
            (bits(by_matrix), bits(by_copy))
        }

        /// The results of the loops, by level and way.
        fn results<T: Element>(&self, of: impl Fn(f64) -> T) -> Vec<Vec<T>> {
            let convert = |all: &[f64]| all.iter().map(|&number| of(number)).collect::<Vec<T>>();
            let (matrix, x) = (convert(&self.matrix), convert(&self.x));
            let (wide, step) = self.gaps;
            let (count, length) =
                if self.by_lines { (self.rows, self.columns) } else { (self.columns, self.rows) };
            let mut results = Vec::new();
            for level in Level::known() {
                for (halved, first, cut) in WAYS {
                    let mut y = convert(&self.y);
                    let mut product = OwnGemv {
                        lines: Lines { count, length, leading: length + wide, halved },
                        split: None,
                        partials: 0,
                        by_lines: self.by_lines,
                        step: step as isize,
                        level,
                        last_half_first: AtomicBool::new(first),
                    };
                    if cut.is_some() {
                        product.split = Split::with_grain(&product.levels(), 1);
                    }
                    let item = size_of::<T>();
                    let scratch = Buffer::new(product.partial_bytes(item)).expect("it is small");
                    let scales = (of(self.scales.0), of(self.scales.1));
                    let conduct = Conduct { threads: cut.or(Some(1)), ..Conduct::ALONE };
                    let (a, x, y_at) = (matrix.as_ptr(), x.as_ptr(), y.as_mut_ptr());
                    // SAFETY: the operands were made as large as the product needs, the scratch
                    // memory, too.
                    let done =
                        unsafe { product.run(a, x, scales, y_at, scratch.as_ptr(), &conduct) };
                    assert_eq!(done, Ok(()));
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
        #![proptest_config(ProptestConfig::with_cases(2 * ProptestConfig::default().cases))]

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
        fn products_by_a_copy_have_the_bits_of_those_by_the_matrix(
            rows in 1usize..60, columns in 1usize..60, by_lines: bool, gaps in (0usize..3, 1usize..3),
            adds: bool, seed: u32,
        ) {
            let mut state = u64::from(seed) + 1;
            let mut number = || {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
            };
            let mut numbers = |count: usize| (0..count).map(|_| number()).collect::<Vec<f64>>();
            let (count, line) = if by_lines { (rows, columns) } else { (columns, rows) };
            let step = if by_lines { 1 } else { gaps.1 };
            let matrix = numbers(count * (line + gaps.0));
            let (x, y) = (numbers(columns * step), numbers(rows));
            let gaps = (gaps.0, step);
            let scales = (1.0, if adds { 1.0 } else { 0.0 });
            let case = Case { rows, columns, gaps, by_lines, scales, matrix, x, y };
            for level in Level::known() {
                let (by_matrix, by_copy) = case.both::<f64>(level, |number| number);
                prop_assert_eq!(by_matrix, by_copy);
                let (by_matrix, by_copy) = case.both::<f32>(level, |number| number as f32);
                prop_assert_eq!(by_matrix, by_copy);
            }
        }

        #[test]
        fn no_result_depends_on_which_half_is_first_or_on_threads(
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
            for turns in case.results(|number| number).chunks(WAYS.len()) {
                let bits = |y: &[f64]| y.iter().map(|y| y.to_bits()).collect::<Vec<u64>>();
                prop_assert_eq!(bits(&turns[1]), bits(&turns[2]));
                prop_assert_eq!(bits(&turns[3]), bits(&turns[4]));
            }
        }
    }

    #[test]
    fn what_has_gaps_or_long_lines_to_combine_is_left_to_blas() {
        let new = |rows: i32, columns: i32, by_lines: bool, step: i32| {
            let leading = if by_lines { columns } else { rows };
            let matrix = Matrix { transposed: by_lines, leading };
            let vector = Vector { length: columns, step };
            let mut scratch = 64;
            let own = OwnGemv::new([rows, columns], matrix, vector, 8, &mut scratch);
            own.map(|own| (own.split.is_some(), scratch - own.partials))
        };
        let here = |found: (bool, usize)| Level::best().map(|_| found);
        assert_eq!(new(100, 100, true, 1), here((false, 0)));
        assert_eq!(new(100, 100, false, 2), here((false, 0)));
        assert_eq!(new(100, 100, true, 2), None, "loads of the vector need it without gaps");
        assert_eq!(new(100, 3, true, 1), None, "a line of three is not worth a register");
        assert_eq!(new(1000, 1000, true, 1), None);
        assert_eq!(new(1000, 1000, false, 1), None);
        let far = "long lines are walked in stripes only if they are near";
        assert_eq!(new(1000, 50, false, 1), None, "{far}");
        assert_eq!(new(1000, 5, false, 1), here((false, 0)));
        assert_eq!(new(50_000, 50, true, 1), here((true, 0)));
        let bytes: usize = 3 * 50 * 8; // a result for each of three pieces
        assert_eq!(new(50, 5000, false, 3), here((true, bytes.next_multiple_of(64))));
    }
}
