//! Products, factors and systems of small matrices, for which a call of BLAS or LAPACK costs more than its work.

use crate::arrays::layout::Layout;
use crate::linalg::routine::{Element, Triangle};
#[cfg(target_arch = "x86_64")]
use crate::processor::Level;

pub(crate) mod again;

/// The rows and columns of small matrices.
pub(crate) const SMALL: i64 = 8;

/// The product of two small operands of rank 1 or 2: a vector in front is a row, one behind a column.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SmallDot {
    rows: usize,
    inner: usize,
    columns: usize,
    /// Elements from row to row of the first operand, and along a row.
    a: [isize; 2],
    /// Elements from row to row of the second operand, and along a row.
    b: [isize; 2],
    /// Whether it is the product of the transposed operands, the second one first.
    is_transposed: bool,
    #[cfg(target_arch = "x86_64")]
    is_wide: bool,
}

impl SmallDot {
    /// The product of operands whose shapes agree; `None` if one is large, or has elements where
    /// none of its type is aligned.
    pub(crate) fn new(a: &Layout, b: &Layout, item: usize) -> Option<SmallDot> {
        let item = item as i64;
        if a.dims.iter().chain(&b.dims).any(|&length| length > SMALL)
            || a.strides.iter().chain(&b.strides).any(|stride| stride % item != 0)
        {
            return None;
        }
        let step = |layout: &Layout, axis: usize| (layout.strides[axis] / item) as isize;
        let (rows, a_steps) = match a.ndim() {
            1 => (1, [0, step(a, 0)]),
            _ => (a.dims[0], [step(a, 0), step(a, 1)]),
        };
        let (columns, b_steps) = match b.ndim() {
            1 => (1, [step(b, 0), 1]),
            _ => (b.dims[1], [step(b, 0), step(b, 1)]),
        };
        // The sums of a row lie side by side in registers: one column is taken as a row.
        let is_transposed = columns == 1;
        let ([rows, columns], [a_steps, b_steps]) = if is_transposed {
            ([1, rows], [[0, b_steps[0]], [a_steps[1], a_steps[0]]])
        } else {
            ([rows, columns], [a_steps, b_steps])
        };
        Some(SmallDot {
            rows: rows as usize,
            inner: b.dims[0] as usize,
            columns: columns as usize,
            a: a_steps,
            b: b_steps,
            is_transposed,
            #[cfg(target_arch = "x86_64")]
            is_wide: Level::best().is_some(),
        })
    }

    /// How `z` of these layouts is added to the product: the elements from row to row and along a
    /// row. `None` if it has elements where none of its type is aligned.
    pub(crate) fn addend_steps(&self, z: &Layout, item: usize) -> Option<[isize; 2]> {
        let item = item as i64;
        let steps: Vec<isize> = (z.strides.iter())
            .map(|stride| (stride % item == 0).then_some((stride / item) as isize))
            .collect::<Option<_>>()?;
        Some(match steps[..] {
            [] => [0, 0],
            [along] => [0, along],
            [along, ..] if self.is_transposed => [0, along],
            [down, along, ..] => [down, along],
        })
    }

    /// The steps of the result, in the order of [`SmallDot::addend_steps`].
    pub(crate) fn result_steps(&self) -> [isize; 2] {
        [self.columns as isize, 1]
    }

    /// `result = alpha a b + beta result`, in C order. Where `beta` is zero, `result` may hold
    /// anything.
    ///
    /// # Safety
    /// The operands have the layouts of the product; `result` is as large as it, aligned and apart
    /// from them.
    pub(crate) unsafe fn run<T: Element>(
        &self,
        operands: [*const T; 2],
        scales: (T, T),
        result: *mut T,
    ) {
        // SAFETY: by the caller's promise; each element is read before it is written.
        unsafe { self.add(operands, scales, (result, self.result_steps()), result) };
    }

