//! Registers that hold several floats, in the instruction sets that processors have or lack.

use std::arch::x86_64::*;
use std::mem::transmute;

/// The registers that [`Register::sums`] takes.
pub(super) const BLOCK: usize = 8;

/// Floats that fit into a register several at a time.
pub(crate) trait InRegisters: Sized {
    type Avx2: Register<Item = Self>;
    type Avx512: Register<Item = Self>;
}

impl InRegisters for f32 {
    type Avx2 = F32x8;
    type Avx512 = F32x16;
}

impl InRegisters for f64 {
    type Avx2 = F64x4;
    type Avx512 = F64x8;
}

/// A register.
///
/// # Safety
/// All its functions are for processors that have its instruction set. Those that read or write
/// memory do so for as many elements as the register holds, or for `some`.
pub(crate) trait Register: Copy {
    type Item: Copy;
    /// The elements, from the first on.
    type Some: Copy;
    const COUNT: usize;

    unsafe fn splat(value: Self::Item) -> Self;
    unsafe fn load(from: *const Self::Item) -> Self;
    unsafe fn store(self, to: *mut Self::Item);
    /// The first `count`, all at most.
    unsafe fn first(count: usize) -> Self::Some;
    /// The others are zero.
    unsafe fn load_some(from: *const Self::Item, some: Self::Some) -> Self;
    unsafe fn store_some(self, to: *mut Self::Item, some: Self::Some);
    unsafe fn plus(self, other: Self) -> Self;
    unsafe fn times(self, other: Self) -> Self;
    /// `self + a b`, rounded once.
    unsafe fn plus_product(self, a: Self, b: Self) -> Self;
    /// The sums of the elements of each.
    unsafe fn sums(of: [Self; BLOCK]) -> [Self::Item; BLOCK];
}

#[derive(Clone, Copy)]
pub(crate) struct F64x8(__m512d);

#[derive(Clone, Copy)]
pub(crate) struct F32x16(__m512);

#[derive(Clone, Copy)]
pub(crate) struct F64x4(__m256d);

#[derive(Clone, Copy)]
pub(crate) struct F32x8(__m256);

/// The code that differs between registers only in the names of instructions.
macro_rules! plain_register {
    ($item:ident, $some:ident: $splat:ident $load:ident $store:ident $load_some:ident
     $store_some:ident $plus:ident $times:ident $plus_product:ident) => {
        type Item = $item;
        type Some = $some;
        const COUNT: usize = size_of::<Self>() / size_of::<$item>();

        #[inline(always)]
        unsafe fn splat(value: $item) -> Self {
            // SAFETY: by the caller's promise, for this and the others. Tests: gemv.rs and gemm.rs.
            unsafe { Self($splat(value)) }
        }

        #[inline(always)]
        unsafe fn load(from: *const $item) -> Self {
            // SAFETY: as above.
            unsafe { Self($load(from)) }
        }

        #[inline(always)]
        unsafe fn store(self, to: *mut $item) {
            // SAFETY: as above.
            unsafe { $store(to, self.0) }
        }

        #[inline(always)]
        unsafe fn load_some(from: *const $item, some: $some) -> Self {
            // SAFETY: as above; the operands of this instruction have the order of the others.
            unsafe { Self($load_some(some, from)) }
        }

        #[inline(always)]
        unsafe fn store_some(self, to: *mut $item, some: $some) {
            // SAFETY: as above.
            unsafe { $store_some(to, some, self.0) }
        }

        #[inline(always)]
        unsafe fn plus(self, other: Self) -> Self {
            // SAFETY: as above.
            unsafe { Self($plus(self.0, other.0)) }
        }

        #[inline(always)]
        unsafe fn times(self, other: Self) -> Self {
            // SAFETY: as above.
            unsafe { Self($times(self.0, other.0)) }
        }

        #[inline(always)]
        unsafe fn plus_product(self, a: Self, b: Self) -> Self {
            // SAFETY: as above.
            unsafe { Self($plus_product(a.0, b.0, self.0)) }
        }
    };
}

/// # Safety
/// As for [`Register::load_some`].
#[inline(always)]
unsafe fn load_some_f64(some: __m256i, from: *const f64) -> __m256d {
    // SAFETY: by the caller's promise, the processor has AVX2, and memory the chosen elements.
    unsafe { _mm256_maskload_pd(from, some) }
}

/// # Safety
/// As for [`Register::load_some`].
#[inline(always)]
unsafe fn load_some_f32(some: __m256i, from: *const f32) -> __m256 {
    // SAFETY: by the caller's promise, the processor has AVX2, and memory the chosen elements.
    unsafe { _mm256_maskload_ps(from, some) }
}

