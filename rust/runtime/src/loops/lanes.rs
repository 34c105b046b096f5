//! What `exp` and `log` are made of: the same operations on one element, or on a register of them.

use crate::loops::exponential::{self, Exponential};
use crate::loops::logarithm::{self, Logarithm};

/// An element, or a register of elements.
pub(super) trait Lanes: Copy {
    type Element: Copy + 'static;
    const EXPONENTIAL: &'static Exponential<Self::Element>;
    const LOGARITHM: &'static Logarithm<Self::Element>;

    fn all(x: Self::Element) -> Self;
    fn all_minus_one() -> Self;
    /// `self * by + more`, rounded once.
    fn fma(self, by: Self, more: Self) -> Self;
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    /// What the last four bits say of the table.
    fn taken_from(self, table: &[Self::Element; 16]) -> Self;

    /// The number, or one that is as good where its exponential is infinity or 0.
    fn within_exponents(self) -> Self;
    /// The number, or `most` with its sign where that is smaller.
    fn at_most(self, most: Self) -> Self;
    /// The product with 2 to the power of the floor of `k`, rounded once; `t` has its sixteenths.
    fn times_power(self, k: Self, t: Self) -> Self;
    fn exponential_terms(r: Self, s: Self) -> Self;

    /// `m` from 3/4 to 3/2 and the whole `k` for which the number is `m` over 2 to the power of `k`.
    fn parts(self) -> (Self, Self);
    /// The product with 2 to the power of a whole number.
    fn times_whole_power(self, k: Self) -> Self;
    fn logarithm_terms(r: Self, s: Self) -> Self;
    /// The logarithm of `u`, if that is a zero, infinity, NaN or negative.
    fn or_edges_of(self, u: Self) -> Self;
    fn with_sign_of(self, x: Self) -> Self;
}

impl Lanes for f64 {
    type Element = f64;
    const EXPONENTIAL: &Exponential<f64> = &exponential::OF_F64;
    const LOGARITHM: &Logarithm<f64> = &logarithm::OF_F64;

    #[inline(always)]
    fn all(x: f64) -> f64 {
        x
    }

    #[inline(always)]
    fn all_minus_one() -> f64 {
        -1.0
    }

    #[inline(always)]
    fn fma(self, by: f64, more: f64) -> f64 {
        self.mul_add(by, more)
    }

    #[inline(always)]
    fn add(self, other: f64) -> f64 {
        self + other
    }

    #[inline(always)]
    fn sub(self, other: f64) -> f64 {
        self - other
    }

    #[inline(always)]
    fn mul(self, other: f64) -> f64 {
        self * other
    }

    #[inline(always)]
    fn taken_from(self, table: &[f64; 16]) -> f64 {
        table[(self.to_bits() & 15) as usize]
    }

    #[inline(always)]
    fn within_exponents(self) -> f64 {
        // Beyond these it is infinity and 0; NaN stays.
        let x = if self > 710.0 { 710.0 } else { self };
        if x < -746.0 { -746.0 } else { x }
    }

    #[inline(always)]
    fn at_most(self, _: f64) -> f64 {
        self // as its argument is within exponents
    }

    #[inline(always)]
    fn times_power(self, _: f64, t: f64) -> f64 {
        // Sixteenths, of which the floor of the number is left.
        let magic = Self::EXPONENTIAL.magic.to_bits();
        let n = (t.to_bits().wrapping_sub(magic) as i64) >> 4;
        // By halves: one of them alone may be no normal number.
        let half = n >> 1;
        let power = |n: i64| f64::from_bits(((n.wrapping_add(1023)) as u64) << 52);
        self * power(half) * power(n.wrapping_sub(half))
    }

    #[inline(always)]
    fn times_whole_power(self, k: f64) -> f64 {
        // What is lost is 0 where the power is no normal number.
        let n = if k < -1022.0 { -1022 } else { k as i32 };
        self * f64::from_bits((i64::from(n).wrapping_add(1023) as u64) << 52)
    }

    #[inline(always)]
    fn parts(self) -> (f64, f64) {
        const LEAST: u64 = 0x3fe8_0000_0000_0000;
        let is_small = self < f64::MIN_POSITIVE;
        let normal = if is_small { self * 18_014_398_509_481_984.0 } else { self };
        let bits = normal.to_bits();
        let exponent = (bits.wrapping_sub(LEAST) as i64) >> 52;
        let m = f64::from_bits(bits.wrapping_sub((exponent as u64) << 52));
        let lifted = if is_small { 54 } else { 0 };
        (m, (lifted - exponent as i32) as f64)
    }

