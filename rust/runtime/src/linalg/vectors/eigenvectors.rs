//! Eigenvectors: reflections make a symmetric matrix tridiagonal, and rotations make that diagonal.

use super::reflection::Reflection;
use super::rotation::{Rotation, length_beside_one};
use super::two_by_two::diagonalised;
use super::way::Way;
use super::{LEAST, Line, ROOM, ROUNDING, Square, fits, identity};
use crate::linalg::routine::Element;

/// The sweeps for each row after which it is given up.
const SWEEPS: usize = 30;

/// A tridiagonal matrix, and what it does to its vectors.
struct Tridiagonal {
    size: usize,
    diagonal: Line,
    beside: Line,
    vectors: Square,
    sweeps: usize,
}

/// Writes the eigenvalues of a symmetric matrix of `size` rows, given by a triangle, in ascending order,
/// and the eigenvectors over the matrix, which lies in columns without gaps. Whether they were found; if not,
/// nothing is written.
///
/// # Safety
/// The matrix has so many rows and columns, at most [`crate::linalg::small::SMALL`], and `values` so many elements.
pub(crate) unsafe fn eigenvectors<T: Element>(
    size: usize,
    lower: bool,
    matrix: *mut T,
    values: *mut T,
) -> bool {
    // The upper triangle is the lower one of the matrix with its rows and columns in reverse order.
    let place = |at: usize| if lower { at } else { size - 1 - at };
    let mut a = [[0.0; ROOM]; ROOM];
    for column in 0..size {
        for row in column..size {
            // SAFETY: by the caller's promise, the matrix has so many rows and columns.
            let element = unsafe { matrix.add(place(column) * size + place(row)).read().to_f64() };
            if !fits(element) {
                return false;
            }
            a[column][row] = element;
        }
    }
    let mut beside = [0.0; ROOM];
    let mut reflections = [None; ROOM];
    tridiagonalise(size, &mut a, &mut beside, &mut reflections);
    let mut all = Tridiagonal::of(size, lower, &a, &beside);
    if !all.diagonalise() {
        return false;
    }
    all.sort();
    for column in 0..size {
        let mut vector = [0.0; ROOM];
        for row in 0..size {
            vector[place(row)] = all.vectors[column][row];
        }
        for reflection in reflections[..size].iter().rev().flatten() {
            reflection.apply(&mut vector);
        }
        // SAFETY: by the caller's promise, the matrix has so many rows and columns, and `values` so
        // many elements.
        unsafe {
            values.add(column).write(T::from_f64(all.diagonal[column]));
            for row in 0..size {
                matrix.add(column * size + row).write(T::from_f64(vector[place(row)]));
            }
        }
    }
    true
}

/// Makes a symmetric matrix, given by its lower triangle, tridiagonal.
fn tridiagonalise(
    size: usize,
    a: &mut Square,
    beside: &mut Line,
    reflections: &mut [Option<Reflection>; ROOM],
) {
    for column in 0..size.saturating_sub(1) {
        let (reflection, left) = Reflection::of(&a[column], column + 1, size);
        beside[column] = left;
        if reflection.scale == 0.0 {
            continue;
        }
        // The matrix times the vector, less its part along the vector.
        let mut image = [0.0; ROOM];
        for at in reflection.places() {
            let mut sum = 0.0;
            for other in reflection.places() {
                let (low, high) = if other < at { (other, at) } else { (at, other) };
                sum += a[low][high] * reflection.at(other);
            }
            image[at] = reflection.scale * sum;
        }
        let mut along = 0.0;
        for at in reflection.places() {
            along += image[at] * reflection.at(at);
        }
        let half = -0.5 * reflection.scale * along;
        for at in reflection.places() {
            image[at] += half * reflection.at(at);
        }
        for first in reflection.places() {
            for second in first..size {
                let change =
                    reflection.at(second) * image[first] + image[second] * reflection.at(first);
                a[first][second] -= change;
            }
        }
        reflections[column] = Some(reflection);
    }
}

impl Tridiagonal {
    /// The matrix with the diagonal of `a` and the elements beside it, in the order of the rows.
    fn of(size: usize, lower: bool, a: &Square, beside: &Line) -> Tridiagonal {
        let mut all = Tridiagonal {
            size,
            diagonal: [0.0; ROOM],
            beside: *beside,
            vectors: identity(),
            sweeps: 0,
        };
        for at in 0..size {
            all.diagonal[at] = a[at][at];
        }
        if !lower {
            all.diagonal[..size].reverse();
            all.beside[..size - 1].reverse();
        }
        all
    }

