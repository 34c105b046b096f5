//! Factors and systems of small matrices, one a lane.
//!
//! Each lane does what `small.rs` does for one matrix, in the same order: the bits are the same.

// The code of iterators is compiled for no instruction set but the plain one, unless it
// happens to be inlined.
#![expect(clippy::needless_range_loop, reason = "loops over indices keep the instruction set")]
// Each kernel is a function of its own, which begins and ends with clean registers. Arrays start from
// some element, not from zeros: these would be a call of `memset`, and nothing is called while wide
// registers are in use.

use super::strip::Strip;
use super::wide::Wide;
use crate::linalg::lapack::TriangularForm;
use crate::linalg::routine::Element;

/// A small whole number.
///
/// # Safety
/// The processor has AVX2.
#[inline(always)]
unsafe fn number<V: Wide>(value: usize) -> V {
    let mut sum = V::Item::ZERO;
    for _ in 0..value {
        sum = sum + V::Item::ONE;
    }
    // SAFETY: by the caller's promise, the processor has AVX2.
    unsafe { V::splat(sum) }
}

/// Swaps two elements in the lanes of a mask.
///
/// # Safety
/// The processor has AVX2.
#[inline(always)]
unsafe fn swapped<V: Wide>(mask: V, a: V, b: V) -> (V, V) {
    // SAFETY: by the caller's promise, the processor has AVX2.
    unsafe { (b.select(mask, a), a.select(mask, b)) }
}

/// As [`crate::linalg::small::factor_positive`], with zeros above the diagonal. Whether all matrices
/// have a factor; if not, nothing is written.
///
/// # Safety
/// The matrices have `N` rows and columns, `to` is apart from `from` or the same; the processor has
/// AVX2.
#[target_feature(enable = "avx2")]
#[inline(never)]
pub(super) unsafe fn cholesky<V: Wide, const N: usize>(
    from: Strip<V::Item>,
    to: Strip<V::Item>,
) -> bool {
    // SAFETY: by the caller's promise; all positions are inside the matrices.
    unsafe {
        let zero = V::splat(V::Item::ZERO);
        let mut a: [[V; N]; N] = [[from.get(0, 0); N]; N];
        for row in 0..N {
            for column in 0..row + 1 {
                a[row][column] = from.get(row, column);
            }
        }
        for column in 0..N {
            let mut pivot = a[column][column];
            for k in 0..column {
                pivot = pivot.less(a[column][k], a[column][k]);
            }
            // A pivot that is NaN goes on, as in LAPACK.
            if pivot.equals(zero).any() || zero.above(pivot).any() {
                return false;
            }
            let root = pivot.sqrt();
            a[column][column] = root;
            for row in column + 1..N {
                let mut sum = a[row][column];
                for k in 0..column {
                    sum = sum.less(a[row][k], a[column][k]);
                }
                a[row][column] = sum.over(root);
            }
        }
        for row in 0..N {
            for column in 0..N {
                to.set(row, column, if column > row { zero } else { a[row][column] });
            }
        }
    }
    true
}

/// As [`crate::linalg::small::factor`].
///
/// # Safety
/// As for `cholesky`; `pivots` has a vector of `N` elements for each matrix.
#[target_feature(enable = "avx2")]
#[inline(never)]
pub(super) unsafe fn lu<V: Wide, const N: usize>(
    from: Strip<V::Item>,
    to: Strip<V::Item>,
    pivots: Strip<i32>,
) {
    // SAFETY: by the caller's promise; all positions are inside the matrices.
    unsafe {
        let zero = V::splat(V::Item::ZERO);
        let mut a: [[V; N]; N] = [[from.get(0, 0); N]; N];
        for row in 0..N {
            for column in 0..N {
                a[row][column] = from.get(row, column);
            }
        }
        for column in 0..N {
            let mut largest = a[column][column].abs();
            let mut best: V = number(column);
            for row in column + 1..N {
                let size = a[row][column].abs();
                let larger = size.above(largest);
                largest = size.select(larger, largest);
                best = number::<V>(row).select(larger, best);
            }
            best.scatter_integers(pivots.place(column, 0), pivots.next, pivots.count);
            for row in column + 1..N {
                let mask = best.equals(number(row));
                for k in 0..N {
                    (a[column][k], a[row][k]) = swapped(mask, a[column][k], a[row][k]);
                }
            }
            let pivot = a[column][column];
            let stays = pivot.equals(zero);
            for row in column + 1..N {
                let factor = a[row][column].select(stays, a[row][column].over(pivot));
                a[row][column] = factor;
                for k in column + 1..N {
                    let old = a[row][k];
                    a[row][k] = old.select(stays, old.less(factor, a[column][k]));
                }
            }
        }
        for row in 0..N {
            for column in 0..N {
                to.set(row, column, a[row][column]);
            }
        }
    }
}

/// Writes the place of each row in the product of the factors: the exchanges of so many rows, taken
/// back from the last to the first.
///
/// # Safety
/// The vectors have so many elements each, the pivots are rows; no other thread writes to them.
pub(super) unsafe fn place_rows(size: usize, pivots: Strip<i32>, places: Strip<i64>) {
    for lane in 0..pivots.count as isize {
        // SAFETY: by the caller's promise, the vectors have `size` elements each, and the pivots are rows.
        unsafe {
            let place = |row: usize| places.place(row, 0).offset(lane * places.next);
            for row in 0..size {
                place(row).write(row as i64);
            }
            for row in (0..size).rev() {
                let partner = pivots.place(row, 0).offset(lane * pivots.next).read();
                place(row).swap(place(partner as usize));
            }
        }
    }
}

