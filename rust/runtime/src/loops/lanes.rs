//! The operations that functions consist of, on one element or on a register of elements.

use crate::loops::angles::{self, Angles};
use crate::loops::exponential::{self, Exponential};
use crate::loops::gamma::{self, Gamma};
use crate::loops::logarithm::{self, Logarithm};

#[cfg(target_arch = "x86_64")]
mod registers;

/// A function, of one element or of a register of them.
pub(super) trait Function {
    /// The function of common numbers.
    fn of<L: Lanes>(x: L) -> L;

    /// Whether [`Function::of`] is the function of all these; else some go by [`Function::rare`].
    #[inline(always)]
    fn is_common<L: Lanes>(_: L) -> bool {
        true
    }

    /// The function of a number that is not common.
    fn rare(x: f64) -> f64 {
        x
    }
}

/// The function of any element.
#[inline(always)]
pub(super) fn each<F: Function, T: Float>(x: T) -> T {
    if F::is_common(x) { F::of(x) } else { T::number(F::rare(x.wide())) }
}

/// The function of any elements.
#[inline(always)]
pub(super) fn whole<F: Function, L: Lanes>(x: L) -> L {
    if F::is_common(x) { F::of(x) } else { x.each::<F>() }
}

/// The polynomial of these coefficients, from the lowest power on.
#[inline(always)]
pub(super) fn polynomial<L: Lanes>(x: L, terms: &'static [f64]) -> L {
    let mut at = terms.len() - 1;
    let mut sum = L::number(terms[at]);
    while at > 0 {
        at -= 1;
        sum = sum.fma(x, L::number(terms[at]));
    }
    sum
}

/// An element alone.
pub(super) trait Float: Lanes<Element = Self> + 'static {
    fn wide(self) -> f64;
}

impl Float for f64 {
    #[inline(always)]
    fn wide(self) -> f64 {
        self
    }
}

impl Float for f32 {
    #[inline(always)]
    fn wide(self) -> f64 {
        f64::from(self)
    }
}

/// An element, or a register of elements.
pub(super) trait Lanes: Copy {
    type Element: Float;
    const EXPONENTIAL: &'static Exponential<Self::Element>;
    const LOGARITHM: &'static Logarithm<Self::Element>;
    const ANGLES: &'static Angles<Self::Element>;
    const GAMMA: &'static Gamma<Self::Element>;
    /// Whether elements have the digits of a float64.
    const IS_DOUBLE: bool;

    fn all(x: Self::Element) -> Self;
    /// The number nearest to it, in all lanes.
    fn number(x: f64) -> Self;
    /// The results of the function for each element, one after the other.
    fn each<F: Function>(self) -> Self;
    fn div(self, by: Self) -> Self;
    fn sqrt(self) -> Self;
    fn abs(self) -> Self;
    /// One of two, by whether the number is below the bound; a NaN is not.
    fn below(self, bound: Self, yes: Self, no: Self) -> Self;
    /// Whether all are of at most this size; a NaN is not.
    fn all_within(self, bound: Self) -> bool;
    /// One of two, by the last bit.
    fn if_odd(self, yes: Self, no: Self) -> Self;
    /// The number with the other sign where the last bit but one of `t` is set.
    fn negated_by(self, t: Self) -> Self;
    fn all_minus_one() -> Self;
    /// `self * by + more`, rounded once.
    fn fma(self, by: Self, more: Self) -> Self;
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    /// The entry of the table at the last four bits.
    fn taken_from(self, table: &[Self::Element; 16]) -> Self;

    /// The number, or one that is as good where its exponential is infinity or 0.
    fn within_exponents(self) -> Self;
    /// The number, or `most` with its sign where that is smaller.
    fn at_most(self, most: Self) -> Self;
    /// The product with 2 to the power of the floor of `k`, rounded once; `t` has its sixteenths.
    fn times_power(self, k: Self, t: Self) -> Self;
    /// 2 to the power of the negative floor of `k`, or as good as 0; `t` has its sixteenths.
    fn inverse_power(k: Self, t: Self) -> Self;
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
    const ANGLES: &Angles<f64> = &angles::OF_F64;
    const GAMMA: &Gamma<f64> = &gamma::OF_F64;
    const IS_DOUBLE: bool = true;

    #[inline(always)]
    fn number(x: f64) -> f64 {
        x
    }

    #[inline(always)]
    fn each<F: Function>(self) -> f64 {
        each::<F, f64>(self)
    }

    #[inline(always)]
    fn div(self, by: f64) -> f64 {
        self / by
    }

    #[inline(always)]
    fn sqrt(self) -> f64 {
        f64::sqrt(self)
    }

