//! Registers of AVX2 as lanes: the operations of single elements, where AVX-512 has instructions of its own.

use crate::loops::angles::Angles;
use crate::loops::exponential::{self, DECAYED, Exponential};
use crate::loops::gamma::Gamma;
use crate::loops::lanes::plain_members::plain_members;
use crate::loops::lanes::{Function, Lanes, each};
use crate::loops::logarithm::{self, Logarithm};
use std::arch::x86_64::*;

/// The operations that depend on how many bits an exponent and a fraction have.
///
/// AVX2 shifts signed integers of 32 bits alone. So exponents of float64 are computed as such, in the upper half of
/// each element; the lower half is 0.
///
/// # Safety
/// The processor has AVX2 and FMA.
trait Exponents: Lanes {
    /// A whole number where the exponents are computed.
    unsafe fn whole(n: i32) -> __m256i;
    /// The floor of the number of which `self` counts the sixteenths.
    unsafe fn floor(self) -> __m256i;
    /// The number whose exponent has these bits, with the fraction of 1.
    unsafe fn of_exponent(bits: __m256i) -> Self;
    /// The product with 2 to the power of a whole number that is no less than that of the least normal one.
    unsafe fn power_of_whole(k: Self) -> Self;
    /// From 3/4 to 3/2 times a power of two, and the negative exponent of that.
    unsafe fn split(normal: Self) -> (Self, Self);
    unsafe fn entry(table: &[Self::Element; 16], at: Self) -> Self;
    /// As [`Lanes::power_and_rest`].
    unsafe fn power_pair(at: Self) -> (Self, Self);
    /// As [`Lanes::whole_power_and_rest`].
    unsafe fn whole_power_pair(at: Self) -> (Self, Self);
    /// As [`Lanes::reciprocal_and_logs`].
    unsafe fn logs(at: Self) -> (Self, Self, Self);
}

/// Two tables of 16 numbers whose entries lie side by side: one load takes both.
#[repr(align(64))]
struct Pairs([[f64; 2]; 16]);

impl Pairs {
    const fn of(first: &[f64; 16], second: &[f64; 16]) -> Pairs {
        let mut all = [[0.0; 2]; 16];
        let mut at = 0;
        while at < 16 {
            all[at] = [first[at], second[at]];
            at += 1;
        }
        Pairs(all)
    }

    /// The entries at the last four bits.
    ///
    /// # Safety
    /// The processor has AVX2.
    #[inline(always)]
    unsafe fn at(&self, at: __m256d) -> (__m256d, __m256d) {
        // SAFETY: by the caller's promise; four bits are a place of the table.
        unsafe {
            let places = _mm256_and_si256(_mm256_castpd_si256(at), _mm256_set1_epi64x(15));
            let low = _mm256_castsi256_si128(places);
            let high = _mm256_extracti128_si256::<1>(places);
            let own = |at: i64| _mm_load_pd(self.0.get_unchecked(at as usize).as_ptr());
            let even = _mm256_set_m128d(own(_mm_cvtsi128_si64(high)), own(_mm_cvtsi128_si64(low)));
            let odd = _mm256_set_m128d(
                own(_mm_extract_epi64::<1>(high)),
                own(_mm_extract_epi64::<1>(low)),
            );
            (_mm256_unpacklo_pd(even, odd), _mm256_unpackhi_pd(even, odd))
        }
    }
}

/// Powers without the bits that their sixteenths are where they are shifted into exponent and fraction.
macro_rules! lowered {
    ($powers:expr, $float:ident, $bits:ident, $shift:literal) => {{
        let mut own: [$float; 16] = $powers;
        let mut at = 0;
        while at < 16 {
            own[at] = $float::from_bits(own[at].to_bits() - ((at as $bits) << $shift));
            at += 1;
        }
        own
    }};
}

static POWERS: Pairs = Pairs::of(&exponential::OF_F64.powers, &exponential::OF_F64.rests);
static LOWERED: Pairs =
    Pairs::of(&lowered!(exponential::OF_F64.powers, f64, u64, 48), &exponential::OF_F64.rests);
