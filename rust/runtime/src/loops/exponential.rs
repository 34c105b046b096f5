//! `exp` and its kin, of single elements or of registers of them: the same bits as C's kernels have.
//!
//! `x` is a number of sixteenths of `log 2` and a rest. So the result is a power of two, times a root of two from a
//! table, times a short polynomial. It is computed by the operations of [`Lanes`].

use crate::loops::lanes::{Lanes, polynomial};

/// The constants of the algorithm for one type.
pub(super) struct Exponential<T> {
    /// Added to a number, it leaves sixteenths: the last four bits say which power.
    pub(super) magic: T,
    pub(super) per_log2: T,
    /// The negative logarithm of 2 in two parts.
    pub(super) log2: [T; 2],
    /// More than any rest.
    pub(super) most: T,
    /// Added to a number, it leaves whole ones, and the bias of exponents in the last bits.
    pub(super) whole_magic: T,
    /// The powers of 2 by sixteenths, and their relative errors.
    pub(super) powers: [T; 16],
    pub(super) rests: [T; 16],
}

pub(super) const OF_F64: Exponential<f64> = Exponential {
    magic: 422_212_465_065_984.0,
    per_log2: std::f64::consts::LOG2_E,
    log2: [-std::f64::consts::LN_2, -2.319_046_813_846_299_6e-17],
    most: 0.022_359_586_469_675_653,
    whole_magic: 6_755_399_441_055_744.0 + 1023.0,
    powers: [
        1.0,
        1.044_273_782_427_413_8,
        1.090_507_732_665_257_7,
        1.138_788_634_756_691_6,
        1.189_207_115_002_721,
        1.241_857_812_073_484,
        1.296_839_554_651_009_6,
        1.354_255_546_936_892_7,
        std::f64::consts::SQRT_2,
        1.476_826_145_939_499_3,
        1.542_210_825_407_940_7,
        1.610_490_331_949_254_3,
        1.681_792_830_507_429,
        1.756_252_160_373_299_5,
        1.834_008_086_409_342_4,
        1.915_206_561_397_147_4,
    ],
    rests: [
        0.0,
        8.189_317_638_195_515e-17,
        -2.793_911_485_951_573_3e-17,
        7.826_573_258_636_076e-17,
        3.348_462_333_625_152_4e-17,
        3.750_854_201_303_127e-17,
        1.957_258_529_311_203_6e-17,
        5.686_480_957_911_74e-17,
        -6.835_808_657_661_922e-17,
        -2.359_109_477_085_005_3e-17,
        5.154_830_117_078_678_3e-17,
        1.534_141_005_360_372_3e-17,
        4.875_160_526_227_062e-17,
        1.685_487_290_628_973e-17,
        1.790_126_907_604_513e-17,
        -5.545_065_618_639_427e-17,
    ],
};

pub(super) const OF_F32: Exponential<f32> = Exponential {
    magic: 786_432.0,
    per_log2: std::f32::consts::LOG2_E,
    log2: [-std::f32::consts::LN_2, 1.904_654_2e-9],
    most: 0.022_359_587,
    whole_magic: 12_582_912.0 + 127.0,
    powers: [
        1.0,
        1.044_273_7,
        1.090_507_7,
        1.138_788_6,
        1.189_207_1,
        1.241_857_8,
        1.296_839_6,
        1.354_255_6,
        std::f32::consts::SQRT_2,
        1.476_826_2,
        1.542_210_8,
        1.610_490_3,
        1.681_792_9,
        1.756_252_2,
        1.834_008_1,
        1.915_206_6,
    ],
    rests: [
        0.0,
        4.628_547e-8,
        -1.199_215_75e-8,
        4.729_782_4e-8,
        3.193_418e-8,
        3.621_057_2e-8,
        -3.099_072e-8,
        -7.475_213e-9,
        1.711_427_1e-8,
        -3.047_683_4e-8,
        5.233_334e-9,
        6.107_591_8e-9,
        -1.471_960_5e-8,
        -5.258_795e-9,
        -6.128_259_7e-9,
        5.140_609_3e-9,
    ],
};

/// `(e**r - 1 - r) / r**2`, from the lowest power on.
const TERMS: [f64; 5] = [
    0.500_000_000_000_000_6,
    0.166_666_666_644_156_33,
    0.041_666_666_659_649_67,
    0.008_333_471_991_890_572,
    0.001_388_912_910_734_338_4,
];
const TERMS_OF_F32: [f64; 2] = [0.500_016_2, 0.166_670_25];