    /// `result = alpha a b + beta z`, in C order. Where `beta` is zero, `z` is not read.
    ///
    /// # Safety
    /// As for `run`; `z` has such steps, and `result` is apart from it or the same.
    pub(crate) unsafe fn add<T: Element>(
        &self,
        [a, b]: [*const T; 2],
        scales: (T, T),
        z: (*const T, [isize; 2]),
        result: *mut T,
    ) {
        let operands = if self.is_transposed { [b, a] } else { [a, b] };
        // Wider registers take more columns at once; each sum still adds the same terms in the same order.
        #[cfg(target_arch = "x86_64")]
        if self.is_wide {
            // SAFETY: the processor has AVX2 at every level, and by the caller's promise.
            unsafe { self.add_wide(operands, scales, z, result) };
            return;
        }
        // SAFETY: by the caller's promise, the operands, the value that is added and the result are those of `add`.
        unsafe { self.rows(operands, scales, z, result) };
    }

    /// # Safety
    /// As for `add`, on a processor with AVX2.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    unsafe fn add_wide<T: Element>(
        &self,
        operands: [*const T; 2],
        scales: (T, T),
        z: (*const T, [isize; 2]),
        result: *mut T,
    ) {
        // SAFETY: by the caller's promise, the operands are those of `add`, and the processor has AVX2.
        unsafe { self.rows(operands, scales, z, result) };
    }

    /// # Safety
    /// As for `add`.
    #[inline(always)]
    unsafe fn rows<T: Element>(
        &self,
        operands: [*const T; 2],
        scales: (T, T),
        z: (*const T, [isize; 2]),
        result: *mut T,
    ) {
        // SAFETY: by the caller's promise, the operands are those of `add`.
        unsafe {
            match self.columns {
                1 => self.columns::<T, 1>(operands, scales, z, result),
                2 => self.columns::<T, 2>(operands, scales, z, result),
                3 => self.columns::<T, 3>(operands, scales, z, result),
                4 => self.columns::<T, 4>(operands, scales, z, result),
                5 => self.columns::<T, 5>(operands, scales, z, result),
                6 => self.columns::<T, 6>(operands, scales, z, result),
                7 => self.columns::<T, 7>(operands, scales, z, result),
                _ => self.columns::<T, 8>(operands, scales, z, result),
            }
        }
    }

    /// # Safety
    /// As for `add`, where the result has `COLUMNS` columns.
    #[inline(always)]
    unsafe fn columns<T: Element, const COLUMNS: usize>(
        &self,
        [a, b]: [*const T; 2],
        scales: (T, T),
        (z, [down, right]): (*const T, [isize; 2]),
        result: *mut T,
    ) {
        for row in 0..self.rows {
            let a = a.wrapping_offset(row as isize * self.a[0]);
            let z = z.wrapping_offset(row as isize * down);
            let result = result.wrapping_add(row * COLUMNS);
            // SAFETY: by the caller's promise, for the row.
            unsafe {
                // A step that is known makes loads of whole rows of them.
                if self.b[1] == 1 && right == 1 {
                    self.row::<T, COLUMNS>(a, (b, 1), scales, (z, 1), result);
                } else {
                    self.row::<T, COLUMNS>(a, (b, self.b[1]), scales, (z, right), result);
                }
            }
        }
    }

    /// # Safety
    /// As for `add`, for one row of `a`, `z` and the result, of `COLUMNS` columns.
    #[inline(always)]
    unsafe fn row<T: Element, const COLUMNS: usize>(
        &self,
        a: *const T,
        (b, along): (*const T, isize),
        (alpha, beta): (T, T),
        (z, right): (*const T, isize),
        result: *mut T,
    ) {
        let mut sums = [T::ZERO; COLUMNS];
        for k in 0..self.inner as isize {
            // SAFETY: all positions are inside the operands.
            unsafe {
                let factor = a.wrapping_offset(k * self.a[1]).read();
                let line = b.wrapping_offset(k * self.b[0]);
                for (at, sum) in sums.iter_mut().enumerate() {
                    *sum = *sum + factor * line.wrapping_offset(at as isize * along).read();
                }
            }
        }
        for (at, &sum) in sums.iter().enumerate() {
            let z = z.wrapping_offset(at as isize * right);
            // SAFETY: the rows of `z` and the result have so many elements.
            unsafe {
                let value =
                    if beta == T::ZERO { alpha * sum } else { alpha * sum + beta * z.read() };
                result.wrapping_add(at).write(value);
            }
        }
    }
}

