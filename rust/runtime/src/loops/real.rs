//! Functions of a float64, one by one.

pub(super) use crate::loops::normal::ndtr;

mod c {
    unsafe extern "C" {
        pub(super) fn asinh(x: f64) -> f64;
        pub(super) fn acosh(x: f64) -> f64;
        pub(super) fn atanh(x: f64) -> f64;
        pub(super) fn erfc(x: f64) -> f64;
        pub(super) fn lgamma_r(x: f64, sign: *mut i32) -> f64;
    }
}

const LN_2: f64 = std::f64::consts::LN_2;
/// What is missing from [`LN_2`].
const LN_2_REST: f64 = 2.319_046_813_846_299_6e-17;
/// The logarithm of 2 in two parts, the first of which is exact times any exponent.
const LN_2_HIGH: f64 = 0.693_146_705_627_441_4;
const LN_2_LOW: f64 = 4.749_325_039_031_672_6e-7;

/// Added to a number, it leaves that rounded to an integer, in the last bits.
const TO_INTEGER: f64 = 6_755_399_441_055_744.0;

/// `(e**r - 1 - r - r**2 / 2) / r**3` where `|r| <= log(2) / 2`, from the lowest power on.
const EXPONENTIAL: [f64; 10] = [
    0.166_666_666_666_666_69,
    0.041_666_666_666_666_664,
    0.008_333_333_333_330_039,
    0.001_388_888_888_888_653_7,
    0.000_198_412_698_631_715_57,
    2.480_158_731_722_872_4e-5,
    2.755_726_827_590_569_6e-6,
    2.755_728_283_880_048_4e-7,
    2.510_047_250_569_499_6e-8,
    2.091_129_876_594_02e-9,
];

/// `(log((1 + s) / (1 - s)) / s - 2) / z` for `z = s**2`, where `1 + s` over `1 - s` is from the
/// root of 1/2 to that of 2; from the lowest power on.
const LOGARITHM: [f64; 7] = [
    0.666_666_666_666_667,
    0.399_999_999_998_988_9,
    0.285_714_286_262_538_36,
    0.222_222_110_893_794_96,
    0.181_828_924_325_368_7,
    0.153_316_117_220_550_08,
    0.146_178_071_534_173_25,
];

/// `(sin(r) / r - 1) / r**2` as a polynomial in `r**2`, where `|r| <= pi / 4`.
const SINE: [f64; 7] = [
    -0.166_666_666_666_666_66,
    0.008_333_333_333_333_331,
    -0.000_198_412_698_412_650_17,
    2.755_731_921_930_192e-06,
    -2.505_210_621_952_189_5e-08,
    1.605_852_957_226_787_7e-10,
    -7.586_576_588_171_073e-13,
];

/// `(cos(r) - 1 + r**2 / 2) / r**4` as a polynomial in `r**2`, where `|r| <= pi / 4`.
const COSINE: [f64; 6] = [
    0.041_666_666_666_666_664,
    -0.001_388_888_888_888_738_2,
    2.480_158_729_874_307e-05,
    -2.755_731_726_000_883_7e-07,
    2.087_614_382_799_313_3e-09,
    -1.138_245_677_806_130_6e-11,
];

/// `erf(x) / x - 1` as a polynomial in `x**2`, where `|x| <= 1`.
const ERROR_NEAR: [f64; 13] = [
    0.128_379_167_095_512_6,
    -0.376_126_389_031_837_5,
    0.112_837_916_709_548_79,
    -0.026_866_170_645_076_792,
    0.005_223_977_624_818_014_5,
    -0.000_854_832_698_083_379,
    0.000_120_553_311_116_427_1,
    -1.492_559_526_683_118_2e-05,
    1.646_100_048_412_136_8e-06,
    -1.635_031_270_105_469_5e-07,
    1.465_977_527_404_743_6e-08,
    -1.137_284_885_679_167_4e-09,
    5.957_176_147_748_911e-11,
];

/// `erfc(x) * e**x**2` as a polynomial in `(x - 2) / (x + 2)`, where `1 <= x <= 6`.
const ERROR_FAR: [f64; 16] = [
    0.255_395_676_310_505_7,
    -0.427_185_847_413_958_5,
    0.241_658_194_242_487_63,
    -0.078_978_581_015_712_69,
    0.003_732_892_401_656_448_4,
    0.006_997_461_739_200_575,
    -0.000_847_143_122_941_533_3,
    -0.000_981_977_111_474_071_5,
    4.355_265_359_817_883e-05,
    0.000_174_364_772_572_567_38,
    2.756_035_275_667_831_3e-05,
    -2.764_072_782_191_285_2e-05,
    -1.416_633_906_911_710_8e-05,
    1.859_427_387_429_402e-06,
    4.146_302_183_268_488e-06,
    -2.228_129_576_372_35e-07,
];

