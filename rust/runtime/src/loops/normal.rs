//! The normal distribution.

use crate::loops::real::{erfc, exp, log, log1p};

/// The root of 1/2, and it in three parts, of which products with 24 bits are exact for the first
/// two.
const HALF_ROOT: f64 = std::f64::consts::FRAC_1_SQRT_2;
const PART: f64 = 0.707_106_769_084_930_4;
const REST: f64 = 1.210_161_715_281_543_6e-8;
const LAST: f64 = -4.833_646_656_726_457e-17;

/// The product with the root of 1/2 in twice the digits: the error function falls off so fast that
/// a rounding of its argument would cost three digits.
pub(super) fn ndtr(x: f64) -> f64 {
    let t = if x > 40.0 { 40.0 } else { x };
    let t = if t < -40.0 { -40.0 } else { t };
    let high = f64::from(t as f32);
    let low = t - high;
    let z = t * HALF_ROOT;
    let off = ((high * PART - z) + (high * REST + low * PART)) + low * REST + t * LAST;
    0.5 * (erfc(-z) + std::f64::consts::FRAC_2_SQRT_PI * exp(-z * z) * off)
}

/// The logarithm of [`ndtr`], given the scaled error function of `-x` times the root of 1/2.
pub(super) extern "C" fn log_ndtr_of_scaled(x: f64, scaled: f64) -> f64 {
    if x < -1.0 { log(scaled / 2.0) - x * x / 2.0 } else { log1p(-ndtr(-x)) }
}
