//! The normal distribution.

use crate::loops::error_function::ndtr;
use crate::loops::logarithm::{log, log1p};

/// The logarithm of [`ndtr`], given the scaled error function of `-x` times the root of 1/2.
pub(super) extern "C" fn log_ndtr_of_scaled(x: f64, scaled: f64) -> f64 {
    if x < -1.0 { log(scaled / 2.0) - x * x / 2.0 } else { log1p(-ndtr(-x)) }
}