static LOWERED_OF_F32: [f32; 16] = lowered!(exponential::OF_F32.powers, f32, u32, 19);
static LOGARITHMS: Pairs = Pairs::of(&logarithm::OF_F64.high, &logarithm::OF_F64.low);

/// The second highest byte of each reciprocal: the highest is always that of 1/2 and 1, and the others are 0.
const fn bytes_of_reciprocals() -> [u8; 16] {
    let mut own = [0; 16];
    let mut at = 0;
    while at < 16 {
        let bits = logarithm::OF_F64.reciprocals[at].to_bits();
        assert!(bits == 0 || bits >> 56 == 0x3f && bits << 16 == 0);
        own[at] = (bits >> 48) as u8;
        at += 1;
    }
    own
}

static RECIPROCALS: [u8; 16] = bytes_of_reciprocals();

impl Exponents for __m256d {
    #[inline(always)]
    unsafe fn whole(n: i32) -> __m256i {
        // SAFETY: by the caller's promise, the processor has AVX2 and FMA.
        unsafe { _mm256_set1_epi64x(i64::from(n) << 32) }
    }

    #[inline(always)]
    unsafe fn floor(self) -> __m256i {
        // SAFETY: as above. The lower half of what was added to count sixteenths is 0.
        unsafe { _mm256_srai_epi32::<4>(_mm256_slli_epi64::<32>(_mm256_castpd_si256(self))) }
    }

    #[inline(always)]
    unsafe fn of_exponent(bits: __m256i) -> __m256d {
        // SAFETY: as above.
        unsafe { _mm256_castsi256_pd(_mm256_slli_epi32::<20>(bits)) }
    }

    #[inline(always)]
    unsafe fn power_of_whole(k: __m256d) -> __m256d {
        // SAFETY: as above. The last bits of the sum are those of the exponent.
        unsafe {
            let sum = _mm256_add_pd(k, _mm256_set1_pd(6_755_399_441_055_744.0 + 1023.0));
            _mm256_castsi256_pd(_mm256_slli_epi64::<52>(_mm256_castpd_si256(sum)))
        }
    }

    #[inline(always)]
    unsafe fn split(normal: __m256d) -> (__m256d, __m256d) {
        const LEAST: i64 = 0.75f64.to_bits() as i64;
        // SAFETY: as above. As the sign is the other one, the exponent is a number from 0 on, which lies as the
        // last bits of a float64 before it is taken from that.
        unsafe {
            let off = _mm256_sub_epi64(
                _mm256_castpd_si256(normal),
                _mm256_set1_epi64x(LEAST.wrapping_add(i64::MIN)),
            );
            let fraction = _mm256_and_si256(off, _mm256_set1_epi64x((1 << 52) - 1));
            let m = _mm256_add_epi64(fraction, _mm256_set1_epi64x(LEAST));
            let magic = _mm256_set1_pd(4_503_599_627_370_496.0);
            let exponent = _mm256_or_pd(_mm256_castsi256_pd(_mm256_srli_epi64::<52>(off)), magic);
            let zero = _mm256_set1_pd(4_503_599_627_370_496.0 + 2048.0);
            (_mm256_castsi256_pd(m), _mm256_sub_pd(zero, exponent))
        }
    }

    #[inline(always)]
    unsafe fn entry(table: &[f64; 16], at: __m256d) -> __m256d {
        // SAFETY: as above; four bits are a place of the table.
        unsafe {
            let places = _mm256_and_si256(_mm256_castpd_si256(at), _mm256_set1_epi64x(15));
            let low = _mm256_castsi256_si128(places);
            let high = _mm256_extracti128_si256::<1>(places);
            let own = |at: i64| *table.get_unchecked(at as usize);
            _mm256_set_pd(
                own(_mm_extract_epi64::<1>(high)),
                own(_mm_cvtsi128_si64(high)),
                own(_mm_extract_epi64::<1>(low)),
                own(_mm_cvtsi128_si64(low)),
            )
        }
    }

    #[inline(always)]
    unsafe fn power_pair(at: __m256d) -> (__m256d, __m256d) {
        // SAFETY: as above.
        unsafe { POWERS.at(at) }
    }

