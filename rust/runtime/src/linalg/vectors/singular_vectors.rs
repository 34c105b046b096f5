//! Singular vectors: reflections of both sides leave a matrix two diagonals, and rotations one.

use super::reflection::Reflection;
use super::rotation::Rotation;
use super::two_by_two::{Values, smaller_value};
use super::way::Way;
use super::{LEAST, Line, ROOM, ROUNDING, Square, TOLERANCE, fits, identity};
use crate::linalg::routine::Element;

/// The sweeps for each row and column after which a matrix is given up.
const SWEEPS: usize = 6;

/// A matrix with a diagonal and another one above it, and what it does to the vectors of both sides.
struct Bidiagonal {
    size: usize,
    diagonal: Line,
    above: Line,
    left: Square,
    right: Square,
    /// The size up to which numbers are as good as nothing in this matrix.
    nothing: f64,
}

/// The part of a matrix that a sweep works on.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Block {
    first: usize,
    last: usize,
}

type Reflections = [Option<Reflection>; ROOM];

/// Writes the singular values of a square matrix of `size` rows, which lies in columns without gaps, in descending
/// order, the vectors of its left side in columns and those of its right side in rows. Whether they were found; if
/// not, nothing is written.
///
/// # Safety
/// The matrix has so many rows and columns, at most [`crate::linalg::small::SMALL`], as `left` and `right` do, and
/// `values` so many elements.
pub(crate) unsafe fn singular_vectors<T: Element>(
    size: usize,
    matrix: *const T,
    [left, right]: [*mut T; 2],
    values: *mut T,
) -> bool {
    let mut a = [[0.0; ROOM]; ROOM];
    for column in 0..size {
        for row in 0..size {
            // SAFETY: by the caller's promise, the matrix has so many rows and columns.
            let element = unsafe { matrix.add(column * size + row).read().to_f64() };
            if !fits(element) {
                return false;
            }
            a[column][row] = element;
        }
    }
    let (mut of_left, mut of_right): (Reflections, Reflections) = ([None; ROOM], [None; ROOM]);
    let [diagonal, above] = bidiagonalise(size, &mut a, &mut of_left, &mut of_right);
    let mut all =
        Bidiagonal { size, diagonal, above, left: identity(), right: identity(), nothing: 0.0 };
    if !all.diagonalise() {
        return false;
    }
    for column in 0..size {
        for reflection in of_left[..size].iter().rev().flatten() {
            reflection.apply(&mut all.left[column]);
        }
        for reflection in of_right[..size].iter().rev().flatten() {
            reflection.apply(&mut all.right[column]);
        }
        // SAFETY: by the caller's promise, the matrices have so many rows and columns, and `values`
        // so many elements.
        unsafe {
            values.add(column).write(T::from_f64(all.diagonal[column]));
            for row in 0..size {
                left.add(column * size + row).write(T::from_f64(all.left[column][row]));
                right.add(row * size + column).write(T::from_f64(all.right[column][row]));
            }
        }
    }
    true
}

/// The two diagonals that reflections of rows and columns leave of a matrix.
fn bidiagonalise(
    size: usize,
    a: &mut Square,
    of_left: &mut Reflections,
    of_right: &mut Reflections,
) -> [Line; 2] {
    let (mut diagonal, mut above) = ([0.0; ROOM], [0.0; ROOM]);
    for at in 0..size {
        let (reflection, rest) = Reflection::of(&a[at], at, size);
        diagonal[at] = rest;
        if reflection.scale != 0.0 {
            for column in &mut a[at + 1..size] {
                reflection.apply(column);
            }
            of_left[at] = Some(reflection);
        }
        if at + 1 == size {
            break;
        }
        let row_of = |a: &Square, row: usize| -> Line {
            let mut line = [0.0; ROOM];
            for (element, column) in line[..size].iter_mut().zip(a) {
                *element = column[row];
            }
            line
        };
        let (reflection, rest) = Reflection::of(&row_of(a, at), at + 1, size);
        above[at] = rest;
        if reflection.scale != 0.0 {
            for row in at + 1..size {
                let mut line = row_of(a, row);
                reflection.apply(&mut line);
                for (&element, column) in line[..size].iter().zip(a.iter_mut()) {
                    column[row] = element;
                }
            }
            of_right[at] = Some(reflection);
        }
    }
    [diagonal, above]
}

