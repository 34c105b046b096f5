//! Registers of AVX-512 as lanes.

use crate::loops::angles::Angles;
use crate::loops::exponential::{self, Exponential};
use crate::loops::gamma::Gamma;
use crate::loops::lanes::{Function, Lanes, each};
use crate::loops::logarithm::{self, EDGES, Logarithm};
use std::arch::x86_64::*;

impl Lanes for __m512d {
    type Element = f64;
    const EXPONENTIAL: &Exponential<f64> = &exponential::OF_F64;
    const LOGARITHM: &Logarithm<f64> = &logarithm::OF_F64;
    const ANGLES: &Angles<f64> = f64::ANGLES;
    const GAMMA: &Gamma<f64> = f64::GAMMA;
    const IS_DOUBLE: bool = f64::IS_DOUBLE;

    #[inline(always)]
    fn number(x: f64) -> __m512d {
        Self::all(x)
    }

    #[inline(always)]
    fn each<F: Function>(self) -> __m512d {
        let mut own = [0.0; 8];
        // SAFETY: only functions for processors with AVX-512 have registers; `own` is as long.
        unsafe {
            _mm512_storeu_pd(own.as_mut_ptr(), self);
            for x in &mut own {
                *x = each::<F, f64>(*x);
            }
            _mm512_loadu_pd(own.as_ptr())
        }
    }

    #[inline(always)]
    fn div(self, by: __m512d) -> __m512d {
        // SAFETY: as above.
        unsafe { _mm512_div_pd(self, by) }
    }

    #[inline(always)]
    fn sqrt(self) -> __m512d {
        // SAFETY: as above.
        unsafe { _mm512_sqrt_pd(self) }
    }

    #[inline(always)]
    fn abs(self) -> __m512d {
        // SAFETY: as above.
        unsafe { _mm512_andnot_pd(Self::all(-0.0), self) }
    }

    #[inline(always)]
    fn below(self, bound: __m512d, yes: __m512d, no: __m512d) -> __m512d {
        // SAFETY: as above.
        unsafe {
            let mask = _mm512_cmp_pd_mask::<_CMP_LT_OQ>(self, bound);
            _mm512_mask_blend_pd(mask, no, yes)
        }
    }

    #[inline(always)]
    fn all_within(self, bound: __m512d) -> bool {
        // SAFETY: as above.
        unsafe { _mm512_cmp_pd_mask::<_CMP_NLE_UQ>(self.abs(), bound) == 0 }
    }

    #[inline(always)]
    fn if_odd(self, yes: __m512d, no: __m512d) -> __m512d {
        // SAFETY: as above.
        unsafe {
            let mask = _mm512_test_epi64_mask(_mm512_castpd_si512(self), _mm512_set1_epi64(1));
            _mm512_mask_blend_pd(mask, no, yes)
        }
    }

    #[inline(always)]
    fn negated_by(self, t: __m512d) -> __m512d {
        // SAFETY: as above.
        unsafe {
            let twos = _mm512_and_si512(_mm512_castpd_si512(t), _mm512_set1_epi64(2));
            _mm512_xor_pd(self, _mm512_castsi512_pd(_mm512_slli_epi64::<62>(twos)))
        }
    }

    #[inline(always)]
    fn inverse_power(k: __m512d, _: __m512d) -> __m512d {
        // SAFETY: as above. Rounded down, without exceptions.
        unsafe {
            let n = _mm512_roundscale_pd::<9>(k);
            _mm512_scalef_pd(Self::all(1.0), _mm512_sub_pd(Self::all(0.0), n))
        }
    }

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
        // SAFETY: as above.
        unsafe { _mm512_fixupimm_pd::<0>(self, u, _mm512_set1_epi64(EDGES as i64)) }
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
        exponential::terms_of_f64(r, s)
    }

    #[inline(always)]
    fn logarithm_terms(r: Self, s: Self) -> Self {
        logarithm::terms_of_f64(r, s)
    }
}

impl Lanes for __m512 {
    type Element = f32;
    const EXPONENTIAL: &Exponential<f32> = &exponential::OF_F32;
    const LOGARITHM: &Logarithm<f32> = &logarithm::OF_F32;
    const ANGLES: &Angles<f32> = f32::ANGLES;
    const GAMMA: &Gamma<f32> = f32::GAMMA;
    const IS_DOUBLE: bool = f32::IS_DOUBLE;

    #[inline(always)]
    fn number(x: f64) -> __m512 {
        Self::all(x as f32)
    }

    #[inline(always)]
    fn each<F: Function>(self) -> __m512 {
        let mut own = [0.0; 16];
        // SAFETY: only functions for processors with AVX-512 have registers; `own` is as long.
        unsafe {
            _mm512_storeu_ps(own.as_mut_ptr(), self);
            for x in &mut own {
                *x = each::<F, f32>(*x);
            }
            _mm512_loadu_ps(own.as_ptr())
        }
    }

    #[inline(always)]
    fn div(self, by: __m512) -> __m512 {
        // SAFETY: as above.
        unsafe { _mm512_div_ps(self, by) }
    }

    #[inline(always)]
    fn sqrt(self) -> __m512 {
        // SAFETY: as above.
        unsafe { _mm512_sqrt_ps(self) }
    }

    #[inline(always)]
    fn abs(self) -> __m512 {
        // SAFETY: as above.
        unsafe { _mm512_andnot_ps(Self::all(-0.0), self) }
    }

    #[inline(always)]
    fn below(self, bound: __m512, yes: __m512, no: __m512) -> __m512 {
        // SAFETY: as above.
        unsafe {
            let mask = _mm512_cmp_ps_mask::<_CMP_LT_OQ>(self, bound);
            _mm512_mask_blend_ps(mask, no, yes)
        }
    }

    #[inline(always)]
    fn all_within(self, bound: __m512) -> bool {
        // SAFETY: as above.
        unsafe { _mm512_cmp_ps_mask::<_CMP_NLE_UQ>(self.abs(), bound) == 0 }
    }

    #[inline(always)]
    fn if_odd(self, yes: __m512, no: __m512) -> __m512 {
        // SAFETY: as above.
        unsafe {
            let mask = _mm512_test_epi32_mask(_mm512_castps_si512(self), _mm512_set1_epi32(1));
            _mm512_mask_blend_ps(mask, no, yes)
        }
    }

    #[inline(always)]
    fn negated_by(self, t: __m512) -> __m512 {
        // SAFETY: as above.
        unsafe {
            let twos = _mm512_and_si512(_mm512_castps_si512(t), _mm512_set1_epi32(2));
            _mm512_xor_ps(self, _mm512_castsi512_ps(_mm512_slli_epi32::<30>(twos)))
        }
    }

    #[inline(always)]
    fn inverse_power(k: __m512, _: __m512) -> __m512 {
        // SAFETY: as above. Rounded down, without exceptions.
        unsafe {
            let n = _mm512_roundscale_ps::<9>(k);
            _mm512_scalef_ps(Self::all(1.0), _mm512_sub_ps(Self::all(0.0), n))
        }
    }

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
        // SAFETY: as above.
        unsafe { _mm512_fixupimm_ps::<0>(self, u, _mm512_set1_epi32(EDGES as i32)) }
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
        exponential::terms_of_f32(r)
    }

    #[inline(always)]
    fn logarithm_terms(r: Self, s: Self) -> Self {
        logarithm::terms_of_f32(r, s)
    }
}