/// A matrix, by the elements from row to row and along a row.
#[derive(Clone, Copy)]
pub(crate) struct Grid<T> {
    pub(crate) at: *mut T,
    pub(crate) down: usize,
    pub(crate) right: usize,
}

impl<T: Element> Grid<T> {
    /// In column-major order.
    pub(crate) fn in_columns(at: *mut T, leading: usize) -> Grid<T> {
        Grid { at, down: 1, right: leading }
    }

    pub(crate) fn transposed(self) -> Grid<T> {
        Grid { at: self.at, down: self.right, right: self.down }
    }

    fn place(self, row: usize, column: usize) -> *mut T {
        self.at.wrapping_add(row * self.down + column * self.right)
    }

    /// # Safety
    /// The position is inside the matrix.
    unsafe fn get(self, row: usize, column: usize) -> T {
        // SAFETY: by the caller's promise, the position is inside the matrix.
        unsafe { self.place(row, column).read() }
    }

    /// # Safety
    /// The position is inside the matrix, to which no other thread writes.
    unsafe fn set(self, row: usize, column: usize, value: T) {
        // SAFETY: by the caller's promise, the position is inside the matrix, to which no other thread writes.
        unsafe { self.place(row, column).write(value) };
    }

    /// Swaps two rows.
    ///
    /// # Safety
    /// The matrix has both rows and so many columns, and no other thread writes to it.
    pub(crate) unsafe fn swap_rows(self, one: usize, other: usize, columns: usize) {
        if one != other {
            for column in 0..columns {
                // SAFETY: by the caller's promise, the matrix has both rows, and so many columns.
                unsafe { self.place(one, column).swap(self.place(other, column)) };
            }
        }
    }
}

/// The lower Cholesky factor of the lower triangle of a matrix of `size` rows, in its place. If it
/// has none, the order of the first leading minor that is not positive.
///
/// # Safety
/// The matrix has so many rows and columns, and no other thread writes to it.
pub(crate) unsafe fn factor_positive<T: Element>(size: usize, a: Grid<T>) -> Option<i32> {
    for column in 0..size {
        // SAFETY: all positions are inside the matrix.
        unsafe {
            let mut pivot = a.get(column, column);
            for k in 0..column {
                pivot = pivot - a.get(column, k) * a.get(column, k);
            }
            if pivot <= T::ZERO {
                return Some(column as i32 + 1);
            }
            let root = pivot.sqrt();
            a.set(column, column, root);
            for row in column + 1..size {
                let mut sum = a.get(row, column);
                for k in 0..column {
                    sum = sum - a.get(row, k) * a.get(column, k);
                }
                a.set(row, column, sum / root);
            }
        }
    }
    None
}

/// The factors of a matrix of so many rows and columns, in its place: as LAPACK's `getrf`, but with
/// rows counted from zero in `pivots`.
///
/// # Safety
/// The matrix has so many rows and columns, `pivots` as many elements as it has of those that are
/// fewer; no other thread writes to them.
pub(crate) unsafe fn factor<T: Element>([rows, columns]: [usize; 2], a: Grid<T>, pivots: *mut i32) {
    for column in 0..rows.min(columns) {
        // SAFETY: all positions are inside the matrix.
        unsafe {
            let mut best = column;
            for row in column + 1..rows {
                if a.get(row, column).abs() > a.get(best, column).abs() {
                    best = row;
                }
            }
            pivots.add(column).write(best as i32);
            a.swap_rows(column, best, columns);
            let pivot = a.get(column, column);
            if pivot == T::ZERO {
                continue;
            }
            for row in column + 1..rows {
                a.set(row, column, a.get(row, column) / pivot);
            }
            for other in column + 1..columns {
                let above = a.get(column, other);
                for row in column + 1..rows {
                    a.set(row, other, a.get(row, other) - a.get(row, column) * above);
                }
            }
        }
    }
}