/// The polynomial of these coefficients, from the lowest power on.
#[inline(always)]
fn polynomial<const N: usize>(x: f64, coefficients: &[f64; N]) -> f64 {
    let mut sum = coefficients[N - 1];
    let mut at = N - 1;
    while at > 0 {
        at -= 1;
        sum = sum.mul_add(x, coefficients[at]);
    }
    sum
}

/// `2**n`, for a normal result.
#[inline(always)]
fn power_of_two(n: i32) -> f64 {
    f64::from_bits(u64::from(n.wrapping_add(1023) as u32) << 52)
}

/// `x = n log 2 + r`: `n` as an integer, `r`, and `e**r - 1`.
#[inline(always)]
fn reduced(x: f64) -> (i32, f64) {
    let shifted = x.mul_add(std::f64::consts::LOG2_E, TO_INTEGER);
    let n = shifted - TO_INTEGER;
    let near = n.mul_add(-LN_2, x);
    let r = n.mul_add(-LN_2_REST, near);
    let square = r * r;
    let rest = r.mul_add(polynomial(r, &EXPONENTIAL), 0.5);
    (shifted.to_bits() as i32, square.mul_add(rest, r))
}

/// The logarithm of `u + lost` for a normal `u > 0`, where `lost` is far less than `u`; `k` is
/// added to the exponent.
#[inline(always)]
fn log_of_normal(u: f64, lost: f64, k: f64) -> f64 {
    // The bits of the root of 1/2, so that what is left lies around 1.
    const LEAST: u64 = 0x3fe6_a09e_667f_3bcd;
    // Exponents are made positive, and turned into a number by the bits of 2**52.
    const BIAS: u64 = 2048;
    const SHIFT: u64 = 0x4330_0000_0000_0000;
    let above = u.to_bits().wrapping_sub(LEAST).wrapping_add(BIAS << 52);
    let biased = above >> 52;
    let exponent = f64::from_bits(SHIFT | biased) - (4_503_599_627_370_496.0 + 2048.0) + k;
    let m = f64::from_bits(u.to_bits().wrapping_sub((biased.wrapping_sub(BIAS)) << 52));
    let f = m - 1.0;
    let s = f / (2.0 + f);
    let z = s * s;
    let half = 0.5 * f * f;
    let rest = s * (half + z * polynomial(z, &LOGARITHM));
    let low = exponent.mul_add(LN_2_LOW, lost / u);
    exponent.mul_add(LN_2_HIGH, f - (half - (rest + low)))
}

#[inline(always)]
pub(super) fn exp(x: f64) -> f64 {
    // Beyond these it is infinity and 0; NaN stays.
    let x = if x > 710.0 { 710.0 } else { x };
    let x = if x < -746.0 { -746.0 } else { x };
    let (n, less_one) = reduced(x);
    // By halves: one of them alone may be no normal number.
    let half = n >> 1;
    (1.0 + less_one) * power_of_two(half) * power_of_two(n.wrapping_sub(half))
}

#[inline(always)]
pub(super) fn expm1(x: f64) -> f64 {
    let inside = if x > 710.0 { 710.0 } else { x };
    let inside = if inside < -60.0 { -60.0 } else { inside };
    let (n, less_one) = reduced(inside);
    // Half of the result, which may be twice the largest power of two.
    let half = power_of_two(n.wrapping_sub(1));
    let made = 2.0 * half.mul_add(less_one, half - 0.5);
    // A tiny number is its own result, with its sign.
    if x.abs() < 5e-17 { x } else { made }
}

pub(super) fn exp2(x: f64) -> f64 {
    x.exp2()
}

#[inline(always)]
pub(super) fn log(x: f64) -> f64 {
    const LEAST_NORMAL: f64 = f64::MIN_POSITIVE;
    const UP: f64 = 18_014_398_509_481_984.0;
    let is_small = x < LEAST_NORMAL;
    let normal = if is_small { x * UP } else { x };
    let made = log_of_normal(normal, 0.0, if is_small { -54.0 } else { 0.0 });
    let made = if x == f64::INFINITY { x } else { made };
    let made = if x == 0.0 { f64::NEG_INFINITY } else { made };
    // Negative numbers, and NaN, have none.
    if x >= 0.0 { made } else { f64::NAN }
}

