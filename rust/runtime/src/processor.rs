//! The instructions that the processor has beyond those that every processor of its kind has.

use once_cell::race::OnceBox;

/// The environment variable that says how many bits registers of elements may have.
const VARIABLE: &str = "FRAZIL_REGISTERS";

/// The most bits that registers of elements may have. Fewer than the processor has are those of an older one:
/// results have the same bits.
///
/// # Errors
/// If the environment variable `FRAZIL_REGISTERS` says neither 128 nor 256 nor 512.
pub fn register_limit() -> Result<u32, String> {
    static LIMIT: OnceBox<Result<u32, String>> = OnceBox::new();
    LIMIT
        .get_or_init(|| {
            let given = std::env::var_os(VARIABLE);
            Box::new(limit_of(given.as_ref().map(|own| own.to_string_lossy()).as_deref()))
        })
        .clone()
}

fn limit_of(given: Option<&str>) -> Result<u32, String> {
    match given {
        None => Ok(512),
        Some(text) => match text.trim() {
            "" => Ok(512),
            bits @ ("128" | "256" | "512") => Ok(bits.parse().expect("a number")),
            other => Err(format!("${VARIABLE} must be 128, 256 or 512, and is '{other}'")),
        },
    }
}

/// The expression for a level, or for the plain instructions: `match` with an arm for each level that this kind of
/// processor may have.
macro_rules! by_level {
    ($level:expr, plain: $plain:expr, avx2: $avx2:expr, avx512: $avx512:expr $(,)?) => {
        match $level {
            None => $plain,
            #[cfg(target_arch = "x86_64")]
            Some($crate::processor::Level::Avx2) => $avx2,
            #[cfg(target_arch = "x86_64")]
            Some($crate::processor::Level::Avx512) => $avx512,
        }
    };
}

pub(crate) use by_level;

/// A set of instructions that functions are made for besides the plain ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    /// AVX2 and FMA.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// Those of [`Level::Avx2`], BMI2, and AVX-512: F, BW, DQ, VL.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Level {
    /// The best of this processor; `None` if it has the plain instructions alone.
    #[inline]
    pub(crate) fn best() -> Option<Level> {
        Level::known().next()
    }

    /// Those of this processor, the best first.
    #[inline]
    pub(crate) fn known() -> impl Iterator<Item = Level> {
        #[cfg(target_arch = "x86_64")]
        {
            let most = register_limit().unwrap_or(512);
            let narrow =
                most >= 256 && is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
            let wide = narrow
                && most >= 512
                && is_x86_feature_detected!("bmi2")
                && is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl");
            let known = [(wide, Level::Avx512), (narrow, Level::Avx2)];
            known.into_iter().filter_map(|(has, level)| has.then_some(level))
        }
        #[cfg(not(target_arch = "x86_64"))]
        std::iter::empty()
    }
}

/// The bits of the registers of elements that functions of vectors may use: 512 for those of AVX-512, 256 for those of AVX2, 0
/// if there is neither. All compilers of kernels ask this one question: their results agree in all bits only if they choose
/// alike.
pub fn vector_bits() -> u32 {
    by_level!(Level::best(), plain: 0, avx2: 256, avx512: 512)
}

/// Whether functions of single elements and of many are quick. They multiply and add with one rounding, for which each
/// aarch64 processor has an instruction, and x86 has one from AVX2 on; elsewhere it is a call of the C library.
pub fn has_quick_functions() -> bool {
    cfg!(target_arch = "aarch64") || Level::best().is_some()
}

#[cfg(test)]
mod tests {
    use super::limit_of;

    #[test]
    fn limits_are_sizes_of_registers() {
        assert_eq!(limit_of(None), Ok(512));
        assert_eq!(limit_of(Some("")), Ok(512));
        assert_eq!(limit_of(Some(" 256 ")), Ok(256));
        assert_eq!(limit_of(Some("128")), Ok(128));
        for wrong in ["64", "avx2", "-256", "256.0"] {
            let fault = limit_of(Some(wrong)).unwrap_err();
            assert!(fault.contains("must be 128, 256 or 512") && fault.contains(wrong));
        }
    }
}
