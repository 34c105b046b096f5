//! Functions as lists of operations on registers, for who makes code of them.
//!
//! There is no second text of a function: it runs once, on lanes that write down what is asked of them. The operations
//! are those of AVX-512, so that code of them makes the bits that the functions of that level make.

use crate::loops::angles::Angles;
use crate::loops::exponential::Exponential;
use crate::loops::gamma::Gamma;
use crate::loops::lanes::{Float, Function, Lanes};
use crate::loops::logarithm::{EDGES, Logarithm};
use std::cell::RefCell;
use std::marker::PhantomData;

/// The result of a step, by its number.
pub type Place = usize;

/// One operation on registers. Numbers and tables are bits, in the type of the elements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    /// The argument.
    Argument,
    /// These bits in all elements.
    Number(u64),
    /// A sum.
    Add(Place, Place),
    /// A difference.
    Sub(Place, Place),
    /// A product.
    Mul(Place, Place),
    /// A quotient.
    Div(Place, Place),
    /// The square root.
    Sqrt(Place),
    /// The product of the first two plus the third, rounded once.
    Fma(Place, Place, Place),
    /// Bits that both have.
    And(Place, Place),
    /// Bits that one has.
    Or(Place, Place),
    /// Where the first number is below the second, the third; else the fourth. A NaN is not.
    Below([Place; 4]),
    /// The entry of a table at the last four bits.
    Entry([u64; 16], Place),
    /// The first times 2 to the power of the floor of the second, as `vscalef` does it.
    Scale(Place, Place),
    /// The number of the smaller size, with the sign of the first, as `vrange` does it with 6.
    Nearer(Place, Place),
    /// The mantissa from 3/4 to 3/2, as `vgetmant` does it; of negative numbers NaN.
    Mantissa(Place),
    /// The exponent, as `vgetexp` does it.
    Exponent(Place),
    /// The floor.
    Floor(Place),
    /// The first, unless the second is a zero, infinity, NaN or negative, as `vfixupimm` says by the bits.
    Edges(Place, Place, u64),
}

/// The steps of a function; the last one is its result.
#[derive(Default)]
struct Notes {
    steps: Vec<Step>,
    /// Whether something was asked that no step says.
    failed: bool,
}

thread_local! {
    static NOTES: RefCell<Notes> = RefCell::default();
}

/// The steps of a function of this thread's notes.
pub(super) fn steps_of<F: Function, T: Float>() -> Option<Vec<Step>>
where
    Noted<T>: Lanes,
{
    NOTES.take();
    let argument = note::<T>(Step::Argument);
    let result = F::of(argument).0;
    let Notes { mut steps, failed } = NOTES.take();
    steps.truncate(result + 1);
    (!failed).then_some(steps)
}

/// A register that is a step. Its operations are calls: written out in each function they would make these large.
#[derive(Clone, Copy)]
pub(super) struct Noted<T>(Place, PhantomData<T>);

fn note<T>(step: Step) -> Noted<T> {
    Noted(place_of(step), PhantomData)
}

/// The place of a step, which is noted once.
#[inline(never)]
fn place_of(step: Step) -> Place {
    NOTES.with_borrow_mut(|own| {
        let known = own.steps.iter().position(|&known| known == step);
        known.unwrap_or_else(|| {
            own.steps.push(step);
            own.steps.len() - 1
        })
    })
}

#[inline(never)]
fn fail() {
    NOTES.with_borrow_mut(|own| own.failed = true);
}