#[inline(always)]
pub(super) fn log1p(x: f64) -> f64 {
    let u = 1.0 + x;
    let lost = if x > 1.0 { 1.0 - (u - x) } else { x - (u - 1.0) };
    let made = log_of_normal(u, lost, 0.0);
    let made = if x == f64::INFINITY { x } else { made };
    let made = if x == -1.0 { f64::NEG_INFINITY } else { made };
    let made = if x >= -1.0 { made } else { f64::NAN };
    // A tiny number is its own result, with its sign.
    if x.abs() < 5e-17 { x } else { made }
}

pub(super) fn log2(x: f64) -> f64 {
    x.log2()
}

pub(super) fn log10(x: f64) -> f64 {
    x.log10()
}

/// Up to this size [`sin`] and [`cos`] have the part of a quarter turn to the last bit.
const LARGEST_ANGLE: f64 = 1e6;

/// Whether [`sin_of_small`] and [`cos_of_small`] are the sine and the cosine.
#[inline(always)]
pub(super) fn is_small_angle(x: f64) -> bool {
    x.abs() <= LARGEST_ANGLE
}

/// `x` as a number of quarter turns, and the sine and the cosine of the rest.
#[inline(always)]
fn quarters(x: f64) -> (u64, f64, f64) {
    const QUARTER: f64 = std::f64::consts::FRAC_PI_2;
    // What is missing from it, in two parts.
    const REST: f64 = 6.123_233_995_736_766e-17;
    const LAST: f64 = -1.497_384_904_859_169_8e-33;
    let shifted = x.mul_add(std::f64::consts::FRAC_2_PI, TO_INTEGER);
    let n = shifted - TO_INTEGER;
    // The first step is exact: both have their last bit where a number below 1 has room for it.
    let r = n.mul_add(-LAST, n.mul_add(-REST, n.mul_add(-QUARTER, x)));
    let z = r * r;
    let sine = (z * r).mul_add(polynomial(z, &SINE), r);
    let half = 0.5 * z;
    let most = 1.0 - half;
    let cosine = most + (z * z).mul_add(polynomial(z, &COSINE), (1.0 - most) - half);
    (shifted.to_bits(), sine, cosine)
}

#[inline(always)]
pub(super) fn sin_of_small(x: f64) -> f64 {
    let (turns, sine, cosine) = quarters(x);
    let size = if turns & 1 == 0 { sine } else { cosine };
    let made = f64::from_bits(size.to_bits() ^ (turns & 2) << 62);
    // A zero keeps its sign.
    if x == 0.0 { x } else { made }
}

#[inline(always)]
pub(super) fn cos_of_small(x: f64) -> f64 {
    let (turns, sine, cosine) = quarters(x);
    let size = if turns & 1 == 0 { cosine } else { sine };
    f64::from_bits(size.to_bits() ^ (turns.wrapping_add(1) & 2) << 62)
}

#[inline(always)]
pub(super) fn sin(x: f64) -> f64 {
    if is_small_angle(x) { sin_of_small(x) } else { x.sin() }
}

#[inline(always)]
pub(super) fn cos(x: f64) -> f64 {
    if is_small_angle(x) { cos_of_small(x) } else { x.cos() }
}

pub(super) fn tan(x: f64) -> f64 {
    x.tan()
}

pub(super) fn arcsin(x: f64) -> f64 {
    x.asin()
}

pub(super) fn arccos(x: f64) -> f64 {
    x.acos()
}

pub(super) fn arctan(x: f64) -> f64 {
    x.atan()
}

pub(super) fn arctan2(y: f64, x: f64) -> f64 {
    y.atan2(x)
}

pub(super) fn sinh(x: f64) -> f64 {
    x.sinh()
}

pub(super) fn cosh(x: f64) -> f64 {
    x.cosh()
}

#[inline(always)]
pub(super) fn tanh(x: f64) -> f64 {
    let size = x.abs();
    let inside = if size > 20.0 { 20.0 } else { size };
    let twice = expm1(2.0 * inside);
    (twice / (twice + 2.0)).copysign(x)
}

pub(super) fn arcsinh(x: f64) -> f64 {
    // SAFETY: the C library's function takes any number.
    unsafe { c::asinh(x) }
}

pub(super) fn arccosh(x: f64) -> f64 {
    // SAFETY: as above.
    unsafe { c::acosh(x) }
}

