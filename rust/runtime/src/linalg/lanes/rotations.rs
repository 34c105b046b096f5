//! Eigenvalues and singular values of small matrices, by rotations of two rows and columns at a time (Jacobi).
//!
//! A lane changes only while a rotation of its own is due, so the bits of a matrix do not depend on those beside it.
//! They are computed in `f64`, those of `f32` too. Matrices whose elements are very large or small are left to LAPACK,
//! which scales them: here squares of elements neither overflow nor vanish.

// The code of iterators is compiled for no instruction set but the plain one, unless it
// happens to be inlined.
#![expect(clippy::needless_range_loop, reason = "loops over indices keep the instruction set")]

use super::columns::Columns;
use super::strip::Strip;
use super::wide::Wide;
use crate::linalg::routine::Element;
use crate::linalg::small::SMALL;

pub(super) const ROOM: usize = SMALL as usize;

/// The sizes of elements, but for zeros.
const LEAST: f64 = 1.0 / MOST;
const MOST: f64 = (1u128 << 75) as f64 * (1u128 << 75) as f64;

/// A square that is nothing beside those of any matrix of such elements: rounding left it. The squares of larger ones, and
/// of what is as small as a rounding beside them, do not vanish.
const NOTHING: f64 = LEAST * LEAST * LEAST;

/// The rounds through all pairs after which a matrix is left to LAPACK. Few need more than eight.
const ROUNDS: usize = 40;

/// The cosine of the angle between columns that count as orthogonal.
const ORTHOGONAL: f64 = 2.0 * f64::EPSILON;

/// The cosine before a rotation, and the tangent of its angle, below which it leaves nothing to another round: a column
/// meets so few others that the products of both are less than [`ORTHOGONAL`].
const FINAL: f64 = 1e-9;

/// Pairs of lines, in an order in which neighbours have no line in common: a processor works on
/// several at once. The players of a tournament meet in the same way.
pub(super) struct Pairs {
    size: usize,
    turn: usize,
    place: usize,
}

impl Pairs {
    #[inline(always)]
    pub(super) fn new(size: usize) -> Pairs {
        Pairs { size, turn: 0, place: 0 }
    }

    /// The pairs of the next turn, which have no line in common, and their number: none behind the last turn.
    #[inline(always)]
    pub(super) fn next_turn(&mut self) -> ([(usize, usize); ROOM / 2], usize) {
        let mut met = [(0, 0); ROOM / 2];
        let mut count = 0;
        let turn = self.turn;
        while self.turn == turn
            && let Some(pair) = self.next()
        {
            met[count] = pair;
            count += 1;
        }
        (met, count)
    }

    /// The next pair, the lower line first.
    #[inline(always)]
    fn next(&mut self) -> Option<(usize, usize)> {
        // One line has no partner where the number of them is odd.
        let others = (self.size + self.size % 2).saturating_sub(1);
        loop {
            if self.turn >= others {
                return None;
            }
            let (one, other) = if self.place == 0 {
                (self.turn, others)
            } else {
                let (above, below) = (self.turn + self.place, self.turn + others - self.place);
                let around = |line: usize| if line < others { line } else { line - others };
                (around(above), around(below))
            };
            self.place += 1;
            if self.place * 2 > others {
                (self.place, self.turn) = (0, self.turn + 1);
            }
            if one.max(other) < self.size {
                return Some((one.min(other), one.max(other)));
            }
        }
    }
}

/// Whether all elements have sizes that are neither very large nor very small.
///
/// # Safety
/// The processor has the registers.
#[inline(always)]
unsafe fn moderate<V: Wide<Item = f64>>(x: V) -> bool {
    // SAFETY: by the caller's promise, the processor has the registers.
    unsafe {
        let size = x.abs();
        let zero = size.equals(V::splat(0.0));
        let fits = size.above(V::splat(LEAST)).select(V::splat(MOST).above(size), zero);
        size.equals(size).select(zero, fits).all()
    }
}

/// The tangent of the angle of the rotation that a pair needs, in the lanes that need one, and zero
/// in the others; `doubled` is twice what is to vanish.
///
/// # Safety
/// The processor has the registers.
#[inline(always)]
unsafe fn tangent<V: Wide<Item = f64>>(difference: V, doubled: V, due: V) -> V {
    // SAFETY: by the caller's promise, the processor has the registers.
    unsafe {
        let zero = V::splat(0.0);
        let root = difference.times(difference).plus(doubled.times(doubled)).sqrt();
        let size = doubled.over(difference.abs().plus(root));
        let signed = zero.minus(size).select(zero.above(difference), size);
        signed.select(due, zero)
    }
}

