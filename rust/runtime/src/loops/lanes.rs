//! The operations that functions consist of, on one element or on a register of elements.

use crate::loops::angles::{self, Angles};
use crate::loops::digamma;
use crate::loops::exponential::{self, DECAYED, Exponential};
use crate::loops::gamma::{self, Gamma};
use crate::loops::logarithm::{self, Logarithm};

#[cfg(target_arch = "x86_64")]
mod plain_members;
#[cfg(target_arch = "x86_64")]
mod registers;
#[cfg(target_arch = "x86_64")]
mod short_registers;
#[cfg(target_arch = "x86_64")]
pub(super) mod two;

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
    const DIGAMMA: &'static Gamma<Self::Element>;
    /// Whether elements have the digits of a float64.
    const IS_DOUBLE: bool;
    /// Whether the edges take so many operations that functions first ask if there are any: registers have no
    /// instructions that know them.
    const ASKS: bool = false;

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
    /// Whether all are from one number to another; a NaN is not.
    fn all_between(self, least: Self, most: Self) -> bool;
    /// One of two, by the last bit.
    fn if_odd(self, yes: Self, no: Self) -> Self;
    /// The number with the other sign where the last bit but one of `t` is set.
    fn negated_by(self, t: Self) -> Self;
    /// `self * by + more`, rounded once.
    fn fma(self, by: Self, more: Self) -> Self;
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    /// The entry of the table at the last four bits.
    fn taken_from(self, table: &[Self::Element; 16]) -> Self;

    /// The power of 2 of whose exponent `self` has the sixteenths in the last four bits, from 1 on, and its relative error.
    #[inline(always)]
    fn power_and_rest(self) -> (Self, Self) {
        let tables = Self::EXPONENTIAL;
        (self.taken_from(&tables.powers), self.taken_from(&tables.rests))
    }

    /// The same, times 2 to the power of the floor of `k`: a normal number. `self` counts the sixteenths.
    #[inline(always)]
    fn whole_power_and_rest(self, k: Self) -> (Self, Self) {
        let (power, rest) = self.power_and_rest();
        (power.times_power(k, self), rest)
    }

    /// The reciprocal to the sixteenths in the last four bits, and its negative logarithm in two parts.
    #[inline(always)]
    fn reciprocal_and_logs(self) -> (Self, Self, Self) {
        let tables = Self::LOGARITHM;
        let reciprocal = self.taken_from(&tables.reciprocals);
        (reciprocal, self.taken_from(&tables.high), self.taken_from(&tables.low))
    }

    /// The number, or one that is as good where its exponential is infinity or 0.
    fn within_exponents(self) -> Self;
    /// The number, or `most` with its sign where that is smaller.
    fn at_most(self, most: Self) -> Self;
    /// The product with 2 to the power of the floor of `k`, rounded once; `t` has its sixteenths.
    fn times_power(self, k: Self, t: Self) -> Self;
    /// 2 to the power of the negative floor of `k`, or as good as 0; `t` has its sixteenths.
    fn inverse_power(k: Self, t: Self) -> Self;

    /// The number, which is at most 0, or one that is as good where its exponential is lost beside 1.
    fn within_decay(self) -> Self;
    /// 2 to the power of a whole number, or as good as 0 where that is lost beside 1; `t` has it, with the bias of
    /// exponents, in the last bits.
    fn whole_power(k: Self, t: Self) -> Self;

    /// `m` from 3/4 to 3/2 and the whole `k` for which the number is `m` over 2 to the power of `k`.
    fn parts(self) -> (Self, Self);
    /// The same of normal positive numbers.
    #[inline(always)]
    fn normal_parts(self) -> (Self, Self) {
        self.parts()
    }

    /// The product with 2 to the power of a whole number.
    fn times_whole_power(self, k: Self) -> Self;
    /// The logarithm of `u`, if that is a zero, infinity, NaN or negative.
    fn or_edges_of(self, u: Self) -> Self;
    fn with_sign_of(self, x: Self) -> Self;
}

