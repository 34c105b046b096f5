//! A matrix times a matrix.

use crate::linalg::matrix::Matrix;
use crate::linalg::own::NEAR;
#[cfg(target_arch = "x86_64")]
use crate::linalg::own::{lines::Target, tiles};
use crate::linalg::routine::Element;
use crate::processor::Level;

/// The product of two matrices that are in the nearest caches; rows of the second have no gaps.
#[derive(Debug)]
pub(crate) struct OwnGemm {
    shape: Shape,
    level: Level,
}

/// The size of a product, and the layouts of its operands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) rows: usize,
    pub(super) columns: usize,
    /// The terms of a sum.
    pub(super) inner: usize,
    /// Elements of the first operand from row to row, and along a row.
    pub(super) a: [usize; 2],
    /// Elements of the second operand from row to row.
    pub(super) b: usize,
}

impl OwnGemm {
    /// The product of elements of `item` bytes that has so many rows and columns, and terms of a
    /// sum; `None` where that is for BLAS.
    pub(crate) fn new(lengths: [i32; 3], a: Matrix, b: Matrix, item: usize) -> Option<OwnGemm> {
        let level = Level::best()?;
        let [rows, columns, inner] = lengths.map(|length| length as usize);
        let elements = [rows * columns, rows * inner, inner * columns];
        if !b.transposed || elements.iter().sum::<usize>() * item > NEAR {
            return None;
        }
        let a = a.steps().map(|step| step as usize);
        let shape = Shape { rows, columns, inner, a, b: b.leading as usize };
        Some(OwnGemm { shape, level })
    }

    /// `result = alpha a b + beta result`, in C order. Where `beta` is zero, `result` may hold
    /// anything.
    ///
    /// # Safety
    /// The operands are as the product says, of type `T`, which has as many bytes; `result` is as
    /// large as their product and apart from them.
    pub(crate) unsafe fn run<T: Element>(
        &self,
        a: *const T,
        b: *const T,
        (alpha, beta): (T, T),
        result: *mut T,
    ) {
        match self.level {
            #[cfg(target_arch = "x86_64")]
            level => {
                let target = Target { alpha, beta, at: result };
                let run = match level {
                    Level::Avx2 => tiles::run_avx2::<T>,
                    Level::Avx512 => tiles::run_avx512::<T>,
                };
                // SAFETY: the processor has the instructions, or `new` would not have found the
                // level; the rest by the caller's promise.
                // Test: products_are_those_of_plain_loops, and tests/dot.rs.
                unsafe { run(self.shape, a, b, target) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::linalg::own::drawn::number;

    /// A product and its operands: the first by rows or by columns, both with gaps behind each.
    #[derive(Debug)]
    struct Case {
        shape: Shape,
        scales: (f64, f64),
        a: Vec<f64>,
        b: Vec<f64>,
        c: Vec<f64>,
    }

    fn case() -> impl Strategy<Value = Case> {
        let lengths = (1usize..20, 1usize..70, 0usize..20);
        let lies = (0..3usize, 0..3usize, any::<bool>());
        let scales = (prop::sample::select(vec![1.0, -0.5, 2.0]), 0..3usize);
        (lengths, lies, scales).prop_flat_map(
            |((rows, columns, inner), (wide, wider, by_rows), (alpha, beta))| {
                let (lines, steps) =
                    if by_rows { (rows, [inner + wide, 1]) } else { (inner, [1, rows + wide]) };
                let shape = Shape { rows, columns, inner, a: steps, b: columns + wider };
                let numbers = |count: usize| prop::collection::vec(number(), count);
                let a = numbers(lines * steps[0].max(steps[1]));
                (a, numbers(inner * shape.b), numbers(rows * columns)).prop_map(move |(a, b, c)| {
                    let scales = (alpha, [0.0, 1.0, -2.0][beta]);
                    Case { shape, scales, a, b, c }
                })
            },
        )
    }

    impl Case {
        fn expected(&self) -> Vec<f64> {
            let Case { shape, scales: (alpha, beta), a, b, c } = self;
            let places = (0..shape.rows * shape.columns)
                .map(|place| (place, place / shape.columns, place % shape.columns));
            let element = |(place, row, column): (usize, usize, usize)| {
                let products = (0..shape.inner)
                    .map(|k| a[row * shape.a[0] + k * shape.a[1]] * b[k * shape.b + column]);
                let sum = alpha * products.sum::<f64>();
                if *beta == 0.0 { sum } else { sum + beta * c[place] }
            };
            places.map(element).collect()
        }

        /// The results of the loops, by level.
        fn results<T: Element>(&self, of: impl Fn(f64) -> T) -> Vec<Vec<T>> {
            let convert = |all: &[f64]| all.iter().map(|&number| of(number)).collect::<Vec<T>>();
            let (a, b) = (convert(&self.a), convert(&self.b));
            let scales = (of(self.scales.0), of(self.scales.1));
            let run = |level: Level| {
                let mut c = convert(&self.c);
                let product = OwnGemm { shape: self.shape, level };
                // SAFETY: the operands were made as large as the product needs.
                unsafe { product.run(a.as_ptr(), b.as_ptr(), scales, c.as_mut_ptr()) };
                c
            };
            Level::known().map(run).collect()
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2 * ProptestConfig::default().cases))]

        #[test]
        fn products_are_those_of_plain_loops(case in case()) {
            let expected = case.expected();
            let doubles = case.results(|number| number);
            let singles = case.results(|number| number as f32);
            let singles = singles.iter().map(|all| all.iter().map(|&number| f64::from(number)));
            for result in doubles.into_iter().chain(singles.map(Iterator::collect)) {
                for (place, (&a, &b)) in result.iter().zip(&expected).enumerate() {
                    prop_assert!(a == b || a.is_nan() && b.is_nan(), "at {place}: {a} for {b}");
                }
            }
        }
    }

    #[test]
    fn what_is_large_or_has_contiguous_columns_is_left_to_blas() {
        let new = |lengths: [i32; 3], transposed: bool| {
            let [rows, columns, inner] = lengths;
            let a = Matrix { transposed, leading: if transposed { inner } else { rows } };
            let by_rows = Matrix { transposed: true, leading: columns };
            let by_columns = Matrix { transposed: false, leading: inner };
            assert!(OwnGemm::new(lengths, a, by_columns, 8).is_none());
            OwnGemm::new(lengths, a, by_rows, 8).is_some()
        };
        let here = Level::best().is_some();
        for transposed in [false, true] {
            assert_eq!(new([100, 100, 200], transposed), here);
            assert!(!new([300, 300, 300], transposed));
        }
    }
}