macro_rules! noted {
    ($float:ty) => {
        impl Lanes for Noted<$float> {
            type Element = $float;
            const EXPONENTIAL: &Exponential<$float> = <$float>::EXPONENTIAL;
            const LOGARITHM: &Logarithm<$float> = <$float>::LOGARITHM;
            const ANGLES: &Angles<$float> = <$float>::ANGLES;
            const GAMMA: &Gamma<$float> = <$float>::GAMMA;
            const DIGAMMA: &Gamma<$float> = <$float>::DIGAMMA;
            const IS_DOUBLE: bool = <$float>::IS_DOUBLE;

            #[inline(never)]
            fn all(x: $float) -> Self {
                note(Step::Number(u64::from(x.to_bits())))
            }

            fn number(x: f64) -> Self {
                Self::all(<$float as Lanes>::number(x))
            }

            fn each<F: Function>(self) -> Self {
                fail();
                self
            }

            #[inline(never)]
            fn div(self, by: Self) -> Self {
                note(Step::Div(self.0, by.0))
            }

            #[inline(never)]
            fn sqrt(self) -> Self {
                note(Step::Sqrt(self.0))
            }

            #[inline(never)]
            fn abs(self) -> Self {
                let size = Self::bits(!(-0.0 as $float).to_bits());
                note(Step::And(size.0, self.0))
            }

            #[inline(never)]
            fn below(self, bound: Self, yes: Self, no: Self) -> Self {
                note(Step::Below([self.0, bound.0, yes.0, no.0]))
            }

            fn all_within(self, _: Self) -> bool {
                fail();
                true
            }

            fn all_between(self, _: Self, _: Self) -> bool {
                fail();
                true
            }

            fn if_odd(self, yes: Self, _: Self) -> Self {
                fail();
                yes
            }

            fn negated_by(self, _: Self) -> Self {
                fail();
                self
            }

            #[inline(never)]
            fn inverse_power(k: Self, _: Self) -> Self {
                let floor: Self = note(Step::Floor(k.0));
                let negative = Self::all(0.0).sub(floor);
                note(Step::Scale(Self::all(1.0).0, negative.0))
            }

            #[inline(never)]
            fn fma(self, by: Self, more: Self) -> Self {
                note(Step::Fma(self.0, by.0, more.0))
            }

            #[inline(never)]
            fn add(self, other: Self) -> Self {
                note(Step::Add(self.0, other.0))
            }

            #[inline(never)]
            fn sub(self, other: Self) -> Self {
                note(Step::Sub(self.0, other.0))
            }

            #[inline(never)]
            fn mul(self, other: Self) -> Self {
                note(Step::Mul(self.0, other.0))
            }

            #[inline(never)]
            fn taken_from(self, table: &[$float; 16]) -> Self {
                note(Step::Entry(table.map(|own| u64::from(own.to_bits())), self.0))
            }

            fn within_exponents(self) -> Self {
                self // the instructions know the edges
            }

            #[inline(never)]
            fn at_most(self, most: Self) -> Self {
                note(Step::Nearer(self.0, most.0))
            }

            #[inline(never)]
            fn times_power(self, k: Self, _: Self) -> Self {
                note(Step::Scale(self.0, k.0))
            }

            #[inline(never)]
            fn times_whole_power(self, k: Self) -> Self {
                note(Step::Scale(self.0, k.0))
            }

            #[inline(never)]
            fn parts(self) -> (Self, Self) {
                let m: Self = note(Step::Mantissa(self.0));
                let (of_m, of_all): (Self, Self) =
                    (note(Step::Exponent(m.0)), note(Step::Exponent(self.0)));
                (m, of_m.sub(of_all))
            }

            #[inline(never)]
            fn or_edges_of(self, u: Self) -> Self {
                note(Step::Edges(self.0, u.0, EDGES))
            }

            #[inline(never)]
            fn with_sign_of(self, x: Self) -> Self {
                let sign = Self::bits((-0.0 as $float).to_bits());
                let size = Self::bits(!(-0.0 as $float).to_bits());
                let (own, other): (Self, Self) =
                    (note(Step::And(size.0, self.0)), note(Step::And(sign.0, x.0)));
                note(Step::Or(own.0, other.0))
            }
        }

        impl Noted<$float> {
            fn bits(bits: impl Into<u64>) -> Self {
                note(Step::Number(bits.into()))
            }
        }
    };
}

noted!(f64);
noted!(f32);