/// `(e**r - 1 - r) / r**2`, where `s` is the square of `r`.
#[inline(always)]
fn terms<L: Lanes>(r: L, s: L) -> L {
    if !L::IS_DOUBLE {
        return polynomial(r, &TERMS_OF_F32);
    }
    let term = |at: usize| L::number(TERMS[at]);
    let high = s.fma(term(4), r.fma(term(3), term(2)));
    s.fma(high, r.fma(term(1), term(0)))
}

/// The same, as near as needs be where nothing is added.
const LESS_ONE: [f64; 6] = [
    0.500_000_000_000_000_1,
    0.166_666_666_666_666_69,
    0.041_666_666_663_179_6,
    0.008_333_333_332_945_881,
    0.001_388_907_488_376_667_7,
    0.000_198_414_765_020_103_42,
];
const LESS_ONE_OF_F32: [f64; 4] = [0.5, 0.16666667, 0.04166736, 0.0083334325];

/// `(e**r - 1 - r) / r**2` so, where `s` is the square of `r`: by pairs of terms, which do not wait for each other.
#[inline(always)]
fn terms_less_one<L: Lanes>(r: L, s: L) -> L {
    if !L::IS_DOUBLE {
        return polynomial(r, &LESS_ONE_OF_F32);
    }
    let pair = |at: usize| r.fma(L::number(LESS_ONE[at + 1]), L::number(LESS_ONE[at]));
    s.fma(s.fma(pair(4), pair(2)), pair(0))
}

/// The same for rests up to half of the logarithm of 2.
const WIDE: [f64; 11] = [
    0.5,
    0.166_666_666_666_666_7,
    0.041_666_666_666_666_67,
    0.008_333_333_333_326_129,
    0.001_388_888_888_888_374_4,
    0.000_198_412_698_748_448_94,
    2.480_158_732_556_507_3e-5,
    2.755_725_536_942_771_4e-6,
    2.755_727_362_113_095e-7,
    2.510_522_981_321_569e-8,
    2.091_469_611_472_244_7e-9,
];
const WIDE_OF_F32: [f64; 6] =
    [0.5, 0.166_666_67, 0.041_666_463, 0.008_333_310_5, 0.001_393_366, 0.000_198_910_03];

/// As [`terms_less_one`], of such a rest.
#[inline(always)]
fn wide_terms<L: Lanes>(r: L, s: L) -> L {
    if !L::IS_DOUBLE {
        return polynomial(r, &WIDE_OF_F32);
    }
    let pair = |at: usize| r.fma(L::number(WIDE[at + 1]), L::number(WIDE[at]));
    let high = s.fma(s.fma(L::number(WIDE[10]), pair(8)), pair(6));
    s.fma(s.fma(s.fma(high, pair(4)), pair(2)), pair(0))
}

/// A number as `(n + j / 16) log 2 + r`.
struct Reduced<L> {
    /// Sixteenths: in the last bits, and as a number.
    t: L,
    k: L,
    r: L,
}

/// The parts of a number within exponents.
#[inline(always)]
fn reduced<L: Lanes>(x: L) -> Reduced<L> {
    let own = L::EXPONENTIAL;
    let t = x.fma(L::all(own.per_log2), L::all(own.magic));
    let k = t.sub(L::all(own.magic));
    let near = k.fma(L::all(own.log2[0]), x);
    Reduced { t, k, r: k.fma(L::all(own.log2[1]), near).at_most(L::all(own.most)) }
}

/// Whether the exponentials of all these are normal numbers, if that is asked.
#[inline(always)]
fn are_normal<L: Lanes>(x: L) -> bool {
    L::ASKS && x.all_within(L::number(if L::IS_DOUBLE { 708.0 } else { 87.0 }))
}

#[inline(always)]
fn power_of<L: Lanes>(own: &Reduced<L>) -> L {
    let s = own.r.mul(own.r);
    let (power, rest) = own.t.power_and_rest();
    let more = own.r.add(s.fma(terms(own.r, s), rest));
    power.fma(more, power).times_power(own.k, own.t)
}

/// The same where the power is a normal number.
#[inline(always)]
fn normal_power_of<L: Lanes>(own: &Reduced<L>) -> L {
    let s = own.r.mul(own.r);
    let (power, rest) = own.t.whole_power_and_rest(own.k);
    let more = own.r.add(s.fma(terms(own.r, s), rest));
    power.fma(more, power)
}