    #[inline(always)]
    fn or_edges_of(self, u: f64) -> f64 {
        let made = if u == f64::INFINITY { u } else { self };
        let made = if u == 0.0 { f64::NEG_INFINITY } else { made };
        // Negative numbers, and NaN, have none.
        if u >= 0.0 { made } else { f64::NAN }
    }

    #[inline(always)]
    fn with_sign_of(self, x: f64) -> f64 {
        self.copysign(x)
    }

    #[inline(always)]
    fn exponential_terms(r: Self, s: Self) -> Self {
        let term = |at: usize| Self::all(exponential::TERMS_OF_F64[at]);
        let high = s.fma(term(4), r.fma(term(3), term(2)));
        s.fma(high, r.fma(term(1), term(0)))
    }

    #[inline(always)]
    fn logarithm_terms(r: Self, s: Self) -> Self {
        let term = |at: usize| Self::all(logarithm::TERMS_OF_F64[at]);
        let pair = |at: usize| r.fma(term(2 * at + 1), term(2 * at));
        let fourth = s.mul(s);
        let (low, middle) = (s.fma(pair(1), pair(0)), s.fma(pair(3), pair(2)));
        fourth.fma(fourth.fma(pair(4), middle), low)
    }
}

impl Lanes for f32 {
    type Element = f32;
    const EXPONENTIAL: &Exponential<f32> = &exponential::OF_F32;
    const LOGARITHM: &Logarithm<f32> = &logarithm::OF_F32;

    #[inline(always)]
    fn all(x: f32) -> f32 {
        x
    }

    #[inline(always)]
    fn all_minus_one() -> f32 {
        -1.0
    }

    #[inline(always)]
    fn fma(self, by: f32, more: f32) -> f32 {
        self.mul_add(by, more)
    }

    #[inline(always)]
    fn add(self, other: f32) -> f32 {
        self + other
    }

    #[inline(always)]
    fn sub(self, other: f32) -> f32 {
        self - other
    }

    #[inline(always)]
    fn mul(self, other: f32) -> f32 {
        self * other
    }

    #[inline(always)]
    fn taken_from(self, table: &[f32; 16]) -> f32 {
        table[(self.to_bits() & 15) as usize]
    }

    #[inline(always)]
    fn within_exponents(self) -> f32 {
        // Beyond these it is infinity and 0; NaN stays.
        let x = if self > 89.0 { 89.0 } else { self };
        if x < -105.0 { -105.0 } else { x }
    }

    #[inline(always)]
    fn at_most(self, _: f32) -> f32 {
        self // as its argument is within exponents
    }

    #[inline(always)]
    fn times_power(self, _: f32, t: f32) -> f32 {
        // Sixteenths, of which the floor of the number is left.
        let magic = Self::EXPONENTIAL.magic.to_bits();
        let n = (t.to_bits().wrapping_sub(magic) as i32) >> 4;
        // By halves: one of them alone may be no normal number.
        let half = n >> 1;
        let power = |n: i32| f32::from_bits(((n.wrapping_add(127)) as u32) << 23);
        self * power(half) * power(n.wrapping_sub(half))
    }

    #[inline(always)]
    fn times_whole_power(self, k: f32) -> f32 {
        // What is lost is 0 where the power is no normal number.
        let n = if k < -126.0 { -126 } else { k as i32 };
        self * f32::from_bits((n.wrapping_add(127) as u32) << 23)
    }

    #[inline(always)]
    fn parts(self) -> (f32, f32) {
        const LEAST: u32 = 0x3f40_0000;
        let is_small = self < f32::MIN_POSITIVE;
        let normal = if is_small { self * 16_777_216.0 } else { self };
        let bits = normal.to_bits();
        let exponent = (bits.wrapping_sub(LEAST) as i32) >> 23;
        let m = f32::from_bits(bits.wrapping_sub((exponent as u32) << 23));
        let lifted = if is_small { 24 } else { 0 };
        (m, (lifted - exponent) as f32)
    }

    #[inline(always)]
    fn or_edges_of(self, u: f32) -> f32 {
        let made = if u == f32::INFINITY { u } else { self };
        let made = if u == 0.0 { f32::NEG_INFINITY } else { made };
        // Negative numbers, and NaN, have none.
        if u >= 0.0 { made } else { f32::NAN }
    }