pub(super) fn arctanh(x: f64) -> f64 {
    // SAFETY: as above.
    unsafe { c::atanh(x) }
}

pub(super) fn pow(x: f64, y: f64) -> f64 {
    x.powf(y)
}

pub(super) fn cbrt(x: f64) -> f64 {
    x.cbrt()
}

pub(super) fn hypot(x: f64, y: f64) -> f64 {
    x.hypot(y)
}

pub(super) fn fmod(x: f64, y: f64) -> f64 {
    x % y
}

/// By a power that never overflows, and keeps its precision where the result is subnormal.
#[inline(always)]
pub(super) fn sigmoid(x: f64) -> f64 {
    let decay = exp(-x.abs());
    (if x < 0.0 { decay } else { 1.0 }) / (1.0 + decay)
}

#[inline(always)]
pub(super) fn softplus(x: f64) -> f64 {
    (if x > 0.0 { x } else { 0.0 }) + log1p(exp(-x.abs()))
}

#[inline(always)]
pub(super) fn log_sigmoid(x: f64) -> f64 {
    -softplus(-x)
}

#[inline(always)]
pub(super) fn log1mexp(x: f64) -> f64 {
    let (far, near) = (log1p(-exp(x)), log(-expm1(x)));
    if x > -LN_2 { near } else { far }
}

#[inline(always)]
pub(super) fn logaddexp(x: f64, y: f64) -> f64 {
    let more = (if x > y { x } else { y }) + log1p(exp(-(x - y).abs()));
    if x == y { x + LN_2 } else { more }
}

#[inline(always)]
pub(super) fn erf(x: f64) -> f64 {
    let size = x.abs();
    let near = x.mul_add(polynomial(x * x, &ERROR_NEAR), x);
    // From 6 on nothing is left to 1; NaN stays.
    let inside = if size > 6.0 { 6.0 } else { size };
    let part = (inside - 2.0) / (inside + 2.0);
    let far = 1.0 - exp(-inside * inside) * polynomial(part, &ERROR_FAR);
    if size < 1.0 { near } else { far.copysign(x) }
}

pub(super) fn erfc(x: f64) -> f64 {
    // SAFETY: the C library's function takes any number.
    unsafe { c::erfc(x) }
}

/// The logarithm of the absolute value of the gamma function, safely in many threads.
fn lgamma(x: f64) -> f64 {
    let mut sign = 0;
    // SAFETY: there is a place for the sign.
    unsafe { c::lgamma_r(x, &mut sign) }
}

/// As SciPy, not as C, has it at negative infinity.
pub(super) fn gammaln(x: f64) -> f64 {
    if x == f64::NEG_INFINITY { x } else { lgamma(x) }
}

/// Twelve steps of the recurrence lead to where eight terms of the asymptotic series are exact; they
/// are added from the smallest. Below zero: the reflection formula, on the distance to the nearest
/// integer, whose sine keeps its precision near the poles.
pub(super) fn tri_gamma(x: f64) -> f64 {
    if x.is_nan() || x > 0.0 {
        return tri_gamma_of_positive(x);
    }
    let off = x - x.round_ties_even();
    if off == 0.0 {
        return f64::INFINITY;
    }
    let pi = std::f64::consts::PI;
    let r = pi / sin(pi * off);
    r * r - tri_gamma_of_positive(1.0 - x)
}

fn tri_gamma_of_positive(x: f64) -> f64 {
    const SERIES: [f64; 7] =
        [7.0 / 6.0, -691.0 / 2730.0, 5.0 / 66.0, -1.0 / 30.0, 1.0 / 42.0, -1.0 / 30.0, 1.0 / 6.0];
    let q = 1.0 / (x + 12.0);
    let s = q * q;
    let mut tail = SERIES[0];
    for &coefficient in &SERIES[1..] {
        tail = coefficient + s * tail;
    }
    let mut sum = q + s / 2.0 + q * s * tail;
    for k in (0..12).rev() {
        let r = 1.0 / (x + f64::from(k));
        sum += r * r;
    }
    sum
}

/// The largest order of [`polygamma`], and of a factorial that a float64 holds.
const LARGEST_ORDER: f64 = 2_147_483_648.0;
const LARGEST_FACTORIAL: f64 = 170.0;