    #[inline(always)]
    unsafe fn whole_power_pair(at: __m256d) -> (__m256d, __m256d) {
        // SAFETY: as above.
        unsafe {
            let (lowered, rest) = LOWERED.at(at);
            let own = _mm256_slli_epi64::<48>(_mm256_castpd_si256(at));
            (_mm256_castsi256_pd(_mm256_add_epi64(_mm256_castpd_si256(lowered), own)), rest)
        }
    }

    #[inline(always)]
    unsafe fn logs(at: __m256d) -> (__m256d, __m256d, __m256d) {
        // SAFETY: as above. A byte that asks for the place 128 is 0.
        unsafe {
            let own = _mm256_slli_epi64::<48>(_mm256_castpd_si256(at));
            let places = _mm256_and_si256(own, _mm256_set1_epi64x(15 << 48));
            let places = _mm256_or_si256(places, _mm256_set1_epi64x(-0x7fff_7f7f_7f7f_7f80));
            let table = _mm256_broadcastsi128_si256(_mm_loadu_si128(RECIPROCALS.as_ptr().cast()));
            let bytes = _mm256_shuffle_epi8(table, places);
            let reciprocal = _mm256_or_si256(bytes, _mm256_set1_epi64x(0x3f << 56));
            let (high, low) = LOGARITHMS.at(at);
            (_mm256_castsi256_pd(reciprocal), high, low)
        }
    }
}

impl Exponents for __m256 {
    #[inline(always)]
    unsafe fn whole(n: i32) -> __m256i {
        // SAFETY: by the caller's promise, the processor has AVX2 and FMA.
        unsafe { _mm256_set1_epi32(n) }
    }

    #[inline(always)]
    unsafe fn floor(self) -> __m256i {
        // SAFETY: as above.
        unsafe {
            let magic = _mm256_set1_epi32(Self::EXPONENTIAL.magic.to_bits() as i32);
            _mm256_srai_epi32::<4>(_mm256_sub_epi32(_mm256_castps_si256(self), magic))
        }
    }

    #[inline(always)]
    unsafe fn of_exponent(bits: __m256i) -> __m256 {
        // SAFETY: as above.
        unsafe { _mm256_castsi256_ps(_mm256_slli_epi32::<23>(bits)) }
    }

    #[inline(always)]
    unsafe fn power_of_whole(k: __m256) -> __m256 {
        // SAFETY: as above.
        unsafe { Self::of_exponent(_mm256_add_epi32(_mm256_cvtps_epi32(k), Self::whole(127))) }
    }

    #[inline(always)]
    unsafe fn split(normal: __m256) -> (__m256, __m256) {
        const LEAST: i32 = 0.75f32.to_bits() as i32;
        // SAFETY: as above.
        unsafe {
            let off = _mm256_sub_epi32(_mm256_castps_si256(normal), Self::whole(LEAST));
            let fraction = _mm256_and_si256(off, Self::whole((1 << 23) - 1));
            let m = _mm256_add_epi32(fraction, Self::whole(LEAST));
            let negative = _mm256_sub_epi32(_mm256_setzero_si256(), _mm256_srai_epi32::<23>(off));
            (_mm256_castsi256_ps(m), _mm256_cvtepi32_ps(negative))
        }
    }

    #[inline(always)]
    unsafe fn entry(table: &[f32; 16], at: __m256) -> __m256 {
        // SAFETY: as above; the table has 16 elements, and three bits choose one of a half.
        unsafe {
            let bits = _mm256_castps_si256(at);
            let low = _mm256_permutevar8x32_ps(_mm256_loadu_ps(table.as_ptr()), bits);
            let high = _mm256_permutevar8x32_ps(_mm256_loadu_ps(table.as_ptr().add(8)), bits);
            let upper = _mm256_castsi256_ps(_mm256_slli_epi32::<28>(bits));
            _mm256_blendv_ps(low, high, upper)
        }
    }

    #[inline(always)]
    unsafe fn power_pair(at: __m256) -> (__m256, __m256) {
        // SAFETY: as above.
        unsafe {
            (
                Self::entry(&exponential::OF_F32.powers, at),
                Self::entry(&exponential::OF_F32.rests, at),
            )
        }
    }

