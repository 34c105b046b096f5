//! Functions of a float64, one by one.

mod c {
    unsafe extern "C" {
        pub(super) fn asinh(x: f64) -> f64;
        pub(super) fn acosh(x: f64) -> f64;
        pub(super) fn atanh(x: f64) -> f64;
        pub(super) fn erf(x: f64) -> f64;
        pub(super) fn erfc(x: f64) -> f64;
        pub(super) fn lgamma_r(x: f64, sign: *mut i32) -> f64;
    }
}

const LN_2: f64 = std::f64::consts::LN_2;

pub(super) fn exp(x: f64) -> f64 {
    x.exp()
}

pub(super) fn expm1(x: f64) -> f64 {
    x.exp_m1()
}

pub(super) fn exp2(x: f64) -> f64 {
    x.exp2()
}

pub(super) fn log(x: f64) -> f64 {
    x.ln()
}

pub(super) fn log1p(x: f64) -> f64 {
    x.ln_1p()
}

pub(super) fn log2(x: f64) -> f64 {
    x.log2()
}

pub(super) fn log10(x: f64) -> f64 {
    x.log10()
}

pub(super) fn sin(x: f64) -> f64 {
    x.sin()
}

pub(super) fn cos(x: f64) -> f64 {
    x.cos()
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

pub(super) fn tanh(x: f64) -> f64 {
    x.tanh()
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

pub(super) fn erf(x: f64) -> f64 {
    // SAFETY: the C library's function takes any number.
    unsafe { c::erf(x) }
}

pub(super) fn erfc(x: f64) -> f64 {
    // SAFETY: as above.
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

/// `n! * zeta(n + 1, x)`, where `x > 0`: a sum of some terms, and the rest by Euler and Maclaurin.
fn polygamma_of_positive(n: f64, x: f64) -> f64 {
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
    const TERMS: f64 = 12.0;
    let (s, y) = (n + 1.0, x + TERMS);
    let mut total = 0.0;
    for k in (1..12).rev() {
        total += pow(1.0 + f64::from(k) / x, -s);
    }
    let mut series = COEFFICIENTS[9];
    for j in (1..10).rev() {
        let j2 = f64::from(2 * j);
        let factor = (s + (j2 - 1.0)) / y * ((s + j2) / y);
        series = COEFFICIENTS[j as usize - 1] + series * factor;
    }
    let near = (1.0 + TERMS / x) / n + 0.5 / x + s / x / y * series;
    let rest = pow(1.0 + TERMS / x, -s) * near;
    polygamma_scale(n, x) * ((1.0 + total) / x + rest)
}
