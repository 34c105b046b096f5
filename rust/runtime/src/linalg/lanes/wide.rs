//! Registers of floats, one of each matrix.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;
#[cfg(target_arch = "x86_64")]
use std::mem::transmute;

use crate::linalg::routine::Element;

/// The lanes of a register with the most of them.
pub(super) const MOST: usize = 8;

/// A register with a float of each of several matrices. A comparison gives a mask: all bits of
/// the lanes for which it holds.
///
/// # Safety
/// The functions of registers with several lanes are for processors with AVX2.
pub(crate) trait Wide: Copy {
    type Item: Element;
    /// The number of lanes.
    const COUNT: usize;

    unsafe fn splat(value: Self::Item) -> Self;
    /// The element at `from` and those at each further distance; the last one again behind `count`.
    unsafe fn gather(from: *const Self::Item, next: isize, count: usize) -> Self;
    /// Writes the first `count` to such places.
    unsafe fn scatter(self, to: *mut Self::Item, next: isize, count: usize);
    /// As `gather`, of integers that are small.
    unsafe fn gather_integers(from: *const i32, next: isize, count: usize) -> Self;
    /// As `scatter`, of integers that are small.
    unsafe fn scatter_integers(self, to: *mut i32, next: isize, count: usize);
    /// `self - a b`, rounded twice.
    unsafe fn less(self, a: Self, b: Self) -> Self;
    unsafe fn plus(self, other: Self) -> Self;
    unsafe fn minus(self, other: Self) -> Self;
    unsafe fn times(self, other: Self) -> Self;
    unsafe fn over(self, other: Self) -> Self;
    unsafe fn sqrt(self) -> Self;
    unsafe fn abs(self) -> Self;
    /// The mask of where `self` is larger.
    unsafe fn above(self, other: Self) -> Self;
    /// The mask of where they are equal.
    unsafe fn equals(self, other: Self) -> Self;
    /// `self` where the mask says so, else `other`.
    unsafe fn select(self, mask: Self, other: Self) -> Self;
    /// Whether the mask has a lane.
    unsafe fn any(self) -> bool;
    /// Whether all lanes of the mask are there.
    unsafe fn all(self) -> bool;
}

#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub(super) struct F64x4(__m256d);

#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub(super) struct F32x8(__m256);

/// One float: what a register of one lane is. A mask has all bits or none.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct One(f64);

impl One {
    #[inline(always)]
    pub(super) fn of(value: f64) -> One {
        One(value)
    }

    #[inline(always)]
    pub(super) fn get(self) -> f64 {
        self.0
    }

    #[inline(always)]
    fn mask(holds: bool) -> One {
        One(f64::from_bits(if holds { u64::MAX } else { 0 }))
    }
}

impl Wide for One {
    type Item = f64;
    const COUNT: usize = 1;

    #[inline(always)]
    unsafe fn splat(value: f64) -> One {
        One(value)
    }

    #[inline(always)]
    unsafe fn gather(from: *const f64, _: isize, _: usize) -> One {
        // SAFETY: by the caller's promise, the matrix has the element.
        One(unsafe { from.read() })
    }

    #[inline(always)]
    unsafe fn scatter(self, to: *mut f64, _: isize, _: usize) {
        // SAFETY: by the caller's promise, the matrix has the element, to which no other thread writes.
        unsafe { to.write(self.0) };
    }

    #[inline(always)]
    unsafe fn gather_integers(from: *const i32, _: isize, _: usize) -> One {
        // Whoever gives these may write there meanwhile.
        // SAFETY: by the caller's promise, the vector has the element.
        One(f64::from(unsafe { from.read_volatile() }))
    }

    #[inline(always)]
    unsafe fn scatter_integers(self, to: *mut i32, _: isize, _: usize) {
        // SAFETY: by the caller's promise, the vector has the element.
        unsafe { to.write(self.0 as i32) };
    }

    #[inline(always)]
    unsafe fn less(self, a: One, b: One) -> One {
        One(self.0 - a.0 * b.0)
    }

    #[inline(always)]
    unsafe fn plus(self, other: One) -> One {
        One(self.0 + other.0)
    }

    #[inline(always)]
    unsafe fn minus(self, other: One) -> One {
        One(self.0 - other.0)
    }

    #[inline(always)]
    unsafe fn times(self, other: One) -> One {
        One(self.0 * other.0)
    }

    #[inline(always)]
    unsafe fn over(self, other: One) -> One {
        One(self.0 / other.0)
    }

    #[inline(always)]
    unsafe fn sqrt(self) -> One {
        One(self.0.sqrt())
    }

    #[inline(always)]
    unsafe fn abs(self) -> One {
        One(self.0.abs())
    }

    #[inline(always)]
    unsafe fn above(self, other: One) -> One {
        One::mask(self.0 > other.0)
    }

    #[inline(always)]
    unsafe fn equals(self, other: One) -> One {
        One::mask(self.0 == other.0)
    }

    #[inline(always)]
    unsafe fn select(self, mask: One, other: One) -> One {
        if mask.0.to_bits() == 0 { other } else { self }
    }

    #[inline(always)]
    unsafe fn any(self) -> bool {
        self.0.to_bits() != 0
    }