/// As [`crate::linalg::small::solve`], in place of `x`.
///
/// # Safety
/// The processor has AVX2.
#[inline(always)]
unsafe fn substitute<V: Wide, const N: usize>(
    a: &[[V; N]; N],
    x: &mut [V; N],
    lower: bool,
    unit: bool,
) {
    for turn in 0..N {
        let row = if lower { turn } else { N - 1 - turn };
        let (first, end) = if lower { (0, row) } else { (row + 1, N) };
        // SAFETY: by the caller's promise; `row` and `k` are below `N`. A check would be a call.
        unsafe {
            let own = a.get_unchecked(row);
            let mut sum = *x.get_unchecked(row);
            for k in first..end {
                sum = sum.less(*own.get_unchecked(k), *x.get_unchecked(k));
            }
            *x.get_unchecked_mut(row) = if unit { sum } else { sum.over(*own.get_unchecked(row)) };
        }
    }
}

/// Has a row change places with its partner, which is none of those before it.
///
/// # Safety
/// The processor has AVX2.
#[inline(always)]
unsafe fn exchange<V: Wide, const N: usize>(row: usize, partner: V, x: &mut [V; N]) {
    for other in row + 1..N {
        // SAFETY: by the caller's promise, the processor has AVX2.
        unsafe {
            let mask = partner.equals(number(other));
            (x[row], x[other]) = swapped(mask, x[row], x[other]);
        }
    }
}

/// The solution, given factors, partners of rows and a right side of so many columns. Whether no
/// matrix is singular and no partner is before its row; if not, nothing is written.
///
/// # Safety
/// As for `cholesky`; `x` is apart from `b` or the same.
#[target_feature(enable = "avx2")]
#[inline(never)]
pub(super) unsafe fn lu_solve<V: Wide, const N: usize>(
    mut factors: Strip<V::Item>,
    pivots: Strip<i32>,
    [b, x]: [Strip<V::Item>; 2],
    columns: usize,
    transposed: bool,
) -> bool {
    if transposed {
        factors = factors.transposed();
    }
    // SAFETY: by the caller's promise; all positions are inside the matrices.
    unsafe {
        let zero = V::splat(V::Item::ZERO);
        let mut a: [[V; N]; N] = [[factors.get(0, 0); N]; N];
        let mut partners = a[0];
        for row in 0..N {
            for column in 0..N {
                a[row][column] = factors.get(row, column);
            }
            let partner = V::gather_integers(pivots.place(row, 0), pivots.next, pivots.count);
            // Whoever gives the partners may give anything: the plan for one matrix says what.
            let before = number::<V>(row).above(partner).any();
            let behind = !number::<V>(N).above(partner).all();
            if before || behind || a[row][row].equals(zero).any() {
                return false;
            }
            partners[row] = partner;
        }
        for column in 0..columns {
            let mut solution: [V; N] = [b.get(0, column); N];
            for row in 1..N {
                solution[row] = b.get(row, column);
            }
            if transposed {
                substitute(&a, &mut solution, true, false);
                substitute(&a, &mut solution, false, true);
                for turn in 0..N {
                    exchange(N - 1 - turn, partners[N - 1 - turn], &mut solution);
                }
            } else {
                for row in 0..N {
                    exchange(row, partners[row], &mut solution);
                }
                substitute(&a, &mut solution, true, true);
                substitute(&a, &mut solution, false, false);
            }
            for row in 0..N {
                x.set(row, column, solution[row]);
            }
        }
    }
    true
}

/// The solution, given a triangle and a right side of so many columns. Whether no matrix is
/// singular; if not, nothing is written.
///
/// # Safety
/// As for `lu_solve`.
#[target_feature(enable = "avx2")]
#[inline(never)]
pub(super) unsafe fn solve<V: Wide, const N: usize>(
    mut triangle: Strip<V::Item>,
    [b, x]: [Strip<V::Item>; 2],
    columns: usize,
    form: TriangularForm,
) -> bool {
    if form.transposed {
        triangle = triangle.transposed();
    }
    let lower = form.lower != form.transposed;
    // SAFETY: by the caller's promise; all positions are inside the matrices.
    unsafe {
        let zero = V::splat(V::Item::ZERO);
        let mut a: [[V; N]; N] = [[triangle.get(0, 0); N]; N];
        for row in 0..N {
            let (first, end) = if lower { (0, row + 1) } else { (row, N) };
            for column in first..end {
                a[row][column] = triangle.get(row, column);
            }
            if !form.unit && a[row][row].equals(zero).any() {
                return false;
            }
        }
        for column in 0..columns {
            let mut solution: [V; N] = [b.get(0, column); N];
            for row in 1..N {
                solution[row] = b.get(row, column);
            }
            substitute(&a, &mut solution, lower, form.unit);
            for row in 0..N {
                x.set(row, column, solution[row]);
            }
        }
    }
    true
}
