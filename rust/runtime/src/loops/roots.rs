//! Cube roots, of single elements or of registers of them.

use crate::loops::exponential::exp;
use crate::loops::lanes::Lanes;
use crate::loops::logarithm::log;

/// By the logarithm, which has half of the digits, and a step of Newton's, which has all. Small numbers
/// are made larger first, since the step computes cubes, which would lose their digits.
#[inline(always)]
pub(super) fn cbrt<L: Lanes>(x: L) -> L {
    let zero = L::number(0.0);
    let (least, third) = if L::IS_DOUBLE { (1e-200, 60) } else { (1e-20, 20) };
    let whole = x.abs();
    let up = whole.mul(L::number(f64::from_bits((1023 + 3 * third) << 52)));
    let size = whole.below(L::number(least), up, whole);
    let near = exp(log(size).mul(L::number(1.0 / 3.0)));
    let square = near.mul(near);
    let off = square.fma(near, zero.sub(size)).div(square.mul(L::number(3.0)));
    let made = near.sub(off);
    let down = made.mul(L::number(f64::from_bits((1023 - third) << 52)));
    let made = whole.below(L::number(least), down, made).with_sign_of(x);
    // Zeros and infinities are their own.
    zero.below(whole, whole.below(L::number(f64::INFINITY), made, x), x)
}
