//! Registers of AVX-512 as lanes.

use crate::loops::angles::Angles;
use crate::loops::exponential::Exponential;
use crate::loops::gamma::Gamma;
use crate::loops::lanes::plain_members::plain_members;
use crate::loops::lanes::{Function, Lanes, each};
use crate::loops::logarithm::{EDGES, Logarithm};
use std::arch::x86_64::*;

/// Implements [`Lanes`] for registers of AVX-512 by the instructions for their elements: `$sign` is the distance from the
/// bit of two to that of the sign.
macro_rules! register_lanes {
    (
        $register:ident, $element:ident, $int:ident, $sign:literal;
        $set1:ident $load:ident $store:ident $add:ident $sub:ident $mul:ident $fmadd:ident $div:ident
        $sqrt:ident $and:ident $andnot:ident $or:ident $xor:ident $compare:ident $blend:ident $scalef:ident
        $roundscale:ident $range:ident $getmant:ident $getexp:ident $fixupimm:ident $as_int:ident
        $of_int:ident $test:ident $set1_int:ident $shift:ident;
        table ($self:ident, $table:ident) => $taken:expr
    ) => {
        impl Lanes for $register {
            plain_members!(
                $register, $element; $set1 $load $store $add $sub $mul $fmadd $div $sqrt $and $andnot $or
            );

            #[inline(always)]
            fn below(self, bound: $register, yes: $register, no: $register) -> $register {
                // SAFETY: only functions for processors with AVX-512 have such registers.
                unsafe {
                    let mask = $compare::<_CMP_LT_OQ>(self, bound);
                    $blend(mask, no, yes)
                }
            }

            #[inline(always)]
            fn all_within(self, bound: $register) -> bool {
                // SAFETY: as above.
                unsafe { $compare::<_CMP_NLE_UQ>(self.abs(), bound) == 0 }
            }

            #[inline(always)]
            fn all_between(self, least: $register, most: $register) -> bool {
                // SAFETY: as above.
                unsafe { $compare::<_CMP_NGE_UQ>(self, least) | $compare::<_CMP_NLE_UQ>(self, most) == 0 }
            }

            #[inline(always)]
            fn if_odd(self, yes: $register, no: $register) -> $register {
                // SAFETY: as above.
                unsafe {
                    let mask = $test($as_int(self), $set1_int(1));
                    $blend(mask, no, yes)
                }
            }

            #[inline(always)]
            fn negated_by(self, t: $register) -> $register {
                // SAFETY: as above.
                unsafe {
                    let twos = _mm512_and_si512($as_int(t), $set1_int(2));
                    $xor(self, $of_int($shift::<$sign>(twos)))
                }
            }

            #[inline(always)]
            fn inverse_power(k: $register, _: $register) -> $register {
                // SAFETY: as above. Rounded down, without exceptions.
                unsafe {
                    let n = $roundscale::<9>(k);
                    $scalef(Self::all(1.0), $sub(Self::all(0.0), n))
                }
            }

            #[inline(always)]
            fn taken_from($self, $table: &[$element; 16]) -> $register {
                // SAFETY: as above; a table has 16 elements, of which instructions take four bits.
                unsafe { $taken }
            }

            #[inline(always)]
            fn within_exponents(self) -> $register {
                self // the instructions know the edges
            }

            #[inline(always)]
            fn within_decay(self) -> $register {
                self // the instructions know the edges
            }

            #[inline(always)]
            fn whole_power(k: $register, _: $register) -> $register {
                // SAFETY: as above.
                unsafe { $scalef(Self::all(1.0), k) }
            }

            #[inline(always)]
            fn at_most(self, most: $register) -> $register {
                // SAFETY: as above. The smaller size, with the sign that it has.
                unsafe { $range::<6>(self, most) }
            }

            #[inline(always)]
            fn times_power(self, k: $register, _: $register) -> $register {
                // SAFETY: as above.
                unsafe { $scalef(self, k) }
            }

            #[inline(always)]
            fn times_whole_power(self, k: $register) -> $register {
                // SAFETY: as above.
                unsafe { $scalef(self, k) }
            }

            #[inline(always)]
            fn parts(self) -> ($register, $register) {
                // SAFETY: as above.
                unsafe {
                    let m = $getmant::<_MM_MANT_NORM_P75_1P5, _MM_MANT_SIGN_NAN>(self);
                    (m, $sub($getexp(m), $getexp(self)))
                }
            }

            #[inline(always)]
            fn or_edges_of(self, u: $register) -> $register {
                // SAFETY: as above.
                unsafe { $fixupimm::<0>(self, u, $set1_int(EDGES as $int)) }
            }
        }
    };
}

register_lanes!(
    __m512d, f64, i64, 62;
    _mm512_set1_pd _mm512_loadu_pd _mm512_storeu_pd _mm512_add_pd _mm512_sub_pd _mm512_mul_pd _mm512_fmadd_pd
    _mm512_div_pd _mm512_sqrt_pd _mm512_and_pd _mm512_andnot_pd _mm512_or_pd _mm512_xor_pd _mm512_cmp_pd_mask
    _mm512_mask_blend_pd _mm512_scalef_pd _mm512_roundscale_pd _mm512_range_pd _mm512_getmant_pd
    _mm512_getexp_pd _mm512_fixupimm_pd _mm512_castpd_si512 _mm512_castsi512_pd _mm512_test_epi64_mask
    _mm512_set1_epi64 _mm512_slli_epi64;
    table (self, table) => {
        let (low, high) = (_mm512_loadu_pd(&table[0]), _mm512_loadu_pd(&table[8]));
        _mm512_permutex2var_pd(low, _mm512_castpd_si512(self), high)
    }
);
register_lanes!(
    __m512, f32, i32, 30;
    _mm512_set1_ps _mm512_loadu_ps _mm512_storeu_ps _mm512_add_ps _mm512_sub_ps _mm512_mul_ps _mm512_fmadd_ps
    _mm512_div_ps _mm512_sqrt_ps _mm512_and_ps _mm512_andnot_ps _mm512_or_ps _mm512_xor_ps _mm512_cmp_ps_mask
    _mm512_mask_blend_ps _mm512_scalef_ps _mm512_roundscale_ps _mm512_range_ps _mm512_getmant_ps
    _mm512_getexp_ps _mm512_fixupimm_ps _mm512_castps_si512 _mm512_castsi512_ps _mm512_test_epi32_mask
    _mm512_set1_epi32 _mm512_slli_epi32;
    table (self, table) => {
        let all = _mm512_loadu_ps(&table[0]);
        _mm512_permutexvar_ps(_mm512_castps_si512(self), all)
    }
);
