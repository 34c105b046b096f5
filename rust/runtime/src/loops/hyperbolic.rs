//! Hyperbolic functions and their inverses, of single elements or of registers of them.

use crate::loops::exponential::{exp, expm1, split_decay};
use crate::loops::lanes::Lanes;
use crate::loops::logarithm::log1p;

/// By the decay `w` that falls twice as fast: `(1 - w) / (1 + w)`, but for the sign. So nothing waits for a power of
/// 2 between the polynomial and the quotient.
#[inline(always)]
pub(super) fn tanh<L: Lanes>(x: L) -> L {
    let (power, more) = split_decay(x.abs().mul(L::number(-2.0)));
    let one = L::number(1.0);
    let lost = power.fma(more, power.sub(one));
    lost.div(power.fma(more, power.add(one))).with_sign_of(x)
}

/// From this size on, a hyperbolic sine and a cosine are half of the exponential.
#[inline(always)]
fn far<L: Lanes>() -> L {
    L::number(if L::IS_DOUBLE { 30.0 } else { 15.0 })
}

/// Half of the exponential: that overflows before its half does, so by its square root.
#[inline(always)]
fn half_exponential<L: Lanes>(size: L) -> L {
    let half = L::number(0.5);
    let root = exp(size.mul(half));
    root.mul(half).mul(root)
}

#[inline(always)]
pub(super) fn sinh<L: Lanes>(x: L) -> L {
    let size = x.abs();
    let less_one = expm1(size);
    let twice = less_one.add(less_one.div(less_one.add(L::number(1.0))));
    size.below(far(), twice.mul(L::number(0.5)), half_exponential(size)).with_sign_of(x)
}

#[inline(always)]
pub(super) fn cosh<L: Lanes>(x: L) -> L {
    let (size, half) = (x.abs(), L::number(0.5));
    let power = exp(size);
    let near = power.fma(half, half.div(power));
    size.below(far(), near, half_exponential(size))
}

/// From this size on, 1 is lost beside the square; up to it that does not overflow.
#[inline(always)]
fn large<L: Lanes>() -> L {
    L::number(if L::IS_DOUBLE { 1e17 } else { 1e9 })
}

#[inline(always)]
fn log_2_if_large<L: Lanes>(size: L) -> L {
    size.below(large(), L::number(0.0), L::number(std::f64::consts::LN_2))
}

#[inline(always)]
pub(super) fn arcsinh<L: Lanes>(x: L) -> L {
    let (size, one) = (x.abs(), L::number(1.0));
    let square = size.mul(size);
    let near = size.add(square.div(one.add(square.add(one).sqrt())));
    let inside = size.below(large(), near, size);
    log1p(inside).add(log_2_if_large(size)).with_sign_of(x)
}

#[inline(always)]
pub(super) fn arccosh<L: Lanes>(x: L) -> L {
    let (one, two) = (L::number(1.0), L::number(2.0));
    let t = x.sub(one);
    let near = t.add(t.fma(t, two.mul(t)).sqrt());
    let inside = x.below(large(), near, x);
    let made = log1p(inside).add(log_2_if_large(x));
    x.below(one, L::number(f64::NAN), made)
}

#[inline(always)]
pub(super) fn arctanh<L: Lanes>(x: L) -> L {
    let (size, one) = (x.abs(), L::number(1.0));
    let twice = size.add(size);
    let inside = twice.add(twice.mul(size).div(one.sub(size)));
    let made = log1p(inside).mul(L::number(0.5)).with_sign_of(x);
    one.below(size, L::number(f64::NAN), made)
}