    #[inline(always)]
    fn with_sign_of(self, x: f32) -> f32 {
        self.copysign(x)
    }

    #[inline(always)]
    fn exponential_terms(r: Self, _: Self) -> Self {
        let term = |at: usize| Self::all(exponential::TERMS_OF_F32[at]);
        r.fma(term(1), term(0))
    }

    #[inline(always)]
    fn logarithm_terms(r: Self, s: Self) -> Self {
        let term = |at: usize| Self::all(logarithm::TERMS_OF_F32[at]);
        s.fma(s.fma(term(4), r.fma(term(3), term(2))), r.fma(term(1), term(0)))
    }
}

#[cfg(target_arch = "x86_64")]
mod registers {
    use super::{Exponential, Lanes, Logarithm, exponential, logarithm};
    use std::arch::x86_64::*;

    impl Lanes for __m512d {
        type Element = f64;
        const EXPONENTIAL: &Exponential<f64> = &exponential::OF_F64;
        const LOGARITHM: &Logarithm<f64> = &logarithm::OF_F64;

        #[inline(always)]
        fn all(x: f64) -> __m512d {
            // SAFETY: only functions for processors with AVX-512 have registers.
            unsafe { _mm512_set1_pd(x) }
        }

        #[inline(always)]
        fn all_minus_one() -> __m512d {
            Self::all(-1.0)
        }

        #[inline(always)]
        fn fma(self, by: __m512d, more: __m512d) -> __m512d {
            // SAFETY: as above.
            unsafe { _mm512_fmadd_pd(self, by, more) }
        }

        #[inline(always)]
        fn add(self, other: __m512d) -> __m512d {
            // SAFETY: as above.
            unsafe { _mm512_add_pd(self, other) }
        }

        #[inline(always)]
        fn sub(self, other: __m512d) -> __m512d {
            // SAFETY: as above.
            unsafe { _mm512_sub_pd(self, other) }
        }

        #[inline(always)]
        fn mul(self, other: __m512d) -> __m512d {
            // SAFETY: as above.
            unsafe { _mm512_mul_pd(self, other) }
        }

        #[inline(always)]
        fn taken_from(self, table: &[f64; 16]) -> __m512d {
            // SAFETY: as above; a table has 16 elements, of which instructions take four bits.
            unsafe {
                let (low, high) = (_mm512_loadu_pd(&table[0]), _mm512_loadu_pd(&table[8]));
                _mm512_permutex2var_pd(low, _mm512_castpd_si512(self), high)
            }
        }

        #[inline(always)]
        fn within_exponents(self) -> __m512d {
            self // the instructions know the edges
        }

        #[inline(always)]
        fn at_most(self, most: __m512d) -> __m512d {
            // SAFETY: as above. The smaller size, with the sign that it has.
            unsafe { _mm512_range_pd::<6>(self, most) }
        }

        #[inline(always)]
        fn times_power(self, k: __m512d, _: __m512d) -> __m512d {
            // SAFETY: as above.
            unsafe { _mm512_scalef_pd(self, k) }
        }

        #[inline(always)]
        fn times_whole_power(self, k: __m512d) -> __m512d {
            // SAFETY: as above.
            unsafe { _mm512_scalef_pd(self, k) }
        }

        #[inline(always)]
        fn parts(self) -> (__m512d, __m512d) {
            // SAFETY: as above.
            unsafe {
                let m = _mm512_getmant_pd::<_MM_MANT_NORM_P75_1P5, _MM_MANT_SIGN_NAN>(self);
                (m, _mm512_sub_pd(_mm512_getexp_pd(m), _mm512_getexp_pd(self)))
            }
        }

        #[inline(always)]
        fn or_edges_of(self, u: __m512d) -> __m512d {
            // SAFETY: as above. What the instruction makes of zeros, infinities, NaN and negative
            // numbers.
            unsafe { _mm512_fixupimm_pd::<0>(self, u, _mm512_set1_epi64(0x353_0422)) }
        }

        #[inline(always)]
        fn with_sign_of(self, x: __m512d) -> __m512d {
            // SAFETY: as above.
            unsafe {
                let sign = _mm512_set1_pd(-0.0);
                _mm512_or_pd(_mm512_andnot_pd(sign, self), _mm512_and_pd(sign, x))
            }
        }

        #[inline(always)]
        fn exponential_terms(r: Self, s: Self) -> Self {
            let term = |at: usize| Self::all(exponential::TERMS_OF_F64[at]);
            let high = s.fma(term(4), r.fma(term(3), term(2)));
            s.fma(high, r.fma(term(1), term(0)))
        }