    #[inline(always)]
    unsafe fn all(self) -> bool {
        self.0.to_bits() != 0
    }
}

/// Functions of two registers that are one instruction each.
#[cfg(target_arch = "x86_64")]
macro_rules! of_two {
    ($($name:ident: $instruction:ident),*) => { $(
        #[inline(always)]
        unsafe fn $name(self, other: Self) -> Self {
            // SAFETY: by the caller's promise, the processor has the instruction.
            unsafe { Self($instruction(self.0, other.0)) }
        }
    )* };
}

#[cfg(target_arch = "x86_64")]
macro_rules! wide {
    ($name:ident $item:ident $count:literal: $splat:ident $add:ident $sub:ident $mul:ident
     $div:ident $sqrt:ident $andnot:ident $cmp:ident $blend:ident $movemask:ident) => {
        impl Wide for $name {
            type Item = $item;
            const COUNT: usize = $count;

            #[inline(always)]
            unsafe fn splat(value: $item) -> $name {
                // SAFETY: by the caller's promise, for this and the others. Test:
                // tests/tensor/test_stacks_of_matrices.py.
                unsafe { $name($splat(value)) }
            }

            #[inline(always)]
            unsafe fn gather(from: *const $item, next: isize, count: usize) -> $name {
                let mut all = [0.0; $count];
                let mut at = from;
                // SAFETY: by the caller's promise; an array has the bits of a register.
                unsafe {
                    for lane in 0..$count {
                        all[lane] = at.read();
                        if lane + 1 < count {
                            at = at.offset(next);
                        }
                    }
                    transmute(all)
                }
            }

            #[inline(always)]
            unsafe fn scatter(self, to: *mut $item, next: isize, count: usize) {
                // SAFETY: as above.
                unsafe {
                    let all: [$item; $count] = transmute(self);
                    for lane in 0..$count {
                        if lane < count {
                            to.offset(lane as isize * next).write(all[lane]);
                        }
                    }
                }
            }

            #[inline(always)]
            unsafe fn gather_integers(from: *const i32, next: isize, count: usize) -> $name {
                let mut all = [0.0; $count];
                for lane in 0..$count {
                    let last = if lane < count { lane } else { count - 1 };
                    // Another thread may write there meanwhile.
                    // SAFETY: by the caller's promise, each matrix has the element.
                    let given = unsafe { from.offset(last as isize * next).read_volatile() };
                    // A number that is not small is no row's number, however it is rounded.
                    all[lane] = given as $item;
                }
                // SAFETY: an array has the bits of a register.
                unsafe { transmute(all) }
            }

            #[inline(always)]
            unsafe fn scatter_integers(self, to: *mut i32, next: isize, count: usize) {
                // SAFETY: as above.
                unsafe {
                    let all: [$item; $count] = transmute(self);
                    for lane in 0..$count {
                        if lane < count {
                            to.offset(lane as isize * next).write(all[lane] as i32);
                        }
                    }
                }
            }

            #[inline(always)]
            unsafe fn less(self, a: $name, b: $name) -> $name {
                // SAFETY: as above.
                unsafe { $name($sub(self.0, $mul(a.0, b.0))) }
            }

            of_two!(plus: $add, minus: $sub, times: $mul, over: $div);

            #[inline(always)]
            unsafe fn sqrt(self) -> $name {
                // SAFETY: as above.
                unsafe { $name($sqrt(self.0)) }
            }

            #[inline(always)]
            unsafe fn abs(self) -> $name {
                // SAFETY: as above.
                unsafe { $name($andnot($splat(-0.0), self.0)) }
            }

            #[inline(always)]
            unsafe fn above(self, other: $name) -> $name {
                // SAFETY: as above.
                unsafe { $name($cmp::<_CMP_GT_OQ>(self.0, other.0)) }
            }

            #[inline(always)]
            unsafe fn equals(self, other: $name) -> $name {
                // SAFETY: as above.
                unsafe { $name($cmp::<_CMP_EQ_OQ>(self.0, other.0)) }
            }

            #[inline(always)]
            unsafe fn select(self, mask: $name, other: $name) -> $name {
                // SAFETY: as above.
                unsafe { $name($blend(other.0, self.0, mask.0)) }
            }

            #[inline(always)]
            unsafe fn any(self) -> bool {
                // SAFETY: as above.
                unsafe { $movemask(self.0) != 0 }
            }

            #[inline(always)]
            unsafe fn all(self) -> bool {
                // SAFETY: as above.
                unsafe { $movemask(self.0) == (1 << $count) - 1 }
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
wide!(F64x4 f64 4: _mm256_set1_pd _mm256_add_pd _mm256_sub_pd _mm256_mul_pd _mm256_div_pd
    _mm256_sqrt_pd _mm256_andnot_pd _mm256_cmp_pd _mm256_blendv_pd _mm256_movemask_pd);
#[cfg(target_arch = "x86_64")]
wide!(F32x8 f32 8: _mm256_set1_ps _mm256_add_ps _mm256_sub_ps _mm256_mul_ps _mm256_div_ps
    _mm256_sqrt_ps _mm256_andnot_ps _mm256_cmp_ps _mm256_blendv_ps _mm256_movemask_ps);