/// The sums of each of eight registers.
///
/// # Safety
/// The processor has AVX2.
#[inline(always)]
unsafe fn sums_f32(of: [__m256; BLOCK]) -> [f32; BLOCK] {
    // SAFETY: by the caller's promise; a register of eight floats is an array of them.
    unsafe {
        // Neighbours are added within each half of a register, and the halves in the end.
        let four =
            |[a, b, c, d]: [__m256; 4]| _mm256_hadd_ps(_mm256_hadd_ps(a, b), _mm256_hadd_ps(c, d));
        let front = four([of[0], of[1], of[2], of[3]]);
        let back = four([of[4], of[5], of[6], of[7]]);
        let low = _mm256_permute2f128_ps::<0x20>(front, back);
        let high = _mm256_permute2f128_ps::<0x31>(front, back);
        transmute(_mm256_add_ps(low, high))
    }
}

impl Register for F64x8 {
    plain_register!(f64, __mmask8: _mm512_set1_pd _mm512_loadu_pd _mm512_storeu_pd
        _mm512_maskz_loadu_pd _mm512_mask_storeu_pd _mm512_add_pd _mm512_mul_pd _mm512_fmadd_pd);

    #[inline(always)]
    unsafe fn first(count: usize) -> __mmask8 {
        ((1u32 << count) - 1) as __mmask8
    }

    #[inline(always)]
    unsafe fn sums(of: [Self; BLOCK]) -> [f64; BLOCK] {
        // SAFETY: by the caller's promise; a register of eight floats is an array of them.
        unsafe {
            // Neighbours first: a quarter of a pair holds parts of both sums. Then quarters.
            let pair = |a: Self, b: Self| {
                _mm512_add_pd(_mm512_unpacklo_pd(a.0, b.0), _mm512_unpackhi_pd(a.0, b.0))
            };
            let quarters = |a: __m512d, b: __m512d| {
                let even = _mm512_shuffle_f64x2::<0b10_00_10_00>(a, b);
                let odd = _mm512_shuffle_f64x2::<0b11_01_11_01>(a, b);
                _mm512_add_pd(even, odd)
            };
            let front = quarters(pair(of[0], of[1]), pair(of[2], of[3]));
            let back = quarters(pair(of[4], of[5]), pair(of[6], of[7]));
            transmute(quarters(front, back))
        }
    }
}

impl Register for F32x16 {
    plain_register!(f32, __mmask16: _mm512_set1_ps _mm512_loadu_ps _mm512_storeu_ps
        _mm512_maskz_loadu_ps _mm512_mask_storeu_ps _mm512_add_ps _mm512_mul_ps _mm512_fmadd_ps);

    #[inline(always)]
    unsafe fn first(count: usize) -> __mmask16 {
        ((1u32 << count) - 1) as __mmask16
    }

    #[inline(always)]
    unsafe fn sums(of: [Self; BLOCK]) -> [f32; BLOCK] {
        // SAFETY: by the caller's promise, the processor has AVX-512.
        unsafe {
            sums_f32(of.map(|all| {
                let high = _mm512_extractf32x8_ps::<1>(all.0);
                _mm256_add_ps(_mm512_castps512_ps256(all.0), high)
            }))
        }
    }
}

impl Register for F64x4 {
    plain_register!(f64, __m256i: _mm256_set1_pd _mm256_loadu_pd _mm256_storeu_pd load_some_f64
        _mm256_maskstore_pd _mm256_add_pd _mm256_mul_pd _mm256_fmadd_pd);

    #[inline(always)]
    unsafe fn first(count: usize) -> __m256i {
        // SAFETY: by the caller's promise, the processor has AVX2.
        unsafe {
            let count = _mm256_set1_epi64x(count as i64);
            _mm256_cmpgt_epi64(count, _mm256_setr_epi64x(0, 1, 2, 3))
        }
    }

    #[inline(always)]
    unsafe fn sums(of: [Self; BLOCK]) -> [f64; BLOCK] {
        // SAFETY: by the caller's promise; two registers of four floats are an array of eight.
        unsafe {
            let four = |[a, b, c, d]: [Self; 4]| {
                let (front, back) = (_mm256_hadd_pd(a.0, b.0), _mm256_hadd_pd(c.0, d.0));
                let low = _mm256_permute2f128_pd::<0x20>(front, back);
                let high = _mm256_permute2f128_pd::<0x31>(front, back);
                _mm256_add_pd(low, high)
            };
            transmute([four([of[0], of[1], of[2], of[3]]), four([of[4], of[5], of[6], of[7]])])
        }
    }
}

impl Register for F32x8 {
    plain_register!(f32, __m256i: _mm256_set1_ps _mm256_loadu_ps _mm256_storeu_ps load_some_f32
        _mm256_maskstore_ps _mm256_add_ps _mm256_mul_ps _mm256_fmadd_ps);

    #[inline(always)]
    unsafe fn first(count: usize) -> __m256i {
        // SAFETY: by the caller's promise, the processor has AVX2.
        unsafe {
            let count = _mm256_set1_epi32(count as i32);
            _mm256_cmpgt_epi32(count, _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7))
        }
    }

    #[inline(always)]
    unsafe fn sums(of: [Self; BLOCK]) -> [f32; BLOCK] {
        // SAFETY: by the caller's promise, the processor has AVX2.
        unsafe { sums_f32(of.map(|all| all.0)) }
    }
}