/// Implements [`Lanes`] for one element: `fraction` is the bits of its fraction, `bias` that of its exponents. Powers
/// are infinity `above` a number and 0 `below` another; `lift` twos make each number a normal one.
macro_rules! element_lanes {
    (
        $element:ident, $bits:ident, $int:ident, $of:ident,
        fraction $fraction:literal, bias $bias:literal, above $above:literal, below $below:literal, lift $lift:literal
    ) => {
        impl Lanes for $element {
            type Element = $element;
            const EXPONENTIAL: &Exponential<$element> = &exponential::$of;
            const LOGARITHM: &Logarithm<$element> = &logarithm::$of;
            const ANGLES: &Angles<$element> = &angles::$of;
            const GAMMA: &Gamma<$element> = &gamma::$of;
            const DIGAMMA: &Gamma<$element> = &digamma::$of;
            const IS_DOUBLE: bool = size_of::<$element>() == 8;

            #[inline(always)]
            fn number(x: f64) -> $element {
                x as $element
            }

            #[inline(always)]
            fn each<F: Function>(self) -> $element {
                each::<F, $element>(self)
            }

            #[inline(always)]
            fn div(self, by: $element) -> $element {
                self / by
            }

            #[inline(always)]
            fn sqrt(self) -> $element {
                $element::sqrt(self)
            }

            #[inline(always)]
            fn abs(self) -> $element {
                $element::abs(self)
            }

            #[inline(always)]
            fn below(self, bound: $element, yes: $element, no: $element) -> $element {
                if self < bound { yes } else { no }
            }

            #[inline(always)]
            fn all_within(self, bound: $element) -> bool {
                $element::abs(self) <= bound
            }

            #[inline(always)]
            fn all_between(self, least: $element, most: $element) -> bool {
                (least..=most).contains(&self)
            }

            #[inline(always)]
            fn if_odd(self, yes: $element, no: $element) -> $element {
                if self.to_bits() & 1 == 0 { no } else { yes }
            }

            #[inline(always)]
            fn negated_by(self, t: $element) -> $element {
                $element::from_bits(self.to_bits() ^ (t.to_bits() & 2) << ($bits::BITS - 2))
            }

            #[inline(always)]
            fn inverse_power(_: $element, t: $element) -> $element {
                let n = (t.to_bits().wrapping_sub(Self::EXPONENTIAL.magic.to_bits()) as $int) >> 4;
                let least = if n > $bias { $bias } else { n };
                $element::from_bits(($int::wrapping_sub($bias, least) as $bits) << $fraction)
            }

            #[inline(always)]
            fn all(x: $element) -> $element {
                x
            }

            #[inline(always)]
            fn fma(self, by: $element, more: $element) -> $element {
                self.mul_add(by, more)
            }

            #[inline(always)]
            fn add(self, other: $element) -> $element {
                self + other
            }

            #[inline(always)]
            fn sub(self, other: $element) -> $element {
                self - other
            }

            #[inline(always)]
            fn mul(self, other: $element) -> $element {
                self * other
            }

            #[inline(always)]
            fn taken_from(self, table: &[$element; 16]) -> $element {
                table[(self.to_bits() & 15) as usize]
            }

            #[inline(always)]
            fn within_exponents(self) -> $element {
                // Beyond these it is infinity and 0; NaN stays.
                let x = if self > $above { $above } else { self };
                if x < $below { $below } else { x }
            }

            #[inline(always)]
            fn within_decay(self) -> $element {
                if self < DECAYED as $element { DECAYED as $element } else { self }
            }

            #[inline(always)]
            fn whole_power(_: $element, t: $element) -> $element {
                $element::from_bits(t.to_bits() << $fraction)
            }

            #[inline(always)]
            fn at_most(self, _: $element) -> $element {
                self // as its argument is within exponents
            }

            #[inline(always)]
            fn times_power(self, _: $element, t: $element) -> $element {
                // `t` counts sixteenths; the floor of the number is left.
                let magic = Self::EXPONENTIAL.magic.to_bits();
                let n = (t.to_bits().wrapping_sub(magic) as $int) >> 4;
                // By halves: one of them alone may be no normal number.
                let half = n >> 1;
                let power =
                    |n: $int| $element::from_bits((n.wrapping_add($bias) as $bits) << $fraction);
                self * power(half) * power(n.wrapping_sub(half))
            }

            #[inline(always)]
            fn times_whole_power(self, k: $element) -> $element {
                // The lost part is 0 if the power is no normal number.
                let n = if k < (1 - $bias) as $element { 1 - $bias } else { k as i32 };
                self * $element::from_bits(
                    ($int::from(n).wrapping_add($bias) as $bits) << $fraction,
                )
            }

            #[inline(always)]
            fn parts(self) -> ($element, $element) {
                const LEAST: $bits = $element::to_bits(0.75);
                let is_small = self < $element::MIN_POSITIVE;
                let normal = if is_small { self * (1u64 << $lift) as $element } else { self };
                let bits = normal.to_bits();
                let exponent = (bits.wrapping_sub(LEAST) as $int) >> $fraction;
                let m = $element::from_bits(bits.wrapping_sub((exponent as $bits) << $fraction));
                let lifted = if is_small { $lift } else { 0 };
                (m, (lifted - exponent as i32) as $element)
            }

            #[inline(always)]
            fn or_edges_of(self, u: $element) -> $element {
                let made = if u == $element::INFINITY { u } else { self };
                let made = if u == 0.0 { $element::NEG_INFINITY } else { made };
                // Negative numbers, and NaN, have none.
                if u >= 0.0 { made } else { $element::NAN }
            }

            #[inline(always)]
            fn with_sign_of(self, x: $element) -> $element {
                self.copysign(x)
            }
        }
    };
}

element_lanes!(
    f64, u64, i64, OF_F64,
    fraction 52, bias 1023, above 710.0, below -746.0, lift 54
);
element_lanes!(
    f32, u32, i32, OF_F32,
    fraction 23, bias 127, above 89.0, below -105.0, lift 24
);
