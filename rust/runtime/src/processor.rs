//! The instructions that the processor has beyond those that every processor of its kind has.

/// A set of instructions that functions are made for besides the plain ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    /// AVX2 and FMA.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// Those of [`Level::Avx2`] and AVX-512: F, BW, DQ, VL.
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
            let narrow = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
            let wide = narrow
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
