//! The factors of a matrix that stays in the caches of a core.

#![expect(clippy::needless_range_loop, reason = "loops over indices keep the instruction set")]

use crate::linalg::own::registers::Register;
use crate::linalg::routine::Element;
use crate::processor::Level;

/// The bytes of a matrix up to which these loops are quicker than LAPACK, with registers of 32 and of 64 bytes.
const SMALLER: [usize; 2] = [128 << 10, 320 << 10];

/// The bytes of a matrix that stays in the nearest cache beside other things: it is one panel.
const NEAREST: usize = 28 << 10;

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
        let [short, long] = SMALLER;
        let most = match level {
            Level::Avx2 => short,
            Level::Avx512 => long,
        };
        (sizes[0] * sizes[1] * item <= most).then_some(OwnLu { sizes, level })
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

/// A matrix in Fortran order without gaps, and the columns of one panel.
#[derive(Clone, Copy)]
struct Panel<T> {
    a: *mut T,
    rows: usize,
    start: usize,
    end: usize,
}

/// The columns of a panel, which is factored before the columns behind it follow. Each element of those is then read
/// and written once for a whole panel, whose multiples are subtracted in the order in which single columns would be.
const PANEL: usize = 8;

/// # Safety
/// The processor has the instructions of `V`; the rest as for [`OwnLu::run`].
#[inline(always)]
unsafe fn factor<V: Register<Item = T>, T: Element>(
    [rows, columns]: [usize; 2],
    a: *mut T,
    pivots: *mut i32,
) {
    let all = rows.min(columns);
    let is_near = rows * columns * size_of::<T>() <= NEAREST;
    let mut start = 0;
    while start < all {
        let end = if is_near { columns } else { all.min(start + PANEL) };
        let panel = Panel { a, rows, start, end };
        // SAFETY: all positions are inside the matrix.
        unsafe {
            factor_panel::<V, T>(panel, pivots);
            for column in 0..start {
                exchange(panel, a.add(column * rows), pivots);
            }
            let mut other = panel.end;
            while other + TOGETHER <= columns {
                follow::<V, T, TOGETHER>(panel, a.add(other * rows), pivots);
                other += TOGETHER;
            }
            while other < columns {
                follow::<V, T, 1>(panel, a.add(other * rows), pivots);
                other += 1;
            }
        }
        start = panel.end;
    }
}