    #[inline(always)]
    unsafe fn whole_power_pair(at: __m256) -> (__m256, __m256) {
        // SAFETY: as above.
        unsafe {
            let lowered = _mm256_castps_si256(Self::entry(&LOWERED_OF_F32, at));
            let own = _mm256_slli_epi32::<19>(_mm256_castps_si256(at));
            let power = _mm256_castsi256_ps(_mm256_add_epi32(lowered, own));
            (power, Self::entry(&exponential::OF_F32.rests, at))
        }
    }

    #[inline(always)]
    unsafe fn logs(at: __m256) -> (__m256, __m256, __m256) {
        let tables = &logarithm::OF_F32;
        // SAFETY: as above.
        unsafe {
            let reciprocal = Self::entry(&tables.reciprocals, at);
            (reciprocal, Self::entry(&tables.high, at), Self::entry(&tables.low, at))
        }
    }
}

/// Implements [`Lanes`] for registers of AVX2 by the instructions for their elements. Numbers are as for single
/// elements; `$top` is the distance from the last bit to that of the sign.
macro_rules! short_register_lanes {
    (
        $register:ident, $element:ident;
        bias $bias:literal, above $above:literal, below $below:literal, lift $lift:literal, top $top:literal,
        fraction $fraction:literal;
        $set1:ident $load:ident $store:ident $add:ident $sub:ident $mul:ident $fmadd:ident $div:ident
        $sqrt:ident $min:ident $max:ident $and:ident $andnot:ident $or:ident $xor:ident $compare:ident
        $blend:ident $signs:ident $as_int:ident $of_int:ident $left:ident
    ) => {
        impl Lanes for $register {
            const ASKS: bool = true;

            plain_members!(
                $register, $element; $set1 $load $store $add $sub $mul $fmadd $div $sqrt $and $andnot $or
            );

            #[inline(always)]
            fn below(self, bound: $register, yes: $register, no: $register) -> $register {
                // SAFETY: only functions for processors with AVX2 and FMA have such registers.
                unsafe { $blend(no, yes, $compare::<_CMP_LT_OQ>(self, bound)) }
            }

            #[inline(always)]
            fn all_within(self, bound: $register) -> bool {
                // SAFETY: as above.
                unsafe { $signs($compare::<_CMP_NLE_UQ>(self.abs(), bound)) == 0 }
            }

            #[inline(always)]
            fn all_between(self, least: $register, most: $register) -> bool {
                // SAFETY: as above.
                unsafe {
                    let below = $compare::<_CMP_NGE_UQ>(self, least);
                    $signs($or(below, $compare::<_CMP_NLE_UQ>(self, most))) == 0
                }
            }

            #[inline(always)]
            fn power_and_rest(self) -> ($register, $register) {
                // SAFETY: as above.
                unsafe { Self::power_pair(self) }
            }

            #[inline(always)]
            fn whole_power_and_rest(self, _: $register) -> ($register, $register) {
                // SAFETY: as above.
                unsafe { Self::whole_power_pair(self) }
            }

            #[inline(always)]
            fn reciprocal_and_logs(self) -> ($register, $register, $register) {
                // SAFETY: as above.
                unsafe { Self::logs(self) }
            }

            #[inline(always)]
            fn normal_parts(self) -> ($register, $register) {
                // SAFETY: as above.
                unsafe { Self::split(self) }
            }

            #[inline(always)]
            fn if_odd(self, yes: $register, no: $register) -> $register {
                // SAFETY: as above. The last bit goes where that of the sign is, which chooses.
                unsafe { $blend(no, yes, $of_int($left::<$top>($as_int(self)))) }
            }

            #[inline(always)]
            fn negated_by(self, t: $register) -> $register {
                // SAFETY: as above.
                unsafe {
                    let twos = $of_int($left::<{ $top - 1 }>($as_int(t)));
                    $xor(self, $and(Self::all(-0.0), twos))
                }
            }

            #[inline(always)]
            fn inverse_power(_: $register, t: $register) -> $register {
                // SAFETY: as above.
                unsafe {
                    let bias = Self::whole($bias);
                    let least = _mm256_min_epi32(t.floor(), bias);
                    Self::of_exponent(_mm256_sub_epi32(bias, least))
                }
            }

            #[inline(always)]
            fn taken_from(self, table: &[$element; 16]) -> $register {
                // SAFETY: as above.
                unsafe { Self::entry(table, self) }
            }

            #[inline(always)]
            fn within_exponents(self) -> $register {
                // SAFETY: as above. Of a NaN and a number, both instructions give their second operand.
                unsafe { $max(Self::all($below), $min(Self::all($above), self)) }
            }

            #[inline(always)]
            fn within_decay(self) -> $register {
                // SAFETY: as above. Of a NaN and a number, the instruction gives its second operand.
                unsafe { $max(Self::all(DECAYED as $element), self) }
            }

            #[inline(always)]
            fn whole_power(_: $register, t: $register) -> $register {
                // SAFETY: as above.
                unsafe { $of_int($left::<$fraction>($as_int(t))) }
            }

            #[inline(always)]
            fn at_most(self, _: $register) -> $register {
                self // as its argument is within exponents
            }

            #[inline(always)]
            fn times_power(self, _: $register, t: $register) -> $register {
                // SAFETY: as above. By halves: one of them alone may be no normal number.
                unsafe {
                    let n = t.floor();
                    let half = _mm256_srai_epi32::<1>(n);
                    let power = |n| Self::of_exponent(_mm256_add_epi32(n, Self::whole($bias)));
                    self.mul(power(half)).mul(power(_mm256_sub_epi32(n, half)))
                }
            }

            #[inline(always)]
            fn times_whole_power(self, k: $register) -> $register {
                // SAFETY: as above. The lost part is 0 if the power is no normal number.
                unsafe {
                    self.mul(Self::power_of_whole($max(Self::all(1.0 - $bias as $element), k)))
                }
            }

            #[inline(always)]
            fn parts(self) -> ($register, $register) {
                // SAFETY: as above.
                unsafe {
                    let least = Self::all($element::MIN_POSITIVE);
                    let is_small = $compare::<_CMP_LT_OQ>(self, least);
                    let lifted = self.mul(Self::all((1u64 << $lift) as $element));
                    let normal = $blend(self, lifted, is_small);
                    let (m, k) = Self::split(normal);
                    (m, $add($and(is_small, Self::all($lift as $element)), k))
                }
            }

            #[inline(always)]
            fn or_edges_of(self, u: $register) -> $register {
                // SAFETY: as above. All bits set are a NaN, which negative numbers have, and NaN.
                unsafe {
                    let (zero, infinity) = (Self::all(0.0), Self::all($element::INFINITY));
                    let made = $blend(self, u, $compare::<_CMP_EQ_OQ>(u, infinity));
                    let is_zero = $compare::<_CMP_EQ_OQ>(u, zero);
                    let made = $blend(made, Self::all($element::NEG_INFINITY), is_zero);
                    $or(made, $compare::<_CMP_NGE_UQ>(u, zero))
                }
            }
        }
    };
}