    #[inline(always)]
    fn abs(self) -> f64 {
        f64::abs(self)
    }

    #[inline(always)]
    fn below(self, bound: f64, yes: f64, no: f64) -> f64 {
        if self < bound { yes } else { no }
    }

    #[inline(always)]
    fn all_within(self, bound: f64) -> bool {
        f64::abs(self) <= bound
    }

    #[inline(always)]
    fn if_odd(self, yes: f64, no: f64) -> f64 {
        if self.to_bits() & 1 == 0 { no } else { yes }
    }

    #[inline(always)]
    fn negated_by(self, t: f64) -> f64 {
        f64::from_bits(self.to_bits() ^ (t.to_bits() & 2) << 62)
    }

    #[inline(always)]
    fn inverse_power(_: f64, t: f64) -> f64 {
        let n = (t.to_bits().wrapping_sub(Self::EXPONENTIAL.magic.to_bits()) as i64) >> 4;
        let least = if n > 1023 { 1023 } else { n };
        f64::from_bits((1023_i64.wrapping_sub(least) as u64) << 52)
    }

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
        // `t` counts sixteenths; the floor of the number is left.
        let magic = Self::EXPONENTIAL.magic.to_bits();
        let n = (t.to_bits().wrapping_sub(magic) as i64) >> 4;
        // By halves: one of them alone may be no normal number.
        let half = n >> 1;
        let power = |n: i64| f64::from_bits(((n.wrapping_add(1023)) as u64) << 52);
        self * power(half) * power(n.wrapping_sub(half))
    }

    #[inline(always)]
    fn times_whole_power(self, k: f64) -> f64 {
        // The lost part is 0 if the power is no normal number.
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
        exponential::terms_of_f64(r, s)
    }

    #[inline(always)]
    fn logarithm_terms(r: Self, s: Self) -> Self {
        logarithm::terms_of_f64(r, s)
    }
}

impl Lanes for f32 {
    type Element = f32;
    const EXPONENTIAL: &Exponential<f32> = &exponential::OF_F32;
    const LOGARITHM: &Logarithm<f32> = &logarithm::OF_F32;
    const ANGLES: &Angles<f32> = &angles::OF_F32;
    const GAMMA: &Gamma<f32> = &gamma::OF_F32;
    const IS_DOUBLE: bool = false;

    #[inline(always)]
    fn number(x: f64) -> f32 {
        x as f32
    }

    #[inline(always)]
    fn each<F: Function>(self) -> f32 {
        each::<F, f32>(self)
    }

    #[inline(always)]
    fn div(self, by: f32) -> f32 {
        self / by
    }

    #[inline(always)]
    fn sqrt(self) -> f32 {
        f32::sqrt(self)
    }

    #[inline(always)]
    fn abs(self) -> f32 {
        f32::abs(self)
    }

    #[inline(always)]
    fn below(self, bound: f32, yes: f32, no: f32) -> f32 {
        if self < bound { yes } else { no }
    }

    #[inline(always)]
    fn all_within(self, bound: f32) -> bool {
        f32::abs(self) <= bound
    }

    #[inline(always)]
    fn if_odd(self, yes: f32, no: f32) -> f32 {
        if self.to_bits() & 1 == 0 { no } else { yes }
    }

    #[inline(always)]
    fn negated_by(self, t: f32) -> f32 {
        f32::from_bits(self.to_bits() ^ (t.to_bits() & 2) << 30)
    }

    #[inline(always)]
    fn inverse_power(_: f32, t: f32) -> f32 {
        let n = (t.to_bits().wrapping_sub(Self::EXPONENTIAL.magic.to_bits()) as i32) >> 4;
        let least = if n > 127 { 127 } else { n };
        f32::from_bits((127_i32.wrapping_sub(least) as u32) << 23)
    }

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
        // `t` counts sixteenths; the floor of the number is left.
        let magic = Self::EXPONENTIAL.magic.to_bits();
        let n = (t.to_bits().wrapping_sub(magic) as i32) >> 4;
        // By halves: one of them alone may be no normal number.
        let half = n >> 1;
        let power = |n: i32| f32::from_bits(((n.wrapping_add(127)) as u32) << 23);
        self * power(half) * power(n.wrapping_sub(half))
    }

    #[inline(always)]
    fn times_whole_power(self, k: f32) -> f32 {
        // The lost part is 0 if the power is no normal number.
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
        exponential::terms_of_f32(r)
    }

    #[inline(always)]
    fn logarithm_terms(r: Self, s: Self) -> Self {
        logarithm::terms_of_f32(r, s)
    }
}