/// Factors the columns of a panel, and exchanges rows within them.
///
/// # Safety
/// As for [`factor`]; the panel is in the matrix.
#[inline(always)]
unsafe fn factor_panel<V: Register<Item = T>, T: Element>(panel: Panel<T>, pivots: *mut i32) {
    let Panel { a, rows, start, end } = panel;
    for column in start..end.min(rows) {
        let line = a.wrapping_add(column * rows);
        // SAFETY: all positions are inside the matrix.
        unsafe {
            let best = column + largest(line.add(column), rows - column);
            pivots.add(column).write(best as i32);
            if best != column {
                for other in start..end {
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
            while other + TOGETHER <= end {
                subtract::<V, T, TOGETHER>(rows, column, line, a.add(other * rows));
                other += TOGETHER;
            }
            while other < end {
                subtract::<V, T, 1>(rows, column, line, a.add(other * rows));
                other += 1;
            }
        }
    }
}

/// The place of the first of the largest elements of a column: the first of all, if that is NaN.
///
/// # Safety
/// There are so many elements.
#[inline(always)]
unsafe fn largest<T: Element>(line: *const T, count: usize) -> usize {
    // SAFETY: all positions are inside the column.
    unsafe {
        let first = line.read().abs();
        let mut most = [first; PANEL];
        let mut row = 0;
        while row + PANEL <= count {
            for lane in 0..PANEL {
                let own = line.add(row + lane).read().abs();
                most[lane] = if own > most[lane] { own } else { most[lane] };
            }
            row += PANEL;
        }
        let mut all = first;
        for own in most {
            all = if own > all { own } else { all };
        }
        while row < count {
            let own = line.add(row).read().abs();
            all = if own > all { own } else { all };
            row += 1;
        }
        let mut place = 0;
        while all > first && line.add(place).read().abs() != all {
            place += 1;
        }
        place
    }
}

/// Exchanges the rows of another column as those of a panel were.
///
/// # Safety
/// As for [`factor`]; the column at `line` is in the matrix.
#[inline(always)]
unsafe fn exchange<T: Element>(panel: Panel<T>, line: *mut T, pivots: *const i32) {
    for row in panel.start..panel.end {
        // SAFETY: all positions are inside the column.
        unsafe { line.add(row).swap(line.add(pivots.add(row).read() as usize)) };
    }
}

/// Subtracts multiples of the columns of a panel from so many columns, which begin at `others`.
///
/// # Safety
/// As for [`factor`]; the columns are in the matrix, behind the panel.
#[inline(always)]
unsafe fn follow<V: Register<Item = T>, T: Element, const COLUMNS: usize>(
    panel: Panel<T>,
    others: *mut T,
    pivots: *const i32,
) {
    let Panel { a, rows, start, end } = panel;
    // SAFETY: all positions are inside the matrix; loads and stores end with the columns.
    unsafe {
        for at in 0..COLUMNS {
            exchange(panel, others.add(at * rows), pivots);
        }
        let mut taken = Taken { factors: [[T::ZERO; COLUMNS]; PANEL], from: [0; PANEL], count: 0 };
        let mut top = [[T::ZERO; PANEL]; COLUMNS];
        for at in 0..COLUMNS {
            for row in start..end {
                top[at][row - start] = others.add(at * rows + row).read();
            }
        }
        for column in start..end {
            let line = a.add(column * rows);
            // A column without a pivot has only zeros below: there is nothing to subtract.
            if line.add(column).read() == T::ZERO {
                continue;
            }
            let factors = &mut taken.factors[taken.count];
            for at in 0..COLUMNS {
                factors[at] = T::ZERO - top[at][column - start];
            }
            for row in column + 1..end {
                let own = line.add(row).read();
                for at in 0..COLUMNS {
                    let place = &mut top[at][row - start];
                    *place = place.plus_product(own, factors[at]);
                }
            }
            taken.from[taken.count] = column * rows;
            taken.count += 1;
        }
        for at in 0..COLUMNS {
            for row in start..end {
                others.add(at * rows + row).write(top[at][row - start]);
            }
        }
        let mut row = end;
        while row + V::COUNT <= rows {
            taken.add::<V>(rows, a.add(row), others.add(row), None);
            row += V::COUNT;
        }
        if row < rows {
            let rest = V::first(rows - row);
            taken.add::<V>(rows, a.add(row), others.add(row), Some(rest));
        }
    }
}

/// The columns of a panel of which multiples are taken, and their factors in some other columns.
struct Taken<T, const COLUMNS: usize> {
    factors: [[T; COLUMNS]; PANEL],
    /// The positions of their first elements.
    from: [usize; PANEL],
    count: usize,
}

impl<T: Element, const COLUMNS: usize> Taken<T, COLUMNS> {
    /// Adds the multiples to a register of each of the other columns, or to `some` of its elements.
    ///
    /// # Safety
    /// `lines` is at a row of the matrix, `others` at that row of the first of the other columns, with as many rows below as
    /// are added to; the processor has the instructions of `V`.
    #[inline(always)]
    unsafe fn add<V: Register<Item = T>>(
        &self,
        rows: usize,
        lines: *const T,
        others: *mut T,
        some: Option<V::Some>,
    ) {
        // SAFETY: by the caller's promise, the rows lie there, and the processor has the
        // instructions of `V`.
        unsafe {
            let load = |from: *const T| match some {
                None => V::load(from),
                Some(some) => V::load_some(from, some),
            };
            let mut sums = [V::splat(T::ZERO); COLUMNS];
            for at in 0..COLUMNS {
                sums[at] = load(others.add(at * rows));
            }
            for k in 0..self.count {
                let own = load(lines.add(self.from[k]));
                for at in 0..COLUMNS {
                    sums[at] = sums[at].plus_product(own, V::splat(self.factors[k][at]));
                }
            }
            for at in 0..COLUMNS {
                let place = others.add(at * rows);
                match some {
                    None => sums[at].store(place),
                    Some(some) => sums[at].store_some(place, some),
                }
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
            // SAFETY: by the caller's promise, the matrix has these sizes, and the processor these
            // instructions.
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
            ([rows, columns], numbers) in [1usize..100, 1usize..100].prop_flat_map(|sizes| {
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
