//! Products and factors by loops of our own. They serve matrices that stay in the caches of a core: there a call of
//! BLAS costs more than the work on few elements, and may not use all instructions of the processor. They also serve
//! products of a vector with any number of lines that are walked as they lie, which BLAS shares badly between threads.

#[cfg(target_arch = "x86_64")]
pub(crate) use registers::InRegisters;

pub(crate) use gemm::OwnGemm;
pub(crate) use gemv::OwnGemv;
pub(crate) use kept::KeptGemv;
#[cfg(target_arch = "x86_64")]
pub(crate) use lu::OwnLu;

mod gemm;
mod gemv;
mod kept;
#[cfg(target_arch = "x86_64")]
mod lines;
#[cfg(target_arch = "x86_64")]
mod lu;
#[cfg(target_arch = "x86_64")]
mod panels;
#[cfg(target_arch = "x86_64")]
mod registers;
#[cfg(target_arch = "x86_64")]
mod tiles;

/// The bytes of matrices that stay in the cache of a core beside other things.
const NEAR: usize = 512 << 10;

/// Floats that fit into a register several at a time: none on this processor.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) trait InRegisters {}

#[cfg(not(target_arch = "x86_64"))]
impl<T> InRegisters for T {}

/// What tests draw.
#[cfg(test)]
mod drawn {
    use proptest::prelude::*;

    pub(super) fn number() -> impl Strategy<Value = f64> {
        // Sums of so few eighths are exact in each type, so the order makes no difference.
        prop_oneof![
            50 => (-64i32..64).prop_map(|eighths| f64::from(eighths) / 8.0),
            1 => prop::sample::select(vec![f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0]),
        ]
    }
}
