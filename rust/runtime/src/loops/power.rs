//! Powers of floats, of single elements or of many: the same steps, so the same bits.
//!
//! The logarithm is a sum of two numbers, exact to 60 bits, since the absolute error of its product with a
//! large exponent is the relative error of the result. Bases that are not normal numbers, and results near
//! the ends of the range, are rare: the C library computes these.

use crate::loops::exponential::exp_of_sum;
use crate::loops::lanes::Lanes;
use crate::loops::logarithm::OF_F64;

/// The result is neither too large for a float64 nor subnormal within this logarithm.
const MOST: f64 = 700.0;

/// `(log(1 + r) - r + r**2 / 2) / r**3`, from the lowest power on.
const TERMS: [f64; 11] = [
    0.3333333333333333,
    -0.2500000000000002,
    0.20000000000000018,
    -0.16666666666537247,
    0.14285714285593487,
    -0.1250000023950694,
    0.11111111334663723,
    -0.09999819150648312,
    0.0909074028948531,
    -0.08393029270761669,
    0.07748026074178106,
];

/// The logarithm of a positive normal number, as a sum of two.
#[inline(always)]
fn precise_log(x: f64) -> (f64, f64) {
    let (m, k) = x.parts();
    let t = m + OF_F64.magic;
    let r = m.mul_add(t.taken_from(&OF_F64.reciprocals), -1.0);
    let start = k.mul_add(OF_F64.log2[0], t.taken_from(&OF_F64.high));
    let square = r * r;
    let lost = r.mul_add(r, -square);
    // Each sum is of a larger number and a smaller one, or of zero and another.
    let first = start + r;
    let second = square.mul_add(-0.5, first);
    let rest = (start - first + r) + (first - second - 0.5 * square);
    let more = k.mul_add(OF_F64.log2[1], t.taken_from(&OF_F64.low)) - 0.5 * lost;
    let far = r * square * polynomial(r, square);
    let rest = rest + (more + far);
    let sum = second + rest;
    (sum, second - sum + rest)
}

/// By pairs of terms: their sums need not wait for each other.
#[inline(always)]
fn polynomial(r: f64, square: f64) -> f64 {
    let pair = |at: usize| TERMS[at + 1].mul_add(r, TERMS[at]);
    let fourth = square * square;
    let low = pair(2).mul_add(square, pair(0));
    let middle = pair(6).mul_add(square, pair(4));
    let high = TERMS[10].mul_add(square, pair(8));
    high.mul_add(fourth, middle).mul_add(fourth, low)
}

/// The factor of a power with a negative base: the sign of odd exponents; NaN for those that are not whole.
#[inline(always)]
fn of_sign(made: f64, x: f64, y: f64) -> f64 {
    let half = 0.5 * y;
    let signed = if half.trunc() == half { made } else { -made };
    let known = if y.trunc() == y { signed } else { f64::NAN };
    if x < 0.0 { known } else { made }
}

/// The power of common numbers, and whether these are.
#[inline(always)]
pub(super) fn common(x: f64, y: f64) -> (f64, bool) {
    let size = x.abs();
    let (log, rest) = precise_log(size);
    let product = y * log;
    let off = y.mul_add(log, -product);
    let made = exp_of_sum(product, y.mul_add(rest, off));
    let is_normal = size.is_normal();
    (of_sign(made, x, y), is_normal & (product.abs() <= MOST))
}