/// Solves `a x = b` for a triangle `a` of `size` rows; `x`, of so many columns, holds `b` first.
///
/// # Safety
/// The operands are as large as `size` and `columns` say; `x` is apart from `a`, and written by
/// nobody else.
pub(crate) unsafe fn solve<T: Element>(
    size: usize,
    columns: usize,
    triangle: Triangle,
    a: Grid<T>,
    x: Grid<T>,
) {
    for column in 0..columns {
        for turn in 0..size {
            let row = if triangle.lower { turn } else { size - 1 - turn };
            let known = if triangle.lower { 0..row } else { row + 1..size };
            // SAFETY: all positions are inside the matrices.
            unsafe {
                let mut sum = x.get(row, column);
                for k in known {
                    sum = sum - a.get(row, k) * x.get(k, column);
                }
                x.set(row, column, if triangle.unit { sum } else { sum / a.get(row, row) });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A matrix of small integers, and how it lies: by rows or by columns, with gaps or without.
    fn matrix(dims: &[i64], by_columns: bool, gap: i64) -> (Vec<f64>, Layout) {
        let count: i64 = dims.iter().product();
        let elements = (0..count * gap).map(|at| ((at * 7 + 3) % 11 - 5) as f64).collect();
        let mut strides = vec![8 * gap; dims.len()];
        if let ([rows, columns], [down, along]) = (dims, &mut strides[..]) {
            *(if by_columns { along } else { down }) *= if by_columns { *rows } else { *columns };
        }
        (elements, Layout { dims: dims.into(), strides: strides.into() })
    }

    fn at(layout: &Layout, index: &[i64]) -> usize {
        let bytes = layout.strides.iter().zip(index).map(|(stride, at)| stride * at);
        bytes.sum::<i64>() as usize / 8
    }

    /// The index of an element of the product in an operand of its shape.
    fn of_product(layout: &Layout, is_column: bool, row: i64, column: i64) -> usize {
        match layout.ndim() {
            0 => 0,
            1 => at(layout, &[if is_column { row } else { column }]),
            _ => at(layout, &[row, column]),
        }
    }

    #[test]
    fn products_are_added_to_what_lies_in_any_way() {
        let kinds = [(false, 1), (true, 1), (false, 2)];
        for (rows, inner, columns) in [(1, 1, 1), (5, 5, 1), (3, 8, 1), (1, 4, 5), (7, 2, 8)] {
            for (ranks, kind) in [(2, 2), (2, 1), (1, 2), (1, 1)].iter().zip(kinds.iter().cycle()) {
                if (ranks.0 == 1 && rows > 1) || (ranks.1 == 1 && columns > 1) {
                    continue;
                }
                let a_dims = [rows, inner];
                let b_dims = [inner, columns];
                let left = if ranks.0 == 2 { &a_dims[..] } else { &a_dims[1..] };
                let right = if ranks.1 == 2 { &b_dims[..] } else { &b_dims[..1] };
                let dims = [&left[..left.len() - 1], &right[1..]].concat();
                for (by_columns, gap) in kinds {
                    let (a, a_layout) = matrix(left, kind.0, kind.1);
                    let (b, b_layout) = matrix(right, by_columns, gap);
                    let (z, z_layout) = matrix(&dims, by_columns, gap);
                    let product = SmallDot::new(&a_layout, &b_layout, 8).unwrap();
                    let steps = product.addend_steps(&z_layout, 8).unwrap();
                    let mut result = vec![f64::NAN; (rows * columns) as usize];
                    let operands = [a.as_ptr(), b.as_ptr()];
                    // SAFETY: the operands have these layouts, the result has room.
                    unsafe {
                        product.add(operands, (2.0, 3.0), (z.as_ptr(), steps), result.as_mut_ptr());
                    }
                    for (row, column) in
                        (0..rows).flat_map(|row| (0..columns).map(move |c| (row, c)))
                    {
                        let term = |k: i64| {
                            let left = if ranks.0 == 2 { vec![row, k] } else { vec![k] };
                            let right = if ranks.1 == 2 { vec![k, column] } else { vec![k] };
                            a[at(&a_layout, &left)] * b[at(&b_layout, &right)]
                        };
                        let z_at = of_product(&z_layout, ranks.1 == 1, row, column);
                        let expected = 2.0 * (0..inner).map(term).sum::<f64>() + 3.0 * z[z_at];
                        assert_eq!(result[(row * columns + column) as usize], expected);
                    }
                }
            }
        }
    }
}