impl Bidiagonal {
    /// Makes it diagonal. Whether that came to an end.
    fn diagonalise(&mut self) -> bool {
        if self.size == 1 {
            // The left vector takes the sign.
            self.left[0][0] = 1.0_f64.copysign(self.diagonal[0]);
            self.diagonal[0] = self.diagonal[0].abs();
            return true;
        }
        self.nothing = self.threshold();
        let mut last = self.size - 1;
        let (mut former, mut way) = (None, Way { upwards: false });
        let mut turns = SWEEPS * self.size * self.size;
        while last > 0 {
            let (block, largest) = self.block_to(last);
            if block.first == last {
                last -= 1;
                continue;
            }
            if block.first + 1 == last {
                self.pair(block.first);
                last = last.saturating_sub(2);
                continue;
            }
            if former.is_none_or(|of: Block| block.first > of.last || block.last < of.first) {
                let ends = [self.diagonal[block.first].abs(), self.diagonal[last].abs()];
                way = Way { upwards: ends[0] < ends[1] };
            }
            let Some(least) = self.least_of(block, way) else { continue };
            former = Some(block);
            let length = block.last - block.first;
            if turns < length {
                return false;
            }
            turns -= length;
            let shift = self.shift(block, way, [least, largest]);
            if shift == 0.0 {
                self.plain_sweep(block, way);
            } else {
                self.shifted_sweep(block, way, shift);
            }
        }
        self.make_positive();
        self.sort();
        true
    }

    /// The size up to which numbers are as good as nothing: beside a bound of the smallest value from below.
    fn threshold(&self) -> f64 {
        let mut mu = self.diagonal[0].abs();
        let mut least = mu;
        for at in 1..self.size {
            if least == 0.0 {
                break;
            }
            mu = self.diagonal[at].abs() * (mu / (mu + self.above[at - 1].abs()));
            least = least.min(mu);
        }
        let size = self.size as f64;
        let bound = least / size.sqrt();
        let tiny = SWEEPS as f64 * (size * (size * LEAST));
        (TOLERANCE * bound).max(tiny)
    }

    /// The block without zeros above its diagonal that ends at `last`, and its largest element.
    fn block_to(&mut self, last: usize) -> (Block, f64) {
        let mut largest = self.diagonal[last].abs();
        let mut first = last;
        while first > 0 {
            let beside = self.above[first - 1].abs();
            if beside <= self.nothing {
                self.above[first - 1] = 0.0;
                break;
            }
            first -= 1;
            largest = largest.max(beside).max(self.diagonal[first].abs());
        }
        (Block { first, last }, largest)
    }

    /// Makes a block of two rows diagonal.
    fn pair(&mut self, first: usize) {
        let [f, h] = [self.diagonal[first], self.diagonal[first + 1]];
        let found = Values::of(f, self.above[first], h);
        [self.diagonal[first], self.diagonal[first + 1]] = found.values;
        self.above[first] = 0.0;
        found.right.turn(&mut self.right, first, self.size);
        found.left.turn(&mut self.left, first, self.size);
    }

    /// The ends of a block in the order in which it is worked through.
    fn ends(block: Block, way: Way) -> [usize; 2] {
        if way.upwards { [block.last, block.first] } else { [block.first, block.last] }
    }

    /// A bound of the smallest value of a block from below. `None` if an element above the diagonal was as good as
    /// nothing, and is zero now.
    fn least_of(&mut self, block: Block, way: Way) -> Option<f64> {
        let [start, end] = Self::ends(block, way);
        let final_one = way.back().between(end);
        if self.above[final_one].abs() <= TOLERANCE * self.diagonal[end].abs() {
            self.above[final_one] = 0.0;
            return None;
        }
        let mut mu = self.diagonal[start].abs();
        let mut least = mu;
        let mut at = start;
        while at != end {
            let between = way.between(at);
            let size = self.above[between].abs();
            if size <= TOLERANCE * mu {
                self.above[between] = 0.0;
                return None;
            }
            at = way.next(at);
            mu = self.diagonal[at].abs() * (mu / (mu + size));
            least = least.min(mu);
        }
        Some(least)
    }

