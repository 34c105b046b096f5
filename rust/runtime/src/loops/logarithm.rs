//! `log` and its kin, of single elements or of registers of them: the same bits as C's kernels have.
//!
//! `u = 2**e * m` with `m` from 3/4 to 3/2: `m` rounded to sixteenths leads to a reciprocal `q` of so
//! few bits that `r = m * q - 1` has no error. The logarithm is that of 2 times `e`, less that of `q`,
//! and that of `1 + r` by a polynomial. `log1p` adds to `r` what was lost in `1 + x`.

use crate::loops::exponential::{exp, expm1};
use crate::loops::lanes::Lanes;

/// The constants of the algorithm for one type.
pub(super) struct Logarithm<T> {
    /// Added to a number, it leaves sixteenths: the last four bits say which reciprocal.
    pub(super) magic: T,
    /// The negative logarithm of 2 in two parts.
    pub(super) log2: [T; 2],
    pub(super) reciprocals: [T; 16],
    /// The negative logarithms of these, in two parts.
    pub(super) high: [T; 16],
    pub(super) low: [T; 16],
}

/// The reciprocals of sixteenths from 1 on, then of sixteenths below 1; no `m` leads to the entry of 0.
macro_rules! reciprocals {
    () => {
        [
            1.0, 0.937_5, 0.875, 0.843_75, 0.812_5, 0.75, 0.718_75, 0.687_5, 0.687_5, 0.0, 0.0,
            0.0, 1.312_5, 1.25, 1.125, 1.062_5,
        ]
    };
}

pub(super) const OF_F64: Logarithm<f64> = Logarithm {
    magic: 422_212_465_065_984.0,
    log2: [-0.693_147_180_559_890_3, -5.497_923_018_708_371e-14],
    reciprocals: reciprocals!(),
    high: [
        0.0,
        0.064_538_521_137_592_4,
        0.133_531_392_624_490_76,
        0.169_899_036_795_413_85,
        0.207_639_364_778_287_93,
        0.287_682_072_451_843_85,
        0.330_241_686_870_522_24,
        0.374_693_449_441_338_1,
        0.374_693_449_441_338_1,
        0.0,
        0.0,
        0.0,
        -0.271_933_715_483_555_7,
        -0.223_143_551_314_251_45,
        -0.117_783_035_656_43,
        -0.060_624_621_816_486_98,
    ],
    low: [
        0.0,
        -2.122_560_804_480_999_7e-14,
        3.185_973_634_907_833_4e-14,
        -1.637_627_641_409_750_3e-14,
        -4.342_542_259_524_256_4e-14,
        -6.292_357_389_008_195e-14,
        5.461_214_448_992_021_5e-14,
        7.260_466_149_925_637e-14,
        7.260_466_149_925_637e-14,
        0.0,
        0.0,
        0.0,
        -8.604_306_772_808_733e-14,
        4.169_796_584_527_195e-14,
        4.654_729_747_598_445e-14,
        5.213_620_639_136_504e-14,
    ],
};

pub(super) const OF_F32: Logarithm<f32> = Logarithm {
    magic: 786_432.0,
    log2: [-0.693_145_75, -1.428_606_8e-6],
    reciprocals: reciprocals!(),
    high: [
        0.0,
        0.064_544_68,
        0.133_544_92,
        0.169_891_36,
        0.207_641_6,
        0.287_689_2,
        0.330_230_7,
        0.374_694_82,
        0.374_694_82,
        0.0,
        0.0,
        0.0,
        -0.271_942_14,
        -0.223_144_53,
        -0.117_797_85,
        -0.060_638_428,
    ],
    low: [
        0.0,
        -6.156_597e-6,
        -1.352_925e-5,
        7.679_373e-6,
        -2.236_784_2e-6,
        -7.136_532_5e-6,
        1.097_398e-5,
        -1.374_777_3e-6,
        -1.374_777_3e-6,
        0.0,
        0.0,
        0.0,
        8.423_188e-6,
        9.799_357e-7,
        1.481_590_6e-5,
        1.380_591_8e-5,
    ],
};

/// The results of the instruction `vfixupimm` for zeros, infinities, NaN and negative numbers.
pub(super) const EDGES: u64 = 0x353_0422;

/// `(log(1 + r) - r) / r**2`, from the lowest power on.
const TERMS: [f64; 10] = [
    -0.500_000_000_000_000_1,
    0.333_333_333_333_327_5,
    -0.249_999_999_998_816_9,
    0.200_000_000_021_004_2,
    -0.166_666_668_986_841_24,
    0.142_857_119_677_072_85,
    -0.124_998_147_415_727_4,
    0.111_120_821_181_385_96,
    -0.100_650_225_072_703_99,
    0.089_736_653_960_026_27,
];
const TERMS_OF_F32: [f64; 5] = [-0.5, 0.333_332_78, -0.250_004_02, 0.200_589_87, -0.165_526_18];