#[inline(always)]
pub(super) fn exp<L: Lanes>(x: L) -> L {
    if are_normal(x) {
        return normal_power_of(&reduced(x));
    }
    power_of(&reduced(x.within_exponents()))
}

/// The exponential of a sum of two numbers, within exponents; the second number is small.
#[inline(always)]
pub(super) fn exp_of_sum<L: Lanes>(x: L, rest: L) -> L {
    let mut own = reduced(x.within_exponents());
    own.r = own.r.add(rest);
    power_of(&own)
}

/// The number to add to a power, as a part of it: `e**r - 1`, and the error that the power has.
#[inline(always)]
fn small_part<L: Lanes>(r: L, rest: L) -> L {
    let s = r.mul(r);
    r.add(s.fma(terms_less_one(r, s), rest))
}

/// `e**x` as a power and the small part of it that is to be added, `power * (1 + more)`.
#[inline(always)]
fn split_exp<L: Lanes>(x: L) -> (L, L) {
    if are_normal(x) {
        let own = reduced(x);
        let (power, rest) = own.t.whole_power_and_rest(own.k);
        return (power, small_part(own.r, rest));
    }
    let own = reduced(x.within_exponents());
    let (power, rest) = own.t.power_and_rest();
    (power.times_power(own.k, own.t), small_part(own.r, rest))
}

/// Numbers below it have exponentials that are lost beside 1.
pub(super) const DECAYED: f64 = -50.0;

/// As [`split_exp`], for a number that is at most 0 and whose exponential is added to 1. There is no table: registers of
/// AVX2 would take it entry by entry, which takes longer than the further terms of a polynomial.
#[inline(always)]
pub(super) fn split_decay<L: Lanes>(x: L) -> (L, L) {
    let own = L::EXPONENTIAL;
    let x = x.within_decay();
    let t = x.fma(L::all(own.per_log2), L::all(own.whole_magic));
    let k = t.sub(L::all(own.whole_magic));
    let near = k.fma(L::all(own.log2[0]), x);
    let r = k.fma(L::all(own.log2[1]), near).at_most(L::number(0.35));
    let s = r.mul(r);
    (L::whole_power(k, t), s.fma(wide_terms(r, s), r))
}

/// `e**x - 1`: 1 is taken from the power, before the rest is multiplied by 2 to the power of `n`.
#[inline(always)]
pub(super) fn expm1<L: Lanes>(x: L) -> L {
    if are_normal(x) {
        let (power, more) = split_exp(x);
        return power.fma(more, power.sub(L::number(1.0))).with_sign_of(x);
    }
    // Below it, the result is -1.
    let least = L::number(if L::IS_DOUBLE { -40.0 } else { -20.0 });
    let own = reduced(x.below(least, least, x).within_exponents());
    let (power, rest) = own.t.power_and_rest();
    let more = small_part(own.r, rest);
    let less = power.sub(L::inverse_power(own.k, own.t));
    power.fma(more, less).times_power(own.k, own.t).with_sign_of(x)
}

#[inline(always)]
pub(super) fn exp2<L: Lanes>(x: L) -> L {
    let edge = L::number(if L::IS_DOUBLE { 1021.0 } else { 125.0 });
    if L::ASKS && x.all_within(edge) {
        return normal_power_of(&reduced_by_one(x));
    }
    let most = L::number(if L::IS_DOUBLE { 1025.0 } else { 129.0 });
    let least = L::number(if L::IS_DOUBLE { -1080.0 } else { -155.0 });
    power_of(&reduced_by_one(x.below(least, least, most.below(x, most, x))))
}

/// The parts of a number times the logarithm of 2.
#[inline(always)]
fn reduced_by_one<L: Lanes>(x: L) -> Reduced<L> {
    let magic = L::all(L::EXPONENTIAL.magic);
    let t = x.add(magic);
    let k = t.sub(magic);
    let d = x.sub(k);
    let [high, low] = L::EXPONENTIAL.log2;
    // The negative logarithm of 2, so the difference is negative, too.
    let d = L::number(0.0).sub(d);
    Reduced { t, k, r: d.fma(L::all(high), d.mul(L::all(low))) }
}

/// By a power that never overflows, and keeps its precision where the result is subnormal.
#[inline(always)]
pub(super) fn sigmoid<L: Lanes>(x: L) -> L {
    let (zero, one) = (L::number(0.0), L::number(1.0));
    let decay = exp(zero.sub(x.abs()));
    x.below(zero, decay, one).div(one.add(decay))
}