    /// The shift by which a sweep gets nearer to a value; zero where that would cost digits.
    fn shift(&self, block: Block, way: Way, [least, largest]: [f64; 2]) -> f64 {
        let size = self.size as f64;
        let bound = ROUNDING.max(0.01 * TOLERANCE);
        if size * TOLERANCE * (least / largest) <= bound {
            return 0.0;
        }
        let [start, end] = Self::ends(block, way);
        let (before, between) = (way.back().next(end), way.back().between(end));
        let [low, high] = [before.min(end), before.max(end)];
        let shift = smaller_value(self.diagonal[low], self.above[between], self.diagonal[high]);
        let first = self.diagonal[start].abs();
        if first > 0.0 {
            let ratio = shift / first;
            if ratio * ratio < ROUNDING {
                return 0.0;
            }
        }
        shift
    }

    /// Turns the vectors of both sides by the rotations of the rows and of the columns of a step between two places.
    fn turn(&mut self, way: Way, low: usize, [inner, outer]: [Rotation; 2]) {
        let [of_left, of_right] =
            if way.upwards { [inner.reversed(), outer.reversed()] } else { [outer, inner] };
        of_right.turn(&mut self.right, low, self.size);
        of_left.turn(&mut self.left, low, self.size);
    }

    /// A sweep without a shift, which keeps all digits of small values.
    fn plain_sweep(&mut self, block: Block, way: Way) {
        let [start, end] = Self::ends(block, way);
        let still = Rotation { cos: 1.0, sin: 0.0 };
        let (mut inner, mut outer) = (still, still);
        let mut at = start;
        while at != end {
            let next = way.next(at);
            let r;
            (inner, r) = Rotation::onto(self.diagonal[at] * inner.cos, self.above[way.between(at)]);
            if at != start {
                self.above[way.back().between(at)] = outer.sin * r;
            }
            (outer, self.diagonal[at]) =
                Rotation::onto(outer.cos * r, self.diagonal[next] * inner.sin);
            self.turn(way, at.min(next), [inner, outer]);
            at = next;
        }
        let rest = self.diagonal[end] * inner.cos;
        self.diagonal[end] = rest * outer.cos;
        self.finish(way.back().between(end), rest * outer.sin);
    }

    /// A sweep with a shift.
    fn shifted_sweep(&mut self, block: Block, way: Way, shift: f64) {
        let [start, end] = Self::ends(block, way);
        let first = self.diagonal[start];
        let mut f = (first.abs() - shift) * (1.0_f64.copysign(first) + shift / first);
        let mut g = self.above[way.between(start)];
        let mut at = start;
        while at != end {
            let (next, between) = (way.next(at), way.between(at));
            let (inner, r) = Rotation::onto(f, g);
            if at != start {
                self.above[way.back().between(at)] = r;
            }
            let (here, beside) = (self.diagonal[at], self.above[between]);
            f = inner.cos * here + inner.sin * beside;
            self.above[between] = inner.cos * beside - inner.sin * here;
            g = inner.sin * self.diagonal[next];
            self.diagonal[next] *= inner.cos;
            let (outer, r) = Rotation::onto(f, g);
            self.diagonal[at] = r;
            let (beside, there) = (self.above[between], self.diagonal[next]);
            f = outer.cos * beside + outer.sin * there;
            self.diagonal[next] = outer.cos * there - outer.sin * beside;
            if next != end {
                let behind = way.between(next);
                g = outer.sin * self.above[behind];
                self.above[behind] *= outer.cos;
            }
            self.turn(way, at.min(next), [inner, outer]);
            at = next;
        }
        self.finish(way.back().between(end), f);
    }

    /// Sets the element that a sweep made smaller.
    fn finish(&mut self, place: usize, value: f64) {
        self.above[place] = if value.abs() <= self.nothing { 0.0 } else { value };
    }

    /// Makes the values positive; the right vectors take the signs.
    fn make_positive(&mut self) {
        for at in 0..self.size {
            if self.diagonal[at].is_sign_negative() {
                self.diagonal[at] = -self.diagonal[at];
                for element in &mut self.right[at][..self.size] {
                    *element = -*element;
                }
            }
        }
    }

    /// Brings the values into descending order.
    fn sort(&mut self) {
        for end in (1..self.size).rev() {
            let mut least = 0;
            for at in 1..end + 1 {
                if self.diagonal[at] <= self.diagonal[least] {
                    least = at;
                }
            }
            self.diagonal.swap(least, end);
            self.left.swap(least, end);
            self.right.swap(least, end);
        }
    }
}