/// The sine of an angle and the tangent of its half, given its tangent.
///
/// # Safety
/// The processor has the registers.
#[inline(always)]
unsafe fn rotation<V: Wide<Item = f64>>(t: V) -> (V, V) {
    // SAFETY: by the caller's promise, the processor has the registers.
    unsafe {
        let one = V::splat(1.0);
        let secant = t.times(t).plus(one).sqrt();
        (t.over(secant), t.over(secant.plus(one)))
    }
}

/// Two elements, turned by such an angle. What is added to each is small, and its rounding, too.
///
/// # Safety
/// The processor has the registers.
#[inline(always)]
pub(super) unsafe fn rotated<V: Wide<Item = f64>>(sine: V, half: V, x: V, y: V) -> (V, V) {
    // SAFETY: by the caller's promise, the processor has the registers.
    unsafe { (x.less(sine, y.plus(half.times(x))), y.plus(sine.times(x.less(half, y)))) }
}

/// The eigenvalues of symmetric matrices of `size` rows, at most [`SMALL`], in ascending order; the
/// lower triangles are read. Whether they were found; if not, nothing is written.
///
/// # Safety
/// The matrices have so many rows and columns, `values` so many elements each, apart from them; the
/// processor has the registers.
#[inline(always)]
pub(super) unsafe fn eigenvalues<V: Wide<Item = f64>, C: Columns<V>, T: Element>(
    size: usize,
    from: Strip<T>,
    values: Strip<T>,
) -> bool {
    // SAFETY: by the caller's promise; all positions are inside the matrices.
    unsafe {
        let mut a: [[V; ROOM]; ROOM] = [[from.get_wide(0, 0); ROOM]; ROOM];
        for row in 0..size {
            for column in 0..row + 1 {
                let element: V = from.get_wide(row, column);
                if !moderate(element) {
                    return false;
                }
                a[row][column] = element;
                a[column][row] = element;
            }
        }
        let mut rounds = 0;
        while C::round_of_symmetric(size, &mut a) {
            rounds += 1;
            if rounds == ROUNDS {
                return false;
            }
        }
        let mut found = [a[0][0]; ROOM];
        for row in 0..size {
            found[row] = a[row][row];
        }
        sort(size, &mut found);
        for row in 0..size {
            values.set_wide(row, 0, found[row]);
        }
    }
    true
}

/// A rotation that makes an element beside the diagonal vanish: the lanes in which it is due, the sine of
/// its angle and the tangent of its half, and both elements on the diagonal afterwards.
pub(super) struct Turned<V> {
    pub(super) due: V,
    pub(super) sine: V,
    pub(super) half: V,
    pub(super) first: V,
    pub(super) second: V,
}

/// The rotation for two elements on the diagonal and the one beside it.
///
/// # Safety
/// The processor has the registers.
#[inline(always)]
pub(super) unsafe fn turned<V: Wide<Item = f64>>(first: V, second: V, beside: V) -> Turned<V> {
    // SAFETY: by the caller's promise, the processor has the registers.
    unsafe {
        let zero = V::splat(0.0);
        // A number that changes neither of the two when it is added is as good as nothing.
        let breadth = beside.abs();
        let is_nothing = |x: V| x.abs().plus(breadth).equals(x.abs());
        let counts = breadth.above(V::splat(NOTHING));
        let due = zero.select(is_nothing(first).select(is_nothing(second), zero), counts);
        let t = tangent(second.minus(first), beside.plus(beside), due);
        let (sine, half) = rotation(t);
        let (first, second) = (first.less(t, beside), second.plus(t.times(beside)));
        Turned { due, sine, half, first, second }
    }
}

/// A round of rotations, after which the elements beside the diagonal are smaller. Whether any was
/// due.
///
/// # Safety
/// The matrices have so many rows; the processor has the registers.
#[inline(always)]
pub(super) unsafe fn round_of_symmetric<V: Wide<Item = f64>>(
    size: usize,
    a: &mut [[V; ROOM]; ROOM],
) -> bool {
    let mut moved = false;
    let mut pairs = Pairs::new(size);
    // SAFETY: by the caller's promise; all positions are inside the matrices.
    unsafe {
        let zero = V::splat(0.0);
        while let Some((p, q)) = pairs.next() {
            let Turned { due, sine, half, first, second } = turned(a[p][p], a[q][q], a[p][q]);
            a[p][q] = zero;
            a[q][p] = zero;
            if !due.any() {
                continue;
            }
            moved = true;
            a[p][p] = first;
            a[q][q] = second;
            for row in 0..size {
                if row != p && row != q {
                    let (x, y) = rotated(sine, half, a[row][p], a[row][q]);
                    a[row][p] = x;
                    a[p][row] = x;
                    a[row][q] = y;
                    a[q][row] = y;
                }
            }
        }
    }
    moved
}