    /// Makes it diagonal, one block after the other. Whether that came to an end.
    fn diagonalise(&mut self) -> bool {
        let mut start = 0;
        while start < self.size {
            if start > 0 {
                self.beside[start - 1] = 0.0;
            }
            let mut last = start;
            while last + 1 < self.size {
                let size = self.beside[last].abs();
                let ends = self.diagonal[last].abs().sqrt() * self.diagonal[last + 1].abs().sqrt();
                if size <= ends * ROUNDING {
                    self.beside[last] = 0.0;
                    break;
                }
                last += 1;
            }
            // A step may leave elements that vanish between others: the rest is looked at again.
            if last > start && !self.block(start, last) {
                return false;
            }
            start = last + 1;
        }
        // A matrix that was not taken apart to the end is found here.
        (0..self.size.saturating_sub(1)).all(|at| self.beside[at] == 0.0)
    }

    /// Makes a block diagonal, from that end at which the elements are smaller.
    fn block(&mut self, start: usize, last: usize) -> bool {
        let upwards = self.diagonal[last].abs() < self.diagonal[start].abs();
        let way = Way { upwards };
        let (mut at, end) = if upwards { (last, start) } else { (start, last) };
        while way.reaches(at, end) {
            let cut = self.first_cut(at, end, way);
            if cut == at {
                at = way.next(at);
            } else if cut == way.next(at) {
                self.pair(at.min(cut));
                at = way.next(cut);
            } else {
                if self.sweeps == SWEEPS * self.size {
                    return false;
                }
                self.sweeps += 1;
                self.sweep(at, cut, way);
            }
        }
        true
    }

    /// The first place after which the element beside the diagonal is as good as nothing.
    fn first_cut(&mut self, from: usize, end: usize, way: Way) -> usize {
        let squared = ROUNDING * ROUNDING;
        let mut at = from;
        while at != end {
            let between = way.between(at);
            let size = self.beside[between].abs();
            let (one, other) = (self.diagonal[at].abs(), self.diagonal[way.next(at)].abs());
            if size * size <= squared * one * other + LEAST {
                self.beside[between] = 0.0;
                break;
            }
            at = way.next(at);
        }
        at
    }

    /// Makes a block of two rows diagonal.
    fn pair(&mut self, first: usize) {
        let (a, c) = (self.diagonal[first], self.diagonal[first + 1]);
        let ([large, small], rotation) = diagonalised(a, self.beside[first], c);
        rotation.turn(&mut self.vectors, first, self.size);
        (self.diagonal[first], self.diagonal[first + 1]) = (large, small);
        self.beside[first] = 0.0;
    }

    /// A sweep of rotations from `cut` to `at`, by which the element beside `at` gets smaller.
    fn sweep(&mut self, at: usize, cut: usize, way: Way) {
        let near = self.beside[way.between(at)];
        let p = self.diagonal[at];
        let slope = (self.diagonal[way.next(at)] - p) / (2.0 * near);
        let length = length_beside_one(slope);
        let mut g = self.diagonal[cut] - p + near / (slope + length.copysign(slope));
        let (mut sin, mut cos, mut p) = (1.0, 1.0, 0.0);
        let back = way.back();
        let mut place = cut;
        while place != at {
            let next = back.next(place);
            let between = back.between(place);
            let (f, b) = (sin * self.beside[between], cos * self.beside[between]);
            let (rotation, r) = Rotation::onto(g, f);
            (cos, sin) = (rotation.cos, rotation.sin);
            if place != cut {
                self.beside[way.between(place)] = r;
            }
            g = self.diagonal[place] - p;
            let turned = (self.diagonal[next] - g) * sin + 2.0 * cos * b;
            p = sin * turned;
            self.diagonal[place] = g + p;
            g = cos * turned - b;
            let rotation = if way.upwards { rotation } else { rotation.reversed() };
            rotation.turn(&mut self.vectors, place.min(next), self.size);
            place = next;
        }
        self.diagonal[at] -= p;
        self.beside[way.between(at)] = g;
    }

    /// Brings the values into ascending order.
    fn sort(&mut self) {
        for at in 0..self.size {
            let mut least = at;
            for other in at + 1..self.size {
                if self.diagonal[other] < self.diagonal[least] {
                    least = other;
                }
            }
            self.diagonal.swap(at, least);
            self.vectors.swap(at, least);
        }
    }
}
