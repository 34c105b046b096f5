//! Reflections: a vector becomes a multiple of the first unit vector.

use super::{Line, ROOM};

/// The reflection `1 - scale v v'`, whose `v` is 1 at `first` and zero before.
#[derive(Clone, Copy)]
pub(super) struct Reflection {
    pub(super) scale: f64,
    pub(super) first: usize,
    end: usize,
    v: Line,
}

impl Reflection {
    /// The reflection that leaves of the elements `first` to `end` of `x` the first one only, and
    /// what it becomes.
    #[inline(always)]
    pub(super) fn of(x: &Line, first: usize, end: usize) -> (Reflection, f64) {
        let mut v = [0.0; ROOM];
        v[first] = 1.0;
        let mut rest = 0.0;
        for &element in &x[first + 1..end] {
            rest += element * element;
        }
        let alpha = x[first];
        if rest == 0.0 {
            return (Reflection { scale: 0.0, first, end, v }, alpha);
        }
        let length = (alpha * alpha + rest).sqrt();
        let beta = -length.copysign(alpha);
        let inverse = 1.0 / (alpha - beta);
        for at in first + 1..end {
            v[at] = x[at] * inverse;
        }
        (Reflection { scale: (beta - alpha) / beta, first, end, v }, beta)
    }

    /// An element of `v`.
    #[inline(always)]
    pub(super) fn at(&self, place: usize) -> f64 {
        self.v[place]
    }

    /// The elements that it changes.
    #[inline(always)]
    pub(super) fn places(&self) -> std::ops::Range<usize> {
        self.first..self.end
    }

    /// Reflects a vector.
    #[inline(always)]
    pub(super) fn apply(&self, x: &mut Line) {
        let mut sum = 0.0;
        for at in self.first..self.end {
            sum += self.v[at] * x[at];
        }
        let sum = sum * self.scale;
        for at in self.first..self.end {
            x[at] -= sum * self.v[at];
        }
    }
}