/// `(log(1 + r) - r) / r**2`, where `s` is the square of `r`.
#[inline(always)]
fn terms<L: Lanes>(r: L, s: L) -> L {
    if !L::IS_DOUBLE {
        let term = |at: usize| L::number(TERMS_OF_F32[at]);
        return s.fma(s.fma(term(4), r.fma(term(3), term(2))), r.fma(term(1), term(0)));
    }
    let pair = |at: usize| r.fma(L::number(TERMS[2 * at + 1]), L::number(TERMS[2 * at]));
    let fourth = s.mul(s);
    let (low, middle) = (s.fma(pair(1), pair(0)), s.fma(pair(3), pair(2)));
    fourth.fma(fourth.fma(pair(4), middle), low)
}

/// Whether all these are positive normal numbers, if that is asked.
#[inline(always)]
fn are_normal<L: Lanes>(x: L) -> bool {
    let (least, most) = if L::IS_DOUBLE {
        (f64::MIN_POSITIVE, f64::MAX)
    } else {
        (f64::from(f32::MIN_POSITIVE), f64::from(f32::MAX))
    };
    L::ASKS && x.all_between(L::number(least), L::number(most))
}

/// The logarithm of a positive number, as a sum of two.
#[inline(always)]
pub(super) fn two_parts<L: Lanes>(x: L) -> (L, L) {
    sum_of_parts(x.parts())
}

/// The logarithm of the parts of a number, as a sum of two.
#[inline(always)]
fn sum_of_parts<L: Lanes>((m, k): (L, L)) -> (L, L) {
    let own = L::LOGARITHM;
    let (reciprocal, log, log_rest) = m.add(L::all(own.magic)).reciprocal_and_logs();
    let r = m.fma(reciprocal, L::number(-1.0));
    let high = k.fma(L::all(own.log2[0]), log);
    let sum = high.add(r);
    let low = k.fma(L::all(own.log2[1]), log_rest).add(high.sub(sum).add(r));
    let s = r.mul(r);
    (sum, s.fma(terms(r, s), low))
}

#[inline(always)]
pub(super) fn log<L: Lanes>(x: L) -> L {
    if are_normal(x) {
        let (sum, rest) = sum_of_parts(x.normal_parts());
        return sum.add(rest);
    }
    let (sum, rest) = two_parts(x);
    sum.add(rest).or_edges_of(x)
}

/// The logarithm to a base, given the factor of the logarithm to base `e`, in two parts.
#[inline(always)]
fn log_by<L: Lanes>(x: L, high: f64, low: f64) -> L {
    if are_normal(x) {
        return times_factor(sum_of_parts(x.normal_parts()), high, low);
    }
    times_factor(two_parts(x), high, low).or_edges_of(x)
}

#[inline(always)]
fn times_factor<L: Lanes>((sum, rest): (L, L), high: f64, low: f64) -> L {
    let near = sum.add(rest);
    let off = sum.sub(near).add(rest);
    let factor = L::number(high);
    let more = near.fma(L::number(low), off.mul(factor));
    near.fma(factor, more)
}

#[inline(always)]
pub(super) fn log2<L: Lanes>(x: L) -> L {
    let rest = if L::IS_DOUBLE { 2.035_527_374_093_103_3e-17 } else { 1.925_963e-8 };
    log_by(x, std::f64::consts::LOG2_E, rest)
}

#[inline(always)]
pub(super) fn log10<L: Lanes>(x: L) -> L {
    let rest = if L::IS_DOUBLE { 1.098_319_650_216_765e-17 } else { -1.010_305e-8 };
    log_by(x, std::f64::consts::LOG10_E, rest)
}

#[inline(always)]
pub(super) fn log1p<L: Lanes>(x: L) -> L {
    let u = x.sub(L::number(-1.0));
    let lost = x.sub(u.add(L::number(-1.0)));
    if are_normal(u) {
        return log_of_sum(u.normal_parts(), lost).with_sign_of(x);
    }
    log_of_sum(u.parts(), lost).or_edges_of(u).with_sign_of(x)
}

/// The logarithm of the parts of a number, to which is added what it lost.
#[inline(always)]
fn log_of_sum<L: Lanes>((m, k): (L, L), lost: L) -> L {
    let own = L::LOGARITHM;
    let (q, log, log_rest) = m.add(L::all(own.magic)).reciprocal_and_logs();
    let r = lost.times_whole_power(k).fma(q, m.fma(q, L::number(-1.0)));
    let sum = k.fma(L::all(own.log2[0]), log).add(r);
    let low = k.fma(L::all(own.log2[1]), log_rest);
    let s = r.mul(r);
    sum.add(s.fma(terms(r, s), low))
}

/// The logarithm of `1 - e**x`.
#[inline(always)]
pub(super) fn log1mexp<L: Lanes>(x: L) -> L {
    let zero = L::number(0.0);
    // A result that vanishes keeps its sign.
    let far = log1p(L::number(-0.0).sub(exp(x)));
    let near = log(zero.sub(expm1(x)));
    x.below(L::number(-std::f64::consts::LN_2), far, near)
}

#[inline(always)]
pub(super) fn softplus<L: Lanes>(x: L) -> L {
    let zero = L::number(0.0);
    let positive = zero.below(x, x, zero);
    positive.add(log1p(exp(zero.sub(x.abs()))))
}

#[inline(always)]
pub(super) fn log_sigmoid<L: Lanes>(x: L) -> L {
    L::number(-0.0).sub(softplus(L::number(-0.0).sub(x)))
}
