//! Rotations of two coordinates.

use super::{ROUNDING, Square};

#[derive(Clone, Copy)]
pub(super) struct Rotation {
    pub(super) cos: f64,
    pub(super) sin: f64,
}

impl Rotation {
    /// The rotation that takes `(f, g)` to `(r, 0)`, and `r`. The cosine is not negative, which says
    /// the sign of `r`.
    #[inline(always)]
    pub(super) fn onto(f: f64, g: f64) -> (Rotation, f64) {
        if g == 0.0 {
            return (Rotation { cos: 1.0, sin: 0.0 }, f);
        }
        if f == 0.0 {
            return (Rotation { cos: 0.0, sin: 1.0_f64.copysign(g) }, g.abs());
        }
        let length = (f * f + g * g).sqrt();
        let r = length.copysign(f);
        (Rotation { cos: f.abs() / length, sin: g / r }, r)
    }

    /// The rotation the other way round.
    #[inline(always)]
    pub(super) fn reversed(self) -> Rotation {
        Rotation { cos: self.cos, sin: -self.sin }
    }

    /// Rotates two neighbouring columns, of so many rows.
    #[inline(always)]
    pub(super) fn turn(self, all: &mut Square, column: usize, rows: usize) {
        let (before, behind) = all.split_at_mut(column + 1);
        let (first, second) = (&mut before[column], &mut behind[0]);
        for (x, y) in first[..rows].iter_mut().zip(&mut second[..rows]) {
            let (a, b) = (*x, *y);
            *x = self.cos * a + self.sin * b;
            *y = self.cos * b - self.sin * a;
        }
    }
}

/// `sqrt(x² + 1)`, where `x²` may be too large.
#[inline(always)]
pub(super) fn length_beside_one(x: f64) -> f64 {
    let size = x.abs();
    if size * ROUNDING > 1.0 { size } else { (size * size + 1.0).sqrt() }
}
