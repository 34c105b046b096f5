//! Products by loops of our own where matrices stay in the caches of a core: a call of BLAS costs more
//! than the work on few elements, and may not use what the processor has.

#[cfg(target_arch = "x86_64")]
pub(crate) use lanes::Registers;

pub(crate) use gemm::NearGemm;
pub(crate) use gemv::NearGemv;

mod gemm;
mod gemv;
#[cfg(target_arch = "x86_64")]
mod lanes;
#[cfg(target_arch = "x86_64")]
mod lines;
#[cfg(target_arch = "x86_64")]
mod tiles;

/// The bytes of matrices that stay in the cache of a core beside other things.
const NEAR: usize = 512 << 10;

/// Floats of which a register holds several: nowhere, as far as is known here.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) trait Registers {}

#[cfg(not(target_arch = "x86_64"))]
impl<T> Registers for T {}

/// The instruction sets that the loops are made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Level {
    /// Those of this machine, the best first.
    fn known() -> impl Iterator<Item = Level> {
        #[cfg(target_arch = "x86_64")]
        {
            let wide = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq");
            let narrow = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
            let known = [(wide && narrow, Level::Avx512), (narrow, Level::Avx2)];
            known.into_iter().filter_map(|(has, level)| has.then_some(level))
        }
        #[cfg(not(target_arch = "x86_64"))]
        std::iter::empty()
    }
}
