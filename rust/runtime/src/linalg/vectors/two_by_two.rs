//! Matrices of two rows, in closed form.

use super::ROUNDING;
use super::rotation::Rotation;

/// The eigenvalues of `[[a, b], [b, c]]`, the one of larger size first, and the rotation whose first row is the vector
/// of that one.
pub(super) fn diagonalised(a: f64, b: f64, c: f64) -> ([f64; 2], Rotation) {
    let (sum, difference, doubled) = (a + c, a - c, b + b);
    let (wide, beside) = (difference.abs(), doubled.abs());
    let root = if wide > beside {
        let ratio = beside / wide;
        wide * (1.0 + ratio * ratio).sqrt()
    } else if wide < beside {
        let ratio = wide / beside;
        beside * (1.0 + ratio * ratio).sqrt()
    } else {
        beside * std::f64::consts::SQRT_2
    };
    let (most, least) = if a.abs() > c.abs() { (a, c) } else { (c, a) };
    let is_negative = sum < 0.0;
    let values = if sum == 0.0 {
        [0.5 * root, -0.5 * root]
    } else {
        let value = if is_negative { 0.5 * (sum - root) } else { 0.5 * (sum + root) };
        [value, (most / value) * least - (b / value) * b]
    };
    let falls = difference < 0.0;
    let along = if falls { difference - root } else { difference + root };
    let (cos, sin) = if along.abs() > beside {
        let cotangent = -doubled / along;
        let sin = 1.0 / (1.0 + cotangent * cotangent).sqrt();
        (cotangent * sin, sin)
    } else if beside == 0.0 {
        (1.0, 0.0)
    } else {
        let tangent = -along / doubled;
        let cos = 1.0 / (1.0 + tangent * tangent).sqrt();
        (cos, tangent * cos)
    };
    let rotation =
        if is_negative == falls { Rotation { cos: -sin, sin: cos } } else { Rotation { cos, sin } };
    (values, rotation)
}

/// The smaller singular value of `[[f, g], [0, h]]`.
pub(super) fn smaller_value(f: f64, g: f64, h: f64) -> f64 {
    let (f, g, h) = (f.abs(), g.abs(), h.abs());
    let (low, high) = (f.min(h), f.max(h));
    if low == 0.0 {
        return 0.0;
    }
    let (sum, difference) = (1.0 + low / high, (high - low) / high);
    if g < high {
        let ratio = g / high;
        let squared = ratio * ratio;
        let roots = (sum * sum + squared).sqrt() + (difference * difference + squared).sqrt();
        return low * (2.0 / roots);
    }
    let ratio = high / g;
    let (x, y) = (sum * ratio, difference * ratio);
    let value = low * (1.0 / ((1.0 + x * x).sqrt() + (1.0 + y * y).sqrt())) * ratio;
    value + value
}

/// The singular values of a triangle of two rows, signed and the larger first, and the rotations of the left and the
/// right side that make it diagonal.
pub(super) struct Values {
    pub(super) values: [f64; 2],
    pub(super) left: Rotation,
    pub(super) right: Rotation,
}

impl Values {
    /// Those of `[[f, g], [0, h]]`, where `g` is not zero.
    pub(super) fn of(f: f64, g: f64, h: f64) -> Values {
        let turned = h.abs() > f.abs();
        let (high, low) = if turned { (h, f) } else { (f, h) };
        let ([large, small], [left, right]) = graded(high, g, low);
        let (left, right) = if turned {
            let exchanged = |of: Rotation| Rotation { cos: of.sin, sin: of.cos };
            (exchanged(right), exchanged(left))
        } else {
            (left, right)
        };
        let sign = |of: f64| 1.0_f64.copysign(of);
        // The sign of the largest element decides.
        let of_larger = if g.abs() > high.abs() {
            sign(right.sin) * sign(left.cos) * sign(g)
        } else if turned {
            sign(right.sin) * sign(left.sin) * sign(h)
        } else {
            sign(right.cos) * sign(left.cos) * sign(f)
        };
        let of_smaller = of_larger * sign(f) * sign(h);
        Values { values: [large * of_larger, small * of_smaller], left, right }
    }
}

/// The values of `[[f, g], [0, h]]` where `f` is no smaller than `h`, without signs, and the rotations of both sides.
fn graded(f: f64, g: f64, h: f64) -> ([f64; 2], [Rotation; 2]) {
    let (high, beside, low) = (f.abs(), g.abs(), h.abs());
    if beside > high && high / beside < ROUNDING {
        let small = if low > 1.0 { high / (beside / low) } else { (high / beside) * low };
        let sides = [Rotation { cos: 1.0, sin: h / g }, Rotation { cos: f / g, sin: 1.0 }];
        return ([beside, small], sides);
    }
    let difference = high - low;
    let part = if difference == high { 1.0 } else { difference / high };
    let slope = g / f;
    let rest = 2.0 - part;
    let squared = slope * slope;
    let s = (rest * rest + squared).sqrt();
    let r = if part == 0.0 { slope.abs() } else { (part * part + squared).sqrt() };
    let mean = 0.5 * (s + r);
    let tangent = if squared != 0.0 {
        (slope / (s + rest) + slope / (r + part)) * (1.0 + mean)
    } else if part == 0.0 {
        2.0_f64.copysign(f) * 1.0_f64.copysign(g)
    } else {
        g / difference.copysign(f) + slope / rest
    };
    let length = (tangent * tangent + 4.0).sqrt();
    let right = Rotation { cos: 2.0 / length, sin: tangent / length };
    let left =
        Rotation { cos: (right.cos + right.sin * slope) / mean, sin: (h / f) * right.sin / mean };
    ([high * mean, low / mean], [left, right])
}
