//! Functions of single elements in the steps of loops: a step waits for each result, and the C library is the
//! quickest with one element. C's kernels call the same functions, and make others of them by the same operations.
//! Cube roots are the runtime's own, since Rust has one with other bits under that name.
//!
//! The name of `exp` of a float64 is `exp_step_f8`.

/// The C library's functions, of either type, by the names of the ops.
macro_rules! library {
    (unary: $($op:literal $f8:ident $f4:ident;)* binary: $($op2:literal $g8:ident $g4:ident;)*) => {
        mod c {
            unsafe extern "C" {
                $(pub(super) safe fn $f8(x: f64) -> f64;
                pub(super) safe fn $f4(x: f32) -> f32;)*
                $(pub(super) safe fn $g8(x: f64, y: f64) -> f64;
                pub(super) safe fn $g4(x: f32, y: f32) -> f32;)*
            }
        }

        fn of_library(name: &str, is_double: bool) -> Option<usize> {
            Some(match (name, is_double) {
                $(($op, true) => c::$f8 as *const () as usize,
                ($op, false) => c::$f4 as *const () as usize,)*
                $(($op2, true) => c::$g8 as *const () as usize,
                ($op2, false) => c::$g4 as *const () as usize,)*
                _ => return None,
            })
        }
    };
}

library! {
    unary:
    "exp" exp expf;
    "exp2" exp2 exp2f;
    "expm1" expm1 expm1f;
    "log" log logf;
    "log2" log2 log2f;
    "log10" log10 log10f;
    "log1p" log1p log1pf;
    "sin" sin sinf;
    "cos" cos cosf;
    "tan" tan tanf;
    "arcsin" asin asinf;
    "arccos" acos acosf;
    "arctan" atan atanf;
    "sinh" sinh sinhf;
    "cosh" cosh coshf;
    "tanh" tanh tanhf;
    "arcsinh" asinh asinhf;
    "arccosh" acosh acoshf;
    "arctanh" atanh atanhf;
    "erf" erf erff;
    "erfc" erfc erfcf;
    binary:
    "pow" pow powf;
    "arctan2" atan2 atan2f;
    "hypot" hypot hypotf;
    "fmod" fmod fmodf;
}

/// Functions made from the C library's, for one type.
macro_rules! made {
    ($module:ident, $float:ident, $exp:ident, $expm1:ident, $log:ident, $log1p:ident) => {
        mod $module {
            use super::c::{$exp, $expm1, $log, $log1p};

            const LN_2: $float = std::$float::consts::LN_2;

            extern "C" fn sigmoid(x: $float) -> $float {
                let decay = $exp(-x.abs());
                (if x < 0.0 { decay } else { 1.0 }) / (1.0 + decay)
            }

            extern "C" fn softplus(x: $float) -> $float {
                (if x > 0.0 { x } else { 0.0 }) + $log1p($exp(-x.abs()))
            }

            extern "C" fn log_sigmoid(x: $float) -> $float {
                -softplus(-x)
            }

            extern "C" fn log1mexp(x: $float) -> $float {
                if x > -LN_2 { $log(-$expm1(x)) } else { $log1p(-$exp(x)) }
            }

            extern "C" fn logaddexp(x: $float, y: $float) -> $float {
                let more = if x > y { x } else { y };
                if x == y { x + LN_2 } else { more + $log1p($exp(-(x - y).abs())) }
            }

            pub(super) fn find(name: &str) -> Option<usize> {
                Some(match name {
                    "sigmoid" => sigmoid as *const () as usize,
                    "softplus" => softplus as *const () as usize,
                    "log_sigmoid" => log_sigmoid as *const () as usize,
                    "log1mexp" => log1mexp as *const () as usize,
                    "logaddexp" => logaddexp as *const () as usize,
                    _ => return None,
                })
            }
        }
    };
}

made!(of_f64, f64, exp, expm1, log, log1p);
made!(of_f32, f32, expf, expm1f, logf, log1pf);

/// The root of 1/2, and the same in three parts. Products of the first two with 24 bits are exact.
const HALF_ROOT: f64 = std::f64::consts::FRAC_1_SQRT_2;
const PART: f64 = 0.707_106_769_084_930_4;
const REST: f64 = 1.210_161_715_281_543_6e-8;
const LAST: f64 = -4.833_646_656_726_457e-17;

/// The product with the root of 1/2 in twice the digits: the error function falls off so fast that
/// a rounding of its argument would cost three digits.
extern "C" fn ndtr(x: f64) -> f64 {
    let t = if x > 40.0 { 40.0 } else { x };
    let t = if t < -40.0 { -40.0 } else { t };
    let high = f64::from(t as f32);
    let low = t - high;
    let z = t * HALF_ROOT;
    let off = ((high * PART - z) + (high * REST + low * PART)) + low * REST - t * -LAST;
    0.5 * (c::erfc(-z) + std::f64::consts::FRAC_2_SQRT_PI * c::exp(-z * z) * off)
}

extern "C" fn ndtr_of_f32(x: f32) -> f32 {
    ndtr(f64::from(x)) as f32
}

/// The address of a function by the name of its op and its type; `None` if there is none.
pub(super) fn find(name: &str, of: &str) -> Option<usize> {
    let is_double = match of {
        "f8" => true,
        "f4" => false,
        _ => return None,
    };
    let made = if is_double { of_f64::find(name) } else { of_f32::find(name) };
    made.or_else(|| of_library(name, is_double)).or_else(|| {
        (name == "ndtr").then_some(match is_double {
            true => ndtr as *const () as usize,
            false => ndtr_of_f32 as *const () as usize,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_of_steps_are_the_librarys_or_made_of_them() {
        for (name, right) in [("exp", 0.5_f64.exp()), ("ndtr", 0.691_462_461_274_013)] {
            // SAFETY: the address is that of such a function.
            let of: extern "C" fn(f64) -> f64 =
                unsafe { std::mem::transmute(find(name, "f8").unwrap()) };
            assert!((of(0.5) - right).abs() < 1e-15, "{name}");
        }
        for name in ["sigmoid", "softplus", "log_sigmoid", "log1mexp"] {
            let (wide, narrow) = (find(name, "f8").unwrap(), find(name, "f4").unwrap());
            // SAFETY: as above.
            let wide: extern "C" fn(f64) -> f64 = unsafe { std::mem::transmute(wide) };
            // SAFETY: as above.
            let narrow: extern "C" fn(f32) -> f32 = unsafe { std::mem::transmute(narrow) };
            assert!((wide(-0.5) - f64::from(narrow(-0.5))).abs() < 1e-6, "{name}");
        }
        assert!(find("cube", "f8").is_none() && find("exp", "f2").is_none());
    }
}
