//! The lanes of eight rows, folded side by side in registers of AVX-512.
//!
//! A row is a register of partial results, which are folded by halves. Two registers become one,
//! which has half as many lanes of twice as many rows, until it has one lane of each row.

/// Rows of a tile: a kernel may take so many at a time, and does the work of once a row for all of them together.
pub const TILE: usize = 8;

#[cfg(target_arch = "x86_64")]
pub(super) use registers::{Wide, WideReduction};

/// Floats that fit into a register several at a time: none on this processor.
#[cfg(not(target_arch = "x86_64"))]
pub(super) trait Wide {}

#[cfg(not(target_arch = "x86_64"))]
impl<T> Wide for T {}

/// The fold of two registers, which never happens.
#[cfg(not(target_arch = "x86_64"))]
pub(super) trait WideReduction<T> {}

#[cfg(not(target_arch = "x86_64"))]
impl<T, R> WideReduction<T> for R {}

#[cfg(target_arch = "x86_64")]
mod registers {
    use std::arch::x86_64::*;

    use super::TILE;
    use crate::loops::partials::{Largest, Product, Smallest, Sum};

    /// Floats that fit into a register several at a time.
    pub(in crate::loops) trait Wide: Copy {
        type Register: Copy;

        /// The partial results of a row that fill a register.
        const LANES: i64;

        /// Folds each of the rows.
        ///
        /// # Safety
        /// The processor has AVX-512; `of` has a register of each row, `to` room for their results.
        unsafe fn fold_tile<R: WideReduction<Self>>(to: *mut Self, of: *const Self);
    }

    /// The function that joins two registers of partial results, lane by lane; as
    /// [`Reduction`](crate::loops::partials::Reduction) does it.
    pub(in crate::loops) trait WideReduction<T: Wide> {
        /// # Safety
        /// The processor has AVX-512.
        unsafe fn of(a: T::Register, b: T::Register) -> T::Register;
    }

    macro_rules! wide {
        ($float:ident, $register:ident: $zero:ident $load:ident $shuffle:ident,
         |$to:ident, $a:ident, $b:ident| $finish:block) => {
            impl Wide for $float {
                type Register = $register;
                const LANES: i64 = (size_of::<$register>() / size_of::<$float>()) as i64;

                #[inline(always)]
                unsafe fn fold_tile<R: WideReduction<$float>>($to: *mut $float, of: *const $float) {
                    // SAFETY: by the caller's promise, the processor has AVX-512; a tile has so many rows
                    // of a register.
                    // Test: rows_are_folded_alike_in_every_instruction_set.
                    unsafe {
                        // Loops over indices: iterators are compiled for the plain instructions, unless they
                        // happen to be inlined.
                        let mut all = [$zero(); TILE];
                        for row in 0..TILE {
                            all[row] = $load(of.add(row * Self::LANES as usize));
                        }
                        for at in 0..4 {
                            let (a, b) = (all[2 * at], all[2 * at + 1]);
                            let low = $shuffle::<0b01_00_01_00>(a, b);
                            all[at] = R::of(low, $shuffle::<0b11_10_11_10>(a, b));
                        }
                        for at in 0..2 {
                            let (a, b) = (all[2 * at], all[2 * at + 1]);
                            let low = $shuffle::<0b10_00_10_00>(a, b);
                            all[at] = R::of(low, $shuffle::<0b11_01_11_01>(a, b));
                        }
                        let [$a, $b, ..] = all;
                        $finish
                    }
                }
            }
        };
    }

    // The first and the last rows have come in turns.
    wide!(f64, __m512d: _mm512_setzero_pd _mm512_loadu_pd _mm512_shuffle_f64x2, |to, a, b| {
        let found = R::of(_mm512_unpacklo_pd(a, b), _mm512_unpackhi_pd(a, b));
        let order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
        _mm512_storeu_pd(to, _mm512_permutexvar_pd(order, found));
    });

    wide!(f32, __m512: _mm512_setzero_ps _mm512_loadu_ps _mm512_shuffle_f32x4, |to, a, b| {
        // Two lanes move as one.
        let (a, b) = (_mm512_castps_pd(a), _mm512_castps_pd(b));
        let low = _mm512_castpd_ps(_mm512_unpacklo_pd(a, b));
        let both = R::of(low, _mm512_castpd_ps(_mm512_unpackhi_pd(a, b)));
        let even = _mm512_setr_epi32(0, 4, 8, 12, 2, 6, 10, 14, 0, 0, 0, 0, 0, 0, 0, 0);
        let odd = _mm512_setr_epi32(1, 5, 9, 13, 3, 7, 11, 15, 0, 0, 0, 0, 0, 0, 0, 0);
        let low = _mm512_permutexvar_ps(even, both);
        let found = R::of(low, _mm512_permutexvar_ps(odd, both));
        _mm256_storeu_ps(to, _mm512_castps512_ps256(found));
    });

    macro_rules! reduction {
        ($kind:ident, $float:ty, |$a:ident, $b:ident| $result:expr) => {
            impl WideReduction<$float> for $kind {
                #[inline(always)]
                unsafe fn of(
                    $a: <$float as Wide>::Register,
                    $b: <$float as Wide>::Register,
                ) -> <$float as Wide>::Register {
                    // SAFETY: by the caller's promise, the processor has AVX-512.
                    unsafe { $result }
                }
            }
        };
    }

    reduction!(Sum, f64, |a, b| _mm512_add_pd(a, b));
    reduction!(Sum, f32, |a, b| _mm512_add_ps(a, b));
    reduction!(Product, f64, |a, b| _mm512_mul_pd(a, b));
    reduction!(Product, f32, |a, b| _mm512_mul_ps(a, b));
    /// The larger or the smaller numbers, as the comparison says; NaN is kept.
    macro_rules! extreme {
        ($kind:ident, $comparison:ident) => {
            reduction!($kind, f64, |a, b| {
                let nan = _mm512_cmp_pd_mask::<_CMP_UNORD_Q>(a, a);
                _mm512_mask_blend_pd(_mm512_cmp_pd_mask::<$comparison>(a, b) | nan, b, a)
            });
            reduction!($kind, f32, |a, b| {
                let nan = _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(a, a);
                _mm512_mask_blend_ps(_mm512_cmp_ps_mask::<$comparison>(a, b) | nan, b, a)
            });
        };
    }

    extreme!(Largest, _CMP_GE_OQ);
    extreme!(Smallest, _CMP_LE_OQ);
}