/// The singular values of matrices of so many rows and columns, no more than rows, in descending
/// order. Whether they were found; if not, nothing is written.
///
/// # Safety
/// As for `eigenvalues`; there are at most [`SMALL`] rows.
#[inline(always)]
pub(super) unsafe fn singular_values<V: Wide<Item = f64>, C: Columns<V>, T: Element>(
    [rows, columns]: [usize; 2],
    from: Strip<T>,
    values: Strip<T>,
) -> bool {
    // SAFETY: by the caller's promise; all positions are inside the matrices.
    unsafe {
        let mut a = C::new(rows);
        for column in 0..columns {
            for row in 0..rows {
                let element: V = from.get_wide(row, column);
                if !moderate(element) {
                    return false;
                }
                a.set(row, column, element);
            }
        }
        let zero = V::splat(0.0);
        let mut open = zero.equals(zero);
        let mut rounds = 0;
        while open.any() {
            if rounds == ROUNDS {
                return false;
            }
            open = round_of_columns(columns, &mut a, open);
            rounds += 1;
        }
        let mut found = [zero; ROOM];
        for column in 0..columns {
            found[column] = a.product(column, column).sqrt();
        }
        sort(columns, &mut found);
        for column in 0..columns {
            values.set_wide(columns - 1 - column, 0, found[column]);
        }
    }
    true
}

/// A round of rotations of the columns in the `open` lanes, after which they are nearer to being orthogonal. The
/// lanes that need another round.
///
/// # Safety
/// The matrices have so many columns; the processor has the registers.
#[inline(always)]
unsafe fn round_of_columns<V: Wide<Item = f64>, C: Columns<V>>(
    columns: usize,
    a: &mut C,
    open: V,
) -> V {
    let mut pairs = Pairs::new(columns);
    // SAFETY: by the caller's promise; all positions are inside the matrices.
    unsafe {
        let zero = V::splat(0.0);
        let mut again = zero;
        // Rotations change these by what is known.
        let mut squares = [zero; ROOM];
        for column in 0..columns {
            squares[column] = a.product(column, column);
        }
        while let Some((p, q)) = pairs.next() {
            let (first, second) = (squares[p], squares[q]);
            let across = a.product(p, q);
            // Compared with the squares of both cosines.
            let (both, squared) = (first.times(second), across.times(across));
            let least = V::splat(NOTHING);
            let has_length = first.above(least).select(second.above(least), zero);
            let is_inclined = squared.above(both.times(V::splat(ORTHOGONAL * ORTHOGONAL)));
            let due = is_inclined.select(has_length, zero).select(open, zero);
            if !due.any() {
                continue;
            }
            let t = tangent(second.minus(first), across.plus(across), due);
            let is_small = both.times(V::splat(FINAL * FINAL)).above(squared);
            let turns_little = V::splat(FINAL).above(t.abs());
            let is_final = is_small.select(turns_little, zero);
            again = again.select(is_final, due.select(due, again));
            let (sine, half) = rotation(t);
            squares[p] = first.less(t, across);
            squares[q] = second.plus(t.times(across));
            a.rotate(p, q, sine, half);
        }
        again
    }
}

/// Sorts so many values of each lane in ascending order. Zeros have no sign afterwards.
///
/// # Safety
/// The processor has the registers.
#[inline(always)]
unsafe fn sort<V: Wide<Item = f64>>(count: usize, values: &mut [V; ROOM]) {
    for end in (1..count).rev() {
        for at in 0..end {
            let (x, y) = (values[at], values[at + 1]);
            // SAFETY: by the caller's promise, the processor has the registers.
            unsafe {
                let wrong = x.above(y);
                values[at] = y.select(wrong, x);
                values[at + 1] = x.select(wrong, y);
            }
        }
    }
    for at in 0..count {
        // SAFETY: by the caller's promise, the processor has the registers.
        unsafe { values[at] = values[at].plus(V::splat(0.0)) };
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_pairs_of_a_turn_have_no_line_in_common() {
        for size in 0..=ROOM {
            let (mut alone, mut together) = (Pairs::new(size), Pairs::new(size));
            loop {
                let (met, count) = together.next_turn();
                let lines: BTreeSet<_> = met[..count].iter().flat_map(|&(p, q)| [p, q]).collect();
                assert_eq!(lines.len(), 2 * count);
                for &pair in &met[..count] {
                    assert_eq!(alone.next(), Some(pair));
                }
                if count == 0 {
                    break;
                }
            }
            assert_eq!(alone.next(), None);
        }
    }

    #[test]
    fn every_pair_comes_once() {
        for size in 0..=ROOM {
            let mut pairs = Pairs::new(size);
            let found: Vec<_> = std::iter::from_fn(|| pairs.next()).collect();
            let expected: BTreeSet<_> =
                (0..size).flat_map(|q| (0..q).map(move |p| (p, q))).collect();
            assert_eq!(found.len(), expected.len());
            assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), expected);
        }
    }
}
