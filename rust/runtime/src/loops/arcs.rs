//! Inverses of sines, cosines and tangents, of single elements or of registers of them.

use crate::loops::lanes::{Lanes, polynomial};
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

/// `(arctan(t) / t - 1) / t**2` in `t**2`, where `|t|` is below the tangent of an eighth of a turn.
const TANGENT: [f64; 12] = [
    -0.3333333333333333,
    0.19999999999999804,
    -0.14285714285659748,
    0.11111111105147764,
    -0.09090908753118594,
    0.0769229636397995,
    -0.06666424687246486,
    0.05878926715756587,
    -0.052304374642507846,
    0.045515165635866286,
    -0.03456859066852122,
    0.016283572356395895,
];
const TANGENT_OF_F32: [f64; 6] =
    [-0.33333334, 0.19999978, -0.1428415, 0.11071348, -0.08624553, 0.050478205];

/// `(arcsin(s) / s - 1) / s**2` in `s**2`, up to a half.
const SINE: [f64; 13] = [
    0.16666666666666669,
    0.07499999999998433,
    0.04464285714635543,
    0.030381944138531247,
    0.02237217294214989,
    0.017352392720869945,
    0.013971212973553311,
    0.011479177415181617,
    0.0103228143502052,
    0.005457506718563782,
    0.01740087944288715,
    -0.014851887071528912,
    0.028757851367602328,
];
const SINE_OF_F32: [f64; 6] =
    [0.16666666, 0.07500094, 0.044599403, 0.031100662, 0.017149238, 0.033690847];

/// The rounding error of a quarter turn.
#[inline(always)]
fn rest_of_quarter<L: Lanes>() -> L {
    L::number(if L::IS_DOUBLE { 6.123233995736766e-17 } else { -4.371139e-8 })
}

#[inline(always)]
pub(super) fn arctan<L: Lanes>(x: L) -> L {
    let (size, zero, one) = (x.abs(), L::number(0.0), L::number(1.0));
    let (low, high) = (L::number(0.41421356237309503), L::number(2.414213562373095));
    let above = size.below(high, size.sub(one), L::number(-1.0));
    let numerator = size.below(low, size, above);
    let denominator = size.below(low, one, size.below(high, size.add(one), size));
    let start = size.below(low, zero, size.below(high, L::number(FRAC_PI_4), L::number(FRAC_PI_2)));
    let rest = rest_of_quarter::<L>();
    let half = rest.mul(L::number(0.5));
    let rest = size.below(low, zero, size.below(high, half, rest));
    let t = numerator.div(denominator);
    let z = t.mul(t);
    let terms = if L::IS_DOUBLE { polynomial(z, &TANGENT) } else { polynomial(z, &TANGENT_OF_F32) };
    let near = t.mul(z).fma(terms, rest);
    start.add(t.add(near)).with_sign_of(x)
}

/// The arc sine of a number up to a half, or of the root of half its distance from 1.
#[inline(always)]
fn near_arc<L: Lanes>(size: L) -> L {
    let (half, one) = (L::number(0.5), L::number(1.0));
    let left = one.sub(size).mul(half);
    let s = half.below(size, left.sqrt(), size);
    let z = half.below(size, left, size.mul(size));
    let terms = if L::IS_DOUBLE { polynomial(z, &SINE) } else { polynomial(z, &SINE_OF_F32) };
    s.mul(z).fma(terms, s)
}

#[inline(always)]
pub(super) fn arcsin<L: Lanes>(x: L) -> L {
    let size = x.abs();
    let arc = near_arc(size);
    let far = L::number(FRAC_PI_2).sub(arc.add(arc).sub(rest_of_quarter()));
    L::number(0.5).below(size, far, arc).with_sign_of(x)
}

#[inline(always)]
pub(super) fn arccos<L: Lanes>(x: L) -> L {
    let size = x.abs();
    let arc = near_arc(size);
    let rest = rest_of_quarter::<L>();
    let near = L::number(FRAC_PI_2).sub(arc.with_sign_of(x).sub(rest));
    let twice = arc.add(arc);
    let left = L::number(PI).sub(twice.sub(rest.add(rest)));
    let far = x.below(L::number(0.0), left, twice);
    L::number(0.5).below(size, far, near)
}