/// The derivative of order `n >= 1` of the digamma function.
pub(super) fn polygamma(n: f64, x: f64) -> f64 {
    if !(n > 0.0 && n <= LARGEST_ORDER && n == n.floor()) {
        return f64::NAN;
    }
    let sign = if n == 2.0 * (n / 2.0).floor() { -1.0 } else { 1.0 };
    if x > 0.0 || x.is_nan() {
        return sign * polygamma_of_positive(n, x);
    }
    let off = x - x.round_ties_even();
    if off == 0.0 {
        return sign * f64::INFINITY;
    }
    let (near, far) = (off.abs(), 1.0 - off.abs());
    let pair = polygamma_scale(n, near) / near + sign * (polygamma_scale(n, far) / far);
    let others = polygamma_of_positive(n, 1.0 + near) + sign * polygamma_of_positive(n, 1.0 + far);
    let around = (if off < 0.0 { sign } else { 1.0 }) * (pair + others);
    sign * (around - sign * polygamma_of_positive(n, 1.0 - x))
}

/// `n! / x**n`.
fn polygamma_scale(n: f64, x: f64) -> f64 {
    let power = pow(x, -n);
    if n <= LARGEST_FACTORIAL && power > 2.0_f64.powi(-1000) && power < 2.0_f64.powi(1000) {
        let mut factorial = 1.0;
        for k in 2..=n as i64 {
            factorial *= k as f64;
        }
        return factorial * power;
    }
    exp(lgamma(n + 1.0) - n * log(x))
}

/// The Bernoulli numbers of even order, each divided by the factorial of that.
const COEFFICIENTS: [f64; 10] = [
    0.08333333333333333,
    -0.001388888888888889,
    3.306878306878307e-05,
    -8.267195767195768e-07,
    2.08767569878681e-08,
    -5.284190138687493e-10,
    1.3382536530684679e-11,
    -3.3896802963225827e-13,
    8.586062056277845e-15,
    -2.174868698558062e-16,
];
/// The terms of a sum before Euler's and Maclaurin's series.
const TERMS: f64 = 12.0;

/// Euler's and Maclaurin's series for what comes after the terms.
fn series_at(s: f64, y: f64) -> f64 {
    let mut series = COEFFICIENTS[9];
    for j in (1..10).rev() {
        let twice = 2.0 * j as f64;
        let factor = (s + (twice - 1.0)) / y * ((s + twice) / y);
        series = COEFFICIENTS[j - 1] + series * factor;
    }
    series
}

/// `n! * zeta(n + 1, x)`, where `x > 0`: a sum of some terms, and the rest by Euler and Maclaurin.
fn polygamma_of_positive(n: f64, x: f64) -> f64 {
    let (s, y) = (n + 1.0, x + TERMS);
    let mut total = 0.0;
    for k in (1..12).rev() {
        total += pow(1.0 + f64::from(k) / x, -s);
    }
    let series = series_at(s, y);
    let near = (1.0 + TERMS / x) / n + 0.5 / x + s / x / y * series;
    let rest = pow(1.0 + TERMS / x, -s) * near;
    polygamma_scale(n, x) * ((1.0 + total) / x + rest)
}

/// Hurwitz' zeta function. Below zero: the sum over all integers, by the distances to the two nearest
/// ones, less what lies beyond.
pub(super) fn zeta(s: f64, q: f64) -> f64 {
    if s == 1.0 && !q.is_nan() {
        return f64::INFINITY;
    }
    if s.is_nan() || q.is_nan() || s < 1.0 {
        return f64::NAN;
    }
    if s.is_infinite() || q.is_infinite() {
        return if q > 0.0 { pow(q, -s) } else { f64::NAN };
    }
    if q > 0.0 {
        return zeta_of_positive(s, q);
    }
    let part = q - q.floor();
    if part == 0.0 {
        return f64::INFINITY;
    }
    if s != s.floor() {
        return f64::NAN;
    }
    let sign = if s == 2.0 * (s / 2.0).floor() { 1.0 } else { -1.0 };
    let below = zeta_of_positive(s, 1.0 - part) - zeta_of_positive(s, 1.0 - q);
    zeta_of_positive(s, part) + sign * below
}

/// Twelve terms of the sum, and ten of Euler's and Maclaurin's for the rest.
fn zeta_of_positive(s: f64, q: f64) -> f64 {
    let y = q + TERMS;
    let last = pow(y, -s);
    let mut total = pow(y, 1.0 - s) / (s - 1.0);
    if last != 0.0 {
        total += last * (0.5 + s / y * series_at(s, y));
    }
    for k in (0..12).rev() {
        total += pow(q + f64::from(k), -s);
    }
    total
}