short_register_lanes!(
    __m256d, f64;
    bias 1023, above 710.0, below -746.0, lift 54, top 63, fraction 52;
    _mm256_set1_pd _mm256_loadu_pd _mm256_storeu_pd _mm256_add_pd _mm256_sub_pd _mm256_mul_pd _mm256_fmadd_pd
    _mm256_div_pd _mm256_sqrt_pd _mm256_min_pd _mm256_max_pd _mm256_and_pd _mm256_andnot_pd _mm256_or_pd
    _mm256_xor_pd _mm256_cmp_pd _mm256_blendv_pd _mm256_movemask_pd _mm256_castpd_si256 _mm256_castsi256_pd
    _mm256_slli_epi64
);
short_register_lanes!(
    __m256, f32;
    bias 127, above 89.0, below -105.0, lift 24, top 31, fraction 23;
    _mm256_set1_ps _mm256_loadu_ps _mm256_storeu_ps _mm256_add_ps _mm256_sub_ps _mm256_mul_ps _mm256_fmadd_ps
    _mm256_div_ps _mm256_sqrt_ps _mm256_min_ps _mm256_max_ps _mm256_and_ps _mm256_andnot_ps _mm256_or_ps
    _mm256_xor_ps _mm256_cmp_ps _mm256_blendv_ps _mm256_movemask_ps _mm256_castps_si256 _mm256_castsi256_ps
    _mm256_slli_epi32
);