        #[inline(always)]
        fn logarithm_terms(r: Self, s: Self) -> Self {
            let term = |at: usize| Self::all(logarithm::TERMS_OF_F64[at]);
            let pair = |at: usize| r.fma(term(2 * at + 1), term(2 * at));
            let fourth = s.mul(s);
            let (low, middle) = (s.fma(pair(1), pair(0)), s.fma(pair(3), pair(2)));
            fourth.fma(fourth.fma(pair(4), middle), low)
        }
    }

    impl Lanes for __m512 {
        type Element = f32;
        const EXPONENTIAL: &Exponential<f32> = &exponential::OF_F32;
        const LOGARITHM: &Logarithm<f32> = &logarithm::OF_F32;

        #[inline(always)]
        fn all(x: f32) -> __m512 {
            // SAFETY: only functions for processors with AVX-512 have registers.
            unsafe { _mm512_set1_ps(x) }
        }

        #[inline(always)]
        fn all_minus_one() -> __m512 {
            Self::all(-1.0)
        }

        #[inline(always)]
        fn fma(self, by: __m512, more: __m512) -> __m512 {
            // SAFETY: as above.
            unsafe { _mm512_fmadd_ps(self, by, more) }
        }

        #[inline(always)]
        fn add(self, other: __m512) -> __m512 {
            // SAFETY: as above.
            unsafe { _mm512_add_ps(self, other) }
        }

        #[inline(always)]
        fn sub(self, other: __m512) -> __m512 {
            // SAFETY: as above.
            unsafe { _mm512_sub_ps(self, other) }
        }

        #[inline(always)]
        fn mul(self, other: __m512) -> __m512 {
            // SAFETY: as above.
            unsafe { _mm512_mul_ps(self, other) }
        }

        #[inline(always)]
        fn taken_from(self, table: &[f32; 16]) -> __m512 {
            // SAFETY: as above; a table has 16 elements, of which instructions take four bits.
            unsafe {
                let all = _mm512_loadu_ps(&table[0]);
                _mm512_permutexvar_ps(_mm512_castps_si512(self), all)
            }
        }

        #[inline(always)]
        fn within_exponents(self) -> __m512 {
            self // the instructions know the edges
        }

        #[inline(always)]
        fn at_most(self, most: __m512) -> __m512 {
            // SAFETY: as above. The smaller size, with the sign that it has.
            unsafe { _mm512_range_ps::<6>(self, most) }
        }

        #[inline(always)]
        fn times_power(self, k: __m512, _: __m512) -> __m512 {
            // SAFETY: as above.
            unsafe { _mm512_scalef_ps(self, k) }
        }

        #[inline(always)]
        fn times_whole_power(self, k: __m512) -> __m512 {
            // SAFETY: as above.
            unsafe { _mm512_scalef_ps(self, k) }
        }

        #[inline(always)]
        fn parts(self) -> (__m512, __m512) {
            // SAFETY: as above.
            unsafe {
                let m = _mm512_getmant_ps::<_MM_MANT_NORM_P75_1P5, _MM_MANT_SIGN_NAN>(self);
                (m, _mm512_sub_ps(_mm512_getexp_ps(m), _mm512_getexp_ps(self)))
            }
        }

        #[inline(always)]
        fn or_edges_of(self, u: __m512) -> __m512 {
            // SAFETY: as above. What the instruction makes of zeros, infinities, NaN and negative
            // numbers.
            unsafe { _mm512_fixupimm_ps::<0>(self, u, _mm512_set1_epi32(0x353_0422)) }
        }

        #[inline(always)]
        fn with_sign_of(self, x: __m512) -> __m512 {
            // SAFETY: as above.
            unsafe {
                let sign = _mm512_set1_ps(-0.0);
                _mm512_or_ps(_mm512_andnot_ps(sign, self), _mm512_and_ps(sign, x))
            }
        }

        #[inline(always)]
        fn exponential_terms(r: Self, _: Self) -> Self {
            let term = |at: usize| Self::all(exponential::TERMS_OF_F32[at]);
            r.fma(term(1), term(0))
        }

        #[inline(always)]
        fn logarithm_terms(r: Self, s: Self) -> Self {
            let term = |at: usize| Self::all(logarithm::TERMS_OF_F32[at]);
            s.fma(s.fma(term(4), r.fma(term(3), term(2))), r.fma(term(1), term(0)))
        }
    }
}
