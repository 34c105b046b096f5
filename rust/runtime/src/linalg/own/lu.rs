//! The factors of a matrix that stays in the nearest cache.

use crate::linalg::own::registers::Register;
use crate::linalg::routine::Element;
use crate::processor::Level;

/// The bytes of a matrix that stays in the nearest cache beside other things.
const NEAREST: usize = 32 << 10;

/// The columns from which a multiple of another is taken in one go.
const TOGETHER: usize = 4;

/// The factors of a matrix, by loops of our own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OwnLu {
    /// The rows and columns.
    sizes: [usize; 2],
    level: Level,
}

impl OwnLu {
    /// Those of a matrix with so many rows and columns, of elements of `item` bytes; `None` where
    /// that is for LAPACK.
    pub(crate) fn new(sizes: [usize; 2], item: usize) -> Option<OwnLu> {
        let level = Level::best()?;
        (sizes[0] * sizes[1] * item <= NEAREST).then_some(OwnLu { sizes, level })
    }

    /// Writes the factors over the matrix, which is in Fortran order without gaps: as LAPACK's
    /// `getrf`, but with rows counted from zero in `pivots`.
    ///
    /// # Safety
    /// The matrix is as large as the plan says, of type `T`, which has as many bytes; `pivots` has an
    /// element for each row or column, whichever are fewer; nothing else writes to them.
    pub(crate) unsafe fn run<T: Element>(&self, a: *mut T, pivots: *mut i32) {
        let run = match self.level {
            Level::Avx2 => factor_avx2::<T>,
            Level::Avx512 => factor_avx512::<T>,
        };
        // SAFETY: the processor has the instructions, or `new` would not have found the level; the
        // rest by the caller's promise. Test: factors_are_those_of_plain_loops.
        unsafe { run(self.sizes, a, pivots) }
    }
}

/// # Safety
/// The processor has the instructions of `V`; the rest as for [`OwnLu::run`].
#[inline(always)]
unsafe fn factor<V: Register<Item = T>, T: Element>(
    [rows, columns]: [usize; 2],
    a: *mut T,
    pivots: *mut i32,
) {
    for column in 0..rows.min(columns) {
        let line = a.wrapping_add(column * rows);
        // SAFETY: all positions are inside the matrix.
        unsafe {
            let mut best = column;
            let mut largest = line.add(column).read().abs();
            for row in column + 1..rows {
                let own = line.add(row).read().abs();
                if own > largest {
                    (best, largest) = (row, own);
                }
            }
            pivots.add(column).write(best as i32);
            if best != column {
                for other in 0..columns {
                    let line = a.add(other * rows);
                    line.add(column).swap(line.add(best));
                }
            }
            let pivot = line.add(column).read();
            if pivot == T::ZERO {
                continue;
            }
            for row in column + 1..rows {
                line.add(row).write(line.add(row).read() / pivot);
            }
            let mut other = column + 1;
            while other + TOGETHER <= columns {
                subtract::<V, T, TOGETHER>(rows, column, line, a.add(other * rows));
                other += TOGETHER;
            }
            while other < columns {
                subtract::<V, T, 1>(rows, column, line, a.add(other * rows));
                other += 1;
            }
        }
    }
}

/// Subtracts multiples of the column at `line` from so many columns, which begin at `others`, below
/// row `column`. The element of a column in that row is its factor.
///
/// # Safety
/// As for [`factor`]; the columns are in the matrix.
#[inline(always)]
unsafe fn subtract<V: Register<Item = T>, T: Element, const COLUMNS: usize>(
    size: usize,
    column: usize,
    line: *const T,
    others: *mut T,
) {
    // SAFETY: by the caller's promise; loads and stores end with the columns.
    unsafe {
        let mut factors = [V::splat(T::ZERO); COLUMNS];
        for (at, factor) in factors.iter_mut().enumerate() {
            *factor = V::splat(T::ZERO - others.add(at * size + column).read());
        }
        let mut row = column + 1;
        while row + V::COUNT <= size {
            let own = V::load(line.add(row));
            for (at, &factor) in factors.iter().enumerate() {
                let place = others.add(at * size + row);
                V::load(place).plus_product(own, factor).store(place);
            }
            row += V::COUNT;
        }
        if row < size {
            let rest = V::first(size - row);
            let own = V::load_some(line.add(row), rest);
            for (at, &factor) in factors.iter().enumerate() {
                let place = others.add(at * size + row);
                V::load_some(place, rest).plus_product(own, factor).store_some(place, rest);
            }
        }
    }
}

/// The factors, with the registers of an instruction set.
macro_rules! entry {
    ($name:ident, $registers:ident, $features:literal) => {
        /// # Safety
        /// As for [`factor`].
        #[target_feature(enable = $features)]
        unsafe fn $name<T: Element>(sizes: [usize; 2], a: *mut T, pivots: *mut i32) {
            // SAFETY: by the caller's promise.
            unsafe { factor::<T::$registers, T>(sizes, a, pivots) }
        }
    };
}

entry!(factor_avx2, Avx2, "avx2,fma");
entry!(factor_avx512, Avx512, "avx2,fma,avx512f,avx512dq");

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::linalg::small::{self, Grid};

    proptest! {
        #[test]
        fn factors_are_those_of_plain_loops(
            ([rows, columns], numbers) in [1usize..40, 1usize..40].prop_flat_map(|sizes| {
                let eighths = (-64i32..64).prop_map(|eighths| f64::from(eighths) / 8.0);
                (Just(sizes), prop::collection::vec(eighths, sizes[0] * sizes[1]))
            }),
            singular in any::<bool>(),
        ) {
            let mut matrix = numbers;
            // Rows that dominate keep the order of the pivots from hanging on the last bit.
            for row in 0..rows {
                let column = (row * 7 + 3) % columns;
                matrix[column * rows + row] += 1000.0 * (row + 1) as f64;
            }
            if singular {
                matrix[..rows].fill(0.0);
            }
            let mut expected = matrix.clone();
            let mut exchanged = vec![0; rows.min(columns)];
            let grid = Grid::in_columns(expected.as_mut_ptr(), rows);
            let sizes = [rows, columns];
            // SAFETY: the matrix and the pivots are as large as said.
            unsafe { small::factor(sizes, grid, exchanged.as_mut_ptr()) };
            for level in Level::known() {
                let (mut own, mut pivots) = (matrix.clone(), vec![0; rows.min(columns)]);
                // SAFETY: as above.
                unsafe { OwnLu { sizes, level }.run(own.as_mut_ptr(), pivots.as_mut_ptr()) };
                prop_assert_eq!(&pivots, &exchanged);
                for (a, b) in own.iter().zip(&expected) {
                    prop_assert!((a - b).abs() <= 1e-9 * b.abs().max(1.0), "{a} for {b}");
                }
            }
        }
    }
}
